"""A lesson as a notebook: cells filled from records, badges, text that cannot act, links that lead on."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import nbformat
import pytest
from harness.handbooks import Handbook, host, record, script
from harness.lessons import HOSTILE, SNIPPETS, cell, make, said, stream, text_of

from capture.host.child_environment import PINS
from capture.site.model.output_text import printable
from capture.site.notebook.portable_markdown import portable_lines


@pytest.fixture(scope="module")
def book(tmp_path_factory: pytest.TempPathFactory) -> Handbook:
    """A handbook with one lesson that is a notebook."""
    return make(tmp_path_factory.mktemp("book"))


@pytest.fixture(scope="module")
def cells(book: Handbook) -> list[dict[str, Any]]:
    """The cells of the notebook."""
    found: list[dict[str, Any]] = json.loads(text_of(book))["cells"]
    return found


def test_a_notebook_is_valid_and_always_the_same(book: Handbook) -> None:
    """By the format's own schema, with the same ids for the same lesson."""
    text = text_of(book)
    nbformat.validate(nbformat.reads(text, as_version=4))
    assert text == text_of(book)
    ids = [item["id"] for item in json.loads(text)["cells"]]
    assert len(set(ids)) == len(ids)


def test_code_cells_are_the_snippets_and_what_they_printed(cells: list[dict[str, Any]]) -> None:
    """A cell holds the whole source behind the line that runs it alone; nothing claims to have run here."""
    item = cell(cells, "x/speed")
    assert "".join(item["source"]) == '%%alone x/speed\n"""Times a thing."""\n\nprint("ratio 7.3x")'
    assert stream(item) == "ratio 7.3x\n"
    assert {item["execution_count"] for item in cells if item["cell_type"] == "code"} == {None}
    assert "**Speed**" in "".join(cells[2]["source"])


def test_every_output_has_its_badge(cells: list[dict[str, Any]]) -> None:
    """Before the first stream stands what it was captured on, as an output of its own, which a run takes away."""
    filled = [item for item in cells if any(part["output_type"] == "stream" for part in item.get("outputs", []))]
    assert len(filled) == 5
    for item in filled:
        first = item["outputs"][0]
        assert first["output_type"] == "display_data"
        assert "".join(first["data"]["text/plain"]).startswith("captured on ")
        assert "".join(first["data"]["text/markdown"]).startswith("**captured on** ")
        for fact in ("torch 2.13.0+cpu", "cuda no", "29 Nov 2026"):
            assert fact in said(item)
    quoted = "".join(cells[2]["source"]).partition("EPYC: captured on ")[2]
    assert quoted.index("torch 2.13.0") < quoted.index("ratio 7.3x")


def test_states_are_said_in_words(cells: list[dict[str, Any]]) -> None:
    """Stale, failed, not captured, ended as it should, and cut."""
    assert "stale: source changed" in said(cell(cells, "x/fails"))
    assert "Failed: exit code 1" in said(cell(cells, "x/fails"))
    assert said(cell(cells, "x/device")).startswith("Not captured on any host here")
    assert "capture run x/device" in said(cell(cells, "x/device"))
    assert "It ends with exit code 3, as it should." in said(cell(cells, "x/ends"))
    assert "Nothing was printed to stdout." in said(cell(cells, "x/ends"))
    assert stream(cell(cells, "x/ends"), "stderr") == "over\n"
    assert re.search(r"stdout: [\d,]+ lines, [\d,]+ characters, left out here", said(cell(cells, "x/long")))
    assert stream(cell(cells, "x/long")).endswith("line 4999\n")


def test_a_cell_says_how_it_runs(cells: list[dict[str, Any]]) -> None:
    """With its environment and its exit code; one whose gate may be closed does not end the notebook."""
    assert cell(cells, "x/hostile")["source"][0] == """%%alone x/hostile 'A=it'"'"'s $B {c}'\n"""
    assert cell(cells, "x/ends")["source"][0] == "%%alone x/ends --exit=3\n"
    tagged = {item["metadata"]["capture"] for item in cells if item["metadata"].get("tags") == ["raises-exception"]}
    assert tagged == {"x/device", "x/fails"}
    assert "`pip install numpy torch`" in "".join(cells[0]["source"])
    fixed = json.loads(re.sub(r",\s*}", "}", re.search(r"FIXED = ({.*?})", "".join(cells[1]["source"]), re.DOTALL)[1]))
    assert fixed.items() <= PINS.items()


