"""What stands at the end of a page: when its text and its results are from, and its tags."""

from __future__ import annotations

from dataclasses import dataclass

from capture.host.host import LOCAL
from capture.site.markdown import fence_positions, handbook_pages
from capture.site.markdown.page_in_progress import PageInProgress
from capture.site.model import templates
from capture.site.table import page_tags
from capture.site.table.table import TableCell


@dataclass(frozen=True)
class PageFoot:
    """The day of the last change of the text, empty where unknown; the first and last day of its results; tags."""

    text: str
    first: str
    last: str
    tags: tuple[TableCell, ...]

    @property
    def newest(self) -> str:
        """The day on which text or results were last changed, empty where neither is known."""
        return max(self.text, self.last)


def page_foot(here: PageInProgress, topic_names: tuple[str, ...], text_day: str) -> PageFoot:
    """Return the foot of a page; a table over all records makes each of them one of its results."""
    text = here.page.text if here.page else ""
    named = handbook_pages.named_snippets(text)
    everything = bool(fence_positions.fences(text, fence_positions.TABLE_FENCE))
    catalogue = here.site.catalogue
    of_snippets = (item for key in named for item in catalogue.of_snippet(key))
    records = catalogue.records.values() if everything else of_snippets
    days = [item.captured for item in records if item.host != LOCAL]
    tags = page_tags.tag_links(here.site, here.links, topic_names, named)
    return PageFoot(text_day, min(days, default=""), max(days, default=""), tags)


def foot_html(foot: PageFoot) -> str:
    """Return the HTML of a foot; nothing where there is nothing to say."""
    return templates.rendered("foot.html.j2", foot=foot) if foot.newest or foot.tags else ""
