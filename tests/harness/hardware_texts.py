"""What systems print about their hardware, as pasted from machines (flags shortened, personal lines made up)."""

AMD_VM = """\
processor\t: 0
vendor_id\t: AuthenticAMD
cpu family\t: 25
model\t\t: 1
model name\t: AMD EPYC
stepping\t: 1
flags\t\t: fpu sse sse2 sse4_1 sse4_2 avx avx2 bmi1 bmi2 fma hypervisor
bogomips\t: 4890.80

processor\t: 1
vendor_id\t: AuthenticAMD
cpu family\t: 25
model\t\t: 1
model name\t: AMD EPYC
stepping\t: 1
flags\t\t: fpu sse sse2 sse4_1 sse4_2 avx avx2 bmi1 bmi2 fma hypervisor
bogomips\t: 4890.80
"""

# The case "host-vm-model" as it stands in the bank.
BARE_VM = """\
vendor_id\t: AuthenticAMD
model name\t: AMD EPYC
flags\t\t: fpu sse sse2 avx avx2 bmi1 bmi2 hypervisor
"""

SAPPHIRE_RAPIDS = """\
processor\t: 0
vendor_id\t: GenuineIntel
cpu family\t: 6
model\t\t: 143
model name\t: Intel(R) Xeon(R) Platinum 8480+
stepping\t: 8
microcode\t: 0x2b000603
flags\t\t: fpu sse4_2 avx avx2 avx512f avx512dq avx512bw avx512vl avx_vnni avx512_bf16 avx512_vnni amx_bf16 \
avx512_fp16 amx_tile amx_int8
"""

ROSETTA_LINUX = """\
processor\t: 0
vendor_id\t: VirtualApple
cpu family\t: 6
model\t\t: 44
model name\t: VirtualApple @ 2.50GHz
flags\t\t: fpu sse4_2
"""
QEMU = """\
processor\t: 0
vendor_id\t: GenuineIntel
cpu family\t: 15
model\t\t: 107
model name\t: QEMU Virtual CPU version 2.5+
stepping\t: 1
flags\t\t: fpu de pse tsc msr sse sse2 syscall nx lm pni hypervisor
"""

ALDER_LAKE = """\
processor\t: 0
vendor_id\t: GenuineIntel
cpu family\t: 6
model\t\t: 154
model name\t: 12th Gen Intel(R) Core(TM) i7-12700H
stepping\t: 3
flags\t\t: fpu sse4_2 avx avx2 avx_vnni
"""

# The case "host-arm-model" as it stands in the bank.
NEOVERSE_N1 = """\
processor\t: 0
BogoMIPS\t: 50.00
Features\t: fp asimd evtstrm aes crc32 atomics
CPU implementer\t: 0x41
CPU architecture: 8
CPU variant\t: 0x3
CPU part\t: 0xd0c
CPU revision\t: 1
"""

NEOVERSE_V2 = """\
processor\t: 0
BogoMIPS\t: 2000.00
Features\t: fp asimd evtstrm aes crc32 atomics asimddp sve sve2 i8mm svebf16 bf16 svei8mm
CPU implementer\t: 0x41
CPU architecture: 8
CPU variant\t: 0x0
CPU part\t: 0xd4f
CPU revision\t: 1
"""

RASPBERRY_PI = """\
processor\t: 0
model name\t: ARMv7 Processor rev 3 (v7l)
BogoMIPS\t: 108.00
Features\t: half thumb fastmult vfp edsp neon vfpv3 tls vfpv4 idiva idivt vfpd32 lpae evtstrm crc32
CPU implementer\t: 0x41
CPU architecture: 7
CPU variant\t: 0x0
CPU part\t: 0xd08
CPU revision\t: 3

Hardware\t: BCM2835
Revision\t: c03111
Serial\t\t: 10000000deadbeef
Model\t\t: Raspberry Pi 4 Model B Rev 1.1
"""

BIG_LITTLE = "\n".join(
    f"processor\t: {index}\nFeatures\t: fp asimd {extra}\nCPU implementer\t: 0x41\nCPU part\t: {part}\n"
    for index, (part, extra) in enumerate([("0xd05", "asimddp")] * 4 + [("0xd0b", "asimddp bf16")] * 4)
)

UNKNOWN_ARM = "processor\t: 0\nFeatures\t: fp\nCPU implementer\t: 0x99\nCPU part\t: 0x123\n"

POWER9 = """\
processor\t: 0
cpu\t\t: POWER9, altivec supported
clock\t\t: 2300.000000MHz
revision\t: 2.2 (pvr 004e 1202)
"""

RISC_V = "processor\t: 0\nhart\t\t: 1\nisa\t\t: rv64imafdc\nmmu\t\t: sv39\nuarch\t\t: sifive,u74-mc\n"

