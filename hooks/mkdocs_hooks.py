"""What only MkDocs knows: which page is built, what to watch, which files to add. Rendering is capture.render's."""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.plugins import event_priority
from mkdocs.structure.files import File, Files, InclusionLevel
from mkdocs.structure.nav import Navigation
from mkdocs.structure.pages import Page
from mkdocs.structure.toc import get_toc
from mkdocs.utils import CountHandler, meta

from capture import store
from capture.errors import CaptureError
from capture.host.host import LOCAL
from capture.site.markdown import page_check, page_in_progress
from capture.site.model import site
from capture.site.model.links import Links
from capture.site.notebook import notebook_pages
from capture.site.page import foot, host_page, markdown_copy, moved_addresses, similar_hosts

if TYPE_CHECKING:  # importing it takes as long as reading a hundred records
    from mkdocs.livereload import LiveReloadServer

LOG = logging.getLogger("mkdocs.capture")
# What MkDocs tells once and asks for later; a hooks file has no object to keep it in.
SERVING: list[bool] = []
BUILD: list[site.Site] = []
CHOICE: list[str] = []  # what every page tells the choice of a host
NAV: list[Navigation] = []
SECTIONS: dict[str, list[str]] = {}  # of each page, by its address
GENERATED: set[str] = set()  # addresses of the pages that nobody wrote
HISTORY: dict[str, str] = {}  # the day on which each page's text was last changed, by its path
TOURS: dict[str, notebook_pages.Tour] = {}  # by the address of the lesson and by that of the notebook's page
ADD_ADDRESSES = "CAPTURE_ADDRESSES"
LOCAL_FILES = f"captures/{LOCAL}/"
OWN_ID = re.compile(r'\sid="(capture-[^"]+)"')


def on_startup(command: str, **_: Any) -> None:
    """Remember whether this is `mkdocs serve`."""
    SERVING[:] = [command == "serve"]


def on_config(config: MkDocsConfig) -> None:
    """Keep `strict: true` from ending `mkdocs serve` at the first mistake: there the page and the log show it."""
    logger = logging.getLogger("mkdocs")
    for handler in list(logger.handlers) if any(SERVING) else ():
        if isinstance(handler, CountHandler):
            logger.removeHandler(handler)


def book(config: MkDocsConfig) -> store.Handbook:
    """Return the handbook of this mkdocs.yml."""
    return store.Handbook(Path(config.config_file_path).resolve().parent)


def on_pre_build(config: MkDocsConfig) -> None:
    """Read the catalogue where a snippet or a record has changed since the last build.

    A damaged record is named here: its page would call it missing.
    """
    try:
        known = site.load(book(config), {"extra": config.extra}, local=not site.published())
        moves(config)
    except CaptureError as error:
        raise PluginError(str(error)) from error
    BUILD[:], CHOICE[:] = [known], [similar_hosts.element(known)]
    for memory in (SECTIONS, GENERATED, HISTORY):
        memory.clear()
    HISTORY.update(store.page_days(book(config)))
    fault = site.default_host_problem(known.catalogue, known.settings)
    damaged = [item for item in known.catalogue.problems if item.path.startswith(store.CAPTURES)]
    for problem in [*damaged, *([fault] if fault else [])]:
        LOG.warning("%s", problem)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the scripts and the dataset as downloads; leave this machine's records out of what is published."""
    from capture.exchange import dataset, dataset_rows  # a site of which nothing changed has no use for them

    if site.published():
        for file in [file for file in files if file.src_uri.startswith(LOCAL_FILES)]:
            files.remove(file)
    snippets = book(config).root / "snippets"
    for path in sorted(snippets.glob("*/*")):
        if path.is_file() and path.suffix != ".md" and not path.name.startswith("."):
            uri = path.relative_to(snippets.parent).as_posix()
            files.append(File.generated(config, uri, abs_src_path=str(path)))
    files.append(File.generated(config, dataset.ADDRESS, content=dataset.text(dataset_rows.of(BUILD[0].catalogue))))
    add_host_pages(files, config)
    add_notebooks(files, config)
    return files


