"""A site of which nothing has changed since it was built is left as it is; whatever changes, it is built."""

from __future__ import annotations

import datetime
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from handbooks import Handbook
from mkdocs.config import load_config
from test_site_speed import edited, hook, made

from capture.errors import CaptureError
from capture.render import unchanged
from capture.store import exclusive, footprint

LEFT = "Nothing has changed since site was built"
LATER = datetime.datetime.now(datetime.UTC) + datetime.timedelta(hours=1)


@pytest.fixture
def book(tmp_path: Path) -> Handbook:
    """A handbook of a few pages, in a repository."""
    book = made(tmp_path, 2)
    commit(book)
    return book


def commit(book: Handbook) -> None:
    """Commit all there is."""
    who = ["-c", "user.name=t", "-c", "user.email=t@example.org"]
    for words in (["init", "-q"], ["add", "."], [*who, "commit", "-qm", "All", "--allow-empty"]):
        subprocess.run(["git", *words], cwd=book.root, check=True)


def key(book: Handbook, now: datetime.datetime = LATER, **options: object) -> str | None:
    """Return what stands for all that the site is made of."""
    found = unchanged.made(load_config(str(book.root / "mkdocs.yml"), **options), book.root / "hooks", now)
    return found.key if found else None


def files(book: Handbook) -> dict[str, tuple[int, int]]:
    """Return when each file of the site was written, and which file it is."""
    site = book.root / "site"
    return {
        str(path.relative_to(site)): (path.stat().st_mtime_ns, path.stat().st_ino)
        for path in site.rglob("*")
        if path.is_file()
    }


def test_what_was_built_is_left(book: Handbook) -> None:
    """Once its sources have settled: the second build says so, writes nothing and succeeds; the next edit is built."""
    first = book.build()
    assert (first.returncode, LEFT in first.stderr) == (0, False)
    time.sleep(footprint.COARSE + 0.2)
    assert LEFT not in book.build().stderr  # the first was of files so young that they could have changed unseen
    before = files(book)
    again = book.build()
    assert (again.returncode, LEFT in again.stderr) == (0, True), again.stderr
    assert files(book) == before
    for damage in (lost, foreign, changed, emptied):
        damage(book.root / "site")
        built = book.build()
        assert (built.returncode, LEFT in built.stderr) == (0, False)
        assert files(book).keys() == before.keys()
        assert LEFT in book.build().stderr
    edited("docs/a/p0.md", "It counts", "It counted")(book)
    assert LEFT not in book.build().stderr
    assert "It counted" in book.html("a/p0/index.html")


def lost(site: Path) -> None:
    """Remove a file of a site."""
    (site / "a" / "p0" / "index.html").unlink()


def foreign(site: Path) -> None:
    """Put a file into a site that is none of its own."""
    (site / "a" / "other.html").write_text("")


def emptied(site: Path) -> None:
    """Put a folder into a site in which there is nothing."""
    (site / "a" / "empty").mkdir()


def changed(site: Path) -> None:
    """Change a file of a site."""
    (site / "a" / "p0" / "index.html").write_text("")


def test_a_warning_is_told_by_every_build(book: Handbook) -> None:
    """A site about which something was said is never left: who builds it again hears it again."""
    book.write("docs/a/p0.md", "# Page\n\n[Lost](nowhere.md)\n")
    time.sleep(footprint.COARSE + 0.2)
    for _ in range(2):
        assert "nowhere.md" in book.mkdocs("build").stderr


@pytest.mark.parametrize("how", [("build", "--dirty"), ("build", "--quiet"), ("build", "-v")])
def test_other_ways_to_build_are_not_kept_from_it(book: Handbook, how: tuple[str, ...]) -> None:
    """Whoever builds quietly or with every detail, or leaves stale files, gets what he asks for."""
    time.sleep(footprint.COARSE + 0.2)
    assert book.build().returncode == 0
    before = files(book)
    assert LEFT not in book.mkdocs(*how).stderr
    assert files(book) != before


