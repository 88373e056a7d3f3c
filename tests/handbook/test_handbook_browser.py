"""The real site in a real browser: pages on a telephone, in both schemes, and what its search finds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from harness.browsers import CONTRAST, find, hits, size
from harness.handbooks import REPOSITORY

pytestmark = pytest.mark.browser
PAGES = ("", "instruments/", "instruments/autocast/", "instruments/memory/", "debugging/")


@pytest.fixture(scope="module")
def address(published_address: str) -> str:
    """Where the site is served as it is published."""
    return published_address


@pytest.fixture
def browser(driver: Any) -> Any:
    """One Chromium for all pages."""
    return driver


@pytest.mark.parametrize("page", PAGES)
def test_no_page_scrolls_sideways_on_a_telephone(browser: Any, address: str, page: str) -> None:
    """At 390 pixels a page is 390 wide, with everything unfolded."""
    size(browser, 390)
    browser.get(f"{address}/{page}")
    browser.execute_script("for (const e of document.querySelectorAll('article details')) e.open = true")
    assert browser.execute_script("return [document.documentElement.scrollWidth, innerWidth]") == [390, 390]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("page", PAGES)
def test_text_can_be_read_in_both_schemes(browser: Any, address: str, page: str, scheme: str) -> None:
    """4.5:1 for every text of a lesson."""
    size(browser, 390)
    feature = {"name": "prefers-color-scheme", "value": scheme}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})
    browser.get(f"{address}/{page}")
    browser.execute_script("for (const e of document.querySelectorAll('article details')) e.open = true")
    assert browser.execute_script(CONTRAST) == {}


@pytest.mark.parametrize(
    ("word", "page"), [("SqrtBackward0", "/debugging/"), ("竞态", "/instruments/"), ("oneDNN takes", "/autocast/")]
)
def test_search_finds_what_a_script_printed(browser: Any, address: str, word: str, page: str) -> None:
    """A word of captured output leads to the lesson that shows it; the Chinese one too."""
    size(browser, 1280)
    browser.get(f"{address}/")
    find(browser, "[data-md-component=search-query]").click()
    find(browser, "[data-md-component=search-query]").send_keys(word)
    assert hits(browser, page)


def test_the_other_build_is_one_tab_away(browser: Any, address: str) -> None:
    """The same calls answer differently on the CUDA build; its record is one link away."""
    size(browser, 1280)
    browser.get(f"{address}/instruments/")
    browser.execute_script("localStorage.clear()")
    browser.get(f"{address}/instruments/")
    card = "#capture-instruments-instrument_census"
    first = find(browser, f"{card}--epyc-avx512-stdout").text
    tab = find(browser, f"{card} [role=tab][data-host='epyc-avx512-cuda-build']")
    browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", tab)
    tab.click()
    panel = find(browser, f"{card}--epyc-avx512-cuda-build")
    assert panel.is_displayed()
    assert find(browser, f"{card}--epyc-avx512-cuda-build-stdout").text != first
    record = panel.find_element("css selector", "a.capture__record").get_attribute("href")
    browser.get(record)
    assert "host: epyc-avx512-cuda-build" in browser.page_source


def test_the_picture_of_the_readme_is_there() -> None:
    """The README shows a result card."""
    picture = REPOSITORY / "docs/assets/card.png"
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert "docs/assets/card.png" in Path(REPOSITORY / "README.md").read_text("utf-8")
