"""The cache of parsed files: unchanged files are not parsed again, and nothing in it can make an answer wrong."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from harness.checks import RECORD, SPEED, clean_handbook, edit, found
from harness.handbooks import Handbook, script
from harness.project import Project
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from capture.check import rules
from capture.snippet import header
from capture.store import cache, records
from capture.store.catalogue import Catalogue


@pytest.fixture
def book(tmp_path: Path) -> Handbook:
    """A handbook in which nothing is to be found."""
    return clean_handbook(tmp_path)


def kept(folder: Path) -> list[Path]:
    """Return the cache files."""
    return sorted(path for path in folder.rglob("*") if path.is_file())


def said(cat: Catalogue) -> object:
    """Return what a catalogue says; syntax trees equal only themselves."""
    snippets = [
        (item.id, item.digest, item.title, item.values, item.lines, [claim.holds.text for claim in item.claims])
        for item in cat.snippets.values()
    ]
    return snippets, cat.records, cat.hosts, cat.problems


def counted(patch: pytest.MonkeyPatch, module: Any, name: str) -> list[object]:
    """Count the calls of a function."""
    calls: list[object] = []
    real: Callable[..., Any] = getattr(module, name)

    def counting(*arguments: object) -> object:
        calls.append(arguments)
        return real(*arguments)

    patch.setattr(module, name, counting)
    return calls


def test_what_is_unchanged_is_not_parsed_again(book: Handbook, monkeypatch: pytest.MonkeyPatch) -> None:
    """A second reading gives the same and parses neither YAML nor TOML, and no record's form is checked twice."""
    first, clean = book.catalogue(), found(book)
    calls = [
        counted(monkeypatch, module, name)
        for module, name in ((records, "load"), (header, "tables"), (rules, "_check_record_file"))
    ]
    assert said(book.catalogue()) == said(first)
    assert found(book) == clean
    assert [len(made) for made in calls] == [2, 0, 0]  # the host's own file is parsed each time


def test_what_has_changed_is_parsed(book: Handbook) -> None:
    """An edit of a record, of a header, or of a helper beside a snippet is seen at once."""
    before = book.catalogue()
    assert found(book).problems == ()
    edit(book, RECORD, "slowdown 42.7x", "slowdown 47.2x")
    assert [problem.rule for problem in found(book).problems] == ["digest"]
    book.write("snippets/a/speed.py", SPEED.replace("A title", "Another"))
    assert book.catalogue().snippets["a/speed"].title == "Another"
    book.write("snippets/a/speed.py", script("import helper\n"))
    book.write("snippets/a/helper.py", "x = 1\n")
    one = book.catalogue().snippets["a/speed"]
    book.write("snippets/a/helper.py", "x = 2\n")
    two = book.catalogue().snippets["a/speed"]
    assert len({before.snippets["a/speed"].digest, one.digest, two.digest}) == 3


def test_a_copied_record_is_still_a_misplaced_one(book: Handbook) -> None:
    """The same content under another name is known to the cache, and refused for its name with its line."""
    text = (book.root / RECORD).read_text("utf-8")
    book.catalogue()
    book.write("snippets/a/other.py", SPEED)
    book.write("docs/captures/epyc/a/other.yaml", text)
    (problem,) = book.catalogue().problems
    assert (problem.path, problem.line, problem.rule) == ("docs/captures/epyc/a/other.yaml", 2, "path")


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_damaged_cache_is_never_wrong(book: Handbook, own_cache: Path, data: st.DataObject) -> None:
    """Bytes changed, cut off or added anywhere: the answer is the same."""
    for path in kept(own_cache):
        path.unlink()
    whole, clean = book.catalogue(), found(book)
    for path in kept(own_cache):
        content = bytearray(path.read_bytes())
        place = data.draw(st.integers(0, len(content) - 1))
        how = data.draw(st.sampled_from(["change", "cut", "add", "garbage"]))
        if how == "change":
            content[place] ^= data.draw(st.integers(1, 255))
        elif how == "cut":
            del content[place:]
        elif how == "add":
            content[place:place] = data.draw(st.binary(min_size=1, max_size=20))
        path.write_bytes(data.draw(st.binary(max_size=200)) if how == "garbage" else bytes(content))
    again = book.catalogue()
    assert said(again) == said(whole)
    assert found(book) == clean


