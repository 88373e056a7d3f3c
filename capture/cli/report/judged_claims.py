"""Judges claims for a report: which fail, and which cannot be judged because a header is faulty."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from capture.errors import CaptureError, Problem
from capture.record import state
from capture.record.claims import Judgement
from capture.store.catalogue import Catalogue


@dataclass(frozen=True)
class Judged:
    """Judgements, each with the id of its snippet, and the problems for which others could not be made."""

    entries: tuple[tuple[str, Judgement], ...]
    problems: tuple[Problem, ...]

    @property
    def failing(self) -> tuple[tuple[str, Judgement], ...]:
        """The claims that do not hold."""
        return tuple((key, entry) for key, entry in self.entries if entry.verdict == "fails")


def judge_snippet(cat: Catalogue, key: str, states: Mapping[tuple[str, str], state.State]) -> Judged:
    """Judge the claims of one snippet on every host.

    A value that is not found is a problem of the snippet's header, and then none of its claims is judged.
    """
    try:
        return Judged(tuple((key, entry) for entry in cat.judgements(key, states)), ())
    except CaptureError as error:
        snippet = cat.snippets[key]
        line = snippet.place("tool", "capture", "values")
        return Judged((), tuple(Problem(snippet.path, line, str(problem), "claim") for problem in error.problems))


def on_host(cat: Catalogue, label: str, ids: Sequence[str]) -> Judged:
    """Judge the claims of some snippets on one host; ids that no snippet has are left out."""
    states = cat.states()
    parts = [judge_snippet(cat, key, states) for key in ids if key in cat.snippets]
    return Judged(
        tuple((key, entry) for part in parts for key, entry in part.entries if entry.host == label),
        tuple(problem for part in parts for problem in part.problems),
    )
