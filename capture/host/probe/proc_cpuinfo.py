"""Read Linux's /proc/cpuinfo, whose form differs by architecture."""

from __future__ import annotations

import re
from collections.abc import Mapping

from capture.host.probe import cpu_names
from capture.host.probe.cpu_fields import (
    CAPABILITIES,
    NOT_APPLICABLE,
    CpuReading,
    capabilities,
    clean,
    describe_cores,
    foreign_fields,
    is_arm,
    number,
    reading,
)

CPUINFO = "/proc/cpuinfo"
UNTOLD = f"{CPUINFO} does not tell"


def parse_cpuinfo(text: str, arch: str) -> CpuReading:
    """Read /proc/cpuinfo of a machine of `arch`, as `names.architecture` gives it.

    Its processors are taken together: the first one's name, the flags that all of them have.
    """
    blocks = _processors(text)
    merged = {key: value for block in reversed(blocks) for key, value in block.items()}
    if "CPU implementer" in merged or ("Features" in merged and is_arm(arch)):
        return _arm_cpuinfo(blocks, merged)
    if "flags" in merged or "vendor_id" in merged:
        return _x86_cpuinfo(blocks, merged)
    missing = UNTOLD if merged else f"{CPUINFO} is empty or unreadable"
    values = {"model": clean(merged.get("cpu") or merged.get("model name")), "count": counted(blocks)}
    origins = {"model": f"{CPUINFO}: cpu", "count": f"{CPUINFO}: processor"}
    return reading(values, foreign_fields(arch), origins, missing)


def has_hypervisor(text: str) -> bool:
    """Say whether /proc/cpuinfo of an x86 machine has the flag `hypervisor`."""
    return re.search(r"^flags\s*:.*\bhypervisor\b", text, re.MULTILINE) is not None


def _processors(text: str) -> list[dict[str, str]]:
    """Return the `key : value` lines of each processor; other lines are skipped."""
    blocks: list[dict[str, str]] = [{}]
    for line in text.splitlines():
        key, colon, value = line.partition(":")
        key = key.strip()
        if not colon or not key:
            continue
        if key == "processor" and blocks[-1]:
            blocks.append({})
        blocks[-1].setdefault(key, value.strip())
    return [block for block in blocks if block]


def _x86_cpuinfo(blocks: list[dict[str, str]], merged: Mapping[str, str]) -> CpuReading:
    """Read the x86 form."""
    flags = _common_flags(blocks, "flags")
    reported = ", as reported by the hypervisor" if flags and "hypervisor" in flags else ""
    vendor = clean(merged.get("vendor_id"))
    values = {
        "vendor": cpu_names.X86_VENDORS.get(vendor or "", vendor),
        "model": clean(merged.get("model name")),
        "family": number(merged.get("cpu family")),
        "model_number": number(merged.get("model")),
        "stepping": number(merged.get("stepping")),
        "count": counted(blocks),
        **capabilities(flags, arm=False),
    }
    whys = foreign_fields("x86_64")
    if flags is None:
        whys |= dict.fromkeys(CAPABILITIES, f"{CPUINFO} has no flags line")
    elif values["isa"] is None:
        whys["isa"] = f"no vector ISA from SSE4.2 on among the flags{reported}"
    lines = {
        "vendor": "vendor_id",
        "model": "model name",
        "family": "cpu family",
        "model_number": "model",
        "stepping": "stepping",
        "count": "processor",
        **dict.fromkeys(CAPABILITIES, "flags"),
    }
    origins = {name: f"{CPUINFO}: {line}{reported}" for name, line in lines.items()}
    return reading(values, whys, origins, UNTOLD)


def _arm_cpuinfo(blocks: list[dict[str, str]], merged: Mapping[str, str]) -> CpuReading:
    """Read the ARM form; the board's name and serial number, which some kernels add, are not looked at."""
    found = [part for block in blocks if (part := _arm_part(block))]
    kinds = sorted(set(found))
    part = " + ".join(kinds) or None
    implementer = number(merged.get("CPU implementer"), 16)
    flags = _common_flags(blocks, "Features")
    values = {
        "vendor": cpu_names.ARM_VENDORS.get(implementer or 0),
        "model": clean(merged.get("model name")),
        "part": part,
        "count": counted(blocks),
        **capabilities(flags, arm=True),
        "core_types": describe_cores((found.count(kind), cpu_names.arm_names(kind) or kind) for kind in kinds),
    }
    whys = foreign_fields("arm64")
    if flags is None:
        whys |= dict.fromkeys(CAPABILITIES, f"{CPUINFO} has no Features line")
    elif values["isa"] is None:
        whys["isa"] = "neither SVE nor NEON among the features"
    if implementer is not None:
        whys["vendor"] = f"implementer {implementer:#x} is not in the list of vendors"
    known = cpu_names.arm_names(part)
    whys["model"] = f"{NOT_APPLICABLE}: ARM reports no name" + (f"; the part is {known}" if known else "")
    origins = {
        "vendor": f"{CPUINFO}: CPU implementer",
        "model": f"{CPUINFO}: model name",
        "part": f"{CPUINFO}: CPU implementer, CPU part",
        "count": f"{CPUINFO}: processor",
        "core_types": f"{CPUINFO}: CPU part",
        **dict.fromkeys(CAPABILITIES, f"{CPUINFO}: Features"),
        "amx": "architecture",
    }
    return reading(values, whys, origins, UNTOLD)


def _arm_part(block: Mapping[str, str]) -> str | None:
    """Return `0x41/0xd0c` for one processor, or None."""
    implementer, part = number(block.get("CPU implementer"), 16), number(block.get("CPU part"), 16)
    return f"{implementer:#x}/{part:#05x}" if implementer is not None and part is not None else None


def _common_flags(blocks: list[dict[str, str]], key: str) -> frozenset[str] | None:
    """Return the flags that all processors have, in lower case; None where no line tells."""
    sets = [frozenset(block[key].lower().split()) for block in blocks if block.get(key)]
    return frozenset.intersection(*sets) if sets else None


def counted(blocks: list[dict[str, str]]) -> int | None:
    """Return the number of processors listed, or None."""
    return sum(re.fullmatch(r"\d+", block.get("processor", "")) is not None for block in blocks) or None
