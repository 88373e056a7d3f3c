"""The SVG of a plot: the same bytes each time, no colour of its own, and no text that can act."""

from __future__ import annotations

import json
import math
import re
import subprocess
import sys
from pathlib import Path

import pytest
from harness.handbooks import REPOSITORY, Handbook, record
from harness.plots import BARS, LANES, fence, make, svg, texts
from hypothesis import given, settings
from hypothesis import strategies as st

from capture.errors import CaptureError
from capture.site.plot import bars_and_dots, lane_steps
from capture.site.plot import svg as svg_module
from capture.site.plot.lane_steps import Step
from capture.site.plot.plot_data import Bar, Group, Plot
from capture.site.plot.plot_fence import picture

PRINT = """
import sys
sys.path[:0] = [{tests!r}]
import pathlib
from harness import plots
print(plots.make(pathlib.Path({folder!r}), {body!r}).page(plots.fence({body!r}))[0])
"""


def page_of(folder: Path, body: str) -> str:
    """Return a page that another process has drawn."""
    code = PRINT.format(tests=str(REPOSITORY / "tests"), folder=str(folder), body=body)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, encoding="utf-8")
    return done.stdout


def test_two_builds_give_the_same_bytes(tmp_path: Path) -> None:
    """In two processes, under two seeds of hashing, whatever the user has set for plots of his own."""
    first = page_of(tmp_path / "one", f"{LANES}")
    (tmp_path / "matplotlibrc").write_text("font.size: 30\nsvg.fonttype: path\nlines.linewidth: 9\n")
    assert page_of(tmp_path / "two", f"{LANES}") == first
    assert "<svg" in first


@pytest.mark.parametrize("body", [BARS, BARS.replace("bars", "dots"), LANES])
def test_a_picture_is_small_and_has_no_colour(tmp_path: Path, body: str) -> None:
    """Only shapes and texts with classes of ours: no style, colour, font, id or link."""
    html, _ = make(tmp_path).page(fence(body))
    found = svg(html)
    assert len(re.findall(r"<svg.*?</svg>", html, re.DOTALL)[0]) < 15_000
    inside = [item for item in found.iter() if item.tag not in ("svg", "title", "desc")]
    assert {item.tag for item in inside} == {"path", "text"}
    assert {name for item in inside for name in item.attrib} <= {"class", "d", "x", "y", "transform"}
    classes = {name for item in inside for name in item.get("class", "").split()}
    styles = (REPOSITORY / "capture/site/theme/assets/capture.css").read_text("utf-8")
    plain = {"plot-text", "plot-start", "plot-mark", "plot-wait-head"}
    assert {name for name in classes - plain if f".{name}" not in styles} == set()
    assert not re.search(r"#[0-9a-f]{3,6}\b|rgb", "".join(str(item.attrib) for item in inside))


@pytest.mark.parametrize(
    "hostile",
    [
        "</text><script>alert(1)</script>", "$\\frac{1}{0}$ $x", "a\x02b\x03c", "\u202eevil", "&lt;b&gt;", "]]>",
        "竞态 " * 40, "x" * 400, "<![CDATA[", "é\u0301",
    ],
)  # fmt: skip
def test_output_is_text_and_nothing_else(tmp_path: Path, hostile: str) -> None:
    """Whatever a snippet prints or an author writes, it neither acts nor breaks the picture, and long text is cut."""
    book = make(tmp_path)
    book.keep(record("x/order", "zen", f"free: A {hostile.replace('>', '')} > B go\nverdict: {hostile}\n"))
    html, problems = book.page(
        fence(LANES.replace("= no wait", f"= {hostile.replace(chr(2), '').replace(chr(3), '')}"))
    )
    assert problems == []
    assert "<script>" not in html
    assert "\x02" not in html
    assert all(len(text) < 130 for text in texts(html))


def test_long_text_costs_no_more_than_its_letters(monkeypatch: pytest.MonkeyPatch) -> None:
    """A record may hold a line of megabytes: each letter is measured a few times at most, whatever is cut from it."""
    measured: list[str] = []

    def width(letter: str) -> float:
        measured.append(letter)
        return 6.7

    monkeypatch.setattr(svg_module, "width", width)
    assert svg_module.cut("x" * 20_000, 70) == "x" * 9 + "…"
    assert [len(line) for line in svg_module.broken("x" * 20_000, 70)] == [10, 10, 10]
    assert len(measured) < 200_000


def bars(numbers: list[float], kind: str = "bars", log: bool = False, baseline: float | None = None) -> Plot:
    """Return a plot of numbers."""
    rows = tuple(Bar(f"row {place}", f"{number:g}", number, place, False) for place, number in enumerate(numbers))
    return Plot(kind, (Group((("host", "torch"),), rows),), "s", log, baseline, "as before")


