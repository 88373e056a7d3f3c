"""Captured text on a page: bounded, searchable in part, and never able to act."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from capture.characters import bidi_controls, control_characters
from capture.errors import plural

PAGE_LIMIT = 20_000  # characters of one stream on a page; the record has the rest
SEARCH_LIMIT = 2_000  # characters of one stream in the search index
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
# What makes a tag, a link or an image of text, and what would keep an escape before it from being one.
_MARKDOWN_MARK = re.compile(r"[\[\]]|<(?=[A-Za-z/!?])|\\(?=[\[\]<\\])")
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True)
class StreamView:
    """One stream as shown: `indexed` goes to the search index, `rest` and `tail` do not.

    `cut` says what is left out between `rest` and `tail`.
    """

    indexed: str
    rest: str = ""
    cut: str = ""
    tail: str = ""
    lines: int = 0

    def __bool__(self) -> bool:
        return bool(self.indexed)


def printable(html: str) -> str:
    """Make control and bidirectional characters visible in finished HTML.

    Applied last and to everything, so that no text of a record can carry the marks (U+0002, U+0003) by which
    Python-Markdown puts stashed blocks back, and no half of a surrogate pair stops the page from being written.
    """
    shown = bidi_controls(control_characters(html))
    return _SURROGATE.sub(lambda match: f"\\u{ord(match[0]):04x}", shown)


def bounded_stream(text: str) -> StreamView:
    """Return a stream cut to what a page can hold, at line ends where there are any."""
    text = text.rstrip("\n")
    if not text:
        return StreamView("")
    count = text.count("\n") + 1
    if len(text) <= PAGE_LIMIT:
        return _split_for_search(text, "", "", count)
    half = PAGE_LIMIT // 2
    head, tail = text[:half], text[-half:]
    if "\n" in head:
        head = head.rpartition("\n")[0]
    if "\n" in tail:
        tail = tail.partition("\n")[2]
    left_out = text[len(head) : len(text) - len(tail)]
    lines = max(left_out.strip("\n").count("\n") + 1, 1)
    return _split_for_search(head, f"{plural(lines, 'line')}, {len(left_out):,} characters, left out here", tail, count)


def _split_for_search(head: str, cut: str, tail: str, lines: int) -> StreamView:
    """Return a stream whose search part ends at a line end where there is one."""
    if len(head) <= SEARCH_LIMIT:
        return StreamView(head, "", cut, tail, lines)
    end = head.rfind("\n", 0, SEARCH_LIMIT) + 1 or SEARCH_LIMIT
    return StreamView(head[:end], head[end:], cut, tail, lines)


def written_day(date: str) -> str:
    """Return `29 Nov 2026` for an ISO date, in English on every machine."""
    year, _, rest = date.partition("-")
    month, _, number = rest.partition("-")
    if month.isdigit() and 1 <= int(month) <= 12 and number.isdigit():
        return f"{int(number)} {_MONTHS[int(month) - 1]} {year}"
    return date


def joined_with_and(names: Iterable[str]) -> str:
    """Return `a, b and c`; names with a comma of their own, such as `EPYC, AVX512`, stand in quotes."""
    items = list(names)
    if len(items) > 1:
        items = [f"“{item}”" if "," in item else item for item in items]
    return f"{', '.join(items[:-1])} and {items[-1]}" if len(items) > 1 else "".join(items)


def joined_host_titles(titles: Iterable[str]) -> str:
    """Return titles of hosts with commas and `and`; one alone with a comma stands in quotes too, or it reads as two."""
    items = list(titles)
    return f"“{items[0]}”" if len(items) == 1 and "," in items[0] else joined_with_and(items)


def as_markdown_text(text: str) -> str:
    """Return text of others as one line of Markdown that shows it: no tag, no link, no image is made of it."""
    return _MARKDOWN_MARK.sub(_escaped_mark, " ".join(text.split()))


def _escaped_mark(match: re.Match[str]) -> str:
    """Return a character that Markdown obeys as one that it shows."""
    return "&lt;" if match[0] == "<" else f"\\{match[0]}"
