"""What a run here and one on a fleet have in common: showing a plan, writing a host's facts, the exit code."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import NoReturn

import typer

from capture import store
from capture.cli.context import say, tell
from capture.cli.progress import EXIT_INTERRUPTED
from capture.cli.report import summary
from capture.cli.report.judged_claims import Judged
from capture.errors import EXIT_ATTENTION, EXIT_INVALID, EXIT_OK, EXIT_PRIVACY, CaptureError, nearest
from capture.host.host import LOCAL, Host, also_known
from capture.record.claims import Judgement
from capture.run import plan, runner
from capture.run.plan import Plan
from capture.run.preflight import Decision, keep_host
from capture.store.catalogue import Catalogue


def show_plan(decision: Decision, label: str) -> None:
    """Print what a run would execute and why."""
    for step in decision.plan.steps:
        say(f"would execute {step.snippet.id}: {step.why}")
    for line in summary.plan_summary(decision.plan, label):
        say(line)


def prepare_host(decision: Decision, cat: Catalogue, label: str) -> None:
    """Write the host's facts where they are new; say so, since it is a file to commit."""
    assert decision.prepared is not None
    book, here = decision.prepared.book, decision.prepared.host
    store.sweep(book, label)
    known = cat.hosts.get(label)
    if known is None or known.label != label or (label == LOCAL and known != here):
        keep_host(book, here)
        if label != LOCAL:
            others = [name for name in book.labels() if name not in (label, LOCAL)]
            path = book.relative(book.host_path(label))
            say(f"new host {label}: {path}{twins(book, here)}{nearest(label, others)}")


def twins(book: store.Handbook, here: Host) -> str:
    """Return a clause that names the other labels of this hardware; `check` tells of facts that cannot be read."""
    others = []
    for label in book.labels():
        with contextlib.suppress(CaptureError):
            others.append(store.read_host(book, label))
    return also_known(here, filter(None, others))


def interrupted(count: int, total: int) -> NoReturn:
    """Say how far a run came, and end it."""
    tell(f"interrupted: {count} of {total} finished and stored; the same command goes on from here")
    raise typer.Exit(EXIT_INTERRUPTED)


def exit_code(found: Plan, results: Sequence[runner.Result], judged: Judged, named: bool, faulty: bool) -> int:
    """Return how a run ends; `named` where it was asked for by name and with force, `faulty` where a file is faulty."""
    code = attention(found, results, judged.failing)
    if code == EXIT_PRIVACY:
        return code
    if faulty or judged.problems:
        return EXIT_INVALID
    return EXIT_ATTENTION if named and found.unmet else code  # the summary names what stands in the way


def attention(found: Plan, results: Sequence[runner.Result], failing: Sequence[tuple[str, Judgement]]) -> int:
    """Return the exit code for what happened, where no file is faulty."""
    if any(result.kind == "private" for result in results):
        return EXIT_PRIVACY
    unsettled = any(result.kind in summary.ATTENTION for result in results)
    failed_before = any(item.status != "ok" for item in found.current)
    # A whole handbook that waits for torch is something to read; another version or package is an unmet gate.
    return EXIT_ATTENTION if unsettled or failed_before or failing or plan.lacks_torch(found) else EXIT_OK
