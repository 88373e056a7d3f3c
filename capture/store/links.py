"""Links in the folders of a handbook: a site copies what a link names, wherever that lies."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from capture.errors import Problem
from capture.store.paths import Handbook

FOLDERS = ("docs", "snippets", "overrides")  # what a site is made of
_FILES = ("mkdocs.yml", "published.txt")
_MOST_HOPS = 40  # links behind links, as many as systems follow


def links(book: Handbook) -> tuple[Problem, ...]:
    """Return the links that must not be there: any among the captures, and elsewhere each that leads astray.

    Among the captures git would keep the link, and not what it names. Elsewhere in docs/, snippets/ and overrides/ a
    link may lead to a file or folder of these three; else it would publish what is nobody's to publish.
    """
    found = (_problem(book, path) for path in [*(book.root / name for name in _FILES), *_entries(book)])
    return tuple(sorted({problem for problem in found if problem is not None}))


def files_below(book: Handbook) -> Iterator[Path]:
    """Yield every file in docs/, snippets/ and overrides/ that is there itself, hidden ones included, but no link.

    What Python compiled is left out: git ignores it, and no site holds it.
    """
    for path in _entries(book):
        if not path.is_symlink() and not path.is_dir() and "__pycache__" not in path.parts:
            yield path


def _entries(book: Handbook) -> Iterator[Path]:
    """Yield the three folders and all below them; links are yielded and not followed."""
    for name in FOLDERS:
        top = book.root / name
        if top.is_symlink() or top.exists():
            yield top
        for parent, folders, files in os.walk(top) if not top.is_symlink() else ():
            yield from (Path(parent, each) for each in (*folders, *files))


def _problem(book: Handbook, path: Path) -> Problem | None:
    """Return what is wrong with a link, or None for one that may be, and for what is none."""
    if not path.is_symlink():
        return None
    if path == book.captures or book.captures in path.parents:
        message = "is a link; put the file itself there"
    elif not _stays_inside(book.root, path):
        message = "is a link that leads out of docs/, snippets/ and overrides/, or nowhere; put the file itself there"
    else:
        return None
    return Problem(book.relative(path), 0, message, "unreadable")


def _stays_inside(root: Path, path: Path) -> bool:
    """Tell whether a link leads, over links of the handbook alone, to a file or folder of the handbook."""
    inside = [Path(os.path.realpath(root / name)) for name in FOLDERS if not (root / name).is_symlink()]
    place = path
    for _ in range(_MOST_HOPS):
        place = Path(os.path.realpath(place.parent), place.name)
        if not any(place == folder or folder in place.parents for folder in inside):
            return False
        if not place.is_symlink():
            return place.is_file() or place.is_dir()
        target = place.readlink()
        if target.is_absolute():  # it leads to another place on each machine
            return False
        place = Path(os.path.normpath(place.parent / target))
    return False
