"""What two states of a handbook say differently: one class for each record, worst first."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from capture import store
from capture.errors import Problem, plural
from capture.host import host
from capture.record import agreement
from capture.record.privacy import PRIVACY_RULES
from capture.review.record_change import KINDS, POLICY, Change, Kind, causes_of, environment_changes, pair
from capture.review.two_states import (
    HIDDEN,
    Key,
    Sides,
    beside,
    broken_claims,
    lost_values,
    sorted_out,
    touched,
    unreadable,
)
from capture.store.catalogue import Catalogue


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
        said = [problem.message for problem in self.problems]
        own = (item.failing for item in self.records if item.failing)
        return tuple(dict.fromkeys([*found, *(words for words in own if not any(part in words for part in said))]))

    @property
    def private(self) -> bool:
        """Whether something personal or secret is stored."""
        return any(item.kind == "private" for item in self.records) or any(
            problem.rule in PRIVACY_RULES for problem in self.problems
        )

    @property
    def to_read(self) -> tuple[Change, ...]:
        """The changes somebody should read."""
        return tuple(item for item in self.records if not item.quiet)


def between(
    base: Catalogue,
    head: Catalogue,
    names: tuple[str, str],
    problems: Iterable[Problem],
    known: Iterable[Problem] = (),
) -> Changes:
    """Compare two states of a handbook; `problems` are those of the static rules in the new one, `known` in the old.

    What was wrong before is no news, unless it is private. Claims are judged here, where both sides are known.
    """
    problems, known = tuple(problems), tuple(known)
    sides = beside(base, head, (*problems, *known))
    wrong, others = sorted_out(problems, {(item.path, item.rule, item.message) for item in known})
    lost = unreadable(head)
    keys = [key for key in {*base.records, *head.records} - wrong.keys() if key[0] not in lost]
    found = [faulty(key, problem) for key, problem in wrong.items()]
    found += [change for key in keys if (change := of_record(sides, key)) is not None]
    return Changes(names[0], names[1], tuple(host_changes(sides, lost)), ordered(found), tuple(others))


def ordered(found: Iterable[Change]) -> tuple[Change, ...]:
    """Return changes worst first."""
    return tuple(sorted(found, key=lambda item: (KINDS.index(item.kind), item.snippet, item.host)))


def faulty(key: Key, problem: Problem) -> Change:
    """Return the change for a file in which the static rules found something."""
    kind: Kind = "private" if problem.rule in PRIVACY_RULES else "invalid"
    place = f"line {problem.line}: " if problem.line else ""
    return Change(*key, kind, f"{place}{problem.message}", failing=str(problem))


def of_record(sides: Sides, key: Key) -> Change | None:
    """Return what became of one record, or None where it is as it was."""
    label, snippet = key
    if key not in sides.head.records:
        return removed(sides, key)
    if key in sides.base.records:
        return changed(sides, key, key) if touched(sides, key) else None
    was = (label, sides.renamed.get(snippet, ""))
    return changed(sides, key, was) if was in sides.base.records else added(sides, key)


def removed(sides: Sides, key: Key) -> Change:
    """Return the change for a record that is gone."""
    label, snippet = key
    stays = (sides.head.book.root / "snippets" / f"{snippet}.py").is_file()
    renamed = [new for new, old in sides.renamed.items() if old == snippet]
    detail = f"renamed to {renamed[0]}" if renamed else "the snippet stays" if stays else "with its snippet"
    return Change(*key, "removed", detail if label in sides.head.hosts else f"{detail}; the whole host is gone")


def added(sides: Sides, key: Key) -> Change:
    """Return the change for a record that was not there: it may be a failure, or break a claim, right away."""
    label, snippet = key
    new = sides.head.records[key]
    causes = (f"new host {label}",) if label not in sides.base.hosts else ()
    if new.status != "ok":
        return Change(*key, "status changed", f"new, and ended as {agreement.ending(new)}", causes)
    if broken := list(broken_claims(sides.head, key, sides.new_states).values()):
        return Change(*key, "claim broken", "; ".join(broken), causes, failing=f"{snippet} on {label}: {broken[0]}")
    path = sides.base.book.relative(sides.base.book.record_path(*key))
    damaged = any(problem.path == path for problem in sides.base.problems)
    return Change(*key, "newly captured", "the old one could not be read" if damaged else "", causes)


def changed(sides: Sides, key: Key, was: Key) -> Change | None:
    """Return the change of a record that both sides have, or None where nobody would call it one."""
    base, head = sides.base, sides.head
    old, new, snippet = base.records[was], head.records[key], head.snippets.get(key[1])
    where = f"{key[1]} on {key[0]}"
    if snippet is None:
        words = "its snippet cannot be read, so nothing says how to compare"
        return Change(*key, "invalid", words, failing=f"{where}: {words}") if old != new else None
    machine = host.differences(base.hosts[key[0]], head.hosts[key[0]])
    causes = causes_of(old, new, base.snippets.get(was[1]), snippet, machine)
    found = replace(pair(snippet, old, new, machine), host=key[0], causes=causes)
    if any(sides.hides(*each) for each in (was, key, (key[0], "host"))):
        found = replace(found, detail=HIDDEN, causes=(), numbers=(), edit="", lines=())
    before = broken_claims(base, was, sides.old_states)
    after = broken_claims(head, key, sides.new_states)
    broken = [words for claim, words in after.items() if claim not in before]
    stale = sides.new_states[key].kind == "stale" and sides.new_states[key].reasons != sides.old_states[was].reasons
    if found.kind == "status changed":
        found = replace(found, failing=f"{where}: {found.detail}" if old.status == "ok" else "")
    elif broken:
        found = replace(found, kind="claim broken", detail="; ".join(broken), failing=f"{where}: {broken[0]}")
    elif lost := lost_values(head, key, sides.new_states):
        found = replace(found, failing=f"{where}: {lost[0]}")
    elif found.quiet and stale:
        found = replace(found, kind="stale", detail="; ".join(sides.new_states[key].reasons))
    elif found.kind in ("text changed", "number beyond tolerance") and not snippet.timing and not {*causes} - {POLICY}:
        words = f"{where}: {found.kind}, though neither snippet, host nor environment did"
        found = replace(found, failing=words)
    if key != was:
        found = replace(found, causes=(*found.causes, f"renamed from {was[1]}"))
        return replace(found, kind="newly captured", detail="and says the same") if found.quiet else found
    return None if found.quiet and old == new else found


def host_changes(sides: Sides, lost: set[str]) -> list[HostChange]:
    """Return what about each host changed, and what is therefore not compared."""
    base, head = sides.base, sides.head
    result = []
    for label in dict.fromkeys([*base.hosts, *head.hosts, *sorted(lost)]):
        words: list[str] = []
        if label in lost:
            records = plural(len(store.record_ids(head.book, label)), "record")
            words.append(f"its host.yaml cannot be read: {records} not compared")
        elif label not in head.hosts:
            words.append(f"removed, with {plural(len(base.of_host(label)), 'record')}")
        elif label not in base.hosts:
            item = head.hosts[label]
            words.append(f"new: {item.title} ({host.chip(item)}), {plural(len(head.of_host(label)), 'record')}")
        else:
            machine = host.differences(base.hosts[label], head.hosts[label])
            if machine:
                words.append(f"another machine ({', '.join(machine)}): its timings are not compared")
            words += software(sides, label)
        if words:
            result.append(HostChange(label, (HIDDEN,) if sides.hides(label) else tuple(words)))
    return result


def software(sides: Sides, label: str) -> list[str]:
    """Say what software changed on a host, and in how many of its records."""
    counted: dict[str, int] = {}
    for new in sides.head.of_host(label):
        old = sides.base.records.get((label, new.snippet))
        for words in environment_changes(old.environment, new.environment) if old else ():
            hidden = sides.hides(label, new.snippet)
            counted[words] = counted.get(words, 0) + (not hidden)
    return [f"{words} in {plural(count, 'record')}" for words, count in counted.items() if count]
