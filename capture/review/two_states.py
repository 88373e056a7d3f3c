"""Two states of a handbook beside each other: what is renamed, what is newly wrong, what must not be shown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from capture import store
from capture.errors import CaptureError, Problem
from capture.host.host import LOCAL
from capture.record import claims
from capture.record.privacy import PRIVACY_RULES
from capture.record.state import State
from capture.store.catalogue import Catalogue, unjudged

Key = tuple[str, str]
States = Mapping[Key, State]
RECORD = re.compile(rf"{store.CAPTURES}/([^/]+)/([^/]+/[^/]+)\.yaml")
HIDDEN = "one of both files holds something private; neither is shown"


@dataclass(frozen=True)
class Sides:
    """Both states of a handbook, the states of their results, and in which files of either something is private.

    `renamed` maps a snippet to what it was called: the same source under another name.
    """

    base: Catalogue
    head: Catalogue
    old_states: States
    new_states: States
    renamed: Mapping[str, str]
    hidden: frozenset[str]

    def hides(self, label: str, key: str = "host") -> bool:
        """Tell whether what the file of a record, or of a host, says must not be shown."""
        return f"{store.CAPTURES}/{label}/{key}.yaml" in self.hidden


def beside(base: Catalogue, head: Catalogue, problems: Iterable[Problem]) -> Sides:
    """Return both states with what follows from them; `problems` are those of either."""
    hidden = frozenset(problem.path for problem in problems if problem.rule in PRIVACY_RULES)
    return Sides(base, head, base.states(), head.states(), renames(base, head), hidden)


def sorted_out(
    problems: Iterable[Problem], known: set[tuple[str, str, str]]
) -> tuple[dict[Key, Problem], list[Problem]]:
    """Return what is newly wrong with each record's file, and with all else."""
    wrong: dict[Key, Problem] = {}
    others = []
    for problem in problems:
        match = RECORD.fullmatch(problem.path)
        if problem.rule == "claim":
            continue
        if (problem.path, problem.rule, problem.message) in known and problem.rule not in PRIVACY_RULES:
            continue
        if match is None:
            others.append(problem)
        elif (match[1], match[2]) not in wrong or problem.rule in PRIVACY_RULES:
            wrong[match[1], match[2]] = problem
    return wrong, others


def unreadable(cat: Catalogue) -> set[str]:
    """Return the hosts that have a folder and cannot be read."""
    return {label for label in cat.book.labels() if label not in cat.hosts and label != LOCAL}


def renames(base: Catalogue, head: Catalogue) -> dict[str, str]:
    """Return the new names of snippets with the old ones: gone here and new there with the same source."""
    gone = {snippet.digest: key for key, snippet in base.snippets.items() if key not in head.snippets}
    new = {key: snippet.digest for key, snippet in head.snippets.items() if key not in base.snippets}
    return {key: gone[digest] for key, digest in new.items() if digest in gone}


def touched(sides: Sides, key: Key) -> bool:
    """Tell whether anything that decides about a record is another one: itself, its snippet, its host, its state."""
    base, head = sides.base, sides.head
    old, new = sides.old_states[key], sides.new_states[key]
    return (
        base.records[key] != head.records[key]
        or base.snippets.get(key[1]) != head.snippets.get(key[1])
        or base.hosts[key[0]] != head.hosts[key[0]]
        or (old.kind, old.reasons) != (new.kind, new.reasons)
    )


def broken_claims(cat: Catalogue, key: Key, states: States) -> dict[str, str]:
    """Return the claims that fail on one record, in words by their ids; a value that is not found breaks its claim."""
    snippet, item = cat.snippets.get(key[1]), cat.records.get(key)
    if snippet is None or item is None or unjudged(item, states[key]):
        return {}
    broken = {}
    for claim in snippet.claims:
        try:
            judged = claims.judge(snippet, claim, item, cat.hosts[key[0]])
        except CaptureError as error:
            broken[claim.id] = str(error)
            continue
        if judged.verdict == "fails":
            broken[claim.id] = f"claim {claim.id} ({claim.says}): {judged.reason}"
    return broken


def lost_values(cat: Catalogue, key: Key, states: States) -> list[str]:
    """Return the named values that the output of one record no longer holds, in words."""
    snippet, item = cat.snippets.get(key[1]), cat.records.get(key)
    if snippet is None or item is None or unjudged(item, states[key]):
        return []
    return list(claims.lost_values(snippet, item).values())
