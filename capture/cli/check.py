"""`capture check`: what every rule finds in snippets, records and pages; nothing is executed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated

import typer

from capture.check import verdict
from capture.cli.context import complain, handbook, say
from capture.cli.report import github
from capture.errors import EXIT_INVALID, EXIT_PRIVACY, CaptureError, Problem, plural, suggestion
from capture.record.privacy import PRIVACY_RULES

FORMATS = ("text", "github")


def check(
    context: typer.Context,
    strict_stale: Annotated[
        list[str] | None, typer.Option(metavar="LABEL", help="Fail on stale or missing records of this host.")
    ] = None,
    records_only: Annotated[
        bool, typer.Option("--records-only", help="Skip the pages, whose rules need the site's Markdown.")
    ] = False,
    style: Annotated[
        str, typer.Option("--format", metavar="NAME", help="text, or github: marks the lines of a pull request.")
    ] = "text",
) -> None:
    """Check snippets, records and pages; execute nothing.

    Exit code 0: no problem (stale and missing records are listed). 2: problems, each with path:line and what to do.
    3: something personal or secret is stored.
    """
    if style not in FORMATS:
        raise CaptureError(f"--format {style}: choose text or github{suggestion(style, FORMATS)}")
    book = handbook(context)
    strict = sorted(strict_stale or [])
    asked = verdict.asked(book, strict, ["records"] if records_only else ["records", "pages"])
    said = verdict.recall(book, asked) if asked else None
    if said is None:
        from capture.cli import examination  # here, since the rules take longer to import than a verdict to be told

        try:
            said, variables = examination.of(book, strict, records_only)
        except CaptureError as error:  # what keeps every page from being checked has a place too
            if style == "github":
                annotate(error.located, (), github.path_to(book.root))
            raise
        if asked and variables is not None:
            verdict.remember(book, asked, said, variables)
    if style == "github":
        annotate(said.found.problems, said.found.notes, github.path_to(book.root))
    else:
        for note in said.found.notes:
            say(f"note: {note}")
        complain(said.found.problems)
    if said.found.problems:
        complain([f"{plural(len(said.found.problems), 'problem')} in {said.counted}"])
        raise typer.Exit(EXIT_PRIVACY if said.found.private else EXIT_INVALID)
    say(f"checked {said.counted}: no problem, {plural(len(said.found.notes), 'note')}")


def annotate(problems: Iterable[Problem], notes: Iterable[Problem], prefix: str) -> None:
    """Print what was found as commands of GitHub Actions."""
    problems = github.worst_first(problems, PRIVACY_RULES)
    for problem in problems:
        say(github.annotation(problem, "error", prefix))
    for note in notes:
        say(github.annotation(note, "notice", prefix))
    if len(problems) > github.SHOWN:
        say(f"GitHub marks the first {github.SHOWN} of {len(problems)} problems; all are above")
