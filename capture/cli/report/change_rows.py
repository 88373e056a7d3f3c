"""Changes gathered by what caused them, so that a reviewer reads one row where one thing happened."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from capture.characters import bidi_controls, control_characters
from capture.errors import plural
from capture.review.handbook_changes import Changes
from capture.review.number_alignment import Number
from capture.review.record_change import KINDS, NOISE, POLICY, SOURCE, Change, Kind

# What is always somebody's to read, one by one.
ALONE: tuple[Kind, ...] = ("private", "invalid", "status changed", "claim broken")
NAMED = 6  # captures, edits or numbers that a row names; the others are counted
WORDS = 400  # characters of one sentence
HEAD = ("number", "old", "new", "ratio", "may vary by")
MANY = 4  # sentences about what must not be merged, before the rest is counted


@dataclass(frozen=True)
class Row:
    """Changes of one class with one cause: a sentence about them, and the captures."""

    kind: Kind
    words: str
    changes: tuple[Change, ...]

    @property
    def first(self) -> Change:
        """The change that stands for the row."""
        return self.changes[0]

    @property
    def alone(self) -> bool:
        """Whether the sentence names the capture already."""
        return len(self.changes) == 1 and not self.first.quiet

    @property
    def names(self) -> str:
        """The captures, as many as a reader can take in; of those that say the same only how many."""
        if self.alone or self.kind == "identical" or (self.first.quiet and self.edits):
            return ""
        same = len({item.host for item in self.changes}) == 1
        where = f" on {self.first.host}" if same else ""
        return listed(item.snippet if same else f"{item.snippet} on {item.host}" for item in self.changes) + where

    @property
    def edits(self) -> list[str]:
        """What each capture of the row says differently, in one line each, where they do not all say the same."""
        said: dict[str, list[str]] = {}
        for item in self.changes:
            if words := item.speed or item.edit:
                said.setdefault(words, []).append(item.snippet)
        if self.alone or (len(said) == 1 and self.kind == "text changed"):
            return []
        lines = [f"{listed(names, 2)}: {shortened(edit)}" for edit, names in said.items()]
        return [*lines[:NAMED], *([f"and {len(lines) - NAMED:,} more"] if len(lines) > NAMED else [])]

    @property
    def table(self) -> list[tuple[str, ...]]:
        """The numbers that moved in the capture, name, old, new, ratio and what may vary, under a head; or nothing."""
        if not self.alone:
            return []
        found = [
            number
            for number in self.first.numbers
            if not number.within or number.named or self.kind == "not comparable" or self.first.speed
        ]
        shown = [number_cells(number) for number in found[:NAMED]]
        left = [(f"and {len(found) - NAMED:,} more", "", "", "", "")] if len(found) > NAMED else []
        return [HEAD, *shown, *left] if shown else []

    @property
    def lines(self) -> tuple[str, ...]:
        """The lines that differ, where they are the same edit in every capture and no table tells it."""
        edits = {item.edit for item in self.changes}
        return self.first.lines if len(edits) == 1 and not self.table else ()


def rows(changes: Changes) -> list[Row]:
    """Return the rows, worst class first, in it the largest first."""
    groups: dict[tuple[object, ...], list[Change]] = {}
    for item in changes.records:
        groups.setdefault(group_of(item), []).append(item)
    found = [Row(items[0].kind, sentence(items), tuple(items)) for items in groups.values()]
    return sorted(found, key=lambda row: (KINDS.index(row.kind), -len(row.changes), row.first.snippet))


def group_of(item: Change) -> tuple[object, ...]:
    """Return what changes of one row have in common; a snippet that changed is a cause of its own."""
    if item.quiet:
        return (item.kind, item.detail if item.detail.startswith(NOISE) else "")
    if item.kind in ALONE:
        return (item.kind, item.host, item.snippet)
    if item.kind in ("newly captured", "removed"):
        return (item.kind, item.host, item.detail)
    own = item.snippet if {SOURCE, POLICY} & {*item.causes} else ""
    if item.kind in ("not comparable", "stale"):
        return (item.kind, item.detail, own)
    return (item.kind, item.causes, own) if item.causes else (item.kind, item.host, item.snippet)


def sentence(items: list[Change]) -> str:
    """Say what happened to the changes of a row."""
    first, count = items[0], plural(len(items), "capture")
    where, causes = f"{first.snippet} on {first.host}", "; ".join(first.causes)
    speed = f"; {first.speed}" if len(items) == 1 and first.speed else ""
    if first.quiet:
        return shortened(f"{count}: {first.detail}" if first.detail.startswith(NOISE) else count, WORDS)
    if first.kind in ALONE:
        return shortened(f"{where}: {first.detail}{f' ({causes})' if causes else ''}", WORDS)
    if first.kind in ("newly captured", "removed"):
        name = where if len(items) == 1 else f"{count} on {first.host}"
        about = "; ".join(filter(None, (causes, first.detail)))
        return shortened(f"{name}: {about}" if about else name, WORDS)
    if first.kind in ("not comparable", "stale"):
        return shortened(f"{where if len(items) == 1 else count}: {first.detail}{speed}", WORDS)
    if len(items) == 1:
        why = f"; {first.detail}" if first.detail.startswith('value "') else ""
        return shortened(f"{where}: {causes or 'nothing else changed'}{why}{speed}", WORDS)
    edits = {item.edit for item in items}
    same = f"the same edit {shortened(first.edit)}" if len(edits) == 1 else f"{len(edits)} different edits"
    return f"{shortened(causes, WORDS)}: {count}, {same}"


def shortened(text: str, limit: int = 90) -> str:
    """Return a text as one line cut to a length."""
    text = one_line(text[: limit + 1])
    return f"{text[:limit]}…" if len(text) > limit else text


def one_line(words: str) -> str:
    """Return strangers' text on one line, with its control characters visible."""
    return bidi_controls(control_characters(words)).replace("\n", "\\n").replace("\t", "\\t")


