"""Speed, and nothing else: without this file the site is the same to the byte.

Search gets less to parse. A page whose parts are all as they were is taken from the user's cache folder: first what its
Markdown was rendered to, then, once every page's title is known, the whole page and its entries in the search index.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import logging
import os
import posixpath
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jinja2
from mkdocs.commands.build import get_context
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.plugins import CombinedEvent, event_priority
from mkdocs.structure.files import Files
from mkdocs.structure.nav import Navigation
from mkdocs.structure.pages import Page
from mkdocs.structure.toc import get_toc

from capture import store
from capture.render import helper, kept, near, searchable, visit

FIRST, LAST = 200, -200
SOFTWARE = ("markdown", "pymdown-extensions", "pygments", "mkdocs", "mkdocs-material", "jinja2", "markupsafe")
WORD = re.compile(r"[\w.-]+")
OURS = ("captures/", "snippets/")  # files that are copied as they are
# Settings that no page shows but through its place, its links and its nav.
NOT_SHOWN = ("theme", "plugins", "hooks", "docs_dir", "site_dir", "exclude_docs", "draft_docs", "not_in_nav", "watch")
# What MkDocs itself gives to templates and to pages; anything else there comes from a plugin.
CONTEXT = {
    "nav",
    "pages",
    "base_url",
    "extra_css",
    "extra_javascript",
    "mkdocs_version",
    "build_date_utc",
    "config",
    "page",
}
OWN = {
    "file", "title", "parent", "children", "previous_page", "next_page", "active", "_StructureItem__active",
    "_Page__active", "update_date", "canonical_url", "abs_url", "edit_url", "markdown", "_title_from_render", "content",
    "toc", "meta", "present_anchor_ids", "links_to_anchors", "render",
}  # fmt: skip


class Watch(logging.Handler):
    """Counts what is logged: a page that had something to say is rendered again, to say it again."""

    def __init__(self) -> None:
        super().__init__(logging.INFO)
        self.count = 0

    def emit(self, record: logging.LogRecord) -> None:
        """Count one."""
        self.count += 1


class Build:
    """What is known while one site is built."""

    def __init__(self, config: MkDocsConfig) -> None:
        root = Path(config.config_file_path).resolve().parent
        self.pages = store.Cache(root, "pages", spare=0.5).__enter__()
        self.outputs = store.Cache(root, "outputs", spare=0.5).__enter__()
        self.templates = store.Cache(root, "templates").__enter__()
        self.watch = Watch()
        logging.getLogger("mkdocs").addHandler(self.watch)
        self.names: dict[str, list[str]] = {}
        self.odd: list[str] = []
        self.markdown: str | None = None
        self.site: str | None = None
        self.known: Any = None
        self.choice = ""
        self.nav: Any = None
        self.static: list[Any] = []
        self.helper: helper.Helper | None = None
        self.order: dict[str, int] = {}
        self.ready: dict[tuple[str, str], str] = {}  # keys that the helper found, by page and Markdown
        self.sources = True
        # Of the page at hand: its content and what it says about search, and the keys under which it will be kept.
        self.content, self.search = "", None
        self.rendering: tuple[str, int, visit.Visit] | None = None
        self.indexing: tuple[str, int] | None = None
        self.writing: str | None = None

    def help(self, pages: list[Page], first: Callable[[], None], work: Callable[[Page], None]) -> None:
        """Fork a helper, where that is possible."""
        self.unhelp()
        if not helper.possible(len(pages)):
            return
        self.order = {page.file.src_uri: number for number, page in enumerate(pages)}
        caches = (self.pages, self.outputs)

        def made(number: int) -> str:
            before = [len(cache.used) for cache in caches]
            self.ready.clear()
            with contextlib.suppress(Exception):
                work(pages[number])
            rows = [("ready", digest, key) for (_, digest), key in self.ready.items()]
            for cache, count in zip(caches, before, strict=True):
                rows += [(cache.part, *item) for item in itertools.islice(cache.used.items(), count, None)]
            return "\n".join(map(" ".join, rows))

        self.helper = helper.Helper(len(pages), first, made)

    def unhelp(self) -> None:
        """End the helper."""
        if self.helper:
            self.helper.close()
        self.helper = None

    def take(self, page: Page) -> None:
        """Take what the helper has made of a page."""
        number = self.order.get(page.file.src_uri)
        if self.helper is None or number is None:
            return
        parts = {cache.part: cache for cache in (self.pages, self.outputs)}
        for part, one, other in helper.lines(self.helper.result(number)):
            if part == "ready":
                self.ready[page.file.src_uri, one] = other
            else:
                parts[part].adopt(one, other)

    def close(self, error: BaseException | None = None) -> None:
        """Write the caches."""
        self.unhelp()
        logging.getLogger("mkdocs").removeHandler(self.watch)
        for cache in (self.pages, self.outputs, self.templates):
            cache.__exit__(type(error) if error else None, error, None)


BUILD: list[Build] = []


def on_pre_build(config: MkDocsConfig) -> None:
    """Open what was kept."""
    on_build_error(error=RuntimeError("the last build did not end"))
    BUILD[:] = [Build(config)]
    names = {name.removeprefix("markdown.extensions.") for name in config.markdown_extensions}
    if names <= kept.PURE:
        with contextlib.suppress(TypeError):
            own = "".join(path.read_text("utf-8") for path in sorted(Path(__file__).parent.glob("*.py")))
            settings = [config.markdown_extensions, config.mdx_configs, config.use_directory_urls, config.validation]
            BUILD[0].markdown = kept.digest(kept.software(SOFTWARE), own, kept.canonical(settings))


def on_build_error(error: Exception, **_: Any) -> None:
    """Leave the caches as they were."""
    for build in BUILD:
        build.close(error)
    BUILD.clear()


@event_priority(LAST)
def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Remember every file by its name: a page that names one may link to it."""
    build = BUILD[0]
    for file in files:
        name = posixpath.basename(file.src_uri)
        place = f"{file.src_uri} {file.url}"
        if WORD.fullmatch(name):
            build.names.setdefault(name, []).append(place)
        else:
            build.odd.append(place)
    build.sources = len(files.documentation_pages()) <= searchable.SOURCES_UP_TO
    return files


