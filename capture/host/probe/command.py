"""Run one short command that may hang, crash or never stop printing, and always come back."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import IO, Literal

import psutil

LIMIT = 8 << 20  # bytes a stream; a full report for hundreds of names is far below
POLL = 0.05  # seconds


@dataclass(frozen=True)
class CommandOutcome:
    """What a command printed and how it ended; `exit_code` is negative for a signal, as in subprocess."""

    ended: Literal["exited", "timeout", "output"]
    exit_code: int
    stdout: str
    stderr: str


def bounded(
    argv: Sequence[str],
    *,
    timeout: float,
    text: str = "",
    env: Mapping[str, str] | None = None,
    cwd: str | None = None,
) -> CommandOutcome:
    """Run a command in its own session with `text` as its input; end its whole group after `timeout` seconds.

    It is also ended once a stream exceeds `LIMIT` bytes. Output is decoded as UTF-8, undecodable bytes
    replaced. Raises OSError where the command cannot be started.
    """
    with tempfile.TemporaryFile() as source, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        source.write(text.encode("utf-8", "surrogateescape"))
        source.seek(0)
        # Files, not pipes: a grandchild that keeps a descriptor open cannot keep us waiting.
        process = subprocess.Popen(
            list(argv), stdin=source, stdout=out, stderr=err, env=env, cwd=cwd, start_new_session=True
        )
        try:
            ended = wait(process, time.monotonic() + timeout, (out, err))
        finally:
            _end_group(process)
        return CommandOutcome(ended, process.returncode or 0, _last_text(out), _last_text(err))


def wait(
    process: subprocess.Popen[bytes], deadline: float, streams: tuple[IO[bytes], ...]
) -> Literal["exited", "timeout", "output"]:
    """Return how the process ended, or which bound it reached."""
    while True:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(POLL)
            return "exited"
        if any(os.fstat(stream.fileno()).st_size > LIMIT for stream in streams):
            return "output"
        if time.monotonic() >= deadline:
            return "timeout"


def _end_group(process: subprocess.Popen[bytes]) -> None:
    """Kill what is left of the process's group; one stuck in the kernel is left behind after a second."""
    if sys.platform == "win32":
        with contextlib.suppress(psutil.Error):
            for child in psutil.Process(process.pid).children(recursive=True):
                with contextlib.suppress(psutil.Error):
                    child.kill()
        process.kill()
    else:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(1.0)


def _last_text(stream: IO[bytes]) -> str:
    """Return the last `LIMIT` bytes of a stream as text."""
    size = os.fstat(stream.fileno()).st_size
    stream.seek(max(0, size - LIMIT))
    return stream.read(LIMIT).decode("utf-8", "replace")
