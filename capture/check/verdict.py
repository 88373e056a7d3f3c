"""What `capture check` said of a handbook, kept until a file that it reads changes; then it says the same again.

Files are told by size, times and inode, as git tells them. Where it is not sure that any change would show, nothing is
kept, and everything is read.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from capture import store
from capture.check.findings import Findings
from capture.errors import CaptureError, Problem

VARIABLES = re.compile(r"!ENV[ \t]*(.*)")


@dataclass(frozen=True)
class Verdict:
    """What was found, and in how many snippets, records and hosts."""

    found: Findings
    counted: str


@dataclass(frozen=True)
class Asked:
    """A check of a handbook: a key that stands for all it reads, and whether any change must show in the key."""

    key: str
    settled: bool


def asked(book: store.Handbook, *options: Sequence[str]) -> Asked | None:
    """Return what a check with these options reads of a handbook now, or None where that cannot be told."""
    now = time.time()
    with contextlib.suppress(OSError, CaptureError):
        names = variables((book.root / store.CONFIG).read_text("utf-8"))
        own = [path for path in sorted(book.root.iterdir()) if path.is_file()]
        found = store.footprint_of([*own, book.root / "docs", book.root / "snippets", *index(book)])
        if names is None or found is None:
            return None
        parts = [store.tool(), *store.installed(), found.digest, repr([*options, [os.environ.get(x) for x in names]])]
        return Asked(store.digest(*(part.encode("utf-8", "surrogateescape") for part in parts)), found.settled(now))
    return None


def variables(config: str) -> list[str] | None:
    """Return the environment variables that mkdocs.yml may name, or None where they do not stand behind their tag."""
    found = VARIABLES.findall(config)
    names = [re.findall(r"\w+", rest.partition(" #")[0]) for rest in found]
    return [name for some in names for name in some] if all(names) else None


def index(book: store.Handbook) -> list[Path]:
    """Return git's index, which alone knows of a merge that is not finished; nothing where there is no repository."""
    if not any((folder / ".git").exists() for folder in (book.root, *book.root.parents)):
        return []
    return [store.git_path(book, "index")]


def recall(book: store.Handbook, wanted: Asked) -> Verdict | None:
    """Return what the same check said of the same files, or None."""
    with store.Cache(book.cached_for, "verdict") as cache, contextlib.suppress(ValueError, TypeError, KeyError):
        known = json.loads(cache.get(wanted.key) or "null")
        if known is not None:
            problems, notes = (tuple(Problem(*one) for one in known[name]) for name in ("problems", "notes"))
            return Verdict(Findings(problems, notes), str(known["counted"]))
    return None


def remember(book: store.Handbook, wanted: Asked, said: Verdict) -> None:
    """Keep what a check said, if whatever changes from when it began must show."""
    if wanted.settled:
        parts = {"problems": said.found.problems, "notes": said.found.notes}
        rows = {name: [dataclasses.astuple(one) for one in found] for name, found in parts.items()}
        with store.Cache(book.cached_for, "verdict") as cache:
            cache.put(wanted.key, json.dumps({**rows, "counted": said.counted}))
