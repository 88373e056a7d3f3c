"""`capture check`, `status` and `show`: look at what is stored, execute nothing."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Annotated

import typer
from rich.console import Console

from capture import catalogue, prose, store
from capture.check import Findings
from capture.check import check as run_rules
from capture.cli.context import complain, handbook, say, stdout
from capture.errors import EXIT_INVALID, EXIT_PRIVACY, CaptureError, Problem, plural, suggestion
from capture.host import run_option
from capture.redact import PRIVACY_RULES
from capture.report import comparison, github, matrix

FORMATS = ("text", "github")
NAMED = 8  # missing results that a note names; the others are counted


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
    cat = catalogue.read(book)
    for label in strict_stale or []:
        if label not in cat.hosts:
            raise CaptureError(f'--strict-stale: no host "{label}"{suggestion(label, cat.hosts)}')
    page_problems: list[Problem] = []
    if not records_only:
        from capture.render import pages

        try:
            page_problems = [*pages.check_pages(cat), *prose.problems(book)]
        except CaptureError as error:  # what keeps every page from being checked has a place too
            if style == "github":
                annotate(Findings(tuple(error.located), ()), github.path_to(book.root))
            raise
    found = run_rules(cat, strict_stale or [], page_problems)
    notes = [*(() if records_only else typed(book)), *summed(found.notes)]
    if style == "github":
        annotate(Findings(found.problems, tuple(notes)), github.path_to(book.root))
    else:
        for note in notes:
            say(f"note: {note}")
        complain(found.problems)
    counted = f"{len(cat.snippets)} snippets, {len(cat.records)} records, {len(cat.hosts)} hosts"
    if found.problems:
        complain([f"{plural(len(found.problems), 'problem')} in {counted}"])
        raise typer.Exit(EXIT_PRIVACY if found.private else EXIT_INVALID)
    say(f"checked {counted}: no problem, {plural(len(notes), 'note')}")


def annotate(found: Findings, prefix: str) -> None:
    """Print what was found as commands of GitHub Actions."""
    problems = github.worst_first(found.problems, PRIVACY_RULES)
    for problem in problems:
        say(github.annotation(problem, "error", prefix))
    for note in found.notes:
        say(github.annotation(note, "notice", prefix))
    if len(problems) > github.SHOWN:
        say(f"GitHub marks the first {github.SHOWN} of {len(problems)} problems; all are above")


def typed(book: store.Handbook) -> list[Problem]:
    """Return a note for each place where a page types figures on purpose."""
    return [
        Problem(item.path, item.line, f"figures typed on purpose: {item.reason}", "typed")
        for item in prose.opt_outs(book)
    ]


def summed(notes: Iterable[Problem]) -> list[Problem]:
    """Return the notes; where a host has captured little, what it lacks is one note about the host."""
    result: list[Problem] = []
    missing: dict[str, list[str]] = {}
    for note in notes:
        if note.rule == "missing":
            label, _, key = note.path.removeprefix(f"{store.CAPTURES}/").removesuffix(".yaml").partition("/")
            missing.setdefault(label, []).append(key)
        else:
            result.append(note)
    for label, keys in missing.items():
        rest = f" and {len(keys) - NAMED} more" if len(keys) > NAMED else ""
        named = f"{', '.join(keys[:NAMED])}{rest}"
        message = f"{len(keys)} missing ({named}); capture on that host: capture run{run_option(label)}"
        result.append(Problem(f"{store.CAPTURES}/{label}/host.yaml", 0, message, "missing"))
    return result


def status(
    context: typer.Context,
    as_json: Annotated[bool, typer.Option("--json", help="Print the matrix as JSON.")] = False,
) -> None:
    """Show the matrix of snippets by hosts."""
    cat = catalogue.read(handbook(context))
    complain([*cat.problems, *matrix.claim_problems(cat)])
    if as_json:
        stdout().out(json.dumps(matrix.rows(cat), indent=2, ensure_ascii=False))
        return
    if not cat.hosts:
        say("no host has captured yet; start with: capture run")
        return
    console = wide_console()
    console.print(matrix.table(cat))


def wide_console() -> Console:
    """Return a console for tables, which are not cut at 80 columns where they are piped."""
    return Console(highlight=False, emoji=False, width=None if stdout().is_terminal else 200)


def show(context: typer.Context, snippet: Annotated[str, typer.Argument(help="The id of a snippet.")]) -> None:
    """Show one snippet on all hosts, side by side."""
    cat = catalogue.read(handbook(context))
    key = snippet.removeprefix("snippets/").removesuffix(".py")
    complain(problem for problem in cat.problems if problem.path.endswith((f"/{key}.py", f"/{key}.yaml", "/host.yaml")))
    store.resolve(key, cat.snippets)
    console = wide_console()
    console.print(comparison.snippet_on_hosts(cat, key, console.width))
