"""Speed, and nothing else: without this file the site is the same to the byte.

Search gets less to parse. A page whose parts are all as they were is taken from the user's cache folder: first what its
Markdown was rendered to; then, once the titles of all pages are known, its entries in the search index and the file.
"""

from __future__ import annotations

import contextlib
import json
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

from capture.site import company, kept, shown
from capture.site.building import Build
from capture.site.markdown import page_check, page_in_progress
from capture.site.page import search_text

FIRST, AFTER_SEARCH, LAST = 1e9, -50, -1e9
SOFTWARE = ("markdown", "pymdown-extensions", "pygments", "mkdocs", "mkdocs-material", "jinja2", "markupsafe")
COPIED = ("captures/", "snippets/")  # files that are copied as they are
BUILD: list[Build] = []


@event_priority(FIRST)
def on_config(config: MkDocsConfig) -> None:
    """Open what was kept, before a plugin compiles the first template."""
    on_build_error(error=RuntimeError("the last build did not end"))
    BUILD[:] = [Build(Path(config.config_file_path).resolve().parent)]
    BUILD[0].shares = company.is_known(config, Path(__file__).parent)
    if BUILD[0].shares:  # what another does to the environment could change what is compiled
        BUILD[0].compile(config.theme)


def on_pre_build(config: MkDocsConfig) -> None:
    """Sum up what decides how any page is rendered."""
    if page_check.are_pure(config.markdown_extensions):
        with contextlib.suppress(TypeError):
            own = [path.read_text("utf-8") for path in sorted(Path(__file__).parent.glob("*.py"))]
            settings = [config.markdown_extensions, config.mdx_configs, config.use_directory_urls, config.validation]
            BUILD[0].markdown = kept.digest(kept.software(SOFTWARE), *own, kept.canonical(settings))


def on_build_error(error: Exception, **_: Any) -> None:
    """Leave what is kept as it was."""
    for build in BUILD:
        build.close(error)
    BUILD.clear()


