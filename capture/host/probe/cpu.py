"""The processor as the system reports it: /proc/cpuinfo, sysctl on macOS, the registry on Windows."""

from __future__ import annotations

import dataclasses
import os
import platform
import re
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

from capture.host.probe import cpu_names
from capture.host.probe.command import bounded
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
from capture.host.probe.proc_cpuinfo import CPUINFO, has_hypervisor, parse_cpuinfo

__all__ = [
    "CpuReading",
    "has_hypervisor",
    "parse_cpuinfo",
    "parse_sysctl",
    "parse_windows",
    "read_cpu",
    "read_text",
    "sysctl",
]

READ_LIMIT = 32 << 20  # bytes; /proc/cpuinfo has about 1.5 KB a CPU
SYSCTL_TIMEOUT = 5.0  # seconds
SYSCTL_NAMES = ("hw", "machdep.cpu", "kern.hv_vmm_present", "sysctl.proc_translated")  # the last is 1 under Rosetta
ARM_FEATURES = {"FEAT_BF16": "bf16", "FEAT_DotProd": "dotprod", "FEAT_I8MM": "i8mm", "AdvSIMD": "advsimd"}
# PF_* numbers of IsProcessorFeaturePresent (winnt.h).
WINDOWS_FEATURES = {
    38: "sse4_2", 39: "avx", 40: "avx2", 41: "avx512f", 19: "neon", 43: "dotprod", 46: "sve", 47: "sve2",
}  # fmt: skip


def parse_sysctl(text: str) -> CpuReading:
    """Read `sysctl hw machdep.cpu` of macOS, on Apple silicon or Intel."""
    facts: dict[str, str] = {}
    for line in text.splitlines():
        key, colon, value = line.partition(":")
        if colon:
            facts.setdefault(key.strip(), value.strip())
    model = clean(facts.get("machdep.cpu.brand_string"))
    vendor = clean(facts.get("machdep.cpu.vendor"))
    apple = (model or "").startswith("Apple") or (vendor is None and "hw.optional.arm64" in facts)
    if apple:
        known = frozenset(
            flag for name, flag in ARM_FEATURES.items()
            if "1" in (facts.get(f"hw.optional.arm.{name}"), facts.get(f"hw.optional.{name}"))
        ) | (frozenset({"neon"}) if facts.get("hw.optional.neon") == "1" else frozenset())  # fmt: skip
        flags = known or None
        key = "hw.optional"
    else:
        names_of = ("machdep.cpu.features", "machdep.cpu.leaf7_features")
        words = " ".join(facts.get(name, "") for name in names_of).lower().split()
        flags = frozenset(words) or None
        key = "machdep.cpu.features"
    values = {
        "vendor": "Apple" if apple else cpu_names.X86_VENDORS.get(vendor or "", vendor),
        "model": model,
        "family": number(facts.get("machdep.cpu.family")) if vendor else None,
        "model_number": number(facts.get("machdep.cpu.model")) if vendor else None,
        "stepping": number(facts.get("machdep.cpu.stepping")) if vendor else None,
        "count": number(facts.get("hw.logicalcpu") or facts.get("hw.ncpu")),
        **capabilities(flags, arm=apple),
        "core_types": describe_cores(
            (number(facts.get(f"{level}.logicalcpu")) or 0, facts.get(f"{level}.name", level).lower())
            for level in (f"hw.perflevel{index}" for index in range(4))
        ),
    }
    whys = foreign_fields("arm64" if apple else "x86_64")
    if apple:
        whys["part"] = f"{NOT_APPLICABLE}: macOS names the chip instead"
    lines = {
        "vendor": "machdep.cpu.vendor", "model": "machdep.cpu.brand_string", "family": "machdep.cpu.family",
        "model_number": "machdep.cpu.model", "stepping": "machdep.cpu.stepping", "count": "hw.logicalcpu",
        "core_types": "hw.perflevel", **dict.fromkeys(CAPABILITIES, key),
    }  # fmt: skip
    missing = "sysctl does not tell" if facts else "sysctl printed nothing"
    return reading(values, whys, {name: f"sysctl {line}" for name, line in lines.items()}, missing)


