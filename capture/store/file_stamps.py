"""What tells one version of files from the next without reading them: the place, size, times and inode of each."""

from __future__ import annotations

import hashlib
import os
import stat
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

COARSE = 2.0  # seconds: no file system in use tells times less exactly (FAT)
PACKAGES = ("site-packages", "dist-packages")
# What renders pages; a copy that lies elsewhere is somebody's working copy, of which an edit would not show.
RENDERING = (
    "jinja2", "markdown", "markupsafe", "material", "mkdocs", "mkdocs_jupyter", "mkdocs_redirects", "pygments",
    "pymdownx", "yaml",
)  # fmt: skip
CUSTOMS = ("sitecustomize.py", "usercustomize.py")  # which Python runs when it starts


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
    """Return what stands for files and whole folders; one that is not there counts as well, and so does an empty one.

    A place that was renamed and renamed again is another one; of folders in it the times tell only that a file came and
    went, such as a lock. None where a folder is a link, or cannot be read: what is behind it cannot be told.
    """
    digest, newest = hashlib.sha256(), 0.0
    for place in places:
        digest.update(os.fsencode(place) + b"\0\0")
        try:
            for path, found in sorted(walk(place)):
                timeless = stat.S_ISDIR(found.st_mode) and path != str(place)
                newest = newest if timeless else max(newest, found.st_mtime, found.st_ctime)
                lasting = found.st_ino, found.st_dev, found.st_mode
                digest.update(os.fsencode(path) + b"\0" + (repr(lasting).encode() if timeless else told(found)))
        except OSError:
            return None
    return Footprint(digest.hexdigest(), newest)


def told(found: os.stat_result) -> bytes:
    """Return what a file system says of one version of a file."""
    facts = found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino, found.st_dev, found.st_mode
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


def installed() -> list[str] | None:
    """Return what tells one set of installed packages from the next: installing one changes the folder of all.

    None where one that renders pages lies elsewhere, or may lie in an archive.
    """
    found = []
    for name in sys.path:
        folder = Path(name)
        if folder.name in PACKAGES:
            found += [f"{folder} {folder.stat().st_mtime_ns}"] if folder.is_dir() else []
        elif folder.is_file() or any((folder / package).is_dir() for package in RENDERING):
            return None
        for start in CUSTOMS:
            found += [f"{folder} {start} {told((folder / start).stat())!r}"] if (folder / start).is_file() else []
    return found
