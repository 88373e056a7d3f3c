"""Lessons as notebooks: cells filled from records, a badge at each output, text that cannot act, links that lead on."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import nbformat
import pytest
from browsers import CONTRAST, find, serve, sideways, size, wait
from handbooks import REPOSITORY, STALE, Handbook, host, make_handbook, record, script
from nbclient import NotebookClient

from capture import store
from capture.environment import PINS
from capture.render import notebook, pages, site, tour, visit
from capture.render.blocks import unfolded
from capture.render.text import printable

if TYPE_CHECKING:
    from selenium.webdriver.remote.webdriver import WebDriver

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
LESSONS = [path.relative_to(REPOSITORY / "docs").as_posix() for path in pages.page_paths(BOOK)]


def make(folder: Path, **changes: Any) -> Handbook:
    """Write the handbook of this module."""
    made = {"snippets": SNIPPETS, "hosts": HOSTS, "records": RECORDS, "pages": PAGES, "notebooks": ["a/*.md"]}
    return make_handbook(folder, **{**made, **changes})


@pytest.fixture(scope="module")
def book(tmp_path_factory: pytest.TempPathFactory) -> Handbook:
    """A handbook with one lesson that is a notebook."""
    return make(tmp_path_factory.mktemp("book"))


def text_of(book: Handbook, base: str | None = "../../../") -> str:
    """Return the notebook of the lesson as a file's text."""
    known = site.of(book.catalogue(), site.Settings("epyc", "https://forge.example/me/"))
    words = (book.root / "docs/a/lesson.md").read_text("utf-8")
    return notebook.text(visit.Visit(known, visit.Page("docs/a/lesson.md", words, base)))


@pytest.fixture(scope="module")
def cells(book: Handbook) -> list[dict[str, Any]]:
    """The cells of the notebook."""
    found: list[dict[str, Any]] = json.loads(text_of(book))["cells"]
    return found


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
    assert unfolded(['??? note "A"', "", '    !!! tip "B"', "", "        text", "after"]) == [
        "<details>", "<summary>A</summary>", "", "> **B**", ">", "> text", "", "</details>", "", "after",
    ]  # fmt: skip
    assert unfolded(['=== "Linux"', "", "    one", "", "text"]) == ["**Linux**", "", "one", "", "text"]


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


def test_pages_of_notebooks(tmp_path: Path) -> None:
    """A build adds the page and the file; the page is small, asks for nothing elsewhere, and search leaves it out."""
    book = make(tmp_path)
    done = book.build(env={"HANDBOOK_SITE_URL": "https://site.example/b/"})
    assert done.returncode == 0, done.stderr
    built = tmp_path / "site"
    page, file = book.html("a/lesson/notebook/index.html"), built / "a/lesson/notebook/a-lesson.ipynb"
    assert len(page) < 80_000
    nbformat.validate(nbformat.read(file, as_version=4))
    assert 'href="../../../assets/notebook.css"' in page
    assert '<link rel="canonical" href="https://site.example/b/a/lesson/"' in page
    article = page[page.index("<article") : page.index("</article>")]
    for banned in ("<style", "<script", "<svg", "cdnjs", "mathjax", "Untitled"):
        assert banned not in article.partition("</h1>")[2]
    assert article.count("captured on</strong>") == 1 + 5
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in article
    assert "\\x1b[31m" in article
    assert re.search(r'<pre class="notebook__stdout" tabindex="0" role="group" aria-label="Output">ratio 7.3x', article)
    assert '<h2 id="more">More<a class="headerlink" href="#more"' in article
    assert '<a href="#more" class="md-nav__link">' in page
    lesson = book.html("a/lesson/index.html")
    for source, targets in ((lesson, ("notebook/", "notebook/a-lesson.ipynb")), (page, ("../", "a-lesson.ipynb"))):
        for target in targets:
            assert f'<a href="{target}"' in source
    index = (built / "search/search_index.json").read_text("utf-8")
    assert "notebook" not in index
    assert "notebook" not in (built / "sitemap.xml").read_text("utf-8")
    assert "https://site.example/b/a/lesson/</loc>" in (built / "sitemap.xml").read_text("utf-8")