def add_notebooks(files: Files, config: MkDocsConfig) -> None:
    """Add the notebook of each lesson that mkdocs.yml names: the file, and the page that shows it, outside of nav."""
    written = {file.src_uri: file for file in files.documentation_pages()}
    try:
        lessons, problems = notebook_pages.chosen(BUILD[0], list(written))
        for problem in problems:
            LOG.warning("%s", problem)
        texts = {lesson: written[lesson].content_string.replace("\r\n", "\n") for lesson in lessons}
        found = notebook_pages.tours(BUILD[0], texts, config.site_url)
    except CaptureError as error:
        raise PluginError(str(error)) from error
    TOURS.clear()
    for item in found:
        title = str(meta.get_data(texts[item.lesson])[1].get("title", item.lesson))
        TOURS[moved_addresses.address(item.lesson)] = TOURS[moved_addresses.address(item.place.page)] = item
        content, outside = notebook_pages.front_matter(title), InclusionLevel.NOT_IN_NAV
        files.append(File.generated(config, item.place.page, content=content, inclusion=outside))
        files.append(File.generated(config, item.place.file, content=item.file))


def notebook_of(page: Page) -> notebook_pages.Tour | None:
    """Return the notebook that a page shows."""
    item = TOURS.get(moved_addresses.address(page.file.src_uri))
    return item if item and item.place.page == page.file.src_uri else None


def add_host_pages(files: Files, config: MkDocsConfig) -> None:
    """Add a page for each host, in the nav below the page that lists them all; one that somebody wrote goes first."""
    texts = host_page.texts(BUILD[0], listed=files.get_file_from_path(host_page.INDEX) is not None)
    shown = config.nav is None or host_page.join(config.nav, texts)
    for uri in [uri for uri in texts if files.get_file_from_path(uri) is None]:
        place = InclusionLevel.UNDEFINED if shown else InclusionLevel.NOT_IN_NAV
        files.append(File.generated(config, uri, content=texts[uri], inclusion=place))


def seen(page: Page) -> page_in_progress.Page:
    """Return a page with its whole text, so that lines count as an editor counts them, and the way to the root."""
    text = (page.file.content_string or "").replace("\r\n", "\n")
    return page_in_progress.Page(f"docs/{page.file.src_uri}", text, "../" * page.url.count("/") or "./")


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, **_: Any) -> None:
    """Begin a page."""
    known, here = BUILD[0], seen(page)
    page_in_progress.enter(known, here)
    item = notebook_of(page)
    edited = (
        f"docs/{item.lesson}" if item else here.path if page.file.abs_src_path else ""
    )  # nobody wrote a host's page
    page.edit_url = Links(known.settings).edit(edited) if edited else None


def on_page_content(html: str, page: Page, config: MkDocsConfig, **_: Any) -> str:
    """End a page: lay a copy in Markdown beside it, log what was wrong, and tell the link check its cards' anchors."""
    if item := notebook_of(page):
        page_in_progress.leave("")
        page.update_date = HISTORY.get(f"docs/{item.lesson}", "")
        page.toc = get_toc(item.headings)
        SECTIONS[moved_addresses.address(page.file.src_uri)] = []  # its headings are the lesson's
        return item.html
    if here := page_in_progress.current():
        below = foot.of(
            here, page_check.listed(page.meta.get("tags")), HISTORY.get(here.page.path if here.page else "", "")
        )
        page.meta["captured_foot"], page.update_date = foot.html(below), below.newest
        if here.copied is None:
            here.copied = markdown_copy.copy(here, page.markdown or "")
        if not here.laid:
            copy = Path(config.site_dir, page.url, "index.md")
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_text(here.copied, "utf-8")
    for problem in page_in_progress.leave(html):
        LOG.warning("%s", problem)
    page.present_anchor_ids = (page.present_anchor_ids or set()) | set(OWN_ID.findall(html))
    address = moved_addresses.address(page.file.src_uri)
    SECTIONS[address] = list(sections(page.toc))
    if page.file.abs_src_path is None:
        GENERATED.add(address)
    return html + moved_addresses.signposts(address, moves(config))


