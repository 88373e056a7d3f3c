"""What an answer was made from, so that the same answer can be given again while none of it has changed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from capture.store.cache import digest, tool
from capture.store.file_stamps import footprint_of, installed


@dataclass(frozen=True)
class Inputs:
    """A key that stands for all that an answer was made from, and whether any later change must show in the key."""

    key: str
    settled: bool


def inputs_of(root: Path, places: Iterable[Path], about: str, now: float) -> Inputs | None:
    """Return the inputs at a moment, in seconds since the epoch, or None where they cannot be told.

    They are the tool, the installed packages, the files that lie in the handbook's root itself, the files and folders
    in `places`, and whatever else `about` says. Raises OSError where the root cannot be listed.
    """
    own = [path for path in sorted(root.iterdir()) if path.is_file()]
    found, packages = footprint_of([*own, *places]), installed()
    if found is None or packages is None:
        return None
    parts = (tool(), *packages, found.digest, about)
    return Inputs(digest(*(part.encode("utf-8", "surrogateescape") for part in parts)), found.settled(now))
