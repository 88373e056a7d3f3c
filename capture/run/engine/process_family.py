"""The processes of one execution: finding all of them, measuring them, ending them."""

from __future__ import annotations

import contextlib
import ctypes
import os
import re
import signal
import sys
import time
import uuid
from pathlib import Path

import psutil

MARK = "CAPTURE_EXECUTION"  # inherited by every process of an execution, also by one that left its session
_CLOCKS_APART = 2.0  # seconds at most between this process's clock and the one that tells when processes started
_CHILD_SUBREAPER = 36  # PR_SET_CHILD_SUBREAPER of <linux/prctl.h>


class Family:
    """The main process of an execution and everything it started, also what left its session or its parent.

    They descend from it when looked at, share its session, carry its mark in their environment, or came to this
    process when they lost their parent and stand in the execution's folder or hold its streams.
    """

    def __init__(self, main: int, mark: str, folder: Path) -> None:
        self.main, self.mark, self.folder = main, mark, str(folder)
        self.seen: dict[int, psutil.Process] = {}
        # Process numbers are reused; nothing that is older than the main process belongs to it.
        self.since = time.time() - 5
        with contextlib.suppress(psutil.Error):
            self.since = psutil.Process(main).create_time() - 0.05

    def usage(self) -> tuple[int, float]:
        """Return (resident bytes, CPU seconds) of the main process and its living descendants, and remember them."""
        resident, cpu = 0, 0.0
        for process in self.tree():
            with contextlib.suppress(psutil.Error):
                with process.oneshot():
                    resident += process.memory_info().rss
                    times = process.cpu_times()
                cpu += times.user + times.system
                if process.pid == self.main:  # what its ended children used, which it has waited for
                    cpu += getattr(times, "children_user", 0.0) + getattr(times, "children_system", 0.0)
        return resident, cpu

    def footprint(self) -> int:
        """Return resident bytes with shared pages counted once, where the system tells; slower than `usage`."""
        return sum(_proportional(process) for process in self.tree())

    def tree(self) -> list[psutil.Process]:
        """Return the main process and its living descendants."""
        try:
            main = psutil.Process(self.main)
            below = main.children(recursive=True)
        except psutil.Error:
            return []
        self.seen |= {process.pid: process for process in below}
        return [main, *below]

    def left(self) -> list[psutil.Process]:
        """Return the living processes other than the main one."""
        family = {pid: process for pid, process in self.seen.items() if _living(process)}
        for pid in psutil.pids():
            if pid in family or pid in (self.main, os.getpid()):
                continue
            with contextlib.suppress(psutil.Error, OSError):
                process = psutil.Process(pid)
                if process.create_time() < self.since:
                    continue
                if session(pid) == self.main or _mark_of(process) == self.mark or self.is_adopted(process):
                    family[pid] = process
        self.seen |= family
        return [process for process in family.values() if _living(process)]

    def is_adopted(self, process: psutil.Process) -> bool:
        """Tell whether a process has lost its parent and stands in the folder of this execution."""
        return is_orphan(process) and process.cwd().startswith(self.folder)

    def end(self, grace: float) -> int:
        """End everything that is left once the main process has ended, and return how many processes that were.

        Helpers that are already on their way out, such as multiprocessing's resource tracker, get `grace` seconds.
        """
        left = self.left()
        deadline = time.monotonic() + grace
        while left and time.monotonic() < deadline:
            time.sleep(0.02)
            left = [process for process in left if _living(process)] or self.left()
        counted = len(left)
        kill_group(self.main)  # all at once: a chain of short-lived processes outruns any search
        deadline = time.monotonic() + 5
        while left and time.monotonic() < deadline:
            for process in left:
                with contextlib.suppress(psutil.Error):
                    process.kill()
            time.sleep(0.01)
            left = self.left()  # a dying process may have started another
        for pid in (self.main, *self.seen):
            with contextlib.suppress(psutil.Error):
                psutil.Process(pid).wait(0)  # one that this process adopted stays as a zombie otherwise
        return counted


