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
from pathlib import Path
from typing import IO

import psutil

from capture.errors import CaptureError, HostBroken
from capture.host import child_environment
from capture.run.engine import process_family, streams
from capture.run.engine.contract import (
    OUTPUT_LIMIT,
    ExecutionOutcome,
    ExecutionRequest,
    Process,
    Start,
    Stopped,
    is_crash,
)

SEEDING = Path(__file__).with_name("seeding")  # holds a sitecustomize.py, which Python imports before a script
POLL = 0.02  # seconds between looks at the clock and the sizes
SAMPLE = 0.1  # seconds between looks at memory, which costs more
ABANDONED = 2 * 3600.0  # seconds; a snippet's limit is at most an hour
SAMPLE_SHARE = 0.05  # of the time, at most, is spent on them
DEATH = 10.0  # seconds until a process is gone that was killed
LISTED = 20  # files


def execute(request: ExecutionRequest, stop: threading.Event, begin: Start | None = None) -> ExecutionOutcome:
    """Execute once and return how it ended; nothing of it runs afterwards and its folders are gone.

    `stop` ends it early, `begin` starts the script in another way than by a new interpreter. Raises HostBroken when
    the interpreter cannot be started, CaptureError when no temporary folder can be made.
    """
    try:
        root = Path(tempfile.mkdtemp(prefix=f"capture-{os.getpid()}-"))
    except OSError as error:
        raise CaptureError(
            f"no temporary folder: {error.strerror}; free space or set TMPDIR, then run again"
        ) from error
    try:
        return _execute_in(root, request, stop, begin or start)
    except OSError as error:
        raise CaptureError(f"the execution failed: {error.strerror or error}; free space, then run again") from error
    finally:
        remove(root)


def _folders_for(root: Path, request: ExecutionRequest) -> tuple[Path, Path, Path]:
    """Make the working folder, with copies of the request's files, a home and a temporary folder, and return them."""
    work, home, temporary = root / "work", root / "home", root / "tmp"
    for folder in (work, home, temporary):
        folder.mkdir()
    for name, data in request.files.items():
        (work / name).parent.mkdir(parents=True, exist_ok=True)
        (work / name).write_bytes(data)
    return work, home, temporary


def _execute_in(root: Path, request: ExecutionRequest, stop: threading.Event, begin: Start) -> ExecutionOutcome:
    """Execute in a folder that holds the working folder, a home, a temporary folder and the captured streams."""
    work, home, temporary = _folders_for(root, request)
    mark = process_family.new_mark()
    env = child_environment.of_snippet(os.environ, request.env, home, temporary, request.compiled)
    env[process_family.MARK] = mark
    killed_before = process_family.kernel_memory_kills()
    with streams.piped(root) as (out, err):
        started = time.monotonic()
        process = begin(request, work, env, out.writer, err.writer)
        out.release()
        err.release()
        collector = streams.Collector((out, err))
        family = process_family.Family(process.pid, mark, root)
        at_limit = 0
        try:
            watcher = Watcher(process, family, (out.file, err.file), request, stop, started)
            stopped = watcher.watch()
            if stopped == "timeout":
                at_limit = streams.size(err.file)
                _ask_where(process)
            if stopped:
                end_main(process)
        except BaseException:
            # Whatever went wrong here, nothing may outlive the execution.
            try:
                end_main(process)
            finally:
                family.end(grace=0.0)
                collector.finish()
            raise
        code = process.wait(DEATH)
        seconds = time.monotonic() - started
        left = family.end(grace=0.0 if stopped else 0.5)
        collector.finish()
        stopped = "output_limit" if not stopped and watcher.floods() else stopped
        if not stopped and code == -9 and process_family.kernel_memory_kills() > killed_before:
            stopped = "out_of_memory"
        stderr, diagnostics = streams.read_stream(err.file), ""
        if stopped == "timeout" or (not stopped and is_crash(code)):
            stderr, diagnostics = streams.split_report(err.file, at_limit)
        return ExecutionOutcome(
            code=code, stopped=stopped, stdout=streams.read_stream(out.file), stderr=stderr, diagnostics=diagnostics,
            left_processes=0 if stopped else left, seconds=seconds, cpu_seconds=watcher.cpu, peak_memory=watcher.peak,
            work=str(work), home=str(home), temporary=str(root), written=_written(work, request),
        )  # fmt: skip


