"""What a page is known by, what search needs of it, and who shares the work."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest
from harness.handbooks import Handbook, host, make_handbook, record, script
from material.plugins.search.plugin import Parser

from capture.site import helper, kept
from capture.site.markdown import page_in_progress
from capture.site.model import site
from capture.site.page import search_text

FORKS = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
PAGE = """# Page

It counts `#!captured x/s1 count` and `#!captured x/s1 count@h200`.

```capture
x/s1
```
"""


@pytest.fixture
def book(tmp_path: Path) -> Handbook:
    """A handbook of one page and two hosts."""
    claims = {"positive": {"says": "it is positive", "holds": "count > 0"}}
    body = '"""Counts."""\n\nsourceword = 2\nprint("count", sourceword)\n'
    return make_handbook(
        tmp_path,
        snippets={"x/s1": script(body, title="Count", values={"count": r"count (\d+)"}, claims=claims)},
        hosts=[host("epyc", "EPYC"), host("h200", "H200", "cuda")],
        records=[record("x/s1", label, f"count {len(label)}\n") for label in ("epyc", "h200")],
        pages={"index.md": PAGE},
    )


def sections(html: str) -> list[object]:
    """Return what Material's search takes from a page."""
    parser = Parser()
    parser.feed(html)
    parser.close()
    return [
        (part.el.tag, part.id, "".join(part.title).strip(), "".join(part.text).strip())
        for part in parser.data if not part.is_excluded()
    ]  # fmt: skip


@pytest.mark.parametrize(
    "html",
    [
        "<p>One <span class=\"cap-value cap-value--current\"><a href='#x' title='a'>7.3</a></span> two</p>",
        '<p>\n<span class="cap-value">7</span> <span class="cap-value">8</span>\n</p>',
        '<h2 id="a">Of <span class="cap-value">7</span> parts</h2><p>x</p>',
        '<div class="capture__badge" data-search-exclude><div>inner</div>still</div><p>after</p>',
        '<p data-search-exclude>gone<p>kept</p>',
        '<footer class="capture__foot" data-search-exclude>gone</footer> and <i>kept</i>',
        '<pre><code><span class="k">def</span> <span>x</span>\n<a id="__codelineno-0-1"></a>y</code></pre>',
        "<pre><code>&lt;div data-search-exclude&gt; kept &lt;/div&gt;</code></pre>",
        '<section>\n<code class="capture__path" data-search-exclude>a/<wbr>b</code>\n<b>t</b>\n</section>',
    ],
)  # fmt: skip
def test_search_takes_the_same_from_less(html: str) -> None:
    """What is left out is what the parser would have passed over, blanks included."""
    html = f'<h1 id="top">Title</h1>{html}'
    assert sections(search_text.reduced(html)) == sections(html)


def test_a_rendered_card_gives_the_same_entries_from_less_than_half(book: Handbook) -> None:
    """The parts of a card that its template excludes are most of its tags."""
    html, problems = book.page(PAGE)
    assert problems == []
    less = search_text.reduced(html)
    assert sections(less) == sections(html)
    assert less.count("<") < html.count("<") / 2


def test_what_a_page_is_known_by(book: Handbook) -> None:
    """A plot, or a faulty fence, is drawn each time; a page is known by its parts, and a table by its rows."""
    known = site.load(book.book)

    def facts(text: str) -> list[str] | None:
        return kept.facts(page_in_progress.Visit(known, page_in_progress.Page("docs/a.md", text, "../")), text)

    assert facts("```capture-plot\nvalues: x/s1 count\n```\n") is None
    assert facts("```capture-table\ngone\n```\n") is None
    (said,) = facts("```capture-table\nhosts\n```\n") or ()
    assert "H200" in said
    assert facts("```capture\nx/gone\n```\n") is None
    assert facts("`#!captured x/s1 gone`\n") is None
    assert facts("Only prose, and\n\n```python\nx = 1\n```\n") == []
    found = facts(PAGE)
    assert found is not None and len(found) == 3


def test_what_has_no_plain_form_is_not_kept() -> None:
    """A key is made of plain data, paths and names of functions that are ours; of anything else it cannot be told."""
    text = '{"a": "x", "b": [1, "capture.site.kept.digest"]}'
    assert kept.canonical({"b": [1, kept.digest], "a": Path("x")}) == text
    with pytest.raises(TypeError):
        kept.canonical({"a": object()})
    with pytest.raises(TypeError):
        kept.canonical({"a": len})
    assert kept.parted(kept.joined({"n": 1}, "one", "t\nwo"), 2) == ({"n": 1}, ["one", "t\nwo"])
    assert kept.parted("{", 0) is None
    assert kept.parted(json.dumps([1]), 0) is None
    assert kept.parted(kept.joined({}, "a\0b"), 1) is None


@FORKS
def test_a_helper_gives_what_it_made_or_nothing() -> None:
    """It comes from the end; what it did not begin, or did not live to finish, is left to its parent."""

    def work(number: int) -> str:
        if number == 2:
            raise SystemExit
        return f"item {number}"

    one = helper.Helper(6, lambda: None, work)
    assert one.first_done()
    end = time.monotonic() + 30
    while one.lives() and time.monotonic() < end:  # asked any earlier, it might not have begun the item yet
        time.sleep(0.01)
    assert one.result(5) == "item 5"
    assert [one.result(number) for number in (3, 4)] == ["item 3", "item 4"]
    assert [one.result(number) for number in (2, 1, 0)] == ["", "", ""]
    assert not one.lives()
    one.close()


@FORKS
def test_a_helper_that_fails_at_first_is_no_help() -> None:
    """Its parent sees that and does everything."""

    def fail() -> None:
        raise OSError

    one = helper.Helper(3, fail, str)
    assert not one.first_done()
    assert one.result(2) == ""
    one.close()


@pytest.mark.parametrize("what", ["os.fork", "tempfile.TemporaryFile", "mmap.mmap"])
def test_where_no_process_can_be_had_there_is_none(monkeypatch: pytest.MonkeyPatch, what: str) -> None:
    """No process left for the user, no folder for files of a moment, no memory: this process does all itself."""

    def refuse(*_: object, **__: object) -> object:
        raise FileNotFoundError("none")

    monkeypatch.setattr(what, refuse)
    assert helper.begin(3) is None


@FORKS
def test_a_result_for_which_there_is_no_room_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """Half of a page is no page: the other process makes it."""
    monkeypatch.setattr("os.pwrite", lambda file, data, at: len(data) - 1)
    one = helper.Helper(2, work=lambda number: "x" * 10)
    assert [one.result(number) for number in (1, 0)] == ["", ""]
    one.close()
