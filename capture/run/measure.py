"""Executes one snippet as often as its kind asks, and judges whether the executions agree."""

from __future__ import annotations

import contextlib
import math
import os
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from capture.errors import CaptureError
from capture.host.environment import Conditions
from capture.host.host import LOCAL
from capture.host.probe import cpu_conditions, quietness
from capture.host.probe.gpu_conditions import Gpus
from capture.record import agreement, claims, tolerance
from capture.record.printed_number import shown
from capture.record.record import Record, Runs
from capture.run import advice, disagreement, record_assembly
from capture.run.engine import fresh
from capture.run.engine.contract import ExecutionOutcome, ExecutionRequest
from capture.run.preflight import Prepared
from capture.run.record_assembly import SourceChanged
from capture.snippet.snippet import Snippet

DETERMINISTIC_RUNS = 2  # under a label; the second is always a new interpreter, and both must print the same
REPEATED = ("error", "crashed")  # failures that are told only when a new interpreter shows them as well
TIMING_RUNS = (3, 7)  # at least and at most; the last `least` must agree
BUSY = "busy host"  # begins the refusal where no quiet moment came; the next snippet need not wait as long
PATIENCE = 20.0  # seconds to wait for a busy machine to become quiet


# Executes a snippet once, until the event ends it early.
Engine = Callable[[Snippet, ExecutionRequest, threading.Event], ExecutionOutcome]


def plain_engine(snippet: Snippet, request: ExecutionRequest, stop: threading.Event) -> ExecutionOutcome:
    """Execute in a new interpreter."""
    return fresh.execute(request, stop)


@dataclass(frozen=True)
class Options:
    """How to run: `runs` overrides the number of executions, `jobs` bounds what runs side by side.

    `engine` executes, `plain` confirms, always in a new interpreter.
    """

    jobs: int = 1
    runs: int | None = None
    accept_failure: bool = False
    accept_noise: bool = False
    patience: float = PATIENCE
    engine: Engine = plain_engine
    plain: Engine = plain_engine


@dataclass(frozen=True)
class Execution:
    """One execution of a deterministic snippet: how it ended, and the record of it."""

    outcome: ExecutionOutcome
    record: Record


class Interrupted(Exception):
    """The run was interrupted; finished records are whole."""


class Refused(Exception):
    """A capture cannot be trusted and is not stored."""

    def __init__(self, message: str, seconds: float) -> None:
        self.seconds = seconds
        super().__init__(message)


@dataclass(frozen=True)
class Repetition:
    """One execution of a timing snippet: what it is compared by, and why it was disturbed, or nothing.

    `number` is its first ratio value, or its seconds without one; `ratios` are all ratio values by name.
    """

    number: float
    ratios: Mapping[str, float | str]
    record: Record
    conditions: Conditions
    noise: str


@dataclass(frozen=True)
class Measurement:
    """The record that stands for a snippet's executions, the seconds that they took, and what its author is told."""

    record: Record
    seconds: float
    notes: tuple[str, ...]


def measure(prepared: Prepared, snippet: Snippet, options: Options, stop: threading.Event) -> Measurement:
    """Execute a snippet as often as its kind asks and return the record that stands for it.

    Raises Refused where its executions do not agree, and where it is not executed as it was planned.
    """
    with _shared_folder(snippet) as compiled:
        if compiled:
            kept = partial(_keeping, folder=compiled)
            options = replace(options, engine=kept(options.engine), plain=kept(options.plain))
        written: set[str] = set()
        noted = partial(_noting, written=written)
        options = replace(options, engine=noted(options.engine), plain=noted(options.plain))
        how = _measure_timing if snippet.timing else _measure_text
        record, seconds = how(prepared, snippet, options, stop)
        return Measurement(record, seconds, advice.notes(snippet, record, sorted(written)))


def _noting(engine: Engine, written: set[str]) -> Engine:
    """Return an engine that notes which files its executions write."""

    def noting(snippet: Snippet, request: ExecutionRequest, stop: threading.Event) -> ExecutionOutcome:
        outcome = engine(snippet, request, stop)
        written.update(outcome.written)
        return outcome

    return noting


@contextlib.contextmanager
def _shared_folder(snippet: Snippet) -> Iterator[Path | None]:
    """Open the folder in which all executions of a snippet keep what they compile, where its header allows that."""
    if not snippet.share_compiled:
        yield None
        return
    folder = tempfile.mkdtemp(prefix=f"capture-{os.getpid()}-")
    try:
        yield Path(folder)
    finally:
        fresh.remove(Path(folder))


def _keeping(engine: Engine, folder: Path) -> Engine:
    """Return an engine that keeps what is compiled in a folder."""
    return lambda snippet, request, stop: engine(snippet, replace(request, compiled=folder), stop)


