"""What is said of a host's part of a run: its plan, its facts where they are new, and how it ended."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import NoReturn

import typer

from capture import store
from capture.cli.context import complain, say, tell
from capture.cli.progress import EXIT_INTERRUPTED
from capture.cli.report import summary
from capture.errors import EXIT_ATTENTION, EXIT_INVALID, EXIT_OK, EXIT_PRIVACY, CaptureError, Problem, nearest
from capture.host.host import LOCAL, Host, also_known
from capture.record import pattern_findings
from capture.record.claims import JudgedClaims
from capture.run import plan
from capture.run.host_run import HostRun
from capture.run.preflight import keep_host
from capture.run.run_request import HostSelection
from capture.run.runner import RunResult


def show_plan(run: HostRun) -> None:
    """Print what a run would execute on a host and why."""
    for step in run.plan.steps:
        say(f"would execute {step.snippet.id}: {step.why}")
    for line in summary.plan_summary(run.plan, run.label):
        say(line)


def prepare_host(run: HostRun) -> None:
    """Write the host's facts where they are new; say so, since it is a file to commit."""
    assert run.decision.prepared is not None, "something is to be executed"
    book, here, label = run.request.book, run.decision.prepared.host, run.label
    store.sweep(book, label)
    known = run.selection.cat.hosts.get(label)
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


def nothing_to_execute(runs: Sequence[HostRun]) -> str:
    """Say why a run has nothing to do on any of its hosts."""
    one = len(runs) == 1
    if any(run.plan.current for run in runs):
        who = "this host" if one else "these hosts"
        return f"nothing to execute: every record {who} can make is current"
    return f"nothing to execute: {'this host lacks' if one else 'these hosts lack'} what the snippets need"


def interrupted(results: Sequence[RunResult], total: int) -> NoReturn:
    """Say how far a run came, with the reasons for what is not stored, and end it."""
    for line in summary.attention_lines(results):
        say(line)
    lost = sum(result.kind in ("refused", "private", "kept") for result in results)
    stored = f", {lost} of them not stored" if lost else " and stored"
    tell(f"interrupted: {len(results)} of {total} finished{stored}; the same command goes on from here")
    raise typer.Exit(EXIT_INTERRUPTED)


def conclude(run: HostRun, end: HostSelection, results: Sequence[RunResult], remote: bool) -> int:
    """Print what became of a host, of which `end` was read after the run, and return its exit code."""
    judged = end.cat.judged(end.ids)
    for line in summary.run_summary(run.plan, results, run.label, judged.failing):
        say(line)
    for note in notes(end, results):
        say(f"note: {note}")
    complain(judged.problems)
    if run.decision.broken:
        complain([torch_broken(run.decision.broken, run.label if remote else "")])
    faulty = bool(end.problems or judged.problems or run.decision.broken)
    return exit_code(run, results, judged, faulty)


def notes(end: HostSelection, results: Sequence[RunResult]) -> list[Problem]:
    """Return notes on the headers of what was just captured: idle volatile patterns, ratios that say nothing."""
    found: list[Problem] = []
    for result in results:
        snippet, item = end.cat.snippets.get(result.snippet), result.record
        if snippet is not None and item is not None and item.status == "ok":
            found += pattern_findings.idle_volatile(snippet, [item])
            found += pattern_findings.without_ratio(snippet, item)
    return found


def torch_broken(why: str, label: str = "") -> str:
    """Say that torch is installed and fails to import: in this machine's interpreter, or on a named host of a fleet."""
    where = f"{label}: torch fails to import there" if label else "torch fails to import in this interpreter"
    return f"{where}: {why}; mend the installation"


def exit_code(run: HostRun, results: Sequence[RunResult], judged: JudgedClaims, faulty: bool) -> int:
    """Return how a run ends on one host; `faulty` where a file, or its torch, has to be mended first."""
    if any(result.kind == "private" for result in results):
        return EXIT_PRIVACY
    if faulty:
        return EXIT_INVALID
    if run.request.force and run.request.patterns and run.plan.unmet:
        return EXIT_ATTENTION  # asked for by name; the summary names what stands in the way
    unsettled = any(result.kind in summary.ATTENTION for result in results)
    failed_before = any(item.status != "ok" for item in run.plan.current)
    # A whole handbook that waits for torch is something to read; another version or package is an unmet gate.
    attention = unsettled or failed_before or judged.failing or plan.lacks_torch(run.plan)
    return EXIT_ATTENTION if attention else EXIT_OK


def worst(code: int) -> int:
    """Order exit codes: what is refused for privacy is told above all."""
    return (EXIT_OK, EXIT_ATTENTION, EXIT_INVALID, EXIT_PRIVACY).index(code)
