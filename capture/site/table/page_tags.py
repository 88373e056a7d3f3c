"""Tags of pages: topics that authors name in front matter, gates and chips that only records and snippets can know."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from capture.host.host import LOCAL, chip
from capture.record.state import gate_words
from capture.site.markdown.page_in_progress import PageInProgress
from capture.site.model.links import Links
from capture.site.model.site import Site
from capture.site.table.table import Table, TableCell, table_head

_TAGS_PAGE = "docs/reference/tags.md"  # where the fence `tags` is looked for by the foot of each page
_TAG_KINDS = ("topic", "gate", "chip")
_TELLING_SIGN = re.compile(r"[^a-z0-9\s,;:()/@._+-]|\+(?!\s)")


@dataclass(frozen=True, order=True)
class Tag:
    """A kind and a name; kinds stand in the order of KINDS."""

    kind: str
    name: str

    @property
    def anchor(self) -> str:
        """The id of its row in the table of all tags. Signs that part words become hyphens, others numbers: C++, C#."""
        spelt = _TELLING_SIGN.sub(lambda match: f"-{ord(match[0]):x}-", self.name.lower())
        return f"capture-tag-{self.kind}-{re.sub(r'[^a-z0-9]+', '-', spelt).strip('-')}"


def _page_tags(site: Site, topics: Iterable[str], snippets: Iterable[str]) -> tuple[Tag, ...]:
    """Return the tags of a page that names these topics and these snippets; the records of `local` take no part."""
    shown = [site.catalogue.snippets[key] for key in snippets if key in site.catalogue.snippets]
    gates = [gate_words(gate) for snippet in shown for gate in snippet.needs]
    hosts = [label for label in site.order if label != LOCAL]
    chips = [
        chip(site.catalogue.hosts[label])
        for label in hosts
        if any((label, snippet.id) in site.catalogue.records for snippet in shown)
    ]
    tags = [Tag("topic", name) for name in topics] + [Tag("gate", name) for name in sorted(gates)]
    return tuple(dict.fromkeys([*tags, *(Tag("chip", name) for name in chips)]))


def tags_table(here: PageInProgress) -> Table:
    """Every tag, and the pages that have it."""
    pages: dict[Tag, list[TableCell]] = {}
    for page in here.pages.summaries:
        link = TableCell(page.title, here.links.lesson(page.path))
        for tag in _page_tags(here.site, page.topics, page.snippets):
            pages.setdefault(tag, []).append(link)
    rows = tuple(
        (
            TableCell(tag.name, anchor=tag.anchor, tags={"kind": (tag.kind,)}),
            TableCell(tag.kind),
            TableCell(
                f"{len(listed):,} page{'' if len(listed) == 1 else 's'}", order=str(len(listed)), items=tuple(listed)
            ),
        )
        for tag, listed in sorted(
            pages.items(), key=lambda entry: (_TAG_KINDS.index(entry[0].kind), entry[0].name.lower())
        )
    )
    return Table("Tags", table_head("tag", "kind", "pages"), rows, ("kind",), "No page has a tag yet.")


def tag_links(site: Site, links: Links, names: Iterable[str], snippets: Iterable[str]) -> tuple[TableCell, ...]:
    """Return the tags of one page, each leading to its row in the table of all, where there is one."""
    there = links.lesson(_TAGS_PAGE) if (site.catalogue.book.root / _TAGS_PAGE).is_file() else None
    return tuple(
        TableCell(tag.name, f"{there}#{tag.anchor}" if there else None, tag.kind)
        for tag in _page_tags(site, names, snippets)
    )
