"""Names of processors: vendors and ARM parts by their codes, and short forms for titles."""

from __future__ import annotations

import re

X86_VENDORS = {
    "AuthenticAMD": "AMD",
    "GenuineIntel": "Intel",
    "HygonGenuine": "Hygon",
    "CentaurHauls": "Centaur",
    "Shanghai": "Zhaoxin",
}
# Implementer and part numbers as in MIDR_EL1; the names are those of util-linux's lscpu.
ARM_VENDORS = {
    0x41: "Arm", 0x42: "Broadcom", 0x43: "Cavium", 0x46: "Fujitsu", 0x48: "HiSilicon", 0x4E: "NVIDIA",
    0x50: "Applied Micro", 0x51: "Qualcomm", 0x53: "Samsung", 0x56: "Marvell", 0x61: "Apple", 0x69: "Intel",
    0x6D: "Microsoft", 0x70: "Phytium", 0xC0: "Ampere",
}  # fmt: skip
ARM_PARTS = {
    (0x41, 0xB76): "ARM1176", (0x41, 0xC07): "Cortex-A7", (0x41, 0xC09): "Cortex-A9",
    (0x41, 0xC0F): "Cortex-A15",
    (0x41, 0xD03): "Cortex-A53", (0x41, 0xD04): "Cortex-A35", (0x41, 0xD05): "Cortex-A55",
    (0x41, 0xD07): "Cortex-A57", (0x41, 0xD08): "Cortex-A72", (0x41, 0xD09): "Cortex-A73",
    (0x41, 0xD0A): "Cortex-A75", (0x41, 0xD0B): "Cortex-A76", (0x41, 0xD0C): "Neoverse-N1",
    (0x41, 0xD0D): "Cortex-A77", (0x41, 0xD40): "Neoverse-V1", (0x41, 0xD41): "Cortex-A78",
    (0x41, 0xD44): "Cortex-X1", (0x41, 0xD46): "Cortex-A510", (0x41, 0xD47): "Cortex-A710",
    (0x41, 0xD48): "Cortex-X2", (0x41, 0xD49): "Neoverse-N2", (0x41, 0xD4A): "Neoverse-E1",
    (0x41, 0xD4D): "Cortex-A715", (0x41, 0xD4E): "Cortex-X3", (0x41, 0xD4F): "Neoverse-V2",
    (0x41, 0xD80): "Cortex-A520", (0x41, 0xD81): "Cortex-A720", (0x41, 0xD82): "Cortex-X4",
    (0x41, 0xD83): "Neoverse-V3AE", (0x41, 0xD84): "Neoverse-V3", (0x41, 0xD85): "Cortex-X925",
    (0x41, 0xD87): "Cortex-A725", (0x41, 0xD8E): "Neoverse-N3",
    (0x43, 0x0AF): "ThunderX2-99xx", (0x46, 0x001): "A64FX", (0x48, 0xD01): "TaiShan-v110",
    (0x4E, 0x004): "Carmel", (0x51, 0x001): "Oryon", (0xC0, 0xAC3): "Ampere-1", (0xC0, 0xAC4): "Ampere-1a",
    (0x61, 0x022): "Icestorm-M1", (0x61, 0x023): "Firestorm-M1",
    (0x61, 0x032): "Blizzard-M2", (0x61, 0x033): "Avalanche-M2",
}  # fmt: skip
ARCHITECTURES = {"amd64": "x86_64", "x64": "x86_64", "x86-64": "x86_64", "aarch64": "arm64", "armv8": "arm64"}


def architecture(machine: str) -> str:
    """Return the usual name of an architecture: x86_64, arm64, or the given name in lower case."""
    name = machine.strip().lower()
    return ARCHITECTURES.get(name, name)


def arm_names(part: str | None) -> str | None:
    """Return the names of ARM parts such as `0x41/0xd0c`, joined as they are, or None if none is known."""
    codes = re.findall(r"0x([0-9a-f]{1,4})/0x([0-9a-f]{1,4})", part or "")
    names = [ARM_PARTS.get((int(implementer, 16), int(number, 16))) for implementer, number in codes]
    return " + ".join(name for name in names if name) or None


def short_cpu(model: str) -> str:
    """Return the short form of a CPU's model name: `AMD EPYC 9554 64-Core Processor` -> `EPYC 9554`."""
    name = re.sub(r"\((R|TM|tm|r)\)|[®™]", "", model)
    noise = r"@.*|\bwith Radeon.*|\b\d+-Core\b.*|\b(CPU|Processor)\b|^\d+th Gen\b|\bversion\b.*"
    name = re.sub(noise, " ", name)
    name = re.sub(r"^\s*(AMD|Intel)\s+(?=\S)", "", name)
    return " ".join(name.split()) or model


def short_gpu(name: str) -> str:
    """Return the short form of an accelerator's name: `NVIDIA H200` -> `H200`."""
    maker = r"^(NVIDIA|AMD|Intel)(\(R\))?\s+((GeForce|Instinct|Tesla|Quadro)\s+)?(?=\S)"
    short = re.sub(maker, "", name.strip())
    return " ".join(short.split()) or name
