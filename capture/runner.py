"""Executes a plan: schedules the snippets, judges their agreement, and stores what holds."""

from __future__ import annotations

import concurrent.futures
import statistics
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Literal

from capture import assemble, claims, compare, redact, store
from capture.engine import fresh
from capture.engine.contract import Outcome
from capture.errors import CaptureError, PrivacyRefused
from capture.plan import Step
from capture.preparation import Prepared
from capture.probe import conditions
from capture.record import Conditions, Record, Runs, sealed
from capture.snippet import Snippet

DETERMINISTIC_RUNS = 2
TIMING_RUNS = (3, 7)  # at least, at most
PATIENCE = 20.0  # seconds to wait for a busy machine to become quiet

Kind = Literal["captured", "changed", "unchanged", "failed", "kept", "refused", "private"]


@dataclass(frozen=True)
class Options:
    """How to run: `runs` overrides the number of executions, `jobs` bounds what runs side by side."""

    jobs: int = 1
    runs: int | None = None
    accept_failure: bool = False
    accept_noise: bool = False
    patience: float = PATIENCE


@dataclass(frozen=True)
class Result:
    """What became of one snippet.

    `captured`: new record; `changed`: it says something else than before; `unchanged`: it says the same, the file is
    as it was; `failed`: a failure is stored; `kept`: it failed and the good record stays; `refused`: not stored.
    """

    snippet: str
    kind: Kind
    message: str
    seconds: float
    record: Record | None = None


class Interrupted(Exception):
    """The run was interrupted; finished records are whole."""


def run(
    prepared: Prepared,
    steps: tuple[Step, ...],
    options: Options,
    stop: threading.Event,
    started: Callable[[str], None],
) -> Iterator[Result]:
    """Execute the steps and yield each result once its record is stored.

    Deterministic snippets run side by side, timing snippets alone after them. Setting `stop` ends what runs.
    """
    together = [step for step in steps if not step.snippet.timing]
    alone = [step for step in steps if step.snippet.timing]

    def one(step: Step) -> Result:
        if stop.is_set():
            raise Interrupted
        started(step.snippet.id)
        return attempt(prepared, step.snippet, options, stop)

    with concurrent.futures.ThreadPoolExecutor(max_workers=max(1, options.jobs)) as pool:
        pending = [pool.submit(one, step) for step in together]
        try:
            for future in concurrent.futures.as_completed(pending):
                yield future.result()
        except BaseException:
            stop.set()
            for future in pending:
                future.cancel()
            raise
    # In a thread as well: a signal then interrupts the waiting main thread, never a half-done execution.
    with concurrent.futures.ThreadPoolExecutor(max_workers=1) as pool:
        for step in alone:
            future = pool.submit(one, step)
            try:
                yield future.result()
            except BaseException:
                stop.set()
                raise


def attempt(prepared: Prepared, snippet: Snippet, options: Options, stop: threading.Event) -> Result:
    """Capture one snippet and store the record, unless that would lose or leak something."""
    try:
        record, seconds = measure(prepared, snippet, options, stop)
        return keep(prepared, snippet, record, seconds, options)
    except PrivacyRefused as error:
        return Result(snippet.id, "private", "; ".join(map(str, error.problems)), 0.0)
    except Refused as error:
        return Result(snippet.id, "refused", str(error), error.seconds)


class Refused(Exception):
    """A capture cannot be trusted and is not stored."""

    def __init__(self, message: str, seconds: float) -> None:
        self.seconds = seconds
        super().__init__(message)


def measure(prepared: Prepared, snippet: Snippet, options: Options, stop: threading.Event) -> tuple[Record, float]:
    """Execute a snippet as often as its kind asks and return the record that stands for it."""
    if snippet.timing:
        return measure_timing(prepared, snippet, options, stop)
    outcomes, records = [], []
    for _ in range(options.runs or DETERMINISTIC_RUNS):
        outcome = execute(prepared, snippet, stop)
        outcomes.append(outcome)
        records.append(assemble.record(prepared, snippet, outcome))
        if records[-1].status != "ok":
            break
    seconds = sum(outcome.seconds for outcome in outcomes)
    first = records[0]
    for later in records[1:]:
        change = compare.classify(snippet, first, later)
        if not change.same:
            raise Refused(
                f"two executions disagree ({change.kind}: {change.detail}); seed it, or say in its header what varies: "
                "[tool.capture.compare] volatile, or timing = true",
                seconds,
            )
    agree = True if len(records) > 1 else None
    kept = records[-1] if records[-1].status != "ok" else first
    return replace(kept, runs=Runs(len(records), agree=agree)), seconds


