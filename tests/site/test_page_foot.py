"""The end of a page: when its text and its results are from, and its tags."""

from __future__ import annotations

import re
import subprocess
from html import unescape
from pathlib import Path

import pytest
from harness.handbooks import GATES, REPOSITORY, Handbook, host, make_handbook, record, script
from harness.project import environment
from harness.repositories import GIT
from harness.tables import rows

from capture.site.table.page_tags import Tag

SNIPPETS = {"x/all": script("print()"), "x/gpu": script("print()", needs=["cuda"])}
HOSTS = [host("zen", "Zen"), host("h200", "H200", "cuda"), host("local", "Mine")]
RECORDS = [
    record("x/all", "zen", captured="2026-10-01"),
    record("x/all", "h200", captured="2026-11-02", gates=GATES | {"cuda": True}),
    record("x/gpu", "h200", captured="2026-11-28", gates=GATES | {"cuda": True}),
    record("x/all", "local", captured="2026-11-29"),
]
PAGES = {
    "index.md": "# Start\n\nHello.\n",
    "a/one.md": "---\ntitle: One & all\ntags: [autocast, CUDA graphs]\n---\n\n# One\n\n```capture\nx/all\n```\n",
    "a/two.md": "---\ntags: autocast\n---\n\n# Two\n\n```capture\nx/gpu\n```\n",
    "reference/tags.md": "# Tags\n\n```capture-table\ntags\n```\n",
}
LONG_AGO = "2026-09-09T12:00:00Z"


def make(folder: Path) -> Handbook:
    """A handbook whose pages have topics."""
    return make_handbook(folder, SNIPPETS, HOSTS, RECORDS, PAGES)


def foot(book: Handbook, page: str) -> str:
    """Return the words at the end of a built page."""
    html = book.html(page)
    found = re.search(r'<footer class="capture-about">(.*?)</footer>', html, re.DOTALL)
    return " ".join(unescape(re.sub(r"<[^>]+>", "", found[1])).split()) if found else ""


def git(folder: Path, *arguments: str, day: str = LONG_AGO) -> None:
    """Run git as on some day."""
    days = {"GIT_COMMITTER_DATE": day, "GIT_AUTHOR_DATE": day}
    subprocess.run(["git", *arguments], cwd=folder, env=environment(GIT | days), check=True, timeout=60)


def commit(folder: Path, day: str) -> None:
    """Commit everything on some day."""
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "more", day=day)


def test_without_git_only_records_speak(tmp_path: Path) -> None:
    """A day that nobody knows is not made up; this machine's records take no part."""
    book = make(tmp_path)
    assert book.build().returncode == 0
    assert foot(book, "a/one/index.html").startswith(
        "Results captured between 1 Oct 2026 and 2 Nov 2026. Topics: autocast · CUDA graphs "
    )
    assert foot(book, "a/two/index.html").startswith("Results captured on 28 Nov 2026.")
    assert foot(book, "index.html") == ""


def test_each_tag_has_an_address_of_its_own() -> None:
    """Also where names differ in signs or letters that an address cannot hold; those without such stay readable."""
    names = ["c", "C++", "C#", "C*", "مضيف", "عربي", "é", "è", "CUDA graphs"]
    anchors = [Tag("topic", name).anchor for name in names]
    assert len(set(anchors)) == len(names)
    assert all(re.fullmatch(r"capture-tag-topic(-[a-z0-9]+)+", anchor) for anchor in anchors)
    assert anchors[-1] == "capture-tag-topic-cuda-graphs"
    assert Tag("chip", "H200 + AMD EPYC, AVX2, 2 vCPU").anchor == "capture-tag-chip-h200-amd-epyc-avx2-2-vcpu"


