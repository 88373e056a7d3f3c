"""What tells one version of files from the next without reading them: the place, size, times and inode of each."""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

COARSE = 2.0  # seconds: no file system in use tells times less exactly (FAT)
NO_SOURCE = ("__pycache__",)  # folders of what was made from the files beside them
PACKAGES = ("site-packages", "dist-packages")


@dataclass(frozen=True)
class Footprint:
    """A digest of what was seen, and when the youngest file was last changed, in seconds since the epoch."""

    digest: str
    newest: float

    def settled(self, when: float) -> bool:
        """Tell whether any change made from a moment on must show, since no file is so young that a time could repeat.

        Git calls an entry of its index that fails this racily clean.
        """
        return self.newest < when - COARSE


def footprint_of(places: Iterable[Path]) -> Footprint | None:
    """Return what stands for files and whole folders; one that is not there counts as well.

    None where a folder is a link, or cannot be read: what is behind it cannot be told.
    """
    digest, newest = hashlib.sha256(), 0.0
    for place in places:
        digest.update(os.fsencode(place) + b"\0\0")
        try:
            for path, found in sorted(walk(place)):
                newest = max(newest, found.st_mtime, found.st_ctime)
                told = (found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino, found.st_mode)
                digest.update(os.fsencode(path) + repr(told).encode())
        except OSError:
            return None
    return Footprint(digest.hexdigest(), newest)


def walk(place: Path) -> Iterator[tuple[str, os.stat_result]]:
    """Yield each file of a folder, or the one file; nothing where there is none. Raises OSError at a linked folder."""
    if place.is_dir():
        yield from below(str(place))
    elif place.exists():
        yield str(place), place.stat()


def below(folder: str) -> Iterator[tuple[str, os.stat_result]]:
    """Yield each file of a folder by its path, in no order; raises OSError at a linked folder."""
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                if entry.name not in NO_SOURCE:
                    yield from below(entry.path)
            elif entry.is_dir():
                raise NotADirectoryError(entry.path)
            elif entry.is_symlink():
                yield f"{entry.path} -> {Path(entry.path).readlink()}", entry.stat()
            else:
                yield entry.path, entry.stat()


def installed() -> list[str]:
    """Return what tells one set of installed packages from the next: installing one changes the folder of all."""
    folders = [Path(name) for name in sys.path if name and Path(name).name in PACKAGES and Path(name).is_dir()]
    return [f"{folder} {folder.stat().st_mtime_ns}" for folder in folders]
