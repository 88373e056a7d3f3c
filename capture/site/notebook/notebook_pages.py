"""The notebooks of a handbook: which lessons have one, the file to keep, and the page that mkdocs-jupyter makes of it.

MkDocs would render a notebook by mkdocs-jupyter's plugin. Its converter is called instead, and only
for a notebook that has changed: to load the plugin takes half a second of every build.
"""

from __future__ import annotations

import functools
import importlib
import json
import logging
import posixpath
import re
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path, PurePosixPath
from typing import Any

from capture import store
from capture.errors import CaptureError, Problem
from capture.site.markdown.page_in_progress import PageInProgress, PageSource
from capture.site.model import templates
from capture.site.model.output_text import printable
from capture.site.model.site import Site
from capture.site.notebook import notebook
from capture.site.notebook.jupyter_html import JupyterHtmlReader
from capture.site.page import moved_addresses
from capture.store.cache import Cache, digest

CONVERTER_PACKAGES = ("mkdocs-jupyter", "nbconvert")


@dataclass(frozen=True)
class LessonNotebook:
    """A lesson's notebook: where it is, its file, its page, and the headings of that as MkDocs takes them."""

    lesson: str
    place: notebook.NotebookAddress
    file: str
    html: str
    headings: list[Any]


def chosen_lessons(known: Site, lessons: list[str]) -> tuple[list[str], list[Problem]]:
    """Return the lessons that mkdocs.yml wants as notebooks, its patterns that fit none, and places that are taken."""
    patterns = known.settings.notebooks
    wanted = [lesson for lesson in lessons if any(PurePosixPath(lesson).match(pattern) for pattern in patterns)]
    idle = [pattern for pattern in patterns if not any(PurePosixPath(lesson).match(pattern) for lesson in lessons)]
    line = store.config_line(known.catalogue.book, "notebooks")
    problems = [
        Problem(store.CONFIG, line, f'extra.capture.notebooks: "{pattern}" fits no page under docs/; mend it', "site")
        for pattern in idle
    ]
    taken = [place for place in (notebook.notebook_address(lesson).page for lesson in wanted) if place in lessons]
    problems += [
        Problem(f"docs/{place}", 0, "a lesson's notebook has this address; give the page another name", "site")
        for place in taken
    ]
    return [lesson for lesson in wanted if notebook.notebook_address(lesson).page not in taken], problems


def lesson_notebooks(
    known: Site, lessons: Mapping[str, str], root: str | None, files: bool = False
) -> list[LessonNotebook]:
    """Return the notebook of each lesson, given as path below docs/ and text; `root` is the site's address, if known.

    `files` says that pages are addressed by their files.

    The page's links lead through the site, and those of the file to keep to the site's address or the repository.
    Raises CaptureError where mkdocs-jupyter is not installed.
    """
    if not lessons:
        return []
    notebooks, versions = [], _converter_versions().encode()
    with Cache(known.catalogue.book.root, "notebooks") as cache:
        for lesson, words in lessons.items():
            place = notebook.notebook_address(lesson)
            base = "../" * (place.file.count("/") - files) or "./"
            shown = notebook.notebook_text(PageInProgress(known, PageSource(f"docs/{lesson}", words, base, files)))
            kept = notebook.notebook_text(
                PageInProgress(known, PageSource(f"docs/{lesson}", words, root or None, files))
            )
            page = cache.recall(digest(shown.encode(), versions), functools.partial(_convert, shown))
            notebooks.append(LessonNotebook(lesson, place, kept, page["html"], page["headings"]))
    return notebooks


def _converter_versions() -> str:
    """Return the versions of what makes the pages; raises CaptureError where one is missing."""
    try:
        return " ".join(f"{name} {metadata.version(name)}" for name in CONVERTER_PACKAGES)
    except metadata.PackageNotFoundError as error:
        raise CaptureError(
            f"extra.capture.notebooks needs {error.name}, which is not installed; install it with: "
            'pip install -e ".[site]", or take the setting out of mkdocs.yml'
        ) from error


def _convert(text: str) -> dict[str, Any]:
    """Return the HTML of a notebook and its headings."""
    converter = importlib.import_module("mkdocs_jupyter.convert")  # here, since it takes half a second
    logging.getLogger("mkdocs.mkdocs-jupyter").setLevel(logging.WARNING)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "notebook.ipynb")
        path.write_text(text, "utf-8")
        lean = JupyterHtmlReader(converter.nb2html(str(path), no_prompt=True, custom_mathjax_url=""))
    body = "".join(lean.parts).replace("</i><i>", "")  # pieces of one string
    return {"html": printable(body).strip(), "headings": _heading_tree(lean.headings)}


def front_matter(title: str) -> str:
    """Return what MkDocs is to know of a notebook's page: search finds the lesson, and has each text once."""
    said = f"The lesson “{title}” as a notebook to download and run: its scripts as cells, filled with captured output."
    values = {"title": f"{title} (notebook)", "description": said, "template": "notebook.html"}
    lines = [f"{name}: {json.dumps(value, ensure_ascii=False)}" for name, value in values.items()]
    return "\n".join(["---", *lines, "search: {exclude: true}", "---", ""])


def signpost(tour: LessonNotebook, address: str, files: Mapping[str, str] | None = None) -> str:
    """Return what a lesson, or the page of its notebook, says below its title, seen from its address."""
    page = moved_addresses.address(tour.place.page)
    return templates.rendered(
        "tour.html.j2",
        lesson=moved_addresses.relative_address(address, moved_addresses.address(tour.lesson), files)
        if address == page
        else "",
        page=moved_addresses.relative_address(address, page, files) if address != page else "",
        file=posixpath.relpath(f"/{tour.place.file}", posixpath.dirname((files or {}).get(address, address))),
    )


def sitemap_without(sitemap: str, notebooks: Iterable[LessonNotebook]) -> str:
    """Return a sitemap without the pages of notebooks: search engines are led to the lessons."""
    for item in notebooks:
        entry = rf"\s*<url>\s*<loc>[^<]*{re.escape(moved_addresses.address(item.place.page))}</loc>.*?</url>"
        sitemap = re.sub(entry, "", sitemap, flags=re.DOTALL)
    return sitemap


def _heading_tree(headings: list[tuple[int, str, str]]) -> list[dict[str, Any]]:
    """Return headings as a tree."""
    top: list[dict[str, Any]] = []
    above: list[dict[str, Any]] = []
    for level, own, name in headings:
        entry: dict[str, Any] = {"level": level, "id": own, "name": name, "children": []}
        above = [other for other in above if other["level"] < level]
        (above[-1]["children"] if above else top).append(entry)
        above.append(entry)
    return top
