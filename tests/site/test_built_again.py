"""Builds again and again: the same site to the byte, whatever was kept of earlier builds, and every edit shows."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from harness.handbooks import Handbook, host, make_handbook, record, script

from capture.site.page.search_text import SOURCES_UP_TO
from capture.store import cache

COUNT = 24
HOSTS = [host("epyc", "EPYC"), host("h200", "H200", "cuda")]


def snippet(number: int) -> str:
    """Return a script with a value and a claim."""
    claims = {"positive": {"says": "it is positive", "holds": "count > 0"}}
    body = f'"""Counts to {number}."""\n\nsourceword{number} = {number + 1}\nprint("count", sourceword{number})\n'
    return script(body, title=f"Count {number}", values={"count": r"count (\d+)"}, claims=claims)


def page(number: int, count: int = COUNT) -> str:
    """Return a page with a card, values, a link to another page's section, a footnote and code of its own."""
    following = f"p{(number + 1) % count}.md#more"
    return f"""---
title: Page {number}
description: A page.
---

# Page {number}

It counts `#!captured x/s{number} count` and `#!captured x/s{number} count@h200`, see [next]({following}).[^1]

```capture
x/s{number}
```

## More {{ #more }}

=== "Tab"

    ```python
    x = {number}
    ```

[^1]: A note.
"""


def made(folder: Path, count: int = COUNT) -> Handbook:
    """Return a handbook of some pages."""
    ids = [f"x/s{number}" for number in range(count)]
    pages = {f"a/p{number}.md": page(number, count) for number in range(count)}
    return make_handbook(
        folder,
        snippets={key: snippet(number) for number, key in enumerate(ids)},
        hosts=HOSTS,
        records=[
            record(key, item.label, f"count {number + 1}\noutputword\n")
            for number, key in enumerate(ids) for item in HOSTS
        ],
        pages={"index.md": "# Start\n\nHello.\n", **pages},
    )  # fmt: skip


@pytest.fixture(scope="module")
def book(tmp_path_factory: pytest.TempPathFactory) -> Handbook:
    """A handbook that tests build again and again."""
    return made(tmp_path_factory.mktemp("book"))


def built(book: Handbook, **env: str) -> dict[str, bytes]:
    """Build the site anew and return its files; what is packed by the second of the clock is left out."""
    shutil.rmtree(book.root / "site", ignore_errors=True)
    done = book.build(env)
    assert done.returncode == 0, done.stdout + done.stderr
    site_dir = book.root / "site"
    files = sorted(path for path in site_dir.rglob("*") if path.is_file() and path.suffix != ".gz")
    return {path.relative_to(site_dir).as_posix(): path.read_bytes() for path in files}


def afresh(book: Handbook) -> dict[str, bytes]:
    """Build the site with nothing kept of earlier builds."""
    return built(book, **{cache.VARIABLE: ""})


def differing(one: dict[str, bytes], other: dict[str, bytes]) -> list[str]:
    """Name the files that differ."""
    return sorted(name for name in {*one, *other} if one.get(name) != other.get(name))


def damage(path: Path) -> None:
    """Change one byte in the middle of a file."""
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def test_what_is_kept_changes_nothing(book: Handbook, own_cache: Path) -> None:
    """With nothing kept, with highlighted sources kept, and with a damaged cache: one site."""
    plain = afresh(book)
    assert len([name for name in plain if name.endswith("index.html")]) > COUNT
    cold = built(book)
    (kept,) = own_cache.rglob("highlighted")
    warm = built(book)
    damage(kept)
    assert [differing(plain, other) for other in (cold, warm, built(book))] == [[]] * 3


