"""What parsing a file gave, kept by the file's content, so that what has not changed is not parsed again.

It lies in the user's cache folder and not in the handbook, where a pull request could plant one. Whatever is wrong with
it, the files are parsed as if there were none.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import os
import platform
import stat
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import TypeVar

from capture.snippet.bounded_reading import read_regular
from capture.store.file_stamps import below, stamp_of

T = TypeVar("T")
VARIABLE = "CAPTURE_CACHE_DIR"  # names another folder; empty, nothing is kept
PACKAGE = Path(__file__).parents[1]
SPARE = 2  # entries kept for one that was used: another branch has its own
LIMIT = 1 << 29  # bytes; a hundred thousand records make less
OLD = 30 * 24 * 3600  # seconds after which the cache of a handbook that nobody opened is removed


def folder(environment: Mapping[str, str]) -> Path | None:
    """Return the user's cache folder, by the custom of the platform, or None where there is none."""
    if VARIABLE in environment:
        return Path(environment[VARIABLE]) if environment[VARIABLE] else None
    if sys.platform == "win32":
        base = environment.get("LOCALAPPDATA")
    else:
        home = environment.get("HOME")
        custom = "Library/Caches" if sys.platform == "darwin" else ".cache"
        base = environment.get("XDG_CACHE_HOME") or (f"{home}/{custom}" if home else None)
    return Path(base) / "captured-handbook" if base and Path(base).is_absolute() else None


@functools.cache
def tool() -> str:
    """Return a digest of this tool's own files and its Python, which any edit and any other version changes."""
    seen = hashlib.sha256(f"{sys.version} {platform.machine()}".encode())
    with contextlib.suppress(OSError):
        for path, status in sorted(below(str(PACKAGE))):  # templates, too
            if "__pycache__" not in path and not stat.S_ISDIR(status.st_mode):
                seen.update(os.fsencode(path) + stamp_of(status))
    return seen.hexdigest()


class Cache:
    """Results of one kind for one handbook, each a line of JSON under a key; a context, which writes what is new.

    The first line holds the tool and the digest of all others, so that a damaged file counts as none.
    """

    def __init__(self, root: Path, part: str) -> None:
        base = folder(os.environ)
        name = hashlib.sha256(os.fsencode(root.absolute())).hexdigest()[:24]
        self.path = base / name / part if base else None
        self.part = part
        self.known: dict[str, str] = {}
        self.used: dict[str, str] = {}
        self.grown = False

    def __enter__(self) -> Cache:
        if self.path is not None:
            self.known = _read_lines(self.path)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.path is not None and self.grown and error is None:
            room = SPARE * len(self.used)
            spare = [(key, text) for key, text in self.known.items() if key not in self.used]
            spare = spare[max(0, len(spare) - room) :]
            _write_lines(self.path, {**dict(spare), **self.used})

    def recall(self, key: str, make: Callable[[], T]) -> T:
        """Return what was kept under a key, else what `make` returns, which is kept if JSON can hold it."""
        if (text := self.used.get(key) or self.known.get(key)) is not None:
            with contextlib.suppress(ValueError, RecursionError):
                kept: T = json.loads(text)
                self.used[key] = text
                return kept
        made = make()
        if self.path is not None:
            with contextlib.suppress(TypeError, ValueError, RecursionError):
                self.used[key] = json.dumps(made, separators=(",", ":"))
                self.grown = True
        return made


def _read_lines(path: Path) -> dict[str, str]:
    """Return the lines of a cache file by their keys; nothing where it is damaged or of another tool."""
    try:
        first, _, rest = read_regular(path, LIMIT).partition(b"\n")
        if first.decode() != f"{tool()} {hashlib.sha256(rest).hexdigest()}":
            return {}
        return dict(line.split(" ", 1) for line in rest.decode().splitlines())
    except (OSError, ValueError):
        return {}


def _write_lines(path: Path, lines: Mapping[str, str]) -> None:
    """Replace a cache file as a whole; where that cannot be done, the next command is only slower."""
    rest = "".join(f"{key} {text}\n" for key, text in lines.items()).encode()
    temporary = path.with_name(f"{path.name}.tmp-{os.getpid()}")
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        _remove_old(path.parent.parent)
        temporary.write_bytes(f"{tool()} {hashlib.sha256(rest).hexdigest()}\n".encode() + rest)
        temporary.replace(path)
    with contextlib.suppress(OSError):
        temporary.unlink()


def _remove_old(base: Path) -> None:
    """Remove what belongs to handbooks that were not opened for long."""
    limit = time.time() - OLD
    for path in base.glob("*/*"):
        with contextlib.suppress(OSError):
            if path.stat().st_mtime < limit:
                path.unlink()
                path.parent.rmdir()


def digest(*parts: bytes) -> str:
    """Return the key of some content: SHA-256 of its parts."""
    return hashlib.sha256(b"\0".join(parts)).hexdigest()
