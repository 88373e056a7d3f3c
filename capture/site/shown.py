"""What a page's file shows besides its text: contents, nav, templates. Its pages and plugins are those of MkDocs."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

# Settings that no page shows but through its place, its links and its nav.
NOT_SHOWN = ("theme", "plugins", "hooks", "docs_dir", "site_dir", "exclude_docs", "draft_docs", "not_in_nav", "watch")

# What MkDocs itself gives to templates and to pages; anything else there comes from a plugin. Days take no part: of
# Material's pages none shows when it was built.
CONTEXT = frozenset([
    "nav", "pages", "base_url", "extra_css", "extra_javascript", "mkdocs_version", "build_date_utc", "config", "page",
])  # fmt: skip
OWN = frozenset([
    "file", "title", "parent", "children", "previous_page", "next_page", "_Page__active", "update_date",
    "canonical_url", "abs_url", "edit_url", "markdown", "_title_from_render", "content", "toc", "meta", "render",
    "present_anchor_ids", "links_to_anchors",
])  # fmt: skip


def token(entry: Any) -> dict[str, Any]:
    """Return an entry of a table of contents as Markdown gave it."""
    children = [token(child) for child in entry.children]
    return {"name": entry.title, "id": entry.id, "level": entry.level, "children": children}


def site(config: Any, files: Any, nav: Any) -> list[Any]:
    """Return all that every page shows of the site: settings, the pages' titles, the nav, the templates."""
    settings = {name: value for name, value in config.items() if name not in NOT_SHOWN}
    pages = [file.page for file in files.documentation_pages() if file.page]
    titles = [(page.file.src_uri, page.title, meta(page)) for page in pages]
    return [settings, *surroundings(config), titles, branches(nav.items), list(templates(config.theme.dirs))]


def surroundings(config: Any) -> list[Any]:
    """Return the settings of all plugins, and those of the theme."""
    plugins = {name: dict(getattr(plugin, "config", {})) for name, plugin in config.plugins.items()}
    return [plugins, {**dict(config.theme), "locale": str(config.theme.locale)}]


def of_page(context: Mapping[str, Any], page: Any) -> list[Any]:
    """Return all that one page shows of itself but its text, with what plugins added to it."""
    more = {name: value for name, value in context.items() if name not in CONTEXT}
    own = {name: value for name, value in vars(page).items() if name not in OWN}
    toc = list(map(token, page.toc))
    return [page.url, page.title, page.edit_url, page.canonical_url, page.meta, toc, more, own]


def meta(page: Any) -> dict[str, Any]:
    """Return what a page says of itself, without what our own hooks note there for a while."""
    return {name: value for name, value in page.meta.items() if not name.startswith("captured_")}


def branches(items: list[Any]) -> list[Any]:
    """Return the tree of sections, pages and links."""
    return [[item.title, branches(item.children) if item.children else getattr(item, "url", "")] for item in items]


def templates(folders: Iterable[str]) -> Iterator[tuple[str, int, int]]:
    """Yield what tells one version of each template from the next."""
    for folder in folders:
        for parent, inner, names in os.walk(folder):
            inner[:] = [name for name in inner if name not in (".icons", "assets")]
            for name in names:
                path = Path(parent, name)
                found = path.stat()
                yield str(path), found.st_size, found.st_mtime_ns


def is_dated(folder: str | None) -> bool:
    """Tell whether a template of the site's own may show when it was built; none of Material's does."""
    found = Path(folder).rglob("*") if folder else ()
    return any(b"build_date_utc" in path.read_bytes() for path in found if path.is_file())


def index_of(plugins: Mapping[str, Any]) -> list[Any] | None:
    """Return the entries of the search index so far, or None where no such plugin is known."""
    found = (getattr(getattr(plugin, "search_index", None), "entries", None) for plugin in plugins.values())
    return next((entries for entries in found if isinstance(entries, list)), None)
