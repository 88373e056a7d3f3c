"""Every page rendered with the site's own Markdown extensions, for `capture check`; MkDocs takes no part."""

from __future__ import annotations

import functools
import importlib
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from capture import store
from capture.errors import CaptureError, Problem
from capture.host.host import LOCAL
from capture.site.markdown import fence_positions, page_in_progress
from capture.site.model import site
from capture.store.catalogue import Catalogue

# What a name in mkdocs.yml may be taken from: importing runs code, and strangers' pull requests are checked.
TRUSTED = ("capture.site", "markdown", "material.extensions", "pymdownx", "pygments")
BUILT_IN = ("toc", "tables", "fenced_code")  # what MkDocs adds by itself
FRONT_MATTER = re.compile(r"-{3}[ \t]*\n.*?\n(?:\.{3}|-{3})[ \t]*\n", re.DOTALL)


def page_paths(book: store.Handbook) -> list[Path]:
    """Return every page of the site, sorted; the records, of which there may be thousands, are not walked through."""
    found = []
    for parent, folders, names in os.walk(book.root / "docs"):
        here = Path(parent)
        folders[:] = [name for name in folders if not name.startswith(".") and here / name != book.captures]
        found += [here / name for name in names if name.endswith(".md") and not name.startswith(".")]
    return sorted(found)


def check_pages(cat: Catalogue) -> list[Problem]:
    """Render every page and return each fault of a fence or a captured value at page:line.

    A promise that no record keeps has the rule `missing`. Records of `local` take no part: the outcome is the same
    on every machine. Raises CaptureError where the site's Markdown is not installed or mkdocs.yml is at fault.
    """
    config = store.read_site_config(cat.book)
    known = site.of(published(cat), site.settings(config))
    fault = site.default_host_problem(cat, known.settings)
    problems = [fault] if fault else []
    for path in page_paths(cat.book):
        name = cat.book.relative(path)
        text = store.read_text(path, name).removeprefix("\ufeff").replace("\r\n", "\n")
        md, html = markdown_of(config), ""
        page_in_progress.enter(known, page_in_progress.Page(name, text, "./"))
        try:
            html = md.convert(without_front_matter(text))
        finally:
            problems += page_in_progress.leave(html)
    return sorted(set(problems))


def extensions(config: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield each extension that mkdocs.yml names, with its options or None."""
    for entry in config.get("markdown_extensions") or []:
        yield from entry.items() if isinstance(entry, dict) else [(entry, None)]


def without_front_matter(text: str) -> str:
    """Return what MkDocs hands to Markdown."""
    match = FRONT_MATTER.match(text)
    return text[match.end() :] if match else text


def published(cat: Catalogue) -> Catalogue:
    """Return the catalogue without what `local` holds."""
    return replace(
        cat,
        hosts={label: host for label, host in cat.hosts.items() if label != LOCAL},
        records={key: item for key, item in cat.records.items() if key[0] != LOCAL},
    )


@dataclass(frozen=True)
class About:
    """What a page says of itself, and which snippets it names in a fence or a captured value.

    `cards` says of each snippet in a fence whether its first card shows its output.
    """

    title: str
    topics: tuple[str, ...]
    snippets: tuple[str, ...]
    cards: Mapping[str, bool]


def about(book: store.Handbook, path: Path) -> About:
    """Return what a page is about."""
    return about_text(store.read_text(path, book.relative(path)), path.stem)


@functools.lru_cache(maxsize=20_000)  # a page with tables asks it of every page
def about_text(text: str, stem: str) -> About:
    """Return what a page's text is about; one without a title is named as MkDocs names it, by its first heading."""
    text = text.removeprefix("\ufeff").replace("\r\n", "\n")
    match = FRONT_MATTER.match(text)
    meta = store.read_front_matter(match[0]) if match else {}
    heading = re.search(r"^# +(.+?)(?: *\{.*\})?$", text, re.MULTILINE)
    title = meta.get("title") or (heading[1] if heading else stem)
    cards = {place.body: place.options.get("show") != "source" for place in reversed(fence_positions.fences(text))}
    return About(str(title), listed(meta.get("tags")), named_snippets(text), cards)


def listed(topics: object) -> tuple[str, ...]:
    """Return the topics of a page's front matter, whether one or a list."""
    found = topics if isinstance(topics, list) else [topics] if topics else []
    return tuple(str(topic) for topic in found)


def named_snippets(text: str) -> tuple[str, ...]:
    """Return the ids that a page names, in a fence or a captured value, each once."""
    ids = [place.body for place in fence_positions.fences(text)]
    ids += [words.split()[0] for words, _ in fence_positions.inlines(text)]
    return tuple(dict.fromkeys(ids))


def embedded_ids(book: store.Handbook) -> dict[str, tuple[str, ...]]:
    """Map each snippet id that a page names to the pages that do."""
    found: dict[str, list[str]] = {}
    for path in page_paths(book):
        for snippet_id in about(book, path).snippets:
            found.setdefault(snippet_id, []).append(book.relative(path))
    return {snippet_id: tuple(pages) for snippet_id, pages in sorted(found.items())}


def markdown_of(config: dict[str, Any]) -> Any:
    """Return a Markdown object with the extensions of mkdocs.yml; raises CaptureError."""
    names: list[str] = list(BUILT_IN)
    options: dict[str, dict[str, Any]] = {}
    for name, chosen in extensions(config):
        names += [name] if name not in names else []
        options[name] = resolved(chosen or {})
    try:
        import markdown
    except ImportError as error:
        raise not_installed("markdown") from error
    try:
        return markdown.Markdown(extensions=names, extension_configs=options)
    except ImportError as error:
        raise not_installed(error.name or str(error)) from error
    except Exception as error:
        message = f"markdown_extensions: {error}; mend it, or see the extension's options"
        raise CaptureError(Problem(store.CONFIG, 0, message, "site")) from error


def not_installed(name: str) -> CaptureError:
    """Return the error that says what to install."""
    return CaptureError(
        f"pages are checked with the site's own Markdown, and {name} is not installed; "
        'install it with: pip install -e ".[site]", or check only records: capture check --records-only'
    )


def resolved(value: Any) -> Any:
    """Return options with each `!!python/name:` replaced by the object it names; raises CaptureError."""
    if isinstance(value, store.PythonName):
        return named(value)
    if isinstance(value, dict):
        return {key: resolved(part) for key, part in value.items()}
    if isinstance(value, list):
        return [resolved(part) for part in value]
    return value


def is_trusted(module: str) -> bool:
    """Tell whether a module belongs to the tool, or to what renders pages beside it."""
    return any(module == package or module.startswith(f"{package}.") for package in TRUSTED)


def named(name: store.PythonName) -> Any:
    """Import one object from a package that may be named; raises CaptureError."""
    module, _, attribute = name.rpartition(".")
    if not is_trusted(module):
        raise CaptureError(
            Problem(store.CONFIG, 0, f"names {name}; only objects of {', '.join(TRUSTED)} are imported", "site")
        )
    try:
        return getattr(importlib.import_module(module), attribute)
    except ImportError as error:
        raise not_installed(error.name or module) from error
    except AttributeError as error:
        raise CaptureError(Problem(store.CONFIG, 0, f"names {name}, which does not exist; mend it", "site")) from error