EDITS: dict[str, Callable[[Handbook], object]] = {
    "a page": edited("docs/a/p0.md", "It counts", "It counted"),
    "a new page": lambda book: book.write("docs/a/new.md", "# New\n"),
    "a lost page": lambda book: (book.root / "docs/a/p1.md").unlink(),
    "a page in a folder for bytecode": lambda book: book.write("docs/__pycache__/page.md", "# New\n"),
    "a picture": lambda book: book.write("docs/assets/new.svg", "<svg/>"),
    "a snippet": edited("snippets/x/s0.py", "Counts to 0", "Counted to 0"),
    "a record": edited("docs/captures/h200/x/s0.yaml", "outputword", "otherword"),
    "a host": edited("docs/captures/h200/host.yaml", "title: H200", "title: Other"),
    "a template": edited("overrides/main.html", "{% block extrahead %}", "{% block extrahead %}<!-- new -->"),
    "a setting": edited("mkdocs.yml", "site_name: The captured", "site_name: My captured"),
    "the list of addresses": lambda book: book.write("published.txt", "/a/\n"),
    "our own hooks": edited("hooks/mkdocs_hooks.py", '"""What only', '"""All that only'),
    "a commit, which dates pages": lambda book: subprocess.run(
        ["git", "-c", "user.name=t", "-c", "user.email=t@x", "commit", "-q", "--amend", "--no-edit"],
        cwd=book.root,
        env=os.environ | {"GIT_COMMITTER_DATE": "2020-01-02T12:00:00Z"},
        check=True,
    ),
    "git's index, by which an edit is told": lambda book: subprocess.run(
        ["git", "rm", "-q", "--cached", "docs/a/p0.md"], cwd=book.root, check=True
    ),
}


@pytest.mark.parametrize("change", EDITS.values(), ids=list(EDITS))
def test_whatever_changes_is_built(book: Handbook, change: Callable[[Handbook], object]) -> None:
    """Any file that takes part in a site, and the history that tells when its pages were changed."""
    before = key(book)
    assert before == key(book)
    assert before
    time.sleep(0.02)  # a time of the file system's clock may stand for so long
    change(book)
    assert key(book) != before


