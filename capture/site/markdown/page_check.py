"""Every page rendered with the site's own Markdown extensions, for `capture check`; MkDocs takes no part."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from capture import store
from capture.errors import CaptureError, Problem
from capture.host.host import LOCAL
from capture.site.markdown import build_settings, page_bounds, page_in_progress
from capture.site.markdown.handbook_pages import HandbookPages, page_paths, without_front_matter
from capture.site.model import site
from capture.store.catalogue import Catalogue

_BUILT_IN_EXTENSIONS = ("toc", "tables", "fenced_code")  # what MkDocs adds by itself


def check_pages(cat: Catalogue) -> list[Problem]:
    """Render every page and return each fault of a fence or a captured value at page:line, and those of mkdocs.yml.

    A promise that no record keeps has the rule `missing`. Records of `local` and the environment take no part: the
    outcome is the same on every machine. Raises CaptureError where the site's Markdown is not installed, or
    mkdocs.yml lets no page be rendered.
    """
    config, places = store.read_located_config(cat.book, {})
    faults, problems = build_settings.problems(config, places)
    if faults:
        raise CaptureError(*sorted({*faults, *problems}))
    try:
        known = site.from_catalogue(without_local(cat), site.parse_settings(config))
        markdown_of(config)
    except CaptureError as error:
        raise CaptureError(*problems, *error.problems) if error.located else error from error
    fault = site.default_host_problem(cat, known.settings)
    problems, pages = [*problems, *([fault] if fault else [])], HandbookPages(cat.book)
    for path in page_paths(cat.book):
        name = cat.book.relative(path)
        try:
            text = store.read_text(path, name).removeprefix("\ufeff").replace("\r\n", "\n")
        except CaptureError as error:
            problems += error.located
            continue
        if fault := page_bounds.problem(name, text):
            problems.append(fault)
            continue

        def render(part: str, name: str = name, text: str = text) -> list[Problem]:
            page_in_progress.enter(known, page_in_progress.PageSource(name, text, "./"), pages=pages)
            html = ""
            try:
                html = markdown_of(config, cat.book.root).convert(part)
            finally:
                found = page_in_progress.leave(html)
            return found

        problems += _rendered(render, name, text)
    return sorted(set(problems))


def _rendered(render: Callable[[str], list[Problem]], name: str, text: str) -> list[Problem]:
    """Return the problems that rendering a page finds; whatever it raises becomes one, at the line that does it."""
    body = without_front_matter(text)
    try:
        return render(body)
    except CaptureError as error:
        return error.located or [Problem(name, 0, str(error), "page")]
    except Exception as error:
        reason = "nests too deeply" if isinstance(error, RecursionError) else f"Markdown cannot: {type(error).__name__}"
        line = text.count("\n", 0, len(text) - len(body)) + _failing_line(render, body)
        return [Problem(name, line, f"cannot be rendered: {reason}; write this place more simply", "page")]


def _failing_line(render: Callable[[str], list[Problem]], body: str) -> int:
    """Return the number of the line with which a page begins to fail, by halves."""
    lines = body.splitlines(keepends=True)
    good, bad = 0, len(lines)
    while bad - good > 1:
        middle = (good + bad) // 2
        try:
            render("".join(lines[:middle]))
            good = middle
        except Exception:  # whatever it is, it fails here already
            bad = middle
    return max(bad, 1)


def without_local(cat: Catalogue) -> Catalogue:
    """Return the catalogue without what `local` holds."""
    return replace(
        cat,
        hosts={label: host for label, host in cat.hosts.items() if label != LOCAL},
        records={key: item for key, item in cat.records.items() if key[0] != LOCAL},
    )


def markdown_of(config: dict[str, Any], root: Path | None = None) -> Any:
    """Return a Markdown object with the extensions of mkdocs.yml; raises CaptureError before it imports a foreign one.

    Folders that options name are taken from `root`.
    """
    names: list[str] = list(_BUILT_IN_EXTENSIONS)
    options: dict[str, dict[str, Any]] = {}
    for _, name, chosen in build_settings.named_extensions(config):
        if fault := build_settings.extension_fault(name):
            raise CaptureError(Problem(store.CONFIG, 0, fault, "site"))
        names += [name] if name not in names else []
        options[name] = _with_named_objects(_below(root, chosen or {}))
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


def _below(root: Path | None, options: Any) -> Any:
    """Return options in which the folders of `base_path` lead from the root, and not from where the command began."""
    named = options.get("base_path") if isinstance(options, dict) else None
    if root is None or named is None:
        return options
    return {**options, "base_path": [str(root / each) for each in (named if isinstance(named, list) else [named])]}


def _not_installed(name: str) -> CaptureError:
    """Return the error that says what to install."""
    return CaptureError(
        f"pages are checked with the site's own Markdown, and {name} is not installed; "
        'install it with: pip install -e ".[site]", or check only records: capture check --records-only'
    )


def _with_named_objects(value: Any) -> Any:
    """Return options with each `!!python/name:` replaced by the object it names; raises CaptureError."""
    if isinstance(value, store.PythonName):
        return named_object(value)
    if isinstance(value, dict):
        return {key: _with_named_objects(part) for key, part in value.items()}
    if isinstance(value, list):
        return [_with_named_objects(part) for part in value]
    return value


def named_object(name: store.PythonName) -> Any:
    """Import one object that may be named; raises CaptureError."""
    if fault := build_settings.object_fault(name):
        raise CaptureError(Problem(store.CONFIG, 0, fault, "site"))
    module, _, attribute = name.rpartition(".")
    try:
        return getattr(importlib.import_module(module), attribute)
    except ImportError as error:
        raise _not_installed(error.name or module) from error
    except AttributeError as error:
        raise CaptureError(Problem(store.CONFIG, 0, f"names {name}, which does not exist; mend it", "site")) from error
