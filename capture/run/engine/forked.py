"""The forked engine: a server that has imported torch forks one process for each execution, under the same contract."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import tempfile
import threading
import time
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil

from capture.host import child_environment
from capture.run.engine import fresh, process_family
from capture.run.engine.contract import ExecutionOutcome, ExecutionRequest

SERVER = Path(__file__).with_name("fork_server.py")
START_LIMIT = 120.0  # seconds for importing torch and what else is asked for
ANSWER_LIMIT = 10.0  # seconds for a fork
BEAT = 0.1  # seconds between looks at whether a run is stopped
LAST_WORDS = 5.0  # seconds for the news of an end
EXITS = re.compile(rb"\b(?:SystemExit|exit|quit|argparse|unittest)\b")
LARGEST = 1 << 20  # bytes of an answer
DEEPEST = 64 << 20  # bytes of stack, where the system sets no limit


class ServerLost(Exception):
    """The server did not start, died or does not answer; the execution can be repeated in a fresh interpreter."""


class Server:
    """One server process; several threads may execute through it at once."""

    def __init__(self, python: str, preload: Sequence[str]) -> None:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.folder = tempfile.TemporaryDirectory(prefix="capture-server-", ignore_cleanup_errors=True)
        home = Path(self.folder.name)
        self.printed = home / "printed"
        env = child_environment.of_snippet(os.environ, {}, home, home) | {process_family.MARK: process_family.server()}
        given = (str(theirs.fileno()), ",".join(sorted(set(preload))), str(_stack_size()))
        command = [python, "-X", "faulthandler", str(SERVER), *given]
        try:
            with self.printed.open("wb") as printed:
                self.process = subprocess.Popen(
                    command, cwd=home, env=env, stdin=subprocess.DEVNULL, stdout=printed, stderr=printed,
                    pass_fds=(theirs.fileno(),), start_new_session=True,
                )  # fmt: skip
        except OSError as error:
            ours.close()
            self.folder.cleanup()
            raise ServerLost(error.strerror or type(error).__name__) from error
        finally:
            theirs.close()
        self.socket = ours
        self.lock = threading.Lock()
        self.children: dict[str, Child] = {}
        self.modules: frozenset[str] = frozenset()
        self.exits = False
        self.lost = ""
        self.ready = threading.Event()
        self.reader = threading.Thread(target=self.hand_on, daemon=True)
        self.reader.start()

    def hand_on(self) -> None:
        """Hand each answer to the execution it is for, until the server ends."""
        with contextlib.suppress(OSError, ValueError):
            while data := self.socket.recv(LARGEST):
                self.take(json.loads(data))
        self.lost = self.lost or "the server ended"
        self.ready.set()
        with self.lock:
            for child in self.children.values():
                child.abandon()

    def take(self, message: dict[str, Any]) -> None:
        """Take one answer."""
        if "ready" in message:
            self.modules, self.exits = frozenset(message["modules"]), message["exits"]
            self.lost = message["failure"] or ""
            if not self.lost and self.printed.stat().st_size:  # which each script's own import would print
                self.lost = "importing torch prints something"
            self.ready.set()
            return
        with self.lock:
            child = self.children.get(message["id"])
        if child is None:
            return
        if "pid" in message:
            child.started(message["pid"])
        else:
            child.ended(message["code"])

    def suits(self, request: ExecutionRequest, stop: threading.Event) -> bool:
        """Tell whether a process that this server forks would do what a new interpreter does.

        Not where a file of the working folder bears the name of a module that has been imported already, nor where a
        script may end by SystemExit and a forked interpreter of this version cannot.
        """
        self.awaited(self.ready, START_LIMIT, stop)
        if any(name.partition("/")[0].removesuffix(".py") in self.modules for name in request.files):
            return False
        return self.exits or not EXITS.search(request.files[request.script])

    def awaited(self, event: threading.Event, limit: float, stop: threading.Event | None) -> bool:
        """Wait for an event of the server's, until a limit or somebody stops the run; tell whether it has happened."""
        deadline = time.monotonic() + limit
        while not event.wait(BEAT) and time.monotonic() < deadline and not (stop and stop.is_set()):
            self.wake()
        return event.is_set()

    def start(self, message: dict[str, Any], streams: Sequence[int], stop: threading.Event | None = None) -> Child:
        """Let the server fork a process with three standard streams; raises ServerLost when it does not."""
        if not self.awaited(self.ready, START_LIMIT, stop):
            self.lost = f"importing torch took more than {START_LIMIT:.0f} s"
        name = uuid.uuid4().hex
        child = Child(self)
        with self.lock:
            if self.lost:
                raise ServerLost(self.lost)
            self.children[name] = child
            try:
                socket.send_fds(self.socket, [json.dumps({"id": name, **message}).encode()], list(streams))
            except OSError as error:
                raise ServerLost("the server ended") from error
        if not self.awaited(child.begun, ANSWER_LIMIT, stop) or not child.pid:
            self.lost = self.lost or f"no answer in {ANSWER_LIMIT:.0f} s"
            raise ServerLost(self.lost)
        return child

    def execute(self, request: ExecutionRequest, stop: threading.Event) -> ExecutionOutcome:
        """Execute once, as `fresh.execute` does; raises ServerLost when the server is lost meanwhile."""

        def start(asked: ExecutionRequest, work: Path, env: dict[str, str], out: int, err: int) -> Child:
            message: dict[str, Any] = {"script": str(work / asked.script), "work": str(work), "env": env}
            message |= {"seed": asked.seed, "seeded": list(asked.seeded)}
            with Path(os.devnull).open("rb") as nothing:
                child = self.start(message, (nothing.fileno(), out, err), stop)
            fresh.no_core_file(child.pid)
            return child

        return replace(fresh.execute(request, stop, start), forked=True)

    def output_of(self, script: Path, text: str, env: Mapping[str, str], timeout: float) -> str:
        """Return what a script of ours prints in a forked process; raises ServerLost when it does not end in time."""
        home = Path(self.folder.name)
        message: dict[str, Any] = {
            "script": str(script),
            "work": str(home),
            "env": dict(env),
            "seed": None,
            "seeded": [],
        }
        with (
            tempfile.TemporaryFile(dir=home) as given,
            tempfile.TemporaryFile(dir=home) as printed,
            Path(os.devnull).open("wb") as complaints,
        ):
            given.write(text.encode())
            given.seek(0)
            child = self.start(message, (given.fileno(), printed.fileno(), complaints.fileno()))
            try:
                child.wait(timeout)
            except subprocess.TimeoutExpired as error:
                fresh.end_main(child)
                raise ServerLost(f"{script.name} did not end in {timeout:g} s") from error
            printed.seek(0)
            return printed.read().decode("utf-8", "replace")

    def wake(self) -> None:
        """Let the server go on where a snippet has stopped it, its parent, which all others wait for."""
        with contextlib.suppress(psutil.Error, OSError):
            if psutil.Process(self.process.pid).status() == psutil.STATUS_STOPPED:
                self.process.send_signal(signal.SIGCONT)

    def close(self) -> None:
        """End the server; what it forked has ended before."""
        with contextlib.suppress(OSError):
            self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()
        try:
            self.process.wait(2)
        except subprocess.TimeoutExpired:
            self.process.kill()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(LAST_WORDS)
        self.folder.cleanup()


