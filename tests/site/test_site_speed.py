"""What makes a build fast changes nothing: the same site to the byte, whatever was kept of earlier builds."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from harness.handbooks import Handbook, host, make_handbook, record, script

from capture.site import helper
from capture.store import cache

COUNT = 24
HOSTS = [host("epyc", "EPYC"), host("h200", "H200", "cuda")]
SPEED = "hooks/mkdocs_speed.py"


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
    """A handbook that tests build again and again, whose pages two processes share."""
    assert COUNT >= helper.FEWEST
    return made(tmp_path_factory.mktemp("book"))


def hook(book: Handbook, name: str, text: str) -> None:
    """Give a handbook one more file of hooks."""
    book.write(f"hooks/{name}.py", text)
    config = (book.root / "mkdocs.yml").read_text("utf-8")
    book.write("mkdocs.yml", config.replace(f", {SPEED}", f", {SPEED}, hooks/{name}.py"))


def built(book: Handbook, **env: str) -> dict[str, bytes]:
    """Build the site anew and return its files; what is packed by the second of the clock is left out."""
    shutil.rmtree(book.root / "site", ignore_errors=True)
    done = book.build(env)
    assert done.returncode == 0, done.stdout + done.stderr
    site_dir = book.root / "site"
    files = sorted(path for path in site_dir.rglob("*") if path.is_file() and path.suffix != ".gz")
    return {path.relative_to(site_dir).as_posix(): path.read_bytes() for path in files}


def slowly(book: Handbook) -> dict[str, bytes]:
    """Build the site without anything that makes it fast."""
    config = book.root / "mkdocs.yml"
    text = config.read_text("utf-8")
    assert SPEED in text
    config.write_text(text.replace(f", {SPEED}", ""), "utf-8")
    try:
        return built(book, **{cache.VARIABLE: ""})
    finally:
        config.write_text(text, "utf-8")


def differing(one: dict[str, bytes], other: dict[str, bytes]) -> list[str]:
    """Name the files that differ."""
    return sorted(name for name in {*one, *other} if one.get(name) != other.get(name))


def damage(path: Path) -> None:
    """Change one byte in the middle of a file."""
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def test_what_is_kept_and_who_helps_changes_nothing(book: Handbook, own_cache: Path) -> None:
    """Without the tricks, with nothing kept, alone, with everything kept, and with a damaged cache: one site."""
    plain = slowly(book)
    assert len([name for name in plain if name.endswith("index.html")]) > COUNT
    cold = built(book)
    kept_files = {path.name: path for path in own_cache.rglob("*") if path.is_file()}
    assert {"pages", "outputs", "templates"} <= kept_files.keys()
    warm = built(book)
    for name in ("pages", "outputs", "templates"):
        damage(kept_files[name])
    assert [differing(plain, other) for other in (cold, warm, built(book), built(book, CAPTURE_ONE_PROCESS="1"))] == [
        []
    ] * 4


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
    "a template": edited("overrides/main.html", "{% block extrahead %}", "{% block extrahead %}<!-- new -->"),
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
            wrong[name] = differing(slowly(book), fast)
    assert set(map(tuple, wrong.values())) == {()}, wrong


def test_a_fault_is_told_by_every_build(tmp_path: Path) -> None:
    """A page with a fault is never kept: what is wrong with it is said again."""
    book = made(tmp_path, 3)
    book.write("docs/a/p0.md", page(0, 3).replace("x/s0\n", "x/gone\n") + "\n[Lost](nowhere.md)\n")
    for _ in range(2):
        done = book.mkdocs("build")
        assert 'no snippet "x/gone"' in done.stderr
        assert "nowhere.md" in done.stderr


def test_a_quiet_build_keeps_nothing_that_it_did_not_see(tmp_path: Path) -> None:
    """With --quiet no warning is heard, so that a page may have had one."""
    book = made(tmp_path, 3)
    book.write("docs/a/p0.md", page(0, 3) + "\n[Lost](nowhere.md)\n")
    assert book.mkdocs("build", "--quiet").returncode == 0
    assert "nowhere.md" in book.mkdocs("build").stderr


@pytest.mark.parametrize(("limit", "found"), [(300, True), (3, False)])
def test_past_a_number_of_pages_sources_are_not_searched(tmp_path: Path, limit: int, found: bool) -> None:
    """Their text leaves the index; titles, prose and output stay in it, and the page shows the source as ever."""
    book = made(tmp_path, 3)
    hook(book, "limit", f"from capture.render import searchable\n\nsearchable.SOURCES_UP_TO = {limit}\n")
    assert book.build().returncode == 0
    index = (book.root / "site/search/search_index.json").read_text("utf-8")
    assert ("sourceword1" in index) is found
    assert all(word in index for word in ("outputword", "Count 1", "It counts"))
    assert "sourceword1" in book.html("a/p1/index.html")


WRAPPED = """
def on_config(config):
    make = config.theme.get_env

    def env():
        made = make()
        made.filters["upper"] = lambda text: "mine" + text
        return made

    config.theme.get_env = env
"""
LATE = """
from mkdocs.plugins import event_priority

@event_priority(1000)
def on_post_page(output, **_):
    return output + "VALUE"
"""
REMOVED = "def on_env(env, files, **_):\n    files.remove(files.get_file_from_path('captures/h200/x/s1.yaml'))\n"
HOOKS = {
    "a filter, where an environment is made": WRAPPED,
    "what it adds to each page, before anybody": LATE,
    "a file that is not copied": REMOVED,
    "what templates are compiled with": "def on_env(env, **_):\n    env.trim_blocks = env.lstrip_blocks = True\n",
    "a filter": "def on_env(env, **_):\n    env.filters['upper'] = lambda text: 'mine' + text\n",
}


@pytest.mark.parametrize("text", HOOKS.values(), ids=list(HOOKS))
def test_another_hook_may_change_anything(tmp_path: Path, text: str) -> None:
    """Nothing is compiled, rendered or copied before it had its say, nor kept: the site is the one that it makes."""
    book = made(tmp_path, 2)
    edited("overrides/main.html", "{% block extrahead %}", "{% block extrahead %}<!-- {{ 'abc' | upper }} -->")(book)
    before = built(book)
    hook(book, "own", text)
    plain = slowly(book)
    assert differing(before, plain)
    assert [differing(plain, built(book)) for _ in range(2)] == [[], []]


def test_what_another_hook_does_beside_is_done_once(tmp_path: Path) -> None:
    """A second process would do it again; and of a formatter that is not ours nothing is kept."""
    book = made(tmp_path)
    hook(book, "own", "def on_page_markdown(markdown, **_):\n    open('log.txt', 'a').write('x')\n")
    assert len(built(book)) > COUNT
    assert len((book.root / "log.txt").read_text()) == len(list((book.root / "site").rglob("index.md")))
    formatter = "def formatter(source, *_, **__):\n    return '<p>ONE</p>'\n"
    book.write("own/form.py", formatter)
    config = (book.root / "mkdocs.yml").read_text("utf-8")
    name = "- { name: own, class: own, format: !!python/name:own.form.formatter }"
    book.write("mkdocs.yml", config.replace("custom_fences:\n", f"custom_fences:\n        {name}\n"))
    book.write("docs/a/p0.md", f"{page(0)}\n```own\n```\n")
    for word in ("ONE", "TWO"):
        book.write("own/form.py", formatter.replace("ONE", word))
        assert word in built(book)["a/p0/index.html"].decode()
