"""What else a machine is doing, read before and during a timing snippet."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from dataclasses import dataclass

import psutil

from capture.errors import plural
from capture.host.environment import Conditions
from capture.host.probe import cpu_conditions
from capture.host.probe.gpu_conditions import Gpus

# A neighbour that takes a quarter of one CPU already moves a two-thread median by tens of percent on a small
# machine; on a large one, a few percent of all CPUs do.
FOREIGN_LIMIT = 0.25
FOREIGN_SHARE = 0.03
STEAL_LIMIT = 0.05
THROTTLES_LIMIT = 0  # times that heat may slow a CPU down during an execution


@dataclass(frozen=True)
class CpuCounters:
    """Counters at one moment, of the CPUs that this process may use.

    Seconds of wall time, of work and steal on these CPUs, and of our own processes; how many CPUs these are, and how
    often heat has slowed them down.
    """

    wall: float
    busy: float
    steal: float
    total: float
    own: float
    cpus: int = 1
    throttles: int | None = None


def read_counters() -> CpuCounters:
    """Read the counters; children count once they have been waited for."""
    every = psutil.cpu_times(percpu=True)
    usable = cpu_conditions.usable()
    chosen = [every[place] for place in cpu_conditions.positions(len(every), cpu_conditions.online(), usable)]
    busy = stolen = whole = 0.0
    for times in chosen:
        total = sum(times) - getattr(times, "guest", 0.0) - getattr(times, "guest_nice", 0.0)  # in user already
        steal = getattr(times, "steal", 0.0)
        busy += total - times.idle - getattr(times, "iowait", 0.0) - steal
        stolen, whole = stolen + steal, whole + total
    own = sum(os.times()[:4])
    return CpuCounters(time.monotonic(), busy, stolen, whole, own, len(chosen), cpu_conditions.throttles(usable))


def foreign(before: CpuCounters, after: CpuCounters) -> float:
    """Return how many CPUs other processes kept busy between two readings."""
    wall = after.wall - before.wall
    if wall <= 0:
        return 0.0
    return max(0.0, ((after.busy - before.busy) - (after.own - before.own)) / wall)


def stolen(before: CpuCounters, after: CpuCounters) -> float:
    """Return the share of CPU time that the hypervisor took between two readings."""
    total = after.total - before.total
    return max(0.0, (after.steal - before.steal) / total) if total > 0 else 0.0


def limit(cpus: int) -> float:
    """Return how many foreign CPUs make a machine too busy to time on, of so many that may be used."""
    return max(FOREIGN_LIMIT, FOREIGN_SHARE * cpus)


def load() -> float | None:
    """Return the one-minute load average, or None where the system has none."""
    with contextlib.suppress(OSError, AttributeError):
        return round(os.getloadavg()[0], 2)
    return None


def throttled(before: CpuCounters, after: CpuCounters) -> int | None:
    """Return how often heat slowed a CPU down between two readings, or None where nobody counts."""
    if before.throttles is None or after.throttles is None:
        return None
    return max(0, after.throttles - before.throttles)


def _noise_between(before: CpuCounters, after: CpuCounters) -> str:
    """Say why the CPUs were too noisy between two readings, or nothing."""
    others, steal, slowed = foreign(before, after), stolen(before, after), throttled(before, after) or 0
    bound = limit(after.cpus)
    noise = []
    if round(others, 2) > bound:
        noise.append(f"other processes kept {others:.2f} CPUs busy (limit {bound:.2f})")
    if round(steal, 3) > STEAL_LIMIT:
        noise.append(f"the hypervisor took {steal:.0%} of the time (limit {STEAL_LIMIT:.0%})")
    if slowed > THROTTLES_LIMIT:
        noise.append(f"heat slowed the CPUs down {plural(slowed, 'time')} (limit {THROTTLES_LIMIT})")
    return " and ".join(noise)


def judge(
    before: CpuCounters, after: CpuCounters, load_before: float | None, gpu: tuple[str | None, str] = (None, "")
) -> tuple[Conditions, str]:
    """Return the conditions between two readings, and why they are too noisy, or nothing.

    `gpu` is what the GPUs did meanwhile, and why that is too noisy. The frequency is that of this moment.
    """
    cpus = cpu_conditions.usable() or cpu_conditions.online()
    current, highest = cpu_conditions.frequency(cpus)
    found = Conditions(
        load_before=load_before,
        foreign_cpu=round(foreign(before, after), 2),
        steal=round(stolen(before, after), 3),
        governor=cpu_conditions.governor(cpus),
        gpu=gpu[0],
        cpu_mhz=current,
        cpu_max_mhz=highest,
        throttled=throttled(before, after),
        on_battery=cpu_conditions.on_battery(),
    )
    return found, " and ".join(filter(None, (_noise_between(before, after), gpu[1])))


def wait_until_quiet(
    patience: float, window: float = 0.5, stop: threading.Event | None = None, gpus: Gpus | None = None
) -> str:
    """Wait up to `patience` seconds for a quiet window on CPUs and GPUs, less when `stop` is set.

    Returns why there was none, or nothing.
    """
    deadline = time.monotonic() + patience
    pause = stop or threading.Event()
    while True:
        before = read_counters()
        stopped = pause.wait(window)
        noise = _noise_between(before, read_counters())
        if gpus and not stopped:
            noise = " and ".join(filter(None, (noise, gpus.noise())))
        if not noise or stopped or time.monotonic() >= deadline:
            return noise
