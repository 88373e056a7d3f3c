"""Compares two states of a handbook: what became of each host and of each record, worst first."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from capture.errors import Problem
from capture.host import host
from capture.record import agreement
from capture.record.privacy import PRIVACY_RULES
from capture.review.host_change import HostChange, changes_of_hosts
from capture.review.record_change import (
    POLICY_CHANGED,
    ChangeKind,
    RecordChange,
    causes_of,
    compare_records,
)
from capture.review.two_states import (
    HIDDEN,
    ComparedStates,
    RecordKey,
    both_states,
    broken_claims,
    lost_values_in_words,
    may_have_changed,
    new_problems,
    unreadable_hosts,
)
from capture.store.catalogue import Catalogue


@dataclass(frozen=True)
class HandbookChanges:
    """All that differs between two states of a handbook, or between two hosts; the records worst first.

    `base` and `head` name what is compared. `problems` are those of the new state that concern no record's file.
    """

    base: str
    head: str
    hosts: tuple[HostChange, ...]
    records: tuple[RecordChange, ...]
    problems: tuple[Problem, ...] = ()
    across_hosts: bool = False

    @property
    def failing(self) -> tuple[str, ...]:
        """Why this must not be merged: what is invalid or private, broken claims, failures, changes without a cause."""
        messages = [problem.message for problem in self.problems]
        of_records = [
            item.failing
            for item in self.records
            if item.failing and not any(message in item.failing for message in messages)
        ]
        of_hosts = [item.failing for item in self.hosts if item.failing]
        return tuple(dict.fromkeys([*map(str, self.problems), *of_hosts, *of_records]))

    @property
    def private(self) -> bool:
        """Whether something personal or secret is stored."""
        return any(item.kind == "private" for item in self.records) or any(
            problem.rule in PRIVACY_RULES for problem in self.problems
        )

    @property
    def edited_hosts(self) -> bool:
        """Whether the description of a host changed, which somebody should read."""
        return any(item.edits for item in self.hosts)

    @property
    def to_read(self) -> tuple[RecordChange, ...]:
        """The changes somebody should read."""
        return tuple(item for item in self.records if not item.quiet)


def compare_handbooks(
    base: Catalogue,
    head: Catalogue,
    names: tuple[str, str],
    problems: Iterable[Problem],
    known: Iterable[Problem] = (),
) -> HandbookChanges:
    """Compare two states of a handbook, which are called `names` in reports.

    `problems` are those of the static rules in the new state, `known` those in the old one: what was wrong before is no
    news, unless it is private. Claims are judged here, on both states.
    """
    problems, known = tuple(problems), tuple(known)
    compared = both_states(base, head, (*problems, *known))
    wrong, others = new_problems(problems, {(item.path, item.rule, item.message) for item in known})
    unreadable = unreadable_hosts(head)
    keys = [key for key in {*base.records, *head.records} - wrong.keys() if key[0] not in unreadable]
    changes = [_faulty_file_change(key, problem) for key, problem in wrong.items()]
    changes += [change for key in keys if (change := _record_change(compared, key)) is not None]
    hosts = tuple(changes_of_hosts(compared, unreadable))
    return HandbookChanges(names[0], names[1], hosts, tuple(sorted(changes, key=lambda item: item.rank)), tuple(others))


def _faulty_file_change(key: RecordKey, problem: Problem) -> RecordChange:
    """Return the change of a record in whose file the static rules found a problem."""
    kind: ChangeKind = "private" if problem.rule in PRIVACY_RULES else "invalid"
    place = f"line {problem.line}: " if problem.line else ""
    return RecordChange(*key, kind, f"{place}{problem.message}", failing=str(problem))


def _record_change(compared: ComparedStates, key: RecordKey) -> RecordChange | None:
    """Return what became of one record of either state, or None where it is as it was."""
    label, snippet = key
    if key not in compared.head.records:
        return _removal(compared, key)
    if key in compared.base.records:
        return _comparison(compared, key, key) if may_have_changed(compared, key) else None
    old_key = (label, compared.renamed.get(snippet, ""))
    return _comparison(compared, key, old_key) if old_key in compared.base.records else _addition(compared, key)


def _removal(compared: ComparedStates, key: RecordKey) -> RecordChange:
    """Return the change of a record that is gone."""
    label, snippet = key
    stays = (compared.head.book.root / "snippets" / f"{snippet}.py").is_file()
    renamed = [new for new, old in compared.renamed.items() if old == snippet]
    detail = f"renamed to {renamed[0]}" if renamed else "the snippet stays" if stays else "with its snippet"
    return RecordChange(
        *key, "removed", detail if label in compared.head.hosts else f"{detail}; the whole host is gone"
    )


def _addition(compared: ComparedStates, key: RecordKey) -> RecordChange:
    """Return the change of a record that is new, by whether it is a failure, breaks a claim or is merely new."""
    label, snippet = key
    new = compared.head.records[key]
    causes = (f"new host {label}",) if label not in compared.base.hosts else ()
    if new.status != "ok":
        return RecordChange(*key, "status changed", f"new, and ended as {agreement.ending(new)}", causes)
    if broken := list(broken_claims(compared.head, key, compared.new_states).values()):
        return RecordChange(
            *key, "claim broken", "; ".join(broken), causes, failing=f"{snippet} on {label}: {broken[0]}"
        )
    path = compared.base.book.relative(compared.base.book.record_path(*key))
    damaged = any(problem.path == path for problem in compared.base.problems)
    return RecordChange(*key, "newly captured", "the old one could not be read" if damaged else "", causes)


def _comparison(compared: ComparedStates, key: RecordKey, old_key: RecordKey) -> RecordChange | None:
    """Return the change of a record that both states hold, in the old one as `old_key`; None where nothing differs."""
    base, head = compared.base, compared.head
    old, new, snippet = base.records[old_key], head.records[key], head.snippets.get(key[1])
    where = f"{key[1]} on {key[0]}"
    if snippet is None:
        words = "its snippet cannot be read, so nothing says how to compare"
        return RecordChange(*key, "invalid", words, failing=f"{where}: {words}") if old != new else None
    machine = host.differences(base.hosts[key[0]], head.hosts[key[0]])
    causes = causes_of(old, new, base.snippets.get(old_key[1]), snippet, machine)
    change = replace(compare_records(snippet, old, new, machine), host=key[0], causes=causes)
    if any(compared.hides(*each) for each in (old_key, key, (key[0], "host"))):
        change = replace(change, detail=HIDDEN, causes=(), numbers=(), edit="", lines=())
    causeless = not snippet.timing and not {*causes} - {POLICY_CHANGED}
    change = _judged(compared, key, old_key, change, causeless)
    if key != old_key:
        change = replace(change, causes=(*change.causes, f"renamed from {old_key[1]}"))
        return replace(change, kind="newly captured", detail="and says the same") if change.quiet else change
    return None if change.quiet and old == new else change


def _judged(
    compared: ComparedStates, key: RecordKey, old_key: RecordKey, change: RecordChange, causeless: bool
) -> RecordChange:
    """Return the change of a record with what its failure, claims, values and state add to it.

    `causeless` says that nothing is known which would explain another result.
    """
    where = f"{key[1]} on {key[0]}"
    before = broken_claims(compared.base, old_key, compared.old_states)
    after = broken_claims(compared.head, key, compared.new_states)
    newly_broken = [words for claim, words in after.items() if claim not in before]
    old_state, new_state = compared.old_states[old_key], compared.new_states[key]
    if change.kind == "status changed":
        was_good = compared.base.records[old_key].status == "ok"
        return replace(change, failing=f"{where}: {change.detail}" if was_good else "")
    if newly_broken:
        detail = "; ".join(newly_broken)
        return replace(change, kind="claim broken", detail=detail, failing=f"{where}: {newly_broken[0]}")
    if lost := lost_values_in_words(compared.head, key, compared.new_states):
        return replace(change, failing=f"{where}: {lost[0]}")
    if change.quiet and new_state.kind == "stale" and new_state.reasons != old_state.reasons:
        return replace(change, kind="stale", detail="; ".join(new_state.reasons))
    if change.kind in ("text changed", "number beyond tolerance") and causeless:
        words = f"{where}: {change.kind}, though neither snippet, host nor environment did"
        return replace(change, failing=words)
    return change
