"""The `capture-plot` fence: what it reads, what it says to every host, and what it says is wrong."""

from __future__ import annotations

from html import unescape
from pathlib import Path

import pytest
from harness.handbooks import REPOSITORY, STALE, Handbook, record
from harness.plots import BARS, LANES, STEPS, fence, make, rows, texts

from capture.site.markdown import page_check, page_in_progress
from capture.site.model.site import from_catalogue, parse_settings
from capture.site.page import markdown_copy
from capture.site.plot import plot_spec


@pytest.fixture
def book(tmp_path: Path) -> Handbook:
    """Two hosts that agree, one stale, one busy, one failed, one without a record, and this machine."""
    return make(tmp_path)


def drawn(book: Handbook, body: str) -> str:
    """Return a page with a plot that has no fault."""
    html, problems = book.page(fence(body))
    assert problems == []
    return html


def test_the_table_holds_what_the_records_say(book: Handbook) -> None:
    """A row for each published host, its numbers as printed; in words what is stale, busy, failed or missing."""
    assert rows(drawn(book, BARS)) == [
        ["host", "torch", "captured", "low <b>", "high"],
        ["Zen", "2.13.0+cpu", "29 Nov 2026", "0.5x", "20x"],
        ["Busy", "2.13.0+cpu", "29 Nov 2026", "0.75x (busy host)", "n (busy host, no number: not drawn)"],
        ["Ill", "2.13.0+cpu", "29 Nov 2026", "ended with error", "ended with error"],
        ["None yet", "none", "never", "not captured", "not captured"],
        ["Old", "2.13.0+cpu", "29 Nov 2026", "0.25x (stale)", "3x (stale)"],
        ["Twin", "2.14.1+cpu", "29 Nov 2026", "0.5x", "20x"],
    ]


def test_the_picture_shows_the_same(book: Handbook) -> None:
    """Hosts that say the same share their rows; a mark stands in words; failed and missing hosts are left out."""
    said = texts(drawn(book, BARS))
    assert [word for word in said if word in ("Zen", "Twin", "Busy", "Old", "Ill", "None yet", "Mine")] == [
        "Zen", "Twin", "Busy", "Old",
    ]  # fmt: skip
    assert said.count("0.5x") == 1
    assert "low <b> (stale)" in said
    assert "low <b> (busy host)" in said
    assert not {"9x", "77x", "n"} & set(said)


def test_the_caption_names_hosts_builds_and_absences(book: Handbook) -> None:
    """What it is drawn from, with torch and date, and which hosts it does not show, with the reason."""
    html = drawn(book, BARS)
    assert "Drawn from the records of 29 Nov 2026: Zen (torch 2.13.0+cpu); Busy (" in html
    assert "Not drawn: Ill (ended with error). Not drawn: None yet (not captured)." in html
    assert "Mine" not in html


def test_those_who_do_not_see_it_are_told(book: Handbook) -> None:
    """One image with a title and a description: kind, scale, extremes, and where the numbers are."""
    html = unescape(drawn(book, f"{BARS}\nscale: log\nbaseline: 1 as long as float32"))
    assert 'role="img" aria-labelledby="capture-plot-1-title capture-plot-1-desc"' in html
    assert "Bars on a logarithmic scale from 1, which is as long as float32; 4 hosts." in html
    assert "Lowest: 0.25x, low <b>, on Old. Highest: 20x, high, on Zen. The table below has every number." in html


def test_rows_may_stand_by_value(book: Handbook) -> None:
    """One heading a value, one row a host."""
    said = texts(drawn(book, f"{BARS}\ngroup: value".replace("bars", "dots")))
    assert said.index("low <b>") < said.index("Zen and 1 other host") < said.index("Old (2.13.0+cpu) (stale)")


def test_lanes_are_drawn_from_a_printed_line(book: Handbook) -> None:
    """Steps in order, signs with their meaning, results below; hosts that differ are drawn apart."""
    said = texts(drawn(book, LANES))
    for word in (
        "load",
        "read x*",
        "read x",
        "free x",
        "A: producer",
        "* reads too early",
        "verdict: race 竞态",
        "Old",
    ):
        assert word in said, word
    assert said.count("read x*") == 1
    table = rows(drawn(book, LANES))
    steps = STEPS.split("\n")[0].removeprefix("free: ")
    assert table[1:3] == [
        ["no wait", steps, "verdict: race 竞态", "Zen (torch 2.13.0+cpu); Twin (torch 2.14.1+cpu)"],
        ["no wait", "not captured", "", "Busy; Ill; None yet"],
    ]


