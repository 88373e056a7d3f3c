"""What search reads of a page: less than the page, and the same entries."""

from __future__ import annotations

from pathlib import Path

import pytest
from harness.handbooks import Handbook, host, make_handbook, record, script
from material.plugins.search.plugin import Parser

from capture.site.page import search_text

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
