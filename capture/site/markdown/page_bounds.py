"""How much one page may hold: what reads Markdown takes time that grows faster than what it reads."""

from __future__ import annotations

import re

from capture.errors import Problem
from capture.site.markdown import fence_positions

# Ten times and more what pages of this handbook hold, and little enough that each bound is passed in seconds.
_LONGEST_PAGE = 512 * 1024  # letters
_LONGEST_LINE = 10_000
_LONGEST_PARAGRAPH = 20_000
_MOST_OPEN = 100  # brackets of a kind that open in a paragraph and do not close
_BRACKETS = {"[": "]", "(": ")", "<": ">"}
_BLANK_LINE = re.compile(r"\n[ \t]*\n")


def problem(name: str, text: str) -> Problem | None:
    """Return why a page is not read, at its line, or None for one of a fair size."""
    if len(text) > _LONGEST_PAGE:
        return Problem(name, 0, f"is longer than {_LONGEST_PAGE:,} letters; make several pages of it", "page")
    lines = text.split("\n")
    for number, line in enumerate(lines, 1):
        if len(line) > _LONGEST_LINE:
            return Problem(name, number, f"a line of more than {_LONGEST_LINE:,} letters; break it", "page")
    prose = "\n".join(fence_positions.without_fences(lines))
    start = 0
    for paragraph in _BLANK_LINE.split(prose):
        start = prose.index(paragraph, start)
        if len(paragraph) > _LONGEST_PARAGRAPH:
            return Problem(
                name, _line(prose, start), f"a paragraph of more than {_LONGEST_PARAGRAPH:,} letters; part it", "page"
            )
        for opening, closing in _BRACKETS.items():
            if paragraph.count(opening) > _MOST_OPEN and _most_open(paragraph, opening, closing) > _MOST_OPEN:
                message = f'a paragraph in which more than {_MOST_OPEN} "{opening}" do not close; mend it'
                return Problem(name, _line(prose, start), message, "page")
        start += len(paragraph)
    return None


def _line(text: str, position: int) -> int:
    """Return the number of the line of a position."""
    return text.count("\n", 0, position) + 1


def _most_open(paragraph: str, opening: str, closing: str) -> int:
    """Return how many brackets of a kind are open at once."""
    depth = most = 0
    for character in paragraph:
        depth = max(0, depth + (character == opening) - (character == closing))
        most = max(most, depth)
    return most
