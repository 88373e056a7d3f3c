"""What a run would execute, and why; decided without importing torch wherever that is possible."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from packaging.version import Version

from capture.errors import CaptureError, suggestion
from capture.host.probe.interpreter import Interpreter
from capture.record import state
from capture.record.record import Record
from capture.snippet.snippet import Snippet, unmet_dependencies, unmet_gates
from capture.version_numbers import parse_version, satisfies, without_local

# Ends that another try may mend; an error or too much output would only come again.
RETRIED = ("timeout", "crashed", "out_of_memory")
NOT_INSTALLED = "is not installed"
TORCH = re.compile(r"torch(?![\w.-])")
BUILD_KIND = re.compile(r"\+(cpu|cu|rocm|xpu)")  # in the local part of a version: 2.14.1+cu130


@dataclass(frozen=True)
class RunStep:
    """One snippet to capture and the reason in words."""

    snippet: Snippet
    why: str


@dataclass(frozen=True)
class Plan:
    """What to execute, what is current, and what this host cannot run, with the reasons."""

    steps: tuple[RunStep, ...]
    current: tuple[Record, ...]
    unmet: Mapping[str, tuple[str, ...]]


def select(patterns: Sequence[str], known: Iterable[str]) -> list[str]:
    """Return the ids that match ids, globs or chapters; all of them without patterns.

    Raises CaptureError naming the nearest id or chapter for a pattern that matches nothing.
    """
    ids = sorted(known)
    if not patterns:
        return ids
    chosen: dict[str, None] = {}
    for pattern in patterns:
        bare = pattern.removeprefix("snippets/").removesuffix(".py").rstrip("/")
        matches = [
            name for name in ids if name == bare or name.startswith(f"{bare}/") or fnmatch.fnmatchcase(name, bare)
        ]
        if not matches:
            chapters = {name.split("/")[0] for name in ids}
            raise CaptureError(f'no snippet "{pattern}"{suggestion(bare, [*ids, *chapters])}')
        chosen.update(dict.fromkeys(matches))
    return list(chosen)


def reason(snippet: Snippet, item: Record | None, interpreter: Interpreter, force: bool) -> str:
    """Say why a snippet must be executed, or return nothing when its record is current."""
    if item is None:
        return "not captured yet"
    if force:
        return "forced"
    if item.source_sha256 != snippet.digest:
        return "source changed"
    if item.status in RETRIED:
        return f"ended with {item.status}"
    if item.environment.torch != interpreter.torch:
        return f"torch {item.environment.torch or 'none'} -> {interpreter.torch or 'none'}"
    if item.environment.python != interpreter.version:
        return f"Python {item.environment.python} -> {interpreter.version}"
    for name, version in item.environment.packages.items():
        if interpreter.packages.get(name) != version:
            return f"{name} {version} -> {interpreter.packages.get(name) or 'none'}"
    return ""


def other_software(label: str, records: Iterable[Record], torch: str | None) -> str:
    """Say why an interpreter's torch cannot be that of a label, or nothing: an upgrade is welcome, all else a mix-up.

    A label is one machine with one software environment, so that neither an older torch nor another build of it
    replaces what the label's own environment has captured.
    """
    known = {item.environment.torch for item in records if item.environment.torch}
    if not torch or not known or not all(map(parse_version, (*known, torch))):
        return ""
    newest = max(known, key=Version)
    kinds = [BUILD_KIND.search(version) for version in (newest, torch)]
    other = all(kinds) and len({kind[1] for kind in kinds if kind}) > 1
    if not other and Version(without_local(torch)) >= Version(without_local(newest)):
        return ""
    return (
        f'label "{label}" has results of torch {newest}, and this interpreter has {torch}; '
        f"name that of the label with --python PATH, or take a label for this one: --host {label}-NAME"
    )


def unmet_software(snippet: Snippet, interpreter: Interpreter) -> tuple[str, ...]:
    """Name what the interpreter lacks: its version, dependencies, modules."""
    installed = dict(interpreter.packages)
    if interpreter.torch:
        installed["torch"] = interpreter.torch
    lacking = [
        words if words.endswith(NOT_INSTALLED) else f"needs {words}" for words in unmet_dependencies(snippet, installed)
    ]
    if not satisfies(interpreter.version, snippet.requires_python):
        lacking.append(f"needs Python {snippet.requires_python}, found {interpreter.version}")
    known = {f"module:{name}": there for name, there in interpreter.modules.items()}
    lacking += [state.gate_words(gate) for gate in unmet_gates(snippet, known) if "module:" in gate]
    return tuple(lacking)


def lacks_torch(planned: Plan) -> bool:
    """Tell whether a snippet waits for torch to be installed at all; another version is an ordinary unmet pin."""
    reasons = [reason for reasons in planned.unmet.values() for reason in reasons]
    return any(reason.endswith(NOT_INSTALLED) and TORCH.match(reason) for reason in reasons)


def make(
    snippets: Iterable[Snippet],
    records: Mapping[str, Record],
    interpreter: Interpreter,
    gates: Mapping[str, bool] | None,
    force: bool,
) -> Plan | None:
    """Return the plan, or None when it depends on gates that are not known yet."""
    steps, current, unmet = [], [], {}
    for snippet in snippets:
        item = records.get(snippet.id)
        why = reason(snippet, item, interpreter, force)
        if not why:
            assert item is not None
            current.append(item)
            continue
        lacking = unmet_software(snippet, interpreter)
        wanted = [gate for gate in snippet.needs if "module:" not in gate]
        if not lacking and wanted:
            if gates is None or any(gate.removeprefix("!") not in gates for gate in wanted):
                return None
            known = {**gates, **{f"module:{name}": there for name, there in interpreter.modules.items()}}
            lacking = tuple(state.gate_words(gate) for gate in unmet_gates(snippet, known))
        if lacking:
            unmet[snippet.id] = lacking
        else:
            steps.append(RunStep(snippet, why))
    return Plan(tuple(steps), tuple(current), unmet)


def without_torch(whole: Plan, error: str) -> Plan:
    """Return the plan without what needs torch, where torch is installed and fails to import."""
    return _without(whole, lambda snippet: "torch" in snippet.packages, f"torch fails to import: {error}")


def without_timings(whole: Plan, beneath: str) -> Plan:
    """Return the plan without timings, which say nothing about a processor that is emulated on another machine."""
    why = f"no timing is taken on a processor that is emulated (on {beneath}); use an interpreter of this machine's own"
    return _without(whole, lambda snippet: snippet.timing, why)


def _without(whole: Plan, is_lost: Callable[[Snippet], bool], why: str) -> Plan:
    """Return the plan with some snippets among the unmet, for a reason."""
    steps = tuple(step for step in whole.steps if not is_lost(step.snippet))
    lost = {step.snippet.id: (why,) for step in whole.steps if is_lost(step.snippet)}
    return Plan(steps, whole.current, {**whole.unmet, **lost})
