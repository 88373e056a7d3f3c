"""`capture prune`: remove the records whose snippet is gone."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Annotated

import typer

from capture.cli.context import handbook, say
from capture.errors import CaptureError
from capture.store import catalogue


def prune(
    context: typer.Context,
    yes: Annotated[bool, typer.Option("--yes", help="Remove them; without it they are only listed.")] = False,
) -> None:
    """List the records whose snippet is gone; --yes removes them."""
    book = handbook(context)
    cat = catalogue.read_handbook(book)
    faulty = {problem.path for problem in cat.problems}
    orphans = [
        book.record_path(label, key)
        for (label, key), result_state in cat.states().items()
        # a snippet that cannot be read is not gone
        if result_state.kind == "orphan" and f"snippets/{key}.py" not in faulty
    ]
    for path in orphans:
        if yes:
            _remove(path, book.relative(path))
        say(f"{'removed' if yes else 'would remove'} {book.relative(path)}")
    if not orphans:
        say("no orphan record")
    elif not yes:
        say("remove them with: capture prune --yes")


def _remove(path: Path, name: str) -> None:
    """Remove a file, and its folder where nothing else is in it; raises CaptureError, which calls the file `name`."""
    try:
        path.unlink()
    except OSError as error:
        raise CaptureError(f"{name}: cannot be removed: {error.strerror}; mend permissions, then run again") from error
    with contextlib.suppress(OSError):
        path.parent.rmdir()
