"""`capture run`: execute what is missing or stale and store what it printed."""

from __future__ import annotations

import os
from contextlib import AbstractContextManager
from typing import Annotated

import typer

from capture.cli.context import handbook, tell
from capture.cli.run_protocol import run_hosts
from capture.host.host import LOCAL
from capture.host.probe.interpreter import asking, this_interpreter
from capture.run import shard
from capture.run.engine.selection import Choice, choice
from capture.run.execution import PATIENCE, Options
from capture.run.host_run import Executor
from capture.run.local_run import due_by_record, local_executor
from capture.run.run_request import RunRequest, read_hosts

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
    request = RunRequest(handbook(context), tuple(ids or ()), shard.parse(share), force)
    if fleet:
        from capture.cli.run_fleet import run_fleet  # a tenth of what every other run takes to start

        source = context.get_parameter_source("jobs")
        side_by_side = jobs if source and source.name == "COMMANDLINE" else FLEET_JOBS
        options = Options(side_by_side, runs, accept_failure, accept_noise)
        code = run_fleet(request, fleet, host, python, choice(engine), options, dry_run)
    else:
        patience = LOCAL_PATIENCE if host == LOCAL else PATIENCE
        options = Options(jobs, runs, accept_failure, accept_noise, patience)
        code = _run_here(request, host, python, choice(engine), options, dry_run)
    raise typer.Exit(code)


def _run_here(request: RunRequest, host: str, python: str, engine: Choice, options: Options, dry_run: bool) -> int:
    """Capture on this machine under a label and return the exit code."""
    path = python or this_interpreter()
    with asking(path) as ask:  # which starts up while the handbook is read
        reading = read_hosts(request, [host])
        selection = reading.of_host(host)
        due = [] if dry_run else due_by_record(selection, request.force)

        def opened() -> AbstractContextManager[Executor]:
            return local_executor(selection, (path, ask), engine, options, due, tell)

        return run_hosts(reading, selection, opened, dry_run)
