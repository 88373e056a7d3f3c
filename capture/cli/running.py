"""`capture run`: execute what is missing or stale and store what it printed."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Sequence
from types import FrameType
from typing import Annotated

import typer
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
)

from capture import catalogue, runner, store
from capture.catalogue import Catalogue
from capture.cli.context import handbook, stderr, stdout
from capture.errors import EXIT_ATTENTION, EXIT_INVALID, EXIT_PRIVACY, CaptureError
from capture.host import LOCAL
from capture.preparation import Decision, decide, read_for
from capture.probe.interpreter import this_interpreter
from capture.report import summary

EXIT_INTERRUPTED = 130  # 128 + SIGINT, as shells report it


def run(
    context: typer.Context,
    ids: Annotated[list[str] | None, typer.Argument(help="Ids, globs or chapters; all by default.")] = None,
    host: Annotated[str, typer.Option(help="Label of this host; without it the git-ignored folder local.")] = LOCAL,
    python: Annotated[str, typer.Option(help="Interpreter that executes the snippets.")] = "",
    force: Annotated[bool, typer.Option("--force", help="Execute also what is current.")] = False,
    runs: Annotated[int | None, typer.Option(min=1, max=50, help="Executions of each snippet.")] = None,
    jobs: Annotated[int, typer.Option("-j", "--jobs", min=1, help="Deterministic snippets side by side.")] = min(
        4, os.cpu_count() or 1
    ),
    accept_failure: Annotated[bool, typer.Option(help="Let a failure replace a good record.")] = False,
    accept_noise: Annotated[bool, typer.Option(help="Take timings on a busy host, marked as such.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be executed, and why.")] = False,
) -> None:
    """Execute the snippets that are missing or stale on this host and store what they print.

    Exit code 0: nothing to read. 1: something changed, failed, was refused, or a claim broke. 2: invalid usage or
    data. 3: refused for privacy. 130: interrupted; what was finished is stored.
    """
    book = handbook(context)
    cat, chosen = read_for(book, host, ids or [])
    broken_files = [problem for problem in cat.problems if problem.rule != "host"]
    for problem in broken_files:
        stderr().print(str(problem), markup=False)
    decision = decide(cat, chosen, host, python or this_interpreter(), force)
    if dry_run:
        show_plan(decision, host)
        return
    if decision.prepared is None:
        report_nothing(cat, decision, host, chosen)
        raise typer.Exit(EXIT_INVALID if broken_files else attention(decision, [], cat, host, chosen))
    prepare_host(decision, cat, host)
    results = execute(decision, runner.Options(jobs, runs, accept_failure, accept_noise))
    after = catalogue.read(book, labels=[host])
    broken = summary.broken_claims(after, host, chosen)
    for line in summary.run_summary(decision.plan, results, host, broken):
        stdout().print(line, markup=False)
    if decision.broken:
        raise CaptureError(f"torch fails to import in this interpreter: {decision.broken}; mend the installation")
    raise typer.Exit(EXIT_INVALID if broken_files else attention(decision, results, after, host, chosen))


def show_plan(decision: Decision, label: str) -> None:
    """Print what a run would execute and why."""
    console = stdout()
    for step in decision.plan.steps:
        console.print(f"would execute {step.snippet.id}: {step.why}", markup=False)
    for line in summary.run_summary(decision.plan, [], label, []):
        console.print(line, markup=False)


def report_nothing(cat: Catalogue, decision: Decision, label: str, chosen: Sequence[str]) -> None:
    """Say that nothing was executed, and why."""
    console = stdout()
    console.print("nothing to execute: every record this host can make is current", markup=False)
    for line in summary.run_summary(decision.plan, [], label, summary.broken_claims(cat, label, chosen)):
        console.print(line, markup=False)


def prepare_host(decision: Decision, cat: Catalogue, label: str) -> None:
    """Write the host's facts where they are new; say so, since it is a file to commit."""
    assert decision.prepared is not None
    book, here = decision.prepared.book, decision.prepared.host
    store.sweep(book, label)
    if label not in cat.hosts or (label == LOCAL and cat.hosts[label] != here):
        store.write_host(book, here)
        if label != LOCAL:
            stdout().print(f"new host {label}: {book.relative(book.host_path(label))}", markup=False)


def execute(decision: Decision, options: runner.Options) -> list[runner.Result]:
    """Run the plan with a progress bar on a terminal and plain lines elsewhere; Ctrl-C ends it cleanly."""
    assert decision.prepared is not None
    stop = threading.Event()
    steps = decision.plan.steps
    console = stderr()
    results: list[runner.Result] = []

    def interrupt(number: int, frame: FrameType | None) -> None:
        stop.set()
        raise KeyboardInterrupt

    previous = signal.signal(signal.SIGTERM, interrupt)
    progress = Progress(
        SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(),
        console=console, transient=True, disable=not console.is_terminal,
    )  # fmt: skip
    try:
        with progress:
            bar = progress.add_task("capturing", total=len(steps))

            def started(name: str) -> None:
                progress.update(bar, description=name)

            for result in runner.run(decision.prepared, steps, options, stop, started):
                results.append(result)
                progress.advance(bar)
                console.print(summary.line(result), markup=False)
    except (KeyboardInterrupt, runner.Interrupted):
        console.print(
            f"interrupted: {len(results)} of {len(steps)} finished and stored; the same command goes on from here",
            markup=False,
        )
        raise typer.Exit(EXIT_INTERRUPTED) from None
    finally:
        signal.signal(signal.SIGTERM, previous)
    return results


def attention(
    decision: Decision, results: Sequence[runner.Result], cat: Catalogue, label: str, chosen: Sequence[str]
) -> int:
    """Return the exit code for what happened."""
    if any(result.kind == "private" for result in results):
        return EXIT_PRIVACY
    unsettled = any(result.kind in summary.ATTENTION for result in results)
    failed_before = any(item.status != "ok" for item in decision.plan.current)
    if unsettled or failed_before or summary.broken_claims(cat, label, chosen):
        return EXIT_ATTENTION
    lacking_torch = any("torch" in reason for reasons in decision.plan.unmet.values() for reason in reasons)
    return EXIT_ATTENTION if lacking_torch else 0
