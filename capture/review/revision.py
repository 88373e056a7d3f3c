"""Reads the handbook of a git revision, so that it can be compared with another state."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from capture import store
from capture.store import catalogue
from capture.store.catalogue import Catalogue

WORKING_TREE = "working tree"  # what the state without a revision is called


@contextlib.contextmanager
def handbook_at(book: store.Handbook, revision: str) -> Iterator[tuple[Catalogue, str]]:
    """Yield the handbook of a revision, written out for as long as it is needed, and what to call it.

    Raises CaptureError for a revision that git does not know. Files that cannot be written out are problems.
    """
    commit = store.resolve_revision(book, revision)
    with tempfile.TemporaryDirectory(prefix="capture-diff-") as folder:
        written, left_out = store.write_out(book, commit, Path(folder))
        cat = catalogue.read_handbook(written, local=False)
        cat = replace(cat, problems=tuple(sorted({*cat.problems, *left_out})))
        short = commit[:10]
        yield cat, short if commit.startswith(revision) else f"{revision} ({short})"
