"""What an interpreter has installed, read without importing any of it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from capture import environment
from capture.errors import HostBroken
from capture.probe.torch_probe import locate, shown_path

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


def read_interpreter(path: str, packages: Iterable[str], modules: Iterable[str]) -> Interpreter:
    """Return what an interpreter has installed.

    Raises HostBroken when it cannot be started, fails or does not answer within a minute.
    """
    name = Path(path).name
    path = locate(path, shown_path(path))  # absolute: snippets run in another folder
    question = json.dumps([sorted({*packages, "torch"}), sorted(set(modules))])
    try:
        answer = subprocess.run(
            [path, "-c", SCRIPT], input=question, capture_output=True, text=True, encoding="utf-8", timeout=60,
            env=environment.inherited(os.environ) | {"PYTHONUTF8": "1", "PYTHONNOUSERSITE": "1"}, check=False,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as error:
        kind = type(error).__name__
        raise HostBroken(f"the interpreter {name} cannot be used: {kind}; pass another with --python") from error
    try:
        data = json.loads(answer.stdout)
    except ValueError as error:
        last = answer.stderr.strip().splitlines()[-1:] or ["no output"]
        raise HostBroken(
            f"the interpreter {name} does not answer ({last[0][:120]}); pass another with --python"
        ) from error
    return Interpreter(
        path, data["version"], data["torch"], data["packages"], data["modules"],
        tuple(data["libraries"]), tuple(data["prefixes"]),
    )  # fmt: skip


def this_interpreter() -> str:
    """Return the interpreter that runs this tool, which is the default for snippets."""
    return sys.executable
