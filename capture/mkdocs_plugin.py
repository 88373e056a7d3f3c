"""The MkDocs plugin `captured`: what only MkDocs knows. Rendering is the Markdown layer's, in capture.site.

It tells the formatters which page is rendered, adds what a page cannot hold (copies in Markdown, host pages, notebooks,
the dataset, stubs at old addresses), brings the theme's files, and gives search less to parse. Its state is its own.
"""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urljoin

import jinja2
from mkdocs.config.base import Config
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.plugins import BasePlugin, CombinedEvent, event_priority
from mkdocs.structure.files import File, Files, InclusionLevel
from mkdocs.structure.nav import Navigation
from mkdocs.structure.pages import Page
from mkdocs.structure.toc import get_toc
from mkdocs.utils import CountHandler, meta

from capture import store
from capture.errors import CaptureError
from capture.exchange import dataset, dataset_rows
from capture.host.host import LOCAL
from capture.site.markdown import build_settings, handbook_pages, page_in_progress
from capture.site.markdown.handbook_pages import HandbookPages
from capture.site.markdown.highlighted import Highlighted
from capture.site.model import site
from capture.site.model.links import Links
from capture.site.notebook import notebook_pages
from capture.site.page import foot, host_page, llms_txt, markdown_copy, moved_addresses, search_text, similar_hosts

if TYPE_CHECKING:  # it brings the live server's libraries, which a build has no use for
    from mkdocs.livereload import LiveReloadServer

_LOG = logging.getLogger("mkdocs.capture")
_THEME = Path(__file__).parent / "site" / "theme"
_STYLES = ("assets/capture.css",)  # those of tables and notebooks are fetched by the pages that have one
_SCRIPTS = ("assets/capture.js", "assets/compare.js", "assets/theme.js")
_ADD_ADDRESSES = "CAPTURE_ADDRESSES"
_LOCAL_FILES = f"captures/{LOCAL}/"
_CARD_ID = re.compile(r'\sid="(capture-[^"]+)"')


class PluginOptions(Config):  # type: ignore[no-untyped-call]  # MkDocs leaves it untyped
    """The plugin has none: what it needs stands under `extra.capture`, which Markdown without MkDocs reads as well."""


