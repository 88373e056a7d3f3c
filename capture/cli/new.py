"""`capture new`: write a snippet to start from."""

from __future__ import annotations

from typing import Annotated

import typer

from capture import store
from capture.cli.context import handbook, say
from capture.errors import CaptureError
from capture.snippet.portable_names import LONGEST, why_not_portable
from capture.snippet.snippet import SNIPPET_ID, why_shadowing

_TEMPLATE = '''"""Say in one sentence what this proves."""

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
    if why := why_shadowing(bare.split("/")[1], ["torch"]):
        raise CaptureError(why)
    if why := why_not_portable(bare):
        raise CaptureError(f'"{name[:LONGEST]}" {why}')
    path = book.root / "snippets" / f"{bare}.py"
    if path.exists():
        raise CaptureError(f"{book.relative(path)} exists; choose another name")
    store.write_text(book, path, _TEMPLATE.format(title=bare.split("/")[1].replace("_", " ")))
    say(f"wrote {book.relative(path)}; fill it in, then: capture run {bare}")
