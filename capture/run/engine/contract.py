"""What an engine is asked and what it answers."""

from __future__ import annotations

import re
import signal
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

from capture.record.record import Status

KEPT = 64 * 1024  # bytes of a stream that are kept, as head and tail
OUTPUT_LIMIT = 64 * 1024 * 1024  # bytes of a stream at which the execution is ended
# Last words for lack of memory: of Python, NumPy and torch as exceptions, of torch's CPU allocator, of C++.
NO_MEMORY = re.compile(
    rb"^[\w.]*(?:MemoryError|OutOfMemoryError)\b|DefaultCPUAllocator: can't allocate memory"
    rb"|^ *what\(\): +std::bad_alloc"
)
Stopped = Literal["timeout", "output_limit", "out_of_memory", "interrupted"]


@dataclass(frozen=True)
class ExecutionRequest:
    """One execution of one snippet.

    `files` maps names in the working folder to what stands in them; `script` is one of them. `timeout` is in
    seconds, `memory` in bytes of resident size of the whole process tree. `seed` is given to Python and the
    modules of `seeded` before the script starts. What is compiled is kept in `compiled`, a folder, where one is given.
    """

    python: str
    script: str
    files: Mapping[str, bytes]
    env: Mapping[str, str]
    timeout: float
    memory: int
    seed: int | None = None
    seeded: tuple[str, ...] = ()
    compiled: Path | None = None


@dataclass(frozen=True)
class CapturedStream:
    """What was kept of one stream: the bytes, how many there were, and how many are left out between the two."""

    head: bytes
    tail: bytes
    total: int

    @property
    def left_out(self) -> int:
        """Bytes that are not kept."""
        return self.total - len(self.head) - len(self.tail)


@dataclass(frozen=True)
class ExecutionOutcome:
    """How one execution ended. `code` is negative where a signal ended it, as subprocess reports it.

    `work`, `home` and `temporary` are the private folders it ran in, whose paths must not be stored; `written` names
    the files that it left in the first. `forked` tells that it was no new interpreter.
    """

    code: int
    stopped: Stopped | None
    stdout: CapturedStream
    stderr: CapturedStream
    diagnostics: str
    left_processes: int
    seconds: float
    cpu_seconds: float
    peak_memory: int
    work: str
    home: str
    temporary: str
    written: tuple[str, ...] = ()
    forked: bool = False


class Process(Protocol):
    """The running main process of an execution, as `subprocess.Popen` and the forked engine provide it."""

    pid: int

    def wait(self, timeout: float | None = None) -> int:
        """Return the exit code; raises subprocess.TimeoutExpired."""

    def kill(self) -> None:
        """Send SIGKILL."""


# Starts the script of a request in its working folder, with an environment and descriptors for stdout and stderr.
Start = Callable[[ExecutionRequest, Path, dict[str, str], int, int], Process]


def status(outcome: ExecutionOutcome, expected: int) -> Status:
    """Name the way an execution ended; `expected` is the exit code that the snippet declares."""
    if outcome.stopped == "interrupted":
        raise AssertionError("an interrupted execution has no result")
    if outcome.stopped:
        return outcome.stopped
    if outcome.code == expected:
        return "ok"
    last = outcome.stderr.tail or outcome.stderr.head
    if NO_MEMORY.search(last.rstrip().rpartition(b"\n")[2]):
        return "out_of_memory"
    return "crashed" if is_crash(outcome.code) else "error"


def is_crash(code: int) -> bool:
    """Tell whether an exit code means that the system ended the process: a signal, or a Windows exception."""
    return code < 0 or code >= 0xC0000000


def signal_name(code: int) -> str | None:
    """Return `SIGSEGV` for -11, None for an ordinary exit code."""
    if code >= 0:
        return None
    try:
        return signal.Signals(-code).name
    except ValueError:
        return f"signal {-code}"
