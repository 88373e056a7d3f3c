"""What else a machine is doing, read before and during a timing snippet."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path

import psutil

from capture.record import Conditions

# A neighbour that takes a quarter of one CPU already moves a two-thread median by tens of percent on a small
# machine; on a large one, a few percent of all CPUs do.
FOREIGN_LIMIT = 0.25
FOREIGN_SHARE = 0.03
STEAL_LIMIT = 0.05
GOVERNOR = Path("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")


@dataclass(frozen=True)
class Reading:
    """Counters at one moment: seconds of wall time, of all CPUs' work and steal, and of our own processes."""

    wall: float
    busy: float
    steal: float
    total: float
    own: float


def read() -> Reading:
    """Read the counters; children count once they have been waited for."""
    times = psutil.cpu_times()
    total = sum(times) - getattr(times, "guest", 0.0) - getattr(times, "guest_nice", 0.0)  # both are in user already
    steal = getattr(times, "steal", 0.0)
    idle = times.idle + getattr(times, "iowait", 0.0)
    own = sum(os.times()[:4])
    return Reading(time.monotonic(), total - idle - steal, steal, total, own)


def foreign(before: Reading, after: Reading) -> float:
    """Return how many CPUs other processes kept busy between two readings."""
    wall = after.wall - before.wall
    if wall <= 0:
        return 0.0
    return max(0.0, ((after.busy - before.busy) - (after.own - before.own)) / wall)


def stolen(before: Reading, after: Reading) -> float:
    """Return the share of CPU time that the hypervisor took between two readings."""
    total = after.total - before.total
    return max(0.0, (after.steal - before.steal) / total) if total > 0 else 0.0


def limit() -> float:
    """Return how many foreign CPUs make this machine too busy to time on."""
    return max(FOREIGN_LIMIT, FOREIGN_SHARE * (psutil.cpu_count() or 1))


def load() -> float | None:
    """Return the one-minute load average, or None where the system has none."""
    with contextlib.suppress(OSError, AttributeError):
        return round(os.getloadavg()[0], 2)
    return None


def governor() -> str | None:
    """Return the frequency governor, or None where the system does not say."""
    if sys.platform != "linux":
        return None
    with contextlib.suppress(OSError):
        return GOVERNOR.read_text("ascii").strip() or None
    return None


def judge(before: Reading, after: Reading, load_before: float | None) -> tuple[Conditions, str]:
    """Return the conditions between two readings, and why they are too noisy, or nothing."""
    others, steal = round(foreign(before, after), 2), round(stolen(before, after), 3)
    noise = []
    if others > limit():
        noise.append(f"other processes kept {others:.2f} CPUs busy (limit {limit():.2f})")
    if steal > STEAL_LIMIT:
        noise.append(f"the hypervisor took {steal:.0%} of the time (limit {STEAL_LIMIT:.0%})")
    found = Conditions(load_before=load_before, foreign_cpu=others, steal=steal, governor=governor())
    return found, " and ".join(noise)


def wait_until_quiet(patience: float, window: float = 0.5, stop: threading.Event | None = None) -> str:
    """Wait up to `patience` seconds for a quiet window, less when `stop` is set.

    Returns why there was none, or nothing.
    """
    deadline = time.monotonic() + patience
    pause = stop or threading.Event()
    while True:
        before = read()
        stopped = pause.wait(window)
        _, noise = judge(before, read(), None)
        if not noise or stopped or time.monotonic() >= deadline:
            return noise
