"""Gathers changes by their cause, so that a reviewer reads one row where one thing happened."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from capture.errors import plural
from capture.record import privacy
from capture.record.excerpt import around_difference
from capture.review.handbook_changes import HandbookChanges
from capture.review.number_alignment import MovedNumber
from capture.review.record_change import KINDS, NOISE_WORDS, POLICY_CHANGED, SOURCE_CHANGED, ChangeKind, RecordChange

# Classes whose changes are read one by one: none shares its row.
_READ_ALONE: tuple[ChangeKind, ...] = ("private", "invalid", "status changed", "claim broken")
_MOST_NAMED = 6  # captures, edits or numbers that a row names; the others are counted
SENTENCE_LENGTH = 400  # characters of one sentence of a report
_SEARCHED = 600  # characters beyond a cut that are searched with what is shown: a secret is known by its whole form
_NUMBER_COLUMNS = ("number", "old", "new", "ratio", "may vary by")
_MOST_FAILING = 4  # sentences about what must not be merged, before the rest is counted


@dataclass(frozen=True)
class ChangeRow:
    """Changes of one class with one cause; `words` is the sentence about them."""

    kind: ChangeKind
    words: str
    changes: tuple[RecordChange, ...]

    @property
    def first(self) -> RecordChange:
        """The change that stands for the row."""
        return self.changes[0]

    @property
    def alone(self) -> bool:
        """Whether the sentence names the capture already."""
        return len(self.changes) == 1 and not self.first.quiet

    @property
    def names(self) -> str:
        """The captures of the row, the last only counted; nothing where the sentence or the edits name them."""
        if self.alone or self.kind == "identical" or (self.first.quiet and self.edits):
            return ""
        same = len({item.host for item in self.changes}) == 1
        where = f" on {self.first.host}" if same else ""
        return _listed(item.snippet if same else f"{item.snippet} on {item.host}" for item in self.changes) + where

    @property
    def edits(self) -> list[str]:
        """What the captures of the row say differently, one line an edit, where they do not all say the same."""
        names_by_edit: dict[str, list[str]] = {}
        for item in self.changes:
            if words := item.speed or item.edit:
                names_by_edit.setdefault(words, []).append(item.snippet)
        if self.alone or (len(names_by_edit) == 1 and self.kind == "text changed"):
            return []
        lines = [f"{_listed(names, 2)}: {shortened(edit)}" for edit, names in names_by_edit.items()]
        more = [f"and {len(lines) - _MOST_NAMED:,} more"] if len(lines) > _MOST_NAMED else []
        return [*lines[:_MOST_NAMED], *more]

    @property
    def table(self) -> list[tuple[str, ...]]:
        """The numbers that moved in the one capture of the row, under a head; nothing for several captures."""
        if not self.alone:
            return []
        numbers = [
            number
            for number in self.first.numbers
            if not number.within or number.named or self.kind == "not comparable" or self.first.speed
        ]
        cells = [_number_cells(number) for number in numbers[:_MOST_NAMED]]
        left = len(numbers) - _MOST_NAMED
        more = [(f"and {left:,} more", "", "", "", "")] if left > 0 else []
        return [_NUMBER_COLUMNS, *cells, *more] if cells else []

    @property
    def lines(self) -> tuple[str, ...]:
        """The lines that differ, where every capture has the same edit and no table shows it."""
        edits = {item.edit for item in self.changes}
        return self.first.lines if len(edits) == 1 and not self.table else ()


def rows(changes: HandbookChanges) -> list[ChangeRow]:
    """Return all changes in rows, the worst class first, in it the rows with most captures first."""
    groups: dict[tuple[object, ...], list[RecordChange]] = {}
    for item in changes.records:
        groups.setdefault(_group_key(item), []).append(item)
    gathered = [ChangeRow(items[0].kind, _row_sentence(items), tuple(items)) for items in groups.values()]
    return sorted(gathered, key=lambda row: (KINDS.index(row.kind), -len(row.changes), row.first.snippet))


def _group_key(item: RecordChange) -> tuple[object, ...]:
    """Return what the changes of one row have in common; each snippet that changed is a cause of its own."""
    if item.quiet:
        return (item.kind, item.detail if item.detail.startswith(NOISE_WORDS) else "")
    if item.kind in _READ_ALONE:
        return (item.kind, item.host, item.snippet)
    if item.kind in ("newly captured", "removed"):
        return (item.kind, item.host, item.detail)
    own = item.snippet if {SOURCE_CHANGED, POLICY_CHANGED} & {*item.causes} else ""
    if item.kind in ("not comparable", "stale"):
        return (item.kind, item.detail, own)
    return (item.kind, item.causes, own) if item.causes else (item.kind, item.host, item.snippet)


def _row_sentence(items: list[RecordChange]) -> str:
    """Say what happened to the changes of a row."""
    first, count = items[0], plural(len(items), "capture")
    where, causes = f"{first.snippet} on {first.host}", "; ".join(first.causes)
    speed = f"; {first.speed}" if len(items) == 1 and first.speed else ""
    if first.quiet:
        return shortened(f"{count}: {first.detail}" if first.detail.startswith(NOISE_WORDS) else count, SENTENCE_LENGTH)
    if first.kind in _READ_ALONE:
        return shortened(f"{where}: {first.detail}{f' ({causes})' if causes else ''}", SENTENCE_LENGTH)
    if first.kind in ("newly captured", "removed"):
        name = where if len(items) == 1 else f"{count} on {first.host}"
        about = "; ".join(filter(None, (causes, first.detail)))
        return shortened(f"{name}: {about}" if about else name, SENTENCE_LENGTH)
    if first.kind in ("not comparable", "stale"):
        return shortened(f"{where if len(items) == 1 else count}: {first.detail}{speed}", SENTENCE_LENGTH)
    if len(items) == 1:
        why = f"; {first.detail}" if first.detail.startswith('value "') else ""
        return shortened(f"{where}: {causes or 'nothing else changed'}{why}{speed}", SENTENCE_LENGTH)
    edits = {item.edit for item in items}
    same = f"the same edit {shortened(first.edit)}" if len(edits) == 1 else f"{len(edits)} different edits"
    return f"{shortened(causes, SENTENCE_LENGTH)}: {count}, {same}"


def shortened(text: str, limit: int = 90) -> str:
    """Return a text as one line cut to a length."""
    text = one_line(text[: limit + _SEARCHED])
    return f"{text[:limit]}…" if len(text) > limit else text


def one_line(words: str) -> str:
    """Return strangers' text on one line, with its control characters visible and without what is private."""
    return privacy.visible(words).replace("\n", "\\n").replace("\t", "\\t")


