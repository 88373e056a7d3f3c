"""`capture status` and `show`: look at what is stored, execute nothing."""

from __future__ import annotations

import json
from typing import Annotated

import typer
from rich.console import Console

from capture import store
from capture.cli.context import complain, handbook, say, stdout
from capture.cli.report import comparison, matrix
from capture.store import catalogue


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
