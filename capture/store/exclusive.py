"""One build at a time in a folder: a lock on the folder itself, which ends with the process that holds it."""

from __future__ import annotations

import contextlib
import importlib
import os
import time
from collections.abc import Callable
from pathlib import Path

from capture.errors import CaptureError

PATIENCE = 30.0  # seconds to wait for the build that holds it
POLL = 0.1  # seconds


def hold(folder: Path, tell: Callable[[str], None], patience: float = PATIENCE) -> int | None:
    """Make a folder and lock it until `release`; None where the system has no such lock.

    Waits up to `patience` seconds for another process and tells so once. Raises CaptureError when that one goes on.
    """
    with contextlib.suppress(ImportError, OSError):
        fcntl = importlib.import_module("fcntl")  # Windows has none
        folder.mkdir(parents=True, exist_ok=True)
        place = os.open(folder, os.O_RDONLY)
        deadline, told = time.monotonic() + patience, False
        while True:
            try:
                fcntl.flock(place, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                if time.monotonic() >= deadline:
                    os.close(place)
                    raise CaptureError(
                        f"another build writes into {folder.name}/; let it end, or end it, then build again"
                    ) from error
                if not told:
                    tell(f"Waiting up to {patience:g} s for another build that writes into {folder.name}/")
                told = True
                time.sleep(POLL)
            else:
                return place
    return None


def release(place: int, folder: Path) -> bool:
    """Give the lock back; tell whether the folder is still the one that was locked."""
    try:
        with contextlib.suppress(OSError):
            return os.path.samestat(os.fstat(place), folder.stat())
        return False
    finally:
        os.close(place)
