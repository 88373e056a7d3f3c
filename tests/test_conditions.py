"""What else a machine does while a snippet is timed: arithmetic on counters, and waiting for a quiet moment."""

from __future__ import annotations

import threading
import time

import pytest

from capture.probe import conditions
from capture.probe.conditions import Reading

# Two CPUs during ten seconds, as /proc/stat and os.times() counted them.
START = Reading(wall=1000.0, busy=500.0, steal=2.0, total=2000.0, own=40.0)


def after(own: float, others: float, steal: float = 0.0) -> Reading:
    """Return the counters ten seconds later, in which so many CPU seconds were spent."""
    return Reading(1010.0, 500.0 + own + others, 2.0 + steal, 2020.0, 40.0 + own)


def test_own_work_is_not_foreign() -> None:
    """What the snippet itself computes, on however many threads, is no noise."""
    found, noise = conditions.judge(START, after(own=19.0, others=0.0), 0.5)
    assert (found.foreign_cpu, found.steal, found.load_before, noise) == (0.0, 0.0, 0.5, "")


@pytest.mark.parametrize(("others", "noisy"), [(0.0, False), (2.0, False), (3.0, True), (10.0, True)])
def test_foreign_work_is_measured_in_cpus(monkeypatch: pytest.MonkeyPatch, others: float, noisy: bool) -> None:
    """Other processes count in CPUs kept busy; a quarter of one is too much on a small machine."""
    monkeypatch.setattr(conditions.psutil, "cpu_count", lambda: 2)
    found, noise = conditions.judge(START, after(own=10.0, others=others), None)
    assert found.foreign_cpu == others / 10
    assert bool(noise) == noisy
    if noisy:
        assert f"{others / 10:.2f} CPUs busy (limit 0.25)" in noise


def test_large_machine_may_do_a_little_beside(monkeypatch: pytest.MonkeyPatch) -> None:
    """On 64 CPUs the limit is a share of them all."""
    monkeypatch.setattr(conditions.psutil, "cpu_count", lambda: 64)
    assert conditions.judge(START, after(own=10.0, others=10.0), None)[1] == ""
    assert "2.00 CPUs busy (limit 1.92)" in conditions.judge(START, after(own=10.0, others=20.0), None)[1]


@pytest.mark.parametrize(("steal", "noisy"), [(0.5, False), (4.0, True)])
def test_stolen_time_is_a_share(steal: float, noisy: bool) -> None:
    """What the hypervisor takes away is noise above a twentieth of the time."""
    found, noise = conditions.judge(START, after(own=1.0, others=0.0, steal=steal), None)
    assert found.steal == steal / 20
    assert ("hypervisor" in noise) == noisy


def test_counters_that_stand_still_or_run_back() -> None:
    """A clock that did not move, and counters that were reset, give zero, never an error or a negative share."""
    for later in (START, Reading(1000.0, 0.0, 0.0, 0.0, 0.0), Reading(1001.0, 0.0, 0.0, 0.0, 50.0)):
        found, _ = conditions.judge(START, later, None)
        assert found.foreign_cpu >= 0 and found.steal is not None and found.steal >= 0


def test_readings_of_this_machine() -> None:
    """The counters of the machine under test go forward, and its own work is counted as its own."""
    before = conditions.read()
    end = time.process_time() + 0.1
    while time.process_time() < end:
        pass
    later = conditions.read()
    assert later.wall > before.wall and later.total >= before.total
    assert 0.05 < later.own - before.own < 5


def test_wait_ends_when_it_is_quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy moment is waited out; a quiet machine costs one look."""
    readings = iter([START, after(1.0, 9.0), START, after(1.0, 0.0)])
    monkeypatch.setattr(conditions, "read", lambda: next(readings))
    assert conditions.wait_until_quiet(60.0, window=0.0) == ""
    assert next(readings, None) is None


def test_wait_ends_with_its_patience_or_a_stop(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine that stays busy gives the reason after the patience; a stop ends the wait at once."""
    states = iter([START, after(1.0, 9.0)] * 100)
    monkeypatch.setattr(conditions, "read", lambda: next(states))
    assert "0.90 CPUs busy" in conditions.wait_until_quiet(0.02, window=0.01)
    stop = threading.Event()
    stop.set()
    since = time.monotonic()
    conditions.wait_until_quiet(60.0, window=30.0, stop=stop)
    assert time.monotonic() - since < 10
