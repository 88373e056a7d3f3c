"""The handbook's pages as files: which there are, what each says of itself, and which snippets it shows.

Tables need this of every page, so that an object holds it for the length of one build.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from capture import store
from capture.site.markdown import fence_positions

_FRONT_MATTER = re.compile(r"-{3}[ \t]*\n.*?\n(?:\.{3}|-{3})[ \t]*\n", re.DOTALL)


@dataclass(frozen=True)
class PageSummary:
    """What a page says of itself, and which snippets it names in a fence or a captured value.

    `path` leads from the handbook's root; `cards` says of each snippet in a fence whether its first card shows its
    output.
    """

    path: str
    title: str
    topics: tuple[str, ...]
    snippets: tuple[str, ...]
    cards: Mapping[str, bool]


@dataclass(frozen=True)
class CardPlace:
    """The page that holds a snippet's card, and whether the card shows the output."""

    page: str
    shows_output: bool


class HandbookPages:
    """Reads every page of a handbook when first asked, and remembers it; whoever starts a build makes a new one."""

    def __init__(self, book: store.Handbook) -> None:
        self.book = book

    @cached_property
    def summaries(self) -> tuple[PageSummary, ...]:
        """Every page, sorted by path; raises CaptureError where one cannot be read."""
        return tuple(summary(self.book, path) for path in page_paths(self.book))

    @cached_property
    def cards(self) -> Mapping[str, CardPlace]:
        """The card of each snippet to which tables lead; raises CaptureError where a page cannot be read.

        A card with its output goes before one without, and a lesson before the start page.
        """
        best: dict[str, tuple[tuple[bool, bool], CardPlace]] = {}
        for page in self.summaries:
            for snippet_id, shows_output in page.cards.items():
                rank = (not shows_output, page.path.count("/") < 2)
                if snippet_id not in best or rank < best[snippet_id][0]:
                    best[snippet_id] = rank, CardPlace(page.path, shows_output)
        return {snippet_id: place for snippet_id, (_, place) in best.items()}


def page_paths(book: store.Handbook) -> list[Path]:
    """Return every page of the site, sorted; the records, of which there may be thousands, are not walked through."""
    paths = []
    for parent, folders, names in os.walk(book.root / "docs"):
        here = Path(parent)
        folders[:] = [name for name in folders if not name.startswith(".") and here / name != book.captures]
        paths += [here / name for name in names if name.endswith(".md") and not name.startswith(".")]
    return sorted(paths)


def summary(book: store.Handbook, path: Path) -> PageSummary:
    """Return what a page says of itself; one without a title is named as MkDocs names it, by its first heading.

    Raises CaptureError where the page cannot be read.
    """
    name = book.relative(path)
    text = store.read_text(path, name).removeprefix("\ufeff").replace("\r\n", "\n")
    match = _FRONT_MATTER.match(text)
    meta = store.read_front_matter(match[0]) if match else {}
    heading = re.search(r"^# +(.+?)(?: *\{.*\})?$", text, re.MULTILINE)
    title = meta.get("title") or (heading[1] if heading else path.stem)
    cards = {fence.body: fence.options.get("show") != "source" for fence in reversed(fence_positions.fences(text))}
    return PageSummary(name, str(title), topic_names(meta.get("tags")), named_snippets(text), cards)


def without_front_matter(text: str) -> str:
    """Return what MkDocs hands to Markdown."""
    match = _FRONT_MATTER.match(text)
    return text[match.end() :] if match else text


def topic_names(tags: object) -> tuple[str, ...]:
    """Return the topics that a page's front matter gives as `tags`, whether one or a list."""
    topics = tags if isinstance(tags, list) else [tags] if tags else []
    return tuple(str(topic) for topic in topics)


def named_snippets(text: str) -> tuple[str, ...]:
    """Return the ids that a page names, in a fence or a captured value, each once."""
    ids = [fence.body for fence in fence_positions.fences(text)]
    ids += [words.split()[0] for words, _ in fence_positions.inline_values(text)]
    return tuple(dict.fromkeys(ids))
