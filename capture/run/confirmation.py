"""Executes a deterministic snippet until a new interpreter has confirmed what it prints."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace

from capture.host.host import LOCAL
from capture.record import agreement
from capture.record.record import Record, Runs
from capture.run import disagreement, record_assembly
from capture.run.engine.contract import ExecutionOutcome
from capture.run.execution import Engine, Options, Refused, execute, require_unchanged
from capture.run.preflight import Prepared
from capture.snippet.snippet import Snippet

DETERMINISTIC_RUNS = 2  # under a label; the second is always a new interpreter, and both must print the same
REPEATED = ("error", "crashed")  # failures that are told only when a new interpreter shows them as well


@dataclass(frozen=True)
class Execution:
    """One execution of a deterministic snippet: how it ended, and the record of it."""

    outcome: ExecutionOutcome
    record: Record


def measure_text(prepared: Prepared, snippet: Snippet, options: Options, stop: threading.Event) -> tuple[Record, float]:
    """Execute a deterministic snippet until a new interpreter has confirmed what it prints, on `local` once."""
    count = options.runs or (1 if prepared.host.label == LOCAL else DETERMINISTIC_RUNS)
    done = [_execution(prepared, snippet, options.engine, stop)]
    while len(done) < count and done[-1].record.status in ("ok", *REPEATED):
        done.append(_execution(prepared, snippet, options.plain, stop))
    if count == 1 and done[0].record.status in REPEATED:  # once more: it may have failed by chance, or by its engine
        done.append(_execution(prepared, snippet, options.plain, stop))
    if done[0].outcome.forked and len(done) > 1 and not _agreement(snippet, done[:2]).same:
        # A forked process printed something else than an interpreter of its own: two of these decide.
        done = [*done[1:], _execution(prepared, snippet, options.plain, stop)]
    seconds = sum(one.outcome.seconds for one in done)
    require_unchanged(prepared, snippet, seconds)
    return _agreed(snippet, done, seconds), seconds


def _agreed(snippet: Snippet, done: Sequence[Execution], seconds: float) -> Record:
    """Return the record of executions that agree: the one that was confirmed, or the failure that was."""
    first, last = done[0].record, done[-1].record
    if len(done) == 1:
        return replace(first, runs=Runs(1))
    statuses = {one.record.status for one in done}
    if len(statuses) > 1 and "ok" in statuses:
        failed = next(one.record for one in done if one.record.status != "ok")
        raise Refused(
            f"flaky: one execution ended with {record_assembly.failure_words(failed)}, another did not; run it again",
            seconds,
        )
    if last.status != "ok":
        return replace(last, runs=Runs(len(done)))
    for position in range(1, len(done)):
        change = _agreement(snippet, [done[0], done[position]])
        if not change.same:
            raise Refused(disagreement.in_words(snippet, done[0].record, done[position].record, change), seconds)
    return replace(last if done[0].outcome.forked else first, runs=Runs(len(done), agree=True))


def _agreement(snippet: Snippet, two: Sequence[Execution]) -> agreement.Agreement:
    """Tell how far two executions agree."""
    return agreement.classify(snippet, two[0].record, two[1].record)


def _execution(prepared: Prepared, snippet: Snippet, engine: Engine, stop: threading.Event) -> Execution:
    """Execute once and return the outcome with its record."""
    outcome = execute(prepared, snippet, engine, stop)
    return Execution(outcome, record_assembly.record(prepared, snippet, outcome))
