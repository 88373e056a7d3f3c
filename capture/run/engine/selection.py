"""Chooses the engine for each execution: forked where that is safe, fresh everywhere else and whenever in doubt."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Literal

from capture.errors import CaptureError, HostBroken, plural
from capture.host.probe import torch_probe
from capture.host.probe.torch_probe import TorchFacts, TorchRequest
from capture.host.probe.torch_script_questions import without_paths
from capture.run.engine import forkable, forked, fresh, process_family
from capture.run.engine.contract import ExecutionOutcome, ExecutionRequest
from capture.snippet.snippet import Snippet

Choice = Literal["auto", "fresh", "forked"]
PROBE_LIMIT = 60.0  # seconds for the facts about torch


class Engines:
    """The engines of one run. The fork server starts when it is first of use and ends with `close`.

    `tell` gets a line when what was chosen cannot be had; with `forked` a snippet that needs a fresh interpreter is
    told as well.
    """

    def __init__(self, choice: Choice, snippets: Iterable[Snippet], tell: Callable[[str], None]) -> None:
        self.choice, self.tell = choice, tell
        self.since = time.time()
        process_family.adopt_orphans()
        self.snippets = {snippet.id: snippet for snippet in snippets}
        self.reasons: dict[str, str] = {}
        self.lock = threading.Lock()
        self.server: forked.Server | None = None
        self.lost = ""
        for snippet in self.snippets.values():
            self.add(snippet)

    def add(self, snippet: Snippet) -> None:
        """Take in a snippet, as a fleet's worker does with what comes in the course of a run."""
        self.snippets[snippet.id] = snippet
        self.reasons.pop(snippet.id, None)
        if self.choice == "forked" and (why := self.fresh_because(snippet.id)):
            self.tell(f"{snippet.id} runs in a fresh interpreter: {why}")

    def fresh_because(self, name: str) -> str:
        """Say why a planned snippet gets a fresh interpreter, or nothing when it is forked; found out once."""
        if name not in self.reasons:
            chosen = self.choice == "fresh"
            self.reasons[name] = "fresh was chosen" if chosen else forkable.why_not(self.snippets[name])
        return self.reasons[name]

    def facts(self, python: str, request: TorchRequest) -> TorchFacts:
        """Return the facts about torch, from the server where one will be used anyway.

        Raises HostBroken as `probe_torch` does.
        """
        if any(not self.fresh_because(name) for name in self.snippets):
            env = torch_probe.script_environment(os.environ)
            try:
                text = self.running(python).output_of(
                    torch_probe.SCRIPT, torch_probe.question_text(request), env, PROBE_LIMIT
                )
                return torch_probe.facts_of(text)
            except (forked.ServerLost, HostBroken) as error:
                self.give_up(str(error))
        return torch_probe.probe_torch(python, request)

    def execute(self, snippet: Snippet, request: ExecutionRequest, stop: threading.Event) -> ExecutionOutcome:
        """Execute once. A server that is lost costs the execution that it ran nothing but a repetition."""
        if not self.lost and snippet.id in self.snippets and not self.fresh_because(snippet.id):
            try:
                server = self.running(request.python)
                if server.suits(request, stop):
                    return server.execute(request, stop)
            except forked.ServerLost as error:
                if not stop.is_set():
                    self.give_up(str(error))
        return fresh.execute(request, stop)

    def warm(self, python: str, due: Iterable[str]) -> None:
        """Start the server while the run is still being planned, if a snippet that is due will be forked.

        Without an absolute path nothing is started yet: the plan says first what the name stands for.
        """
        if Path(python).is_absolute() and any(not self.fresh_because(name) for name in due):
            with contextlib.suppress(forked.ServerLost):  # told when it is needed
                self.running(python)

    def running(self, python: str) -> forked.Server:
        """Return the server of an interpreter, started now if it was not; raises ServerLost when it cannot be."""
        with self.lock:
            if self.lost:
                raise forked.ServerLost(self.lost)
            if self.server is None:
                forked_ones = [item for name, item in self.snippets.items() if not self.fresh_because(name)]
                self.server = forked.Server(python, sorted({part for item in forked_ones for part in item.preload}))
            return self.server

    def give_up(self, why: str) -> None:
        """Use fresh interpreters from now on, and say so once."""
        with self.lock:
            if self.lost:
                return
            self.lost = why
        self.tell(f"the fork server is of no use here ({without_paths(why)}); going on with fresh interpreters")

    def close(self) -> None:
        """End the server, and whatever a snippet has left that no execution could be told to have started."""
        with self.lock:
            if self.server is not None:
                self.server.close()
                self.server = None
            self.lost = self.lost or "the run has ended"
        process_family.adopt_orphans(False)
        if ended := process_family.end_orphans(self.since):
            self.tell(f"ended {plural(ended, 'process', 'processes')} that a snippet had left behind")


def choice(text: str) -> Choice:
    """Return the engine that was named; raises CaptureError for another word."""
    for known in ("auto", "fresh", "forked"):
        if text == known:
            return known
    raise CaptureError(f'--engine {text}: choose "auto", "fresh" or "forked"')
