"""What decides how a page is rendered, so that one which is rendered already need not be rendered again.

A page is known by everything that takes part: its Markdown, the view of each card, each captured value, and what the
site's hooks say of settings, links and software. Where that cannot be told, the page is rendered.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import PurePath
from typing import Any

from capture.errors import CaptureError
from capture.site.card import card
from capture.site.markdown import fence_positions, inline_value, page_check
from capture.site.markdown.page_in_progress import Visit
from capture.site.model import request
from capture.site.page import markdown_copy
from capture.site.table import table_fence


def facts(here: Visit, markdown: str) -> list[str] | None:
    """Return what the cards and values of a page say; None where something else is on it, or where one is at fault."""
    site, found = here.site, []
    lines = markdown.splitlines()
    kinds = {fence_positions.header(info)[0] for _, _, info in fence_positions.blocks(lines)}
    if (kinds - {fence_positions.NAME, fence_positions.TABLE}) & set(markdown_copy.FENCES):
        return None
    try:
        for place in fence_positions.fences(markdown):
            asked = request.fence(place.body, place.options, site.catalogue)
            if card.promise(site, asked):
                return None
            view = card.card(site, asked, here.links, card.first_uid(asked.snippet))
            here.views[asked.snippet.id, asked.host, asked.show, asked.lines] = view
            found.append(f"{asked.show} {asked.lines} {view!r}")
        for text, _ in fence_positions.inlines(markdown):
            value, said = inline_value.look(here, text)
            record = here.links.record(value.host or str(site.default_host), value.snippet.id)
            found.append(f"{said!r} {record}")
        names = [place.body for place in fence_positions.fences(markdown, fence_positions.TABLE)]
        found += [f"{name} {table_fence.named_table(here, name)!r}" for name in names]
    except CaptureError:
        return None
    return found


def digest(*parts: str) -> str:
    """Return what stands for texts in a key."""
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()


def canonical(value: object) -> str:
    """Return plain data, settings and functions as one text; raises TypeError for what has no such form."""
    return json.dumps(value, sort_keys=True, default=plain_form, ensure_ascii=False)


def plain_form(value: Any) -> object:
    """Return something like plain data for what JSON does not know."""
    if isinstance(value, Mapping):
        return {str(name): part for name, part in value.items()}
    if isinstance(value, PurePath):
        return str(value)
    if callable(value) and hasattr(value, "__qualname__") and page_check.is_trusted(value.__module__):
        return f"{value.__module__}.{value.__qualname__}"
    if hasattr(value, "isoformat"):
        return value.isoformat()
    raise TypeError(type(value).__name__)


def joined(small: Mapping[str, object], *texts: str) -> str:
    """Return a value for a cache: plain data, and long texts as they are, since JSON would escape them."""
    return "\0".join([json.dumps(small), *texts])


def parted(value: str, count: int) -> tuple[dict[str, Any], list[str]] | None:
    """Return the plain data and as many long texts, or None where the value does not hold them."""
    head, *texts = value.split("\0")
    try:
        small = json.loads(head)
    except ValueError:
        return None
    return (small, texts) if isinstance(small, dict) and len(texts) == count else None


def software(names: Iterable[str]) -> str:
    """Return the versions of distributions."""
    import importlib.metadata as metadata

    found = []
    for name in names:
        try:
            found.append(f"{name} {metadata.version(name)}")
        except metadata.PackageNotFoundError:
            found.append(f"{name} none")
    return "; ".join(found)
