"""Executes a timing snippet, alone and on a quiet machine, until its last executions agree."""

from __future__ import annotations

import math
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from capture.errors import CaptureError
from capture.host.environment import Conditions
from capture.host.probe import cpu_conditions, quietness
from capture.host.probe.gpu_conditions import Gpus
from capture.record import claims, tolerance
from capture.record.printed_number import shown
from capture.record.record import Record, Runs
from capture.run import record_assembly
from capture.run.engine.contract import ExecutionOutcome
from capture.run.execution import Interrupted, Options, Refused, execute, require_unchanged
from capture.run.preflight import Prepared
from capture.snippet.snippet import Snippet

TIMING_RUNS = (3, 7)  # at least and at most; the last `least` must agree
BUSY = "busy host"  # begins the refusal where no quiet moment came; the next snippet need not wait as long


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


def measure_timing(
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
