"""Report what one interpreter and its torch can do. Standard library only; Python 3.9 or newer.

A script: the interpreter that runs the snippets executes it (and `torch_script_questions` beside it); nothing of
ours is installed there. Standard input holds one JSON object: `packages` (distribution names), `modules` (the
names of `module:NAME` gates) and `upstream` (dotted torch names). Standard output gets JSON lines, each the
report so far with the probe that comes next as `pending`; the last line is complete and has `pending` null.
So a driver that hangs or crashes loses its own probe only. Errors are one line without the user's paths.
"""

from __future__ import annotations

import functools
import importlib
import json
import os
import platform
import sys
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

T = TypeVar("T")


def unanswered(request: dict[str, Any], gates: Iterable[str]) -> dict[str, Any]:
    """Return the report of an interpreter of which nothing is known yet."""
    return {
        "pending": None,
        "python": platform.python_version(),
        "machine": platform.machine(),
        "torch": None,
        "torch_error": None,
        "cuda_build": None,
        "hip_build": None,
        "cpu_capability": None,
        "driver": None,
        "threads": {},
        "gates": dict.fromkeys(gates, False),
        "modules": dict.fromkeys(request.get("modules", []), False),
        "packages": dict.fromkeys(request.get("packages", [])),
        "upstream": dict.fromkeys(request.get("upstream", [])),
        "accelerators": [],
        "xla": {},
    }


def collect(request: dict[str, Any], emit: Callable[[dict[str, Any]], object]) -> dict[str, Any]:
    """Return the whole report; `emit` gets what is known so far before each probe."""
    questions: Any = importlib.import_module("torch_script_questions")
    errors: dict[str, str] = {}
    report = unanswered(request, questions.GATES) | {"errors": errors}

    def attempt(name: str, probe: Callable[[], T], default: T) -> T:
        report["pending"] = name
        emit(report)
        try:
            return probe()
        except BaseException as error:  # a library may raise SystemExit
            errors[name] = questions.reason(error)
            return default

    def attempt_each(part: str, question: Callable[[str], object], default: object) -> None:
        for name in report[part]:
            report[part][name] = attempt(f"{part}.{name}", functools.partial(question, name), default)

    attempt_each("packages", questions.version_of, None)
    report["gates"]["two_cpus"] = attempt("gates.two_cpus", questions.two_cpus, False)
    torch = attempt("torch", questions.import_torch, None)
    report["torch_error"] = errors.pop("torch", None)
    attempt_each("modules", questions.has_module, False)
    if torch is not None:
        ask(torch, questions, report, attempt)
        attempt_each("upstream", questions.source_digest, None)
        ask_devices(torch, questions, report, attempt)
    report["pending"] = None
    return report


def ask(torch: Any, questions: Any, report: dict[str, Any], attempt: Callable[..., Any]) -> None:
    """Add what torch knows about itself and the CPU."""
    report["torch"] = str(torch.__version__)
    report["cuda_build"] = attempt("cuda_build", lambda: questions.text(torch.version.cuda), None)
    report["hip_build"] = attempt("hip_build", lambda: questions.text(torch.version.hip), None)
    report["cpu_capability"] = attempt(
        "cpu_capability", lambda: questions.text(torch.backends.cpu.get_cpu_capability()), None
    )
    report["threads"] = attempt("threads", lambda: questions.threads(torch), {})


def ask_devices(torch: Any, questions: Any, report: dict[str, Any], attempt: Callable[..., Any]) -> None:
    """Add the gates, and the properties of the devices behind those that hold."""
    gates = report["gates"]
    for name, holds in questions.gates(torch).items():
        gates[name] = attempt(f"gates.{name}", holds, False)
    for name, devices in questions.devices(torch).items():
        if gates[name]:
            report["accelerators"] += attempt(f"accelerators.{name}", devices, [])
    if gates["xla"]:
        report["xla"] = attempt("xla", questions.xla_runtime, {})
    if gates["xpu"]:
        report["driver"] = attempt(
            "driver", lambda: questions.text(torch.xpu.get_device_properties(0).driver_version), None
        )


def main() -> None:
    """Answer the request on standard input."""
    here = os.path.dirname(os.path.realpath(__file__))
    # Our neighbours' names must not shadow a module that torch imports.
    sys.path[:] = [here, *(path for path in sys.path if os.path.realpath(path) != here)]
    importlib.import_module("torch_script_questions")
    sys.path.remove(here)
    request = json.loads(sys.stdin.buffer.read().decode("utf-8") or "{}")
    # Whatever a library prints goes to standard error, also from C; the answers keep the real output.
    answers = os.dup(1)
    os.dup2(2, 1)

    def emit(report: dict[str, Any]) -> None:
        line = memoryview((json.dumps(report) + "\n").encode())
        while line:
            line = line[os.write(answers, line) :]

    emit(collect(request, emit))
    # A device library that crashes while the interpreter shuts down has nothing to say about the answers.
    os._exit(0)


if __name__ == "__main__":
    main()
