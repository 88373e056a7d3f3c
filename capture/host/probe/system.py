"""The system around the processors: its name, memory, virtualisation and a container's limits.

Parsers are pure functions of text; readers return null or nothing where a file is missing, and never raise.
"""

from __future__ import annotations

import os
import platform
import re
import sys
from collections.abc import Iterable, Mapping

import psutil

from capture.host.probe import cpu_names
from capture.host.probe.cpu import has_hypervisor, read_text, sysctl
from capture.host.probe.cpu_fields import clean

NONE_DETECTED = "none detected"
GIB = 1 << 30
CGROUP = "/sys/fs/cgroup"
UNLIMITED = 1 << 60  # bytes; cgroup v1 writes the largest multiple of a page for "none"
CONTAINER_FILES = ("/.dockerenv", "/run/.containerenv", "/run/systemd/container")
# What only a hypervisor offers as a clock, or writes as the machine's vendor and product. Tools such as
# systemd-detect-virt are not asked: the same machine would differ by what is installed.
HYPERVISORS = (
    (r"kvm-clock|\bKVM\b|Google Compute Engine|Amazon EC2|OpenStack|DigitalOcean|Hetzner\b.*vServer", "kvm"),
    (r"hyperv_clocksource|Microsoft Corporation.*Virtual Machine", "hyper-v"),
    (r"\b[Xx]en\b", "xen"),
    (r"VMware", "vmware"),
    (r"VirtualBox|innotek", "virtualbox"),
    (r"Parallels", "parallels"),
    (r"Apple Virtualization", "apple"),
    (r"\bbhyve\b", "bhyve"),
    (r"\bQEMU\b|\bBochs\b", "qemu"),
)


def parse_os_release(text: str) -> str | None:
    """Return `Debian 12` from /etc/os-release, or None."""
    facts = {}
    for line in text.splitlines():
        key, equals, value = line.partition("=")
        if equals:
            facts[key.strip()] = value.strip().strip("\"'")
    name = clean(re.sub(r"\s*GNU/Linux\b", "", facts.get("NAME", "")))
    return " ".join(filter(None, [name, clean(facts.get("VERSION_ID"))])) if name else None


def os_line(distribution: str | None, system: str, release: str, machine: str) -> str:
    """Return `Debian 12, Linux 6.18, x86_64`; a kernel's own suffix may name its builder and is left out."""
    version = re.match(r"\d+\.\d+", release)
    kernel = f"{system} {version[0]}" if version else system
    return ", ".join(filter(None, [distribution, kernel, cpu_names.architecture(machine)]))


def read_os(machine: str | None = None) -> str:
    """Return this system's line; macOS and Windows stand for themselves, without a kernel.

    `machine` is the architecture that an interpreter sees where it was asked, by default that of this one.
    """
    machine = machine or platform.machine()
    if sys.platform == "darwin":
        return os_line(None, "macOS", platform.mac_ver()[0], machine)
    if sys.platform == "win32":
        version = sys.getwindowsversion()
        return windows_line(version.major, version.build, machine)
    distribution = parse_os_release(read_text("/etc/os-release") or read_text("/usr/lib/os-release"))
    return os_line(distribution, platform.system(), platform.release(), machine)


def windows_line(major: int, build: int, machine: str) -> str:
    """Return `Windows 11 (build 22631), x86_64`; it calls itself 10 still and differs by its build."""
    shown = 11 if major == 10 and build >= 22000 else major
    return f"Windows {shown} (build {build}), {cpu_names.architecture(machine)}"


def read_memory() -> int | None:
    """Return the visible memory in bytes."""
    try:
        return int(psutil.virtual_memory().total)
    except (OSError, RuntimeError, ValueError, psutil.Error):
        return None


def memory_bytes() -> int:
    """Return how much memory this process and its children may use: all, or what the container allows.

    4 GiB where neither can be read.
    """
    return min((size for size in (read_memory(), memory_limit()) if size is not None), default=4 * GIB)


def gibibytes(memory: int | None) -> int | None:
    """Return bytes rounded to GiB, at least one."""
    return None if memory is None else max(1, round(memory / GIB))


def virtualization(hypervisor: bool, clues: str, container: bool, kernel: str) -> str | None:
    """Return kvm, hyper-v, … `vm` for an unnamed hypervisor, `wsl`, `container` on bare metal, or None.

    `hypervisor` is the CPU flag; `clues` are clock sources and the machine's vendor and product; `kernel` is
    its release. A hypervisor comes before a container: it moves timings, and stays when the container goes.
    """
    if re.search(r"microsoft", kernel, re.IGNORECASE):
        return "wsl"
    if not re.search(r"\.metal\b", clues):
        for pattern, name in HYPERVISORS:
            if re.search(pattern, clues):
                return name
        if hypervisor:
            return "vm"
    return "container" if container else None


