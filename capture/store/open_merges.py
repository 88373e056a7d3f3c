"""Which files of the captures git holds in several versions, because a merge is not finished."""

from __future__ import annotations

import os

from capture.errors import CaptureError
from capture.store.git_revision import git
from capture.store.paths import CAPTURES, Handbook


def unmerged(book: Handbook) -> list[str]:
    """Return the paths under docs/captures that a merge left open; none where there is no git, or no repository.

    `.gitattributes` has records merged whole or not at all, so that git leaves the file of one side as it was, without
    a marker in it: only the index knows of the other.
    """
    if not any((folder / ".git").exists() for folder in (book.root, *book.root.parents)):
        return []
    try:
        listed = git(book.root, "ls-files", "--unmerged", "-z", "--", CAPTURES)
    except CaptureError:
        return []
    return sorted({os.fsdecode(line.partition(b"\t")[2]) for line in listed.split(b"\0") if line})
