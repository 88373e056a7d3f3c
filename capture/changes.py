"""What two states of a handbook, or two hosts, say differently: one class for each record, worst first."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from capture import claims, compare, host
from capture.catalogue import Catalogue, unjudged
from capture.errors import CaptureError, Problem, plural
from capture.pairs import KINDS, Change, Kind, causes_of, environment_changes, pair
from capture.record import Record
from capture.state import State

Key = tuple[str, str]
PRIVATE = ("secret", "personal")  # rules about what must not be stored


@dataclass(frozen=True)
class HostChange:
    """What about a host changed, and what is therefore not compared."""

    host: str
    words: tuple[str, ...]


@dataclass(frozen=True)
class Changes:
    """All that differs between two sides, worst first, and what else is wrong with the new one."""

    base: str
    head: str
    hosts: tuple[HostChange, ...]
    records: tuple[Change, ...]
    problems: tuple[Problem, ...] = ()
    across_hosts: bool = False

    @property
    def failing(self) -> tuple[str, ...]:
        """Why this must not be merged: everything invalid or private, broken claims, failures, causeless changes."""
        found = [str(problem) for problem in self.problems]
        return tuple(dict.fromkeys([*found, *(item.failing for item in self.records if item.failing)]))

    @property
    def private(self) -> bool:
        """Whether something personal or secret is stored."""
        return any(item.kind == "private" for item in self.records) or any(
            problem.rule in PRIVATE for problem in self.problems
        )

    @property
    def to_read(self) -> tuple[Change, ...]:
        """The changes somebody should read."""
        return tuple(item for item in self.records if not item.quiet)


def between(base: Catalogue, head: Catalogue, names: tuple[str, str], problems: Iterable[Problem]) -> Changes:
    """Compare two states of a handbook; `problems` are those of the static rules in the new one."""
    old_states, new_states = base.states(), head.states()
    at_path = {head.book.relative(head.book.record_path(*key)): key for key in [*head.records, *base.records]}
    wrong: dict[Key, Problem] = {}
    others: list[Problem] = []
    for problem in problems:
        key = at_path.get(problem.path)
        if key is None:
            others.append(problem)
        elif key not in wrong or problem.rule in PRIVATE:
            wrong[key] = problem
    found = []
    for key in sorted({*base.records, *head.records, *wrong}):
        old, new = base.records.get(key), head.records.get(key)
        if key in wrong:
            found.append(faulty(key, wrong[key]))
        elif new is None:
            found.append(removed(key, head))
        elif old is None:
            found.append(added(key, new, base, head, new_states))
        elif old != new or old_states[key] != new_states[key] or claims_differ(base, head, key[1]):
            found.append(changed(base, head, key, old_states, new_states))
    return Changes(names[0], names[1], tuple(host_changes(base, head)), ordered(found), tuple(others))


def ordered(found: Iterable[Change]) -> tuple[Change, ...]:
    """Return changes worst first."""
    return tuple(sorted(found, key=lambda item: (KINDS.index(item.kind), item.snippet, item.host)))


def claims_differ(base: Catalogue, head: Catalogue, key: str) -> bool:
    """Tell whether a snippet claims something else than before."""
    said = [
        [(claim.id, claim.holds.text, claim.where.text if claim.where else "") for claim in snippet.claims]
        if (snippet := side.snippets.get(key))
        else []
        for side in (base, head)
    ]
    return said[0] != said[1]


def faulty(key: Key, problem: Problem) -> Change:
    """Return the change for a file in which the static rules found something."""
    kind: Kind = "private" if problem.rule in PRIVATE else "invalid"
    return Change(*key, kind, f"line {problem.line}: {problem.message}", failing=str(problem))


def removed(key: Key, head: Catalogue) -> Change:
    """Return the change for a record that is gone."""
    detail = "the snippet stays" if key[1] in head.snippets else "with its snippet"
    return Change(*key, "removed", detail if key[0] in head.hosts else f"{detail}; the whole host is gone")


def added(key: Key, new: Record, base: Catalogue, head: Catalogue, states: Mapping[Key, State]) -> Change:
    """Return the change for a record that was not there: it may be a failure, or break a claim, right away."""
    causes = (f"new host {key[0]}",) if key[0] not in base.hosts else ()
    if new.status != "ok":
        return Change(*key, "status changed", f"new, and ended as {compare.ending(new)}", causes)
    if broken := broken_claims(head, key, states):
        return Change(*key, "claim broken", "; ".join(broken), causes, failing=f"{key[1]} on {key[0]}: {broken[0]}")
    return Change(*key, "newly captured", "", causes)


def changed(
    base: Catalogue, head: Catalogue, key: Key, old_states: Mapping[Key, State], new_states: Mapping[Key, State]
) -> Change:
    """Return the change of a record that both sides have."""
    old, new, snippet = base.records[key], head.records[key], head.snippets.get(key[1])
    if snippet is None:
        return Change(*key, "invalid", f"{key[1]} cannot be read, so nothing says how to compare its captures")
    machine = host.differences(base.hosts[key[0]], head.hosts[key[0]])
    causes = causes_of(old, new, base.snippets.get(key[1]), snippet, machine)
    found = pair(snippet, old, new, machine)
    found = replace(found, host=key[0], causes=causes)
    where = f"{key[1]} on {key[0]}"
    if found.kind == "status changed":
        return replace(found, failing=f"{where}: {found.detail}" if old.status == "ok" else "")
    before = set(broken_claims(base, key, old_states))
    if broken := [words for words in broken_claims(head, key, new_states) if words not in before]:
        return replace(found, kind="claim broken", detail="; ".join(broken), failing=f"{where}: {broken[0]}")
    if new_states[key].kind == "stale" and old_states[key] != new_states[key] and found.quiet:
        return replace(found, kind="stale", detail="; ".join(new_states[key].reasons))
    if found.kind in ("text changed", "number beyond tolerance") and not causes and not snippet.timing:
        words = f"{where}: {found.kind}, though neither snippet, host nor environment did"
        return replace(found, failing=words)
    return found


def broken_claims(cat: Catalogue, key: Key, states: Mapping[Key, State]) -> list[str]:
    """Return the claims that fail on one record, in words; a value that is not found breaks its claim."""
    snippet, item = cat.snippets.get(key[1]), cat.records.get(key)
    if snippet is None or item is None or unjudged(item, states[key]):
        return []
    broken = []
    for claim in snippet.claims:
        try:
            judged = claims.judge(snippet, claim, item, cat.hosts[key[0]])
        except CaptureError as error:
            broken.append(str(error))
            continue
        if judged.verdict == "fails":
            broken.append(f"claim {claim.id} ({claim.says}): {judged.reason}")
    return broken


def host_changes(base: Catalogue, head: Catalogue) -> list[HostChange]:
    """Return what about each host changed, and what is therefore not compared."""
    result = []
    for label in dict.fromkeys([*base.hosts, *head.hosts]):
        words: list[str] = []
        if label not in head.hosts:
            words.append(f"removed, with {plural(len(base.of_host(label)), 'record')}")
        elif label not in base.hosts:
            item = head.hosts[label]
            words.append(f"new: {item.title} ({host.chip(item)}), {plural(len(head.of_host(label)), 'record')}")
        else:
            machine = host.differences(base.hosts[label], head.hosts[label])
            if machine:
                words.append(f"another machine ({', '.join(machine)}): its timings are not compared")
            words += software(base, head, label)
        if words:
            result.append(HostChange(label, tuple(words)))
    return result


def software(base: Catalogue, head: Catalogue, label: str) -> list[str]:
    """Say what software changed on a host, and in how many of its records."""
    counted: dict[str, int] = {}
    for new in head.of_host(label):
        old = base.records.get((label, new.snippet))
        for words in environment_changes(old.environment, new.environment) if old else ():
            counted[words] = counted.get(words, 0) + 1
    return [f"{words} in {plural(count, 'record')}" for words, count in counted.items()]
