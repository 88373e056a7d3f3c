"""Every kind of page for everybody: axe-core finds nothing, and the keyboard reaches everything."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from harness.axe import COLOURS, STILL, THIN, UNFOLD, scheme, violations
from harness.browsers import find, find_all, hits, size, wait
from harness.built import Kinds, cover, pages

pytestmark = pytest.mark.browser

TAB, DOWN, SPACE, ESCAPE = "\ue004", "\ue015", " ", "\ue00c"
# Marks where the focus is; tells whether it was there before, what has it, and whether that can be seen: a ring around
# it or around what stands for it, in the window and not behind the header.
STEP = """
const at = document.activeElement;
if (!at || at === document.body) return null;
const again = "walked" in at.dataset;
at.dataset.walked = "";
const ringed = (element) => {
  const { outlineStyle, outlineWidth } = getComputedStyle(element);
  const { width, height, left, right } = element.getBoundingClientRect();
  const inside = width * height > 0 && right > 0 && left < innerWidth;
  return inside && outlineStyle !== "none" && parseFloat(outlineWidth) > 0;
};
const beside = at.parentElement.querySelectorAll(":scope > .md-nav__link, :scope > label");
const stands = [at, ...(at.labels ?? []), ...beside];
const name = at.getAttribute("aria-label") || at.title || at.textContent.trim() || at.labels?.[0]?.textContent || at.id;
return [again, `${at.tagName.toLowerCase()}.${at.className} ${name.slice(0, 40)}`,
  stands.some(ringed) || at.matches(".md-search__scrollwrap")];
"""
# Controls that can be seen and that the focus never reached. One radio button stands for its group, and one tab for
# its row; the label of a control that is reached is none of its own.
UNREACHED = """
const walked = (element) => element && "walked" in element.dataset;
return [...document.querySelectorAll("a[href], button, select, input, summary, label[for], [tabindex]")]
  .filter((element) => element.checkVisibility({ visibilityProperty: true, contentVisibilityAuto: true }))
  .filter((element) => element.tabIndex >= 0 || element.tagName === "LABEL")
  .filter((element) => getComputedStyle(element).pointerEvents !== "none")
  .filter((element) => !walked(element) && !walked(element.control))
  .filter((element) => element.type !== "radio" || !document.querySelector(`[name="${element.name}"][data-walked]`))
  .map((element) => `${element.tagName.toLowerCase()}.${element.className} for=${element.htmlFor ?? ""} `
    + element.textContent.trim().slice(0, 40));
"""
# What a pointer clicks and keys do otherwise: veils and symbols of drawer and search, which Escape closes and whose
# field is a stop, and the symbol of the colour scheme, whose radio button is.
POINTER_ONLY = (
    "label.md-overlay", "label.md-search__overlay", "label.md-search__icon", "label.md-nav__title",
    "label.md-header__button md-icon for=__search", "label.md-header__button md-icon for=__palette",
)  # fmt: skip


@pytest.fixture(scope="module")
def html(published: Path) -> dict[str, str]:
    return pages(published)


@pytest.fixture
def browser(driver: Any) -> Any:
    """A reader who was never here."""
    driver.execute_cdp_cmd("Storage.clearDataForOrigin", {"origin": "*", "storageTypes": "all"})
    return driver


def audit(browser: Any, address: str) -> dict[str, list[str]]:
    """Return what axe finds on a page by width and scheme, everything unfolded."""
    found = {}
    for width in (1280, 390):
        size(browser, width)
        scheme(browser, "light")
        browser.get(address)
        browser.execute_script(STILL + UNFOLD)
        found[f"{width} light"] = violations(browser, others=COLOURS)
        browser.execute_script(THIN)
        found[f"{width} light"] += violations(browser, COLOURS)
        scheme(browser, "dark")
        wait(lambda: find(browser, "[data-md-color-scheme]").get_attribute("data-md-color-scheme") == "slate")
        found[f"{width} dark"] = violations(browser, COLOURS)
    return {state: faults for state, faults in found.items() if faults}


def test_axe_finds_nothing_on_any_kind_of_page(browser: Any, html: dict[str, str], published_address: str) -> None:
    """Some pages together hold every kind of element of the site: at two widths, in both schemes, all unfolded."""
    chosen = cover(html)
    assert set().union(*(Kinds(html[page]).found for page in chosen)) == set().union(
        *(Kinds(text).found for text in html.values())
    )
    found = {page: audit(browser, f"{published_address}/{page}") for page in chosen}
    assert {page: faults for page, faults in found.items() if faults} == {}


@pytest.mark.slow
def test_axe_finds_nothing_on_any_page(browser: Any, html: dict[str, str], published_address: str) -> None:
    """The same for every page."""
    found = {page: audit(browser, f"{published_address}/{page}") for page in html}
    assert {page: faults for page, faults in found.items() if faults} == {}


def test_axe_finds_nothing_in_search_and_drawer(browser: Any, published_address: str) -> None:
    """The theme's own layers too: search with its results, and the drawer with an opened list."""
    found = {}
    for name in ("light", "dark"):
        scheme(browser, name)
        size(browser, 1280)
        browser.get(f"{published_address}/instruments/")
        find(browser, "[data-md-component=search-query]").send_keys("autocast")
        hits(browser, "/autocast/")
        browser.execute_script(STILL)
        found[f"search {name}"] = violations(browser)
        size(browser, 390)
        browser.get(f"{published_address}/instruments/")
        browser.execute_script(STILL)
        find(browser, ".capture-drawer").click()
        found[f"drawer {name}"] = violations(browser)
    assert {state: faults for state, faults in found.items() if faults} == {}


