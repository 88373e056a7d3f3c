"""Reported faults of pages: output as a snippet prints it goes through the runner, the strict build and a browser."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import executions
import pytest
from browsers import RECORDING, chromium, find, find_all, serve, wait
from executions import case
from handbooks import Handbook, host, make_handbook, record, script

LONG = 'print("[" + ", ".join(str(number) for number in range(12000)) + "]")'
PRINTS = {
    "html": 'print("</code></pre><script>document.title=1</script><b>&amp;</b>")',
    "attribute": 'print(\'"><img src=x onerror="document.title=1"> &lt; &#60; &nbsp;\')',
    "jinja": "print(\"{{ config }} {% include 'x' %} {#note#}\")",
    "markdown": 'print("# no heading\\n[x](y.md) ![p](q.png)\\n```\\n\\n- item\\n--8<-- \\"file.md\\"\\n*[HTML]: no")',
    "ansi": r'print("\x1b[1;32mPASS\x1b[0m bf16 matmul \x1b]8;;https://example.org\x1b\\link\x1b]8;;\x1b\\")',
    "wide": 'for a, b in [("dtype", "ok"), ("\u534a\u7cbe\u5ea6", "\u2705")]:\n    print(f"|{a:<8}|{b:<4}|")',
    "tabs": 'print("op\\tms\\nmatmul\\t1.2\\n\\tsoftmax_backward\\t0.3")',
    "long": LONG,
}
# What the page shows of each, in full; a long line is cut.
SHOWN = {
    "html": "</code></pre><script>document.title=1</script><b>&amp;</b>",
    "attribute": '"><img src=x onerror="document.title=1"> &lt; &#60; &nbsp;',
    "jinja": "{{ config }} {% include 'x' %} {#note#}",
    "markdown": '# no heading\n[x](y.md) ![p](q.png)\n```\n\n- item\n--8<-- "file.md"\n*[HTML]: no',
    "ansi": "PASS bf16 matmul link",
    "wide": "|dtype   |ok  |\n|\u534a\u7cbe\u5ea6     |\u2705   |",
    "tabs": "op\tms\nmatmul\t1.2\n\tsoftmax_backward\t0.3",
}


class Output(HTMLParser):
    """Collects the elements of a card's output and its text."""

    def __init__(self, html: str, card: str) -> None:
        super().__init__()
        self.card, self.inside, self.text = card, "", ""
        self.tags: set[str] = set()
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if self.inside == "output":
            self.tags.add(tag)
        if tag == "section":
            self.inside = ""
        self.inside = self.inside if self.inside == "output" else dict(attrs).get("id") or self.inside
        if tag == "pre" and self.inside == self.card:
            self.inside = "output"

    def handle_endtag(self, tag: str) -> None:
        if tag == "pre" and self.inside == "output":
            self.inside = ""

    def handle_data(self, data: str) -> None:
        if self.inside == "output":
            self.text += data


@pytest.fixture(scope="module")
def book(tmp_path_factory: pytest.TempPathFactory) -> Handbook:
    """A handbook, strictly built, whose records are what the runner made of each print."""
    folder = tmp_path_factory.mktemp("book")
    records = []
    for name, code in PRINTS.items():
        made = executions.record(tmp_path_factory.mktemp("run"), code)
        assert made.status == "ok", made.stderr
        records.append(replace(made, snippet=f"x/{name}", host="epyc", source_sha256="c" * 64))
    snippets = {f"x/{name}": script(code, title=name, dependencies=[]) for name, code in PRINTS.items()}
    fences = "".join(f'```capture show="output"\nx/{name}\n```\n\n' for name in PRINTS)
    book = make_handbook(folder, snippets, [host("epyc", "EPYC")], records, {"index.md": f"# Page\n\n{fences}"})
    done = book.build()
    assert done.returncode == 0, done.stderr
    return book


@pytest.fixture(scope="module")
def browser(book: Handbook, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """The page on the narrowest telephone."""
    server = serve(book.root / "site")
    driver = chromium(tmp_path_factory.mktemp("profile"))
    driver.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride", {"width": 320, "height": 800, "deviceScaleFactor": 1, "mobile": True}
    )
    driver.get(f"http://127.0.0.1:{server.server_port}/")
    yield driver
    driver.quit()
    server.shutdown()


def code(browser: Any, name: str) -> Any:
    """Return the element that holds an output."""
    return find(browser, f"#capture-x-{name}--epyc-stdout code")


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("html", id="render-html"),
        "attribute",
        pytest.param("jinja", id="render-jinja"),
        "markdown",
        pytest.param("ansi", id="render-ansi"),
        pytest.param("wide", id="render-wide"),
        pytest.param("tabs", id="render-tabs"),
    ],
)
def test_what_was_printed_is_what_the_page_shows(book: Handbook, name: str) -> None:
    """Tags, entities, templates, Markdown, tabs and wide characters are text; of colours and links the text remains."""
    found = Output(book.html("index.html"), f"capture-x-{name}--epyc-stdout")
    assert found.text.rstrip("\n") == SHOWN[name]