def new_mark() -> str:
    """Return a mark for one execution; it names this process, so that a later run knows whether that still lives."""
    return f"{os.getpid()}-{uuid.uuid4().hex}"


def server() -> str:
    """Return the mark of a fork server of this process; what it forks shows the same, whatever it sets itself."""
    return f"{os.getpid()}-server"


def adopt_orphans(adopt: bool = True) -> None:
    """Let what loses its parent become a child of this process, or no longer, where the system can do that (Linux).

    So a process that leaves its session, parent and environment behind is still found.
    """
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_CHILD_SUBREAPER, int(adopt), 0, 0, 0)


def is_orphan(process: psutil.Process) -> bool:
    """Tell whether a process is a child of this one that it has not started: of another session, without a mark.

    What a fork server forked has the server's mark, whatever it did to its environment; so has the server.
    """
    if process.ppid() != os.getpid() or session(process.pid) in (session(os.getpid()), None):
        return False
    return _mark_of(process) in ("", server())


def _mark_of(process: psutil.Process) -> str:
    """Return the mark in the environment of a process, or nothing."""
    with contextlib.suppress(psutil.Error, OSError):
        return str(process.environ().get(MARK, ""))
    return ""


def end_orphans(since: float) -> int:
    """End what came to this process since a time, once no execution runs and no server; return how many processes."""
    ended = 0
    with contextlib.suppress(psutil.Error):
        for process in psutil.Process().children():
            with contextlib.suppress(psutil.Error, OSError):
                if process.create_time() > since - _CLOCKS_APART and is_orphan(process):
                    ended += _living(process)
                    process.kill()
                    process.wait(5)
    return ended


def end_abandoned() -> int:
    """End what executions left whose runner was killed before it could do so; return how many processes."""
    ended = 0
    for pid in psutil.pids():
        with contextlib.suppress(psutil.Error, OSError, ValueError):
            process = psutil.Process(pid)
            mark = process.environ().get(MARK, "")
            if mark and not _is_older(int(mark.partition("-")[0]), process):
                process.kill()
                ended += 1
    return ended


def _is_older(pid: int, child: psutil.Process) -> bool:
    """Tell whether a process of this number lives and may have started the child; a reused number is younger."""
    try:
        return _living(runner := psutil.Process(pid)) and runner.create_time() <= child.create_time()
    except psutil.NoSuchProcess:
        return False


def session(pid: int) -> int | None:
    """Return the session of a process, None where there is no such thing (Windows)."""
    if not hasattr(os, "getsid"):
        return None
    return os.getsid(pid)


def _living(process: psutil.Process) -> bool:
    """Tell whether a process still runs; a zombie does not."""
    try:
        return process.is_running() and process.status() not in (psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD)
    except psutil.Error:
        return False


def _proportional(process: psutil.Process) -> int:
    """Return a process's resident bytes, its shared pages divided by the processes that share them (Linux)."""
    with contextlib.suppress(OSError):
        match = re.search(r"^Pss:\s+(\d+) kB", Path(f"/proc/{process.pid}/smaps_rollup").read_text("ascii"), re.M)
        if match:
            return int(match[1]) * 1024
    with contextlib.suppress(psutil.Error):
        return int(process.memory_info().rss)
    return 0


def kernel_memory_kills() -> int:
    """Return how many processes Linux has killed for lack of memory since it started; 0 elsewhere."""
    with contextlib.suppress(OSError):
        match = re.search(r"^oom_kill (\d+)", Path("/proc/vmstat").read_text("ascii"), re.MULTILINE)
        return int(match[1]) if match else 0
    return 0


def kill_group(pid: int) -> None:
    """Send SIGKILL to a process group, if there still is one."""
    if hasattr(os, "killpg"):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(pid, signal.SIGKILL)
