"""No result is typed by hand: figures in the prose of pages are inline values, or say why they are not."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from capture import store
from capture.errors import CaptureError, Problem
from capture.site.markdown import fence_positions, page_bounds

_UNIT = r"(?:ns|us|µs|ms|s|seconds?|minutes?|x|×|%|percent|[KMGT]i?B|kB|bytes|times|GFLOPS?|TFLOPS?|GHz|MHz)"
_WRITTEN_NUMBER = r"(?<![\w.@#-])\d[\d.,]{0,40}(?<![.,])"
_COMPARISON = (
    r"(?:faster|slower|quicker|larger|smaller|bigger|higher|lower|longer|shorter|more|less|fewer|cheaper|heavier|better"
    r"|worse|speed-?up|slow-?down)"
)
_NUMBER_WORD = r"(?:two|three|four|five|six|seven|eight|nine|ten|twelve|twenty|thirty|fifty|hundred|thousand)"
_TYPED_FIGURE = re.compile(
    rf"{_WRITTEN_NUMBER}\s?{_UNIT}(?!\w)|{_WRITTEN_NUMBER}[ -]{_COMPARISON}\b"
    rf"|\b{_COMPARISON} (?:by|than) {_WRITTEN_NUMBER}"
    rf"|\b{_NUMBER_WORD}(?:fold|[ -]times) (?:as |{_COMPARISON}\b)|\b(?:twice|thrice) as ",
    re.IGNORECASE,
)
# What is no prose: code, links' targets, and text for the author alone. Strangers write it: no search may take long.
_NOT_PROSE = re.compile(r"`++[^`]+`++|\]\([^)]{0,1000}\)|<!--.*?-->|^ *\|?[-: |]+\|$", re.MULTILINE | re.DOTALL)
# What a question or an exercise supposes is no result.
_SUPPOSED = re.compile(r"^ *\?\?\?\+? (?:question|tip)[^\n]*$|^## Exercises$.*?(?=^## |\Z)", re.MULTILINE | re.DOTALL)
OPT_OUT_COMMENT = re.compile(r"<!-- typed:(.*?)-->", re.DOTALL)


@dataclass(frozen=True)
class OptOut:
    """A paragraph whose figures are typed on purpose: where, and why."""

    path: str
    line: int
    reason: str


def problems(book: store.Handbook) -> list[Problem]:
    """Return every typed result of every page, at its line."""
    return [problem for name, text in _readable_pages(book) for problem in page_problems(name, text)]


def opt_outs(book: store.Handbook) -> list[OptOut]:
    """Return what is typed on purpose, for the ledger."""
    return [
        OptOut(name, text.count("\n", 0, match.start()) + 1, " ".join(match[1].split()))
        for name, text in _readable_pages(book)
        for match in OPT_OUT_COMMENT.finditer(_without_fences(text))
    ]


def _readable_pages(book: store.Handbook) -> Iterator[tuple[str, str]]:
    """Yield name and text of the pages that can be read; others are named where pages are rendered."""
    for path in sorted((book.root / "docs").rglob("*.md")):
        if book.captures in path.parents or not path.is_file():
            continue
        name = book.relative(path)
        try:
            text = store.read_text(path, name)
        except CaptureError:
            continue
        if page_bounds.problem(name, text) is None:
            yield name, text


def page_problems(name: str, text: str) -> list[Problem]:
    """Return the typed results of one page."""
    faults = []
    body = _blanked(re.compile(r"\A---\n.*?\n---\n", re.DOTALL), text)
    body = _blanked(_SUPPOSED, _without_fences(body))
    for start, paragraph in _paragraphs(body):
        reason = OPT_OUT_COMMENT.search(paragraph)
        if reason and reason[1].strip():
            continue
        for match in _TYPED_FIGURE.finditer(_blanked(_NOT_PROSE, paragraph)):
            line = text.count("\n", 0, start + match.start()) + 1
            words = " ".join(match[0].split())
            message = (
                f'"{words}" is typed by hand; take it from a record (`#!captured SNIPPET VALUE`), or say in the same '
                "paragraph why not: <!-- typed: REASON -->"
            )
            faults.append(Problem(name, line, message, "typed"))
        if reason and not reason[1].strip():
            line = text.count("\n", 0, start + reason.start()) + 1
            faults.append(Problem(name, line, "an opt-out without a reason: <!-- typed: REASON -->", "typed"))
    return faults


def _paragraphs(text: str) -> Iterator[tuple[int, str]]:
    """Yield each paragraph with where it starts."""
    start = 0
    for match in re.finditer(r"\n[ \t]*\n", text):
        yield start, text[start : match.start()]
        start = match.end()
    yield start, text[start:]


def _without_fences(text: str) -> str:
    """Return a text in which fences that close are blank, and every position is what it was."""
    lines = text.split("\n")
    kept = fence_positions.without_fences(lines)
    return "\n".join(line or " " * len(whole) for line, whole in zip(kept, lines, strict=True))


def _blanked(pattern: re.Pattern[str], text: str) -> str:
    """Return a text in which what matches is blank, so that every line stays where it is."""
    return pattern.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)
