"""A dask scheduler and workers as processes on loopback; each worker reports pasted hardware, not this machine's."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
from typer.testing import CliRunner

from capture.cli.app import app
from capture.errors import CaptureError
from capture.host.probe.interpreter import Interpreter
from capture.run.fleet.answers import Probe
from harness import hardware_texts as texts
from harness.executions import NOTHING
from harness.handbooks import host
from harness.project import Project, Run, environment, until

# Found at start by every Python that sees the folder: the agents report another processor, on another machine.
PASTED = """
import os, sys
if any("capture.run.fleet.worker_tasks" in part for part in sys.orig_argv):
    from capture.run.fleet import worker_tasks
    from capture.host.probe import cpu, facts
    facts.read_cpu = lambda: cpu.parse_cpuinfo(os.environ["PASTED_CPU"], "x86_64")
    facts.system.read_virtualization = lambda: ("kvm", "pasted")
    worker_tasks.machine = lambda salt: os.environ["PASTED_MACHINE"]
"""
CPUS = {"epyc": texts.AMD_VM, "xeon": texts.SAPPHIRE_RAPIDS, "alder": texts.ALDER_LAKE}


@dataclass
class Fleet:
    """A scheduler and its workers."""

    folder: Path
    processes: list[subprocess.Popen[bytes]] = field(default_factory=list)
    address: str = ""

    def start(self, *arguments: str, env: dict[str, str] | None = None) -> subprocess.Popen[bytes]:
        """Start a command of dask, in a session of its own."""
        log = self.folder / f"log-{len(self.processes)}"
        with log.open("wb") as file:
            process = subprocess.Popen(
                [sys.executable, "-m", *arguments], cwd=self.folder, env=environment(env or {}), stdout=file,
                stderr=file, stdin=subprocess.DEVNULL, start_new_session=True,
            )  # fmt: skip
        self.processes.append(process)
        return process

    def scheduler(self, *arguments: str, env: dict[str, str] | None = None) -> None:
        """Start the scheduler and learn its address."""
        told = self.folder / "scheduler.json"
        common = ("--host", "127.0.0.1", "--port", "0", "--no-dashboard")
        self.start("distributed.cli.dask_scheduler", *common, "--scheduler-file", str(told), *arguments, env=env)
        until(lambda: told.exists() and "address" in told.read_text(), "the scheduler has started")
        self.address = json.loads(told.read_text())["address"]

    def worker(
        self,
        label: str,
        cpu: str = "epyc",
        threads: int = 1,
        nanny: bool = False,
        user: str = "user",
        env: dict[str, str] | None = None,
    ) -> subprocess.Popen[bytes]:
        """Start a worker that names a label, or none; on its path is another version of the tool."""
        site = self.folder / "site"
        site.mkdir(exist_ok=True)
        (site / "sitecustomize.py").write_text(PASTED)
        (site / "capture.py").write_text('raise ImportError("another version of the tool is installed here")')
        own = {
            "PYTHONPATH": os.pathsep.join(filter(None, [str(site), os.environ.get("PYTHONPATH")])),
            "PASTED_CPU": CPUS[cpu], "PASTED_MACHINE": cpu, "CAPTURE_HOST": label,
            "LOGNAME": user,
        }  # fmt: skip
        return self.start(
            "distributed.cli.dask_worker", self.address, "--host", "127.0.0.1", "--nthreads", str(threads),
            "--nanny" if nanny else "--no-nanny", "--no-dashboard", "--local-directory", str(self.folder),
            env=own | (env or {}),
        )  # fmt: skip

    def ready(self, count: int) -> None:
        """Wait until the scheduler knows so many workers."""
        until(
            lambda: (
                self.log("log-0").count("Register worker addr") - self.log("log-0").count("Remove worker addr") == count
            ),
            f"there are {count} workers",
        )

    def end(self, process: subprocess.Popen[bytes]) -> None:
        """Kill one of its processes; what that has started ends by itself, which is waited for."""
        below = psutil.Process(process.pid).children(recursive=True) if process.poll() is None else []
        process.kill()
        process.wait()
        _, left = psutil.wait_procs(below, timeout=20)
        for other in left:
            other.kill()
        assert not left, "something outlived its worker"

    def log(self, name: str = "log-*") -> str:
        """Return what all of them printed, or one; the scheduler is the first."""
        return "\n".join(path.read_text("utf-8", "replace") for path in sorted(self.folder.glob(name)))


@contextlib.contextmanager
def fleet(folder: Path, *arguments: str, env: dict[str, str] | None = None) -> Iterator[Fleet]:
    """Start a scheduler; nothing of its fleet runs afterwards."""
    found = Fleet(folder)
    try:
        found.scheduler(*arguments, env=env)
        yield found
    finally:
        for process in reversed(found.processes):
            found.end(process)


def run(project: Project, found: Fleet, *arguments: str) -> Run:
    """Run `capture run --fleet` in this process, whose imports are done, and return what it said and changed."""

    def call() -> tuple[int, str, str]:
        command = ["--root", str(project.root), "run", "--fleet", found.address, "--python", project.python, *arguments]
        done = CliRunner().invoke(app, command)
        if isinstance(done.exception, CaptureError):  # what `main` does
            return done.exception.exit_code, done.stdout, f"{done.stderr}{done.exception}"
        if done.exception and not isinstance(done.exception, SystemExit):
            raise done.exception
        return done.exit_code, done.stdout, done.stderr

    return project.watched(call)


def probe(label: str = "", machine: str = "m", **changes: Any) -> Probe:
    """Return what a worker tells."""
    interpreter = Interpreter("", "3.11.7", changes.pop("torch", None), {}, {}, (), ())
    return Probe(label, machine, interpreter, NOTHING, host("worker", **changes))