@event_priority(LAST)
def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> None:
    """Let a page be rendered from what is known of it; this is the last moment before MkDocs does so."""
    here = visit.current()
    build = BUILD[0]
    build.rendering = None
    if here is None:
        return
    build.take(page)
    if here.site is not build.known:
        build.known, build.choice = here.site, near.element(here.site)
    mark = page.file.src_uri, kept.digest(markdown)
    here.laid = mark in build.ready
    key = build.ready.get(mark) or page_key(build, page, here, markdown)
    if key is None:
        return
    build.ready[mark] = key
    known = kept.parted(build.pages.get(key) or "", 2)
    if known:
        page.render = lambda config, files: restore_page(page, files, here, *known)  # type: ignore[method-assign]
    else:
        build.rendering = key, build.watch.count, here


def page_key(build: Build, page: Page, here: visit.Visit, markdown: str) -> str | None:
    """Return what stands for all that decides how a page is rendered, or None where that cannot be told."""
    said = kept.facts(here, markdown) if build.markdown else None
    if said is None or build.markdown is None:
        return None
    words = sorted(set(WORD.findall(markdown)) & build.names.keys())
    named = [place for word in words for place in build.names[word]]
    return kept.digest(build.markdown, page.file.src_uri, page.url, markdown, *said, "\1", *named, *build.odd)


def restore_page(page: Page, files: Files, here: visit.Visit, small: dict[str, Any], texts: list[str]) -> None:
    """Give a page what rendering gave it."""
    page.content, copied = texts
    here.skip(copied)
    page.toc = get_toc(small["toc"])
    page._title_from_render = small["title"]
    page.present_anchor_ids = set(small["anchors"])
    links = {files.get_file_from_path(name): found for name, found in small["links"].items()}
    page.links_to_anchors = {file: found for file, found in links.items() if file}


