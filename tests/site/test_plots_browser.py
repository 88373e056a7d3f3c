"""Plots in a real browser: on a telephone, in both schemes, and on paper."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from harness.browsers import CONTRAST, serve, sideways, size
from harness.plots import BARS, LANES, fence, make

pytestmark = pytest.mark.browser
LONG = "A name that is as long as a name can be without any need for it"
PAGES = {
    "bars": f"{BARS}\nscale: log\nbaseline: 1 as long as float32".replace("= high", f"= {LONG}"),
    "dots": f"{BARS}\nscale: log".replace("bars", "dots"),
    "lanes": LANES.replace("no wait", LONG),
}
OUTSIDE = """
const found = [];
for (const svg of document.querySelectorAll(".capture-plot svg"))
  for (const text of svg.querySelectorAll("text")) {
    const [inner, outer] = [text.getBoundingClientRect(), svg.getBoundingClientRect()];
    if (inner.left < outer.left - 1 || inner.right > outer.right + 1 || inner.bottom > outer.bottom + 1)
      found.push(text.textContent);
  }
return found;
"""


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Build a page with each kind of plot and serve it."""
    book = make(tmp_path_factory.mktemp("plots"))
    page = "".join(fence(body).replace("# Page", f"## {name}") for name, body in PAGES.items())
    book.write("docs/index.md", f"# Plots\n\n{page}")
    done = book.build()
    assert done.returncode == 0, done.stderr
    server = serve(book.root / "site")
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_a_plot_can_be_read(driver: Any, address: str, width: int, scheme: str) -> None:
    """Every text has 4.5:1 and stays inside its picture; the page is as wide as its window; text has its full size."""
    size(driver, width)
    feature = {"name": "prefers-color-scheme", "value": scheme}
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})
    driver.get(address)
    driver.execute_script("for (const e of document.querySelectorAll('article details')) e.open = true")
    assert driver.execute_script("return document.querySelectorAll('.capture-plot svg text').length") > 30
    assert driver.execute_script(CONTRAST) == {}
    assert driver.execute_script(OUTSIDE) == []
    assert sideways(driver)[0] <= 0
    sizes = driver.execute_script(
        "return [...document.querySelectorAll('.capture-plot svg')]"
        ".map(svg => 12 * svg.getBoundingClientRect().width / svg.viewBox.baseVal.width)"
    )
    assert min(sizes) >= 11.5


def test_its_colours_are_the_scheme_s(driver: Any, address: str) -> None:
    """One picture for both: marks and text change with the scheme, and no mark is black by default."""
    found = []
    for scheme in ("light", "dark"):
        feature = {"name": "prefers-color-scheme", "value": scheme}
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})
        driver.get(address)
        found.append(
            driver.execute_script(
                "return ['.plot-mark-0:not(.plot-marked)', '.plot-text', '.plot-step'].map("
                "name => getComputedStyle(document.querySelector(`.capture-plot ${name}`)).fill)"
            )
        )
    assert all(one != other for one, other in zip(*found, strict=True))
    assert "rgb(0, 0, 0)" not in found[0] + found[1]


def test_paper_shows_the_folded_table(driver: Any, address: str) -> None:
    """In print the numbers stand below the picture, folded or not."""
    content = (
        "return [...document.querySelectorAll('.capture-plot details')]"
        ".every(details => getComputedStyle(details, '::details-content').contentVisibility == 'visible')"
    )
    driver.get(address)
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
    assert not driver.execute_script(content)
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    assert driver.execute_script(content)
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
