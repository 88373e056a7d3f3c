"""Reported faults of pages: output as a snippet prints it goes through the runner, the strict build and a browser."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from harness import executions
from harness.browsers import RECORDING, find, find_all, serve, size, wait
from harness.executions import case
from harness.handbooks import Handbook, host, make_handbook, script

pytestmark = pytest.mark.browser

LONG = 'print("[" + ", ".join(str(number) for number in range(12000)) + "]")'
PRINTS = {
    "markup": 'print("</code></pre><script>document.title=1</script><b>&amp;</b>")',
    "attribute": 'print(\'"><img src=x onerror="document.title=1"> &lt; &#60; &nbsp;\')',
    "jinja": "print(\"{{ config }} {% include 'x' %} {#note#}\")",
    "markdown": 'print("# no heading\\n[x](y.md) ![p](q.png)\\n```\\n\\n- item\\n--8<-- \\"file.md\\"\\n*[HTML]: no")',
    "ansi": r'print("\x1b[1;32mPASS\x1b[0m bf16 matmul \x1b]8;;https://example.org\x1b\\link\x1b]8;;\x1b\\")',
    "wide": 'for a, b in [("dtype", "ok"), ("\u534a\u7cbe\u5ea6", "\u2705")]:\n    print(f"|{a:<8}|{b:<4}|")',
    "tabs": 'print("op\\tms\\nmatmul\\t1.2\\n\\tsoftmax_backward\\t0.3")',
    "bidi": 'print("speedup \\u202e%5 ylno\\u202c faster; \\u05e9\\u05dc\\u05d5\\u05dd")',
    "long": LONG,
}
# What the page shows of each, in full; a long line is cut.
SHOWN = {
    "markup": "</code></pre><script>document.title=1</script><b>&amp;</b>",
    "attribute": '"><img src=x onerror="document.title=1"> &lt; &#60; &nbsp;',
    "jinja": "{{ config }} {% include 'x' %} {#note#}",
    "markdown": '# no heading\n[x](y.md) ![p](q.png)\n```\n\n- item\n--8<-- "file.md"\n*[HTML]: no',
    "ansi": "PASS bf16 matmul link",
    "wide": "|dtype   |ok  |\n|\u534a\u7cbe\u5ea6     |\u2705   |",
    "tabs": "op\tms\nmatmul\t1.2\n\tsoftmax_backward\t0.3",
    "bidi": r"speedup \u202e%5 ylno\u202c faster; " + "\u05e9\u05dc\u05d5\u05dd",
}
TWICE = '# Page\n\n```capture\nx/tabs\n```\n\n```capture host="epyc"\nx/tabs\n```\n\n[2](#capture-x-tabs-2--epyc)\n'


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
    hosts = [host("epyc", "EPYC"), host("mps-laptop", "MPS laptop", "mps")]
    pages = {"index.md": f"# Page\n\n{fences}", "twice.md": TWICE}
    book = make_handbook(folder, snippets, hosts, records, pages)
    done = book.build()
    assert done.returncode == 0, done.stderr
    return book


@pytest.fixture(scope="module")
def address(book: Handbook) -> Iterator[str]:
    """Where the handbook is served."""
    server = serve(book.root / "site")
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()


@pytest.fixture
def browser(driver: Any, address: str) -> Any:
    """The page on the narrowest telephone."""
    size(driver, 320)
    driver.get(address)
    return driver


def code(browser: Any, name: str) -> Any:
    """Return the element that holds an output."""
    return find(browser, f"#capture-x-{name}--epyc-stdout code")


def shown(browser: Any, name: str) -> str:
    """Return what an output says, character by character."""
    text: str = browser.execute_script("return arguments[0].textContent", code(browser, name))
    return text.rstrip("\n")


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("markup", id="render-html"),
        "attribute",
        pytest.param("jinja", id="render-jinja"),
        "markdown",
        pytest.param("ansi", id="render-ansi"),
        pytest.param("wide", id="render-wide"),
        pytest.param("tabs", id="render-tabs"),
        pytest.param("bidi", id="render-bidi"),
    ],
)
def test_what_was_printed_is_what_the_page_shows(browser: Any, name: str) -> None:
    """Tags, entities, templates, Markdown, tabs and wide characters are text; of colours and links the text remains.

    Controls of direction are shown by their names; letters that read from the right are not touched.
    """
    assert shown(browser, name) == SHOWN[name]
    assert code(browser, name).is_displayed()


@case("render-html")
def test_no_output_becomes_an_element(case: str, browser: Any, book: Handbook) -> None:
    """No box of output holds an element that a snippet printed, and the built page has no escape character."""
    tags = "return [...document.querySelectorAll('.capture__box pre *')].map(element => element.localName)"
    assert set(browser.execute_script(tags)) <= {"code", "span", "samp"}
    assert not re.search("[\x00-\x08\x0b-\x1f]", book.html("index.html"))


@case("render-longline")
def test_a_long_line_is_kept_with_a_count(case: str, browser: Any, book: Handbook) -> None:
    """Of a line of 73 KB the record keeps both ends, page and record alike, and every character is shown or counted."""
    stored = (book.root / "docs/captures/epyc/x/long.yaml").read_text("utf-8")
    assert max(map(len, stored.splitlines())) < 2_000
    text = shown(browser, "long")
    assert text.startswith("[0, 1, 2, ") and text.endswith(", 11998, 11999]")
    mark = re.compile(r"\n? ?… ([\d,]+) (?:characters|of [\d,]+ bytes) left out … ?\n?")
    counted = sum(int(number.replace(",", "")) for number in mark.findall(text))
    assert counted + len(mark.sub("", text)) == len(str(list(range(12000))))


@pytest.mark.parametrize(
    "name", [pytest.param("long", id="render-longline"), pytest.param("wide", id="render-wide"), "markup", "tabs"]
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


@case("render-wide")
def test_wide_characters_have_a_font_of_even_width(case: str, browser: Any) -> None:
    """Output is set in a monospaced stack that names a font for Chinese, Japanese and Korean before the last resort."""
    fonts = code(browser, "wide").value_of_css_property("font-family")
    assert fonts.endswith("monospace")
    assert "CJK" in fonts


@pytest.mark.parametrize("name", [pytest.param("ansi", id="render-ansi"), pytest.param("tabs", id="render-tabs")])
def test_the_copy_button_takes_what_is_shown(browser: Any, name: str) -> None:
    """Tabs are copied as tabs, eight columns wide on the page; of colours and terminal links only the text."""
    browser.execute_script(RECORDING)
    button = find(browser, f"#capture-x-{name}--epyc .capture__badge [data-copy]")
    browser.execute_script("arguments[0].click()", button)
    taken = wait(lambda: browser.execute_script("return window.taken"))
    assert taken[-1].rstrip("\n") == SHOWN[name]
    assert code(browser, name).value_of_css_property("tab-size") == "8"


@case("render-html")
def test_a_printed_script_does_not_run(case: str, browser: Any) -> None:
    """The title is the page's own, and no card holds a picture that was printed."""
    assert len(browser.title) > 1
    assert find_all(browser, ".capture img, .capture script") == []