def test_a_pattern_that_fits_no_page_ends_the_build(tmp_path: Path) -> None:
    """And says where it stands."""
    done = make(tmp_path, notebooks=["b/*.md"]).build()
    assert done.returncode == 1
    assert re.search(r'mkdocs.yml:\d+: extra.capture.notebooks: "b/\*.md" fits no page under docs/', done.stderr)


@pytest.mark.browser
def test_a_page_of_a_notebook_in_a_browser(tmp_path: Path, driver: WebDriver) -> None:
    """Readable in both schemes, as wide as a telephone, with copy buttons, and without a request to another host."""
    plain = {key: text for key, text in SNIPPETS.items() if key != "x/long"}  # else every line of it is measured
    words = PAGES["a/lesson.md"].replace("```capture\nx/long\n```\n", "")
    book = make(tmp_path, snippets=plain, records=RECORDS[:-1], pages={**PAGES, "a/lesson.md": words})
    assert book.build().returncode == 0
    server = serve(tmp_path / "site")
    try:
        driver.get_log("performance")
        size(driver, 390)
        for scheme in ("light", "dark"):
            feature = {"name": "prefers-color-scheme", "value": scheme}
            driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})
            driver.get(f"http://127.0.0.1:{server.server_port}/a/lesson/notebook/")
            driver.execute_script("for (const one of document.querySelectorAll('details')) one.open = true")
            assert sideways(driver)[0] <= 0
            assert wait(lambda: driver.execute_script(CONTRAST) == {} and "readable") == "readable"
        assert wait(lambda: find(driver, ".highlight button[data-md-type=copy]").get_attribute("title"))
        find(driver, "p.notebook-links a").click()
        assert wait(lambda: driver.current_url.endswith("/a/lesson/"))
        asked = [json.loads(entry["message"])["message"] for entry in driver.get_log("performance")]
        addresses = [one["params"]["request"]["url"] for one in asked if one["method"] == "Network.requestWillBeSent"]
        assert len(addresses) > 5
        assert {address.split("/")[2] for address in addresses if address.startswith("http")} == {
            f"127.0.0.1:{server.server_port}"
        }
    finally:
        server.shutdown()


def test_the_founding_lessons_are_notebooks() -> None:
    """All pages of the two founding chapters, each of their scripts filled or with the reason why not."""
    known = site.load(BOOK, local=False)
    lessons, problems = tour.chosen(known, LESSONS)
    assert problems == []
    assert lessons == [lesson for lesson in LESSONS if lesson.split("/")[0] in ("instruments", "debugging")]
    for lesson, cells in filled(lessons).items():
        scripts = [item for item in cells if "capture" in item["metadata"]]
        assert len(scripts) > 2, lesson
        for item in scripts:
            assert said(item).startswith(("captured on AMD EPYC, AVX512", "Not captured on any host here: needs cuda"))
        everything = "".join("".join(item["source"]) for item in cells if item["cell_type"] == "markdown")
        assert "#!captured" not in everything
        assert "```capture" not in everything
        assert re.findall(r"\]\((?!https?:)", everything) == []


def filled(lessons: list[str]) -> dict[str, list[dict[str, Any]]]:
    """Return the cells of the files that readers of the real site download."""
    known = site.load(BOOK, local=False)
    found = {}
    for lesson in lessons:
        words = (REPOSITORY / "docs" / lesson).read_text("utf-8")
        here = visit.Visit(known, visit.Page(f"docs/{lesson}", words))
        found[lesson] = json.loads(notebook.text(here))["cells"]
    return found


@pytest.mark.slow
@pytest.mark.parametrize(
    "lesson", ["instruments/index.md", "instruments/autocast.md", "instruments/memory.md", "debugging/index.md"]
)
def test_a_downloaded_notebook_runs_unchanged(lesson: str) -> None:
    """From the first cell to the last, in one kernel with torch; what needs a device ends alone, others print."""
    known = site.load(BOOK, local=False)
    words = (REPOSITORY / "docs" / lesson).read_text("utf-8")
    text = notebook.text(visit.Visit(known, visit.Page(f"docs/{lesson}", words)))
    executed = nbformat.reads(text, as_version=4)
    NotebookClient(executed, timeout=300, kernel_name="python3").execute()
    for item in executed.cells:
        if "capture" in item.metadata:
            failed = any(part.output_type == "error" for part in item.outputs)
            assert not failed or item.metadata.get("tags") == ["raises-exception"]
            assert failed or stream(item)
            assert "captured on" not in said(item)
