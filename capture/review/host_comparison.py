"""Compares two hosts of one handbook: what agrees, what differs with the chip, and what cannot be compared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from capture.errors import plural
from capture.host import host
from capture.record.record import Record
from capture.record.state import State
from capture.review import number_alignment
from capture.review.handbook_changes import HandbookChanges
from capture.review.host_change import HostChange
from capture.review.record_change import RecordChange, compare_records, environment_changes
from capture.store.catalogue import Catalogue

_FELT_PERCENT = 5.0  # percent of a time; nobody feels a smaller difference
_MOST_NAMED = 5  # gains, and losses, that are named
_OTHER_MACHINE = "another machine"


def compare_hosts(cat: Catalogue, one: str, other: str) -> HandbookChanges:
    """Compare the records of two hosts, given by their labels, snippet by snippet."""
    machine = host.differences(cat.hosts[one], cat.hosts[other])
    states = cat.states()
    changes = []
    for key in cat.snippets:
        old, new = cat.records.get((one, key)), cat.records.get((other, key))
        if old is None and new is None:
            continue
        if old is None or new is None:
            lacks = one if old is None else other
            changes.append(RecordChange(other, key, "not comparable", f"not on {lacks}: {states[lacks, key]}"))
        else:
            changes.append(_compare_snippet(cat, states, old, new, machine))
    words = [f"{cat.hosts[one].title} -> {cat.hosts[other].title}"]
    if machine:
        words.append(f"{_OTHER_MACHINE} ({', '.join(machine)}): its timings are shown, not judged")
    words += _software_differences(cat, one, other) or ["the same software"]
    both = HostChange(f"{one} -> {other}", tuple(words))
    return HandbookChanges(one, other, (both,), tuple(sorted(changes, key=lambda item: item.rank)), across_hosts=True)


def _compare_snippet(
    cat: Catalogue, states: Mapping[tuple[str, str], State], old: Record, new: Record, machine: tuple[str, ...]
) -> RecordChange:
    """Compare the records of one snippet on two hosts; `machine` says in what the hosts differ."""
    snippet = cat.snippets[new.snippet]
    if old.source_sha256 != new.source_sha256:
        stale = [item.host for item in (old, new) if states[item.host, item.snippet].kind == "stale"]
        words = f"captured from two versions of the snippet; stale on {' and '.join(stale)}"
        return RecordChange(new.host, new.snippet, "not comparable", words)
    change = compare_records(snippet, old, new, (_OTHER_MACHINE,) if machine else ())
    software = environment_changes(old.environment, new.environment)
    causes = (*([_OTHER_MACHINE] if machine else []), *(words for words in software if not words.startswith("chip ")))
    if not snippet.timing or change.kind in ("status changed", "text changed"):
        return replace(change, causes=causes)
    speed = number_alignment.relative_speed(snippet, old.stdout, new.stdout)
    return replace(change, causes=causes, speed=", ".join(filter(None, (_values_in_words(change), speed))))


def _values_in_words(change: RecordChange) -> str:
    """Say whether a timing differs in its text, in values that may not vary, or in nothing but times."""
    if change.lines:
        return "the text differs"
    return f"values {'equal' if all(number.time or number.within for number in change.numbers) else 'differ'}"


def _software_differences(cat: Catalogue, one: str, other: str) -> list[str]:
    """Say in what software two hosts differ, and in how many of the snippets that both captured."""
    counted: dict[str, int] = {}
    both = [(old, new) for old in cat.of_host(one) if (new := cat.records.get((other, old.snippet)))]
    for old, new in both:
        for words in environment_changes(old.environment, new.environment):
            counted[words] = counted.get(words, 0) + (not words.startswith("chip "))
    return [
        words if count == len(both) else f"{words} in {plural(count, 'record')}"
        for words, count in counted.items()
        if count
    ]


def largest_time_changes(changes: HandbookChanges) -> tuple[list[tuple[str, float]], list[tuple[str, float]]]:
    """Return the largest gains and the largest losses in time, each as (snippet and number, percent).

    Both are empty where no more times moved than would be named.
    """
    moved = [
        (f"{item.snippet} {number.name}", change)
        for item in changes.records
        for number in item.numbers
        if number.time
        and (change := number_alignment.percent_moved(number)) is not None
        and abs(change) >= _FELT_PERCENT
    ]
    if len(moved) <= _MOST_NAMED:
        return [], []
    moved.sort(key=lambda item: item[1])
    return (
        [item for item in moved[:_MOST_NAMED] if item[1] < 0],
        [item for item in reversed(moved[-_MOST_NAMED:]) if item[1] > 0],
    )
