"""Every page rendered with the site's own Markdown extensions, for `capture check`; MkDocs takes no part."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from capture import store
from capture.errors import CaptureError, Problem
from capture.host.host import LOCAL
from capture.site.markdown import page_in_progress
from capture.site.markdown.handbook_pages import HandbookPages, page_paths, without_front_matter
from capture.site.model import site
from capture.store.catalogue import Catalogue

# What a name in mkdocs.yml may be taken from: importing runs code, and strangers' pull requests are checked.
_TRUSTED_PACKAGES = ("capture.site", "markdown", "material.extensions", "pymdownx", "pygments")
_BUILT_IN_EXTENSIONS = ("toc", "tables", "fenced_code")  # what MkDocs adds by itself


def check_pages(cat: Catalogue) -> list[Problem]:
    """Render every page and return each fault of a fence or a captured value at page:line.

    A promise that no record keeps has the rule `missing`. Records of `local` take no part: the outcome is the same
    on every machine. Raises CaptureError where the site's Markdown is not installed or mkdocs.yml is at fault.
    """
    config = store.read_site_config(cat.book)
    known = site.from_catalogue(without_local(cat), site.parse_settings(config))
    fault = site.default_host_problem(cat, known.settings)
    problems, pages = [fault] if fault else [], HandbookPages(cat.book)
    for path in page_paths(cat.book):
        name = cat.book.relative(path)
        text = store.read_text(path, name).removeprefix("\ufeff").replace("\r\n", "\n")
        md, html = markdown_of(config), ""
        page_in_progress.enter(known, page_in_progress.PageSource(name, text, "./"), pages=pages)
        try:
            html = md.convert(without_front_matter(text))
        finally:
            problems += page_in_progress.leave(html)
    return sorted(set(problems))


def _named_extensions(config: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield each extension that mkdocs.yml names, with its options or None."""
    for entry in config.get("markdown_extensions") or []:
        yield from entry.items() if isinstance(entry, dict) else [(entry, None)]


def without_local(cat: Catalogue) -> Catalogue:
    """Return the catalogue without what `local` holds."""
    return replace(
        cat,
        hosts={label: host for label, host in cat.hosts.items() if label != LOCAL},
        records={key: item for key, item in cat.records.items() if key[0] != LOCAL},
    )


def markdown_of(config: dict[str, Any]) -> Any:
    """Return a Markdown object with the extensions of mkdocs.yml; raises CaptureError."""
    names: list[str] = list(_BUILT_IN_EXTENSIONS)
    options: dict[str, dict[str, Any]] = {}
    for name, chosen in _named_extensions(config):
        names += [name] if name not in names else []
        options[name] = _with_named_objects(chosen or {})
    try:
        import markdown
    except ImportError as error:
        raise _not_installed("markdown") from error
    try:
        return markdown.Markdown(extensions=names, extension_configs=options)
    except ImportError as error:
        raise _not_installed(error.name or str(error)) from error
    except Exception as error:
        message = f"markdown_extensions: {error}; mend it, or see the extension's options"
        raise CaptureError(Problem(store.CONFIG, 0, message, "site")) from error


def _not_installed(name: str) -> CaptureError:
    """Return the error that says what to install."""
    return CaptureError(
        f"pages are checked with the site's own Markdown, and {name} is not installed; "
        'install it with: pip install -e ".[site]", or check only records: capture check --records-only'
    )


def _with_named_objects(value: Any) -> Any:
    """Return options with each `!!python/name:` replaced by the object it names; raises CaptureError."""
    if isinstance(value, store.PythonName):
        return _named_object(value)
    if isinstance(value, dict):
        return {key: _with_named_objects(part) for key, part in value.items()}
    if isinstance(value, list):
        return [_with_named_objects(part) for part in value]
    return value


def _is_trusted(module: str) -> bool:
    """Tell whether a module belongs to the tool, or to what renders pages beside it."""
    return any(module == package or module.startswith(f"{package}.") for package in _TRUSTED_PACKAGES)


def _named_object(name: store.PythonName) -> Any:
    """Import one object from a package that may be named; raises CaptureError."""
    module, _, attribute = name.rpartition(".")
    if not _is_trusted(module):
        raise CaptureError(
            Problem(
                store.CONFIG, 0, f"names {name}; only objects of {', '.join(_TRUSTED_PACKAGES)} are imported", "site"
            )
        )
    try:
        return getattr(importlib.import_module(module), attribute)
    except ImportError as error:
        raise _not_installed(error.name or module) from error
    except AttributeError as error:
        raise CaptureError(Problem(store.CONFIG, 0, f"names {name}, which does not exist; mend it", "site")) from error
