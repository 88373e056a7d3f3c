"""What became of the hosts of a handbook between two states: other machines, other descriptions, other software."""

from __future__ import annotations

from dataclasses import dataclass

from capture import store
from capture.errors import plural
from capture.host import host
from capture.review.record_change import CHIP_CHANGED, environment_changes
from capture.review.two_states import HIDDEN, ComparedStates


@dataclass(frozen=True)
class HostChange:
    """What changed about one host, in words, and what is therefore not compared.

    `edits` are those of the words that tell of another description of the same machine; `failing` says why the change
    must not be merged, or nothing.
    """

    host: str
    words: tuple[str, ...]
    edits: tuple[str, ...] = ()
    failing: str = ""


def changes_of_hosts(compared: ComparedStates, unreadable: set[str]) -> list[HostChange]:
    """Return what changed about each host of either state, and what is therefore not compared."""
    base, head = compared.base, compared.head
    result = []
    for label in dict.fromkeys([*base.hosts, *head.hosts, *sorted(unreadable)]):
        words: list[str] = []
        failing = ""
        edits: tuple[str, ...] = ()
        if label in unreadable:
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
            edits = host.other_differences(base.hosts[label], head.hosts[label])
            software = _software_changes(compared, label)
            words += [*edits, *(each for each in software if not (machine and each.startswith(CHIP_CHANGED)))]
            failing = _uncaused(compared, label, (*machine, *edits))
        if words:
            shown = (HIDDEN,) if compared.hides(label) else tuple(words)
            result.append(HostChange(label, shown, () if shown == (HIDDEN,) else edits, failing))
    return result


def _uncaused(compared: ComparedStates, label: str, differences: tuple[str, ...]) -> str:
    """Say that facts of a host changed although nothing was captured there, or nothing; its title is free to choose."""
    facts = [words for words in differences if not words.startswith("title: ")]
    base, head = compared.base, compared.head
    captured = any(item != base.records.get((label, item.snippet)) for item in head.of_host(label))
    if captured or not facts:
        return ""
    said = HIDDEN if compared.hides(label) else ", ".join(facts)
    path = head.book.relative(head.book.host_path(label))
    return (
        f"{path}: changed though nothing was captured there ({said}); restore it with git, or capture on that machine"
    )


def _software_changes(compared: ComparedStates, label: str) -> list[str]:
    """Say what software changed on a host, and in how many of its records."""
    counted: dict[str, int] = {}
    for new in compared.head.of_host(label):
        old = compared.base.records.get((label, new.snippet))
        for words in environment_changes(old.environment, new.environment) if old else ():
            hidden = compared.hides(label, new.snippet)
            counted[words] = counted.get(words, 0) + (not hidden)
    return [f"{words} in {plural(count, 'record')}" for words, count in counted.items() if count]
