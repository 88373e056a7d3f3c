"""What is remembered while one site is built: what was kept of earlier builds, and who shares the work."""

from __future__ import annotations

import contextlib
import gc
import itertools
import logging
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from capture import store
from capture.site import compiled, helper, kept
from capture.site.markdown.page_in_progress import Visit
from capture.site.model import templates

RARELY = 100_000  # objects made between two looks for garbage: a site is held whole, so there is little to find
SPARE = 0.5  # pages kept beside those of the last build, as a part of their number: they are large
WORD = re.compile(r"[\w.-]+")
LOGGER = logging.getLogger("mkdocs")


class Watch(logging.Handler):
    """Counts what is logged: a page that had something to say is rendered again, to say it again."""

    def __init__(self, level: int = logging.INFO) -> None:
        super().__init__(level)
        self.count = 0

    def emit(self, record: logging.LogRecord) -> None:
        """Count one."""
        self.count += 1

    @property
    def sees(self) -> bool:
        """Whether all is logged that matters here; while it debugs, MkDocs itself remembers less of a page."""
        return LOGGER.isEnabledFor(logging.INFO) and not LOGGER.isEnabledFor(logging.DEBUG)


class Build:
    """One build of a site; of the page at hand it holds the content, and the keys under which that will be kept.

    `markdown` and `site` stand for what decides how any page is rendered, and what any page shows of the site; where
    they are None, nothing is kept.
    """

    def __init__(self, root: Path) -> None:
        self.threshold = gc.get_threshold()
        gc.set_threshold(RARELY, *self.threshold[1:])
        self.pages = store.Cache(root, "pages", SPARE).__enter__()
        self.outputs = store.Cache(root, "outputs", SPARE).__enter__()
        self.templates = store.Cache(root, "templates").__enter__()
        self.watch = Watch()
        LOGGER.addHandler(self.watch)
        self.markdown: str | None = None
        self.site: str | None = None
        self.names: dict[str, list[str]] = {}  # every file by its last name
        self.odd: list[str] = []  # files whose names are no words, as a link spells them
        self.nav: Any = None
        self.ahead: compiled.Ahead | None = None
        self.sources = True
        self.shares = False  # what a plugin or a hook does beside rendering would be done in two processes
        self.copier: helper.Helper | None = None
        self.copied: list[Any] = []
        self.helper: helper.Helper | None = None
        self.order: dict[str, int] = {}
        self.ready: dict[tuple[str, str], str] = {}  # keys that the helper found, by page and digest of its Markdown
        self.content, self.search = "", None
        self.rendering: tuple[str, int, Visit] | None = None
        self.indexing: tuple[str, int] | None = None
        self.writing: tuple[str, int] | None = None

    def compile(self, theme: Any) -> None:
        """Let templates be compiled by another process until they are needed, and keep what is compiled."""
        compiled.quicken(theme, self.templates)
        templates.environment().bytecode_cache = compiled.Bytecode(self.templates)
        self.ahead = compiled.Ahead(self.templates, theme.get_env())

    def name(self, places: Iterable[tuple[str, str]]) -> None:
        """Remember the files of the site, each by its path and where it is: a page that names one may link to it."""
        for path, address in places:
            last = path.rpartition("/")[2]
            where = self.names.setdefault(last, []) if WORD.fullmatch(last) else self.odd
            where.append(f"{path} {address}")

    def key(self, path: str, address: str, here: Visit, markdown: str) -> str | None:
        """Return what stands for all that decides how a page is rendered, or None where that cannot be told."""
        said = kept.facts(here, markdown) if self.markdown else None
        if said is None or self.markdown is None:
            return None
        words = sorted(set(WORD.findall(markdown)) & self.names.keys())
        named = [place for word in words for place in self.names[word]]
        return kept.digest(self.markdown, path, address, markdown, *said, "\1", *named, *self.odd)

    def copy(self, files: list[Any]) -> None:
        """Let a process of its own copy files to where they go, while pages are rendered."""
        if self.shares and helper.possible(len(files)):

            def begin() -> None:
                for file in files:
                    file.copy_file()

            self.copier = helper.begin(0, begin)
            self.copied = files if self.copier else []

    def share(self, paths: list[str], work: Callable[[int], None]) -> None:
        """Let a helper begin at the last of some pages, where one can be; `work` puts what it makes into caches."""
        self.alone()
        if not self.shares or not helper.possible(len(paths)):
            return
        self.order = {path: number for number, path in enumerate(paths)}
        caches = (self.pages, self.outputs)

        def made(number: int) -> str:
            before = [len(cache.used) for cache in caches]
            self.ready.clear()
            with contextlib.suppress(Exception):
                work(number)
            rows = [("ready", mark, key) for (_, mark), key in self.ready.items()]
            for cache, count in zip(caches, before, strict=True):
                fresh = itertools.islice(cache.used.items(), count, None)
                rows += [(cache.part, key, packed) for key, packed in fresh if key not in cache.known]
            return "\n".join(map(" ".join, rows))

        self.helper = helper.begin(len(paths), work=made)

    def take(self, path: str) -> None:
        """Take what the helper has made of a page."""
        number = self.order.get(path)
        if self.helper is None or number is None:
            return
        caches = {cache.part: cache for cache in (self.pages, self.outputs)}
        for row in self.helper.result(number).splitlines():
            part, key, value = row.split(" ")
            if part == "ready":
                self.ready[path, key] = value
            else:
                caches[part].adopt(key, value)

    def wait(self) -> None:
        """Wait until every file is where it goes; what nobody copied is copied now."""
        done = self.copier is not None and self.copier.first_done()
        for file in self.copied:
            vars(file).pop("copy_file", None)
            if not done:
                file.copy_file()

    def alone(self) -> None:
        """End the helper."""
        if self.helper:
            self.helper.close()
        self.helper = None

    def close(self, error: BaseException | None = None) -> None:
        """Write what is kept, unless the build ended in an error."""
        self.alone()
        templates.environment().bytecode_cache = None
        if self.ahead:
            self.ahead.close()
        if self.copier:
            self.copier.close()
        LOGGER.removeHandler(self.watch)
        gc.set_threshold(*self.threshold)
        for cache in (self.pages, self.outputs, self.templates):
            cache.__exit__(type(error) if error else None, error, None)
