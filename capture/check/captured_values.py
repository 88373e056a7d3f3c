"""What current records hold of the values, claims and patterns of their snippets."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from capture import store
from capture.errors import Problem
from capture.host.host import LOCAL
from capture.record import pattern_findings
from capture.record.record import Record
from capture.record.state import State
from capture.snippet.snippet import Snippet
from capture.store.catalogue import Catalogue

_States = Mapping[tuple[str, str], State]


def check_claims(cat: Catalogue, states: _States) -> tuple[list[Problem], list[Problem]]:
    """Return problems and notes about values that do not match once in a current record, and claims that fail on one.

    On `local`, which is anybody's own machine, they are notes: the handbook makes no claims about that. A value under
    `ratio` that is not above 0 is a note as well. A record, snippet and host once found faultless are not judged again.
    """
    problems: list[Problem] = []
    notes: list[Problem] = []
    book, read = cat.book, functools.cache(Path.read_bytes)  # a snippet is judged on each host, a host by each snippet
    with store.Cache(book.cached_for, "judged") as cache:
        for snippet, item in _current(cat, states):
            where = notes if item.host == LOCAL else problems
            files = (read(book.root / snippet.path), book.record_path(item.host, item.snippet).read_bytes())
            wrong = functools.partial(_wrong_on, cat, states, snippet, item)
            key = store.digest(*files, read(book.host_path(item.host)))
            if not cache.recall(key, functools.partial(_none, wrong)):
                more_problems, more_notes = wrong()
                where += more_problems
                notes += more_notes
    return problems, notes


def _none(wrong: Callable[[], tuple[list[Problem], list[Problem]]]) -> bool:
    """Tell whether nothing is wrong."""
    return wrong() == ([], [])


def _wrong_on(cat: Catalogue, states: _States, snippet: Snippet, item: Record) -> tuple[list[Problem], list[Problem]]:
    """Return problems about the values and claims of one record, and notes about its ratios."""
    judged = cat.judged_on(item, states)
    problems = list(judged.problems)
    for _, entry in judged.failing:
        line = snippet.place("tool", "capture", "claims", entry.claim.id)
        message = f"claim {entry.claim.id} fails on {item.host}: {entry.reason}; narrow its scope, or mend the snippet"
        problems.append(Problem(snippet.path, line, message, "claim"))
    return problems, list(pattern_findings.without_ratio(snippet, item))


def _current(cat: Catalogue, states: _States) -> Iterator[tuple[Snippet, Record]]:
    """Yield each record that is current and ended as it should, with its snippet."""
    for (label, key), item in cat.records.items():
        snippet = cat.snippets.get(key)
        if snippet is not None and item.status == "ok" and states[label, key].kind == "current":
            yield snippet, item


def check_patterns(cat: Catalogue, states: _States) -> tuple[list[Problem], list[Problem]]:
    """Return problems about volatile patterns that take too long on a current record, and notes about idle ones."""
    problems: list[Problem] = []
    notes: list[Problem] = []
    with_volatile: dict[str, list[Record]] = {}
    for snippet, item in _current(cat, states):
        if snippet.compare.volatile:
            problems += pattern_findings.too_slow_volatile(snippet, item)
            with_volatile.setdefault(snippet.id, []).append(item)
    for key, items in with_volatile.items():
        notes += pattern_findings.idle_volatile(cat.snippets[key], items)
    return problems, notes