def walk(browser: Any, limit: int = 600) -> list[tuple[str, bool]]:
    """Press Tab from the top of the page until the focus leaves it; return each stop and whether it can be seen."""
    from selenium.webdriver import ActionChains

    stops: list[tuple[str, bool]] = []
    while len(stops) < limit:
        ActionChains(browser, duration=0).send_keys(TAB).perform()
        found = browser.execute_script(STEP)
        if found is None:
            return stops
        again, name, seen = found
        assert not again, f"the keyboard is held at {name}"
        stops.append((name, seen))
    raise AssertionError(f"no end after {limit} stops: {stops[-1]}")


@pytest.mark.parametrize(("width", "drawer"), [(1280, False), (390, False), (390, True)])
def test_the_keyboard_reaches_everything(browser: Any, published_address: str, width: int, drawer: bool) -> None:
    """Through a lesson from top to foot: every control that can be seen is a stop with a ring, and none is a trap."""
    size(browser, width)
    browser.get(f"{published_address}/instruments/")
    wait(lambda: find_all(browser, "[data-compare]") and find_all(browser, ".capture-mine select"))
    opener = "#__drawer" if drawer else "[data-compare]"
    browser.execute_script("document.querySelector(arguments[0]).click()", opener)
    wait(lambda: find(browser, ".md-sidebar--primary").is_displayed() or not drawer)
    stops = walk(browser)
    assert [name for name, seen in stops if not seen] == []
    left = [name for name in browser.execute_script(UNREACHED) if not name.startswith(POINTER_ONLY)]
    assert left == []
    assert stops[0][0].startswith("a.md-skip")
    assert len(stops) > 60


def test_the_drawer_by_keyboard(browser: Any, published_address: str) -> None:
    """In a narrow window a button opens it, a list in it opens and closes, and Escape leads back to the button."""
    size(browser, 1280)
    browser.get(f"{published_address}/")
    assert not find(browser, ".capture-drawer").is_displayed()
    size(browser, 390)
    browser.get(f"{published_address}/")
    button, drawer = find(browser, ".capture-drawer"), find(browser, ".md-sidebar--primary")
    assert not drawer.is_displayed()
    button.send_keys(SPACE)
    wait(drawer.is_displayed)
    assert button.get_attribute("aria-expanded") == "true"
    link = find(browser, ".md-nav__link[href$='timing/']")
    opener = find(browser, "#__nav_3")
    assert opener.get_attribute("aria-label") == "Measure"
    for shown in (True, False):
        opener.send_keys(SPACE)
        wait(lambda shown=shown: link.is_displayed() is shown)
    opener.send_keys(ESCAPE)
    wait(lambda: not drawer.is_displayed())
    assert browser.switch_to.active_element == button
    assert button.get_attribute("aria-expanded") == "false"


def test_search_is_left_by_escape(browser: Any, published_address: str) -> None:
    """The field opens search, arrows walk the results, and Escape gives the page back."""
    size(browser, 1280)
    browser.get(f"{published_address}/")
    field = find(browser, "[data-md-component=search-query]")
    field.send_keys("autocast")
    hits(browser, "/autocast/")
    field.send_keys(DOWN)
    wait(lambda: "md-search-result__link" in browser.switch_to.active_element.get_attribute("class"))
    browser.switch_to.active_element.send_keys(ESCAPE)
    wait(lambda: not find(browser, "#__search").get_attribute("checked"))