def _stack_size() -> int:
    """Return the bytes of stack that a main thread gets here, so that a forked script recurses as deep as in one."""
    import resource

    limit = resource.getrlimit(resource.RLIMIT_STACK)[0]
    return DEEPEST if limit == resource.RLIM_INFINITY else max(min(limit, DEEPEST) // 4096 * 4096, 1 << 20)


class Child:
    """A forked process, waited for through the server; the part of `subprocess.Popen` that the engine uses."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.pid = 0
        self.returncode: int | None = None
        self.gone = False
        self.begun = threading.Event()
        self.done = threading.Event()

    def started(self, pid: int) -> None:
        """Take its process number."""
        self.pid = pid
        self.begun.set()

    def ended(self, code: int) -> None:
        """Take its exit code, negative for a signal."""
        self.returncode = code
        self.done.set()

    def abandon(self) -> None:
        """Give up on it: the server that would tell how it ends is gone."""
        if not self.done.is_set():
            self.gone = True
            self.begun.set()
            self.done.set()

    def wait(self, timeout: float | None = None) -> int:
        """Return the exit code; raises TimeoutExpired as Popen does, ServerLost when nobody will ever tell it."""
        if not self.done.wait(timeout):
            self.server.wake()
            raise subprocess.TimeoutExpired("a forked snippet", timeout or 0.0)
        if self.gone or self.returncode is None:
            raise ServerLost("the server ended")
        return self.returncode

    def kill(self) -> None:
        """Kill it."""
        if self.returncode is None and self.pid:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, 9)
