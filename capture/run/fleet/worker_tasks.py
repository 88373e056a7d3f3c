"""Does the tasks of one client on a worker, one after the other: tells about the machine, or captures a snippet there.

One line of JSON in, one out. It writes no handbook: what it needs of one arrives with the task and goes with it. It
ends when its input does, with all that it executes, and when no task comes for a while.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import json
import os
import queue
import sys
import tempfile
import threading
import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import psutil

from capture import plain_data, store
from capture.errors import CaptureError, PrivacyRefused
from capture.host import host
from capture.host.host import Host
from capture.host.probe import facts, torch_probe
from capture.host.probe.interpreter import Interpreter, read_interpreter, this_interpreter
from capture.host.probe.torch_probe import TorchFacts, TorchRequest
from capture.host.probe.torch_script_questions import without_paths
from capture.record import privacy, record
from capture.run import measure, preflight, runner
from capture.run.engine import fresh, process_family
from capture.run.engine.selection import Engines, choice
from capture.run.execution import Interrupted, Options, Refused
from capture.run.fleet.answers import Probe
from capture.snippet import header
from capture.snippet.snippet import Snippet

IDLE = 30.0  # seconds without a task, as after a client that was killed
VARIABLE = "CAPTURE_HOST"  # by which a worker says the label of its host
UNNAMED = "worker"
BOOT = Path("/proc/sys/kernel/random/boot_id")


class Agent:
    """What stays from task to task: the interpreter of the snippets, and the server that forks them."""

    def __init__(self, stop: threading.Event) -> None:
        self.stop = stop
        self.told: list[str] = []
        self.engines: dict[tuple[str, str], Engines] = {}
        self.interpreters: dict[tuple[object, ...], Interpreter] = {}

    def answer(self, task: Mapping[str, Any]) -> dict[str, Any]:
        """Do one task; what goes wrong is an answer too."""
        self.told.clear()
        try:
            do = self.probe if task["do"] == "probe" else self.capture
            return {**do(task), "told": list(self.told)}
        except PrivacyRefused as error:
            return {"private": "; ".join(map(str, error.problems))}
        except Refused as error:
            return {"refused": str(error), "seconds": error.seconds}
        except CaptureError as error:
            return {"broken": str(error)}

    def probe(self, task: Mapping[str, Any]) -> dict[str, Any]:
        """Tell what this machine and its interpreter are."""
        asked = plain_data.decode(TorchRequest, task["request"])
        interpreter = read_interpreter(task["python"] or this_interpreter(), asked.packages, asked.modules)
        answers = preflight.torch_answers(interpreter, asked, torch_probe.probe_torch)
        here = facts.probe_host(UNNAMED, answers).host
        who = preflight.prepared(store.Handbook(Path.cwd()), here, answers, interpreter, {}).identity
        privacy.require_clean(store.host_text(here), "host.yaml", who)
        # Paths of this machine are needed nowhere else.
        bare = Interpreter(
            "", interpreter.version, interpreter.torch, interpreter.packages, interpreter.modules, (), ()
        )
        label = os.environ.get(VARIABLE, "").strip()
        return {"probe": plain_data.encode(Probe(label, machine(task["salt"]), bare, answers, here))}

    def capture(self, task: Mapping[str, Any]) -> dict[str, Any]:
        """Execute a snippet as often as its kind asks and return its record."""
        python = task["python"] or this_interpreter()
        here, answers = plain_data.decode(Host, task["host"]), plain_data.decode(TorchFacts, task["facts"])
        with tempfile.TemporaryDirectory(prefix="capture-book-", ignore_cleanup_errors=True) as folder:
            book = store.Handbook(Path(folder).resolve())
            path = book.root / task["path"]
            for name, data in task["files"].items():
                file = path.parent / name
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(base64.b64decode(data))
            snippet = header.parse(book.root, path)
            if snippet.digest != task["digest"]:
                raise CaptureError("its source changed after the run was planned; run again")
            interpreter = self.interpreter(python, snippet)
            known = preflight.prepared(book, here, answers, interpreter, {})
            key = (interpreter.path, task["engine"])
            if key not in self.engines:
                self.engines[key] = Engines(choice(task["engine"]), (), self.told.append)
            self.engines[key].add(snippet)
            options = Options(
                runs=task["runs"], accept_noise=task["accept_noise"], patience=task["patience"],
                engine=self.engines[key].execute,
            )  # fmt: skip
            done = measure.measure(known, snippet, options, self.stop)
            item = record.sealed(done.record)
            runner.require_clean(
                book, item, known.identity
            )  # here, where this machine's and its user's names are known
            return {"record": record.encode(item), "seconds": done.seconds, "notes": done.notes}

    def interpreter(self, python: str, snippet: Snippet) -> Interpreter:
        """Return what an interpreter has of what a snippet names, asked once."""
        key = (python, snippet.packages, snippet.modules)
        if key not in self.interpreters:
            self.interpreters[key] = read_interpreter(python, snippet.packages, snippet.modules)
        return self.interpreters[key]

    def close(self) -> None:
        """End the servers."""
        for engines in self.engines.values():
            engines.close()


def machine(salt: str) -> str:
    """Return what is the same for every worker of one machine, in this run only: it names no machine to anybody."""
    try:
        boot = BOOT.read_text("ascii")
    except OSError:
        boot = f"{uuid.getnode()} {psutil.boot_time():.0f} {host.LOCAL}"
    return hashlib.sha256(f"{salt} {boot}".encode()).hexdigest()[:16]


def _listen(tasks: queue.Queue[str], stop: threading.Event) -> None:
    """Hand on each line of the input; its end stops what is executed."""
    with contextlib.suppress(OSError, ValueError):
        for line in sys.stdin:
            tasks.put(line)
    stop.set()
    tasks.put("")


def main() -> None:
    """Answer until the input ends, or nothing more is asked."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what else prints here must not look like an answer
    stop, tasks = threading.Event(), queue.Queue[str]()
    threading.Thread(target=_listen, args=(tasks, stop), daemon=True).start()
    process_family.end_abandoned()
    fresh.remove_abandoned()
    agent = Agent(stop)
    try:
        with contextlib.suppress(queue.Empty, Interrupted, BrokenPipeError):
            while line := tasks.get(timeout=IDLE):
                try:
                    answer = agent.answer(json.loads(line))
                except (OSError, KeyError, TypeError, ValueError) as error:
                    answer = {"broken": f"{type(error).__name__}: {without_paths(str(error))[:200]}"}
                answers.write(json.dumps(answer).encode() + b"\n")
                answers.flush()
    finally:
        agent.close()


if __name__ == "__main__":
    main()