def _written(work: Path, request: ExecutionRequest) -> tuple[str, ...]:
    """Name the files that an execution left in its working folder, some of them where they are many."""
    found = []
    for folder, folders, names in os.walk(work):
        folders[:] = sorted(name for name in folders if name != "__pycache__")
        inside = Path(folder).relative_to(work)
        found += [name for entry in sorted(names) if (name := (inside / entry).as_posix()) not in request.files]
        if len(found) > LISTED:
            break
    return tuple(found[:LISTED])


def start(request: ExecutionRequest, work: Path, env: dict[str, str], out: int, err: int) -> subprocess.Popen[bytes]:
    """Start the interpreter with the script; raises HostBroken when it cannot be."""
    if request.seed is not None:
        names = ",".join(request.seeded)
        env = env | {"PYTHONPATH": str(SEEDING), "CAPTURE_SEED": f"{request.seed}:{names}"}
    # faulthandler reports where each thread stands when a time limit ends the process with SIGABRT.
    command = [request.python, "-X", "faulthandler", str(work / request.script)]
    try:
        process = subprocess.Popen(
            command, cwd=work, env=env, stdin=subprocess.DEVNULL, stdout=out, stderr=err, start_new_session=True
        )
    except OSError as error:
        raise HostBroken(
            f"cannot start {Path(request.python).name}: {error.strerror}; pass --python PATH of an interpreter"
        ) from error
    no_core_file(process.pid)
    return process


class Watcher:
    """Watches one process until it ends or must be ended."""

    def __init__(
        self,
        process: Process,
        family: process_family.Family,
        captured: tuple[IO[bytes], IO[bytes]],
        request: ExecutionRequest,
        stop: threading.Event,
        started: float,
    ) -> None:
        self.process, self.family, self.captured = process, family, captured
        self.request, self.stop, self.started = request, stop, started
        self.peak = 0
        self.cpu = 0.0

    def watch(self) -> Stopped | None:
        """Return why the process must be ended, or None when it ended by itself within its limits."""
        due = self.started
        while True:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(POLL)
                return "output_limit" if self.floods() else None
            now = time.monotonic()
            if self.stop.is_set():
                return "interrupted"
            if self.floods():
                return "output_limit"
            if now - self.started > self.request.timeout:
                return "timeout"
            if now >= due:
                if self.starves():
                    return "out_of_memory"
                # On a machine with thousands of processes a look takes long; it must not disturb what is timed.
                due = now + max(SAMPLE, (time.monotonic() - now) / SAMPLE_SHARE)

    def floods(self) -> bool:
        """Tell whether a stream is beyond its limit."""
        return max(map(streams.size, self.captured)) > OUTPUT_LIMIT

    def starves(self) -> bool:
        """Measure memory and CPU time, and tell whether memory is beyond its limit."""
        resident, cpu = self.family.usage()
        if resident > self.request.memory:  # forked processes share pages, which are counted once here
            resident = self.family.footprint()
        self.peak, self.cpu = max(self.peak, resident), max(self.cpu, cpu)
        return resident > self.request.memory


def end_main(process: Process) -> None:
    """Kill the main process with its group."""
    process_family.kill_group(process.pid)
    with contextlib.suppress(OSError):
        process.kill()
    try:
        process.wait(DEATH)
    except subprocess.TimeoutExpired as error:  # within a driver or a dead network drive
        raise CaptureError(
            f"process {process.pid} cannot be ended: the system does not let go of it; restart this machine"
        ) from error


def _ask_where(process: Process) -> None:
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
            hard = resource.prlimit(pid, resource.RLIMIT_CORE)[1]
            resource.prlimit(pid, resource.RLIMIT_CORE, (0, hard))


def remove_abandoned(age: float = ABANDONED) -> None:
    """Remove the folders of runs that were killed.

    Their process is gone, and they are older than any execution may last: the number may be of another container.
    """
    with contextlib.suppress(OSError):
        for folder in Path(tempfile.gettempdir()).glob("capture-*-*"):
            number = folder.name.split("-")[1]
            if number.isdigit() and not psutil.pid_exists(int(number)) and time.time() - folder.stat().st_mtime > age:
                remove(folder)


def remove(root: Path) -> None:
    """Remove a folder, also where the snippet took the permission to do so."""
    shutil.rmtree(root, ignore_errors=True)
    if root.is_dir():
        for folder, _, _ in os.walk(root):
            with contextlib.suppress(OSError):
                Path(folder).chmod(0o700)
        shutil.rmtree(root, ignore_errors=True)
