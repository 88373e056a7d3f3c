"""The questions `torch_script` asks, each one able to fail alone. Standard library only; Python 3.9 or newer.

Properties are asked; no operation runs on a device. `UnmetError` says why a gate does not hold.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.metadata
import importlib.util
import inspect
import os
import re
import shlex
import shutil
import sys
import sysconfig
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

GATES = ("cuda", "rocm", "mps", "xpu", "xla", "compile", "gloo", "two_cpus")
# The first torch whose torch.compile works on a Python (release notes; torch/_dynamo/eval_frame.py).
COMPILE_SINCE = {(3, 11): (2, 1), (3, 12): (2, 4), (3, 13): (2, 6), (3, 14): (2, 10)}
NAME = r"""[^\\/\s"':;,()<>|]+"""
PATHS = (
    (r"[\\/]+(?:home|Users)[\\/]+(?:[^\\/\n\"':;]+(?=[\\/])|" + NAME + ")", "~"),
    (r"(?<![A-Za-z])[A-Za-z]:(?=~)", ""),
    (r"(?<![A-Za-z])[A-Za-z]:[\\/]+(?:[^\\/:*?\"'<>|\n]+[\\/]+)*", ""),
    (r"~[\\/]+(?:" + NAME + r"[\\/]+)*", ""),
    (r"(?<!https:)(?<!http:)(?<![\w/\\.-])[\\/]+(?:" + NAME + r"[\\/]+)+", ""),
)


class UnmetError(Exception):
    """A gate does not hold, and why."""


def without_paths(text: str) -> str:
    """Return one line of at most 300 characters, with each absolute path cut down to its last part."""
    home = os.path.expanduser("~")  # noqa: PTH111 - Path.home() raises for a uid without an account
    if len(home) > 3:
        for form in (home, home.replace("\\", "\\\\"), home.replace("\\", "/")):
            text = re.sub(re.escape(form) + r"(?![\w.-])", "~", text)
    for pattern, instead in PATHS:
        text = re.sub(pattern, instead, text)
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())[:300]


def reason(error: BaseException) -> str:
    """Return why a probe failed, in one line."""
    try:
        message = without_paths(str(error))
    except Exception:
        message = ""
    if isinstance(error, UnmetError):
        return message
    return type(error).__name__ + (": " + message if message else "")


def text(value: object) -> str | None:
    """Return a property as text of at most 200 characters, and null for an empty one."""
    return str(value)[:200] if value else None


def version_of(distribution: str) -> str | None:
    """Return the installed version of a distribution, or null."""
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return None


def has_module(name: str) -> bool:
    """Say whether a module can be found.

    A folder without code counts as absent: uninstalling a package leaves such folders behind.
    """
    try:
        spec = importlib.util.find_spec(name)
    except ModuleNotFoundError:
        return False
    return spec is not None and spec.origin is not None


def import_torch() -> Any:
    """Return the torch module; an absent one is `not installed`."""
    try:
        torch = importlib.import_module("torch")
    except ModuleNotFoundError as error:
        if error.name == "torch":
            raise UnmetError("not installed") from None
        raise
    if not hasattr(torch, "__version__"):
        raise UnmetError("not installed; a folder named torch was found in its place")
    return torch


def source_digest(name: str) -> str | None:
    """Return the SHA-256 of a function's or class's source, dedented and with LF line ends.

    What is written in C has no source; its signature and docstring stand for it. Null for an unknown name.
    """
    first, *rest = name.split(".")
    found: Any = importlib.import_module(first)
    path = first
    for part in rest:
        path += "." + part
        if not hasattr(found, part):
            try:
                importlib.import_module(path)
            except ModuleNotFoundError:
                return None
        found = getattr(found, part)
    found = found.fget if isinstance(found, property) else found
    try:
        source = textwrap.dedent(inspect.getsource(found))
    except (OSError, TypeError):
        # Not the docstring of any value: that one would be its type's.
        if not (callable(found) or inspect.isdatadescriptor(found)) or not found.__doc__:
            raise UnmetError("neither source nor docstring") from None
        source = f"{getattr(found, '__text_signature__', None)}\n{inspect.getdoc(found)}"
    return hashlib.sha256(source.replace("\r\n", "\n").encode("utf-8", "surrogatepass")).hexdigest()


def threads(torch: Any) -> dict[str, int]:
    """Return torch's numbers of intra-op and inter-op threads."""
    return {"intra": int(torch.get_num_threads()), "inter": int(torch.get_num_interop_threads())}


def two_cpus() -> bool:
    """Say whether this process may use two CPUs; a container's quota is the caller's to read."""
    affinity = getattr(os, "sched_getaffinity", None)
    return (len(affinity(0)) if affinity else os.cpu_count() or 1) >= 2


