"""Made-up changes, and what a reader sees of the reports about them."""

from __future__ import annotations

from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

from markdown_it import MarkdownIt

from capture.cli.report import change_markdown, change_text
from capture.review.handbook_changes import HandbookChanges
from capture.review.number_alignment import MovedNumber
from capture.review.record_change import ChangeKind, RecordChange

TORCH = ("torch 2.13.0+cpu -> 2.14.1+cpu",)
NUMPY = ("numpy 1.26.4 -> 2.4.6",)
COMMENT = 65_000  # characters that a comment may have, less what stands beside the report
SLOW = MovedNumber("slowdown", "42.7", "9.9", "factor 3", within=False, time=False)


def change(snippet: str = "a/one", kind: ChangeKind = "text changed", **fields: Any) -> RecordChange:
    """Return a change."""
    return RecordChange(**{"host": "epyc", "snippet": snippet, "kind": kind, **fields})


def of(*records: RecordChange, **fields: Any) -> HandbookChanges:
    """Return changes between two made-up revisions."""
    return replace(HandbookChanges("base", "head", (), records), **fields)


def plain(found: HandbookChanges) -> list[str]:
    """Return the lines of the text report."""
    return [line.plain for line in change_text.lines(found)]


class Shown(HTMLParser):
    """What a browser shows of some HTML, and which elements it has."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.text, self.tags = "", set[str]()
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Remember the element."""
        self.tags.add(tag)

    def handle_data(self, data: str) -> None:
        """Collect the text."""
        self.text += data


def rendered(found: HandbookChanges) -> Shown:
    """Render the Markdown report as a comment is."""
    html = MarkdownIt("commonmark").enable(["table", "strikethrough"]).render(change_markdown.text(found))
    return Shown(html)


def many(count: int, **fields: Any) -> HandbookChanges:
    """Return as many changes, each for a cause of its own."""
    lines = tuple(f"- {'x' * 100} {number}" for number in range(12))
    return of(*(
        change(f"chapter/snippet_{number:05}", causes=(f"cause {number}",), lines=lines, edit=f"{number}", **fields)
        for number in range(count)
    ))  # fmt: skip
