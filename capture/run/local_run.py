"""This machine as the executor of a run: a fleet of one."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, replace

from capture.host.probe.interpreter import AskInstalled
from capture.run import preflight, runner
from capture.run.engine.selection import Choice, Engines
from capture.run.execution import Options
from capture.run.host_run import HostResult, HostRun
from capture.run.preflight import RunDecision
from capture.run.run_request import HostSelection


@dataclass(frozen=True)
class LocalExecutor:
    """Captures on this machine under one label; `ask` tells what the interpreter of the snippets has installed."""

    label: str
    ask: AskInstalled
    engines: Engines
    options: Options
    remote: bool = False

    @property
    def labels(self) -> Sequence[str]:
        """The one host."""
        return (self.label,)

    def decide(self, selection: HostSelection, force: bool) -> RunDecision:
        """Plan this machine; torch is imported only when something may have to be executed."""
        return preflight.decide(selection, self.ask, force, self.engines.facts)

    def execute(
        self, runs: Sequence[HostRun], stop: threading.Event, started: Callable[[str], None]
    ) -> Generator[HostResult, None, None]:
        """Carry the plan out and yield each result once its record is stored. Setting `stop` ends what runs."""
        for run in runs:
            prepared = run.decision.prepared
            assert prepared is not None, "something is to be executed"
            for result in runner.run(prepared, run.plan.steps, self.options, stop, started):
                yield HostResult(run.label, result)


@contextlib.contextmanager
def local_executor(
    selection: HostSelection,
    interpreter: tuple[str, AskInstalled],
    choice: Choice,
    options: Options,
    due: Sequence[str],
    tell: Callable[[str], None],
) -> Iterator[LocalExecutor]:
    """Open this machine for a run; the fork server starts while it is planned, where a snippet of `due` needs it.

    `interpreter` is the path of the snippets' interpreter and what asks it.
    """
    python, ask = interpreter
    with contextlib.closing(Engines(choice, selection.snippets, tell)) as engines:
        engines.warm(python, due)
        yield LocalExecutor(selection.label, ask, engines, replace(options, engine=engines.execute))


def due_by_record(selection: HostSelection, force: bool) -> list[str]:
    """Return the ids that will be executed if this host can, as far as their records alone say."""
    records = selection.cat.records
    return [
        snippet.id
        for snippet in selection.snippets
        if force or (item := records.get((selection.label, snippet.id))) is None or item.source_sha256 != snippet.digest
    ]