APPLE_M3 = """\
hw.ncpu: 12
hw.logicalcpu: 12
hw.perflevel0.name: Performance
hw.perflevel0.logicalcpu: 6
hw.perflevel1.name: Efficiency
hw.perflevel1.logicalcpu: 6
hw.optional.neon: 1
hw.optional.AdvSIMD: 1
hw.optional.arm.FEAT_DotProd: 1
hw.optional.arm.FEAT_BF16: 1
hw.optional.arm.FEAT_I8MM: 1
hw.optional.arm64: 1
machdep.cpu.brand_string: Apple M3 Pro
"""

APPLE_M1 = APPLE_M3.replace("M3 Pro", "M1").replace("FEAT_BF16: 1", "FEAT_BF16: 0").replace(": 6", ": 4")

INTEL_MAC = """\
hw.logicalcpu: 8
machdep.cpu.vendor: GenuineIntel
machdep.cpu.brand_string: Intel(R) Core(TM) i7-8569U CPU @ 2.80GHz
machdep.cpu.family: 6
machdep.cpu.model: 142
machdep.cpu.stepping: 10
machdep.cpu.features: FPU VME SSE4.1 SSE4.2 AVX1.0 FMA
machdep.cpu.leaf7_features: RDWRFSGS BMI1 AVX2 BMI2
"""

BINARY = bytes(range(256)).decode("latin-1") * 8 + "\nflags\t:\x00\x01\nprocessor : \x07\nCPU part : ::\n"

CPUINFO_TEXTS = {
    name: value
    for name, value in globals().items()
    if name.isupper() and isinstance(value, str) and not name.startswith("APPLE") and name != "INTEL_MAC"
}

NVIDIA_H200 = "NVIDIA H200, 570.86.15, 143771 MiB, 9.0\n"
NVIDIA_MIXED = """\
NVIDIA A100-SXM4-80GB, 535.161.08, 81920 MiB, 8.0
NVIDIA A100-SXM4-80GB, 535.161.08, 81920 MiB, 8.0
NVIDIA L4, 535.161.08, 23034 MiB, 8.9
"""
NVIDIA_OLD_DRIVER = "Tesla T4, 470.182.03, 15109 MiB\n"
NVIDIA_MIG = "NVIDIA A100-SXM4-80GB, 535.161.08, [Insufficient Permissions], 8.0\n"
NVIDIA_WSL = "NVIDIA GeForce RTX 3060 Laptop GPU, 551.86, [N/A], 8.6\n"
NVIDIA_VERSION = """\
NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.104.05  Sat Aug 19 01:15:15 UTC 2023
GCC version:  gcc version 12.3.0 (Ubuntu 12.3.0-1ubuntu1~22.04)
"""
NVIDIA_VERSION_OPEN = """\
NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  570.86.15  Release Build  (dvs-builder@U16)
GCC version:  gcc version 11.4.0
"""
ROCM = (
    '{"card0": {"VRAM Total Memory (B)": "68702699520", "VRAM Total Used Memory (B)": "1", '
    '"Card Series": "AMD Instinct MI210", "Card Model": "0x740f", "Card SKU": "D67301", "GFX Version": "gfx90a"}, '
    '"card1": {"VRAM Total Memory (B)": "68702699520", "VRAM Total Used Memory (B)": "2", '
    '"Card Series": "AMD Instinct MI210", "Card Model": "0x740f", "Card SKU": "D67301", "GFX Version": "gfx90a"}, '
    '"system": {"Driver version": "6.7.0"}}'
)

DEBIAN = 'PRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\nNAME="Debian GNU/Linux"\nVERSION_ID="12"\nID=debian\n'
ALPINE = 'NAME="Alpine Linux"\nID=alpine\nVERSION_ID=3.19.1\n'
ARCH_LINUX = "NAME='Arch Linux'\nPRETTY_NAME='Arch Linux'\nID=arch\nBUILD_ID=rolling\n"

# Answers with what tools add to them or leave out, as people report them.
NVIDIA_INFOROM = "WARNING: infoROM is corrupted at gpu 0000:3B:00.0\n"
NVIDIA_BANNER = (
    "================ module gpu/12.4 loaded, see /etc/motd, 2 messages ================\n"
    "Note, 12.4, the default toolkit\n\n"
)
NVIDIA_HALF = """\
NVIDIA L4, 550.54.15, 23034 MiB, 8.9
NVIDIA L4, [N/A], [Unknown Error], [N/A]
[GPU is lost], [GPU is lost], [GPU is lost], [GPU is lost]
"""
NVIDIA_MISMATCH = "Failed to initialize NVML: Driver/library version mismatch\nNVML library version: 550.54\n"
ROCM_HALF = (
    '{"card0": {"Card Series": "N/A", "Card Model": "0x74a1", "VRAM Total Memory (B)": "N/A", "GFX Version": "gfx942"},'
    ' "system": {"Driver version": "N/A"}}'
)
