"""The picture of a plot: the same bytes each time, marks without colour and text, and no text that can act."""

from __future__ import annotations

import json
import math
import os
import re
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest
from harness.handbooks import REPOSITORY, Handbook, record
from harness.plots import BARS, LANES, fence, make, source, svgs, texts, tree
from hypothesis import given, settings
from hypothesis import strategies as st

from capture.errors import CaptureError
from capture.site.plot import lane_steps
from capture.site.plot.bars_and_dots import ChartRow, chart
from capture.site.plot.brief_text import LONGEST, brief
from capture.site.plot.lane_steps import LaneStep
from capture.site.plot.lanes import lanes_picture
from capture.site.plot.plot_data import Bar, Group, Plot, Strip
from capture.site.plot.scale import scale_of

PRINT = """
import sys
sys.path[:0] = [{tests!r}]
import pathlib
from harness import plots
print(plots.make(pathlib.Path({folder!r}), {body!r}).page(plots.fence({body!r}))[0])
"""


def page_of(folder: Path, body: str, seed: str) -> str:
    """Return a page that another process has drawn."""
    code = PRINT.format(tests=str(REPOSITORY / "tests"), folder=str(folder), body=body)
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True, text=True, check=True, encoding="utf-8", env={**os.environ, "PYTHONHASHSEED": seed},
    )  # fmt: skip
    return done.stdout


@pytest.mark.parametrize("body", [BARS, LANES])
def test_two_builds_give_the_same_bytes(tmp_path: Path, body: str) -> None:
    """In two processes, under two seeds of hashing."""
    first = page_of(tmp_path / "one", body, "1")
    assert page_of(tmp_path / "two", body, "2") == first
    assert "<svg" in first


@pytest.mark.parametrize("body", [BARS, BARS.replace("bars", "dots"), f"{BARS}\nscale: log\nbaseline: 1", LANES])
def test_a_picture_is_small_and_has_no_colour(tmp_path: Path, body: str) -> None:
    """Marks have no text, style, colour, font, id or link, only classes of ours, and places that stretch nothing."""
    html, _ = make(tmp_path).page(fence(body))
    assert len(source(html)) < 15_000
    assert len(re.findall("<svg", source(html))) > 4
    inside = [item for svg in svgs(html) for item in svg.iter()]
    assert {item.tag for item in inside} <= {"svg", "line", "rect", "circle", "path"}
    assert [text for svg in svgs(html) for text in svg.itertext() if text.strip()] == []
    places = {"x", "y", "x1", "x2", "y1", "y2", "cx", "cy", "r", "width", "height", "d"}
    assert {name for item in inside for name in item.attrib} <= {"class", "aria-hidden", *places}
    assert {svg.get("aria-hidden") for svg in svgs(html)} == {"true"}
    classes = {name for item in tree(html).iter() for name in item.get("class", "").split()}
    styles = (REPOSITORY / "capture/site/theme/assets/plots.css").read_text("utf-8")
    plain = {"capture-plot__desc", "capture-plot__key", "capture-plot__label", "capture-plot__name"}
    plain |= {"capture-plot__scale-start", "plot-below"}
    assert {name for name in classes - plain if f".{name}" not in styles} == set()
    own = {item.get("style", "") for item in tree(html).iter()} - {""}
    assert all(re.fullmatch(r"(margin-left: [\d.]+%; )?width: [\d.]+%", style) for style in own)
    assert not re.search(r"#[0-9a-f]{3,6}\b|rgb", "".join(str(item.attrib) for item in tree(html).iter()))


