"""A lesson that is a notebook too, with a script for each state; and the lessons of this handbook."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from capture import store
from capture.site.markdown import handbook_pages, page_in_progress
from capture.site.model import site
from capture.site.notebook import notebook
from harness.handbooks import REPOSITORY, STALE, Handbook, host, make_handbook, record, script

HOSTILE = "<script>alert(1)</script> <style>*{}</style> [a](javascript:b) $x$ `y` \x1b[31m ]]> </pre> **b** _c_ &lt;"
SNIPPETS = {
    "x/speed": script('"""Times a thing."""\n\nprint("ratio 7.3x")\n', title="Speed", values={"ratio": r"ratio (.+)x"}),
    "x/hostile": script('"""Prints."""\n', title="<b>T</b>", values={"all": "(<script>.*)"}, env={"A": "it's $B {c}"}),
    "x/ends": script('"""Ends."""\n\nraise SystemExit(3)\n', title="Ends", exit=3, dependencies=["numpy"]),
    "x/device": script('"""Asks."""\n', title="Device", needs=["cuda"]),
    "x/fails": script('"""Fails."""\n', title="Fails"),
    "x/long": script('"""Long."""\n', title="Long"),
}
RECORDS = [
    record("x/speed", "epyc", "ratio 7.3x\n"),
    record("x/speed", "h200", "ratio 1.1x\n", chip="H200"),
    record("x/hostile", "epyc", f"{HOSTILE}\n", stderr="warned <i>\n", chip="A *chip* <b>, $2$"),
    record("x/ends", "epyc", "", stderr="over\n", exit_code=3),
    record("x/fails", "epyc", "half\n", status="error", exit_code=1, source_sha256=STALE),
    record("x/long", "epyc", "".join(f"line {number}\n" for number in range(5000))),
]
LESSON = """---
title: A lesson
---

# A lesson

It is `#!captured x/speed ratio` times; [other](../index.md#start), [here](#more), [file](../assets/capture.css),
[out](https://example.org/a_b), and `#!captured x/hostile all`.

??? question "Is `a<b` so?"

    Yes: `#!captured x/speed ratio@h200`.

    ```capture show="output"
    x/speed
    ```

!!! note "Mind"

    This.

```capture
x/speed
```

## More

```python
# ??? question "not one"
```

"""
FENCES = "\n".join(f"```capture\n{key}\n```\n" for key in SNIPPETS if key != "x/speed")
PAGES = {"index.md": "# Start\n\nHello.\n", "a/lesson.md": LESSON + FENCES}
HOSTS = [host("epyc", "EPYC"), host("h200", "H200", "cuda")]


BOOK = store.Handbook(REPOSITORY)
LESSONS = [path.relative_to(REPOSITORY / "docs").as_posix() for path in handbook_pages.page_paths(BOOK)]


def make(folder: Path, **changes: Any) -> Handbook:
    """Write the handbook of this module."""
    made = {"snippets": SNIPPETS, "hosts": HOSTS, "records": RECORDS, "pages": PAGES, "notebooks": ["a/*.md"]}
    return make_handbook(folder, **{**made, **changes})


def text_of(book: Handbook, base: str | None = "../../../") -> str:
    """Return the notebook of the lesson as a file's text."""
    known = site.from_catalogue(book.catalogue(), site.Settings("epyc", "https://forge.example/me/"))
    words = (book.root / "docs/a/lesson.md").read_text("utf-8")
    return notebook.notebook_text(
        page_in_progress.PageInProgress(known, page_in_progress.PageSource("docs/a/lesson.md", words, base))
    )


def cell(cells: list[dict[str, Any]], key: str) -> dict[str, Any]:
    """Return the code cell of a snippet."""
    (found,) = [item for item in cells if item["metadata"].get("capture") == key]
    return found


def said(item: dict[str, Any]) -> str:
    """Return what the handbook says beside the output of a cell, as plain text."""
    return "\n".join("".join(part["data"]["text/plain"]) for part in item["outputs"] if "data" in part)


def stream(item: dict[str, Any], name: str = "stdout") -> str:
    """Return what a cell printed."""
    return "".join("".join(part["text"]) for part in item["outputs"] if part.get("name") == name)


def downloads(lessons: list[str]) -> dict[str, str]:
    """Return the files that readers of the real site download."""
    known = site.read_site(BOOK, local=False)
    found = {}
    for lesson in lessons:
        words = (REPOSITORY / "docs" / lesson).read_text("utf-8")
        here = page_in_progress.PageInProgress(known, page_in_progress.PageSource(f"docs/{lesson}", words))
        found[lesson] = notebook.notebook_text(here)
    return found
