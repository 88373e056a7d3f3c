"""`capture diff`: what two revisions, or two hosts, say differently."""

from __future__ import annotations

import contextlib
import json
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from capture import store
from capture.check import rules
from capture.cli.context import complain, handbook, stdout
from capture.cli.report import change_json, change_markdown, change_text
from capture.errors import EXIT_ATTENTION, EXIT_INVALID, EXIT_OK, EXIT_PRIVACY, CaptureError, Problem, suggestion
from capture.review import handbook_changes, host_comparison
from capture.review.handbook_changes import Changes
from capture.store import catalogue
from capture.store.catalogue import Catalogue

FORMATS = ("text", "markdown", "json")
WORKING = "working tree"
HELP = {
    "revisions": "BASE, BASE..HEAD or BASE...HEAD; HEAD by default, against the working tree.",
    "hosts": "Compare two hosts of the working tree instead.",
    "format": "text, markdown or json.",
    "strict": "Fail on what must not be merged.",
}


def diff(
    context: typer.Context,
    revisions: Annotated[str, typer.Argument(metavar="[BASE[..HEAD]]", help=HELP["revisions"])] = "",
    hosts: Annotated[tuple[str, str] | None, typer.Option(metavar="A B", help=HELP["hosts"])] = None,
    style: Annotated[str, typer.Option("--format", metavar="NAME", help=HELP["format"])] = "text",
    strict: Annotated[bool, typer.Option("--strict", help=HELP["strict"])] = False,
) -> None:
    """Say what captures say differently, one class a record, gathered by cause; execute nothing.

    Exit code 0: nothing to read. 1: something to read. 2: invalid usage or data, and with --strict whatever must not be
    merged: invalid files, a failure in place of a result, a broken claim, a change without a cause. 3: something
    personal or secret is stored.
    """
    if style not in FORMATS:
        raise CaptureError(f"--format {style}: choose text, markdown or json{suggestion(style, FORMATS)}")
    if hosts and revisions:
        raise CaptureError("--hosts compares two hosts of the working tree; leave the revisions out")
    book = handbook(context)
    found = between_hosts(book, *hosts) if hosts else between_revisions(book, revisions or "HEAD")
    show(found, style)
    if found.private:
        raise typer.Exit(EXIT_PRIVACY)
    if strict and found.failing:
        raise typer.Exit(EXIT_INVALID)
    raise typer.Exit(EXIT_ATTENTION if found.to_read or found.failing else EXIT_OK)


def show(found: Changes, style: str) -> None:
    """Print a report."""
    console = stdout()
    if style == "json":
        console.out(json.dumps(change_json.document(found), indent=2, allow_nan=False), highlight=False)
    elif style == "markdown":
        console.out(change_markdown.text(found).rstrip("\n"), highlight=False)
    else:
        for line in change_text.lines(found):
            console.print(line)


def between_hosts(book: store.Handbook, one: str, other: str) -> Changes:
    """Compare two hosts; raises CaptureError naming the nearest for an unknown one."""
    cat = catalogue.read(book)
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
    return host_comparison.hosts(cat, one, other)


def between_revisions(book: store.Handbook, wanted: str) -> Changes:
    """Compare two revisions, or one with the working tree."""
    base, dots, head = wanted.partition("...") if "..." in wanted else wanted.partition("..")
    base = base or "HEAD"
    if dots == "...":
        base = store.merge_base(book, base, head or "HEAD")
    with contextlib.ExitStack() as stack:
        old, old_name = stack.enter_context(at_revision(book, base))
        if dots:
            new, new_name = stack.enter_context(at_revision(book, head or "HEAD"))
        else:
            new, new_name = with_problems(catalogue.read(book, local=False), store.links(book)), WORKING
        problems, known = (rules.check(cat, (), ()).problems for cat in (new, old))
        return handbook_changes.between(old, new, (old_name, new_name), problems, known)


def with_problems(cat: Catalogue, problems: tuple[Problem, ...]) -> Catalogue:
    """Return a catalogue with further problems of its files."""
    return replace(cat, problems=tuple(sorted({*cat.problems, *problems})))


@contextlib.contextmanager
def at_revision(book: store.Handbook, name: str) -> Iterator[tuple[Catalogue, str]]:
    """Yield the handbook of a revision and what to call it."""
    commit = store.resolve_revision(book, name)
    with tempfile.TemporaryDirectory(prefix="capture-diff-") as folder:
        written, left_out = store.write_out(book, commit, Path(folder))
        cat = with_problems(catalogue.read(written, local=False), left_out)
        short = commit[:10]
        yield cat, short if commit.startswith(name) else f"{name} ({short})"
