"""Handbooks to measure on: trivial snippets, and a large one in which every record is current."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from pathlib import Path

from harness.handbooks import script

from capture import store
from capture.record import record
from capture.record.record import Record
from capture.snippet.snippet import Snippet

CHAPTER = "bench"
ROWS = range(2, 21)


def trivial(number: int) -> str:
    """Return the code of a small snippet: one import, one operation, one line of output."""
    return f'"""Sum some numbers."""\n\nimport torch\n\nprint("first", torch.arange({number + 3}).sum().item())\n'


def ordinary(number: int) -> str:
    """Return the code of a snippet of the usual length; it prints what `printed` says."""
    rows = "".join(f'print("row {row}:", torch.ones({number}, {row}).sum().item(), "items")\n' for row in ROWS)
    return f'"""Count the items of some tensors."""\n\nimport torch\n\nprint("first", {number})\n{rows}'


def printed(number: int) -> str:
    """Return what `ordinary` prints."""
    return f"first {number}\n" + "".join(f"row {row}: {float(number * row)} items\n" for row in ROWS)


def write(path: Path, text: str) -> Path:
    """Write a file, with its folder."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    return path


def handbook(root: Path, bodies: Iterable[str]) -> list[Path]:
    """Write a handbook of one chapter, a snippet a body, and return the snippets' files."""
    write(root / "mkdocs.yml", "site_name: benchmark\n")
    claims = {"counted": {"says": "the first number is not negative", "holds": "first >= 0"}}
    return [
        write(
            root / "snippets" / CHAPTER / f"s{number:04d}.py",
            script(body, title=f"Variant {number}", values={"first": r"^first (\d+)$"}, claims=claims),
        )
        for number, body in enumerate(bodies)
    ]


def fill(root: Path, model: Record) -> int:
    """Store a current record for every `ordinary` snippet, made after one captured here; return how many."""
    book = store.Handbook(root)
    snippets, problems = store.read_snippets(book)
    assert not problems, problems
    for number, snippet in enumerate(snippets.values()):
        item = current(model, snippet, printed(number))
        write(book.record_path(item.host, item.snippet), store.record_text(item))
    return len(snippets)


def current(model: Record, snippet: Snippet, stdout: str) -> Record:
    """Return the model as the record of another snippet, with the digests that make it current."""
    return record.sealed(dataclasses.replace(model, snippet=snippet.id, source_sha256=snippet.digest, stdout=stdout))