def sections(entries: Iterable[Any]) -> Iterator[str]:
    """Yield the ids of a table of contents."""
    for entry in entries:
        yield entry.id
        yield from sections(entry.children)


def moves(config: MkDocsConfig) -> moved_addresses.Moves:
    """Return what mkdocs.yml says about pages and sections that moved."""
    plugin = config.plugins.get("redirects")
    return moved_addresses.moves(plugin.config["redirect_maps"] if plugin else {}, config.extra.get("moved"))


@event_priority(-100)
def on_page_context(context: Any, page: Page, config: MkDocsConfig, **_: Any) -> Any:
    """Give the page links to its notebook, its foot, and what the choice of a host needs; search sees none of them."""
    address = moved_addresses.address(page.file.src_uri)
    if item := TOURS.get(address):
        page.content = (page.content or "").replace("</h1>", f"</h1>{notebook_pages.signpost(item, address)}", 1)
    if item and page.canonical_url and notebook_of(page):
        page.canonical_url = urljoin(config.site_url, moved_addresses.address(item.lesson).lstrip("/"))
    page.content = (page.content or "") + CHOICE[0] + page.meta.pop("captured_foot", "")
    return context


def on_post_template(output: str, template_name: str, config: MkDocsConfig, **_: Any) -> str:
    """Write no sitemap where the site's address is unknown: it would list nothing."""
    if template_name != "sitemap.xml":
        return output
    return notebook_pages.unlisted(output, TOURS.values()) if config.site_url else ""


def on_nav(nav: Navigation, **_: Any) -> None:
    """Keep the pages in their order."""
    NAV[:] = [nav]


def entries(nav: Navigation) -> Iterator[markdown_copy.Entry]:
    """Yield every page under the first of its sections, in the order of the site; what is in none comes last."""
    for page in nav.pages:
        above = page.ancestors[-1].title if page.ancestors else ""
        said = str(page.meta.get("description", ""))
        yield markdown_copy.Entry(above or "Start", str(page.title), moved_addresses.address(page.file.src_uri), said)


@event_priority(-100)  # after the plugin, whose pages lose the section
def on_post_build(config: MkDocsConfig) -> None:
    """List the pages for language models, lead on from old addresses, and name the published ones that are lost."""
    path, moving = book(config).root / moved_addresses.LIST, moves(config)
    listed = path.read_text("utf-8").splitlines() if path.is_file() else []
    for old in moving.pages:
        file = Path(config.site_dir, old.strip("/"), "index.html")
        if file.is_file() and old not in SECTIONS:
            file.write_text(moved_addresses.stub(old, moving, listed, SECTIONS), "utf-8")
    text = markdown_copy.index(config.site_name, config.site_description or "", entries(NAV[0]), config.site_url or "")
    Path(config.site_dir, "llms.txt").write_text(text, "utf-8")
    for problem in moved_addresses.problems(listed, moving, SECTIONS):
        LOG.warning("%s", problem)
    if os.environ.get(ADD_ADDRESSES):
        # Not the pages of hosts: who adds one changes no file but his own.
        lasting = moved_addresses.listing({place: SECTIONS[place] for place in SECTIONS.keys() - GENERATED})
        path.write_text("".join(f"{place}\n" for place in sorted({*listed, *lasting})), "utf-8")


def on_serve(server: LiveReloadServer, config: MkDocsConfig, **_: Any) -> LiveReloadServer:
    """Rebuild when a snippet or a record changes; docs/ holds the records and is watched as a whole."""
    for folder in (book(config).root / "snippets", book(config).captures):
        if folder.is_dir():
            server.watch(str(folder))
    return server