def test_chips_and_gates_come_from_records_and_scripts(tmp_path: Path) -> None:
    """Each tag of a page leads to its row among all, which lists the pages."""
    book = make(tmp_path)
    assert book.build().returncode == 0
    words = foot(book, "a/two/index.html")
    assert "Topics: autocast Some results need: cuda Captured on: H200 + AMD EPYC, AVX2, 2 vCPU" in words
    (address,) = re.findall(r'<a href="([^"]+)">cuda</a>', book.html("a/two/index.html"))
    page, _, anchor = address.partition("#")
    assert page == "../../reference/tags/"
    assert f'id="{anchor}"' in book.html("reference/tags/index.html")
    assert rows(book, "tags") == [
        ["tag", "kind", "pages"],
        ["autocast", "topic", "2 pages One & all Two"],
        ["CUDA graphs", "topic", "1 page One & all"],
        ["needs cuda", "gate", "1 page Two"],
        ["AMD EPYC, AVX2, 2 vCPU (virtual machine)", "chip", "1 page One & all"],
        ["H200 + AMD EPYC, AVX2, 2 vCPU (virtual machine)", "chip", "2 pages One & all Two"],
    ]


def test_the_end_of_a_page_is_not_searched(tmp_path: Path) -> None:
    """Chips would lead to every page; a topic is the author's word for the page and is found."""
    book = make(tmp_path)
    assert book.build().returncode == 0
    index = (tmp_path / "site/search/search_index.json").read_text("utf-8")
    assert "Results captured" not in index
    assert '"tags":["autocast"' in index.replace(", ", ",").replace(": ", ":")


def test_the_text_has_the_day_of_its_last_commit(tmp_path: Path) -> None:
    """A page that was edited and not committed has none; the sitemap has the newest of text and results."""
    book = make(tmp_path)
    git(tmp_path, "init", "-q")
    commit(tmp_path, LONG_AGO)
    book.write("docs/a/two.md", PAGES["a/two.md"] + "\nMore.\n")
    commit(tmp_path, "2026-12-01T23:30:00-05:00")
    book.write("docs/index.md", "# Start\n\nEdited.\n")
    assert book.build({"HANDBOOK_SITE_URL": "https://reader.example/"}).returncode == 0
    assert foot(book, "a/one/index.html").startswith("Text last changed 9 Sep 2026. Results captured between 1 Oct")
    assert foot(book, "a/two/index.html").startswith("Text last changed 2 Dec 2026. Results captured on 28 Nov 2026.")
    assert foot(book, "index.html") == ""
    sitemap = (tmp_path / "site/sitemap.xml").read_text("utf-8")
    assert re.findall(r"/a/(\w+)/</loc>\s*<lastmod>([^<]+)", sitemap) == [("one", "2026-11-02"), ("two", "2026-12-02")]
    assert not re.search(r"example/</loc>\s*<lastmod>", sitemap)


@pytest.mark.parametrize("depth", [1, 2])
def test_a_shallow_clone_says_only_what_it_knows(tmp_path: Path, depth: int) -> None:
    """What its oldest commit holds may be much older than that commit, so it gets no day."""
    book = make(tmp_path / "whole")
    git(book.root, "init", "-q")
    commit(book.root, LONG_AGO)
    book.write("docs/a/two.md", PAGES["a/two.md"] + "\nMore.\n")
    commit(book.root, "2026-12-01T12:00:00Z")
    book.write("docs/a/one.md", PAGES["a/one.md"] + "\nMore.\n")
    commit(book.root, "2026-12-02T12:00:00Z")
    git(tmp_path, "clone", "-q", "--depth", str(depth), f"file://{book.root}", "part")
    part = Handbook(tmp_path / "part")
    done = part.build({"CAPTURE_PUBLISH": "1"})
    assert done.returncode == 0, done.stderr
    known = foot(part, "a/one/index.html").startswith("Text last changed 2 Dec 2026.")
    assert known == (depth == 2)
    assert foot(part, "a/two/index.html").startswith("Results captured on")


def test_every_page_fetches_what_its_end_looks_like() -> None:
    """The style of tables comes with tables only, so nothing else may stand in it: no end of a page, no term."""
    styles = re.sub(
        r"/\*.*?\*/", "", (REPOSITORY / "capture/site/theme/assets/tables.css").read_text("utf-8"), flags=re.DOTALL
    )
    heads = [head.strip() for head in re.findall(r"([^{};]+)\{", styles) if not head.strip().startswith("@")]
    assert heads
    assert [head for head in heads if "capture-table" not in head and "data-table" not in head] == []