def test_another_tool_has_its_own_reading(book: Handbook, own_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What an edited or newer tool would read otherwise is parsed again."""
    book.catalogue()
    monkeypatch.setattr(cache, "tool", lambda: "1" * 64)
    calls = counted(monkeypatch, header, "tables")
    book.catalogue()
    assert len(calls) == 1
    assert all(path.read_bytes().startswith(b"1" * 64) for path in kept(own_cache) if path.name != "checked")


@pytest.mark.parametrize("name", ["check/rules.py", "site/templates/card.html.j2", "site/templates/new.html.j2"])
def test_an_edited_tool_is_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Its templates belong to it as well: what they made of a card is not what they make now."""
    copy = tmp_path / "capture"
    shutil.copytree(cache.PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(cache, "PACKAGE", copy)
    tool = cache.tool.__wrapped__
    before = tool()
    assert tool() == before
    with (copy / name).open("a") as file:
        file.write("\n")
    assert tool() != before


def test_nothing_is_kept_in_the_handbook(tmp_path: Path) -> None:
    """A pull request cannot plant a cache, and git sees no new file."""
    project = Project(tmp_path)
    project.snippet("a/one", 'print("1")')
    assert project.capture("run").code == 0
    for command in ("run", "check", "status"):
        assert project.capture(command).untouched


@pytest.mark.parametrize("kind", ["off", "a-file", "read-only", "missing-parent"])
def test_a_cache_that_cannot_be_is_done_without(
    book: Handbook, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """Turned off, or where nothing can be written: every command answers as ever."""
    place = tmp_path.parent / f"{tmp_path.name}-{kind}"
    if kind == "a-file":
        place.write_text("not a folder")
    if kind == "read-only":
        place.mkdir(mode=0o500)
    monkeypatch.setenv(cache.VARIABLE, "" if kind == "off" else str(place / "deeper" if kind != "a-file" else place))
    assert found(book).problems == ()
    assert found(book).problems == ()
    assert (kind == "missing-parent") <= bool(kept(place) if place.is_dir() else [])


FOLDERS = {
    "linux": ({"HOME": "/home/u"}, "/home/u/.cache/captured-handbook"),
    "xdg": ({"HOME": "/home/u", "XDG_CACHE_HOME": "/c"}, "/c/captured-handbook"),
    "relative": ({"XDG_CACHE_HOME": "c"}, None),
    "homeless": ({}, None),
    "named": ({"HOME": "/home/u", cache.VARIABLE: "/c"}, "/c"),
    "off": ({"HOME": "/home/u", cache.VARIABLE: ""}, None),
}


@pytest.mark.parametrize(("environment", "expected"), FOLDERS.values(), ids=list(FOLDERS))
def test_the_folder_is_the_users(
    environment: dict[str, str], expected: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It follows the platform's custom; without a home nothing is kept."""
    monkeypatch.setattr("sys.platform", "linux")
    assert cache.folder(environment) == (Path(expected) if expected else None)


def test_what_json_cannot_hold_is_made_each_time(tmp_path: Path) -> None:
    """A header with a date of another tool is read as ever."""
    for _ in range(2):
        with cache.Cache(tmp_path, "part") as known:
            assert known.recall("k", lambda: {1, 2}) == {1, 2}
            assert known.recall("l", lambda: [1.5, None]) == [1.5, None]


def test_a_cache_does_not_grow_for_ever(tmp_path: Path, own_cache: Path) -> None:
    """What another branch used stays for a while; what nobody uses goes."""
    for turn in range(10):
        with cache.Cache(tmp_path, "part") as known:
            for number in range(5):
                known.recall(f"{turn}-{number}", lambda: "x")
    (path,) = kept(own_cache)
    assert len(path.read_bytes().splitlines()) <= 1 + 5 * (1 + cache.SPARE)


def test_the_cache_of_a_forgotten_handbook_is_removed(
    tmp_path: Path, own_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After some weeks; the next one that is written sees to it."""
    with cache.Cache(tmp_path / "forgotten", "part") as known:
        known.recall("k", lambda: "x")
    (old,) = kept(own_cache)
    now = old.stat().st_mtime
    monkeypatch.setattr("time.time", lambda: now + cache.OLD + 60)
    with cache.Cache(tmp_path / "new", "part") as known:
        known.recall("k", lambda: "x")
    assert len(kept(own_cache)) == 1
    assert not old.exists()
