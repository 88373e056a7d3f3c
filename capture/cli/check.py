"""`capture check`: what every rule finds in snippets, records and pages; nothing is executed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated

import typer

from capture.cli.context import complain, handbook, problem_line, say
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
    settings_only: Annotated[
        bool, typer.Option("--settings-only", help="Only mkdocs.yml and links: whether a build runs foreign code.")
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
    from capture.check.whole_handbook import check_handbook  # here: the rules take longer to import than help to show

    if settings_only:
        from capture.site.markdown import build_settings

        build_settings.require_own(book)
        say("checked mkdocs.yml: no problem")
        return
    try:
        checked = check_handbook(book, sorted(strict_stale or []), records_only)
    except CaptureError as error:  # what keeps every page from being checked has a place too
        if style == "github":
            annotate(error.located, (), github.path_to(book.root))
        raise
    findings = checked.findings
    if style == "github":
        annotate(findings.problems, findings.notes, github.path_to(book.root))
    else:
        for note in findings.notes:
            say(f"note: {problem_line(note)}")
        complain(findings.problems)
    if findings.problems:
        complain([f"{plural(len(findings.problems), 'problem')} in {checked.counted}"])
        raise typer.Exit(EXIT_PRIVACY if findings.private else EXIT_INVALID)
    say(f"checked {checked.counted}: no problem, {plural(len(findings.notes), 'note')}")


def annotate(problems: Iterable[Problem], notes: Iterable[Problem], prefix: str) -> None:
    """Print what was found as commands of GitHub Actions."""
    problems = github.worst_first(problems, PRIVACY_RULES)
    for problem in problems:
        say(github.annotation(problem, "error", prefix))
    for note in notes:
        say(github.annotation(note, "notice", prefix))
    if len(problems) > github.MOST_MARKED:
        say(f"GitHub marks the first {github.MOST_MARKED} of {len(problems)} problems; all are above")