def test_captured_text_cannot_act(cells: list[dict[str, Any]]) -> None:
    """In a stream it is text; in a sentence, a badge or a title no character of it is markup, mathematics included."""
    assert stream(cell(cells, "x/hostile")) == printable(HOSTILE) + "\n"
    prose = "".join(cells[2]["source"]) + "".join(cells[-1]["source"])
    shown = "".join(cell(cells, "x/hostile")["outputs"][0]["data"]["text/markdown"]).partition("[record](")[0]
    title = "".join("".join(item["source"]) for item in cells if item["cell_type"] == "markdown")
    for part in (prose, shown, title):
        assert "<script" not in part
        assert "javascript:b)" not in part
        assert "$2$" not in part
        assert "<b>" not in part
    assert "A &#42;chip&#42; &#60;b&#62;, &#36;2&#36;" in shown


def test_links_lead_on_from_the_page_and_from_the_file(book: Handbook) -> None:
    """On the site they are relative; a file leads to the site's address, or to the repository where there is none."""
    places = {
        "../../../": (
            "../../../#start",
            "../../../a/lesson/#more",
            "../../../assets/capture.css",
            "../../../captures/epyc",
        ),
        "https://site.example/b/": ("https://site.example/b/#start", "https://site.example/b/a/lesson/#more"),
        None: (
            "https://forge.example/me/blob/main/docs/index.md#start",
            "https://forge.example/me/blob/main/docs/assets/capture.css",
            "https://forge.example/me/blob/main/docs/captures/epyc/x/speed.yaml",
        ),
    }
    for base, wanted in places.items():
        text = text_of(book, base)
        for target in (*wanted, "https://example.org/a_b"):
            assert f"]({target}" in text, target
        if base != "../../../":
            assert "](.." not in text
            assert "](#" not in text


def test_blocks_of_the_site_become_what_notebooks_know(cells: list[dict[str, Any]]) -> None:
    """Folded blocks stay folded, admonitions are quotes, and code that looks like one is left alone."""
    text = "".join(cells[2]["source"])
    assert "<details>\n<summary>Is <code>a&lt;b</code> so?</summary>\n\nYes: 1.1.\n" in text
    assert "> **Mind**\n>\n> This.\n" in text
    assert '# ??? question "not one"' in "".join("".join(item["source"]) for item in cells)
    assert portable_lines(['??? note "A"', "", '    !!! tip "B"', "", "        text", "after"]) == [
        "<details>", "<summary>A</summary>", "", "> **B**", ">", "> text", "", "</details>", "", "after",
    ]  # fmt: skip
    assert portable_lines(['=== "Linux"', "", "    one", "", "text"]) == ["**Linux**", "", "one", "", "text"]


def test_figures_say_what_they_were_captured_on(cells: list[dict[str, Any]]) -> None:
    """A sentence holds the number, and the last cell its host."""
    assert "It is 7.3 times" in "".join(cells[2]["source"])
    last = "".join(cells[-1]["source"])
    assert "- `x/speed`: captured on AMD EPYC, AVX2, 2 vCPU &#40;virtual machine&#41;; torch 2.13.0+cpu" in last
    assert "- `x/speed`: captured on H200; torch 2.13.0+cpu; 29 Nov 2026" in last


@pytest.mark.parametrize("lesson", ["", "---\ntitle: A\n---\n", "No title\n", "```capture\nx/speed\n```\n"])
def test_any_page_can_be_a_notebook(tmp_path: Path, lesson: str) -> None:
    """Also one without a title, without text or without a snippet."""
    text = text_of(make(tmp_path, pages={"index.md": "# A\n", "a/lesson.md": lesson}))
    nbformat.validate(nbformat.reads(text, as_version=4))


def test_what_fences_draw_cannot_act_either(tmp_path: Path) -> None:
    """A table, a plot and a part of a card become Markdown of the notebook: names and values in them stay text."""
    fences = (
        "```capture-table\nhosts\n```\n\n```capture-table\nclaims\n```\n\n"
        "```capture-plot\nkind: bars\ntitle: <b>T</b>\nvalue: x/speed ratio = <i>\n```\n\n"
        '```capture lines="1"\nx/speed\n```\n\n```capture show="output"\nx/device\n```\n'
    )
    claims = {"much": {"says": "<b>much</b>", "holds": "ratio > 9"}}
    wild = script('print("ratio 7.3x")\n', title="[t](javascript:b)", values={"ratio": r"ratio (.+)x"}, claims=claims)
    book = make(
        tmp_path, snippets={**SNIPPETS, "x/speed": wild}, hosts=[host("epyc", HOSTILE)],
        records=[record("x/speed", "epyc", "ratio 7.3x\n", chip=HOSTILE)],
        pages={"index.md": "# Start\n", "a/lesson.md": f"# A lesson\n\n{fences}"},
    )  # fmt: skip
    shown = "".join(
        "".join(item["source"]) for item in json.loads(text_of(book))["cells"] if item["cell_type"] == "markdown"
    )
    assert shown.count("alert&#40;1&#41;") > 4
    for part in ("<script", "<b>", "<i>", "](javascript", "$x$", "`y`", "**b**"):
        assert part not in shown, part
