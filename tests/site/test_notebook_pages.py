"""The pages of notebooks, as MkDocs builds them and as a browser shows them; and the notebooks of this handbook."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import nbformat
import pytest
from harness.browsers import CONTRAST, find, serve, sideways, size, wait
from harness.lessons import BOOK, LESSON, LESSONS, PAGES, RECORDS, SNIPPETS, downloads, make, said, stream
from nbclient import NotebookClient

from capture.errors import CaptureError
from capture.site.model import site
from capture.site.notebook import notebook_pages

if TYPE_CHECKING:
    from selenium.webdriver.remote.webdriver import WebDriver

FOUNDING = [lesson for lesson in LESSONS if lesson.split("/")[0] in ("instruments", "debugging")]


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


def test_a_page_in_the_place_of_a_notebook_is_named(tmp_path: Path) -> None:
    """Neither takes the place of the other unsaid."""
    known = site.from_catalogue(make(tmp_path).catalogue(), site.Settings(notebooks=("a/*.md",)))
    lessons, problems = notebook_pages.chosen_lessons(known, ["a/index.md", "a/b.md", "a/notebook.md"])
    assert lessons == ["a/b.md", "a/notebook.md"]
    assert [str(problem) for problem in problems] == [
        "docs/a/notebook.md: a lesson's notebook has this address; give the page another name"
    ]


@pytest.mark.parametrize("value", ["instruments/*.md", [1], {"a": "b"}])
def test_a_setting_that_is_no_list_of_pages_is_refused(value: object) -> None:
    """With what to write instead."""
    with pytest.raises(CaptureError, match=r"extra.capture.notebooks must be a list of pages, such as \[instruments"):
        site.parse_settings({"extra": {"capture": {"notebooks": value}}})


def test_without_the_converter_the_build_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A handbook without notebooks does not need it."""
    monkeypatch.setattr(notebook_pages, "CONVERTER_PACKAGES", ("no-such-converter",))
    known = site.from_catalogue(make(tmp_path).catalogue(), site.Settings("epyc"))
    assert notebook_pages.lesson_notebooks(known, {}, None) == []
    with pytest.raises(CaptureError, match=r'needs no-such-converter, .* pip install -e "\.\[site\]"'):
        notebook_pages.lesson_notebooks(known, {"a/lesson.md": LESSON}, None)


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
    known = site.read_site(BOOK, local=False)
    lessons, problems = notebook_pages.chosen_lessons(known, LESSONS)
    assert problems == []
    assert lessons == FOUNDING
    for lesson, text in downloads(lessons).items():
        cells = json.loads(text)["cells"]
        scripts = [item for item in cells if "capture" in item["metadata"]]
        assert len(scripts) > 2, lesson
        for item in scripts:
            assert said(item).startswith(("captured on AMD EPYC, AVX512", "Not captured on any host here: needs cuda"))
        everything = "".join("".join(item["source"]) for item in cells if item["cell_type"] == "markdown")
        assert "#!captured" not in everything
        assert "```capture" not in everything
        assert re.findall(r"\]\((?!https?:)", everything) == []


@pytest.mark.slow
@pytest.mark.parametrize("lesson", FOUNDING)
def test_a_downloaded_notebook_runs_unchanged(lesson: str) -> None:
    """From the first cell to the last, in one kernel with torch; what needs a device ends alone, others print."""
    executed = nbformat.reads(downloads([lesson])[lesson], as_version=4)
    NotebookClient(executed, timeout=300, kernel_name="python3").execute()
    for item in executed.cells:
        if "capture" in item.metadata:
            failed = any(part.output_type == "error" for part in item.outputs)
            assert not failed or item.metadata.get("tags") == ["raises-exception"]
            assert failed or stream(item)
            assert "captured on" not in said(item)