class CapturedPlugin(BasePlugin[PluginOptions]):  # type: ignore[no-untyped-call]  # MkDocs leaves it untyped
    """The plugin; an object lives as long as the command, so `mkdocs serve` builds with the same one again."""

    def __init__(self) -> None:
        self.serving = False
        self.sections: dict[str, list[str]] = {}  # of each page, by its address
        self.generated: set[str] = set()  # addresses of the pages that nobody wrote
        self.files: dict[str, str] | None = None  # the file of each address, where pages are addressed by files
        self.days: Mapping[str, str] = {}  # on which each page's text was last changed, by its path
        # By the address of the lesson and by that of the notebook's page.
        self.notebooks: dict[str, notebook_pages.LessonNotebook] = {}

    def on_startup(self, *, command: Literal["build", "gh-deploy", "serve"], dirty: bool) -> None:
        """Remember whether this is `mkdocs serve`; MkDocs keeps a plugin between builds because this is here."""
        self.serving = command == "serve"

    def on_config(self, config: MkDocsConfig) -> None:
        """Bring the theme's files, and keep `strict: true` from ending `mkdocs serve` at the first mistake.

        While serving, the page and the log show what is wrong. Raises PluginError for settings and links that would
        bring into the site what is not the handbook's.
        """
        try:
            build_settings.require_own(_handbook_of(config))
        except CaptureError as error:
            raise PluginError(str(error)) from error
        if str(_THEME) not in config.theme.dirs:
            config.theme.dirs.insert(1 if config.theme.custom_dir else 0, str(_THEME))
            config.extra_css[:0] = [name for name in _STYLES if name not in config.extra_css]
            config.extra_javascript[:0] = [name for name in _SCRIPTS if name not in config.extra_javascript]
        logger = logging.getLogger("mkdocs")
        for handler in list(logger.handlers) if self.serving else ():
            if isinstance(handler, CountHandler):
                logger.removeHandler(handler)

    def on_pre_build(self, *, config: MkDocsConfig) -> None:
        """Read the handbook. A damaged record is named here: its page would call it missing."""
        book = _handbook_of(config)
        try:
            self.site = site.read_site(book, {"extra": config.extra}, local=not site.is_for_publication())
            self.moves = moved_addresses.parse_moves(config.extra.get("moved"))
        except CaptureError as error:
            raise PluginError(str(error)) from error
        self.host_choice = similar_hosts.hosts_element(self.site)
        self.pages = HandbookPages(book)
        self.highlighted = Highlighted(book.root, config.mdx_configs.get("pymdownx.highlight"))
        self.sections, self.generated, self.notebooks = {}, set(), {}
        self.days = store.page_days(book)
        fault = site.default_host_problem(self.site.catalogue, self.site.settings)
        damaged = [item for item in self.site.catalogue.problems if item.path.startswith(store.CAPTURES)]
        for problem in [*damaged, *([fault] if fault else [])]:
            _LOG.warning("%s", problem)

    def on_files(self, files: Files, *, config: MkDocsConfig) -> Files:
        """Add scripts and the dataset as downloads, and the generated pages; leave out this machine's records."""
        if site.is_for_publication():
            for file in [file for file in files if file.src_uri.startswith(_LOCAL_FILES)]:
                files.remove(file)
        snippets = _handbook_of(config).root / "snippets"
        for path in sorted(snippets.glob("*/*")):
            if path.is_file() and path.suffix != ".md" and not path.name.startswith("."):
                uri = path.relative_to(snippets.parent).as_posix()
                files.append(File.generated(config, uri, abs_src_path=str(path)))
        rows = dataset_rows.of(self.site.catalogue)
        files.append(File.generated(config, dataset.ADDRESS, content=dataset.text(rows)))
        self.add_host_pages(files, config)
        self.add_notebooks(files, config)
        pages = files.documentation_pages()
        own = {moved_addresses.address(file.src_uri): f"/{file.url}" for file in pages}
        self.files = None if config.use_directory_urls else own
        self.search_sources = len(pages) <= search_text.SOURCES_UP_TO
        return files

    def add_host_pages(self, files: Files, config: MkDocsConfig) -> None:
        """Add a page for each host, in the nav below the list of them all; one that somebody wrote goes first."""
        texts = host_page.page_texts(self.site, listed=files.get_file_from_path(host_page.HOSTS_INDEX) is not None)
        shown = config.nav is None or host_page.add_to_nav(config.nav, texts)
        for uri in [uri for uri in texts if files.get_file_from_path(uri) is None]:
            place = InclusionLevel.UNDEFINED if shown else InclusionLevel.NOT_IN_NAV
            files.append(File.generated(config, uri, content=texts[uri], inclusion=place))

    def add_notebooks(self, files: Files, config: MkDocsConfig) -> None:
        """Add the notebook of each lesson that mkdocs.yml names: the file, and the page that shows it, outside nav."""
        written = {file.src_uri: file for file in files.documentation_pages()}
        try:
            lessons, problems = notebook_pages.chosen_lessons(self.site, list(written))
            for problem in problems:
                _LOG.warning("%s", problem)
            texts = {lesson: written[lesson].content_string.replace("\r\n", "\n") for lesson in lessons}
            notebooks = notebook_pages.lesson_notebooks(
                self.site, texts, config.site_url, not config.use_directory_urls
            )
        except CaptureError as error:
            raise PluginError(str(error)) from error
        for item in notebooks:
            title = str(meta.get_data(texts[item.lesson])[1].get("title", item.lesson))
            for uri in (item.lesson, item.place.page):
                self.notebooks[moved_addresses.address(uri)] = item
            content, outside = notebook_pages.front_matter(title), InclusionLevel.NOT_IN_NAV
            files.append(File.generated(config, item.place.page, content=content, inclusion=outside))
            files.append(File.generated(config, item.place.file, content=item.file))

    def notebook_of(self, page: Page) -> notebook_pages.LessonNotebook | None:
        """Return the notebook that a page shows."""
        item = self.notebooks.get(moved_addresses.address(page.file.src_uri))
        return item if item and item.place.page == page.file.src_uri else None

    def on_env(self, env: jinja2.Environment, *, config: MkDocsConfig, files: Files) -> None:
        """Let the theme's templates be looked at once a build: nobody edits them meanwhile."""
        env.auto_reload = False

    def on_nav(self, nav: Navigation, *, config: MkDocsConfig, files: Files) -> None:
        """Keep the order of the pages, for the list of them."""
        self.nav = nav

    def on_page_markdown(self, markdown: str, *, page: Page, config: MkDocsConfig, files: Files) -> None:
        """Begin a page: every formatter called from now on belongs to it."""
        here = page_in_progress.enter(
            self.site, _page_source(page, config), highlighted=self.highlighted, pages=self.pages
        )
        item = self.notebook_of(page)
        written = here.page.path if here.page and page.file.abs_src_path else ""  # nobody wrote a host's page
        edited = f"docs/{item.lesson}" if item else written
        page.edit_url = Links(self.site.settings).edit(edited) if edited else None

    def on_page_content(self, html: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:
        """End a page: lay its copy in Markdown beside it, log what was wrong, tell the link check its cards' ids."""
        here, address = page_in_progress.current(), moved_addresses.address(page.file.src_uri)
        if item := self.notebook_of(page):
            page_in_progress.leave("")
            page.update_date = self.days.get(f"docs/{item.lesson}", "")
            page.toc = get_toc(item.headings)
            self.sections[address] = []  # its headings are the lesson's
            return item.html
        if here is not None:
            day = self.days.get(here.page.path if here.page else "", "")
            below = foot.page_foot(here, handbook_pages.topic_names(page.meta.get("tags")), day)
            page.meta["captured_foot"], page.update_date = foot.foot_html(below), below.newest
            copy = Path(config.site_dir, address.lstrip("/"), "index.md")
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_text(markdown_copy.page_copy(here, page.markdown or ""), "utf-8")
        for problem in page_in_progress.leave(html):
            _LOG.warning("%s", problem)
        page.present_anchor_ids = (page.present_anchor_ids or set()) | set(_CARD_ID.findall(html))
        self.sections[address] = list(_section_ids(page.toc))
        if page.file.abs_src_path is None:
            self.generated.add(address)
        return html + moved_addresses.signposts(address, self.moves, self.files)

    @event_priority(100)
    def reduce_for_search(self, context: Any, *, page: Page, config: MkDocsConfig, nav: Navigation) -> Any:
        """Let search read a page without the spans of highlighted code: half of a build was parsing those."""
        self.content = page.content or ""
        page.content = search_text.reduced(self.content, self.search_sources)
        return context

    @event_priority(-100)
    def complete(self, context: Any, *, page: Page, config: MkDocsConfig, nav: Navigation) -> Any:
        """Give the page its content back, links to its notebook, its foot, and what the choice of a host needs."""
        address, content = moved_addresses.address(page.file.src_uri), self.content
        if item := self.notebooks.get(address):
            content = content.replace("</h1>", f"</h1>{notebook_pages.signpost(item, address, self.files)}", 1)
        if item and page.canonical_url and self.notebook_of(page):
            lesson = moved_addresses.address(item.lesson).lstrip("/")
            page.canonical_url = urljoin(config.site_url or "", lesson)
        page.content = content + self.host_choice + str(page.meta.pop("captured_foot", ""))
        return context

    on_page_context = CombinedEvent(reduce_for_search, complete)

    def on_post_template(self, output_content: str, *, template_name: str, config: MkDocsConfig) -> str:
        """Write no sitemap where the site's address is unknown: it would list nothing."""
        if template_name != "sitemap.xml":
            return output_content
        return notebook_pages.sitemap_without(output_content, self.notebooks.values()) if config.site_url else ""

    def on_post_build(self, *, config: MkDocsConfig) -> None:
        """List the pages for language models, lead on from old addresses, and name the published ones that are lost."""
        self.highlighted.write()
        path, out = _handbook_of(config).root / moved_addresses.PUBLISHED_LIST, Path(config.site_dir)
        listed = path.read_text("utf-8").splitlines() if path.is_file() else []
        for old in self.moves.pages.keys() - self.sections.keys():
            stub = out / old.strip("/") / "index.html"
            stub.parent.mkdir(parents=True, exist_ok=True)
            stub.write_text(moved_addresses.stub_page(old, self.moves, listed, self.sections, self.files), "utf-8")
        entries = list(_listed_pages(self.nav))
        text = llms_txt.text(config.site_name, config.site_description or "", entries, config.site_url or "")
        (out / "llms.txt").write_text(text, "utf-8")
        for problem in moved_addresses.problems(listed, self.moves, self.sections):
            _LOG.warning("%s", problem)
        if os.environ.get(_ADD_ADDRESSES):
            # Not the pages of hosts: who adds one changes no file but his own.
            written = {place: self.sections[place] for place in self.sections.keys() - self.generated}
            addresses = sorted({*listed, *moved_addresses.all_addresses(written)})
            path.write_text("".join(f"{place}\n" for place in addresses), "utf-8")

    def on_serve(self, server: LiveReloadServer, *, config: MkDocsConfig, builder: Any) -> LiveReloadServer:
        """Rebuild when a snippet or a record changes; docs/ holds the records and is watched as a whole."""
        for folder in (_handbook_of(config).root / "snippets", _handbook_of(config).captures):
            if folder.is_dir():
                server.watch(str(folder))
        return server


def _handbook_of(config: MkDocsConfig) -> store.Handbook:
    """Return the handbook of an mkdocs.yml."""
    return store.Handbook(Path(config.config_file_path).resolve().parent)


def _page_source(page: Page, config: MkDocsConfig) -> page_in_progress.PageSource:
    """Return a page with its whole text, so that lines count as an editor counts them, and the way to the root."""
    text = (page.file.content_string or "").replace("\r\n", "\n")
    base = "../" * page.url.count("/") or "./"
    return page_in_progress.PageSource(f"docs/{page.file.src_uri}", text, base, not config.use_directory_urls)


def _section_ids(entries: Iterable[Any]) -> Iterator[str]:
    """Yield the ids of a table of contents, in order."""
    for entry in entries:
        yield entry.id
        yield from _section_ids(entry.children)


def _listed_pages(nav: Navigation) -> Iterator[llms_txt.ListedPage]:
    """Yield every page under the first of its sections, in the order of the site; what is in none comes last."""
    for page in nav.pages:
        sections = list(page.ancestors)
        above = sections[-1].title if sections else ""
        description = str(page.meta.get("description", ""))
        address = moved_addresses.address(page.file.src_uri)
        yield llms_txt.ListedPage(above or "Start", str(page.title), address, description)
