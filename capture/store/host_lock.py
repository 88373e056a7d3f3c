"""One run at a time in a host's folder: a file that names the process which works there.

The file holds the process id and when that process started, so that what a killed run left is recognised, also
where its id has gone to a younger process. It says nothing about who runs it or where.
"""

from __future__ import annotations

import contextlib
import os
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from capture.errors import CaptureError
from capture.store.paths import Handbook
from capture.store.records import unwritable

NAME = ".capture-lock"
PATIENCE = 30.0  # seconds to wait for the run that holds it
POLL = 0.2  # seconds
BEING_WRITTEN = 5.0  # seconds that a file without content may be one that is just being made
TOLERANCE = 2.0  # seconds by which the start of one process may read differently


@dataclass(frozen=True)
class Owner:
    """The process that a lock names; `started` is in seconds since the epoch."""

    pid: int
    started: float

    def __str__(self) -> str:
        return f"{self.pid} {self.started:.2f}\n"


def parse(text: str) -> Owner | None:
    """Return whom a lock names, or None where it is none."""
    found = re.fullmatch(r"([0-9]{1,10}) ([0-9]{1,12}\.[0-9]{2})\n", text)
    return Owner(int(found[1]), float(found[2])) if found else None


def this_process() -> Owner:
    """Return what names this process."""
    import psutil  # here, since few commands need it and all would wait for it

    return Owner(os.getpid(), round(psutil.Process().create_time(), 2))


def works(owner: Owner) -> bool:
    """Tell whether that very process still works; one that may not be looked at is taken to."""
    import psutil

    if owner.pid == os.getpid():  # we do not hold it yet, so an earlier process had our id
        return False
    try:
        process = psutil.Process(owner.pid)
        return process.status() != psutil.STATUS_ZOMBIE and process.create_time() <= owner.started + TOLERANCE
    except psutil.AccessDenied:
        return True
    except (psutil.Error, OSError, OverflowError, ValueError):
        return False


@contextlib.contextmanager
def held(book: Handbook, label: str, tell: Callable[[str], None], patience: float | None = None) -> Iterator[bool]:
    """Hold the lock of a host's folder; yields whether another run was waited for.

    Waits up to `patience` seconds and tells so in one line. Raises CaptureError when the other run goes on, or when
    the folder cannot be written.
    """
    path = book.captures / label / NAME
    patience = PATIENCE if patience is None else patience
    deadline = time.monotonic() + patience
    waited = False
    mine = str(this_process())
    new = not path.parent.exists()
    try:
        while not taken(book, path, mine):
            if not waited:
                tell(f"waiting up to {patience:g} s for another run that captures {label} ({whom(path)})")
            waited = True
            if time.monotonic() >= deadline:
                raise CaptureError(
                    f"another run captures {label} ({whom(path)}); let it end, or end it, then run again; if there is "
                    f"none, remove {book.relative(path)}"
                )
            time.sleep(POLL)
        yield waited
    finally:
        with contextlib.suppress(OSError):
            if path.read_text("ascii", "replace") == mine:
                path.unlink()
        if new:
            with contextlib.suppress(OSError):  # nothing was stored in it
                path.parent.rmdir()


def whom(path: Path) -> str:
    """Say which process holds a lock and for how long it has worked."""
    owner = parse(content(path) or "")
    if owner is None:
        return "it has just started"
    minutes = max(0, int(time.time() - owner.started)) // 60
    return f"process {owner.pid}, started {f'{minutes} min ago' if minutes else 'less than a minute ago'}"


def taken(book: Handbook, path: Path, mine: str) -> bool:
    """Take the lock if nobody works under it."""
    if created(book, path, mine):
        return True
    found = content(path)
    if found is None:
        return created(book, path, mine)  # it has just been released
    owner = parse(found)
    if works(owner) if owner else age(path) < BEING_WRITTEN:
        return False
    clear(path, found)
    return created(book, path, mine)


def created(book: Handbook, path: Path, mine: str) -> bool:
    """Make the file unless there is one."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        number = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
    except FileExistsError as error:
        if path.parent.is_dir():
            return False
        raise unwritable(book, path, error) from error
    except FileNotFoundError:  # another run has just removed the folder that it made
        return False
    except PermissionError as error:
        if os.name == "nt" and path.exists():  # it is just being removed
            return False
        raise unwritable(book, path, error) from error
    except OSError as error:
        raise unwritable(book, path, error) from error
    try:
        os.write(number, mine.encode("ascii"))
    except BaseException as error:
        with contextlib.suppress(OSError):
            path.unlink()
        if not isinstance(error, OSError):
            raise
        raise unwritable(book, path, error) from error
    finally:
        os.close(number)
    return True


def clear(path: Path, stale: str) -> None:
    """Remove a lock that a dead process left; where others clear it too, the lock that one of them took stays."""
    aside = path.with_name(f"{NAME}.tmp-{os.getpid()}")
    with contextlib.suppress(OSError):
        path.rename(aside)
        if content(aside) != stale:  # another run was faster, and this is its lock
            with contextlib.suppress(OSError):
                os.link(aside, path)
        aside.unlink()


def content(path: Path) -> str | None:
    """Return what a lock holds, or None where there is none."""
    try:
        with path.open("rb") as file:
            return file.read(100).decode("ascii", "replace")
    except FileNotFoundError:
        return None
    except OSError:
        return ""


def age(path: Path) -> float:
    """Return for how many seconds a file has not changed."""
    try:
        return abs(time.time() - path.stat().st_mtime)
    except OSError:
        return 0.0
