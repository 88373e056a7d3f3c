"""What an interpreter has installed, read without importing any of it."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from capture.errors import HostBroken
from capture.host import child_environment
from capture.host.probe.torch_probe import locate, shown_path

ANSWER_LIMIT = 60.0  # seconds
# Executed by the other interpreter, with its standard library alone. torch's own version file is read as text: the
# package metadata of some wheels lacks the local suffix (+cu130) that torch itself reports.
SCRIPT = r"""
import importlib.metadata, importlib.util, json, os, platform, re, site, sys, sysconfig
names, modules = json.load(sys.stdin)
packages, found = {}, {}
for name in names:
    try:
        packages[name] = importlib.metadata.version(name)
    except Exception:
        packages[name] = None
for name in modules:
    try:
        found[name] = importlib.util.find_spec(name) is not None
    except Exception:
        found[name] = False
torch = None
try:
    spec = importlib.util.find_spec("torch")
    if spec and spec.origin:
        with open(os.path.join(os.path.dirname(spec.origin), "version.py"), encoding="utf-8") as file:
            match = re.search(r"^__version__\s*(?::.*?)?=\s*['\"]([^'\"]+)", file.read(), re.MULTILINE)
        torch = match.group(1) if match else packages.get("torch")
except Exception:
    pass
libraries = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib"), site.getusersitepackages()}
try:
    libraries.update(site.getsitepackages())
except Exception:
    pass
json.dump({
    "version": platform.python_version(), "torch": torch, "packages": packages, "modules": found,
    "libraries": sorted(path for path in libraries if path),
    "prefixes": sorted({sys.prefix, sys.base_prefix, sys.exec_prefix, os.path.dirname(os.__file__)}),
}, sys.stdout)
"""


@dataclass(frozen=True)
class Interpreter:
    """One interpreter: its absolute path, version, installed versions, and the folders it prints paths of."""

    path: str
    version: str
    torch: str | None
    packages: Mapping[str, str | None]
    modules: Mapping[str, bool]
    libraries: tuple[str, ...]
    prefixes: tuple[str, ...]


# Names packages and modules, and gets what an interpreter has of them.
AskInstalled = Callable[[Iterable[str], Iterable[str]], Interpreter]


def read_interpreter(path: str, packages: Iterable[str], modules: Iterable[str]) -> Interpreter:
    """Return what an interpreter has installed; raises HostBroken as `asking` does."""
    with asking(path) as ask:
        return ask(packages, modules)


@contextlib.contextmanager
def asking(path: str) -> Iterator[AskInstalled]:
    """Start an interpreter and yield the function that asks it, which may be called again.

    It starts up while the caller finds out what to ask; a question raises HostBroken when it could not be started,
    fails, or does not answer within a minute.
    """
    waiting: list[subprocess.Popen[str]] = []
    with contextlib.suppress(HostBroken):  # told once it is asked
        waiting.append(start(path))

    def ask(packages: Iterable[str], modules: Iterable[str]) -> Interpreter:
        return _answer_of(waiting.pop() if waiting else start(path), path, packages, modules)

    try:
        yield ask
    finally:
        for process in waiting:  # never asked
            process.kill()
            process.communicate()


def start(path: str) -> subprocess.Popen[str]:
    """Start an interpreter that waits for its question; raises HostBroken where it cannot be started."""
    try:
        return subprocess.Popen(
            [locate(path, shown_path(path)), "-c", SCRIPT], text=True, encoding="utf-8",
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env=child_environment.inherited(os.environ) | {"PYTHONUTF8": "1", "PYTHONNOUSERSITE": "1"},
        )  # fmt: skip
    except OSError as error:
        raise _unusable(path, error) from error


def _answer_of(
    process: subprocess.Popen[str], path: str, packages: Iterable[str], modules: Iterable[str]
) -> Interpreter:
    """Ask a started interpreter."""
    question = json.dumps([sorted({*packages, "torch"}), sorted(set(modules))])
    with process:
        try:
            printed, complaints = process.communicate(question, timeout=ANSWER_LIMIT)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise _unusable(path, error) from error
        finally:
            process.kill()  # nothing where it has ended
    try:
        data = json.loads(printed)
    except ValueError as error:
        last = complaints.strip().splitlines()[-1:] or ["no output"]
        name = Path(path).name
        raise HostBroken(
            f"the interpreter {name} does not answer ({last[0][:120]}); pass another with --python"
        ) from error
    # An absolute path: snippets run in another folder.
    return Interpreter(
        locate(path, shown_path(path)), data["version"], data["torch"], data["packages"], data["modules"],
        tuple(data["libraries"]), tuple(data["prefixes"]),
    )  # fmt: skip


def _unusable(path: str, error: Exception) -> HostBroken:
    """Return the error for an interpreter that does not even start or end."""
    return HostBroken(
        f"the interpreter {Path(path).name} cannot be used: {type(error).__name__}; pass another with --python"
    )


def this_interpreter() -> str:
    """Return the interpreter that runs this tool, which is the default for snippets."""
    return sys.executable
