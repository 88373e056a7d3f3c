"""One run at a time in a host's folder: a lock that the kernel gives to one process, and takes back when it ends.

So it holds between containers and machines that share the folder, and a killed run leaves none. What stands in the
locked file, the process and since when it works, is for the message of those who wait and decides nothing; it says
nothing about who runs it or where.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from capture.errors import CaptureError, Problem
from capture.store.paths import Handbook
from capture.store.records import unwritable

if TYPE_CHECKING:
    from filelock import BaseFileLock

NAME = ".capture-lock"
PATIENCE = 30.0  # seconds to wait for the run that holds it
_POLL = 0.2  # seconds
_NO_LOCKS = (errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP)  # what a file system without locks answers
_PROCESS_AND_START = re.compile(r"([0-9]{1,10}) ([0-9]{1,12}\.[0-9]{2})\n")


@contextlib.contextmanager
def held(book: Handbook, label: str, tell: Callable[[str], None], patience: float | None = None) -> Iterator[bool]:
    """Hold the lock of a host's folder; yields whether another run was waited for.

    Waits up to `patience` seconds and tells so in one line. Where the file system has no locks it tells that and goes
    on. Raises CaptureError when the other run goes on, or when the folder cannot be written.
    """
    from filelock import FileLock  # here, since few commands need it and all would wait for it

    path = book.captures / label / NAME
    patience = PATIENCE if patience is None else patience
    deadline = time.monotonic() + patience
    mine = f"{os.getpid()} {time.time():.2f}\n"
    lock = FileLock(path, on_acquired=lambda number: _write(number, path, mine))
    new, waited = not path.parent.exists(), False
    try:
        while not _taken(book, path, lock, tell):
            if not waited:
                tell(f"waiting up to {patience:g} s for another run that captures {label} ({_whom(path)})")
            waited = True
            if time.monotonic() >= deadline:
                raise CaptureError(
                    f"another run captures {label} ({_whom(path)}); let it end, or end it, here, in another container "
                    "or on a machine that shares this folder, then run again"
                )
            time.sleep(_POLL)
        yield waited
    finally:
        _release(lock, path, mine)
        if new:
            with contextlib.suppress(OSError):  # nothing was stored in it
                path.parent.rmdir()


def _taken(book: Handbook, path: Path, lock: BaseFileLock, tell: Callable[[str], None]) -> bool:
    """Take the lock if nobody holds it, or go on without it where the file system has none."""
    from filelock import Timeout

    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock.acquire(blocking=False)
    except (Timeout, FileNotFoundError):  # held; or its holder has just removed the folder that it made
        return False
    except OSError as error:
        if error.errno in _NO_LOCKS:
            with contextlib.suppress(OSError):
                path.unlink()
            tell(
                f"{book.relative(path.parent)} is on a file system without locks ({error.strerror}); see that nothing "
                f"else captures {path.parent.name} meanwhile"
            )
            return True
        if path.is_symlink() or (path.exists() and not path.is_file()):
            message = "is no regular file; remove it, then run again"
            raise CaptureError(Problem(book.relative(path), 0, message, "write")) from error
        raise unwritable(book, path, error) from error
    return True


def _write(number: int, path: Path, mine: str) -> None:
    """Write into the locked file who holds it; where that fails, remove the file before anyone can lock it."""
    try:
        os.ftruncate(number, 0)
        os.write(number, f" {mine}".encode("ascii"))
    except BaseException:
        with contextlib.suppress(OSError):
            if path.is_file():
                path.unlink()
        raise


def _release(lock: BaseFileLock, path: Path, mine: str) -> None:
    """Remove the locked file, while nobody else can hold it, and give the lock back."""
    if lock.is_locked:
        with contextlib.suppress(OSError):  # Windows removes no open file; there the library does it
            if _content(path) == mine:
                path.unlink()
        lock.release()


def _whom(path: Path) -> str:
    """Say which process holds a lock and for how long it has worked."""
    owner = _PROCESS_AND_START.fullmatch(_content(path))
    if owner is None:
        return "it has just started"
    minutes = max(0, int(time.time() - float(owner[2]))) // 60
    return f"process {owner[1]}, started {f'{minutes} min ago' if minutes else 'less than a minute ago'}"


def _content(path: Path) -> str:
    """Return what stands in a lock behind its first byte, which Windows lets nobody read; nothing without a lock."""
    try:
        with path.open("rb", buffering=0) as file:
            file.seek(1)
            return file.read(100).decode("ascii", "replace")
    except OSError:
        return ""
