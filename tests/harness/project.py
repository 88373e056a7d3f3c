"""A small handbook in a temporary folder, on which the command line runs as a user runs it."""

from __future__ import annotations

import atexit
import contextlib
import functools
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import psutil

from harness.handbooks import Handbook

PATIENCE = 60.0  # seconds after which something that should have happened counts as a hang


@dataclass(frozen=True)
class Run:
    """What a command said and did; the paths are relative to the handbook."""

    code: int
    out: str
    err: str
    changed: tuple[str, ...]
    added: tuple[str, ...]
    removed: tuple[str, ...]

    @property
    def text(self) -> str:
        """All that a person reads."""
        return self.out + self.err

    @property
    def untouched(self) -> bool:
        """Whether no file was written or removed, not even with the same bytes."""
        return not (self.changed or self.added or self.removed)


class Project(Handbook):
    """A handbook whose snippets are executed by `python`; the tool itself runs in the interpreter of the tests."""

    def __init__(self, root: Path, python: str = "") -> None:
        super().__init__(root)
        self.python = python or bare_python()

    def state(self) -> dict[str, tuple[int, bytes]]:
        """Return time of change and content of every file."""
        return {
            path.relative_to(self.root).as_posix(): (path.stat().st_mtime_ns, path.read_bytes())
            for path in sorted(self.root.rglob("*"))
            if path.is_file()
        }

    def capture(self, *arguments: str, env: Mapping[str, str] | None = None, cwd: Path | None = None) -> Run:
        """Run `python -m capture` in the handbook and return what it said and changed."""

        def call() -> tuple[int, str, str]:
            with self.start(*arguments, env=env, cwd=cwd) as process:
                out, err = process.communicate(timeout=PATIENCE)
            return process.returncode, out, err

        return self.watched(call)

    def watched(self, call: Callable[[], tuple[int, str, str]]) -> Run:
        """Run a command in some way that returns its exit code and what it printed, and see what it changed."""
        before = self.state()
        code, out, err = call()
        after = self.state()
        return Run(
            code, out, err,
            changed=tuple(path for path in before if path in after and before[path] != after[path]),
            added=tuple(path for path in after if path not in before),
            removed=tuple(path for path in before if path not in after),
        )  # fmt: skip

    def run(self, *arguments: str, **options: Mapping[str, str]) -> Run:
        """Run `capture run` with the handbook's interpreter."""
        return self.capture("run", "--python", self.python, *arguments, **options)

    @contextlib.contextmanager
    def start(
        self,
        *arguments: str,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        signals: signal.Handlers = signal.SIG_DFL,
    ) -> Iterator[subprocess.Popen[str]]:
        """Start `python -m capture`, in a session of its own; nothing of it runs afterwards.

        It starts with the usual `signals`, however the tests were started, or with those that end it ignored.
        """

        def prepare() -> None:
            for name in ("SIGINT", "SIGTERM", "SIGHUP"):
                signal.signal(getattr(signal, name), signals)

        process = subprocess.Popen(
            [sys.executable, "-m", "capture", *arguments],
            cwd=cwd or self.root, env=environment(env or {}), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, encoding="utf-8", start_new_session=True,
            preexec_fn=prepare if os.name == "posix" else None,
        )  # fmt: skip
        try:
            yield process
        finally:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
            process.communicate()


def environment(extra: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of the tests without what would hide faults of buffering, colour or width, or slow it.

    What git tells a hook, and where a site will stand, is no business of small handbooks either.
    """
    hiding = ("PYTHONUNBUFFERED", "FORCE_COLOR", "NO_COLOR", "COLUMNS", "PYTHONUTF8", "PYTHONDONTWRITEBYTECODE")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("GIT_", "HANDBOOK_"))}
    return {name: value for name, value in kept.items() if name not in hiding} | dict(extra)


def rows(text: str) -> dict[str, list[str]]:
    """Return the cells of a printed table by the first of each line; two blanks part them."""
    return {cells[0]: cells[1:] for line in text.splitlines() if (cells := re.split(r" {2,}", line.strip()))}


def until(happens: Callable[[], bool], what: str) -> None:
    """Wait until something happens; a test that waits for ever says for what."""
    deadline = time.monotonic() + PATIENCE
    while not happens():
        assert time.monotonic() < deadline, f"waited in vain until {what}"
        time.sleep(0.02)


def processes_with(*words: str) -> list[psutil.Process]:
    """Return the living processes that have all these words in their command line."""
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            command = " ".join(process.cmdline())
            if all(word in command for word in words) and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
    return found


@functools.cache
def bare_python() -> str:
    """Return an interpreter with nothing installed, made once; asking it about torch takes no time."""
    folder = tempfile.mkdtemp(prefix="bare-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return bare_interpreter(Path(folder))


@functools.cache
def stub_torch_python() -> str:
    """Return an interpreter whose torch is a stand-in that imports at once, made once."""
    folder = tempfile.mkdtemp(prefix="torch-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    text = "__version__ = '2.13.0'\n"
    return bare_interpreter(Path(folder), {"torch/__init__.py": text, "torch/version.py": text})


def bare_interpreter(folder: Path, packages: Mapping[str, str] | None = None) -> str:
    """Make an interpreter with nothing installed but some faked modules, and return its path."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True, timeout=PATIENCE)
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    answer = subprocess.run(
        [python, "-c", "import json, sysconfig; print(json.dumps(sysconfig.get_path('purelib')))"],
        capture_output=True, check=True, timeout=PATIENCE,
    )  # fmt: skip
    for path, text in (packages or {}).items():
        file = Path(json.loads(answer.stdout)) / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")
    return str(python)
