"""What else a machine does while a snippet is timed: arithmetic on counters, and waiting for a quiet moment."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path

import pytest
from harness.handbooks import record

from capture.host.environment import Conditions
from capture.host.probe import cpu_conditions, quietness
from capture.host.probe.quietness import CpuCounters
from capture.record.state import State
from capture.site.card.result import facts

# Two CPUs during ten seconds, as /proc/stat and os.times() counted them.
START = CpuCounters(wall=1000.0, busy=500.0, steal=2.0, total=2000.0, own=40.0, cpus=2, throttles=7)
linux = pytest.mark.skipif(sys.platform != "linux", reason="Linux only")


def after(own: float, others: float, steal: float = 0.0, cpus: int = 2, throttles: int | None = 7) -> CpuCounters:
    """Return the counters ten seconds later, in which so many CPU seconds were spent."""
    return CpuCounters(1010.0, 500.0 + own + others, 2.0 + steal, 2020.0, 40.0 + own, cpus, throttles)


def test_own_work_is_not_foreign() -> None:
    """What the snippet itself computes, on however many threads, is no noise."""
    found, noise = quietness.judge(START, after(own=19.0, others=0.0), 0.5)
    assert (found.foreign_cpu, found.steal, found.load_before, noise) == (0.0, 0.0, 0.5, "")


@pytest.mark.parametrize(("others", "noisy"), [(0.0, False), (2.0, False), (3.0, True), (10.0, True)])
def test_foreign_work_is_measured_in_cpus(others: float, noisy: bool) -> None:
    """Other processes count in CPUs kept busy; a quarter of one is too much on a small machine."""
    found, noise = quietness.judge(START, after(own=10.0, others=others), None)
    assert found.foreign_cpu == others / 10
    assert bool(noise) == noisy
    if noisy:
        assert f"{others / 10:.2f} CPUs busy (limit 0.25)" in noise


def test_large_machine_may_do_a_little_beside() -> None:
    """On 64 CPUs the limit is a share of them all."""
    assert quietness.judge(START, after(own=10.0, others=10.0, cpus=64), None)[1] == ""
    assert "2.00 CPUs busy (limit 1.92)" in quietness.judge(START, after(own=10.0, others=20.0, cpus=64), None)[1]


@pytest.mark.parametrize(
    ("count", "kept", "words"),
    [(7, 0, ""), (8, 1, "slowed the CPUs down 1 time (limit 0)"), (0, 0, ""), (None, None, "")],
)
def test_heat_is_noise(count: int | None, kept: int | None, words: str) -> None:
    """A CPU that was slowed down by heat meanwhile; nothing where it was before, or where nobody counts."""
    found, noise = quietness.judge(START, after(own=1.0, others=0.0, throttles=count), None)
    assert found.throttled == kept
    assert words in noise and bool(words) == bool(noise)


@pytest.mark.parametrize(("steal", "noisy"), [(0.5, False), (4.0, True)])
def test_stolen_time_is_a_share(steal: float, noisy: bool) -> None:
    """What the hypervisor takes away is noise above a twentieth of the time."""
    found, noise = quietness.judge(START, after(own=1.0, others=0.0, steal=steal), None)
    assert found.steal == steal / 20
    assert ("hypervisor" in noise) == noisy


def test_conditions_are_shown() -> None:
    """The page tells all of them in one line, and nothing of what is unknown."""
    full = Conditions(
        0.5, 0.1, 0.0, "performance", "GPU at 1980 MHz", cpu_mhz=3400, cpu_max_mhz=3700, throttled=2, on_battery=True
    )
    few = Conditions(None, 0.0, None, None, throttled=0, on_battery=False)
    current = State("current")
    lines = [
        next(fact.value for fact in facts(record("a/b", conditions=one), current) if fact.name == "conditions")
        for one in (full, few)
    ]
    assert lines == [
        "load before 0.5, other processes 0.1 CPUs, steal 0.0%, governor performance, CPU at 3400 of 3700 MHz, "
        "slowed down by heat 2 times, on battery, GPU at 1980 MHz",
        "load before unknown, other processes 0 CPUs",
    ]


def test_counters_that_stand_still_or_run_back() -> None:
    """A clock that did not move, and counters that were reset, give zero, never an error or a negative share."""
    for later in (START, CpuCounters(1000.0, 0.0, 0.0, 0.0, 0.0), CpuCounters(1001.0, 0.0, 0.0, 0.0, 50.0)):
        found, _ = quietness.judge(START, later, None)
        assert found.foreign_cpu >= 0 and found.steal is not None and found.steal >= 0


def test_readings_of_this_machine() -> None:
    """The counters of the machine under test go forward, and its own work is counted as its own."""
    before = quietness.read_counters()
    end = time.process_time() + 0.1
    while time.process_time() < end:
        pass
    later = quietness.read_counters()
    assert later.wall > before.wall and later.total >= before.total
    assert 0.05 < later.own - before.own < 5


def test_wait_ends_when_it_is_quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy moment is waited out; a quiet machine costs one look."""
    readings = iter([START, after(1.0, 9.0), START, after(1.0, 0.0)])
    monkeypatch.setattr(quietness, "read_counters", lambda: next(readings))
    assert quietness.wait_until_quiet(60.0, window=0.0) == ""
    assert next(readings, None) is None


