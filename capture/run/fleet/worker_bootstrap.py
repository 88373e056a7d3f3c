"""Works on a dask worker, where it arrives as text: neither this package nor the client's Python need be there.

It unpacks the tool that the client sent along, lets an agent of that tool do a task in a process of its own, and ends
the agent when nobody wants the answer any more. An agent that has answered serves further tasks of this worker.
"""

from __future__ import annotations

import base64
import contextlib
import io
import json
import os
import shutil
import subprocess
import sys
import threading
import time
import uuid
import zipfile
from pathlib import Path
from typing import Any

OLDEST = (3, 11)
POLL = 0.2  # seconds between looks at whether the answer is still wanted
GRACE = 10.0  # seconds that an agent gets to end what it executes


def work(package: str, digest: str, task: str, limit: float) -> str:
    """Return what an agent answers to a task, as JSON text; an empty task ends the agents that wait for one."""
    from distributed import get_worker

    worker = get_worker()
    idle = worker.__dict__.setdefault("capture_idle", [])
    if not task:
        while idle_one := popped(idle):
            end(idle_one[1])
        return "{}"
    if sys.version_info < OLDEST:
        return broken(f"the worker runs Python {sys.version.split()[0]}; the tool needs 3.11 or newer")
    try:
        agent = waiting(idle, digest) or start(unpacked(worker, package, digest), worker)
    except OSError as error:
        return broken(f"the worker cannot start the tool: {error.strerror or type(error).__name__}")
    answers: list[str] = []
    reader = threading.Thread(target=talk, args=(agent, task, answers), daemon=True)
    reader.start()
    key, deadline = worker.get_current_task(), time.monotonic() + limit
    while reader.is_alive() and time.monotonic() < deadline and wanted(worker, key):
        reader.join(POLL)
    if answers and answers[0].endswith("\n"):
        idle.append((digest, agent))
        return answers[0]
    late = reader.is_alive()
    end(agent)
    if late:
        return broken(f"no answer within {limit:.0f} s")
    return broken(f"the tool ended on the worker: {last_words(agent)}")


class AgentProcess:
    """A process of the tool, and the file that it complains to."""

    def __init__(self, process: Any, complaints: Path) -> None:
        self.process, self.complaints = process, complaints


def wanted(worker: Any, key: str) -> bool:
    """Tell whether the answer is still wanted; a client that dies lets the scheduler cancel its tasks."""
    try:
        task = worker.state.tasks.get(key)
        return task is not None and task.state != "cancelled" and worker.status.name in ("running", "paused")
    except AttributeError:  # a dask that keeps this elsewhere: the client's own limit ends it
        return True


def waiting(idle: list[tuple[str, AgentProcess]], digest: str) -> AgentProcess | None:
    """Return an agent of this tool that waits for a task, or None."""
    while idle_one := popped(idle):
        if idle_one[0] == digest and idle_one[1].process.poll() is None:
            return idle_one[1]
        end(idle_one[1])
    return None


def popped(idle: list[tuple[str, AgentProcess]]) -> tuple[str, AgentProcess] | None:
    """Take an agent out, or None: another thread, which works for another client, may have taken the last one."""
    with contextlib.suppress(IndexError):
        return idle.pop()
    return None


def unpacked(worker: Any, package: str, digest: str) -> Path:
    """Return the folder that holds the tool, whole; dask removes it with the worker."""
    folder = Path(worker.local_directory) / (f"capture-{digest[:16]}")
    if not folder.is_dir():
        aside = folder.with_name(f"{folder.name}.{uuid.uuid4().hex}")
        zipfile.ZipFile(io.BytesIO(base64.b64decode(package))).extractall(aside)
        try:
            aside.rename(folder)
        except OSError:  # another thread was faster
            shutil.rmtree(aside, ignore_errors=True)
    return folder


def start(folder: Path, worker: Any) -> AgentProcess:
    """Start an agent; it ends when this process does, since its input ends then."""
    env = dict(os.environ)
    if getattr(worker, "nanny", None):  # one thread a library is dask's wish for its own tasks, not the host's nature
        import dask

        for name, value in dask.config.get("distributed.nanny.pre-spawn-environ", {}).items():
            if env.get(name) == str(value):
                del env[name]
    env["PYTHONPATH"] = os.pathsep.join(filter(None, [str(folder), env.get("PYTHONPATH")]))
    complaints = folder / (f"complaints-{uuid.uuid4().hex}")
    with complaints.open("wb") as errors:
        process = subprocess.Popen(
            [sys.executable, "-m", "capture.run.fleet.worker_tasks"],
            cwd=folder, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, start_new_session=True,
        )  # fmt: skip
    return AgentProcess(process, complaints)


def talk(agent: AgentProcess, task: str, answers: list[str]) -> None:
    """Give an agent one line and take one from it."""
    with contextlib.suppress(OSError, ValueError):
        agent.process.stdin.write(task.encode() + b"\n")
        agent.process.stdin.flush()
        answers.append(agent.process.stdout.readline().decode())


def end(agent: AgentProcess) -> None:
    """Let an agent end what it executes and itself; one that does not is killed."""
    with contextlib.suppress(OSError):
        agent.process.stdin.close()
    try:
        agent.process.wait(GRACE)
    except subprocess.TimeoutExpired:
        agent.process.kill()
        agent.process.wait()


def last_words(agent: AgentProcess) -> str:
    """Return the last line that an agent complained with."""
    try:
        lines = agent.complaints.read_text("utf-8", "replace").strip().splitlines()
    except OSError:
        lines = []
    return lines[-1][:200] if lines else "without a word"


def broken(why: str) -> str:
    """Return the answer for a task that could not be done here."""
    return json.dumps({"broken": why})