def compiles(torch: Any) -> bool:
    """Say whether torch.compile can build C++ kernels for the CPU.

    Inductor's rule (torch/_inductor/config.py, cpp.cxx): `$CXX`, else g++, clang++ on macOS, cl on Windows;
    its kernels include Python.h. The compiler is looked for, not run.
    """
    number = tuple(int(part) for part in re.findall(r"\d+", str(torch.__version__))[:2])
    python = sys.version_info[:2]
    needed = max([(2, 0), *(since for version, since in COMPILE_SINCE.items() if python >= version)])
    if number < needed:
        raise UnmetError(f"torch.compile on Python {python[0]}.{python[1]} needs torch {needed[0]}.{needed[1]}")
    usual = {"darwin": "clang++", "win32": "cl"}.get(sys.platform, "g++")
    compiler = (shlex.split(os.environ.get("CXX", "")) or [usual])[0]
    if shutil.which(compiler) is None:
        raise UnmetError(f"no C++ compiler on PATH: looked for {compiler}")
    tools = (Path("/Library/Developer/CommandLineTools"), Path("/Applications/Xcode.app"))
    if sys.platform == "darwin" and not any(path.exists() for path in tools):
        raise UnmetError("clang++ is a stub until the command line tools are installed")
    if not Path(sysconfig.get_path("include"), "Python.h").exists():
        raise UnmetError("the header Python.h of this interpreter is not installed")
    return True


def xla_hardware() -> str | None:
    """Return the kind of device that answers through torch_xla: TPU, CUDA, CPU."""
    xla = importlib.import_module("torch_xla")
    model: Any = importlib.import_module("torch_xla.core.xla_model")
    device = xla.device() if hasattr(xla, "device") else model.xla_device()
    return text(model.xla_device_hw(device))


def xla_runtime() -> dict[str, str]:
    """Return what computes behind torch_xla: its version, the kind of device, and how many of them PJRT drives."""
    runtime: Any = importlib.import_module("torch_xla.runtime")
    facts = {
        "torch_xla": version_of("torch_xla") or text(importlib.import_module("torch_xla").__version__),
        "device": xla_hardware(),
        "devices": text(runtime.global_runtime_device_count()),
    }
    return {name: fact for name, fact in facts.items() if fact}


def gates(torch: Any) -> dict[str, Callable[[], bool]]:
    """Map each gate about which torch decides to its question, the harmless ones first."""

    def gloo() -> bool:
        found = torch.distributed
        return bool(found.is_available() and getattr(found, "is_gloo_available", lambda: True)())

    def mps() -> bool:
        return bool(torch.backends.mps.is_available())

    def xpu() -> bool:
        return hasattr(torch, "xpu") and bool(torch.xpu.is_available())

    def cuda() -> bool:
        return not torch.version.hip and bool(torch.cuda.is_available())

    def rocm() -> bool:
        return bool(torch.version.hip) and bool(torch.cuda.is_available())

    def xla() -> bool:
        return importlib.util.find_spec("torch_xla") is not None and xla_hardware() is not None

    return {
        "compile": lambda: compiles(torch),
        "gloo": gloo, "mps": mps, "xpu": xpu, "cuda": cuda, "rocm": rocm, "xla": xla,
    }  # fmt: skip


def devices(torch: Any) -> dict[str, Callable[[], list[dict[str, Any]]]]:
    """Map each kind of accelerator to the question for its devices; equal ones are counted."""

    def cuda() -> list[dict[str, Any]]:
        found = [torch.cuda.get_device_properties(index) for index in range(torch.cuda.device_count())]
        return grouped([device("cuda", p, f"{p.major}.{p.minor}") for p in found])

    def rocm() -> list[dict[str, Any]]:
        found = [torch.cuda.get_device_properties(index) for index in range(torch.cuda.device_count())]
        return grouped([device("rocm", p, p.gcnArchName.partition(":")[0]) for p in found])

    def xpu() -> list[dict[str, Any]]:
        found = [torch.xpu.get_device_properties(index) for index in range(torch.xpu.device_count())]
        return grouped([device("xpu", p, None) for p in found])

    def mps() -> list[dict[str, Any]]:
        name = getattr(torch.backends.mps, "get_name", lambda: "Apple GPU")()
        return [{"kind": "mps", "name": str(name)[:100], "memory_mib": None, "capability": None, "count": 1}]

    def xla() -> list[dict[str, Any]]:
        hardware = xla_hardware()
        if hardware == "CPU":  # PJRT's CPU client answers, but accelerates nothing
            return []
        runtime: Any = importlib.import_module("torch_xla.runtime")
        name = " ".join(filter(None, [hardware, os.environ.get("TPU_ACCELERATOR_TYPE")]))
        count = int(runtime.global_runtime_device_count())
        return [{"kind": "xla", "name": name, "memory_mib": None, "capability": None, "count": count}]

    return {"cuda": cuda, "rocm": rocm, "xpu": xpu, "mps": mps, "xla": xla}


def device(kind: str, properties: Any, capability: str | None) -> dict[str, Any]:
    """Return the stored facts of one device, without its UUID and bus address."""
    name, memory = str(properties.name).strip()[:100], int(properties.total_memory) >> 20
    return {"kind": kind, "name": name, "memory_mib": memory, "capability": capability or None, "count": 1}


def grouped(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return equal devices once, with their count, in the order of the first of each."""
    distinct = [one for index, one in enumerate(found) if one not in found[:index]]
    return [{**one, "count": found.count(one)} for one in distinct]
