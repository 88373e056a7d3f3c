"""`capture schema`: write the JSON Schemas."""

from __future__ import annotations

import typer

from capture import store
from capture.cli.context import handbook, say
from capture.exchange import json_schemas


def schema(context: typer.Context) -> None:
    """Write the JSON Schemas of all that is stored or published."""
    book = handbook(context)
    for name, text in json_schemas.texts().items():
        changed = store.write_text(book, book.root / name, text)
        say(f"{'wrote' if changed else 'unchanged:'} {name}")