def test_wait_ends_with_its_patience_or_a_stop(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine that stays busy gives the reason after the patience; a stop ends the wait at once."""
    states = iter([START, after(1.0, 9.0)] * 100)
    monkeypatch.setattr(quietness, "read_counters", lambda: next(states))
    assert "0.90 CPUs busy" in quietness.wait_until_quiet(0.02, window=0.01)
    stop = threading.Event()
    stop.set()
    since = time.monotonic()
    quietness.wait_until_quiet(60.0, window=30.0, stop=stop)
    assert time.monotonic() - since < 10


@pytest.mark.parametrize(
    ("text", "numbers"),
    [("0-3\n", (0, 1, 2, 3)), ("0,2-3,8", (0, 2, 3, 8)), ("5", (5,)), ("", ()), ("\n", ()), ("all", ()), ("0-x", ())],
)
def test_kernel_lists(text: str, numbers: tuple[int, ...]) -> None:
    """Ranges and single numbers; what is no list is unknown."""
    assert cpu_conditions.parse_list(text) == numbers


@pytest.mark.parametrize(
    ("count", "online", "allowed", "places"),
    [
        pytest.param(4, (0, 1, 2, 3), (2, 3), (2, 3), id="taskset"),
        pytest.param(3, (0, 2, 3), (2, 3), (1, 2), id="cpu 1 is off"),
        pytest.param(2, (0, 1), (4, 5), (0, 1), id="renumbered by a container"),
        pytest.param(2, (0, 1, 2), (0,), (0, 1), id="counters of other cpus than are on"),
        pytest.param(4, (0, 1, 2, 3), (), (0, 1, 2, 3), id="affinity untold"),
        pytest.param(4, (), (1,), (1,), id="no list of cpus"),
        pytest.param(2, (), (7,), (0, 1), id="neither"),
    ],
)
def test_counters_of_the_cpus_that_may_be_used(
    count: int, online: Sequence[int], allowed: Sequence[int], places: tuple[int, ...]
) -> None:
    """Only these count, found by their place among the CPUs that are on; all count where that cannot be told."""
    assert cpu_conditions.positions(count, online, allowed) == places


@linux
def test_neighbours_on_other_cpus_are_no_noise() -> None:
    """A process held to some CPUs reads the counters of these alone."""
    allowed = os.sched_getaffinity(0)
    try:
        os.sched_setaffinity(0, {min(allowed)})
        assert quietness.read_counters().cpus == 1
    finally:
        os.sched_setaffinity(0, allowed)


@linux
def test_files_of_the_cpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Frequencies, governor and heat of the CPUs asked for; unknown where files are missing or hold something else."""
    monkeypatch.setattr(cpu_conditions, "SYSTEM", tmp_path)
    files = {
        "cpu0/cpufreq/scaling_cur_freq": "800000", "cpu0/cpufreq/cpuinfo_max_freq": "3700000",
        "cpu1/cpufreq/scaling_cur_freq": "3399712", "cpu1/cpufreq/cpuinfo_max_freq": "3500000",
        "cpu2/cpufreq/scaling_cur_freq": "<unknown>", "cpu0/cpufreq/scaling_governor": "powersave",
        "cpu1/cpufreq/scaling_governor": "performance", "cpu0/thermal_throttle/core_throttle_count": "3",
        "cpu1/thermal_throttle/core_throttle_count": "4", "online": "0-2",
    }  # fmt: skip
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(f"{text}\n")
    assert cpu_conditions.online() == (0, 1, 2)
    assert cpu_conditions.frequency((0, 1)) == (3400, 3700)
    assert cpu_conditions.governor((1,)) == "performance"
    assert cpu_conditions.governor((0, 1)) == "performance, powersave"
    assert cpu_conditions.throttles((0, 1, 2)) == 7
    for cpus in ((2,), (3,), ()):
        assert cpu_conditions.frequency(cpus) == (None, None)
        assert (cpu_conditions.governor(cpus), cpu_conditions.throttles(cpus)) == (None, None)
