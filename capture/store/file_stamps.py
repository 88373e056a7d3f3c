"""What tells one version of files from the next without reading them: the place, size, times and inode of each."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path


def footprint_of(places: Iterable[Path]) -> str | None:
    """Return a digest that stands for files and whole folders; one that is not there counts as well, also an empty one.

    A place that was renamed and renamed again is another one; of folders in it the times tell only that a file came and
    went, such as a lock. None where a folder is a link, or cannot be read: what is behind it cannot be told.
    """
    digest = hashlib.sha256()
    for place in places:
        digest.update(os.fsencode(place) + b"\0\0")
        try:
            for path, facts in sorted(walk(place)):
                timeless = stat.S_ISDIR(facts.st_mode) and path != str(place)
                lasting = facts.st_ino, facts.st_dev, facts.st_mode
                digest.update(os.fsencode(path) + b"\0" + (repr(lasting).encode() if timeless else stamp_of(facts)))
        except OSError:
            return None
    return digest.hexdigest()


def stamp_of(status: os.stat_result) -> bytes:
    """Return what a file system says of one version of a file."""
    facts = status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino, status.st_dev, status.st_mode
    return repr(facts).encode()


def walk(place: Path) -> Iterator[tuple[str, os.stat_result]]:
    """Yield a folder and all in it, or the one file; nothing where there is none. Raises OSError at a linked folder."""
    if place.is_dir():
        yield str(place), place.stat()
        yield from below(str(place))
    elif place.exists():
        yield str(place), place.stat()


def below(folder: str) -> Iterator[tuple[str, os.stat_result]]:
    """Yield each file and folder in a folder by its path, in no order; raises OSError at a linked folder."""
    with os.scandir(folder) as entries:
        for entry in entries:
            path, found = entry.path, entry.stat()
            if entry.is_symlink():
                if entry.is_dir():
                    raise NotADirectoryError(path)
                path = f"{path} -> {Path(path).readlink()}"
            yield path, found
            if entry.is_dir(follow_symlinks=False):
                yield from below(path)