@case("render-html")
def test_no_output_becomes_an_element(case: str, book: Handbook) -> None:
    """No box of output holds an element that a snippet printed, and the built page has no escape character."""
    html = book.html("index.html")
    for name in PRINTS:
        assert Output(html, f"capture-x-{name}--epyc-stdout").tags <= {"code", "span", "samp"}
    assert not re.search("[\x00-\x08\x0b-\x1f]", html)


@case("render-longline")
def test_a_long_line_is_kept_with_a_count(case: str, book: Handbook) -> None:
    """Of a line of 73 KB the record keeps both ends, page and record alike, and every character is shown or counted."""
    stored = (book.root / "docs/captures/epyc/x/long.yaml").read_text("utf-8")
    assert max(map(len, stored.splitlines())) < 2_000
    shown = Output(book.html("index.html"), "capture-x-long--epyc-stdout").text.rstrip("\n")
    assert shown.startswith("[0, 1, 2, ") and shown.endswith(", 11998, 11999]")
    mark = re.compile(r"\n? ?… ([\d,]+) (?:characters|of [\d,]+ bytes) left out … ?\n?")
    counted = sum(int(number.replace(",", "")) for number in mark.findall(shown))
    assert counted + len(mark.sub("", shown)) == len(str(list(range(12000))))


@pytest.mark.browser
@pytest.mark.parametrize(
    "name", [pytest.param("long", id="render-longline"), pytest.param("wide", id="render-wide"), "html", "tabs"]
)
def test_output_scrolls_in_its_own_box(browser: Any, name: str) -> None:
    """At 320 pixels the page is as wide as the screen and no line is wrapped or cut off: its box scrolls to the end."""
    assert browser.execute_script("return document.documentElement.scrollWidth") == 320
    element = code(browser, name)
    assert element.value_of_css_property("white-space") in ("pre", "preserve nowrap")
    reach = browser.execute_script(
        "const box = arguments[0].closest('.capture__scroll'); box.scrollLeft = box.scrollWidth;"
        "return [arguments[0].getBoundingClientRect().right, box.getBoundingClientRect().right, innerWidth]",
        element,
    )
    assert reach[0] <= reach[1] + 1 and reach[1] <= reach[2]


@pytest.mark.browser
@case("render-wide")
def test_wide_characters_have_a_font_of_even_width(case: str, browser: Any) -> None:
    """Output is set in a monospaced stack that names a font for Chinese, Japanese and Korean before the last resort."""
    fonts = code(browser, "wide").value_of_css_property("font-family")
    assert fonts.endswith("monospace")
    assert "CJK" in fonts


@pytest.mark.browser
@pytest.mark.parametrize("name", [pytest.param("ansi", id="render-ansi"), pytest.param("tabs", id="render-tabs")])
def test_the_copy_button_takes_what_is_shown(browser: Any, name: str) -> None:
    """Tabs are copied as tabs, eight columns wide on the page; of colours and terminal links only the text."""
    browser.execute_script(RECORDING)
    button = find(browser, f"#capture-x-{name}--epyc .capture__badge [data-copy]")
    browser.execute_script("arguments[0].click()", button)
    taken = wait(lambda: browser.execute_script("return window.taken"))
    assert taken[-1].rstrip("\n") == SHOWN[name]
    assert code(browser, name).value_of_css_property("tab-size") == "8"


@pytest.mark.browser
@case("render-html")
def test_a_printed_script_does_not_run(case: str, browser: Any) -> None:
    """The title is the page's own, and no card holds a picture that was printed."""
    assert len(browser.title) > 1
    assert find_all(browser, ".capture img, .capture script") == []


@case("site-dup-id")
def test_one_snippet_shown_twice_has_its_own_ids(case: str, tmp_path: Path) -> None:
    """Each use of a snippet on a page has anchors of its own, which the strict link check knows."""
    text = '# Page\n\n```capture\nx/one\n```\n\n```capture host="epyc"\nx/one\n```\n\n[2](#capture-x-one-2--epyc)\n'
    snippets = {"x/one": script("print(1)\n", dependencies=[])}
    book = make_handbook(tmp_path, snippets, [host("epyc", "EPYC")], [record("x/one")], {"index.md": text})
    done = book.build()
    assert done.returncode == 0, done.stderr
    ids = re.findall(r'\bid="([^"]*)"', book.html("index.html"))
    assert sorted(ids) == sorted(set(ids))
    assert {"capture-x-one--epyc", "capture-x-one-2--epyc"} <= set(ids)