def parse_windows(identifier: str, name: str, features: frozenset[str], arch: str) -> CpuReading:
    """Read what Windows tells: `PROCESSOR_IDENTIFIER`, the registry's name, features as Linux names them."""
    arm = is_arm(arch)
    match = re.search(r"Family (\w+) Model (\w+) Stepping (\w+)", identifier)
    vendor = clean(identifier.rpartition(",")[2])
    known = capabilities(features or None, arm)
    values: dict[str, object] = {
        "vendor": cpu_names.X86_VENDORS.get(vendor or "", vendor),
        "model": clean(name),
        "isa": known.get("isa"),
        "vnni": known.get("vnni") if arm else None,
        "amx": False if arm else None,
    }
    if match and not arm:
        values |= {
            field: number(text)
            for field, text in zip(("family", "model_number", "stepping"), match.groups(), strict=True)
        }
    origins = {"model": "registry: ProcessorNameString", "amx": "architecture"}
    origins |= dict.fromkeys(("vendor", "family", "model_number", "stepping"), "PROCESSOR_IDENTIFIER")
    origins |= dict.fromkeys(("isa", "vnni"), "IsProcessorFeaturePresent")
    return reading(values, foreign_fields(arch), origins, "Windows does not tell")


def read_cpu() -> CpuReading:
    """Read this machine's processor; never raises."""
    arch = cpu_names.architecture(platform.machine())
    if sys.platform == "darwin":
        reading = parse_sysctl(sysctl())
    elif sys.platform == "win32":
        identifier = os.environ.get("PROCESSOR_IDENTIFIER", "")
        reading = parse_windows(identifier, _registry_name(), _windows_features(), arch)
    else:
        reading = with_core_types(parse_cpuinfo(read_text(CPUINFO), arch), _hybrid_lists())
    return with_count(reading, os.cpu_count())


def with_count(reading: CpuReading, count: int | None) -> CpuReading:
    """Return the reading with the interpreter's number of CPUs where the system's own text has none."""
    if reading.cpu.count is not None or count is None:
        return reading
    reasons = {field: why for field, why in reading.reasons.items() if field != "cpu.count"}
    sources = {**reading.sources, "cpu.count": "os.cpu_count()"}
    return CpuReading(dataclasses.replace(reading.cpu, count=count), reasons, sources)


def with_core_types(reading: CpuReading, lists: Mapping[str, str]) -> CpuReading:
    """Return the reading with the core types of a hybrid x86 processor; `lists` maps a type to `0-15,20`."""
    types = describe_cores((list_length(text), name) for name, text in lists.items())
    if types is None or reading.cpu.core_types is not None:
        return reading
    sources = {**reading.sources, "cpu.core_types": "/sys/devices/cpu_core, cpu_atom"}
    return CpuReading(dataclasses.replace(reading.cpu, core_types=types), reading.reasons, sources)


def list_length(text: str) -> int:
    """Return how many CPUs a kernel list such as `0-15,20` names; garbage names none."""
    ranges = re.findall(r"\b(\d{1,6})(?:-(\d{1,6}))?\b", text)
    return sum(max(0, int(last or first) - int(first) + 1) for first, last in ranges)


def _hybrid_lists() -> dict[str, str]:
    """Return the kernel's lists of performance and efficiency CPUs; empty texts where there are none."""
    return {
        "performance": read_text("/sys/devices/cpu_core/cpus"),
        "efficiency": read_text("/sys/devices/cpu_atom/cpus"),
    }


def read_text(path: str) -> str:
    """Return the text of a system file, undecodable bytes replaced; empty where it cannot be read."""
    try:
        with Path(path).open("rb") as file:
            return file.read(READ_LIMIT).decode("utf-8", "replace")
    except (OSError, ValueError):
        return ""


def sysctl() -> str:
    """Return the `hw` and `machdep.cpu` trees of sysctl, which name neither host nor user."""
    try:
        command = shutil.which("sysctl") or "/usr/sbin/sysctl"
        return bounded([command, *SYSCTL_NAMES], timeout=SYSCTL_TIMEOUT).stdout
    except OSError:
        return ""


def _registry_name() -> str:
    """Return the processor's name in the Windows registry, or nothing."""
    if sys.platform == "win32":
        import winreg

        try:
            key = r"HARDWARE\DESCRIPTION\System\CentralProcessor\0"
            with winreg.OpenKey(winreg.HKEY_LOCAL_MACHINE, key) as opened:
                return str(winreg.QueryValueEx(opened, "ProcessorNameString")[0])
        except OSError:
            return ""
    return ""


def _windows_features() -> frozenset[str]:
    """Return the processor features Windows knows about, as /proc/cpuinfo names them."""
    if sys.platform == "win32":
        import ctypes

        present = ctypes.windll.kernel32.IsProcessorFeaturePresent
        return frozenset(name for feature, name in WINDOWS_FEATURES.items() if present(feature))
    return frozenset()
