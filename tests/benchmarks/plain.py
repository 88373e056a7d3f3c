"""The floor for the site: the same pages as one would write them for MkDocs and Material alone, cards in fences."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from benchmarks import lessons
from benchmarks.generated import write
from capture import store
from capture.site.card import card
from capture.site.markdown.handbook_pages import without_front_matter
from capture.site.markdown.page_in_progress import PageInProgress, PageSource
from capture.site.model import site
from capture.site.model.card_view import CardView, Panel, ResultView
from capture.site.model.links import Links
from capture.site.model.request import FenceRequest
from capture.site.model.site import Site
from capture.site.page import host_page
from capture.site.page.markdown_copy import badge_line, code_block, page_copy, shown_stream
from capture.store import catalogue

OURS = re.compile(r"^  - captured\b.*\n|^ +(?:custom_inline|custom_fences):\n(?:^ {8,}.*\n)*", re.MULTILINE)


def write_site(book: store.Handbook, folder: Path, count: int) -> None:
    """Write a handbook's pages as plain Markdown into a folder, with its theme, extensions and search."""
    config = OURS.sub("", (book.root / "mkdocs.yml").read_text("utf-8")).replace("watch: [snippets]\n", "")
    # Two entries that are left without options.
    config += f"\nnot_in_nav: |\n  /{host_page.HOSTS}/\n"
    write(folder / "mkdocs.yml", re.sub(r"(pymdownx\.(?:inlinehilite|superfences)):\n", r"\1\n", config))
    write(folder / "docs" / "index.md", (book.root / "docs" / "index.md").read_text("utf-8"))
    known = site.from_catalogue(catalogue.read_handbook(book), site.parse_settings(store.read_site_config(book)))
    for number in range(count):
        write(folder / "docs" / f"{lessons.name_of(number)}.md", lesson(known, number, count))
    for name, text in host_page.page_texts(known, listed=False).items():  # a page for each host comes with ours
        here = PageInProgress(known, PageSource(f"docs/{name}", text))
        head, records = text.removesuffix(without_front_matter(text)), here.links.view(f"{store.CAPTURES}/")
        body = page_copy(here, without_front_matter(text)).replace("](../../captures/", f"]({records}")
        write(folder / "docs" / name, head + body)


def lesson(known: Site, number: int, count: int) -> str:
    """Return a page with its numbers typed, and its card as text."""
    key = lessons.name_of(number)
    snippet = known.catalogue.snippets[key]
    links = Links(known.settings, None, f"docs/{key}.md")
    view = card.card(known, FenceRequest(snippet, None, "both", None), links, "uid")
    return lessons.page(number, count, "\n\n".join(parts(view)), list(lessons.typed(number)))


def parts(view: CardView) -> Iterator[str]:
    """Yield the paragraphs of a card, with all the text that ours shows."""
    yield f"**{view.title}** `{view.path}` [download]({view.actions.download}){{ download }}"
    if view.source:
        yield code_block(view.source.text, 'python linenums="1"')
    for panel in view.panels:
        yield f'=== "{panel.title}"'
        yield from (indented(text) for text in panel_parts(panel))
    yield f"run it: `{view.by_hand}` · capture it: `{view.by_tool}`"
    acts = view.actions
    yield f"[edit snippet]({acts.edit_snippet}) [edit page]({acts.edit_page}) [report an issue]({acts.report})"


def panel_parts(panel: Panel) -> Iterator[str]:
    """Yield the paragraphs of one host."""
    view = panel.result
    assert isinstance(view, ResultView)
    yield f"{badge_line(view.badge)}. [record]({view.record})"
    yield code_block(shown_stream(view.stdout), "text")
    yield "\n".join(f"- **{one.mark}** {one.says} {one.more}".rstrip() for one in view.verdicts)
    yield '??? note "environment"'
    yield indented("\n".join(f"{fact.name}\n:   {fact.value}\n" for fact in view.facts).rstrip("\n"))


def indented(text: str) -> str:
    """Return a block as the content of a tab or an admonition."""
    return "\n".join(f"    {line}" if line else "" for line in text.split("\n"))
