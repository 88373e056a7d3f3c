"""Reading a processor: known machines are told apart, and no text makes a reader fail."""

from __future__ import annotations

import dataclasses

import pytest
from harness import hardware_texts as texts
from harness.executions import case
from hypothesis import given, settings
from hypothesis import strategies as st

from capture.host.host import Cpu
from capture.host.probe import cpu, cpu_names
from capture.host.probe.cpu_fields import NOT_APPLICABLE, CpuReading


def complete(found: CpuReading) -> Cpu:
    """Check what holds for every reading: each null has a reason, each reason a null, no value is a filler."""
    for field in dataclasses.fields(Cpu):
        value = getattr(found.cpu, field.name)
        if field.name != "core_types":
            assert (value is None) == (f"cpu.{field.name}" in found.reasons), field.name
        assert not (isinstance(value, str) and value.lower() in ("unknown", "", "none", "n/a"))
    assert set(found.sources).isdisjoint(found.reasons)
    return found.cpu


def test_amd_virtual_machine_keeps_the_name_the_hypervisor_gives():
    """A shortened model name is kept and its source says that the hypervisor reported it."""
    found = cpu.parse_cpuinfo(texts.AMD_VM, "x86_64")
    assert complete(found) == Cpu("AMD", "AMD EPYC", 25, 1, 1, None, "AVX2", False, False, False, 2)
    assert "hypervisor" in found.sources["cpu.model"]
    assert cpu.has_hypervisor(texts.AMD_VM)
    assert found.reasons == {"cpu.part": f"{NOT_APPLICABLE}: only ARM has it"}


@case("host-vm-model")
def test_a_text_without_processor_lines_still_tells_the_isa(case):
    """The bank's three lines give vendor, model and ISA; what they lack is null with a reason."""
    found = complete(cpu.parse_cpuinfo(texts.BARE_VM, "x86_64"))
    assert (found.vendor, found.model, found.isa, found.count) == ("AMD", "AMD EPYC", "AVX2", None)


def test_sapphire_rapids_has_amx_bf16_and_vnni():
    """AMX, bf16 and VNNI are read from the flags; a machine without hypervisor says nothing about one."""
    found = cpu.parse_cpuinfo(texts.SAPPHIRE_RAPIDS, "x86_64")
    assert complete(found).isa == "AVX512"
    assert (found.cpu.bf16, found.cpu.amx, found.cpu.vnni) == (True, True, True)
    assert "hypervisor" not in found.sources["cpu.model"]


def test_masked_flags_give_no_isa_rather_than_a_guess():
    """A CPU model whose flags end before SSE4.2 has a null ISA with a reason, while bf16 is known to be false."""
    found = cpu.parse_cpuinfo(texts.QEMU, "x86_64")
    assert complete(found).isa is None
    assert found.cpu.bf16 is False
    assert "no vector ISA" in found.reasons["cpu.isa"]


@pytest.mark.parametrize(
    ("text", "part", "isa", "bf16", "vnni", "name"),
    [
        pytest.param(texts.NEOVERSE_N1, "0x41/0xd0c", "NEON", False, False, "Neoverse-N1", id="host-arm-model"),
        (texts.NEOVERSE_V2, "0x41/0xd4f", "SVE2", True, True, "Neoverse-V2"),
    ],
)
def test_arm_has_a_part_instead_of_a_model(text, part, isa, bf16, vnni, name):
    """ARM reports codes: model is null, and the reason gives the name the part is known by."""
    found = cpu.parse_cpuinfo(text, "arm64")
    seen = complete(found)
    assert (seen.vendor, seen.model, seen.part, seen.isa) == ("Arm", None, part, isa)
    assert (seen.bf16, seen.amx, seen.vnni) == (bf16, False, vnni)
    assert name in found.reasons["cpu.model"]
    assert found.reasons["cpu.family"].startswith(NOT_APPLICABLE)


