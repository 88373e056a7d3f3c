"""One execution of a snippet as a run asks for it, and what ends it: a stop, or a reason not to trust it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass

from capture.run import record_assembly
from capture.run.engine import fresh
from capture.run.engine.contract import ExecutionOutcome, ExecutionRequest
from capture.run.preflight import Prepared
from capture.run.record_assembly import SourceChanged
from capture.snippet.snippet import Snippet

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


class Interrupted(Exception):
    """The run was interrupted; finished records are whole."""


class Refused(Exception):
    """A capture cannot be trusted and is not stored."""

    def __init__(self, message: str, seconds: float) -> None:
        self.seconds = seconds
        super().__init__(message)


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


def require_unchanged(prepared: Prepared, snippet: Snippet, seconds: float) -> None:
    """Raise Refused where a snippet's files are no longer those that were planned and executed."""
    try:
        record_assembly.request(prepared, snippet)
    except SourceChanged as error:
        raise Refused(str(error), seconds) from error
