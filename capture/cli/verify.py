"""`capture verify`: execute again, compare with what is stored, write nothing."""

from __future__ import annotations

import contextlib
from typing import Annotated

import typer

from capture import store
from capture.cli.context import complain, handbook, say, stdout, tell
from capture.cli.progress import EXIT_INTERRUPTED, follow
from capture.cli.report import summary, verified
from capture.cli.run import CPUS, HELP
from capture.cli.run_outcome import torch_broken
from capture.errors import EXIT_ATTENTION, EXIT_INVALID, EXIT_OK, CaptureError, Problem, suggestion
from capture.host.probe.interpreter import asking, this_interpreter
from capture.record import verification
from capture.run import shard, verifier, verify_plan
from capture.run.engine.selection import Engines
from capture.run.run_request import RunRequest, read_host
from capture.run.verifier import Done
from capture.run.verify_plan import VerifyDecision
from capture.site.model import site


def verify(
    context: typer.Context,
    ids: Annotated[list[str] | None, typer.Argument(metavar="ID", help=HELP["ids"])] = None,
    against: Annotated[
        str, typer.Option(metavar="LABEL", help="Compare with this host's records; by default the site's default host.")
    ] = "",
    python: Annotated[str, typer.Option(metavar="PATH", help=HELP["python"])] = "",
    jobs: Annotated[int, typer.Option("-j", "--jobs", metavar="N", min=1, help="Snippets side by side.")] = CPUS,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document, from which pages tell.")] = False,
    share: Annotated[str, typer.Option("--shard", metavar="K/N", help=HELP["shard"])] = "",
) -> None:
    """Execute again and compare with a host's records; write nothing.

    The torch of the interpreter must be that of the record, its hardware need not. Timings are not verified.

    Exit code 0: all that was executed was reproduced, or nothing could be. 1: something differs. 2: invalid usage or
    data. 130: interrupted.
    """
    book = handbook(context)
    request = RunRequest(book, tuple(ids or ()), shard.parse(share))
    label = label_of(book, against)
    decision, results, problems = compared(request, label, python or this_interpreter(), jobs)
    document = verifier.document(decision, [done.result for done in results], label)
    if as_json:
        stdout().out(verification.text(document))
    for line in verified.lines(document, len(results)):
        (tell if as_json else say)(line)
    if decision.broken:
        raise CaptureError(torch_broken(decision.broken))
    if problems:
        raise typer.Exit(EXIT_INVALID)
    differs = any(done.result.outcome == "differs" for done in results)
    raise typer.Exit(EXIT_ATTENTION if differs else EXIT_OK)


def compared(
    request: RunRequest, label: str, python: str, jobs: int
) -> tuple[VerifyDecision, list[Done], tuple[Problem, ...]]:
    """Execute again what can be reproduced here of a host's records; return what became of it, and faulty files."""
    with asking(python) as ask:
        selection = read_host(request, label)
        if request.share:
            tell(summary.share_line(request.share, len(selection.ids)))
        reasons = verify_plan.candidates(selection)
        complain(problems := (*selection.problems, *verify_plan.edited(selection)))
        due = [name for name, why in reasons.items() if not why]
        with contextlib.closing(Engines("auto", [selection.cat.snippets[name] for name in due], tell)) as engines:
            engines.warm(python, due)
            decision = verify_plan.decide(selection, reasons, ask, engines.facts)
            results, whole = follow(
                lambda stop, started: verifier.run(decision, jobs, engines.execute, stop, started),
                len(decision.tasks), "verifying", verified.passing_line,
            )  # fmt: skip
    if not whole:
        tell(f"interrupted: {len(results)} of {len(decision.tasks)} compared")
        raise typer.Exit(EXIT_INTERRUPTED)
    return decision, results, problems


def label_of(book: store.Handbook, against: str) -> str:
    """Return the label to compare with; raises CaptureError where there is none, or no such host."""
    known = book.labels()
    label = against or site.parse_settings(store.read_site_config(book)).default_host or ""
    if label in known:
        return label
    if not label:
        hosts = f"; known: {', '.join(known)}" if known else "; none has captured yet: capture run"
        raise CaptureError(f"name the host whose records are to be verified: --against LABEL{hosts}")
    source = "--against" if against else f"{store.CONFIG}: extra.capture.default_host"
    raise CaptureError(f'{source}: no host "{label}"{suggestion(label, known)}')
