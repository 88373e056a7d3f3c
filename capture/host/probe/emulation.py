"""Whether an interpreter's processor is emulated: x86 on an ARM laptop, ARM in a container on an x86 machine.

A machine that emulates tells other facts than the processor that the interpreter sees, so both are compared by the
family of their architecture: the interpreter's own `platform.machine()` and what the system says of itself.
"""

from __future__ import annotations

import platform
import re
import sys

from capture.host.host import Cpu
from capture.host.probe import cpu_names
from capture.host.probe.cpu import read_cpu, read_text, sysctl
from capture.host.probe.cpu_fields import NOT_APPLICABLE, CpuReading, reading
from capture.host.probe.proc_cpuinfo import CPUINFO

EMULATED = f"{NOT_APPLICABLE}: the processor is emulated; what the system tells is about the one beneath"
_FAMILIES = (("x86", r"x86|x86_64|i\d86"), ("arm", r"arm.*"))


def machine_beneath(machine: str | None) -> str | None:
    """Name the processor and architecture that emulate an interpreter's, such as `Apple M3, arm64`; None where none do.

    `machine` is that interpreter's own `platform.machine()`, or None where it was not asked.
    """
    own = cpu_names.architecture(platform.machine())
    beneath = contradiction(own, system_text()) or own
    seen = cpu_names.architecture(machine) if machine else own
    if family(seen) == family(beneath):
        return None
    return ", ".join(filter(None, (processor_name(read_cpu().cpu), beneath)))


def system_text() -> str:
    """Return what the system tells about its processor, or nothing where that says no more than the architecture."""
    if sys.platform == "darwin":
        return sysctl()
    return read_text(CPUINFO) if sys.platform == "linux" else ""


def processor_name(cpu: Cpu) -> str | None:
    """Return the name of a processor, or of its ARM parts."""
    return cpu.model or cpu_names.arm_names(cpu.part) or cpu.part


def contradiction(arch: str, told: str) -> str | None:
    """Return the architecture that a system's own text tells of, where that is another one than `arch`, or None.

    The text is /proc/cpuinfo, which an emulator may pass on from the machine beneath, or macOS's sysctl.
    """
    if re.search(r"^sysctl\.proc_translated: 1$|\bVirtualApple\b", told, re.MULTILINE):  # Rosetta, on macOS and Linux
        return "arm64"
    if family(arch) == "x86" and re.search(r"^CPU implementer\s*:", told, re.MULTILINE):
        return "arm64"
    if family(arch) == "arm" and re.search(r"^vendor_id\s*:", told, re.MULTILINE):
        return "x86_64"
    return None


def family(arch: str) -> str:
    """Return what architectures have in common that one processor executes: 32 and 64 bits of x86, or of ARM."""
    return next((name for name, pattern in _FAMILIES if re.fullmatch(pattern, arch)), arch)


def emulated_processor(count: int | None) -> CpuReading:
    """Return a processor of which an interpreter sees nothing but its architecture and how many CPUs there are."""
    return reading({"count": count}, {}, {"count": "os.cpu_count()"}, EMULATED)