def test_a_board_serial_number_is_never_read():
    """The Raspberry Pi's serial number and board name are no part of the reading."""
    found = cpu.parse_cpuinfo(texts.RASPBERRY_PI, "armv7l")
    assert complete(found).part == "0x41/0xd08"
    assert found.cpu.isa == "NEON"
    assert "deadbeef" not in repr(found)
    assert "Raspberry" not in repr(found)


def test_two_kinds_of_arm_core_are_named_and_only_shared_features_count():
    """On big.LITTLE the core types are listed; an instruction that one kind lacks is not there."""
    found = complete(cpu.parse_cpuinfo(texts.BIG_LITTLE, "arm64"))
    assert found.core_types == "4 x Cortex-A55 + 4 x Cortex-A76"
    assert found.part == "0x41/0xd05 + 0x41/0xd0b"
    assert (found.vnni, found.bf16, found.count) == (True, False, 8)


def test_an_unlisted_arm_vendor_is_null_with_its_code():
    """An implementer that is not in the list leaves the vendor null and shows the code."""
    found = cpu.parse_cpuinfo(texts.UNKNOWN_ARM, "arm64")
    assert complete(found).vendor is None
    assert "0x99" in found.reasons["cpu.vendor"]
    assert found.cpu.part == "0x99/0x123"


def test_other_architectures_give_what_they_have():
    """POWER has a name; RISC-V has a count; the rest is null and says so."""
    power = complete(cpu.parse_cpuinfo(texts.POWER9, "ppc64le"))
    assert (power.model, power.count, power.isa) == ("POWER9, altivec supported", 1, None)
    assert complete(cpu.parse_cpuinfo(texts.RISC_V, "riscv64")).count == 1


def test_apple_silicon_from_sysctl():
    """Chip, features and the two kinds of core come from sysctl."""
    found = cpu.parse_sysctl(texts.APPLE_M3)
    seen = complete(found)
    assert (seen.vendor, seen.model, seen.isa, seen.count) == ("Apple", "Apple M3 Pro", "NEON", 12)
    assert (seen.bf16, seen.amx, seen.vnni) == (True, False, True)
    assert seen.core_types == "6 x performance + 6 x efficiency"
    assert complete(cpu.parse_sysctl(texts.APPLE_M1)).bf16 is False


def test_intel_mac_from_sysctl():
    """An Intel Mac spells flags in capitals and in two lines."""
    seen = complete(cpu.parse_sysctl(texts.INTEL_MAC))
    assert (seen.vendor, seen.isa, seen.family, seen.model_number, seen.count) == ("Intel", "AVX2", 6, 142, 8)
    assert seen.core_types is None


def test_windows_from_identifier_and_registry():
    """Windows gives numbers and name; bf16 is null, since it does not tell."""
    identifier = "Intel64 Family 6 Model 151 Stepping 2, GenuineIntel"
    found = cpu.parse_windows(identifier, "12th Gen Intel(R) Core(TM) i9-12900K", frozenset({"avx2", "avx"}), "x86_64")
    seen = complete(found)
    assert (seen.vendor, seen.family, seen.model_number, seen.stepping, seen.isa) == ("Intel", 6, 151, 2, "AVX2")
    assert seen.bf16 is None
    arm = "ARMv8 (64-bit) Family 8 Model D4B Revision   0, Qualcomm Technologies Inc"
    seen = complete(cpu.parse_windows(arm, "Snapdragon X Elite", frozenset({"neon", "dotprod"}), "arm64"))
    assert (seen.isa, seen.vnni, seen.amx, seen.family) == ("NEON", True, False, None)
    assert complete(cpu.parse_windows("", "", frozenset(), "x86_64")).vendor is None


