"""A change of text in short: the lines that differ, and which words became what."""

from __future__ import annotations

import difflib
import hashlib
import re
from collections.abc import Iterator, Sequence

TOKEN = re.compile(r"\w+(?:\.\w+)*|\s+|[^\w\s]")
LINES = 12  # lines that are shown
WIDTH = 120  # characters of a line that are shown, around what differs
EDITS = 8  # exchanged words that are shown
MOST = 2**18  # characters of a text that are looked at; the tool stores a quarter of it
CLOSE = 200  # parts of a text on either side up to which they are aligned; the time for it grows with the square
Opcode = tuple[bool, int, int, int, int]


def text_edit(old: str, new: str) -> tuple[tuple[str, ...], str]:
    """Return the lines that differ, marked - and +, and the words exchanged in short.

    The second is the same for two changes only if all their exchanged words are.
    """
    before, after = old[:MOST].split("\n"), new[:MOST].split("\n")
    lines: list[str] = []
    edits: dict[str, None] = {}
    for same, i, j, k, m in opcodes(before, after):
        if same:
            continue
        lines += marked(before[i:j], after[k:m])
        edits.update(dict.fromkeys(hunk_edits(before[i:j], after[k:m])))
    if len(lines) > LINES:
        lines = [*lines[:LINES], f"… {len(lines) - LINES} more lines"]
    return tuple(lines), in_short(list(edits))


def opcodes(before: Sequence[str], after: Sequence[str]) -> Iterator[Opcode]:
    """Yield which parts are the same; where too many differ to be aligned in time, they are one change."""
    start, end = 0, 0
    room = min(len(before), len(after))
    while start < room and before[start] == after[start]:
        start += 1
    while end < room - start and before[-1 - end] == after[-1 - end]:
        end += 1
    old, new = before[start : len(before) - end], after[start : len(after) - end]
    if len(old) > CLOSE or len(new) > CLOSE:
        yield False, start, len(before) - end, start, len(after) - end
        return
    for tag, i, j, k, m in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        yield tag == "equal", i + start, j + start, k + start, m + start


def marked(before: Sequence[str], after: Sequence[str]) -> list[str]:
    """Return lines that became others, each cut to what differs."""
    starts = [0] * max(len(before), len(after))
    if len(before) == len(after):
        starts = [first_difference(one, other) for one, other in zip(before, after, strict=True)]
    old = [f"- {window(line, start)}" for line, start in zip(before, starts, strict=False)]
    return old + [f"+ {window(line, start)}" for line, start in zip(after, starts, strict=False)]


def first_difference(one: str, other: str) -> int:
    """Return the position of the first character in which two lines differ."""
    for number, (before, after) in enumerate(zip(one, other, strict=False)):
        if before != after:
            return number
    return min(len(one), len(other))


def window(line: str, start: int) -> str:
    """Return a line cut to WIDTH characters around a position, with how many it has."""
    if len(line) <= WIDTH:
        return line
    first = max(0, min(start - WIDTH // 3, len(line) - WIDTH))
    head, tail = "…" if first else "", "…" if first + WIDTH < len(line) else ""
    return f"{head}{line[first : first + WIDTH]}{tail} ({len(line):,} characters)"


def hunk_edits(before: Sequence[str], after: Sequence[str]) -> Iterator[str]:
    """Yield the words exchanged: line by line where there are as many, else in all of them."""
    if len(before) == len(after):
        for one, other in zip(before, after, strict=True):
            yield from word_edits(one, other)
    else:
        yield from word_edits("\n".join(before), "\n".join(after))


def word_edits(old: str, new: str) -> Iterator[str]:
    """Yield what words became what, as `"2.13.0" -> "2.14.1"`; blanks count where nothing else differs."""
    before, after = TOKEN.findall(old), TOKEN.findall(new)
    for same, i, j, k, m in opcodes(before, after):
        one, other = "".join(before[i:j]), "".join(after[k:m])
        if not same:
            bare = one.strip() != other.strip()
            yield f"{quoted(one.strip() if bare else one)} -> {quoted(other.strip() if bare else other)}"


def quoted(text: str) -> str:
    """Return words in quotes on one line, or `nothing`."""
    return '"' + text.replace("\n", " ⏎ ") + '"' if text else "nothing"


def in_short(edits: Sequence[str], limit: int = 90) -> str:
    """Return the first edits, each cut to a length; where anything is cut, with a mark of the whole."""
    shown = [edit if len(edit) <= limit else f"{edit[: limit - 1]}…" for edit in edits[:EDITS]]
    if shown == list(edits):
        return "; ".join(shown)
    more = f" and {len(edits) - EDITS} more" if len(edits) > EDITS else ""
    mark = hashlib.sha256("\n".join(edits).encode("utf-8", "surrogatepass")).hexdigest()[:6]
    return f"{'; '.join(shown)}{more} (edit {mark})"
