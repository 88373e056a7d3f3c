"""Two hosts set against each other: what agrees, what differs with the chip, and what cannot be compared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from capture import alignment, host
from capture.catalogue import Catalogue
from capture.changes import Changes, HostChange, ordered
from capture.pairs import Change, environment_changes, pair
from capture.record import Record
from capture.state import State

FELT = 5.0  # percent below which nobody feels a difference
MOST = 5  # gains and losses that are named


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
    words += [f"{'timings are not compared, only shown: ' if number == 0 else ''}{item}"
              for number, item in enumerate(machine)]  # fmt: skip
    words += software(found) or ["the same software"]
    changes = (HostChange(f"{one} -> {other}", tuple(words)),)
    return Changes(one, other, changes, ordered(found), across_hosts=True)


def compared(
    cat: Catalogue, states: Mapping[tuple[str, str], State], old: Record, new: Record, machine: tuple[str, ...]
) -> Change:
    """Compare the records of one snippet on two hosts."""
    snippet = cat.snippets[new.snippet]
    if old.source_sha256 != new.source_sha256:
        stale = [item.host for item in (old, new) if states[item.host, item.snippet].kind == "stale"]
        return Change(
            new.host, new.snippet, "not comparable", f"captured from two versions of the snippet; stale: {stale[0]}"
        )
    found = pair(snippet, old, new, machine)
    causes = (*(("another machine",) if machine else ()), *environment_changes(old.environment, new.environment))
    if found.kind == "text changed" or not found.numbers:
        return replace(found, causes=causes)
    speed = alignment.faster(found.numbers) if snippet.timing else ""
    said = [f"values {'equal' if equal(found) else 'differ'}", *([speed] if speed else [])]
    return replace(found, causes=causes, detail=", ".join([*said, *([found.detail] if found.detail else [])]))


def equal(found: Change) -> bool:
    """Tell whether all that moved are times and what the policy lets vary."""
    return all(number.time or number.within for number in found.numbers)


def software(found: list[Change]) -> list[str]:
    """Return what differs in the software of both, where their records say so."""
    counted: dict[str, int] = {}
    for item in found:
        for words in item.causes:
            counted[words] = counted.get(words, 0) + 1
    most = max(counted.values(), default=0)
    return [words for words, count in counted.items() if count == most and words != "another machine"]


def largest(changes: Changes) -> tuple[list[tuple[str, float]], list[tuple[str, float]]]:
    """Return the largest gains and losses in time, each as (what, percent); only where many timings moved."""
    moved = [
        (f"{item.snippet} {number.name}", change)
        for item in changes.records
        for number in item.numbers
        if number.time and (change := alignment.percent(number)) is not None and abs(change) >= FELT
    ]
    if len(moved) <= MOST:
        return [], []
    moved.sort(key=lambda item: item[1])
    return (
        [item for item in moved[:MOST] if item[1] < 0],
        [item for item in reversed(moved[-MOST:]) if item[1] > 0],
    )