@case("host-hybrid")
def test_hybrid_x86_core_types_come_from_the_kernel_lists(case):
    """Where the kernel lists performance and efficiency CPUs, they are counted; elsewhere the field is absent."""
    plain = cpu.parse_cpuinfo(texts.ALDER_LAKE, "x86_64")
    found = cpu.with_core_types(plain, {"performance": "0-11\n", "efficiency": "12-19\n"})
    assert found.cpu.core_types == "12 x performance + 8 x efficiency"
    assert cpu.with_core_types(plain, {"performance": "", "efficiency": ""}) == plain
    assert cpu.list_length("0-3,8,x-y,9-1") == 5


def test_a_missing_count_comes_from_the_interpreter():
    """os.cpu_count() stands in where the text lists no processors, and its source says so."""
    found = cpu.with_count(cpu.parse_cpuinfo(texts.BARE_VM, "x86_64"), 4)
    assert complete(found).count == 4
    assert found.sources["cpu.count"] == "os.cpu_count()"


@pytest.mark.parametrize("arch", ["x86_64", "arm64", "armv7l", "riscv64", ""])
@pytest.mark.parametrize("text", ["", "\n\n", texts.BINARY, "processor", ":::", "flags :", "model : 99999999999999999"])
def test_nonsense_is_null_with_reasons(text, arch):
    """Empty text, noise and half lines give nulls, never an error."""
    assert complete(cpu.parse_cpuinfo(text, arch)).model is None
    complete(cpu.parse_sysctl(text))


@pytest.mark.parametrize("name", sorted(texts.CPUINFO_TEXTS))
def test_every_truncation_is_read(name):
    """A text that breaks off anywhere is still read."""
    text = texts.CPUINFO_TEXTS[name]
    for end in range(0, len(text), 7):
        complete(cpu.parse_cpuinfo(text[:end], "arm64"))
        complete(cpu.parse_sysctl(text[:end]))


@settings(max_examples=100, deadline=None)
@given(st.text(), st.text(), st.text())
def test_any_text_is_read(first, second, third):
    """No text at all makes a reader fail."""
    text = f"processor : 0\nCPU implementer : {first}\nCPU part : {second}\nflags : {third}\nmodel name : {first}\n"
    complete(cpu.parse_cpuinfo(text, "arm64"))
    complete(cpu.parse_cpuinfo(text.replace("CPU ", ""), "x86_64"))
    complete(cpu.parse_sysctl(f"machdep.cpu.family: {first}\nmachdep.cpu.vendor: {second}\nhw.ncpu: {third}"))
    complete(cpu.parse_windows(first, second, frozenset(third.split()), "x86_64"))


@case("host-api-rename")
def test_this_machine_is_read_without_fillers(case):
    """On the machine that runs the tests every null has a reason, and there is at least one CPU."""
    found = complete(cpu.read_cpu())
    assert found.count and found.count >= 1


@pytest.mark.parametrize(
    ("model", "short"),
    [
        ("AMD EPYC", "EPYC"),
        ("AMD EPYC 9554 64-Core Processor", "EPYC 9554"),
        ("AMD Ryzen 7 PRO 4750U with Radeon Graphics", "Ryzen 7 PRO 4750U"),
        ("Intel(R) Xeon(R) Platinum 8480+", "Xeon Platinum 8480+"),
        ("12th Gen Intel(R) Core(TM) i7-12700H", "Core i7-12700H"),
        ("Intel(R) Core(TM) i7-8650U CPU @ 1.90GHz", "Core i7-8650U"),
        ("Apple M3 Pro", "Apple M3 Pro"),
        ("QEMU Virtual CPU version 2.5+", "QEMU Virtual"),
        ("CPU", "CPU"),
    ],
)
def test_short_names_of_cpus(model, short):
    """Makers, marks, clock rates and core counts are left out of a title."""
    assert cpu_names.short_cpu(model) == short


def test_architectures_have_one_name_each():
    """amd64 and aarch64 are spelled as the records spell them."""
    assert [cpu_names.architecture(name) for name in ("AMD64", "aarch64", "x86_64", "ppc64le", " ARM64")] == [
        "x86_64", "arm64", "x86_64", "ppc64le", "arm64",
    ]  # fmt: skip
