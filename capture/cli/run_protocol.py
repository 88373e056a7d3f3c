"""The one protocol of a run, on this machine or a fleet: read, plan, hold, execute, judge, and say how it ended."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager

from capture import store
from capture.cli.context import complain, say, tell
from capture.cli.progress import follow
from capture.cli.report import summary
from capture.cli.run_outcome import conclude, interrupted, nothing_to_execute, prepare_host, show_plan, worst
from capture.errors import EXIT_INVALID, EXIT_OK, Problem
from capture.run.host_run import Executor, HostResult, HostRun, planned, planned_again
from capture.run.run_request import HandbookReading, HostSelection


def run_hosts(
    reading: HandbookReading,
    selection: HostSelection,
    opened: Callable[[], AbstractContextManager[Executor]],
    dry_run: bool,
) -> int:
    """Run what a request selects on the hosts of the executor that `opened` opens, and return the exit code.

    `selection` is what is known of it before the executor is open. Raises CaptureError for a host that cannot be
    planned, before anything is executed.
    """
    told: set[Problem] = set()
    _complain_once(selection.problems, told)
    if reading.request.share:
        say(summary.share_line(reading.request.share, len(selection.ids)))
    with opened() as executor:
        runs = planned(executor, reading, executor.labels)
        _complain_once((problem for run in runs for problem in run.selection.problems), told)
        if dry_run:
            for run in runs:
                show_plan(run)
            return EXIT_INVALID if told else EXIT_OK
        reading, runs, results = _held_and_executed(executor, reading, runs)
        if not any(run.plan.steps for run in runs) and any(run.selection.ids for run in runs):
            say(nothing_to_execute(runs))
        # A damaged record is whole again once it is captured, and claims are judged by what is stored now.
        reading = reading.again(executor.labels)
        ends = [reading.of_host(run.label) for run in runs]
        _complain_once((problem for end in ends for problem in end.problems), told)
        codes = [
            conclude(run, end, [one.result for one in results if one.label == run.label], executor.remote)
            for run, end in zip(runs, ends, strict=True)
        ]
    return max(codes, key=worst)


def _complain_once(problems: Iterable[Problem], told: set[Problem]) -> None:
    """Print the problems that are not told yet."""
    new = [problem for problem in dict.fromkeys(problems) if problem not in told]
    complain(new)
    told.update(new)


def _held_and_executed(
    executor: Executor, reading: HandbookReading, runs: Sequence[HostRun]
) -> tuple[HandbookReading, list[HostRun], list[HostResult]]:
    """Hold each host that has something to do and carry its plan out; return what was read, planned and done then."""
    with contextlib.ExitStack() as locks:
        for run in runs:
            if run.plan.steps:
                locks.enter_context(store.held(run.request.book, run.label, tell))
        reading, final = planned_again(executor, reading, runs)
        due = [run for run in final if run.plan.steps]
        for run in due:
            prepare_host(run)
        return reading, final, _execute(executor, due) if due else []


def _execute(executor: Executor, runs: Sequence[HostRun]) -> list[HostResult]:
    """Carry the plans out and return what became of them; Ctrl-C ends them cleanly, wherever they run."""

    def line(one: HostResult) -> str:
        words = summary.passing_line(one.result)
        return f"{one.label}: {words}" if executor.remote else words

    total = sum(len(run.plan.steps) for run in runs)
    results, whole = follow(lambda stop, started: executor.execute(runs, stop, started), total, "capturing", line)
    if not whole:
        interrupted([item.result for item in results], total)
    return results