@pytest.mark.parametrize("name", ["HANDBOOK_SITE_URL", "CAPTURE_PUBLISH", "CAPTURE_ADDRESSES", "SOURCE_DATE_EPOCH"])
def test_a_variable_is_part_of_it(book: Handbook, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """An address, what is published, the date that is shown; how many processes work is none of it."""
    monkeypatch.setenv("CAPTURE_ONE_PROCESS", "1")
    one = key(book)
    monkeypatch.delenv("CAPTURE_ONE_PROCESS")
    monkeypatch.delenv(name, raising=False)
    assert key(book) == one
    before = key(book)
    monkeypatch.setenv(name, "https://example.org/" if name.endswith("URL") else "1700000000")
    assert key(book) != before


def test_day_tool_packages_and_options_are_part_of_it(book: Handbook, monkeypatch: pytest.MonkeyPatch) -> None:
    """A sitemap has the day; an edited template, a newer Material, another folder or theme colour change pages."""
    found = [key(book), key(book, LATER + datetime.timedelta(days=1)), key(book, site_dir=str(book.root / "other"))]
    found += [key(book, use_directory_urls=False)]
    monkeypatch.setattr("capture.store.inputs.tool", lambda: "1" * 64)
    found.append(key(book))
    monkeypatch.setattr("capture.store.inputs.installed", lambda: ["another"])
    found.append(key(book))
    assert len(set(found)) == len(found)
    assert all(found)


def test_what_is_not_known_is_built(book: Handbook, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A plugin, extension, hook, formatter, file of settings or linked folder of which nobody knows what it reads."""
    config = book.root / "mkdocs.yml"
    text = config.read_text("utf-8")
    strange = {
        "plugin": text.replace("  - redirects:", "  - privacy\n  - redirects:"),
        "extension": text.replace("  - admonition", "  - admonition\n  - pymdownx.snippets"),
    }
    for name, other in strange.items():
        assert other != text, name
        config.write_text(other, "utf-8")
        assert key(book) is None, name
    config.write_text(text, "utf-8")
    assert key(book)
    own = text.replace("capture.render.fence.formatter", "own.formatter")
    book.write("own.py", "def formatter(*_, **__): return ''\n")
    config.write_text(own, "utf-8")
    monkeypatch.syspath_prepend(str(book.root))
    assert key(book) is None
    config.write_text(text, "utf-8")
    (book.root / "docs" / "more").symlink_to(tmp_path.parent)
    assert key(book) is None
    (book.root / "docs" / "more").unlink()
    hook(book, "own", "")
    assert key(book) is None


def test_young_sources_are_not_settled(book: Handbook) -> None:
    """What was written just now may be written again unseen; a minute later it may not."""
    config, folder = load_config(str(book.root / "mkdocs.yml")), book.root / "hooks"
    found = [unchanged.made(config, folder, when) for when in (datetime.datetime.now(datetime.UTC), LATER)]
    assert [item.settled for item in found if item] == [False, True]


def test_records_are_part_of_it_wherever_the_pages_are(book: Handbook) -> None:
    """With pages in another folder the records stay where they are."""
    book.write("pages/index.md", "# Start\n")
    edited("mkdocs.yml", "site_name:", "docs_dir: pages\nsite_name:")(book)
    before = key(book)
    assert before
    (book.root / "docs/captures/h200/x/s0.yaml").unlink()
    assert key(book) != before


def test_settings_of_another_file_are_part_of_it(book: Handbook) -> None:
    """What mkdocs.yml inherits decides as well, patterns of pages included."""
    config = book.root / "mkdocs.yml"
    text = config.read_text("utf-8")
    config.write_text(f"INHERIT: ../{book.root.name}-base.yml\n{text}", "utf-8")
    base, found = book.root.parent / f"{book.root.name}-base.yml", []
    for line in ("", "copyright: x", "exclude_docs: a.md", "exclude_docs: b.md", "exclude_docs: '!b.md'"):
        base.write_text(f"{line}\n")
        found.append(key(book))
    assert all(found)
    assert len(set(found)) == len(found)


@pytest.mark.parametrize("name", ["exclude_docs", "draft_docs", "not_in_nav"])
def test_a_variable_in_a_pattern_is_part_of_it(book: Handbook, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Which pages there are may come from the environment."""
    edited("mkdocs.yml", "site_name:", f'{name}: !ENV [QX, "a.md"]\nsite_name:')(book)
    before = key(book)
    monkeypatch.setenv("QX", "b.md")
    assert before
    assert key(book) != before


def test_two_builds_into_one_folder_follow_each_other(book: Handbook) -> None:
    """The second waits for the first, and says so; afterwards the site is whole, and the second finds it built."""
    edited("mkdocs.yml", "site_name: The captured", "site_name: My captured")(book)
    time.sleep(footprint.COARSE + 0.2)
    lock = exclusive.hold(book.root / "site", lambda _: None)
    assert lock is not None
    command = [sys.executable, "-m", "mkdocs", "build", "--strict"]
    waiting = subprocess.Popen(command, cwd=book.root, stderr=subprocess.PIPE, text=True)
    assert waiting.stderr
    assert "Waiting up to 30 s for another build that writes into site/" in waiting.stderr.readline()
    assert exclusive.release(lock, book.root / "site")
    said = waiting.communicate()[1]
    assert (waiting.returncode, LEFT in said) == (0, False)
    assert LEFT in book.build().stderr


def test_a_build_that_goes_on_is_not_waited_for_for_ever(tmp_path: Path) -> None:
    """Who comes second is told what to do; a folder that was replaced meanwhile is not the one that was locked."""
    told: list[str] = []
    lock = exclusive.hold(tmp_path / "site", told.append)
    assert lock is not None
    with pytest.raises(CaptureError, match="another build writes into site/; let it end, or end it, then build again"):
        exclusive.hold(tmp_path / "site", told.append, patience=0.3)
    assert len(told) == 1
    (tmp_path / "site").rename(tmp_path / "old")
    (tmp_path / "site").mkdir()
    assert not exclusive.release(lock, tmp_path / "site")
    again = exclusive.hold(tmp_path / "old", told.append)
    assert again is not None
    assert exclusive.release(again, tmp_path / "old")
    assert len(told) == 1


def test_without_such_a_lock_nothing_is_remembered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on Windows: each build is a whole one."""
    monkeypatch.setitem(sys.modules, "fcntl", None)
    assert exclusive.hold(tmp_path / "site", lambda _: None) is None


def test_a_template_that_shows_the_time_is_made_each_time(book: Handbook, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of Material's none does; of a site's own one may, and then its pages are another at each build."""
    assert key(book)
    edited("overrides/main.html", "{% block extrahead %}", "{% block extrahead %}<!-- at {{ build_date_utc }} -->")(
        book
    )
    assert key(book) is None
    for seconds, day in (("1000000000", "2001-09-09"), ("1200000000", "2008-01-10")):
        assert book.build({"SOURCE_DATE_EPOCH": seconds}).returncode == 0
        assert f"<!-- at {day}" in book.html("a/p0/index.html")
