"""What a run here and one on a fleet have in common: showing a plan, writing a host's facts, the exit code."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence

from capture import plan, runner, store
from capture.catalogue import Catalogue
from capture.claims import Judgement
from capture.cli.context import say
from capture.errors import EXIT_ATTENTION, EXIT_OK, EXIT_PRIVACY, CaptureError, nearest
from capture.host import LOCAL, Host, also_known
from capture.plan import Plan
from capture.preparation import Decision, keep_host
from capture.report import summary


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
            twins = also_known(here, (item for name in others if (item := known_host(book, name))))
            say(f"new host {label}: {book.relative(book.host_path(label))}{twins}{nearest(label, others)}")


def known_host(book: store.Handbook, label: str) -> Host | None:
    """Return a host's facts, or None where they cannot be read; `check` says why."""
    with contextlib.suppress(CaptureError):
        return store.read_host(book, label)
    return None


def attention(found: Plan, results: Sequence[runner.Result], failing: Sequence[tuple[str, Judgement]]) -> int:
    """Return the exit code for what happened, where no file is faulty."""
    if any(result.kind == "private" for result in results):
        return EXIT_PRIVACY
    unsettled = any(result.kind in summary.ATTENTION for result in results)
    failed_before = any(item.status != "ok" for item in found.current)
    # A whole handbook that waits for torch is something to read; another version or package is an unmet gate.
    return EXIT_ATTENTION if unsettled or failed_before or failing or plan.lacks_torch(found) else EXIT_OK