@event_priority(LAST)
def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Decide what search reads."""
    BUILD[0].sources = len(files.documentation_pages()) <= search_text.SOURCES_UP_TO
    return files


@event_priority(LAST)
def on_nav(nav: Navigation, config: MkDocsConfig, files: Files) -> None:
    """Share the work: one process copies records and scripts, another renders pages from the last one on."""
    build = BUILD[0]
    build.nav = nav
    build.name((file.src_uri, f"{file.url} {file.inclusion.name}") for file in files)
    if build.ahead:
        build.ahead.take(1)
    static = (file for file in files if file.src_uri.startswith(COPIED) and not file.is_documentation_page())
    build.copy([file for file in static if file.inclusion.is_included()])
    pages = [file.page for file in files.documentation_pages() if file.page]

    def render(number: int) -> None:
        page = config.plugins.on_pre_page(pages[number], config=config, files=files)
        page.read_source(config)
        page.markdown = config.plugins.on_page_markdown(page.markdown, page=page, config=config, files=files)
        page.render(config, files)
        page.content = config.plugins.on_page_content(page.content, page=page, config=config, files=files)

    build.share([page.file.src_uri for page in pages], render)


@event_priority(LAST)
def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> None:
    """Let a page be rendered from what is known of it; this is the last moment before MkDocs does so."""
    build, here = BUILD[0], page_in_progress.current()
    build.rendering = None
    if here is None:
        return
    build.take(page.file.src_uri)
    mark = page.file.src_uri, kept.digest(markdown)
    here.laid = mark in build.ready
    key = build.ready.get(mark) or build.key(page.file.src_uri, page.url, here, markdown)
    if key is None:
        return
    build.ready[mark] = key
    known = kept.parted(build.pages.get(key) or "", 2)
    if known:
        page.render = lambda config, files: rendered(page, files, here, *known)
    else:
        build.rendering = key, build.watch.count, here


def rendered(page: Page, files: Files, here: page_in_progress.Visit, small: dict[str, Any], texts: list[str]) -> None:
    """Give a page what rendering gave it."""
    page.content, copied = texts
    here.skip(copied)
    page.toc = get_toc(small["toc"])
    page._title_from_render = small["title"]
    page.present_anchor_ids = set(small["anchors"])
    links = {files.get_file_from_path(path): found for path, found in small["links"].items()}
    page.links_to_anchors = {file: found for file, found in links.items() if file}


@event_priority(FIRST)
def note(html: str, /, **_: Any) -> None:
    """Note what rendering gave, before anybody changes it."""
    BUILD[0].content = html


@event_priority(LAST)
def keep(html: str, /, page: Page, **_: Any) -> None:
    """Keep a page about which nothing was said."""
    build = BUILD[0]
    if build.rendering is None or not build.watch.sees:
        return
    key, count, here = build.rendering
    if count == build.watch.count and here.copied is not None:
        links = {file.src_uri: found for file, found in (page.links_to_anchors or {}).items()}
        anchors, toc = sorted(page.present_anchor_ids or ()), list(map(shown.token, page.toc))
        small = {"toc": toc, "title": page._title_from_render, "anchors": anchors, "links": links}
        build.pages.put(key, kept.joined(small, build.content, here.copied))


on_page_content = CombinedEvent(note, keep)


@event_priority(LAST)
def on_env(env: jinja2.Environment, config: MkDocsConfig, files: Files) -> None:
    """Sum up what every page shows of the site, and share the work again."""
    build = BUILD[0]
    for file in build.copied:
        file.copy_file = lambda dirty=False: None
    if build.ahead:
        build.ahead.take(0)
        build.ahead.close()
    build.site = digest_of_site(build, config, files)
    if build.site is None or build.outputs.get(build.site):
        build.alone()
        return
    build.outputs.put(build.site, "every page was made of this")
    pages = files.documentation_pages()

    def write(number: int) -> None:
        page = pages[number].page
        page.active = True
        context = get_context(build.nav, pages, config, page)
        template = env.get_template(page.meta.get("template", "main.html"))
        context = config.plugins.on_page_context(context, page=page, config=config, nav=build.nav)
        on_post_page(template.render(context), page, config)
        page.active = False

    build.share([file.src_uri for file in pages], write)


def digest_of_site(build: Build, config: MkDocsConfig, files: Files) -> str | None:
    """Return what stands for all that every page shows of the site, or None where that cannot be told."""
    if build.markdown is None or config.plugins.events["env"] != [on_env] or shown.is_dated(config.theme.custom_dir):
        return None  # what another does to the environment cannot be told, and a date is another each time
    with contextlib.suppress(TypeError):
        return kept.digest(build.markdown, kept.canonical(shown.site(config, files, build.nav)))
    return None


@event_priority(FIRST)
def reduce(context: Any, /, page: Page, config: MkDocsConfig, **_: Any) -> Any:
    """Give search what it needs of a page, or what it made of the same page before."""
    build, index = BUILD[0], shown.index_of(config.plugins)
    build.take(page.file.src_uri)
    build.content, build.search, build.indexing = page.content or "", page.meta.get("search"), None
    page.content = search_text.reduced(build.content, build.sources)
    if index is not None:
        with contextlib.suppress(TypeError):
            about = [page.url, page.title, shown.meta(page), list(map(shown.token, page.toc)), build.sources]
            key = kept.digest("index", build.content, kept.canonical(about))
            known = build.pages.get(key)
            if known is None:
                build.indexing = key, len(index)
            else:
                index += json.loads(known)
                page.content, page.meta["search"] = "", {"exclude": True}
    return context


@event_priority(AFTER_SEARCH)
def restore(context: Any, /, page: Page, config: MkDocsConfig, **_: Any) -> Any:
    """Give a page its content back, and keep what search made of it."""
    build, index = BUILD[0], shown.index_of(config.plugins)
    page.content = build.content
    page.meta["search"] = build.search
    if build.search is None:
        del page.meta["search"]
    if build.indexing and index is not None:
        key, count = build.indexing
        build.pages.put(key, json.dumps(index[count:]))
    return context


@event_priority(LAST)
def recall(context: Any, /, page: Page, **_: Any) -> Any:
    """Take the whole file of a page from what is kept."""
    build = BUILD[0]
    build.writing = None
    with contextlib.suppress(TypeError):
        key = output_key(build, context, page)
        known = build.outputs.get(key) if build.site else None
        if known is not None:
            context |= {"kept_layout": "kept.html", "kept_output": known}
        elif build.site:
            build.writing = key, build.watch.count
    return context


on_page_context = CombinedEvent(reduce, restore, recall)


def output_key(build: Build, context: Any, page: Page) -> str:
    """Return what stands for all that a page's file is made of; raises TypeError where that cannot be told."""
    return kept.digest(str(build.site), page.content or "", kept.canonical(shown.of_page(context, page)))


@event_priority(FIRST)
def on_post_page(output: str, page: Page, config: MkDocsConfig) -> None:
    """Keep the file of a page as the theme made it."""
    build = BUILD[0]
    if build.writing and build.writing[1] == build.watch.count and build.watch.sees:
        build.outputs.put(build.writing[0], output)


@event_priority(LAST)
def on_post_build(config: MkDocsConfig) -> None:
    """Write what is kept."""
    BUILD[0].wait()
    BUILD.pop().close()