def listed(names: Iterable[str], most: int = NAMED) -> str:
    """Return names with commas, the last ones only counted."""
    every = list(names)
    rest = f" and {len(every) - most:,} more" if len(every) > most else ""
    return f"{', '.join(every[:most])}{rest}"


def number_cells(number: Number) -> tuple[str, ...]:
    """Return the cells of one number: name, old, new, ratio, what may vary."""
    ratio = "" if number.ratio is None else f"{number.ratio:.3g}"
    return (
        shortened(number.name, 60),
        shortened(number.old, 30),
        shortened(number.new, 30),
        ratio,
        shortened(number.tolerance, 30),
    )


def head_line(changes: Changes) -> str:
    """Say in one line between what, how much differs and how much of it is to be read."""
    count, reading = len(changes.records), len(changes.to_read)
    if not count:
        return f"{changes.base} -> {changes.head}: no capture differs"
    differ = "compared" if changes.across_hosts else "differs" if count == 1 else "differ"
    return f"{changes.base} -> {changes.head}: {plural(count, 'capture')} {differ}, {reading:,} to read"


def failing_lines(changes: Changes) -> list[str]:
    """Return why this must not be merged, the last reasons only counted."""
    found = [shortened(words, WORDS) for words in changes.failing]
    rest = [f"and {len(found) - MANY} more, in the rows below"] if len(found) > MANY else []
    return [*found[:MANY], *rest]


def host_lines(changes: Changes) -> list[tuple[str, list[str]]]:
    """Return what about each host changed; of many hosts, and of much about one, the last only counted."""
    found = []
    most = max(2, 2 * NAMED // max(1, len(changes.hosts)))
    for item in changes.hosts[:NAMED]:
        left = len(item.words) - most
        rest = [f"and {left} more"] if left > 0 else []
        found.append((item.host, [*(shortened(words, WORDS) for words in item.words[:most]), *rest]))
    left = len(changes.hosts) - NAMED
    return [*found, *([("…", [f"and {plural(left, 'more host')}"])] if left > 0 else [])]
