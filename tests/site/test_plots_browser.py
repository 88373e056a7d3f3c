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
# Words that leave the box they stand in or their panel, words upon words, marks that leave their SVG, and what is cut.
MISPLACED = """
const faults = [];
const inside = (inner, outer) => inner.left >= outer.left - 1 && inner.right <= outer.right + 1
  && inner.top >= outer.top - 1 && inner.bottom <= outer.bottom + 1;
const boxes = (node) => {
  const range = document.createRange();
  range.selectNodeContents(node);
  return [...range.getClientRects()].filter((box) => box.width > 0);
};
for (const picture of document.querySelectorAll(".capture-plot__picture")) {
  const frame = picture.closest(".capture-plot").getBoundingClientRect();
  const words = [];
  const walker = document.createTreeWalker(picture, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode, element = node.parentElement, text = node.data.trim();
    if (!text || element.hidden) continue;
    const panel = (element.closest(".capture-plot__panel") || picture).getBoundingClientRect();
    for (const box of boxes(node)) {
      if (!inside(box, panel)) faults.push(`outside of its panel: ${text}`);
      if (!inside(box, frame)) faults.push(`outside of the card: ${text}`);
      words.push([box, node]);
    }
    for (let at = element; at !== picture; at = at.parentElement) {
      const { overflowX, overflowY, textOverflow } = getComputedStyle(at);
      if (overflowX !== "visible" || overflowY !== "visible" || textOverflow !== "clip") faults.push(`cut: ${text}`);
    }
  }
  words.forEach(([one, node], at) => words.slice(at + 1).forEach(([other, next]) => {
    const across = Math.min(one.right, other.right) - Math.max(one.left, other.left);
    const down = Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top);
    if (node !== next && across > 1 && down > 0.3 * Math.min(one.height, other.height))
      faults.push(`one upon the other: ${node.data.trim()}, ${next.data.trim()}`);
  }));
  for (const svg of picture.querySelectorAll("svg:not(svg svg)")) {
    const outer = svg.getBoundingClientRect();
    for (const mark of svg.querySelectorAll(":not(svg)"))
      if (!inside(mark.getBoundingClientRect(), outer)) faults.push(`a mark outside: ${mark.outerHTML}`);
    const drawn = svg.closest(".capture-plot__step, .capture-plot__event, .capture-plot__line");
    if (drawn || (svg.matches(".plot-row") && words.some(([box]) => box.top < outer.bottom - 3
        && box.bottom > outer.top + 3 && box.left < outer.right && box.right > outer.left)))
      faults.push("words upon a row of marks");
  }
}
return [...new Set(faults)];
"""
COLOURS = """
return [
  [".plot-below:not(.plot-marked)", "fill"], [".plot-above", "stroke"], [".plot-grid", "stroke"],
  [".plot-lane", "stroke"], [".plot-wait-tip", "fill"], [".capture-plot__label", "color"],
  [".capture-plot__box", "borderTopColor"],
].map(([name, kind]) => getComputedStyle(document.querySelector(`.capture-plot ${name}`))[kind]);
"""
FONTS = {
    "as the page has it": "",
    "DejaVu alone": "font-family: 'DejaVu Sans', 'DejaVu Sans Mono'",
    "Noto alone": "font-family: 'Noto Sans', 'Noto Sans CJK SC'",
    "serif": "font-family: 'DejaVu Serif', 'Noto Serif', serif",
    "one width": "font-family: monospace",
    "spaced": "letter-spacing: 0.12em; word-spacing: 0.16em; line-height: 1.5",
}
RESTYLE = """
document.getElementById("font")?.remove();
const style = document.createElement("style");
style.id = "font";
style.textContent = `html *, html *::before, html *::after { ${arguments[0].split("; ").map(
  (rule) => rule && rule + " !important").join("; ")} }`;
document.head.append(style);
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
    """Every word has 4.5:1 and its place, is as large as a caption, and the page is as wide as its window."""
    size(driver, width)
    feature = {"name": "prefers-color-scheme", "value": scheme}
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})
    driver.get(address)
    driver.execute_script("for (const e of document.querySelectorAll('article details')) e.open = true")
    assert driver.execute_script("return document.querySelectorAll('.capture-plot__picture span').length") > 60
    assert driver.execute_script(CONTRAST) == {}
    assert driver.execute_script(MISPLACED) == []
    assert sideways(driver)[0] <= 0
    sizes = driver.execute_script(
        "return [...document.querySelectorAll('.capture-plot__picture span')]"
        ".map(span => parseFloat(getComputedStyle(span).fontSize))"
    )
    assert min(sizes) >= 11.5


@pytest.mark.parametrize("font", FONTS)
@pytest.mark.parametrize("width", [320, 390, 768, 1280, 1920])
def test_no_font_breaks_a_plot(driver: Any, address: str, width: int, font: str) -> None:
    """Whatever letters the reader has, narrow or wide: nothing is cut, leaves its place or stands upon another."""
    size(driver, width)
    driver.get(address)
    driver.execute_script(RESTYLE, FONTS[font])
    assert driver.execute_script(MISPLACED) == []
    assert sideways(driver)[0] <= 0


@pytest.mark.parametrize(
    ("rule", "fault"),
    [
        (".capture-plot__scale > * { margin-left: 10% !important }", "one upon the other"),
        (".capture-plot__label { white-space: nowrap }", "outside of its panel"),
        (".capture-plot__box { overflow: hidden }", "cut"),
        (".capture-plot__line { margin-bottom: -1em !important }", "words upon a row of marks"),
        (".capture-plot .plot-mark { transform: translateX(50%) }", "a mark outside"),
    ],
)
def test_what_breaks_a_plot_is_seen(driver: Any, address: str, rule: str, fault: str) -> None:
    """The question that is asked of each font has an answer for each way to break a picture."""
    size(driver, 390)
    driver.get(address)
    driver.execute_script(
        "const s = document.createElement('style'); s.textContent = arguments[0]; document.head.append(s)", rule
    )
    assert any(said.startswith(fault) for said in driver.execute_script(MISPLACED))


@pytest.mark.parametrize(("width", "columns"), [(390, 1), (1280, 2)])
def test_panels_stand_side_by_side_where_there_is_room(driver: Any, address: str, width: int, columns: int) -> None:
    """Hosts are small multiples: two beside each other on a desk, one on a telephone; each picture fills its card."""
    size(driver, width)
    driver.get(address)
    lefts = driver.execute_script(
        "const charts = [...document.querySelectorAll('.capture-plot')].slice(0, 2);"
        "const panels = charts.flatMap(chart => [...chart.querySelectorAll('.capture-plot__panel')]);"
        "return new Set(panels.map(panel => Math.round(panel.getBoundingClientRect().left))).size"
    )
    assert lefts == columns
    spare = driver.execute_script(
        "const right = (element) => element.getBoundingClientRect().right;"
        "return [...document.querySelectorAll('.capture-plot')].map(plot =>"
        " right(plot) - Math.max(...[...plot.querySelectorAll('.capture-plot__panel svg')].map(right)))"
    )
    assert all(13 <= room <= 15 for room in spare), spare


def test_the_words_of_a_scale_stand_at_its_lines(driver: Any, address: str) -> None:
    """The middle of each is near its line: as far as the words are wide at most."""
    for width in (390, 1280):
        size(driver, width)
        driver.get(address)
        apart = driver.execute_script(
            "return [...document.querySelectorAll('.capture-plot__scale')].flatMap(scale => {"
            " const lines = scale.previousElementSibling.querySelectorAll('.plot-grid');"
            " return [...scale.children].map((word, at) => { const range = document.createRange();"
            "  range.selectNodeContents(word); const box = range.getBoundingClientRect();"
            "  const line = lines[at].getBoundingClientRect();"
            "  return Math.abs((box.left + box.right) / 2 - line.left) / box.width; }); })"
        )
        assert len(apart) > 20
        assert max(apart) <= 1, apart


def test_its_colours_are_the_scheme_s(driver: Any, address: str) -> None:
    """One picture for both: marks and text change with the scheme, and no mark is black by default."""
    colours = []
    for scheme in ("light", "dark"):
        feature = {"name": "prefers-color-scheme", "value": scheme}
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})
        driver.get(address)
        colours.append(driver.execute_script(COLOURS))
    light, dark = colours
    assert all(one != other for one, other in zip(light, dark, strict=True))
    assert not {"rgb(0, 0, 0)", "none"} & {*light, *dark}
    assert light[0] != light[1]
    assert dark[0] != dark[1]


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