@pytest.mark.parametrize(
    ("body", "colours"),
    [
        (BARS, set()),
        (f"{BARS}\nbaseline: 0", {"plot-above"}),
        (f"{BARS}\nscale: log\nbaseline: 1", {"plot-below", "plot-above"}),
        (f"{BARS}\nscale: log\nbaseline: 1".replace("bars", "dots"), {"plot-below", "plot-above"}),
    ],
)
def test_two_colours_where_two_are_meant(tmp_path: Path, body: str, colours: set[str]) -> None:
    """Marks on both sides of a base line have a colour for each side, explained in words; all others have one."""
    html, _ = make(tmp_path).page(fence(body))
    rows = [item for svg in svgs(html) if svg.get("class") == "plot-row" for item in svg]
    used = {name for item in rows for name in item.get("class", "").split()}
    assert used & {"plot-below", "plot-above"} == colours
    assert ({"below 1", "above 1"} <= set(texts(html))) == (len(colours) == 2)


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
    assert [text for svg in svgs(html) for text in svg.itertext() if text.strip()] == []


def test_a_picture_of_long_text_stays_small(tmp_path: Path) -> None:
    """A record may hold a line of a megabyte: the picture has its beginning, the table the whole."""
    assert brief("x" * 2_000_000) == "x" * LONGEST + "…"
    assert brief(" two\n lines ") == "two lines"
    book = make(tmp_path)
    book.keep(record("x/order", "zen", f"free: A {'x' * 1_000_000} > B go\nverdict: {'y' * 1_000_000}\n"))
    html, problems = book.page(fence(LANES))
    assert problems == []
    assert len(source(html)) < 15_000
    assert "x" * 1_000_000 in html


def bars(numbers: list[float], kind: str = "bars", log: bool = False, baseline: float | None = None) -> Plot:
    """Return a plot of numbers."""
    rows = tuple(Bar(f"row {place}", f"{number:g}", number, False) for place, number in enumerate(numbers))
    return Plot(kind, (Group((("host", "torch"),), rows),), "s", log, baseline, "as before")


def share(place: str) -> float:
    """Return a place as a number: hundredths of the width."""
    return float(place.removesuffix("%") or 0)


def ends(row: ChartRow) -> tuple[float, float]:
    """Return where a mark begins and where it ends."""
    return share(row.begin), share(row.begin) + share(row.width)


@settings(deadline=None)
@given(st.lists(st.floats(1e-15, 1e15), min_size=1, max_size=6), st.sampled_from(["bars", "dots"]), st.booleans())
def test_every_number_has_a_place_inside(numbers: list[float], kind: str, log: bool) -> None:
    """On either scale, from the smallest to the largest; no mark, line or word leaves the picture."""
    view = chart(bars(numbers, kind, log, 1.0 if log and kind == "bars" else None))
    xs = [x for row in view.panels[0].rows for x in ends(row)] + [share(line.place) for line in view.lines]
    xs += [x for line in view.lines for x in (share(line.begin), share(line.begin) + share(line.width))]
    assert all(math.isfinite(x) and -0.1 <= x <= 100.1 for x in xs)
    assert len(view.lines) <= 8


@settings(deadline=None)
@given(st.lists(st.floats(1e-9, 1e9), min_size=1, max_size=6), st.booleans())
def test_the_words_of_a_scale_have_boxes_of_their_own(numbers: list[float], log: bool) -> None:
    """So they never meet, whatever their font; each box holds its line, and has room for words."""
    lines = chart(bars(numbers, "dots", log)).lines
    boxes = [(share(line.begin), share(line.begin) + share(line.width)) for line in lines]
    assert all(begin - 0.1 <= share(line.place) <= end + 0.1 for line, (begin, end) in zip(lines, boxes, strict=True))
    assert all(after[0] >= before[1] - 0.2 for before, after in pairwise(boxes))
    assert all(end - begin > 4 for begin, end in boxes)


def test_bars_are_as_long_as_their_numbers() -> None:
    """On a linear scale they begin at zero, so twice the number is twice the length; below zero they go left."""
    scale = scale_of([2.0, 4.0, -1.0, 0.0], log=False)
    assert math.isclose(scale.place(4) - scale.place(0), 2 * (scale.place(2) - scale.place(0)))
    assert scale.place(-1) < scale.place(0)
    assert scale.ticks == (0.0, 2.0, 4.0)
    (two, four, below) = (ends(row) for row in chart(bars([2.0, 4.0, -1.0])).panels[0].rows)
    assert two[0] == four[0] == pytest.approx(below[1], abs=0.1)
    assert four[1] - four[0] == pytest.approx(2 * (two[1] - two[0]), abs=0.2)
    scale = scale_of([0.25, 4.0, 1.0], log=True)
    assert math.isclose(scale.place(4) - scale.place(1), scale.place(1) - scale.place(0.25))
    assert 1.0 in scale.ticks


