"""Executes a plan: schedules the snippets, judges their agreement, and stores what holds."""

from __future__ import annotations

import concurrent.futures
import threading
from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal, TypeVar

from capture import store
from capture.errors import PrivacyRefused
from capture.record import agreement, pattern_findings, privacy
from capture.record.record import Record, sealed
from capture.run import disagreement, record_assembly
from capture.run.engine import fresh, process_family
from capture.run.execution import Interrupted, Options, Refused
from capture.run.measure import measure
from capture.run.plan import RunStep
from capture.run.preflight import Prepared
from capture.run.timing import BUSY
from capture.snippet.snippet import Snippet

__all__ = ["Interrupted", "Options", "RunResult", "run"]

Task = TypeVar("Task")
Found = TypeVar("Found")
ResultKind = Literal["captured", "changed", "unchanged", "failed", "kept", "refused", "private"]


@dataclass(frozen=True)
class RunResult:
    """What became of one snippet; `notes` are for its author.

    `captured`: new record; `changed`: it says something else than before; `unchanged`: it says the same, the file is
    as it was; `failed`: a failure is stored; `kept`: it failed and the good record stays; `refused`: not stored.
    """

    snippet: str
    kind: ResultKind
    message: str
    seconds: float
    record: Record | None = None
    notes: tuple[str, ...] = ()


def run(
    prepared: Prepared,
    steps: tuple[RunStep, ...],
    options: Options,
    stop: threading.Event,
    started: Callable[[str], None],
) -> Generator[RunResult, None, None]:
    """Execute the steps and yield each result once its record is stored.

    Deterministic snippets run side by side, timing snippets alone after them. Setting `stop` ends what runs.
    """
    process_family.end_abandoned()
    fresh.remove_abandoned()
    together = [step for step in steps if not step.snippet.timing]
    alone = [step for step in steps if step.snippet.timing]

    patient = options

    def one(step: RunStep, how: Options) -> RunResult:
        if stop.is_set():
            raise Interrupted
        started(step.snippet.id)
        return _attempt(prepared, step.snippet, how, stop)

    yield from side_by_side(partial(one, how=options), together, options.jobs, stop)
    for step in alone:  # one after the other: whoever takes the results computes as well
        for result in side_by_side(partial(one, how=patient), [step], 1, stop):
            if result.kind == "refused" and result.message.startswith(BUSY):
                patient = replace(options, patience=0.0)  # waited for once; the others look, but do not wait again
            yield result


def side_by_side(
    do: Callable[[Task], Found], tasks: Iterable[Task], jobs: int, stop: threading.Event
) -> Iterator[Found]:
    """Do so many tasks at once, and yield each result as it comes; whatever ends this early ends the executions too.

    A single one runs in a thread as well: a signal interrupts the waiting main thread, never a half-done execution.
    """
    with concurrent.futures.ThreadPoolExecutor(max_workers=max(1, jobs)) as pool:
        yield from _results_of([pool.submit(do, task) for task in tasks], stop)


def _results_of(pending: Iterable[concurrent.futures.Future[Found]], stop: threading.Event) -> Iterator[Found]:
    """Yield each result as it comes."""
    waiting = set(pending)
    try:
        while waiting:
            # Short waits: on Windows no signal interrupts a long one.
            done, waiting = concurrent.futures.wait(waiting, 0.2, concurrent.futures.FIRST_COMPLETED)
            for future in sorted(done, key=lambda one: one.exception() is not None):
                yield future.result()
    except BaseException:
        if not stop.is_set():
            stop.set()
        for future in waiting:
            future.cancel()
        raise


def _attempt(prepared: Prepared, snippet: Snippet, options: Options, stop: threading.Event) -> RunResult:
    """Capture one snippet and store the record, unless that would lose or leak something."""
    try:
        done = measure(prepared, snippet, options, stop)
        return replace(keep(prepared, snippet, done.record, done.seconds, options), notes=done.notes)
    except PrivacyRefused as error:
        return RunResult(snippet.id, "private", "; ".join(map(str, error.problems)), 0.0)
    except Refused as error:
        message = privacy.shown(str(error), prepared.identity)
        return RunResult(snippet.id, "refused", f"{message}{_disproved(prepared, snippet, message)}", error.seconds)


def _disproved(prepared: Prepared, snippet: Snippet, message: str) -> str:
    """Say that the record which is there was just shown to agree by chance, or nothing."""
    old = prepared.records.get(snippet.id)
    if old is None or old.source_sha256 != snippet.digest or not message.startswith(disagreement.DISAGREE):
        return ""
    place = prepared.book.record_name(old.host, old.snippet)
    return f"; {place} was stored by executions that agreed by chance: remove it"


def keep(prepared: Prepared, snippet: Snippet, item: Record, seconds: float, options: Options) -> RunResult:
    """Store a record, unless the old one says the same or a failure would replace a good one."""
    item = sealed(item)
    require_clean(prepared.book, item, prepared.identity)
    if slow := pattern_findings.too_slow(snippet, item):
        return RunResult(snippet.id, "refused", "; ".join(map(str, slow)), seconds)
    old = prepared.records.get(snippet.id)
    failure = "" if item.status == "ok" else record_assembly.failure_words(item)
    if old is not None:
        if failure and old.status == "ok" and not options.accept_failure:
            return RunResult(
                snippet.id,
                "kept",
                f"{failure}; the good record stays (--accept-failure replaces it)",
                seconds,
                item,
            )
        if says_the_same(snippet, old, item):
            return RunResult(snippet.id, "failed" if failure else "unchanged", failure, seconds, old)
    store.write_record(prepared.book, item)
    if failure:
        return RunResult(snippet.id, "failed", failure, seconds, item)
    mark = "marked as taken on a busy host" if busy(item) else ""
    if old is None:
        return RunResult(snippet.id, "captured", mark, seconds, item)
    change = agreement.classify(snippet, old, item)
    if change.same:
        same = "says the same; its source, environment or conditions are new"
        return RunResult(snippet.id, "captured", mark or same, seconds, item)
    return RunResult(snippet.id, "changed", f"{change.kind}: {change.detail}", seconds, item)


def require_clean(book: store.Handbook, item: Record, who: privacy.Identity) -> None:
    """Raise PrivacyRefused where a record holds what must not be stored."""
    for name in ("stdout", "stderr"):  # first, because these have lines that the author can see
        privacy.require_clean(getattr(item, name), name, who)
    privacy.require_clean(store.record_text(item), book.relative(book.record_path(item.host, item.snippet)), who)


def says_the_same(snippet: Snippet, old: Record, new: Record) -> bool:
    """Tell whether a new capture adds nothing: equal digest and environment, and text equal under the policy.

    One that was taken on a busy host adds nothing to one that was not.
    """
    return (
        old.source_sha256 == new.source_sha256
        and old.environment == new.environment
        and old.upstream == new.upstream
        and not (busy(old) and not busy(new))
        and agreement.classify(snippet, old, new).same
    )


def busy(item: Record) -> bool:
    """Tell whether a record was taken on a busy host."""
    return bool(item.conditions and item.conditions.busy)
