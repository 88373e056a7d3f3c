"""What a table over all records is made of, and what all of them ask of a page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from capture.host.host import LOCAL
from capture.record.state import gate_words
from capture.site.card import card
from capture.site.markdown import page_check
from capture.site.markdown.page_in_progress import Visit
from capture.snippet.snippet import Snippet

Tags = Mapping[str, tuple[str, ...]]


@dataclass(frozen=True)
class Cell:
    """Text, where it leads, and the kind that colours it; the word says the same as the colour.

    `tags` are what a filter asks for: those of a cell in the head speak for its column, those of a row's first cell for
    the row. `order` is what it is sorted by where that is not its text. `items` stand under the text.
    """

    text: str
    href: str | None = None
    kind: str = ""
    tags: Tags = field(default_factory=dict)
    order: str = ""
    items: tuple[Cell, ...] = ()
    anchor: str = ""


@dataclass(frozen=True)
class Table:
    """A name for those who hear the page, a head, and rows whose first cell heads them.

    `filters` are the kinds of tags that a reader can choose from; what is `fixed` is not sorted either. Where there are
    no rows stands what `empty` says.
    """

    label: str
    head: tuple[Cell, ...]
    rows: tuple[tuple[Cell, ...], ...]
    filters: tuple[str, ...] = ()
    empty: str = "None."
    fixed: bool = False


def head(*names: str) -> tuple[Cell, ...]:
    """Return a head of plain names."""
    return tuple(Cell(name) for name in names)


def published(here: Visit) -> list[str]:
    """Return the labels that everybody sees, the default host first."""
    return [label for label in here.site.order if label != LOCAL]


def embedded(here: Visit, label: str = "") -> dict[str, str]:
    """Map each snippet to its card, or to a host's panel on it, where the site's addresses are known.

    A card with its output goes before one without, and a lesson before the start page.
    """
    name = f"embedded {label}"
    if name not in here.tables:
        book, snippets = here.site.catalogue.book, here.site.catalogue.snippets
        best: dict[str, tuple[tuple[bool, bool], str]] = {}
        for path in page_check.page_paths(book):
            place = book.relative(path)
            for key, output in page_check.about(book, path).cards.items():
                rank = (not output, place.count("/") < 2)
                if key in snippets and (key not in best or rank < best[key][0]):
                    best[key] = rank, place
        here.tables[name] = {
            key: f"{address}#{card.first_uid(snippets[key])}{panel}"
            for key, ((hidden, _), place) in best.items()
            if (address := here.links.lesson(place))
            for panel in [f"--{label}" if not hidden and (label, key) in here.site.catalogue.records else ""]
        }
    found: dict[str, str] = here.tables[name]
    return found


def scripts(keys: Iterable[str], cards: Mapping[str, str]) -> tuple[Cell, ...]:
    """Return a link to the card of each snippet."""
    return tuple(Cell(key, cards.get(key)) for key in keys)


def needs(snippet: Snippet) -> tuple[str, ...]:
    """Return what a snippet asks of a host, in words to choose from."""
    return tuple(gate_words(gate) for gate in snippet.needs) or ("needs no gate",)
