"""The CPUs that this process may use: which they are, how fast they run, whether heat slows them down.

Every file may be missing, as most are in virtual machines and everywhere but on Linux; what is unknown is None.
"""

from __future__ import annotations

import contextlib
import re
import sys
import time
from collections.abc import Collection, Sequence
from pathlib import Path

import psutil

from capture.errors import plural

SYSTEM = Path("/sys/devices/system/cpu")
BUDGET = 0.2  # seconds for reading frequencies: some kernels take 10 ms for each CPU


def parse_list(text: str) -> tuple[int, ...]:
    """Return the numbers in a kernel list such as `0-3,8`; nothing where it is none."""
    numbers: list[int] = []
    for part in text.strip().split(","):
        match = re.fullmatch(r"([0-9]{1,5})(?:-([0-9]{1,5}))?", part)
        if match is None:
            return ()
        numbers += range(int(match[1]), int(match[2] or match[1]) + 1)
    return tuple(numbers)


def _parse_number(text: str) -> int | None:
    """Return the number that a kernel file holds, or None."""
    return int(text) if re.fullmatch(r"[0-9]{1,18}", text := text.strip()) else None


def usable() -> tuple[int, ...]:
    """Return the numbers of the CPUs that this process may use, or nothing where the system does not tell.

    A Slurm job, `taskset` and a container's set of CPUs all show here; a limit on CPU time does not.
    """
    with contextlib.suppress(AttributeError, OSError, psutil.Error):
        return tuple(sorted(psutil.Process().cpu_affinity()))
    return ()


def online() -> tuple[int, ...]:
    """Return the numbers of the CPUs that are switched on, or nothing where the system does not tell."""
    return parse_list(text_of(SYSTEM / "online"))


def pinning(core_types: str | None) -> str | None:
    """Say, on a processor with several kinds of core, whether a timing may have run on any of them.

    A time on one thread then depends on the kind that the scheduler chose, by a factor of about two.
    """
    if core_types is None:
        return None
    mine = usable()
    return f"hybrid, bound to {plural(len(mine), 'CPU')}" if mine and len(mine) < len(online()) else "hybrid, unpinned"


def positions(count: int, switched_on: Sequence[int], allowed: Collection[int]) -> tuple[int, ...]:
    """Return where the allowed CPUs stand in a list of `count` counters.

    Linux lists the CPUs that are switched on, so a CPU's place is not its number where one is off. Where the lists
    do not fit together, as in containers that renumber CPUs, every counter counts.
    """
    numbers = sorted(switched_on) or range(count)
    if len(numbers) != count or not allowed or not set(allowed) <= set(numbers):
        return tuple(range(count))
    return tuple(place for place, number in enumerate(numbers) if number in allowed)


def governor(cpus: Sequence[int]) -> str | None:
    """Return the frequency governor of these CPUs, several where they differ, or None where none is told."""
    governors = {text_of(folder(cpu) / "cpufreq/scaling_governor").strip() for cpu in cpus} - {""}
    return ", ".join(sorted(governors)) or None


def frequency(cpus: Sequence[int]) -> tuple[int | None, int | None]:
    """Return the highest current frequency of these CPUs and the highest they can reach, in MHz, or None."""
    current: list[int] = []
    highest: list[int] = []
    deadline = time.monotonic() + BUDGET
    for cpu in cpus:
        for numbers, name in ((current, "scaling_cur_freq"), (highest, "cpuinfo_max_freq")):
            number = _parse_number(text_of(folder(cpu) / "cpufreq" / name))
            numbers += [number] if number else []
        if time.monotonic() > deadline:
            break
    return mhz(current), mhz(highest)


def mhz(numbers: Sequence[int]) -> int | None:
    """Return the largest of some frequencies in kHz as MHz, or None."""
    return round(max(numbers) / 1000) if numbers else None


def throttles(cpus: Sequence[int]) -> int | None:
    """Return how often heat has slowed these CPUs down since the start, or None where nobody counts."""
    counts = [_parse_number(text_of(folder(cpu) / "thermal_throttle/core_throttle_count")) for cpu in cpus]
    known = [number for number in counts if number is not None]
    return sum(known) if known else None


def on_battery() -> bool | None:
    """Tell whether the machine runs on its battery; None where it has none or does not say."""
    with contextlib.suppress(Exception):  # absent on some systems, and drivers report nonsense that psutil trips over
        battery = psutil.sensors_battery()
        if battery is not None and battery.power_plugged is not None:
            return not battery.power_plugged
    return None


def folder(cpu: int) -> Path:
    """Return where the kernel tells about a CPU."""
    return SYSTEM / f"cpu{cpu}"


def text_of(path: Path) -> str:
    """Return a small system file, or nothing."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError, ValueError):
            return path.read_text("ascii")
    return ""