@pytest.mark.parametrize(
    ("body", "line", "message"),
    [
        (BARS.replace("bars", "bras"), 4, 'kind "bras"; did you mean "bars"?'),
        (BARS.replace("x/speed high", "x/sped high"), 8, 'no snippet "x/sped"; did you mean "x/speed"?'),
        (BARS.replace("speed high", "speed hihg"), 8, 'snippet "x/speed" has no value "hihg"; did you mean "high"?'),
        (BARS.replace("unit", "units"), 6, 'unknown key "units"; did you mean "unit"?'),
        (f"{BARS}\n\nmark: * = no", 10, '"mark:" is not for kind bars, which takes unit, scale, baseline, group'),
        (f"{BARS}\nscale: log", 9, "on a log scale bars begin at no zero; add a baseline, or draw dots"),
        (f"{BARS}\nscale: log\nbaseline: 0", 10, "a log scale shows numbers above 0; choose another baseline"),
        (f"{BARS}\nbaseline: one", 9, 'baseline "one" is no number'),
        (f"{BARS}\nbaseline: 1e308", 9, 'baseline "1e308" is off every scale'),
        (f"{BARS}\nscale: log\nbaseline: 1e-300", 10, 'baseline "1e-300" is off every scale'),
        (f"{BARS}\nvalue: x/speed low", 9, "x/speed low stands here twice"),
        (f"{BARS}\nvalue: x/speed low@zen", 9, 'a plot shows every host; leave the host out of "x/speed low@zen"'),
        (f"{BARS}\nunit: s", 9, '"unit:" stands here twice'),
        (f"{BARS}\nhello", 9, 'no "key: text": "hello"'),
        ("kind: bars\ntitle: T", 3, 'a capture-plot fence needs a line "value: …"'),
        (LANES.replace("lanes: A", "title: A").replace("title: An order\n", ""), 3, 'needs a line "lanes: …"'),
        (LANES.replace("B = consumer", "C = consumer"), 3, 'x/order free on zen: step "A waits'),
        (
            BARS.replace("x/speed low", "x/order verdict"),
            3,
            'x/order verdict is "race 竞态" and a number to draw on no',
        ),
    ],
)
def test_a_mistake_is_named_at_its_line(book: Handbook, body: str, line: int, message: str) -> None:
    """Where, what, and the nearest known name; the page shows it too."""
    if "C = consumer" in body:
        book.keep(record("x/order", "zen", STEPS.replace("B waits A", "A waits B")))
    html, problems = book.page(fence(body))
    found = [problem for problem in problems if message in problem.message]
    assert [(problem.path, problem.line) for problem in found] == [("docs/index.md", line)], problems
    assert message in unescape(html)


def test_a_value_that_a_current_record_lost_is_an_error(book: Handbook) -> None:
    """As in a sentence: the snippet no longer prints what the page promises."""
    book.keep(record("x/speed", "zen", "low 0.5\n"))
    _, problems = book.page(fence(BARS))
    assert [problem.line for problem in problems] == [3]
    assert 'value "high" of x/speed on zen: its pattern matches nothing' in problems[0].message


def test_a_stale_record_without_the_value_is_left_out(book: Handbook) -> None:
    """Its snippet may have got the value since; nobody here can mend a record of another chip."""
    book.keep(record("x/speed", "old", "low 0.25\n", source_sha256=STALE))
    (row,) = [row for row in rows(drawn(book, BARS)) if row[0] == "Old"]
    assert row[3:] == ["0.25x (stale)", "stale; its output has no high"]


def test_a_plot_that_no_host_can_make_says_so(book: Handbook) -> None:
    """A gate that nobody meets is no fault; a snippet that nobody has run is one."""
    body = BARS.replace("x/speed low", "x/device gain").rpartition("\n")[0]
    html = drawn(book, body)
    assert "<svg" not in html
    assert "No host has captured this yet." in html
    assert ["Zen", "none", "never", "needs cuda"] in rows(html)
    book.write("snippets/x/device.py", (book.root / "snippets/x/device.py").read_text("utf-8").replace("cuda", ""))
    book.write("snippets/x/new.py", (book.root / "snippets/x/speed.py").read_text("utf-8"))
    _, problems = book.page(fence(BARS.replace("x/speed", "x/new")))
    assert [(problem.rule, problem.message) for problem in problems] == [
        ("missing", "no published host has a record of x/new; capture it: capture run x/new --host zen")
    ]


def test_a_check_of_the_pages_sees_what_a_build_sees(book: Handbook) -> None:
    """`capture check` finds nothing wrong with a right fence, and each fault of a wrong one."""
    book.write("docs/index.md", fence(BARS))
    assert page_check.check_pages(book.catalogue()) == []
    book.write("docs/index.md", fence(BARS.replace("speed high", "speed hihg")))
    assert [problem.line for problem in page_check.check_pages(book.catalogue())] == [8]


def test_every_line_is_explained() -> None:
    """CONTRIBUTING has a row for each key and names each kind."""
    text = (REPOSITORY / "CONTRIBUTING.md").read_text("utf-8")
    assert [key for key in plot_spec.KEYS if f"| `{key}:` |" not in text] == []
    assert [kind for kind in plot_spec.KINDS if f"`{kind}`" not in text] == []


def test_a_copy_in_markdown_has_the_table(book: Handbook) -> None:
    """Those who read no HTML get the numbers with their hosts and builds."""
    text = fence(BARS)
    here = page_in_progress.enter(
        from_catalogue(book.catalogue(), parse_settings({})), page_in_progress.PageSource("docs/index.md", text, "./")
    )
    copy = markdown_copy.page_copy(here, text)
    page_in_progress.leave("")
    assert "**Low & high**" in copy
    assert "Zen](" in copy
    assert "| 2.14.1+cpu | 29 Nov 2026 | 0.5x | 20x |" in copy
    assert "Not drawn: Ill (ended with error)." in copy