def _listed(names: Iterable[str], most: int = _MOST_NAMED) -> str:
    """Return names with commas, those beyond `most` only counted."""
    every = list(names)
    rest = f" and {len(every) - most:,} more" if len(every) > most else ""
    return f"{', '.join(every[:most])}{rest}"


def _number_cells(number: MovedNumber) -> tuple[str, ...]:
    """Return the cells of one number, by the columns of a row's table."""
    ratio = "" if number.ratio is None else f"{number.ratio:.3g}"
    return (
        shortened(number.name, 60),
        *map(one_line, around_difference(number.old, number.new, 30)),
        ratio,
        shortened(number.tolerance, 30),
    )


def head_line(changes: HandbookChanges) -> str:
    """Say in one line what is compared, how many captures differ and how many of them are to be read."""
    count, reading = len(changes.records), len(changes.to_read)
    if not count:
        return f"{changes.base} -> {changes.head}: no capture differs"
    differ = "compared" if changes.across_hosts else "differs" if count == 1 else "differ"
    return f"{changes.base} -> {changes.head}: {plural(count, 'capture')} {differ}, {reading:,} to read"


def failing_lines(changes: HandbookChanges) -> list[str]:
    """Return why this must not be merged, the last reasons only counted."""
    left = len(changes.failing) - _MOST_FAILING
    rest = [f"and {left} more, in the rows below"] if left > 0 else []
    return [*(shortened(words, SENTENCE_LENGTH) for words in changes.failing[:_MOST_FAILING]), *rest]


def host_lines(changes: HandbookChanges) -> list[tuple[str, list[str]]]:
    """Return by host what changed about it; of many hosts, and of many words about one, the last are only counted."""
    lines = []
    most = max(2, 2 * _MOST_NAMED // max(1, len(changes.hosts)))
    for item in changes.hosts[:_MOST_NAMED]:
        left = len(item.words) - most
        rest = [f"and {left} more"] if left > 0 else []
        lines.append((item.host, [*(shortened(words, SENTENCE_LENGTH) for words in item.words[:most]), *rest]))
    left = len(changes.hosts) - _MOST_NAMED
    return [*lines, *([("…", [f"and {plural(left, 'more host')}"])] if left > 0 else [])]