def _measure_text(
    prepared: Prepared, snippet: Snippet, options: Options, stop: threading.Event
) -> tuple[Record, float]:
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


def require_unchanged(prepared: Prepared, snippet: Snippet, seconds: float) -> None:
    """Raise Refused where a snippet's files are no longer those that were planned and executed."""
    try:
        record_assembly.request(prepared, snippet)
    except SourceChanged as error:
        raise Refused(str(error), seconds) from error


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
        done.append(_repetition(snippet, item, outcome, conditions, noise))
        last = done[-least:]
        if len(last) == least and not _varies(snippet, last) and (options.accept_noise or not middle(last).noise):
            require_unchanged(prepared, snippet, seconds)
            return stored(snippet, last, len(done)), seconds
    if not options.accept_noise:
        if apart := _apart(snippet, done):
            raise Refused(apart, seconds)
        if noise := middle(done).noise or _varies(snippet, done):
            raise Refused(f"noisy timing: {noise}; quieten the host, or take it marked with --accept-noise", seconds)
    require_unchanged(prepared, snippet, seconds)
    return stored(snippet, done, len(done)), seconds


def _varies(snippet: Snippet, done: Sequence[Repetition]) -> str:
    """Say which ratio value of these executions varies most, and by how much, where that is too much, else nothing."""
    spreads = _spreads(snippet, done)
    name = max(spreads, key=spreads.__getitem__, default="")
    if not name or spreads[name] <= snippet.compare.spread:
        return ""
    limit = snippet.compare.spread
    return f"{name} varied by a factor of {spreads[name]:.2f} over {len(done)} executions (limit {limit:g})"


def _apart(snippet: Snippet, done: Sequence[Repetition]) -> str:
    """Say which ratio value differs by no factor at all, being text or not above 0 in one execution, or nothing."""
    for name, spread in _spreads(snippet, done).items():
        values = [one.ratios[name] for one in done]
        numbers = [value for value in values if not isinstance(value, str)]
        if math.isfinite(spread):
            continue
        if len(numbers) < len(values):
            return f'value "{name}" is text in some executions, not a number; mend its pattern, or the snippet'
        if why := tolerance.why_no_ratio(snippet.compare, name, numbers):
            return f"{name} is {shown(min(numbers))} in one execution and {shown(max(numbers))} in another; {why}"
    return ""


def middle(done: Sequence[Repetition]) -> Repetition:
    """Return the execution with the median number."""
    return sorted(done, key=lambda one: one.number)[(len(done) - 1) // 2]


def _spreads(snippet: Snippet, done: Sequence[Repetition]) -> dict[str, float]:
    """Return how far each ratio value varies over these executions, as max/min; infinity for text that differs."""
    spreads = {}
    for name in snippet.compare.ratio:
        values = [one.ratios[name] for one in done]
        numbers = [value for value in values if not isinstance(value, str)]
        if len(numbers) == len(values):
            spreads[name] = tolerance.spread(numbers)
        else:
            spreads[name] = 1.0 if len(set(values)) == 1 else math.inf
    return spreads


def stored(snippet: Snippet, done: Sequence[Repetition], count: int) -> Record:
    """Return the record of the median execution, with how many there were in all and how well the worst value agrees.

    It is marked where it was disturbed or they do not agree.
    """
    kept, spread = middle(done), max(_spreads(snippet, done).values(), default=math.inf)
    told = round(spread, 2) if len(done) > 1 and math.isfinite(spread) else None
    busy = True if kept.noise or _varies(snippet, done) else None
    return replace(kept.record, runs=Runs(count, spread=told), conditions=replace(kept.conditions, busy=busy))


def _repetition(
    snippet: Snippet, item: Record, outcome: ExecutionOutcome, conditions: Conditions, noise: str
) -> Repetition:
    """Return an execution with what it is compared by; raises Refused where a ratio value cannot be read."""
    ratios: dict[str, float | str] = {}
    for name in snippet.compare.ratio:
        try:
            ratios[name] = claims.value(snippet, name, item).scalar
        except CaptureError as error:
            raise Refused(str(error), outcome.seconds) from error
    number = next(iter(ratios.values()), outcome.seconds)
    if isinstance(number, str):
        raise Refused(f'value "{next(iter(ratios))}" is text, not a number; mend its pattern', outcome.seconds)
    return Repetition(number, ratios, item, conditions, noise)


def execute(prepared: Prepared, snippet: Snippet, engine: Engine, stop: threading.Event) -> ExecutionOutcome:
    """Execute once; raises Interrupted when it was stopped from outside, Refused where its source has changed."""
    try:
        request = record_assembly.request(prepared, snippet)
    except SourceChanged as error:
        raise Refused(str(error), 0.0) from error
    outcome = engine(snippet, request, stop)
    if outcome.stopped == "interrupted":
        raise Interrupted
    return outcome