@event_priority(FIRST)
def keep_content(html: str, /, page: Page, **_: Any) -> str:
    """Note what rendering gave before anybody changes it."""
    BUILD[0].content = html
    return html


@event_priority(LAST)
def keep_page(html: str, /, page: Page, **_: Any) -> str:
    """Keep a page about which nothing was said."""
    build = BUILD[0]
    if build.rendering and build.rendering[1] == build.watch.count and build.rendering[2].copied is not None:
        key, _, here = build.rendering
        links = {file.src_uri: found for file, found in (page.links_to_anchors or {}).items()}
        small = {
            "toc": [token(entry) for entry in page.toc], "title": page._title_from_render, "links": links,
            "anchors": sorted(page.present_anchor_ids or ()),
        }  # fmt: skip
        build.pages.put(key, kept.joined(small, build.content, here.copied))
    return html


on_page_content = CombinedEvent(keep_content, keep_page)


def token(entry: Any) -> dict[str, Any]:
    """Return an entry of a table of contents as Markdown gave it."""
    children = [token(child) for child in entry.children]
    return {"name": entry.title, "id": entry.id, "level": entry.level, "children": children}


@event_priority(LAST)
def on_nav(nav: Navigation, config: MkDocsConfig, files: Files) -> None:
    """Remember the order of the pages, and begin to render them from the other end."""
    build = BUILD[0]
    build.nav = nav
    static = [file for file in files if file.src_uri.startswith(OURS) and not file.is_documentation_page()]
    static = [file for file in static if file.inclusion.is_included()]

    def copy() -> None:
        for file in static:
            file.copy_file()

    def render(page: Page) -> None:
        page = config.plugins.on_pre_page(page, config=config, files=files)
        page.read_source(config)
        page.markdown = config.plugins.on_page_markdown(page.markdown, page=page, config=config, files=files)
        page.render(config, files)
        page.content = config.plugins.on_page_content(page.content, page=page, config=config, files=files)

    build.help([file.page for file in files.documentation_pages() if file.page], copy, render)
    build.static = static


@event_priority(LAST)
def on_env(env: jinja2.Environment, config: MkDocsConfig, files: Files) -> jinja2.Environment:
    """Sum up what every page shows of the site: all titles, all settings, all templates."""
    build = BUILD[0]
    if build.helper and build.helper.first_done():
        for file in build.static:
            file.copy_file = lambda dirty=False: None  # type: ignore[method-assign]
    env.bytecode_cache = Bytecode(build.templates)
    build.site = digest_of_site(build, config, files)
    if build.site and not build.outputs.get(build.site):

        def write(page: Page) -> None:
            page.active = True
            context = get_context(build.nav, pages, config, page)
            template = env.get_template(page.meta.get("template", "main.html"))
            context = config.plugins.on_page_context(context, page=page, config=config, nav=build.nav)
            on_post_page(template.render(context), page, config)
            page.active = False

        pages = files.documentation_pages()
        build.help([file.page for file in pages if file.page], lambda: None, write)
        build.outputs.put(build.site, "every page was made of this")
    else:
        build.unhelp()
    return env


def digest_of_site(build: Build, config: MkDocsConfig, files: Files) -> str | None:
    """Return what stands for all that every page shows of the site, or None where that cannot be told."""
    if build.markdown is None or config.plugins.events["env"] != [on_env]:
        return None  # what another does to the environment cannot be told
    with contextlib.suppress(TypeError):
        settings = {name: value for name, value in config.items() if name not in NOT_SHOWN}
        plugins = {name: dict(getattr(plugin, "config", {})) for name, plugin in config.plugins.items()}
        pages = [
            (page.file.src_uri, page.title, page.meta) for file in files.documentation_pages() if (page := file.page)
        ]
        theme = {**dict(config.theme), "locale": str(config.theme.locale)}
        shown = [settings, plugins, theme, pages, branches(build.nav.items), list(templates(config))]
        return kept.digest(build.markdown, kept.canonical(shown))
    return None


def branches(items: list[Any]) -> list[Any]:
    """Return the tree of sections, pages and links."""
    return [
        [item.title, branches(item.children)] if item.children else [item.title, getattr(item, "url", "")]
        for item in items
    ]