def test_a_style_of_highlighting_that_counts_blocks_is_not_kept(tmp_path: Path, own_cache: Path) -> None:
    """Its HTML depends on the blocks before it, so that each page is coloured anew."""
    book = made(tmp_path, 3)
    edited("mkdocs.yml", "linenums_style: pymdownx-inline", "linenums_style: pymdownx-inline, anchor_linenums: true")(
        book
    )
    first = built(book)
    assert "__codelineno" in first["a/p0/index.html"].decode()
    book.write("docs/a/p0.md", page(0, 3).replace("# Page 0", "# Page 0\n\n    ```python\n    y = 1\n    ```\n"))
    assert differing(afresh(book), built(book)) == []
    assert list(own_cache.rglob("highlighted")) == []


def edited(path: str, old: str, new: str) -> Callable[[Handbook], object]:
    """Return an edit of a file of the handbook."""

    def edit(book: Handbook) -> None:
        text = (book.root / path).read_text("utf-8")
        assert old in text
        book.write(path, text.replace(old, new))

    return edit


EDITS = {
    "prose": edited("docs/a/p3.md", "It counts", "It counted"),
    "a title, which other pages show": edited("docs/a/p4.md", "title: Page 4", "title: Renamed 4"),
    "a section that another page links to": edited("docs/a/p6.md", "## More { #more }", "## More\n\n<a id='more'></a>"),
    "a record": lambda book: book.keep(record("x/s5", "h200", "count 77\n")),
    "a newer torch, which makes others stale": lambda book: book.keep(
        record("x/s7", "epyc", "count 8\n", torch="2.99.0+cpu")
    ),
    "a snippet's title": edited("snippets/x/s8.py", "Count 8", "Counting 8"),
    "the title of a host": lambda book: book.write(
        "docs/captures/h200/host.yaml",
        (book.root / "docs/captures/h200/host.yaml").read_text("utf-8").replace("title: H200", "title: Other"),
    ),
    "a setting": edited("mkdocs.yml", "site_name: The captured", "site_name: My captured"),
    "an option of Markdown": edited("mkdocs.yml", "toc: { permalink: true }", "toc: { permalink: false }"),
}


def test_every_edit_shows(book: Handbook) -> None:
    """Whatever is edited: a build from what was kept before is the same as one that starts afresh."""
    before = built(book)
    wrong = {}
    for name, edit in EDITS.items():
        edit(book)
        fast = built(book)
        assert differing(before, fast), name
        before = fast
        if name in ("a record", "the title of a host", "an option of Markdown"):  # each covers those before it
            wrong[name] = differing(afresh(book), fast)
    assert set(map(tuple, wrong.values())) == {()}, wrong


def test_a_fault_is_told_by_every_build(tmp_path: Path) -> None:
    """What is wrong with a page is said again."""
    book = made(tmp_path, 3)
    book.write("docs/a/p0.md", page(0, 3).replace("x/s0\n", "x/gone\n") + "\n[Lost](nowhere.md)\n")
    for _ in range(2):
        done = book.mkdocs("build")
        assert 'no snippet "x/gone"' in done.stderr
        assert "nowhere.md" in done.stderr


@pytest.mark.parametrize(("extra", "found"), [(0, True), (SOURCES_UP_TO, False)])
def test_past_a_number_of_pages_sources_are_not_searched(tmp_path: Path, extra: int, found: bool) -> None:
    """Their text leaves the index; titles, prose and output stay in it, and the page shows the source as ever."""
    book = made(tmp_path, 3)
    more = {f"a/more{number}.md": f"# More {number}\n" for number in range(extra)}
    for path, text in more.items():
        book.write(f"docs/{path}", text)
    config = (book.root / "mkdocs.yml").read_text("utf-8")
    book.write("mkdocs.yml", config + "".join(f"  - {path}\n" for path in more))
    assert book.build().returncode == 0
    index = (book.root / "site/search/search_index.json").read_text("utf-8")
    assert ("sourceword1" in index) is found
    assert all(word in index for word in ("outputword", "Count 1", "It counts"))
    assert "sourceword1" in book.html("a/p1/index.html")
