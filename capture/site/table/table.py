"""What a table over all records is made of, and what all of them ask of a page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from capture.host.host import LOCAL
from capture.record.state import gate_words
from capture.site.card import card
from capture.site.markdown.page_in_progress import PageInProgress
from capture.snippet.snippet import Snippet

FilterTags = Mapping[str, tuple[str, ...]]


@dataclass(frozen=True)
class TableCell:
    """Text, where it leads, and the kind that colours it; the word says the same as the colour.

    `tags` are what a filter asks for: those of a cell in the head speak for its column, those of a row's first cell for
    the row. `order` is what it is sorted by where that is not its text. `items` stand under the text.
    """

    text: str
    href: str | None = None
    kind: str = ""
    tags: FilterTags = field(default_factory=dict)
    order: str = ""
    items: tuple[TableCell, ...] = ()
    anchor: str = ""


@dataclass(frozen=True)
class Table:
    """A name for those who hear the page, a head, and rows whose first cell heads them.

    `filters` are the kinds of tags that a reader can choose from; what is `fixed` is not sorted either. Where there are
    no rows stands what `empty` says.
    """

    label: str
    head: tuple[TableCell, ...]
    rows: tuple[tuple[TableCell, ...], ...]
    filters: tuple[str, ...] = ()
    empty: str = "None."
    fixed: bool = False


def table_head(*names: str) -> tuple[TableCell, ...]:
    """Return a head of plain names."""
    return tuple(TableCell(name) for name in names)


def published_labels(here: PageInProgress) -> list[str]:
    """Return the labels that everybody sees, the default host first."""
    return [label for label in here.site.order if label != LOCAL]


def card_address(here: PageInProgress, snippet_id: str, label: str = "") -> str | None:
    """Return where a snippet's card is, or a host's panel on it; None without a card, or where no address is known.

    Raises CaptureError where a page cannot be read.
    """
    snippet, place = here.site.catalogue.snippets.get(snippet_id), here.pages.cards.get(snippet_id)
    page = here.links.lesson(place.page) if place else None
    if snippet is None or place is None or page is None:
        return None
    panel = f"--{label}" if place.shows_output and (label, snippet_id) in here.site.catalogue.records else ""
    return f"{page}#{card.first_uid(snippet)}{panel}"


def card_links(here: PageInProgress, snippet_ids: Iterable[str], label: str = "") -> tuple[TableCell, ...]:
    """Return a link to the card of each snippet, or to a host's panel on it."""
    return tuple(TableCell(snippet_id, card_address(here, snippet_id, label)) for snippet_id in snippet_ids)


def needed_gates(snippet: Snippet) -> tuple[str, ...]:
    """Return the gates that a snippet needs, in the words of the table's filter."""
    return tuple(gate_words(gate) for gate in snippet.needs) or ("needs no gate",)
