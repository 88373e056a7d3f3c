"""Tags of pages: topics that authors name in front matter, gates and chips that only records and snippets can know."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from capture.host.host import LOCAL, chip
from capture.record.state import gate_words
from capture.site.markdown import page_check
from capture.site.markdown.page_in_progress import Visit
from capture.site.model.links import Links
from capture.site.model.site import Site
from capture.site.table.table import Cell, Table, head

PAGE = "docs/reference/tags.md"  # where the fence `tags` is looked for by the foot of each page
KINDS = ("topic", "gate", "chip")
TELLING = re.compile(r"[^a-z0-9\s,;:()/@._+-]|\+(?!\s)")


@dataclass(frozen=True, order=True)
class Tag:
    """A kind and a name; kinds stand in the order of KINDS."""

    kind: str
    name: str

    @property
    def anchor(self) -> str:
        """The id of its row in the table of all tags. Signs that part words become hyphens, others numbers: C++, C#."""
        told = TELLING.sub(lambda match: f"-{ord(match[0]):x}-", self.name.lower())
        return f"capture-tag-{self.kind}-{re.sub(r'[^a-z0-9]+', '-', told).strip('-')}"


def of_page(site: Site, topics: Iterable[str], snippets: Iterable[str]) -> tuple[Tag, ...]:
    """Return the tags of a page that names these topics and these snippets; the records of `local` take no part."""
    shown = [site.catalogue.snippets[key] for key in snippets if key in site.catalogue.snippets]
    gates = [gate_words(gate) for snippet in shown for gate in snippet.needs]
    hosts = [label for label in site.order if label != LOCAL]
    chips = [
        chip(site.catalogue.hosts[label])
        for label in hosts
        if any((label, snippet.id) in site.catalogue.records for snippet in shown)
    ]
    found = [Tag("topic", name) for name in topics] + [Tag("gate", name) for name in sorted(gates)]
    return tuple(dict.fromkeys([*found, *(Tag("chip", name) for name in chips)]))


def tags(here: Visit) -> Table:
    """Every tag, and the pages that have it."""
    book = here.site.catalogue.book
    found: dict[Tag, list[Cell]] = {}
    for path in page_check.page_paths(book):
        about = page_check.about(book, path)
        page = Cell(about.title, here.links.lesson(book.relative(path)))
        for tag in of_page(here.site, about.topics, about.snippets):
            found.setdefault(tag, []).append(page)
    rows = tuple(
        (
            Cell(tag.name, anchor=tag.anchor, tags={"kind": (tag.kind,)}),
            Cell(tag.kind),
            Cell(f"{len(listed):,} page{'' if len(listed) == 1 else 's'}", order=str(len(listed)), items=tuple(listed)),
        )
        for tag, listed in sorted(found.items(), key=lambda entry: (KINDS.index(entry[0].kind), entry[0].name.lower()))
    )
    return Table("Tags", head("tag", "kind", "pages"), rows, ("kind",), "No page has a tag yet.")


def listing(site: Site, links: Links, names: Iterable[str], snippets: Iterable[str]) -> tuple[Cell, ...]:
    """Return the tags of one page, each leading to its row in the table of all, where there is one."""
    there = links.lesson(PAGE) if (site.catalogue.book.root / PAGE).is_file() else None
    return tuple(
        Cell(tag.name, f"{there}#{tag.anchor}" if there else None, tag.kind) for tag in of_page(site, names, snippets)
    )
