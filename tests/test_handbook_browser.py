"""The real site in a real browser: every page on a telephone, what it asks for, and what its search finds."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browsers import CONTRAST, chromium, find, find_all, hits, serve, size, wait
from handbooks import REPOSITORY
from project import environment

pytestmark = pytest.mark.browser
PAGES = ("", "instruments/", "instruments/autocast/", "instruments/memory/", "debugging/")


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Build the site as it is published and serve it."""
    folder = tmp_path_factory.mktemp("published") / "site"
    subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", folder],
        cwd=REPOSITORY, env=environment({"NO_MKDOCS_2_WARNING": "1", "CAPTURE_PUBLISH": "1"}), check=True,
        capture_output=True, timeout=300,
    )  # fmt: skip
    server = serve(folder)
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """One Chromium for all pages."""
    driver = chromium(tmp_path_factory.mktemp("profile"))
    yield driver
    driver.quit()


@pytest.mark.parametrize("page", PAGES)
def test_no_page_scrolls_sideways_on_a_telephone(browser: Any, address: str, page: str) -> None:
    """At 390 pixels a page is 390 wide, with everything unfolded."""
    size(browser, 390)
    browser.get(f"{address}/{page}")
    browser.execute_script("for (const e of document.querySelectorAll('article details')) e.open = true")
    assert browser.execute_script("return [document.documentElement.scrollWidth, innerWidth]") == [390, 390]


@pytest.mark.parametrize("page", PAGES)
def test_a_page_asks_this_server_only(browser: Any, address: str, page: str) -> None:
    """No font, script, picture or count comes from elsewhere, and nothing fails to load."""
    size(browser, 1280)
    browser.get_log("performance")
    browser.get_log("browser")
    browser.get(f"{address}/{page}")
    wait(lambda: find_all(browser, "[data-md-component=search-query]"))
    messages = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    asked = {
        message["params"]["request"]["url"] for message in messages if message["method"] == "Network.requestWillBeSent"
    }
    assert asked
    assert [url for url in asked if not url.startswith((address, "data:", "blob:http://127.0.0.1:"))] == []
    assert [entry["message"] for entry in browser.get_log("browser") if entry["level"] == "SEVERE"] == []


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
