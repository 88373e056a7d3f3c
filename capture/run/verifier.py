"""Executes snippets again and compares what they print with the records of a host; writes nothing."""

from __future__ import annotations

import datetime
import threading
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from capture import __version__, plain_data
from capture.errors import PrivacyRefused
from capture.host.probe import facts
from capture.record import agreement, privacy, verification
from capture.record.record import Record
from capture.record.verification import Reproduction, Verification, VerificationEnvironment
from capture.run import record_assembly, runner, verify_plan
from capture.run.engine import fresh, process_family
from capture.run.engine.contract import ExecutionOutcome
from capture.run.execution import Engine, Interrupted, Refused, execute, plain_engine
from capture.run.preflight import Prepared
from capture.run.verify_plan import VerifyDecision, VerifyTask

DEVICES = ("cuda", "rocm", "mps", "xpu", "xla")
# What else may explain another text; torch is the same, and the name of the system explains little.
EXPLAINING = ("chip", "cpu_capability", "python", "threads", "packages")


@dataclass(frozen=True)
class Done:
    """A result, and for how many seconds its snippet ran."""

    result: Reproduction
    seconds: float


def run(
    decision: VerifyDecision, jobs: int, engine: Engine, stop: threading.Event, started: Callable[[str], None]
) -> Generator[Done, None, None]:
    """Execute side by side and yield each comparison as it comes. Setting `stop` ends what runs."""
    process_family.end_abandoned()
    fresh.remove_abandoned()

    def one(task: VerifyTask, prepared: Prepared) -> Done:
        if stop.is_set():
            raise Interrupted
        started(task.snippet.id)
        return _attempt(prepared, task, engine, stop)

    yield from runner.side_by_side(partial(one, prepared=decision.prepared), decision.tasks, jobs, stop)


def _attempt(prepared: Prepared, task: VerifyTask, engine: Engine, stop: threading.Event) -> Done:
    """Execute once, since the record itself is the other execution, and compare.

    What differs by a forked process is repeated in a new interpreter before anything is said.
    """
    known = task.record
    try:
        result, outcome = _compared(prepared, task, engine, stop)
        seconds = outcome.seconds
        if result.outcome == "differs" and outcome.forked:
            result, outcome = _compared(prepared, task, plain_engine, stop)
            seconds += outcome.seconds
    except Refused as error:
        return Done(verify_plan.skipped(task.snippet.id, known.host, known, str(error)), error.seconds)
    return Done(result, seconds)


def _compared(
    prepared: Prepared, task: VerifyTask, engine: Engine, stop: threading.Event
) -> tuple[Reproduction, ExecutionOutcome]:
    """Execute once and compare."""
    outcome = execute(prepared, task.snippet, engine, stop)
    again = record_assembly.record(prepared, task.snippet, outcome)
    return compared(task, again, prepared.identity), outcome


def compared(task: VerifyTask, again: Record, who: privacy.Identity) -> Reproduction:
    """Judge a new execution by the snippet's compare policy.

    Where it differs beside a device that only one of both hosts has, nothing is said about the record.
    """
    known = task.record
    told = partial(Reproduction, task.snippet.id, known.host, known.content_sha256)
    change = agreement.classify(task.snippet, known, again)
    if change.same:
        return told("reproduced", change.kind, change.detail)
    detail = privacy.shown("; ".join([difference(change, again, who), *moved(known, again)]), who)
    if apart := _devices_apart(known, again):
        return told("skipped", None, f"not comparable: {', '.join(apart)}; {detail}")
    return told("differs", change.kind, detail)


def _devices_apart(known: Record, again: Record) -> list[str]:
    """Name each device that only one of both hosts has."""
    there, here = known.environment.gates, again.environment.gates
    words = {True: "captured with {0}, run without it", False: "captured without {0}, run with it"}
    return [
        words[there[name]].format(name) for name in DEVICES if name in there and there[name] != here.get(name, False)
    ]


def difference(change: agreement.Agreement, again: Record, who: privacy.Identity) -> str:
    """Say what differs, with the last words of a failure; what must not be published is named by its rule only."""
    try:
        for name in ("stdout", "stderr"):
            privacy.require_clean(getattr(again, name), name, who)
    except PrivacyRefused as error:
        return f"the new output cannot be shown: {'; '.join(map(str, error.problems))}"
    if again.status != "ok":
        return f"{change.detail}: {record_assembly.failure_words(again)}"
    return change.detail


def moved(known: Record, again: Record) -> list[str]:
    """Name what else of the environment is another one, as `python 3.11.7 -> 3.13.1`."""
    there, here = (plain_data.encode(item.environment) for item in (known, again))
    parts = [words for name in EXPLAINING for words in changed(name, there[name], here[name])]
    return [f"run with another {', another '.join(parts)}"] if parts else []


def changed(name: str, before: Any, after: Any) -> list[str]:
    """Name what differs, of a table by its entries."""
    if isinstance(before, dict) and isinstance(after, dict):
        keys = {**before, **after}
        return [words for key in keys for words in changed(f"{name}.{key}", before.get(key), after.get(key))]
    return [] if before == after else [f"{name} ({before or 'none'} -> {after or 'none'})"]


def document(decision: VerifyDecision, results: Sequence[Reproduction], label: str) -> Verification:
    """Return the verification that pages are built with."""
    prepared = decision.prepared
    here = facts.environment(prepared.host, prepared.facts, ())
    torch = None if decision.broken else prepared.interpreter.torch
    return Verification(
        schema=verification.SCHEMA,
        against=label,
        tool=__version__,
        date=datetime.datetime.now(datetime.UTC).date().isoformat(),
        environment=VerificationEnvironment(here.chip, here.os, here.python, torch),
        results=tuple(sorted([*decision.skipped, *results], key=lambda item: item.snippet)),
    )
