"""Facts about torch in the interpreter that runs the snippets, got by executing `torch_script` with it."""

from __future__ import annotations

import dataclasses
import json
import os
import re
import shutil
import signal
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from capture import plain_data
from capture.errors import HostBroken
from capture.host import child_environment
from capture.host.host import Accelerator
from capture.host.probe.accelerators import read_driver
from capture.host.probe.command import CommandOutcome, bounded
from capture.host.probe.system import cpu_quota
from capture.host.probe.torch_script_questions import GATES, without_paths

__all__ = ["GATES", "TorchFacts", "TorchRequest", "parse", "probe_torch", "script_environment"]

SCRIPT = Path(__file__).with_name("torch_script.py")


@dataclass(frozen=True)
class TorchRequest:
    """What to ask beyond torch itself: distributions, modules of `module:NAME` gates, torch functions."""

    packages: tuple[str, ...] = ()
    modules: tuple[str, ...] = ()
    upstream: tuple[str, ...] = ()


@dataclass(frozen=True)
class TorchFacts:
    """The answers of one interpreter. `errors` maps a probe, such as `gates.cuda`, to why it failed.

    A null or false without an entry there is an answer: not installed, not built in, no such device.
    """

    python: str
    torch: str | None
    torch_error: str | None
    cuda_build: str | None
    hip_build: str | None
    cpu_capability: str | None
    driver: str | None
    threads: Mapping[str, int]
    gates: Mapping[str, bool]
    modules: Mapping[str, bool]
    packages: Mapping[str, str | None]
    upstream: Mapping[str, str | None]
    accelerators: tuple[Accelerator, ...]
    errors: Mapping[str, str]
    machine: str | None = None
    xla: Mapping[str, str] = field(default_factory=dict, metadata=plain_data.about("what torch_xla drives", True))


def _last_report(text: str) -> dict[str, Any] | None:
    """Return the last line that is a whole report, or None."""
    for line in reversed(text.splitlines()):
        if line.startswith("{"):
            try:
                report = json.loads(line)
            except (ValueError, RecursionError):
                continue
            if isinstance(report, dict) and {"pending", "torch", "gates"} <= report.keys():
                return report
    return None


def parse(text: str) -> TorchFacts:
    """Return the facts in the script's output; noise around its report is skipped.

    A report that broke off counts what it has, and names the probe that did not finish in `errors`. Raises
    HostBroken where there is no report or not one of this version.
    """
    report = _last_report(text)
    if report is None:
        raise HostBroken("the probe of torch printed no report")
    pending = report.pop("pending")
    try:
        facts = plain_data.decode(TorchFacts, report)
    except plain_data.ShapeError as error:
        raise HostBroken(f"the probe of torch printed a report this version does not know: {error}") from None
    if pending == "torch":
        return dataclasses.replace(facts, torch_error="importing it did not finish")
    if pending is not None:
        return dataclasses.replace(facts, errors={**facts.errors, str(pending): "did not finish"})
    return facts


def question_text(request: TorchRequest) -> str:
    """Return what the script reads on its standard input."""
    return json.dumps(dataclasses.asdict(request))


def facts_of(text: str) -> TorchFacts:
    """Return the facts in the output of a script that was executed to its end; raises HostBroken where it was not."""
    report = _last_report(text)
    if report is None or report["pending"] is not None:
        raise HostBroken("the probe of torch did not finish")
    return completed(parse(text))


