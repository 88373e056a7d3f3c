"""`capture new`, `prune` and `schema`: files that authors and maintainers need."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Annotated

import typer

from capture import store
from capture.cli.context import handbook, say
from capture.errors import CaptureError
from capture.exchange import json_schemas
from capture.snippet.snippet import SNIPPET_ID
from capture.store import catalogue

TEMPLATE = '''"""Say in one sentence what this proves."""

import torch

x = torch.arange(4.0)
print("sum", x.sum().item())

# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.2"]
#
# [tool.capture]
# title = "{title}"
#
# [tool.capture.values]
# total = 'sum ([\\d.]+)'
#
# [tool.capture.claims.sum-is-six]
# says  = "0 + 1 + 2 + 3 is 6"
# holds = "total == 6"
# ///
'''


def new(context: typer.Context, name: Annotated[str, typer.Argument(metavar="CHAPTER/NAME")]) -> None:
    """Write a snippet to start from."""
    book = handbook(context)
    bare = name.removeprefix("snippets/").removesuffix(".py")
    if not SNIPPET_ID.fullmatch(bare):
        raise CaptureError(f'"{name}": use CHAPTER/NAME with lower-case letters, digits and _')
    path = book.root / "snippets" / f"{bare}.py"
    if path.exists():
        raise CaptureError(f"{book.relative(path)} exists; choose another name")
    store.write_text(book, path, TEMPLATE.format(title=bare.split("/")[1].replace("_", " ")))
    say(f"wrote {book.relative(path)}; fill it in, then: capture run {bare}")


def prune(
    context: typer.Context,
    yes: Annotated[bool, typer.Option("--yes", help="Remove them; without it they are only listed.")] = False,
) -> None:
    """List the records whose snippet is gone; --yes removes them."""
    book = handbook(context)
    cat = catalogue.read(book)
    faulty = {problem.path for problem in cat.problems}
    orphans = [
        book.record_path(label, key)
        for (label, key), found in cat.states().items()
        # A snippet that does not parse is there all the same.
        if found.kind == "orphan" and f"snippets/{key}.py" not in faulty
    ]
    for path in orphans:
        if yes:
            remove(path, book.relative(path))
        say(f"{'removed' if yes else 'would remove'} {book.relative(path)}")
    if not orphans:
        say("no orphan record")
    elif not yes:
        say("remove them with: capture prune --yes")


def remove(path: Path, shown: str) -> None:
    """Remove a file, and its folder where it was the last one in it."""
    try:
        path.unlink()
    except OSError as error:
        raise CaptureError(f"{shown}: cannot be removed: {error.strerror}; mend permissions, then run again") from error
    with contextlib.suppress(OSError):
        path.parent.rmdir()


def schema(context: typer.Context) -> None:
    """Write the JSON Schemas of all that is stored or published."""
    book = handbook(context)
    for name, text in json_schemas.texts().items():
        changed = store.write_text(book, book.root / name, text)
        say(f"{'wrote' if changed else 'unchanged:'} {name}")
