"""What moved: every address that was ever published leads to its page or section, or is named as lost.

An address is `/chapter/page/` or `/chapter/page/#section`, from the site's root. Authors write places, such as
`chapter/page.md#section`.
"""

from __future__ import annotations

import posixpath
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from capture import store
from capture.errors import CaptureError, Problem
from capture.site.model import templates

PUBLISHED_LIST = "published.txt"
SectionsByPage = Mapping[str, Collection[str]]
"""The sections of each page of the site, by the page's address."""


@dataclass(frozen=True)
class MovedAddresses:
    """New addresses by old ones: of pages, and of sections of a page that moved or still stands."""

    pages: Mapping[str, str]
    sections: Mapping[str, str]


def address(place: str) -> str:
    """Return the address of `chapter/page.md#section`; one of another site stays as it is."""
    path, mark, fragment = place.partition("#")
    if path.lower().startswith(("http://", "https://")):
        return place
    bare = path.removesuffix(".md")
    folder = bare.removesuffix("index") if bare == "index" or bare.endswith("/index") else f"{bare}/"
    return f"/{folder}{mark}{fragment}"


def parse_moves(table: Any) -> MovedAddresses:
    """Return what `extra.moved` of mkdocs.yml says, of pages and of sections; raises CaptureError."""
    given = {} if table is None else table
    if not isinstance(given, Mapping) or not all(
        _is_place(old) and isinstance(new, str) and new for old, new in given.items()
    ):
        message = (
            "extra.moved: write each line as old/page.md: new/page.md, or old/page.md#old-section: new/page.md#section"
        )
        raise CaptureError(Problem(store.CONFIG, 0, message, "moved"))
    addresses = {address(old): address(new) for old, new in given.items()}
    return MovedAddresses(
        {old: new for old, new in addresses.items() if "#" not in old},
        {old: new for old, new in addresses.items() if "#" in old},
    )


def _is_place(text: object) -> bool:
    """Tell whether a text names a page below docs/, or a section of one: what leads on is written at its address."""
    page = text.partition("#")[0] if isinstance(text, str) else ""
    return page.endswith(".md") and "\\" not in page and not {"", ".", ".."} & set(page.split("/"))


def _without_section(place: str) -> str:
    """Return an address without its section."""
    return place.partition("#")[0]


def _is_on_site(place: str, anchors: SectionsByPage) -> bool:
    """Tell whether an address is one of the site, or of another site, which cannot be asked."""
    page, _, fragment = place.partition("#")
    return "://" in page or (page in anchors and (not fragment or fragment in anchors[page]))


def destination(place: str, moved: MovedAddresses, anchors: SectionsByPage) -> str | None:
    """Return where an old address leads; None where its reader would find nothing, or only the top of a page."""
    page, _, fragment = place.partition("#")
    if _is_on_site(place, anchors):
        return place
    target = moved.sections.get(place) or moved.pages.get(page)
    if target is None:
        return None
    if place not in moved.sections and fragment:
        kept = f"{_without_section(target)}#{fragment}"
        if "://" in target or _is_on_site(kept, anchors):
            return kept
        if "#" not in target:
            return None
    return target if _is_on_site(target, anchors) else None


def problems(listed: Iterable[str], moved: MovedAddresses, anchors: SectionsByPage) -> list[Problem]:
    """Return every published address that is lost, and every moved section that is none or leads nowhere."""
    faults = []
    for line, place in enumerate(listed, 1):
        if destination(place, moved, anchors) is None:
            message = (
                f"{place} was published and leads nowhere now; name its new place under extra.moved in {store.CONFIG}"
            )
            faults.append(Problem(PUBLISHED_LIST, line, message, "moved"))
    for old, new in moved.pages.items():
        if not _is_on_site(new, anchors):
            message = f"extra.moved: {old} leads to {new}, which is not there; mend the entry"
            faults.append(Problem(store.CONFIG, 0, message, "moved"))
        if old in anchors:
            message = f"extra.moved: {old} still stands, and what leads on would take its place; take the entry out"
            faults.append(Problem(store.CONFIG, 0, message, "moved"))
    for old, new in moved.sections.items():
        if _is_on_site(old, anchors):
            message = f"extra.moved: {old} still stands on its page; take the entry out"
            faults.append(Problem(store.CONFIG, 0, message, "moved"))
        elif _without_section(old) not in anchors and _without_section(old) not in moved.pages:
            message = f"extra.moved: the page of {old} is gone; name its new place as well"
            faults.append(Problem(store.CONFIG, 0, message, "moved"))
        if not _is_on_site(new, anchors):
            message = f"extra.moved: {old} leads to {new}, which is not there; mend the entry"
            faults.append(Problem(store.CONFIG, 0, message, "moved"))
    return faults


def all_addresses(anchors: SectionsByPage) -> set[str]:
    """Return every address of the site."""
    return set(anchors) | {f"{page}#{fragment}" for page, fragments in anchors.items() for fragment in fragments}


def relative_address(start: str, place: str, files: Mapping[str, str] | None = None) -> str:
    """Return an address as seen from a page, so that it works in any folder of a server.

    `files`, where pages are addressed by their files, says which is whose, as `/a/page.html` of `/a/page/`.
    """
    page, mark, fragment = place.partition("#")
    if "://" in page:
        return place
    if files is not None:
        own, other = (files.get(each, f"{each.rstrip('/')}/index.html") for each in (start, page))
        return f"{posixpath.relpath(other, posixpath.dirname(own))}{mark}{fragment}"
    way = posixpath.relpath(page, start)
    return f"{way}/{mark}{fragment}"


def stub_page(
    old: str,
    moved: MovedAddresses,
    listed: Iterable[str],
    anchors: SectionsByPage,
    files: Mapping[str, str] | None = None,
) -> str:
    """Return the page that stands at the old address of a page and leads on, section by section.

    A section that is not named is taken to have kept its name.
    """
    target = moved.pages[old]
    places = {place: new for place, new in moved.sections.items() if _without_section(place) == old}
    for place in listed:
        if _without_section(place) == old and "#" in place and (new := destination(place, moved, anchors)):
            places[place] = new
    sections = {place.partition("#")[2]: relative_address(old, new, files) for place, new in sorted(places.items())}
    return templates.rendered(
        "moved.html.j2",
        target=relative_address(old, target, files),
        page=relative_address(old, _without_section(target), files),
        sections=sections,
    )


def signposts(page: str, moved: MovedAddresses, files: Mapping[str, str] | None = None) -> str:
    """Return what stands at the foot of a page for the sections that left it; a script follows them at once."""
    gone = {
        old.partition("#")[2]: relative_address(page, new, files)
        for old, new in moved.sections.items()
        if _without_section(old) == page
    }
    return templates.rendered("signposts.html.j2", sections=gone) if gone else ""