def in_container(cgroup: str, files: Iterable[str]) -> bool:
    """Say whether /proc/1/cgroup, or a file that container engines leave, tells of a container."""
    return bool(re.search(r"docker|kubepods|containerd|libpod|/lxc/|garden", cgroup)) or bool(list(files))


def read_virtualization() -> tuple[str | None, str]:
    """Return the kind of virtualisation of this machine and where that comes from (or why there is none)."""
    if sys.platform == "win32":
        return None, "Windows does not tell"
    if sys.platform == "darwin":
        inside = re.search(r"^kern\.hv_vmm_present: 1$", sysctl(), re.MULTILINE)
        return ("vm", "sysctl kern.hv_vmm_present") if inside else (None, NONE_DETECTED)
    dmi = " ".join(read_text(f"/sys/class/dmi/id/{name}").strip() for name in ("sys_vendor", "product_name"))
    clocks = read_text("/sys/devices/system/clocksource/clocksource0/available_clocksource").strip()
    clues = "\n".join([clocks, dmi, read_text("/sys/hypervisor/type").strip()])
    container = in_container(read_text("/proc/1/cgroup"), filter(os.path.exists, CONTAINER_FILES))
    kind = virtualization(has_hypervisor(read_text("/proc/cpuinfo")), clues, container, platform.release())
    return kind, "CPU flags, clock sources, DMI and /proc/1/cgroup" if kind else NONE_DETECTED


def parse_quota(text: str) -> float | None:
    """Return CPUs from `cpu.max`, or from v1's quota and period in one text; None for no limit or garbage."""
    match = re.fullmatch(r"\s*([0-9]{1,12})\s+([0-9]{1,12})\s*", text)
    return int(match[1]) / int(match[2]) if match and int(match[1]) and int(match[2]) else None


def parse_memory_limit(text: str) -> int | None:
    """Return bytes from `memory.max` or v1's `memory.limit_in_bytes`; None for no limit or garbage."""
    match = re.fullmatch(r"\s*([0-9]{1,20})\s*", text)
    return int(match[1]) if match and 0 < int(match[1]) < UNLIMITED else None


def cgroup_folders(membership: str, controller: str, root: str = CGROUP) -> list[str]:
    """Return the folders whose limits hold for a process, from its /proc/self/cgroup: its own up to the root.

    `controller` is `cpu` or `memory` of version 1, or empty for version 2.
    """
    base = f"{root}/{controller}" if controller else root
    path = ""
    for line in membership.splitlines():
        number, _, rest = line.partition(":")
        controllers, _, place = rest.partition(":")
        if (controller in controllers.split(",")) if controller else (number == "0" and not controllers):
            path = place
    parts = [part for part in path.split("/") if part and part != ".."]
    return [base, *("/".join([base, *parts[: end + 1]]) for end in range(len(parts)))]


def cpu_quota(root: str = CGROUP, membership: str | None = None) -> float | None:
    """Return how many CPUs a container's quota allows, the tightest of its cgroups; None for no limit."""
    own = read_text("/proc/self/cgroup") if membership is None else membership
    texts = [read_text(f"{folder}/cpu.max") for folder in cgroup_folders(own, "", root)]
    texts += [
        read_text(f"{folder}/cpu.cfs_quota_us") + " " + read_text(f"{folder}/cpu.cfs_period_us")
        for folder in cgroup_folders(own, "cpu", root)
    ]
    return min((quota for text in texts if (quota := parse_quota(text)) is not None), default=None)


def memory_limit(root: str = CGROUP, membership: str | None = None) -> int | None:
    """Return the memory limit in bytes, the tightest of its cgroups; None for no limit."""
    own = read_text("/proc/self/cgroup") if membership is None else membership
    texts = [read_text(f"{folder}/memory.max") for folder in cgroup_folders(own, "", root)]
    texts += [read_text(f"{folder}/memory.limit_in_bytes") for folder in cgroup_folders(own, "memory", root)]
    return min((limit for text in texts if (limit := parse_memory_limit(text)) is not None), default=None)


def limits(
    quota: float | None,
    memory: int | None,
    affinity: int | None,
    cpus: int | None,
    installed: int | None = None,
) -> Mapping[str, str]:
    """Return the limits that hold, as `{"cpus": "6.0", "memory": "1 GiB", "affinity": "4"}`; none, no entry.

    `memory` and `installed` are in bytes; a limit above what is installed limits nothing.
    """
    bounds = {}
    if quota is not None:
        bounds["cpus"] = f"{quota:.1f}"
    if memory is not None and memory < (installed or memory + 1):
        bounds["memory"] = f"{memory / GIB:.4g} GiB" if memory >= GIB else f"{memory / (1 << 20):.4g} MiB"
    if affinity is not None and affinity < (cpus or affinity):
        bounds["affinity"] = str(affinity)
    return bounds


def read_limits() -> Mapping[str, str]:
    """Return the limits of this process, which its children inherit."""
    affinity = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None
    return limits(cpu_quota(), memory_limit(), affinity, os.cpu_count(), read_memory())
