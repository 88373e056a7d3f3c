"""Changes gathered by what caused them, so that a reviewer reads one row where one thing happened."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from capture.alignment import Number
from capture.changes import Changes
from capture.errors import plural
from capture.pairs import KINDS, Change, Kind

# What is always somebody's to read, one by one.
ALONE: tuple[Kind, ...] = ("private", "invalid", "status changed", "claim broken")
NAMED = 6  # captures that a row names; the others are counted
HEAD = ("number", "old", "new", "ratio", "may vary by")
MANY = 4  # sentences about what must not be merged, before the rest is counted


@dataclass(frozen=True)
class Row:
    """Changes of one class with one cause: a sentence about them, the captures, and what to show of the first."""

    kind: Kind
    words: str
    changes: tuple[Change, ...]

    @property
    def first(self) -> Change:
        """The change that stands for the row."""
        return self.changes[0]

    @property
    def names(self) -> str:
        """The captures, as many as a reader can take in."""
        same = len({item.host for item in self.changes}) == 1
        where = f" on {self.first.host}" if same else ""
        return listed(item.snippet if same else f"{item.snippet} on {item.host}" for item in self.changes) + where

    @property
    def edits(self) -> list[str]:
        """What each capture of the row says differently, in one line each, where they do not all say the same."""
        if self.first.quiet or len({item.edit for item in self.changes}) == 1:
            return []
        return [f"{item.snippet}: {shortened(item.edit)}" for item in self.changes[:NAMED] if item.edit]


def rows(changes: Changes) -> list[Row]:
    """Return the rows, worst class first, in it the largest first."""
    groups: dict[tuple[object, ...], list[Change]] = {}
    for item in changes.records:
        groups.setdefault(group_of(item), []).append(item)
    found = [Row(items[0].kind, sentence(items), tuple(items)) for items in groups.values()]
    return sorted(found, key=lambda row: (KINDS.index(row.kind), -len(row.changes), row.first.snippet))


def group_of(item: Change) -> tuple[object, ...]:
    """Return what changes of one row have in common."""
    if item.quiet:
        return (item.kind,)
    if item.kind in ALONE:
        return (item.kind, item.host, item.snippet)
    if item.kind in ("newly captured", "removed"):
        return (item.kind, item.host, item.detail)
    if item.kind in ("not comparable", "stale"):
        return (item.kind, item.causes, item.detail)
    return (item.kind, item.causes) if item.causes else (item.kind, item.host, item.snippet)


def sentence(items: list[Change]) -> str:
    """Say what happened to the changes of a row."""
    first, count = items[0], plural(len(items), "capture")
    if first.quiet:
        return count
    where = f"{first.snippet} on {first.host}"
    if first.kind in ALONE:
        cause = f" ({'; '.join(first.causes)})" if first.causes else ""
        return f"{where}: {first.detail}{cause}"
    if first.kind in ("newly captured", "removed"):
        about = "; ".join([*first.causes, *([first.detail] if first.detail else [])])
        return f"{count} on {first.host}{f': {about}' if about else ''}"
    if first.kind in ("not comparable", "stale"):
        return f"{where}: {first.detail}" if len(items) == 1 else f"{count}: {first.detail}"
    if len(items) == 1:
        return f"{where}: {'; '.join(first.causes) or 'nothing else changed'}"
    edits = {item.edit for item in items}
    same = "the same edit" if len(edits) == 1 else f"{len(edits)} different edits"
    shown = f" {first.edit}" if len(edits) == 1 and first.edit else ""
    return f"{'; '.join(first.causes)}: {count}, {same}{shown}"


def shortened(text: str, limit: int = 90) -> str:
    """Return a line cut to a length."""
    return f"{text[:limit]}…" if len(text) > limit else text


def listed(names: Iterable[str], most: int = NAMED) -> str:
    """Return names with commas, the last ones only counted."""
    every = list(names)
    rest = f" and {len(every) - most} more" if len(every) > most else ""
    return f"{', '.join(every[:most])}{rest}"


def number_cells(numbers: Iterable[Number]) -> list[tuple[str, ...]]:
    """Return the cells of a table of numbers: name, old, new, ratio, what may vary."""
    return [
        (
            number.name,
            f"{number.old:g}",
            f"{number.new:g}",
            "" if number.ratio is None else f"{number.ratio:.2f}",
            number.tolerance,
        )
        for number in numbers
    ]


def telling(item: Change) -> list[Number]:
    """Return the numbers of a change that are worth a table: what is beyond tolerance first, then what is named."""
    found = sorted(item.numbers, key=lambda number: (number.within, number.name.startswith("line ")))
    return [number for number in found if not number.within or not number.name.startswith("line ")][:NAMED]


def head_line(changes: Changes) -> str:
    """Say in one line between what, how much differs and how much of it is to be read."""
    count, reading = len(changes.records), len(changes.to_read)
    if not count:
        return f"{changes.base} -> {changes.head}: no capture differs"
    return f"{changes.base} -> {changes.head}: {plural(count, 'capture')} differ, {reading} to read"


def failing_lines(changes: Changes) -> list[str]:
    """Return why this must not be merged, the last reasons only counted."""
    found = changes.failing
    rest = [f"and {len(found) - MANY} more, in the rows below"] if len(found) > MANY else []
    return [*found[:MANY], *rest]
