"""Two hosts set against each other: what agrees, what differs with the chip, and what cannot be compared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from capture.errors import plural
from capture.host import host
from capture.record.record import Record
from capture.record.state import State
from capture.review import number_alignment
from capture.review.handbook_changes import Changes, HostChange, ordered
from capture.review.record_change import Change, environment_changes, pair
from capture.store.catalogue import Catalogue

FELT = 5.0  # percent below which nobody feels a difference
MOST = 5  # gains and losses that are named
MACHINE = "another machine"


def hosts(cat: Catalogue, one: str, other: str) -> Changes:
    """Compare the records of two hosts, snippet by snippet."""
    machine = host.differences(cat.hosts[one], cat.hosts[other])
    states = cat.states()
    found = []
    for key in cat.snippets:
        old, new = cat.records.get((one, key)), cat.records.get((other, key))
        if old is None and new is None:
            continue
        if old is None or new is None:
            lacks = one if old is None else other
            found.append(Change(other, key, "not comparable", f"not on {lacks}: {states[lacks, key]}"))
        else:
            found.append(compared(cat, states, old, new, machine))
    words = [f"{cat.hosts[one].title} -> {cat.hosts[other].title}"]
    if machine:
        words.append(f"{MACHINE} ({', '.join(machine)}): its timings are shown, not judged")
    words += software(cat, one, other) or ["the same software"]
    return Changes(one, other, (HostChange(f"{one} -> {other}", tuple(words)),), ordered(found), across_hosts=True)


def compared(
    cat: Catalogue, states: Mapping[tuple[str, str], State], old: Record, new: Record, machine: tuple[str, ...]
) -> Change:
    """Compare the records of one snippet on two hosts."""
    snippet = cat.snippets[new.snippet]
    if old.source_sha256 != new.source_sha256:
        stale = [item.host for item in (old, new) if states[item.host, item.snippet].kind == "stale"]
        words = f"captured from two versions of the snippet; stale on {' and '.join(stale)}"
        return Change(new.host, new.snippet, "not comparable", words)
    found = pair(snippet, old, new, (MACHINE,) if machine else ())
    changed = environment_changes(old.environment, new.environment)
    causes = (*([MACHINE] if machine else []), *(words for words in changed if not words.startswith("chip ")))
    if not snippet.timing or found.kind in ("status changed", "text changed"):
        return replace(found, causes=causes)
    speed = number_alignment.faster(snippet, old.stdout, new.stdout)
    return replace(found, causes=causes, speed=", ".join([values(found), *([speed] if speed else [])]))


def values(found: Change) -> str:
    """Say whether all that moved are times and what the policy lets vary."""
    if found.lines:
        return "the text differs"
    return f"values {'equal' if all(number.time or number.within for number in found.numbers) else 'differ'}"


def software(cat: Catalogue, one: str, other: str) -> list[str]:
    """Return what differs in the software of both, and in how many of the snippets that both captured."""
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


def largest(changes: Changes) -> tuple[list[tuple[str, float]], list[tuple[str, float]]]:
    """Return the largest gains and losses in time, each as (what, percent); only where many timings moved."""
    moved = [
        (f"{item.snippet} {number.name}", change)
        for item in changes.records
        for number in item.numbers
        if number.time and (change := number_alignment.percent(number)) is not None and abs(change) >= FELT
    ]
    if len(moved) <= MOST:
        return [], []
    moved.sort(key=lambda item: item[1])
    return (
        [item for item in moved[:MOST] if item[1] < 0],
        [item for item in reversed(moved[-MOST:]) if item[1] > 0],
    )
