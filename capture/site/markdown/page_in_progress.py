"""The page that is being rendered: where it is, which cards it has so far, and what was wrong with it.

Markdown calls a formatter with the text of one block and nothing else, so a page's place and its counters are kept
here, in one context variable that the plugin sets around each page. Without the plugin (plain Markdown, Zensical) each
Markdown object is taken for one page, the handbook is looked for upward from the working folder, and problems are
logged at once.
"""

from __future__ import annotations

import html
import logging
import re
import weakref
from collections import Counter
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from capture import store
from capture.errors import Problem
from capture.site.card.card import first_uid
from capture.site.markdown import fence_positions
from capture.site.markdown.handbook_pages import HandbookPages
from capture.site.markdown.highlighted import Highlighted
from capture.site.model import site
from capture.site.model.card_view import CardView
from capture.site.model.links import Links
from capture.site.model.site import Site
from capture.snippet.snippet import Snippet

LOG = logging.getLogger("mkdocs.capture")
_BAD_FENCE = (
    'this capture fence is not read, so its text would show as it stands; write ```capture, options as key="value", '
    "one snippet id, and ``` at the same indentation"
)


@dataclass(frozen=True)
class PageSource:
    """A page's path from the handbook's root, its whole text with front matter, and the site's root seen from it.

    `files` says that the addresses of pages are those of their files.
    """

    path: str
    text: str
    base: str | None = None
    files: bool = False


class PageInProgress:
    """One page while Markdown renders it: its site and links, and what formatters have drawn and complained of so far.

    Problems go to `log` at once where it is given, else they wait for `done`.
    """

    def __init__(
        self,
        known: Site,
        page: PageSource | None,
        log: Callable[[Problem], None] | None = None,
        highlighted: Highlighted | None = None,
        pages: HandbookPages | None = None,
    ) -> None:
        self.site, self.page, self.log, self.highlighted = known, page, log, highlighted
        self.pages = pages or HandbookPages(known.catalogue.book)
        self.links = Links(known.settings, page.base, page.path, page.files) if page else Links(known.settings)
        self.uses: Counter[str] = Counter()
        self.targets: dict[str, set[str]] = {}
        self.problems: list[tuple[str, Problem]] = []
        self.signs = 0
        self.plots = 0
        # What was drawn, by the card's id, the table's name or the value's text, so that a copy of the page need not
        # draw it again.
        self.cards: dict[str, CardView] = {}
        self.tables: dict[str, Any] = {}
        self.values: dict[str, Any] = {}
        self.fences = list(fence_positions.fences(page.text)) if page else []
        self.inlines = list(fence_positions.inline_values(page.text)) if page else []

    def uid(self, snippet: Snippet) -> str:
        """Return an id for the next card of a snippet, unique on the page."""
        self.uses[snippet.id] += 1
        number, base = self.uses[snippet.id], first_uid(snippet)
        return base if number == 1 else f"{base}-{number}"

    def fence_line(self, body: str, options: dict[str, Any]) -> int:
        """Return the line of the fence that a formatter was called for, and count it as read; 0 where unknown."""
        wanted = fence_positions.fence_body(body.splitlines())
        for same_options in (True, False):
            for place in self.fences:
                if place.body == wanted and (not same_options or dict(place.options) == options):
                    self.fences.remove(place)
                    return place.line
        return 0

    def inline_line(self, text: str) -> int:
        """Return the line of the next captured value with this text; 0 where unknown."""
        wanted = " ".join(text.split())
        for item in self.inlines:
            if item[0] == wanted:
                self.inlines.remove(item)
                return item[1]
        return 0

    def note(self, line: int, message: str, sign: str, rule: str = "page") -> None:
        """Keep a problem until the page is done: `sign` stands in the HTML if the block was not taken back.

        Superfences renders a fence before it knows whether it stands in an indented block, where it is an example.
        """
        problem = Problem(self.page.path if self.page else "a page", line, message, rule)
        if self.log is not None:
            self.log(problem)
        else:
            self.problems.append((sign, problem))

    def sign(self) -> str:
        """Return a mark for the next error on the page."""
        self.signs += 1
        return f"capture-problem-{self.signs}"

    def done(self, rendered: str) -> list[Problem]:
        """Return the problems of the finished page, in the order of its lines."""
        faults = [problem for sign, problem in self.problems if sign in rendered]
        if self.page:
            faults += [Problem(self.page.path, place.line, _BAD_FENCE, "page") for place in self.fences]
            for name in _repeated_ids(rendered):
                line = _line_of_repeated_id(self.page.text, name)
                message = f'the id "{name}" stands on this page twice; rename one'
                faults.append(Problem(self.page.path, line, message, "page"))
        return sorted(set(faults))


def _repeated_ids(rendered: str) -> list[str]:
    """Return ids that a page holds more than once; text that only looks like an attribute does not count."""
    suspects = [name for name, count in Counter(re.findall(r'\sid="([^"]+)"', rendered)).items() if count > 1]
    if not suspects:
        return []
    tags = re.findall(r"<[a-zA-Z][^<>]*>", rendered)
    counted = Counter(html.unescape(match) for tag in tags for match in re.findall(r'\sid="([^"]+)"', tag))
    return [name for name, count in counted.items() if count > 1]


def _line_of_repeated_id(text: str, name: str) -> int:
    """Return the line on which an id is given again by hand, 0 where that cannot be told."""
    lines = [
        number
        for number, line in enumerate(text.splitlines(), 1)
        if f'id="{name}"' in line or f"#{name}" in line.partition("{")[2]
    ]
    return lines[1] if len(lines) > 1 else 0


@dataclass(frozen=True)
class _StandalonePage:
    """What is known of the one Markdown object that renders without anybody having entered a page."""

    md: weakref.ref[Any]
    page: PageInProgress
    footprint: str | None


_CURRENT: ContextVar[PageInProgress | _StandalonePage | None] = ContextVar("capture_page", default=None)


def enter(
    known: Site,
    page: PageSource,
    highlighted: Highlighted | None = None,
    pages: HandbookPages | None = None,
) -> PageInProgress:
    """Begin a page; every formatter called until `leave` belongs to it.

    `pages`, where given, is shared by the pages of one build, so that tables read the handbook once.
    """
    here = PageInProgress(known, page, highlighted=highlighted, pages=pages)
    _CURRENT.set(here)
    return here


def leave(rendered: str) -> list[Problem]:
    """End the page and return its problems."""
    here = current()
    _CURRENT.set(None)
    return here.done(rendered) if here else []


def current() -> PageInProgress | None:
    """Return the page that was entered and not left."""
    here = _CURRENT.get()
    return here if isinstance(here, PageInProgress) else None


def page_of(md: Any) -> PageInProgress:
    """Return the page that a formatter of `md` works for; raises CaptureError where no handbook can be found."""
    here = _CURRENT.get()
    if isinstance(here, PageInProgress):
        return here
    if here is None or here.md() is not md:
        here = _standalone_page(md, here)
        _CURRENT.set(here)
    return here.page


def _standalone_page(md: Any, last: _StandalonePage | None) -> _StandalonePage:
    """Begin the page of a Markdown object; the handbook is read again where a file of it has changed since the last.

    Raises CaptureError where no handbook can be found.
    """
    book = store.find_root(Path.cwd())
    footprint = site.footprint(book)
    if last is not None and footprint is not None and last.footprint == footprint:
        known = last.page.site
    else:
        known = site.read_site(book, local=not site.is_for_publication())
    return _StandalonePage(
        weakref.ref(md), PageInProgress(known, None, lambda problem: LOG.warning("%s", problem)), footprint
    )