@case("render-not-run")
def test_a_host_without_a_result_says_so(case: str, browser: Any) -> None:
    """Instead of an empty space it names the host and the command to run."""
    item = find(browser, "#capture-x-markup [role=tab][data-host=mps-laptop]")
    browser.execute_script("arguments[0].click()", item)
    panel = find(browser, "#capture-x-markup--mps-laptop")
    assert panel.is_displayed()
    assert "Not captured on MPS laptop" in panel.text
    assert "capture run x/markup" in panel.text


@case("site-dup-id")
def test_one_snippet_shown_twice_has_its_own_ids(case: str, browser: Any, address: str) -> None:
    """Each use of a snippet on a page has anchors of its own, which the strict link check knows and a link reaches."""
    browser.get(f"{address}twice/")
    ids = browser.execute_script("return [...document.querySelectorAll('[id]')].map(element => element.id)")
    assert sorted(ids) == sorted(set(ids))
    assert {"capture-x-tabs--epyc", "capture-x-tabs-2--epyc"} <= set(ids)
    link = find(browser, "article a[href='#capture-x-tabs-2--epyc']")
    browser.execute_script("arguments[0].click()", link)
    assert find(browser, ":target").get_attribute("id") == "capture-x-tabs-2--epyc"
    assert find(browser, ":target").is_displayed()
