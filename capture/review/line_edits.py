"""Tells a change of text in short: which lines differ, and which words became which."""

from __future__ import annotations

import difflib
import hashlib
import re
from collections.abc import Iterator, Sequence

from capture.record.excerpt import around_difference, first_difference

_TOKEN = re.compile(r"\w+(?:\.\w+)*|\s+|[^\w\s]")
_MOST_LINES = 12  # differing lines that are shown
_LINE_WIDTH = 120  # characters of a line that are shown, around the first that differs
_MOST_EDITS = 8  # edits of words that are shown
_MOST_CHARACTERS = 2**18  # characters of a text that are compared; an output of a quarter of that is the longest stored
_MOST_ALIGNED = 200  # lines or words of a side that are aligned; the time for it grows with the square
# Whether the parts are the same; start and end of the old part; start and end of the new part.
_AlignedSpan = tuple[bool, int, int, int, int]


def text_edit(old: str, new: str) -> tuple[tuple[str, ...], str]:
    """Return the lines that differ, marked - and +, and in short the edit of words that leads from old to new.

    Two changes have the same edit in short only if all their edited words are the same.
    """
    before, after = old[:_MOST_CHARACTERS].split("\n"), new[:_MOST_CHARACTERS].split("\n")
    lines: list[str] = []
    edits: dict[tuple[str, str], None] = {}
    for same, i, j, k, m in _aligned_spans(before, after):
        if same:
            continue
        lines += _marked_lines(before[i:j], after[k:m])
        edits.update(dict.fromkeys(_word_edits_of_lines(before[i:j], after[k:m])))
    if len(lines) > _MOST_LINES:
        lines = [*lines[:_MOST_LINES], f"… {len(lines) - _MOST_LINES} more lines"]
    return tuple(lines), _edits_in_short(list(edits))


def _aligned_spans(before: Sequence[str], after: Sequence[str]) -> Iterator[_AlignedSpan]:
    """Yield which parts of two sequences are the same and which differ, in order.

    Where too many differ to be aligned in good time, all between the common start and end is one difference.
    """
    start, end = 0, 0
    room = min(len(before), len(after))
    while start < room and before[start] == after[start]:
        start += 1
    while end < room - start and before[-1 - end] == after[-1 - end]:
        end += 1
    old, new = before[start : len(before) - end], after[start : len(after) - end]
    if len(old) > _MOST_ALIGNED or len(new) > _MOST_ALIGNED:
        yield False, start, len(before) - end, start, len(after) - end
        return
    for tag, i, j, k, m in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        yield tag == "equal", i + start, j + start, k + start, m + start


def _marked_lines(before: Sequence[str], after: Sequence[str]) -> list[str]:
    """Return old lines marked - and the new ones marked +, each cut to a part around its first difference."""
    starts = [0] * max(len(before), len(after))
    if len(before) == len(after):
        starts = [first_difference(one, other) for one, other in zip(before, after, strict=True)]
    old = [f"- {_line_around(line, start)}" for line, start in zip(before, starts, strict=False)]
    return old + [f"+ {_line_around(line, start)}" for line, start in zip(after, starts, strict=False)]


def _line_around(line: str, start: int) -> str:
    """Return a line cut to the width that is shown, around a position, with how many characters it has in all."""
    if len(line) <= _LINE_WIDTH:
        return line
    first = max(0, min(start - _LINE_WIDTH // 3, len(line) - _LINE_WIDTH))
    head, tail = "…" if first else "", "…" if first + _LINE_WIDTH < len(line) else ""
    return f"{head}{line[first : first + _LINE_WIDTH]}{tail} ({len(line):,} characters)"


def _word_edits_of_lines(before: Sequence[str], after: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the edits of words: line by line where there are as many lines as before, else over all of them."""
    if len(before) == len(after):
        for one, other in zip(before, after, strict=True):
            yield from _word_edits(one, other)
    else:
        yield from _word_edits("\n".join(before), "\n".join(after))


def _word_edits(old: str, new: str) -> Iterator[tuple[str, str]]:
    """Yield which words became which; blanks around them only where nothing else differs."""
    before, after = _TOKEN.findall(old), _TOKEN.findall(new)
    for same, i, j, k, m in _aligned_spans(before, after):
        one, other = "".join(before[i:j]), "".join(after[k:m])
        if not same:
            bare = one.strip() != other.strip()
            yield (one.strip(), other.strip()) if bare else (one, other)


def _quoted(text: str) -> str:
    """Return words in quotes on one line; for no words the word `nothing`."""
    return '"' + text.replace("\n", " ⏎ ") + '"' if text else "nothing"


def _edit_in_words(edit: tuple[str, str]) -> str:
    """Return an edit as `"2.13.0" -> "2.14.1"`."""
    return f"{_quoted(edit[0])} -> {_quoted(edit[1])}"


def _edits_in_short(pairs: Sequence[tuple[str, str]], limit: int = 90) -> str:
    """Return the first edits, each cut around its first difference, then with a digest of all of them."""
    edits = [_edit_in_words(pair) for pair in pairs]
    shown = [
        edit if len(edit) <= limit else _edit_in_words(around_difference(*pair, limit // 2 - 5))
        for edit, pair in zip(edits[:_MOST_EDITS], pairs, strict=False)
    ]
    if shown == edits:
        return "; ".join(shown)
    more = f" and {len(edits) - _MOST_EDITS} more" if len(edits) > _MOST_EDITS else ""
    short_digest = hashlib.sha256("\n".join(edits).encode("utf-8", "surrogatepass")).hexdigest()[:6]
    return f"{'; '.join(shown)}{more} (edit {short_digest})"
