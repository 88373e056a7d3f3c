"""`capture status`: show the matrix of snippets by hosts."""

from __future__ import annotations

import json
from typing import Annotated

import typer
from rich.console import Console

from capture.cli.context import complain, handbook, say, stdout
from capture.cli.report import matrix
from capture.store import catalogue


def status(
    context: typer.Context,
    as_json: Annotated[bool, typer.Option("--json", help="Print the matrix as JSON.")] = False,
) -> None:
    """Show the matrix of snippets by hosts."""
    cat = catalogue.read_handbook(handbook(context))
    complain([*cat.problems, *matrix.claim_problems(cat)])
    if as_json:
        stdout().out(json.dumps(matrix.rows(cat), indent=2, ensure_ascii=False))
        return
    if not cat.hosts:
        say("no host has captured yet; start with: capture run")
        return
    wide_console().print(matrix.table(cat))


def wide_console() -> Console:
    """Return a console for tables, which takes 200 columns where its output is piped."""
    return Console(highlight=False, emoji=False, width=None if stdout().is_terminal else 200)
