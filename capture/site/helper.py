"""A forked copy of this process that works through a list from its end while this one comes from the front.

What it gives back saves time and decides nothing: where there is none, or it ends early, this process does all itself.
"""

from __future__ import annotations

import contextlib
import mmap
import os
import signal
import struct
import sys
import tempfile
import threading
import time
from collections.abc import Callable

FREE, OURS, BEGUN, DONE = range(4)
PLACE = struct.Struct("<BQQ")  # state of an item, then where its result lies
FEWEST = 20  # items; of fewer this process has done most before another is on a CPU of its own


def possible(count: int) -> bool:
    """Tell whether a helper can be forked and pays: on Linux, with a CPU for it, and while no thread holds a lock."""
    cpus = len(os.sched_getaffinity(0)) if sys.platform == "linux" else 1
    return cpus > 1 and count >= FEWEST and threading.active_count() == 1 and not os.environ.get("CAPTURE_ONE_PROCESS")


def begin(count: int, first: Callable[[], object] = int, work: Callable[[int], str] = str) -> Helper | None:
    """Return a copy at work, or None where the system has no process, memory or temporary folder for it."""
    with contextlib.suppress(OSError):
        return Helper(count, first, work)
    return None


class Helper:
    """The copy at work. `first` is done before anything else, then `work` for each item, the last one first."""

    def __init__(self, count: int, first: Callable[[], object] = int, work: Callable[[int], str] = str) -> None:
        self.count = count
        self.table = mmap.mmap(-1, PLACE.size * (count + 1))
        self.file = tempfile.TemporaryFile()  # noqa: SIM115 - `close` closes it
        self.parent = os.getpid()
        self.pid = os.fork()
        if self.pid == 0:
            with contextlib.suppress(BaseException):
                self.run(first, work)
            os._exit(0)

    def run(self, first: Callable[[], object], work: Callable[[int], str]) -> None:
        """Work; in the copy alone, which says nothing and ends with its parent."""
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        nowhere = os.open(os.devnull, os.O_RDWR)
        os.dup2(nowhere, 1)
        os.dup2(nowhere, 2)
        first()
        self.set(self.count, DONE)
        end = 0
        for number in reversed(range(self.count)):
            if self.state(number)[0] == OURS or os.getppid() != self.parent:
                return
            self.set(number, BEGUN)
            data = work(number).encode("utf-8", "surrogatepass")
            if os.pwrite(self.file.fileno(), data, end) < len(data):  # no room is left: the other does it all
                self.set(number, OURS)
                return
            self.set(number, DONE, end, len(data))
            end += len(data)

    def set(self, number: int, state: int, start: int = 0, length: int = 0) -> None:
        """Write down the state of an item; the state itself last."""
        place = number * PLACE.size
        self.table[place + 1 : place + PLACE.size] = PLACE.pack(state, start, length)[1:]
        self.table[place] = state

    def state(self, number: int) -> tuple[int, int, int]:
        """Return the state of an item, and where its result lies."""
        state, start, length = PLACE.unpack_from(self.table, number * PLACE.size)
        return state, start, length

    def result(self, number: int) -> str:
        """Return what the copy made of an item; nothing where it has not begun it, and then it never will."""
        while (found := self.state(number))[0] == BEGUN and self.lives():
            time.sleep(0.0005)
        if found[0] == DONE:
            return os.pread(self.file.fileno(), found[2], found[1]).decode("utf-8", "surrogatepass")
        self.table[number * PLACE.size] = OURS
        return ""

    def first_done(self) -> bool:
        """Wait for what was to be done first, and tell whether it was."""
        while self.state(self.count)[0] != DONE and self.lives():
            time.sleep(0.0005)
        return self.state(self.count)[0] == DONE

    def lives(self) -> bool:
        """Tell whether the copy is still at work."""
        if self.pid:
            with contextlib.suppress(ChildProcessError):
                if os.waitpid(self.pid, os.WNOHANG) == (0, 0):
                    return True
            self.pid = 0
        return False

    def close(self) -> None:
        """End the copy."""
        if self.lives():
            with contextlib.suppress(OSError):
                os.kill(self.pid, signal.SIGKILL)
                os.waitpid(self.pid, 0)
        self.pid = 0
        self.file.close()
