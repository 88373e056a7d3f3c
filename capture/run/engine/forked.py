"""The forked engine: a server that has imported torch forks one process for each execution, under the same contract."""

from __future__ import annotations

import contextlib
import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import threading
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any

from capture.host import child_environment
from capture.run.engine import fresh
from capture.run.engine.contract import ExecutionOutcome, ExecutionRequest
from capture.snippet.snippet import Snippet

SERVER = Path(__file__).with_name("fork_server.py")
START_LIMIT = 120.0  # seconds for importing torch and what else is asked for
ANSWER_LIMIT = 10.0  # seconds for a fork
# What starts processes of its own, or is about starting, imports or the interpreter itself, gets a fresh one.
OWN_PROCESS = re.compile(
    r"\b(?:multiprocessing|subprocess|torch\.distributed|num_workers|ctypes|faulthandler|atexit|importlib|inspect"
    r"|os\.(?:fork|spawn|exec|posix_spawn|_exit)|sys\.(?:modules|flags|meta_path|_getframe|settrace|setprofile)"
    r"|torch\.compile|torch\._dynamo|set_num_interop_threads|print_stack|stacklevel)\b"
)


class ServerLost(Exception):
    """The server did not start, died or does not answer; the execution can be repeated in a fresh interpreter."""


def unsuitable(snippet: Snippet) -> str:
    """Say why a snippet needs a fresh interpreter, or nothing when a forked one serves as well."""
    if not hasattr(os, "fork") or sys.platform == "darwin":
        return "forking after imports is not safe on this platform"
    if snippet.timing:
        return "it times"
    if snippet.env:
        return "it sets its environment, which torch may read when imported"
    if devices := [gate for gate in snippet.needs if not gate.startswith(("!", "module:", "two_cpus"))]:
        return f"it needs {', '.join(devices)}"
    if "torch" not in snippet.packages:
        return "it does not use torch"
    if match := OWN_PROCESS.search(snippet.source):
        return f"it uses {match[0]}"
    return ""


class Server:
    """One server process; several threads may execute through it at once."""

    def __init__(self, python: str, preload: Sequence[str]) -> None:
        ours, theirs = socket.socketpair()
        self.folder = tempfile.TemporaryDirectory(prefix="capture-server-", ignore_cleanup_errors=True)
        home = Path(self.folder.name)
        env = child_environment.of_snippet(os.environ, {}, home, home)
        command = [python, "-X", "faulthandler", str(SERVER), str(theirs.fileno()), ",".join(sorted(set(preload)))]
        try:
            self.process = subprocess.Popen(
                command, cwd=home, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL, pass_fds=(theirs.fileno(),), start_new_session=True,
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
        self.lost = ""
        self.ready = threading.Event()
        self.reader = threading.Thread(target=self.hand_on, daemon=True)
        self.reader.start()

    def hand_on(self) -> None:
        """Hand each answer to the execution it is for, until the server ends."""
        pending = b""
        with contextlib.suppress(OSError, ValueError):
            while data := self.socket.recv(1 << 16):
                *lines, pending = (pending + data).split(b"\n")
                for line in lines:
                    self.take(json.loads(line))
        self.lost = self.lost or "the server ended"
        self.ready.set()
        with self.lock:
            for child in self.children.values():
                child.abandon()

    def take(self, message: dict[str, Any]) -> None:
        """Take one answer."""
        if "ready" in message:
            self.lost = message["failure"] or ""
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

    def start(self, message: dict[str, Any]) -> Child:
        """Let the server fork a process; raises ServerLost when it does not."""
        if not self.ready.wait(START_LIMIT):
            self.lost = f"importing torch took more than {START_LIMIT:.0f} s"
        child = Child()
        with self.lock:
            if self.lost:
                raise ServerLost(self.lost)
            self.children[message["id"]] = child
            try:
                self.socket.sendall(json.dumps(message).encode() + b"\n")
            except OSError as error:
                raise ServerLost("the server ended") from error
        if not child.begun.wait(ANSWER_LIMIT) or not child.pid:
            self.lost = self.lost or f"no answer in {ANSWER_LIMIT:.0f} s"
            raise ServerLost(self.lost)
        return child

    def execute(self, request: ExecutionRequest, stop: threading.Event) -> ExecutionOutcome:
        """Execute once, as `fresh.execute` does; raises ServerLost when the server is lost meanwhile."""

        def start(asked: ExecutionRequest, work: Path, env: dict[str, str], out: IO[bytes], err: IO[bytes]) -> Child:
            message = {
                "id": uuid.uuid4().hex, "script": str(work / asked.script), "work": str(work), "env": env,
                "stdin": os.devnull, "stdout": out.name, "stderr": err.name,
            }  # fmt: skip
            child = self.start(message)
            fresh.no_core_file(child.pid)
            return child

        return fresh.execute(request, stop, start)

    def output_of(self, script: Path, text: str, env: Mapping[str, str], timeout: float) -> str:
        """Return what a script of ours prints in a forked process; raises ServerLost when it does not end in time."""
        home = Path(self.folder.name)
        given, printed, complaints = (home / f"{name}-{uuid.uuid4().hex}" for name in ("in", "out", "err"))
        given.write_text(text, "utf-8")
        for path in (printed, complaints):
            path.touch()
        child = self.start(
            {
                "id": uuid.uuid4().hex, "script": str(script), "work": str(home), "env": dict(env),
                "stdin": str(given), "stdout": str(printed), "stderr": str(complaints),
            }
        )  # fmt: skip
        try:
            child.wait(timeout)
        except subprocess.TimeoutExpired as error:
            fresh.end_main(child)
            raise ServerLost(f"{script.name} did not end in {timeout:g} s") from error
        return printed.read_text("utf-8", "replace")

    def close(self) -> None:
        """End the server; what it forked has ended before."""
        with contextlib.suppress(OSError):
            self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()
        try:
            self.process.wait(2)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.folder.cleanup()


class Child:
    """A forked process, waited for through the server; the part of `subprocess.Popen` that the engine uses."""

    def __init__(self) -> None:
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
            raise subprocess.TimeoutExpired("a forked snippet", timeout or 0.0)
        if self.gone or self.returncode is None:
            raise ServerLost("the server ended")
        return self.returncode

    def kill(self) -> None:
        """Kill it."""
        if self.returncode is None and self.pid:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, 9)
