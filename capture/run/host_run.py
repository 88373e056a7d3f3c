"""One host's part of a run: asked, read and planned. Who executes it, this machine or a fleet, makes no difference."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import Protocol

from capture.run.plan import Plan
from capture.run.preflight import RunDecision
from capture.run.run_request import HandbookReading, HostSelection, RunRequest
from capture.run.runner import RunResult


@dataclass(frozen=True)
class HostRun:
    """What was asked of a host, what was read for it, and what is decided about it."""

    request: RunRequest
    selection: HostSelection
    decision: RunDecision

    @property
    def label(self) -> str:
        """The label of the host."""
        return self.selection.label

    @property
    def plan(self) -> Plan:
        """What is to be executed there, what is current, and what the host cannot run."""
        return self.decision.plan


@dataclass(frozen=True)
class HostResult:
    """What became of one snippet on one host."""

    label: str
    result: RunResult


class Executor(Protocol):
    """Who executes the snippets of a run."""

    @property
    def labels(self) -> Sequence[str]:
        """The hosts that take part, in the order in which they are told of."""

    @property
    def remote(self) -> bool:
        """Whether other machines execute, so that each line has to name its host."""

    def decide(self, selection: HostSelection, force: bool) -> RunDecision:
        """Plan one host; raises HostRefused or HostBroken for one that cannot be."""

    def execute(
        self, runs: Sequence[HostRun], stop: threading.Event, started: Callable[[str], None]
    ) -> Generator[HostResult, None, None]:
        """Carry the plans out and yield each result once its record is stored. Setting `stop` ends what runs."""


def planned(executor: Executor, reading: HandbookReading, labels: Sequence[str]) -> list[HostRun]:
    """Plan some hosts; raises CaptureError for the first that cannot be, before anything is executed."""
    runs = []
    for label in labels:
        selection = reading.of_host(label)
        runs.append(HostRun(reading.request, selection, executor.decide(selection, reading.request.force)))
    return runs


def planned_again(
    executor: Executor, reading: HandbookReading, runs: Sequence[HostRun]
) -> tuple[HandbookReading, list[HostRun]]:
    """Return the reading and the runs once their hosts are held: both anew where a file has changed meanwhile.

    What another run captured while this one waited is current now. A host that had nothing to do is not held, so its
    plan stays.
    """
    now = reading.again(executor.labels)
    if now is reading:
        return reading, list(runs)
    held = [run.label for run in runs if run.plan.steps]
    anew = {run.label: run for run in planned(executor, now, held)}
    return now, [anew.get(run.label, run) for run in runs]
