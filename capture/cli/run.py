"""`capture run`: execute what is missing or stale and store what it printed."""

from __future__ import annotations

import contextlib
import os
from typing import Annotated

import typer

from capture import store
from capture.cli.context import complain, handbook, say, tell
from capture.cli.progress import follow
from capture.cli.report import judged_claims, summary
from capture.cli.run_fleet import Asked, run_fleet
from capture.cli.run_outcome import exit_code, interrupted, prepare_host, show_plan
from capture.errors import EXIT_INVALID, EXIT_OK, CaptureError
from capture.host.host import LOCAL
from capture.host.probe.interpreter import reading, this_interpreter
from capture.run import runner, shard
from capture.run.engine.selection import Engines, choice
from capture.run.measure import PATIENCE
from capture.run.preflight import Decision, decide
from capture.store.catalogue import Catalogue

CPUS = min(4, os.cpu_count() or 1)
HELP = {
    "ids": "Ids, globs or chapters; all by default.",
    "host": "Store under this name of the hardware, to be committed.",
    "python": "Interpreter that executes the snippets; this one by default.",
    "force": "Execute also what is current.",
    "runs": "Executions of each snippet.",
    "jobs": "Snippets side by side; timing ones run alone.",
    "failure": "Let a failure replace a good record.",
    "noise": "Take timings on a busy host, marked as such.",
    "engine": "auto forks a server that has imported torch where that is safe; or fresh, or forked.",
    "fleet": "Capture on the workers of this dask scheduler, tls:// beyond loopback; -j is for each machine.",
    "dry": "Say what would be executed, and why.",
    "shard": "Only share K of N of what is selected; every machine finds the same shares.",
}
FLEET_JOBS = 4  # on each machine and at most its workers' threads; this machine's CPUs say nothing of others
LOCAL_PATIENCE = 5.0  # seconds: whoever only wants to see the site does not wait long for a quiet machine


def run(
    context: typer.Context,
    ids: Annotated[list[str] | None, typer.Argument(metavar="ID", help=HELP["ids"])] = None,
    host: Annotated[str, typer.Option(metavar="LABEL", help=HELP["host"])] = LOCAL,
    python: Annotated[str, typer.Option(metavar="PATH", help=HELP["python"])] = "",
    force: Annotated[bool, typer.Option("--force", help=HELP["force"])] = False,
    runs: Annotated[int | None, typer.Option(metavar="N", min=1, max=50, help=HELP["runs"])] = None,
    jobs: Annotated[int, typer.Option("-j", "--jobs", metavar="N", min=1, help=HELP["jobs"])] = CPUS,
    accept_failure: Annotated[bool, typer.Option("--accept-failure", help=HELP["failure"])] = False,
    accept_noise: Annotated[bool, typer.Option("--accept-noise", help=HELP["noise"])] = False,
    engine: Annotated[str, typer.Option(metavar="NAME", help=HELP["engine"])] = "auto",
    dry_run: Annotated[bool, typer.Option("--dry-run", help=HELP["dry"])] = False,
    share: Annotated[str, typer.Option("--shard", metavar="K/N", help=HELP["shard"])] = "",
    fleet: Annotated[str, typer.Option(metavar="ADDRESS", help=HELP["fleet"])] = "",
) -> None:
    """Execute what is missing or stale and store what it prints.

    Without --host the results go to docs/captures/local/, which git ignores.

    Exit code 0: nothing to read. 1: something changed, failed, was refused, or a claim broke. 2: invalid usage or
    data. 3: refused for privacy. 130: interrupted; what was finished is stored.
    """
    book = handbook(context)
    asked = Asked(book, ids or [], shard.parse(share))
    if fleet:
        source = context.get_parameter_source("jobs")
        side_by_side = jobs if source and source.name == "COMMANDLINE" else FLEET_JOBS
        options = runner.Options(side_by_side, runs, accept_failure, accept_noise)
        code = run_fleet(asked, fleet, host, python, choice(engine), force, dry_run, options)
        raise typer.Exit(code)
    results: list[runner.Result] = []
    with contextlib.ExitStack() as stack:
        read = stack.enter_context(reading(python or this_interpreter()))
        cat, chosen = asked.read(host)
        complain(cat.problems)
        if asked.share:
            say(summary.share_line(asked.share, len(chosen)))
        engines = Engines(choice(engine), [cat.snippets[name] for name in chosen], tell)
        stack.callback(engines.close)
        if not dry_run:
            engines.warm(python or this_interpreter(), [name for name in chosen if force or is_due(cat, host, name)])
        decision = decide(cat, chosen, host, read, force, engines.facts)
        if dry_run:
            show_plan(decision, host)
            raise typer.Exit(EXIT_INVALID if cat.problems else EXIT_OK)
        if decision.prepared is not None:
            with store.held(book, host, tell) as waited:
                if waited:  # what the other run captured is current now
                    cat, chosen = asked.read(host)
                    decision = decide(cat, chosen, host, read, force, engines.facts)
                if decision.prepared is not None:
                    prepare_host(decision, cat, host)
                    patience = LOCAL_PATIENCE if host == LOCAL else PATIENCE
                    options = runner.Options(jobs, runs, accept_failure, accept_noise, patience, engines.execute)
                    results = execute(decision, options)
                    cat, _ = asked.read(host)  # a damaged record is whole again once it is captured
        if decision.prepared is None and chosen:
            current = "every record this host can make is current"
            say(f"nothing to execute: {current if decision.plan.current else 'this host lacks what the snippets need'}")
    judged = judged_claims.on_host(cat, host, chosen)
    for line in summary.run_summary(decision.plan, results, host, judged.failing):
        say(line)
    complain(judged.problems)
    if decision.broken:
        raise CaptureError(f"torch fails to import in this interpreter: {decision.broken}; mend the installation")
    raise typer.Exit(exit_code(decision.plan, results, judged, bool(force and ids), bool(cat.problems)))


def is_due(cat: Catalogue, label: str, name: str) -> bool:
    """Tell whether a snippet will be executed if this host can, as far as its record alone says."""
    item = cat.records.get((label, name))
    return item is None or item.source_sha256 != cat.snippets[name].digest


def execute(decision: Decision, options: runner.Options) -> list[runner.Result]:
    """Run the plan and return what became of it; Ctrl-C ends it cleanly."""
    prepared, steps = decision.prepared, decision.plan.steps
    assert prepared is not None
    results, whole = follow(
        lambda stop, started: runner.run(prepared, steps, options, stop, started),
        len(steps), "capturing", summary.passing_line,
    )  # fmt: skip
    if not whole:
        interrupted(len(results), len(steps))
    return results
