"""`capture diff`: print what two revisions, or two hosts, say differently."""

from __future__ import annotations

import contextlib
import json
from typing import Annotated

import typer

from capture import store
from capture.check import rules
from capture.cli.context import complain, handbook, stdout
from capture.cli.report import change_json, change_markdown, change_text
from capture.errors import EXIT_ATTENTION, EXIT_INVALID, EXIT_OK, EXIT_PRIVACY, CaptureError, Problem, suggestion
from capture.review import handbook_changes, host_comparison
from capture.review.handbook_changes import HandbookChanges
from capture.review.revision import WORKING_TREE, handbook_at
from capture.store import catalogue

_FORMATS = ("text", "markdown", "json")
_HELP = {
    "revisions": "BASE, BASE..HEAD or BASE...HEAD; HEAD by default, against the working tree.",
    "hosts": "Compare two hosts of the working tree instead.",
    "format": "text, markdown or json.",
    "strict": "Fail on what must not be merged.",
}


def diff(
    context: typer.Context,
    revisions: Annotated[str, typer.Argument(metavar="[BASE[..HEAD]]", help=_HELP["revisions"])] = "",
    hosts: Annotated[tuple[str, str] | None, typer.Option(metavar="A B", help=_HELP["hosts"])] = None,
    style: Annotated[str, typer.Option("--format", metavar="NAME", help=_HELP["format"])] = "text",
    strict: Annotated[bool, typer.Option("--strict", help=_HELP["strict"])] = False,
) -> None:
    """Say what captures say differently, one class a record, gathered by cause; execute nothing.

    Exit code 0: nothing to read. 1: something to read. 2: invalid usage or data, and with --strict whatever must not be
    merged: invalid files, a failure in place of a result, a broken claim, a change without a cause, also of a host's
    facts. 3: something personal or secret is stored.
    """
    if style not in _FORMATS:
        raise CaptureError(f"--format {style}: choose text, markdown or json{suggestion(style, _FORMATS)}")
    if hosts and revisions:
        raise CaptureError("--hosts compares two hosts of the working tree; leave the revisions out")
    book = handbook(context)
    changes = _between_hosts(book, *hosts) if hosts else _between_revisions(book, revisions or "HEAD")
    _print_report(changes, style)
    if changes.private:
        raise typer.Exit(EXIT_PRIVACY)
    if strict and changes.failing:
        raise typer.Exit(EXIT_INVALID)
    to_read = changes.to_read or changes.edited_hosts or changes.failing
    raise typer.Exit(EXIT_ATTENTION if to_read else EXIT_OK)


def _print_report(changes: HandbookChanges, style: str) -> None:
    """Print what differs in one of the formats."""
    console = stdout()
    if style == "json":
        console.out(json.dumps(change_json.document(changes), indent=2, allow_nan=False), highlight=False)
    elif style == "markdown":
        console.out(change_markdown.text(changes).rstrip("\n"), highlight=False)
    else:
        for line in change_text.lines(changes):
            console.print(line)


def _between_hosts(book: store.Handbook, one: str, other: str) -> HandbookChanges:
    """Compare two hosts by label; raises CaptureError for one that is unknown or damaged, and for one host twice."""
    cat = catalogue.read_handbook(book)
    for label in (one, other):
        if label not in cat.hosts:
            damaged: list[Problem | str] = [
                problem for problem in cat.problems if problem.path == book.relative(book.host_path(label))
            ]
            raise CaptureError(*damaged or [f'no host "{label}"{suggestion(label, cat.hosts)}'])
    theirs = tuple(f"{store.CAPTURES}/{label}/" for label in cat.hosts if label not in (one, other))
    complain(problem for problem in cat.problems if not problem.path.startswith(theirs))
    if one == other:
        raise CaptureError(f"--hosts {one} {other}: name two hosts")
    return host_comparison.compare_hosts(cat, one, other)


def _between_revisions(book: store.Handbook, wanted: str) -> HandbookChanges:
    """Compare two revisions, as `BASE..HEAD` or `BASE...HEAD`, or one, as `BASE`, with the working tree."""
    base, dots, head = wanted.partition("...") if "..." in wanted else wanted.partition("..")
    base = base or "HEAD"
    if dots == "...":
        base = store.merge_base(book, base, head or "HEAD")
    with contextlib.ExitStack() as stack:
        old, old_name = stack.enter_context(handbook_at(book, base))
        if dots:
            new, new_name = stack.enter_context(handbook_at(book, head or "HEAD"))
        else:
            new, new_name = catalogue.read_handbook(book, local=False), WORKING_TREE
        problems, known = (rules.check(cat, (), ()).problems for cat in (new, old))
        return handbook_changes.compare_handbooks(old, new, (old_name, new_name), problems, known)