def measure_timing(
    prepared: Prepared, snippet: Snippet, options: Options, stop: threading.Event
) -> tuple[Record, float]:
    """Execute a timing snippet alone until its repetitions agree, and return the run with the median value."""
    noise = conditions.wait_until_quiet(0.0 if options.accept_noise else options.patience)
    if noise and not options.accept_noise:
        raise Refused(
            f"busy host: {noise}; close what runs beside, or take it marked with --accept-noise",
            options.patience,
        )
    least, most = (options.runs, options.runs) if options.runs else TIMING_RUNS
    name = next(iter(snippet.compare.ratio), None)
    load = conditions.load()
    runs: list[tuple[float, Record, Conditions, str]] = []
    seconds = 0.0
    while True:
        before = conditions.read()
        outcome = execute(prepared, snippet, stop)
        found, noise = conditions.judge(before, conditions.read(), load)
        seconds += outcome.seconds
        item = assemble.record(prepared, snippet, outcome)
        if item.status != "ok":
            return replace(item, runs=Runs(len(runs) + 1), conditions=found), seconds
        runs.append((key_number(snippet, name, item, outcome), item, found, noise))
        spread = compare.spread([number for number, *_ in runs])
        if len(runs) >= least and (spread <= snippet.compare.spread or len(runs) >= most):
            break
    middle = statistics.median_low([number for number, *_ in runs])
    _, item, found, noise = next(entry for entry in runs if entry[0] == middle)
    spread = compare.spread([number for number, *_ in runs])
    if name and spread > snippet.compare.spread and len(runs) > 1:
        noise = (
            noise
            or f"{name} varied by a factor of {spread:.2f} over {len(runs)} executions "
            f"(limit {snippet.compare.spread:g})"
        )
    if noise and not options.accept_noise:
        raise Refused(f"noisy timing: {noise}; quieten the host, or take it marked with --accept-noise", seconds)
    if noise:
        found = replace(found, busy=True)
    recorded = round(spread, 2) if name and len(runs) > 1 else None
    return replace(item, runs=Runs(len(runs), spread=recorded), conditions=found), seconds


def key_number(snippet: Snippet, name: str | None, item: Record, outcome: Outcome) -> float:
    """Return the number by which repetitions of a timing snippet are compared: its first ratio value, or seconds."""
    if name is None:
        return outcome.seconds
    try:
        number = claims.value(snippet, name, item).scalar
    except CaptureError as error:
        raise Refused(str(error), outcome.seconds) from error
    if isinstance(number, str):
        raise Refused(f'value "{name}" is text, not a number; mend its pattern', outcome.seconds)
    return number


def execute(prepared: Prepared, snippet: Snippet, stop: threading.Event) -> Outcome:
    """Execute once; raises Interrupted when it was stopped from outside."""
    outcome = fresh.execute(assemble.request(prepared, snippet), stop)
    if outcome.stopped == "interrupted":
        raise Interrupted
    return outcome


def keep(prepared: Prepared, snippet: Snippet, item: Record, seconds: float, options: Options) -> Result:
    """Store a record, unless the old one says the same or a failure would replace a good one."""
    item = sealed(item)
    path = prepared.book.relative(prepared.book.record_path(item.host, item.snippet))
    redact.require_clean(store.record_text(item), path, prepared.identity)
    old = prepared.records.get(snippet.id)
    failure = "" if item.status == "ok" else assemble.failure_words(item)
    if old is not None:
        if failure and old.status == "ok" and not options.accept_failure:
            return Result(
                snippet.id,
                "kept",
                f"{failure}; the good record stays (--accept-failure replaces it)",
                seconds,
                item,
            )
        if says_the_same(snippet, old, item):
            return Result(snippet.id, "failed" if failure else "unchanged", failure, seconds, old)
    store.write_record(prepared.book, item)
    if failure:
        return Result(snippet.id, "failed", failure, seconds, item)
    if old is None:
        return Result(snippet.id, "captured", "", seconds, item)
    change = compare.classify(snippet, old, item)
    if change.same:
        return Result(snippet.id, "captured", "says the same; its source or environment is new", seconds, item)
    return Result(snippet.id, "changed", f"{change.kind}: {change.detail}", seconds, item)


def says_the_same(snippet: Snippet, old: Record, new: Record) -> bool:
    """Tell whether a new capture adds nothing: equal digest and environment, and text equal under the policy."""
    return (
        old.source_sha256 == new.source_sha256
        and old.environment == new.environment
        and old.upstream == new.upstream
        and bool(old.conditions and old.conditions.busy) == bool(new.conditions and new.conditions.busy)
        and compare.classify(snippet, old, new).same
    )
