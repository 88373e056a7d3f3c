"""The fresh engine: one new interpreter for each execution, in its own folder, session and environment."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from pathlib import Path

from capture import environment
from capture.engine import processes
from capture.engine.contract import KEPT, OUTPUT_LIMIT, Outcome, Request, Stopped, Stream
from capture.errors import CaptureError, HostBroken

POLL = 0.02  # seconds between looks at the clock and the sizes
SAMPLE = 0.1  # seconds between looks at memory, which costs more
FATAL = b"Fatal Python error: "  # where faulthandler's report begins


def execute(request: Request, stop: threading.Event) -> Outcome:
    """Execute once and return how it ended; nothing of it runs afterwards and its folders are gone.

    `stop` ends it early. Raises HostBroken when the interpreter cannot be started, CaptureError when no temporary
    folder can be made.
    """
    try:
        root = Path(tempfile.mkdtemp(prefix="capture-"))
    except OSError as error:
        raise CaptureError(
            f"no temporary folder: {error.strerror}; free space or set TMPDIR, then run again"
        ) from error
    try:
        return execute_in(root, request, stop)
    except OSError as error:
        raise CaptureError(f"the execution failed: {error.strerror or error}; free space, then run again") from error
    finally:
        shutil.rmtree(root, ignore_errors=True)


def execute_in(root: Path, request: Request, stop: threading.Event) -> Outcome:
    """Execute in a folder that holds the working folder, a home, a temporary folder and the captured streams."""
    work, home, temporary = (root / name for name in ("work", "home", "tmp"))
    for folder in (work, home, temporary):
        folder.mkdir()
    for name, source in request.files.items():
        (work / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, work / name)
    mark = uuid.uuid4().hex
    env = environment.of_snippet(os.environ, request.env, home, temporary) | {processes.MARK: mark}
    # faulthandler reports where each thread stands when a time limit ends the process with SIGABRT.
    command = [request.python, "-X", "faulthandler", str(work / request.script)]
    since, started = time.time(), time.monotonic()
    with (root / "stdout").open("wb") as out, (root / "stderr").open("wb") as err:
        try:
            process = subprocess.Popen(
                command,
                cwd=work,
                env=env,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                start_new_session=True,
            )
        except OSError as error:
            raise HostBroken(
                f"cannot start {Path(request.python).name}: {error.strerror}; pass --python PATH of an interpreter"
            ) from error
    no_core_file(process.pid)
    try:
        watcher = Watcher(process, root, request, stop, started)
        stopped = watcher.watch()
        at_limit = (root / "stderr").stat().st_size
        if stopped == "timeout":
            ask_where(process)
        if stopped:
            end_main(process)
    except BaseException:
        # Whatever went wrong here, nothing may outlive the execution.
        end_main(process)
        processes.end(process.pid, mark, since, grace=0.0)
        raise
    code = process.wait()
    seconds = time.monotonic() - started
    left = processes.end(process.pid, mark, since, grace=0.0 if stopped else 0.5)
    stderr, diagnostics = split_report(root / "stderr", at_limit if stopped == "timeout" else 0)
    return Outcome(
        code=code, stopped=stopped, stdout=read_stream(root / "stdout"), stderr=stderr, diagnostics=diagnostics,
        left_processes=0 if stopped else left, seconds=seconds, cpu_seconds=watcher.cpu, peak_memory=watcher.peak,
        work=str(work), home=str(home), temporary=str(root),
    )  # fmt: skip


class Watcher:
    """Watches one process until it ends or must be ended."""

    def __init__(
        self,
        process: subprocess.Popen[bytes],
        root: Path,
        request: Request,
        stop: threading.Event,
        started: float,
    ) -> None:
        self.process, self.root, self.request, self.stop, self.started = process, root, request, stop, started
        self.peak = 0
        self.cpu = 0.0

    def watch(self) -> Stopped | None:
        """Return why the process must be ended, or None when it ended by itself."""
        sampled = self.started
        while True:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(POLL)
                return None
            now = time.monotonic()
            if self.stop.is_set():
                return "interrupted"
            if max((self.root / name).stat().st_size for name in ("stdout", "stderr")) > OUTPUT_LIMIT:
                return "output_limit"
            if now - self.started > self.request.timeout:
                return "timeout"
            if now - sampled >= SAMPLE:
                sampled = now
                resident, cpu = processes.tree_usage(self.process.pid)
                self.peak, self.cpu = max(self.peak, resident), max(self.cpu, cpu)
                if resident > self.request.memory:
                    return "out_of_memory"


def end_main(process: subprocess.Popen[bytes]) -> None:
    """Kill the main process with its group."""
    processes.kill_group(process.pid)
    with contextlib.suppress(OSError):
        process.kill()
    process.wait()


def ask_where(process: subprocess.Popen[bytes]) -> None:
    """Let faulthandler write where every thread stands, then give it a moment to end."""
    if os.name == "posix":
        with contextlib.suppress(ProcessLookupError):
            os.kill(process.pid, signal.SIGABRT)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(1.0)


def no_core_file(pid: int) -> None:
    """Keep a crash from writing a core file of the size of the process."""
    if sys.platform == "linux":
        import resource

        with contextlib.suppress(OSError, ValueError):
            resource.prlimit(pid, resource.RLIMIT_CORE, (0, 0))


def read_stream(path: Path, end: int | None = None) -> Stream:
    """Return head and tail of a captured file, KEPT bytes in all, cut at line ends where lines are short."""
    total = path.stat().st_size if end is None else end
    with path.open("rb") as file:
        if total <= KEPT:
            return Stream(file.read(total), b"", total)
        head = file.read(KEPT // 2)
        file.seek(total - KEPT // 2)
        tail = file.read(KEPT // 2)
    if b"\n" in head[-4096:]:
        head = head[: head.rindex(b"\n") + 1]
    if b"\n" in tail[:4096]:
        tail = tail[tail.index(b"\n") + 1 :]
    # Otherwise a character may be cut in two; give up its bytes.
    while head and head[-1] & 0xC0 == 0x80 and not head.endswith(b"\n"):
        head = head[:-1]
    if head and head[-1] >= 0xC0:
        head = head[:-1]
    while tail and tail[0] & 0xC0 == 0x80:
        tail = tail[1:]
    return Stream(head, tail, total)


def split_report(path: Path, start: int) -> tuple[Stream, str]:
    """Return stderr without faulthandler's report, and the report.

    The report starts at or after `start`, on a line of its own.
    """
    stream = read_stream(path)
    data = stream.tail or stream.head
    offset = stream.total - len(data)
    position = data.find(FATAL, max(0, start - offset))
    if position < 0 or (position > 0 and data[position - 1 : position] != b"\n"):
        return stream, ""
    report = data[position:].decode("utf-8", "backslashreplace")
    return read_stream(path, end=offset + position), report
