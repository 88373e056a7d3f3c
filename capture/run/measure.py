"""Executes one snippet as often as its kind asks, and judges whether the executions agree."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from capture.errors import CaptureError
from capture.host.environment import Conditions
from capture.host.probe import cpu_conditions, quietness
from capture.host.probe.gpu_conditions import Gpus
from capture.record import agreement, claims
from capture.record.record import Record, Runs
from capture.run import record_assembly
from capture.run.engine import fresh
from capture.run.engine.contract import ExecutionOutcome, ExecutionRequest
from capture.run.preflight import Prepared
from capture.snippet.snippet import Snippet

DETERMINISTIC_RUNS = 2
TIMING_RUNS = (3, 7)  # at least and at most; the last `least` must agree
BUSY = "busy host"  # begins the refusal where no quiet moment came; the next snippet need not wait as long
PATIENCE = 20.0  # seconds to wait for a busy machine to become quiet


# Executes a snippet once, until the event ends it early.
Engine = Callable[[Snippet, ExecutionRequest, threading.Event], ExecutionOutcome]


def _fresh_engine(snippet: Snippet, request: ExecutionRequest, stop: threading.Event) -> ExecutionOutcome:
    """Execute in a new interpreter."""
    return fresh.execute(request, stop)


@dataclass(frozen=True)
class Options:
    """How to run: `runs` overrides the number of executions, `jobs` bounds what runs side by side."""

    jobs: int = 1
    runs: int | None = None
    accept_failure: bool = False
    accept_noise: bool = False
    patience: float = PATIENCE
    engine: Engine = _fresh_engine


class Interrupted(Exception):
    """The run was interrupted; finished records are whole."""


class Refused(Exception):
    """A capture cannot be trusted and is not stored."""

    def __init__(self, message: str, seconds: float) -> None:
        self.seconds = seconds
        super().__init__(message)


@dataclass(frozen=True)
class Repetition:
    """One execution of a timing snippet: the number it is compared by, and why it was disturbed, or nothing."""

    number: float
    record: Record
    conditions: Conditions
    noise: str


def measure(prepared: Prepared, snippet: Snippet, options: Options, stop: threading.Event) -> tuple[Record, float]:
    """Execute a snippet as often as its kind asks and return the record that stands for it."""
    if snippet.timing:
        return _measure_timing(prepared, snippet, options, stop)
    outcomes, records = [], []
    for _ in range(options.runs or DETERMINISTIC_RUNS):
        outcome = execute(prepared, snippet, options.engine, stop)
        outcomes.append(outcome)
        records.append(record_assembly.record(prepared, snippet, outcome))
        if records[-1].status != "ok":
            break
    seconds = sum(outcome.seconds for outcome in outcomes)
    first = records[0]
    for later in records[1:]:
        change = agreement.classify(snippet, first, later)
        if not change.same:
            raise Refused(
                f"two executions disagree ({change.kind}: {change.detail}); seed it, or say in its header what varies: "
                "[tool.capture.compare] volatile, or timing = true",
                seconds,
            )
    agree = True if len(records) > 1 else None
    kept = records[-1] if records[-1].status != "ok" else first
    return replace(kept, runs=Runs(len(records), agree=agree)), seconds


def _measure_timing(
    prepared: Prepared, snippet: Snippet, options: Options, stop: threading.Event
) -> tuple[Record, float]:
    """Execute a timing snippet until its last executions agree, and return the one with their median value."""
    gpus = Gpus(prepared.facts.gates.get("cuda", False))
    noise = quietness.wait_until_quiet(0.0 if options.accept_noise else options.patience, stop=stop, gpus=gpus)
    if stop.is_set():
        raise Interrupted
    if noise and not options.accept_noise:
        raise Refused(
            f"{BUSY}: {noise}; close what runs beside, or take it marked with --accept-noise", options.patience
        )
    least, most = (options.runs, options.runs) if options.runs else TIMING_RUNS
    load = quietness.load()
    done: list[Repetition] = []
    seconds = 0.0
    while len(done) < most:
        watched = gpus.read_counters()
        before = quietness.read_counters()
        outcome = execute(prepared, snippet, options.engine, stop)
        conditions, noise = quietness.judge(before, quietness.read_counters(), load, gpus.since(watched))
        conditions = replace(conditions, cores=cpu_conditions.pinning(prepared.host.cpu.core_types))
        seconds += outcome.seconds
        item = record_assembly.record(prepared, snippet, outcome)
        if item.status != "ok":
            return replace(item, runs=Runs(len(done) + 1), conditions=conditions), seconds
        done.append(Repetition(_key_number(snippet, item, outcome), item, conditions, noise))
        last = done[-least:]
        if len(last) == least and not _varies(snippet, last) and (options.accept_noise or not middle(last).noise):
            return stored(snippet, last, len(done)), seconds
    noise = middle(done).noise or _varies(snippet, done)
    if noise and not options.accept_noise:
        raise Refused(f"noisy timing: {noise}; quieten the host, or take it marked with --accept-noise", seconds)
    return stored(snippet, done, len(done)), seconds


def _varies(snippet: Snippet, done: Sequence[Repetition]) -> str:
    """Say how much the first ratio value of these executions varies where that is too much, else nothing."""
    name, spread, limit = next(iter(snippet.compare.ratio), None), _spread_of(done), snippet.compare.spread
    if name is None or spread <= limit:
        return ""
    return f"{name} varied by a factor of {spread:.2f} over {len(done)} executions (limit {limit:g})"


def middle(done: Sequence[Repetition]) -> Repetition:
    """Return the execution with the median number."""
    return sorted(done, key=lambda one: one.number)[(len(done) - 1) // 2]


def _spread_of(done: Sequence[Repetition]) -> float:
    """Return max/min of the numbers."""
    return agreement.spread([one.number for one in done])


def stored(snippet: Snippet, done: Sequence[Repetition], count: int) -> Record:
    """Return the record of the median execution, with how many there were in all and how well these agree.

    It is marked where it was disturbed or they do not agree.
    """
    kept, spread = middle(done), _spread_of(done)
    told = round(spread, 2) if snippet.compare.ratio and len(done) > 1 and math.isfinite(spread) else None
    busy = True if kept.noise or _varies(snippet, done) else None
    return replace(kept.record, runs=Runs(count, spread=told), conditions=replace(kept.conditions, busy=busy))


def _key_number(snippet: Snippet, item: Record, outcome: ExecutionOutcome) -> float:
    """Return the number by which repetitions of a timing snippet are compared: its first ratio value, or seconds."""
    name = next(iter(snippet.compare.ratio), None)
    if name is None:
        return outcome.seconds
    try:
        number = claims.value(snippet, name, item).scalar
    except CaptureError as error:
        raise Refused(str(error), outcome.seconds) from error
    if isinstance(number, str):
        raise Refused(f'value "{name}" is text, not a number; mend its pattern', outcome.seconds)
    return number


def execute(prepared: Prepared, snippet: Snippet, engine: Engine, stop: threading.Event) -> ExecutionOutcome:
    """Execute once; raises Interrupted when it was stopped from outside."""
    outcome = engine(snippet, record_assembly.request(prepared, snippet), stop)
    if outcome.stopped == "interrupted":
        raise Interrupted
    return outcome