def probe_torch(python: str, request: TorchRequest, timeout: float = 120.0) -> TorchFacts:
    """Execute the script with an interpreter (a path, or a name on PATH) and return its facts.

    `timeout` is in seconds; after it the script's whole process group is killed. A device that hangs or
    crashes the script costs only its own probe. Raises HostBroken where there is no such interpreter, or it
    cannot be executed, or it ends before torch is imported; no message holds a path of the user.
    """
    shown = shown_path(python)
    command = [locate(python, shown), str(SCRIPT)]
    text = question_text(request)
    # A folder of its own: a file named torch.py in the current one must not be found.
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        try:
            seen = script_environment(os.environ)
            outcome = bounded(command, timeout=timeout, text=text, env=seen, cwd=folder)
        except OSError as error:
            why = error.strerror or type(error).__name__
            raise HostBroken(f"{shown} cannot be executed: {why}") from None
    report = _last_report(outcome.stdout)
    if report is None:
        raise HostBroken(f"{shown} {ending(outcome, timeout)}; --python takes Python 3.9 or newer")
    pending = report["pending"]
    if pending is not None and report["torch"] is None:
        what = "while importing torch" if pending == "torch" else f"at {pending}"
        raise HostBroken(f"{shown} {ending(outcome, timeout)} {what}")
    facts = parse(outcome.stdout)
    if pending is not None:
        facts = dataclasses.replace(facts, errors={**facts.errors, str(pending): ending(outcome, timeout)})
    return completed(facts)


def completed(facts: TorchFacts) -> TorchFacts:
    """Return the facts with what the script cannot tell: the driver, and a container's quota."""
    if facts.driver is None:
        driver, reason = read_driver(facts.accelerators)
        errors = {**facts.errors, "driver": reason} if reason else facts.errors
        facts = dataclasses.replace(facts, driver=driver, errors=errors)
    return with_quota(facts, cpu_quota())


def with_quota(facts: TorchFacts, quota: float | None) -> TorchFacts:
    """Return the facts with the gate `two_cpus` closed where a container's quota is below two CPUs."""
    if quota is None or quota >= 2 or not facts.gates.get("two_cpus"):
        return facts
    why = f"the container's quota is {quota:g} CPUs"
    return dataclasses.replace(
        facts, gates={**facts.gates, "two_cpus": False}, errors={**facts.errors, "gates.two_cpus": why}
    )


def script_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Return what the script may see of an environment: what a snippet inherits, and where the home is.

    Like a snippet, it finds no packages of the user's own site folder.
    """
    home = {name: environ[name] for name in ("HOME", "USERPROFILE", "TEMP", "TMP") if name in environ}
    return child_environment.inherited(environ) | home | {"PYTHONUTF8": "1", "PYTHONNOUSERSITE": "1"}


def locate(python: str, shown: str) -> str:
    """Return the absolute path of an interpreter, symbolic links kept: a virtual environment is one."""
    if not re.search(r"[\\/]", python):
        found = shutil.which(python)
        if found is None:
            raise HostBroken(f"{shown}: no such interpreter on PATH")
        return str(Path(found).absolute())
    try:
        path = Path(python).expanduser().absolute()
    except RuntimeError:  # no account, so no home
        path = Path(python).absolute()
    if path.is_dir():
        raise HostBroken(f"{shown} is a folder; --python takes an interpreter, such as .venv/bin/python")
    if not path.exists():
        raise HostBroken(f"{shown}: no such interpreter; --python takes a path such as .venv/bin/python")
    if not os.access(path, os.X_OK):
        raise HostBroken(f"{shown} is not executable")
    return str(path)


def ending(outcome: CommandOutcome, timeout: float) -> str:
    """Say in words how the script ended without a whole report."""
    if outcome.ended == "timeout":
        return f"did not answer within {timeout:g} s"
    if outcome.ended == "output":
        return "printed without end"
    if outcome.exit_code < 0:
        try:
            return f"was ended by {signal.Signals(-outcome.exit_code).name}"
        except ValueError:
            return f"was ended by signal {-outcome.exit_code}"
    if outcome.exit_code == 0:
        return "printed no report"
    lines = [line for line in outcome.stderr.splitlines() if line.strip()]
    why = f": {without_paths(lines[-1])}" if lines else ""
    return f"stopped with exit code {outcome.exit_code}{why}"


def shown_path(path: str) -> str:
    """Return a path for a message, with any home directory as `~`."""
    home = os.path.expanduser("~")  # noqa: PTH111 - Path.home() raises for a uid without an account
    if len(home) > 3 and re.match(re.escape(home) + r"(?![\w.-])", path):
        path = "~" + path[len(home) :]
    path = re.sub(r"^([A-Za-z]:)?[\\/]+(home|Users)[\\/]+[^\\/]+", "~", path)
    return "".join(c if c.isprintable() else "?" for c in path) or "(nothing)"
