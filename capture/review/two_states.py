"""Sets two states of a handbook beside each other: what is renamed, what is newly wrong, what must not be shown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from capture import store
from capture.errors import Problem
from capture.host.host import LOCAL
from capture.record.privacy import PRIVACY_RULES
from capture.record.state import State
from capture.store.catalogue import Catalogue

RecordKey = tuple[str, str]  # the label of a host and the id of a snippet
_States = Mapping[RecordKey, State]
_RECORD_PATH = re.compile(rf"{store.CAPTURES}/([^/]+)/([^/]+/[^/]+)\.yaml")
HIDDEN = "one of both files holds something private; neither is shown"


@dataclass(frozen=True)
class ComparedStates:
    """Two states of a handbook, `base` before and `head` after, with what follows from both.

    `old_states` and `new_states` are the states of the results in each. `renamed` maps the id of a snippet to its old
    id, under which the same source stood. `hidden` are the paths of files that hold something private in either.
    """

    base: Catalogue
    head: Catalogue
    old_states: _States
    new_states: _States
    renamed: Mapping[str, str]
    hidden: frozenset[str]

    def hides(self, label: str, key: str = "host") -> bool:
        """Tell whether the content of a record's file, or of a host's, must not be shown."""
        return f"{store.CAPTURES}/{label}/{key}.yaml" in self.hidden


def both_states(base: Catalogue, head: Catalogue, problems: Iterable[Problem]) -> ComparedStates:
    """Return two states of a handbook with what follows from them; `problems` are those of the rules in either."""
    hidden = frozenset(problem.path for problem in problems if problem.rule in PRIVACY_RULES)
    return ComparedStates(base, head, base.states(), head.states(), _renamed_snippets(base, head), hidden)


def new_problems(
    problems: Iterable[Problem], known: set[tuple[str, str, str]]
) -> tuple[dict[RecordKey, Problem], list[Problem]]:
    """Return of some problems one for each record's file, and all that concern other files.

    Left out are the `known` ones, given as (path, rule, message), unless they are private, and broken claims.
    """
    wrong: dict[RecordKey, Problem] = {}
    others = []
    for problem in problems:
        match = _RECORD_PATH.fullmatch(problem.path)
        if problem.rule == "claim":
            continue
        if (problem.path, problem.rule, problem.message) in known and problem.rule not in PRIVACY_RULES:
            continue
        if match is None:
            others.append(problem)
        elif (match[1], match[2]) not in wrong or problem.rule in PRIVACY_RULES:
            wrong[match[1], match[2]] = problem
    return wrong, others


def unreadable_hosts(cat: Catalogue) -> set[str]:
    """Return the labels of hosts that have a folder and whose host.yaml cannot be read."""
    return {label for label in cat.book.labels() if label not in cat.hosts and label != LOCAL}


def _renamed_snippets(base: Catalogue, head: Catalogue) -> dict[str, str]:
    """Return the old id of each snippet that is new in `head` with the source of one that is gone from it."""
    gone = {snippet.digest: key for key, snippet in base.snippets.items() if key not in head.snippets}
    new = {key: snippet.digest for key, snippet in head.snippets.items() if key not in base.snippets}
    return {key: gone[digest] for key, digest in new.items() if digest in gone}


def may_have_changed(compared: ComparedStates, key: RecordKey) -> bool:
    """Tell whether a record of both states, its snippet, its host or its state differs between them."""
    base, head = compared.base, compared.head
    old, new = compared.old_states[key], compared.new_states[key]
    return (
        base.records[key] != head.records[key]
        or base.snippets.get(key[1]) != head.snippets.get(key[1])
        or base.hosts[key[0]] != head.hosts[key[0]]
        or (old.kind, old.reasons) != (new.kind, new.reasons)
    )


def broken_claims(cat: Catalogue, key: RecordKey, states: _States) -> dict[str, str]:
    """Return the claims that fail on one record, in words by their ids; a value that is not found breaks its claim."""
    item = cat.records.get(key)
    return {
        entry.claim.id: entry.reason if entry.faulty else f"claim {entry.claim.id} ({entry.claim.says}): {entry.reason}"
        for _, entry in (cat.judged_on(item, states).entries if item else ())
        if entry.faulty or entry.verdict == "fails"
    }


def lost_values_in_words(cat: Catalogue, key: RecordKey, states: _States) -> list[str]:
    """Return the named values that the output of one record no longer holds, in words."""
    item = cat.records.get(key)
    problems = cat.judged_on(item, states).problems if item else ()
    return [problem.message for problem in problems if problem.rule == "value"]
