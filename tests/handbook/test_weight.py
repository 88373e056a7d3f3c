"""How much a page makes a reader fetch, and from where: from this site alone, and little."""

from __future__ import annotations

import gzip
import json
import posixpath
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from harness.browsers import find_all, size, wait
from harness.built import asked_by_css, cover, lessons, loads, pages

BUDGET = 120 * 1024  # bytes, compressed, of a lesson with all that it loads but the search index
INDEX = "search/search_index.json"


@pytest.fixture(scope="module")
def html(published: Path) -> dict[str, str]:
    return pages(published)


def files(address: str, html: str) -> set[str]:
    """Return the paths of what a page loads, from the site's root, without the page itself."""
    return {posixpath.normpath(posixpath.join(address, urlsplit(found).path)) for found in loads(html)}


def test_nothing_loads_from_elsewhere(published: Path, html: dict[str, str]) -> None:
    """Of every page, style sheet and picture, all that a browser fetches by itself lies in the site."""
    for address, text in html.items():
        found = loads(text)
        assert len(found) > 5, address
        assert [place for place in found if "//" in place] == [], address
        if address != "404.html":  # which a server shows at any depth, so that its addresses begin at the root
            assert [name for name in files(address, text) if not (published / name).is_file()] == [], address
    for sheet in published.rglob("*.css"):
        assert [place for place in asked_by_css(sheet.read_text("utf-8")) if "//" in place] == [], sheet
    for picture in published.rglob("*.svg"):
        assert [place for place in loads(picture.read_text("utf-8")) if "//" in place] == [], picture


def test_a_lesson_is_light(published: Path, html: dict[str, str]) -> None:
    """At most 120 KB compressed, with fonts, pictures and scripts; the search index comes later."""
    sizes = {
        path: len(gzip.compress((published / path).read_bytes(), 9))
        for address in lessons()
        for path in {f"{address}index.html", *files(address, html[address])}
    }
    heavy = {
        address: total
        for address in lessons()
        if (total := sum(sizes[path] for path in {f"{address}index.html", *files(address, html[address])})) > BUDGET
    }
    assert heavy == {}, sorted(((size, path) for path, size in sizes.items()), reverse=True)[:8]


@pytest.mark.browser
def test_the_browser_fetches_what_was_weighed(driver: Any, html: dict[str, str], published_address: str) -> None:
    """On every kind of page it asks this server alone, all that it asks for is there, and nothing was overlooked."""
    size(driver, 1280)
    for address in [*cover(html), lessons()[0]]:
        driver.get_log("performance")
        driver.get_log("browser")
        driver.get(f"{published_address}/{address}")
        wait(lambda: find_all(driver, "[data-md-component=search-query]"))
        driver.execute_script("scrollTo(0, document.documentElement.scrollHeight)")
        wait(lambda: driver.execute_script("return performance.getEntriesByName(arguments[0]).length",
                                           f"{published_address}/{INDEX}"))  # fmt: skip
        messages = [json.loads(entry["message"])["message"] for entry in driver.get_log("performance")]
        asked = {
            message["params"]["request"]["url"]
            for message in messages
            if message["method"] == "Network.requestWillBeSent"
        }
        asked = {url for url in asked if not url.startswith(("data:", f"blob:{published_address}"))}
        assert [url for url in asked if not url.startswith(f"{published_address}/")] == [], address
        assert [entry["message"] for entry in driver.get_log("browser") if entry["level"] == "SEVERE"] == [], address
        paths = {urlsplit(url).path.lstrip("/") for url in asked} - {address, INDEX}
        known = {name.lstrip("/") for name in files(address, html[address])}
        assert paths - known == set(), address