def templates(config: MkDocsConfig) -> Iterator[tuple[str, int, int]]:
    """Yield what tells one version of each template from the next."""
    for folder in config.theme.dirs:
        for parent, folders, names in os.walk(folder):
            folders[:] = [name for name in folders if name not in (".icons", "assets")]
            for name in names:
                path = Path(parent, name)
                found = path.stat()
                yield str(path), found.st_size, found.st_mtime_ns


class Bytecode(jinja2.BytecodeCache):
    """Compiled templates, of which Jinja sees that their source is the same."""

    def __init__(self, cache: store.Cache) -> None:
        self.cache = cache

    def load_bytecode(self, bucket: jinja2.bccache.Bucket) -> None:
        """Fill a bucket with what is known."""
        if known := self.cache.get(bucket.key):
            bucket.bytecode_from_string(bytes.fromhex(known))

    def dump_bytecode(self, bucket: jinja2.bccache.Bucket) -> None:
        """Keep what was compiled."""
        self.cache.put(bucket.key, bucket.bytecode_to_string().hex())


def index_of(config: MkDocsConfig) -> list[Any] | None:
    """Return the entries of the search index so far, or None where no such plugin is known."""
    found = (getattr(getattr(plugin, "search_index", None), "entries", None) for plugin in config.plugins.values())
    return next((entries for entries in found if isinstance(entries, list)), None)


@event_priority(FIRST)
def reduce(context: Any, /, page: Page, config: MkDocsConfig, **_: Any) -> Any:
    """Give search what it needs of a page, or what it made of the same page before."""
    build, index = BUILD[0], index_of(config)
    build.take(page)
    build.content, build.search = page.content or "", page.meta.get("search")
    build.indexing = None
    if index is not None:
        with contextlib.suppress(TypeError):
            about = [page.url, page.title, page.meta, [token(entry) for entry in page.toc], build.sources]
            key = kept.digest("index", build.content, kept.canonical(about))
            known = build.pages.get(key)
            if known is not None:
                index += json.loads(known)
                page.content, page.meta["search"] = "", {"exclude": True}
                return context
            build.indexing = key, len(index)
    page.content = searchable.reduced(build.content, build.sources)
    return context


@event_priority(LAST)
def restore(context: Any, /, page: Page, config: MkDocsConfig, **_: Any) -> Any:
    """Give a page its content back with what the choice of a host needs; take all of it from what is kept, if it is."""
    build, index = BUILD[0], index_of(config)
    page.content = build.content + build.choice
    if build.search is not None:
        page.meta["search"] = build.search
    else:
        page.meta.pop("search", None)
    if build.indexing and index is not None:
        key, count = build.indexing
        build.pages.put(key, json.dumps(index[count:]))
    build.writing = None
    if build.site:
        with contextlib.suppress(TypeError):
            key = output_key(build.site, context, page)
            known = build.outputs.get(key)
            if known is None:
                build.writing = key
            else:
                context |= {"kept_layout": "kept.html", "kept_output": known}
    return context


on_page_context = CombinedEvent(reduce, restore)


def output_key(site: str, context: Any, page: Page) -> str:
    """Return what stands for all that a page's file is made of; raises TypeError where that cannot be told."""
    more = {name: value for name, value in context.items() if name not in CONTEXT}
    own = {name: value for name, value in vars(page).items() if name not in OWN}
    shown = [page.url, page.title, page.edit_url, page.canonical_url, page.meta, [token(entry) for entry in page.toc]]
    return kept.digest(site, page.content or "", kept.canonical([*shown, more, own]))


@event_priority(FIRST)
def on_post_page(output: str, page: Page, config: MkDocsConfig) -> str:
    """Keep the file of a page as the theme made it."""
    build = BUILD[0]
    if build.writing:
        build.outputs.put(build.writing, output)
    return output


@event_priority(LAST)
def on_post_build(config: MkDocsConfig) -> None:
    """Write what is kept."""
    BUILD.pop().close()
