"""Where on a page a capture fence or a captured value stands, so that an error can name its line.

The Markdown layers call a formatter with the text of a block and without its position. The page is read once
more, the way superfences reads it: a fence ends at the same run of characters, whatever stands between.
"""

from __future__ import annotations

import bisect
import functools
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

_FENCE_OPENING = re.compile(r"(?P<before>[> \t]*)(?P<fence>`{3,}|~{3,})(?P<info>[^`\n]*)")
_FENCE_CLOSING = re.compile(r"[> \t]*(`{3,}|~{3,})[ \t]*")
_FENCE_OPTION = re.compile(r"([A-Za-z][A-Za-z0-9_]*)(?:=(\"|')(.*?)\2)?")
CODE_SPAN = re.compile(r"(?<!`)(`+)(?!`)((?:(?!\n[ \t]*\n).)+?)(?<!`)\1(?!`)", re.DOTALL)
CAPTURED_PREFIX = re.compile(r"(?:#!|:::+)captured\s+")
CARD_FENCE = "capture"
TABLE_FENCE = "capture-table"
_REMEMBERED_TEXTS = 16  # texts remembered: what is read of a page is asked for several times in a row


@dataclass(frozen=True)
class PageFence:
    """One capture fence of a page: the line of its opening, its options and its body."""

    line: int
    options: Mapping[str, str]
    body: str
    closed: bool = True


def fenced_blocks(lines: list[str]) -> Iterator[tuple[int, int | None, str]]:
    """Yield (opening, closing, info) of every outermost fence, by line index; closing is None where it is missing."""
    closings: dict[str, list[int]] = {}  # the lines that can close each fence, so that a page is read once
    for number, line in enumerate(lines):
        if closing := _FENCE_CLOSING.fullmatch(line):
            closings.setdefault(closing[1], []).append(number)
    number = 0
    while number < len(lines):
        opening = _FENCE_OPENING.fullmatch(lines[number].rstrip())
        if not opening:
            number += 1
            continue
        fitting = closings.get(opening["fence"], [])
        following = bisect.bisect_right(fitting, number)
        end = fitting[following] if following < len(fitting) else None
        yield number, end, opening["info"]
        number = number + 1 if end is None else end + 1


def without_fences(lines: list[str]) -> list[str]:
    """Return the lines with those of closed fences blank."""
    kept = list(lines)
    for start, end, _ in fenced_blocks(lines):
        if end is not None:
            kept[start : end + 1] = [""] * (end + 1 - start)
    return kept


@functools.lru_cache(maxsize=_REMEMBERED_TEXTS)
def fences(text: str, wanted: str = CARD_FENCE) -> tuple[PageFence, ...]:
    """Return the fences of a page with a name, in order; those shown within another fence are none."""
    lines = text.splitlines()
    places = []
    for start, end, info in fenced_blocks(lines):
        name, options = parse_fence_opening(info)
        if name == wanted:
            places.append(PageFence(start + 1, options, fence_body(lines[start + 1 : end]), end is not None))
    return tuple(places)


def parse_fence_opening(info: str) -> tuple[str, dict[str, str]]:
    """Return the language and the options of a fence's opening line, in either notation."""
    text = info.strip().removeprefix("{").removesuffix("}").strip()
    name, _, rest = text.removeprefix(".").partition(" ")
    if name.startswith(CARD_FENCE) and "{" in name:
        name, _, rest = text.partition("{")
    return name.strip(), {match[1]: match[3] if match[2] else match[1] for match in _FENCE_OPTION.finditer(rest)}


def fence_body(lines: list[str]) -> str:
    """Return the body without its indentation and quote marks."""
    return "\n".join(line.lstrip("> \t").rstrip() for line in lines).strip()


@functools.lru_cache(maxsize=_REMEMBERED_TEXTS)
def inline_values(text: str) -> tuple[tuple[str, int], ...]:
    """Return (text, line) of every captured value outside fences, the text with single blanks."""
    prose = "\n".join(without_fences(text.splitlines()))
    spans = ((span, CAPTURED_PREFIX.match(span[2])) for span in CODE_SPAN.finditer(prose))
    return tuple(
        (" ".join(span[2][mark.end() :].split()), prose.count("\n", 0, span.start()) + 1)
        for span, mark in spans
        if mark
    )
