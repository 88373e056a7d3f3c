"""What HEAD, git's index and the working tree hold of the captures, and ways from one to another."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, replace

from capture.errors import CaptureError, Problem
from capture.store.git_revision import FILES, git, prefix_of
from capture.store.paths import CAPTURES, Handbook

_ABSENT = "000000"  # the mode that git gives a file which is not there
_NAMED = 3  # files that an error names; the others are counted


@dataclass(frozen=True)
class Blob:
    """What git holds of a file: its mode and the name of its content."""

    mode: str
    identity: str


@dataclass(frozen=True)
class DifferingFile:
    """A file of the captures that HEAD, the index and the working tree do not all hold alike.

    `path` is relative to the handbook's root; `settled` tells that the working tree is as what is staged.
    """

    path: str
    committed: Blob | None
    staged: Blob | None
    settled: bool


def differing(book: Handbook) -> list[DifferingFile]:
    """Return the files of the captures that are not as in HEAD, those that git ignores left out.

    Raises CaptureError where the handbook is in no repository, or where a merge left conflicts in the captures.
    """
    prefix = prefix_of(book)
    listed = git(book.root, "status", "--porcelain=v2", "-z", "--no-renames", "--untracked-files=all", "--", CAPTURES)
    entries: dict[str, DifferingFile] = {}
    conflicts = []
    for line in listed.split(b"\0"):
        kind, _, about = os.fsdecode(line).partition(" ")
        if kind == "1":
            states, _, committed, staged, _, before, after, name = about.split(" ", 7)
            path = name.removeprefix(prefix)
            entries[path] = DifferingFile(path, _blob(committed, before), _blob(staged, after), states[1] == ".")
        elif kind == "?":  # also a file that was taken out of the index only
            path = about.removeprefix(prefix)
            entries[path] = replace(entries.get(path, DifferingFile(path, None, None, False)), settled=False)
        elif kind == "u":
            conflicts.append(about.split(" ", 9)[9].removeprefix(prefix))
    if conflicts:
        more = f" and {len(conflicts) - _NAMED} more" if len(conflicts) > _NAMED else ""
        raise CaptureError(
            f"a merge left conflicts in {', '.join(conflicts[:_NAMED])}{more}; choose one side of each (git checkout "
            "--ours or --theirs, then git add), or capture them again, then review"
        )
    return list(entries.values())


def _blob(mode: str, identity: str) -> Blob | None:
    """Return what git holds of a file, or None where it holds none."""
    return None if mode == _ABSENT else Blob(mode, identity)


def stage(book: Handbook, paths: Iterable[str]) -> None:
    """Put files into the index as they are in the working tree, removals included: all of them or none."""
    names = "\0".join(paths)
    if names:
        git(book.root, "add", "--all", "--pathspec-from-file=-", "--pathspec-file-nul", data=os.fsencode(names))


def unstage(book: Handbook, commit: str, paths: Iterable[str]) -> None:
    """Let the index hold files as a commit does, the working tree left as it is: all of them or none."""
    names = "\0".join(paths)
    if names:
        git(
            book.root, "reset", "--quiet", commit, "--pathspec-from-file=-", "--pathspec-file-nul",
            data=os.fsencode(names),
        )  # fmt: skip


def staged_paths(book: Handbook, label: str) -> list[str]:
    """Return the files of a host that the index holds, relative to the handbook's root."""
    listed = git(book.root, "ls-files", "-z", "--", f"{CAPTURES}/{label}")
    return [os.fsdecode(name) for name in listed.split(b"\0") if name]


def staged_bytes(book: Handbook, entry: DifferingFile) -> bytes:
    """Return what the index holds of a file."""
    assert entry.staged is not None
    return git(book.root, "cat-file", "blob", entry.staged.identity)


def committed_bytes(book: Handbook, commit: str, entry: DifferingFile) -> bytes:
    """Return a file as git would check it out; raises CaptureError where it is no regular file there."""
    if entry.committed is None or entry.committed.mode not in FILES:
        message = "is no regular file in HEAD; restore it with git"
        raise CaptureError(Problem(entry.path, 0, message, "link"))
    return git(book.root, "cat-file", "--filters", f"{commit}:./{entry.path}")