def reach(plot: Plot) -> list[float]:
    """Return how far the picture's shapes reach, from the left."""
    found = picture(plot).inside
    paths = re.findall(r' d="([^"]*)"(?: transform="translate\(([^ ]+))?', found)
    numbers = [
        [float(pair[0]) + float(moved or 0) for pair in re.findall(r"([-\d.]+) ([-\d.]+)", path)]
        for path, moved in paths
    ]
    return [x for xs in numbers for x in xs]


@settings(deadline=None)
@given(st.lists(st.floats(1e-15, 1e15), min_size=1, max_size=6), st.sampled_from(["bars", "dots"]), st.booleans())
def test_every_number_has_a_place_inside(numbers: list[float], kind: str, log: bool) -> None:
    """On either scale, from the smallest to the largest; no shape leaves the picture."""
    plot = bars(numbers, kind, log, 1.0 if log and kind == "bars" else None)
    xs = reach(plot)
    assert all(math.isfinite(x) and -1 <= x <= bars_and_dots.WIDTH + 1 for x in xs)


def test_bars_are_as_long_as_their_numbers() -> None:
    """On a linear scale they begin at zero, so twice the number is twice the length; below zero they go left."""
    place, ticks = bars_and_dots.scale(bars([2.0, 4.0, -1.0]))
    assert math.isclose(place(4) - place(0), 2 * (place(2) - place(0)))
    assert place(-1) < place(0)
    assert ticks == [0.0, 2.0, 4.0]
    place, ticks = bars_and_dots.scale(bars([0.25, 4.0], log=True, baseline=1.0))
    assert math.isclose(place(4) - place(1), place(1) - place(0.25))
    assert 1.0 in ticks


def test_no_line_of_the_scale_runs_through_a_text() -> None:
    """The lines are in pieces, each beside a mark; the last one reaches the scale, whose unit is said."""
    group = Group((("Zen", "torch 2.13.0"),), (Bar("a", "10 KiB", 10, 0, False), Bar("b", "20 KiB", 20, 1, False)))
    inside = picture(Plot("bars", (group,), "KiB")).inside
    for path in re.findall(r'class="plot-grid" d="([^"]+)"', inside):
        heights = [float(number) for number in re.findall(r"[ML] \S+ (\S+)", path)]
        assert path.count("M") == len(group.bars)
        assert heights[1] < heights[2], path
    assert [text for text in re.findall(r">([^<>]+)</text>", inside) if text.startswith(("15", "20"))] == [
        "15", "20 KiB", "20 KiB",
    ]  # fmt: skip


def test_a_line_of_steps() -> None:
    """Operations, waits, what happens to all, and signs at the end of an operation only."""
    assert lane_steps.parse("A load > B waits A > B f(x)*° > free x* > A *", ("A", "B"), "*°") == (
        Step("load", 0), Step("waits A", 1, 0), Step("f(x)*°", 1, None, "*°"), Step("free x*"), Step("*", 0, None, "*"),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("A go > > A", "an empty step"),
        ("A go > A", 'step "A" says a lane and nothing'),
        ("go", "is in a lane (A, B)"),
        ("A waits C", 'step "A waits C": a lane waits for another one; known: B'),
        ("A waits A", "waits for another one"),
        (" > ".join(["A go"] * 25), "25 steps in one line; lanes show at most 24"),
    ],
)
def test_a_line_that_cannot_be_read(line: str, message: str) -> None:
    """The step is named."""
    with pytest.raises(CaptureError, match=re.escape(message)):
        lane_steps.parse(line, ("A", "B"), "*")


def test_the_site_builds_with_a_plot_and_finds_its_title_once(tmp_path: Path) -> None:
    """The table is in the page without a script; search knows the title, and no number twice."""
    book: Handbook = make(tmp_path, f"{BARS}\ngroup: value".replace("Low & high", "Outstanding"))
    done = book.build()
    assert done.returncode == 0, done.stderr
    html = book.html("index.html")
    assert '<figure class="capture-plot" id="capture-plot-1">' in html
    assert '<details class="capture-plot__numbers"' in html
    entries = json.loads((tmp_path / "site/search/search_index.json").read_text("utf-8"))["docs"]
    said = " ".join(f"{entry['title']} {entry['text']}" for entry in entries)
    assert said.count("Outstanding") == 1
    assert "0.75x" not in said
    assert "| 0.75x (busy host) |" in (tmp_path / "site/index.md").read_text("utf-8")