@pytest.mark.parametrize(
    ("numbers", "log", "ticks"),
    [
        ([0.0, 1152.0], False, (0.0, 500.0, 1000.0)),
        ([0.0, 0.3], False, (0.0, 0.1, 0.2, 0.3)),
        ([7.0], False, (7.0, 7.25, 7.5, 7.75, 8.0)),
        ([0.03, 14.0], True, (0.01, 0.1, 1.0, 10.0)),
        ([1.5, 9.0], True, (2.0, 5.0, 10.0)),
        ([3.0], True, (2.5, 3.0, 3.5)),
        ([1e-15, 1e15], True, (1e-12, 1e-6, 1.0, 1e6, 1e12)),
    ],
)
def test_a_scale_has_few_and_round_numbers(numbers: list[float], log: bool, ticks: tuple[float, ...]) -> None:
    """Multiples of a round number, or powers of ten; where these are few, also twice and five times as much."""
    assert scale_of(numbers, log).ticks == ticks


def test_no_line_of_the_scale_runs_through_a_text(tmp_path: Path) -> None:
    """Each row's lines are as high as its mark; they are where the scale has its words, whose unit is said."""
    group = Group((("Zen", "torch 2.13.0"),), (Bar("a", "10 KiB", 10, False), Bar("b", "20 KiB", 20, False)))
    view = chart(Plot("bars", (group,), "KiB"))
    assert [line.text for line in view.lines] == ["0", "5", "10", "15", "20 KiB"]
    html, _ = make(tmp_path).page(fence(BARS))
    words = [item for item in tree(html).iter() if item.get("class") in ("capture-plot__line", "capture-plot__scale")]
    assert len(words) > len(view.panels[0].rows)
    assert [svg for item in words for svg in item.iter("svg")] == []
    rows = [svg for svg in svgs(html) if svg.get("class") == "plot-row"]
    assert [len(svg.findall("line[@class='plot-grid']")) for svg in rows] == [5] * len(rows)


def test_lanes_have_a_place_for_each_step() -> None:
    """A lane is a column, a wait leads from the middle of one to that of another, and signs have a colour each."""
    steps = lane_steps.parse("A load > B waits A > B read*° > free x > A waits C", ("A", "B", "C"), "*°")
    plot = Plot(
        "lanes", (Group((("Zen", ""),), strips=(Strip("one", steps, ("yes",)),)),),
        lanes=(("A", "producer"), ("B", "B"), ("C", "C")), marks=(("*", "wrong"), ("°", "last")),
    )  # fmt: skip
    view = lanes_picture(plot)
    assert view.lanes == (("A", "16.7%"), ("B", "50%"), ("C", "83.3%"))
    assert view.keys == (("", "A: producer"), ("plot-sign-0", "* wrong"), ("plot-sign-1", "° last"))
    (panel,) = view.groups[0].panels
    assert [(row.kind, row.text, row.classes, row.begin, row.end, row.leftward) for row in panel.rows] == [
        ("box", "load", "", "0%", "", False),
        ("wait", "", "", "16.7%", "50%", False),
        ("box", "read*°", "plot-sign-0 plot-sign-1", "33.3%", "", False),
        ("across", "free x", "", "", "", False),
        ("wait", "", "", "83.3%", "16.7%", True),
    ]


def test_a_line_of_steps() -> None:
    """Operations, waits, what happens to all, and signs at the end of an operation only."""
    assert lane_steps.parse("A load > B waits A > B f(x)*° > free x* > A *", ("A", "B"), "*°") == (
        LaneStep("load", 0), LaneStep("waits A", 1, 0), LaneStep("f(x)*°", 1, None, "*°"),
        LaneStep("free x*"), LaneStep("*", 0, None, "*"),
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
