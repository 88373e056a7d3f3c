"""Measures one snippet as its kind asks, and notes what of its executions is not kept."""

from __future__ import annotations

import contextlib
import os
import tempfile
import threading
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from capture.record.record import Record
from capture.run import advice
from capture.run.confirmation import measure_text
from capture.run.engine import fresh
from capture.run.engine.contract import ExecutionOutcome, ExecutionRequest
from capture.run.execution import Engine, Options
from capture.run.preflight import Prepared
from capture.run.timing import measure_timing
from capture.snippet.snippet import Snippet


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
        how = measure_timing if snippet.timing else measure_text
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
