"""`capture show`: show what one snippet printed on all hosts."""

from __future__ import annotations

from typing import Annotated

import typer

from capture import store
from capture.cli.context import complain, handbook
from capture.cli.report import comparison
from capture.cli.status import wide_console
from capture.store import catalogue


def show(context: typer.Context, snippet: Annotated[str, typer.Argument(help="The id of a snippet.")]) -> None:
    """Show one snippet on all hosts, side by side."""
    cat = catalogue.read_handbook(handbook(context))
    key = snippet.removeprefix("snippets/").removesuffix(".py")
    complain(problem for problem in cat.problems if problem.path.endswith((f"/{key}.py", f"/{key}.yaml", "/host.yaml")))
    store.resolve(key, cat.snippets)
    console = wide_console()
    console.print(comparison.snippet_on_hosts(cat, key, console.width))
