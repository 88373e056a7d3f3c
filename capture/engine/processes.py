"""The processes of one execution: finding all of them, measuring them, ending them."""

from __future__ import annotations

import contextlib
import os
import signal
import time

import psutil

MARK = "CAPTURE_EXECUTION"  # inherited by every process of an execution, also by one that left its session
GONE = (psutil.NoSuchProcess, psutil.ZombieProcess)


def members(pid: int, mark: str, since: float) -> list[psutil.Process]:
    """Return the living processes of an execution other than its main one.

    They share its session, carry its mark in their environment, or descend from it; `since` (epoch seconds) limits
    the search to younger processes, because process numbers are reused.
    """
    found: dict[int, psutil.Process] = {}
    with contextlib.suppress(psutil.Error):
        for process in psutil.Process(pid).children(recursive=True):
            found[process.pid] = process
    for process in psutil.process_iter():
        if process.pid in (pid, os.getpid()) or process.pid in found:
            continue
        with contextlib.suppress(psutil.Error, OSError):
            if process.create_time() < since - 1:
                continue
            if session(process.pid) == pid or process.environ().get(MARK) == mark:
                found[process.pid] = process
    return [process for process in found.values() if living(process)]


def session(pid: int) -> int | None:
    """Return the session of a process, None where there is no such thing (Windows)."""
    if not hasattr(os, "getsid"):
        return None
    return os.getsid(pid)


def living(process: psutil.Process) -> bool:
    """Tell whether a process still runs; a zombie does not."""
    try:
        return process.is_running() and process.status() not in (psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD)
    except psutil.Error:
        return False


def tree_usage(pid: int) -> tuple[int, float]:
    """Return (resident bytes, CPU seconds) of a process and its living descendants."""
    resident, cpu = 0, 0.0
    try:
        main = psutil.Process(pid)
        processes = [main, *main.children(recursive=True)]
    except psutil.Error:
        return 0, 0.0
    for process in processes:
        with contextlib.suppress(psutil.Error):
            with process.oneshot():
                resident += process.memory_info().rss
                times = process.cpu_times()
            cpu += times.user + times.system
            if process is main:  # what its ended children used, which it has waited for
                cpu += getattr(times, "children_user", 0.0) + getattr(times, "children_system", 0.0)
    return resident, cpu


def end(pid: int, mark: str, since: float, grace: float) -> int:
    """End everything an execution left and return how many processes that were.

    Helpers that are already on their way out, such as multiprocessing's resource tracker, get `grace` seconds.
    """
    left = members(pid, mark, since)
    deadline = time.monotonic() + grace
    while left and time.monotonic() < deadline:
        time.sleep(0.02)
        left = [process for process in left if living(process)]
    counted = len(left)
    deadline = time.monotonic() + 5
    while left and time.monotonic() < deadline:
        kill_group(pid)
        for process in left:
            with contextlib.suppress(psutil.Error):
                process.kill()
        time.sleep(0.01)
        left = members(pid, mark, since)  # a dying process may have started another
    return counted


def kill_group(pid: int) -> None:
    """Send SIGKILL to a process group, if there still is one."""
    if hasattr(os, "killpg"):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(pid, signal.SIGKILL)
