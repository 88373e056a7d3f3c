"""What `capture check` said of a handbook, kept until a file that it reads changes; then it says the same again.

Files are told by size, times and inode, as git tells them. Where it is not sure that any change would show, nothing is
kept, and everything is read.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from capture import store
from capture.check.findings import Findings
from capture.errors import CaptureError, Problem


@dataclass(frozen=True)
class Verdict:
    """What was found, and in how many snippets, records and hosts."""

    found: Findings
    counted: str


def asked(book: store.Handbook, *options: Sequence[str]) -> store.Inputs | None:
    """Return what a check with these options reads of a handbook now, or None where that cannot be told."""
    now = time.time()
    with contextlib.suppress(OSError, CaptureError):
        git = sorted((name, value) for name, value in os.environ.items() if name.startswith("GIT_"))
        places = [book.root / "docs", book.root / "snippets", *git_files(book)]
        return store.inputs_of(book.root, places, repr((options, git)), now)
    return None


def git_files(book: store.Handbook) -> list[Path]:
    """Return git's index, which alone knows of an open merge, and its settings; nothing without a repository."""
    if not any((folder / ".git").exists() for folder in (book.root, *book.root.parents)):
        return []
    return store.git_paths(book, "index", "config")


def recall(book: store.Handbook, wanted: store.Inputs) -> Verdict | None:
    """Return what the same check said of the same files, or None."""
    with store.Cache(book.cached_for, "verdict") as cache, contextlib.suppress(ValueError, TypeError, KeyError):
        known = json.loads(cache.get(wanted.key) or "null")
        if known and known["variables"] == {name: os.environ.get(name) for name in known["variables"]}:
            problems, notes = (tuple(Problem(*one) for one in known[name]) for name in ("problems", "notes"))
            return Verdict(Findings(problems, notes), str(known["counted"]))
    return None


def remember(book: store.Handbook, wanted: store.Inputs, said: Verdict, variables: Iterable[str]) -> None:
    """Keep what a check said, if whatever changes from when it began must show; with the variables it looked at."""
    if wanted.settled:
        values = {name: os.environ.get(name) for name in variables}
        parts = {"problems": said.found.problems, "notes": said.found.notes}
        rows = {name: [dataclasses.astuple(one) for one in found] for name, found in parts.items()}
        with store.Cache(book.cached_for, "verdict") as cache:
            cache.put(wanted.key, json.dumps({**rows, "counted": said.counted, "variables": values}))
