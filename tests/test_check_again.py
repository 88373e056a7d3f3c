"""`capture check` over files of which none has changed says what it said, reads nothing, and is never wrong."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from checks import RECORD, clean_handbook, edit
from handbooks import Handbook
from test_cache import counted, kept
from typer.testing import CliRunner

from capture.check import verdict
from capture.check.verdict import asked
from capture.cli import examination
from capture.cli.app import app
from capture.render import pages
from capture.store import footprint, read_site_config

PAGE = "# Page\n\nIt is `#!captured a/speed slowdown` and typed: 17.3 ms. <!-- typed: an example -->\n"


@pytest.fixture
def book(tmp_path: Path) -> Handbook:
    """A handbook with a page, in a repository."""
    made = clean_handbook(tmp_path)
    made.write("docs/page.md", PAGE)
    for words in (["init", "-q"], ["add", "."], ["-c", "user.name=t", "-c", "user.email=t@x", "commit", "-qm", "All"]):
        subprocess.run(["git", *words], cwd=made.root, check=True)
    return made


@pytest.fixture
def settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if every file had been there for long."""
    monkeypatch.setattr(footprint, "COARSE", -60)


def checked(book: Handbook, *options: str) -> tuple[int, str, str]:
    """Run `capture check` in this process and return its exit code and what it said."""
    done = CliRunner().invoke(app, ["--root", str(book.root), "check", *options])
    code = getattr(done.exception, "exit_code", done.exit_code)
    return code, done.stdout, f"{done.stderr}{done.exception or ''}"


def key(book: Handbook) -> str | None:
    """Return what stands for all that a check reads."""
    found = asked(book.book, ["pages"])
    return found.key if found else None


@pytest.mark.usefixtures("settled")
@pytest.mark.parametrize("wrong", [False, True])
def test_the_same_is_said_again(book: Handbook, monkeypatch: pytest.MonkeyPatch, wrong: bool) -> None:
    """Lines, places and exit code, with and without problems, as text and as annotations; no rule runs again."""
    if wrong:
        edit(book, RECORD, "slowdown 42.7x", "slowdown 47.2x")
    first, marked = checked(book), checked(book, "--format", "github")
    assert first[0] == (2 if wrong else 0)
    assert ("::error file=docs/captures" in marked[1]) is wrong
    assert "figures typed on purpose" in first[1]
    calls = counted(monkeypatch, examination, "of")
    assert [checked(book), checked(book, "--format", "github")] == [first, marked]
    assert calls == []


@pytest.mark.usefixtures("settled")
def test_other_options_are_another_question(book: Handbook, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stale records of one host, or records alone: each is looked at, and an unknown host is refused each time."""
    calls = counted(monkeypatch, examination, "of")
    for options in ([], ["--records-only"], ["--strict-stale", "epyc"]):
        assert checked(book, *options) == checked(book, *options)
    assert len(calls) == 3
    for _ in range(2):
        code, _, said = checked(book, "--strict-stale", "epic")
        assert (code, 'did you mean "epyc"?' in said) == (2, True)


def touch_index(book: Handbook) -> None:
    """Let git's index say something else while no file of the handbook changes."""
    subprocess.run(["git", "rm", "-q", "--cached", RECORD], cwd=book.root, check=True)


EDITS: dict[str, Callable[[Handbook], object]] = {
    "a page": lambda book: book.write("docs/page.md", PAGE + "More.\n"),
    "a new page": lambda book: book.write("docs/deep/page.md", "# New\n"),
    "a record": lambda book: book.write(RECORD, (book.root / RECORD).read_text("utf-8") + "\n"),
    "an empty folder": lambda book: (book.root / "docs/schema").mkdir(),
    "a stray file": lambda book: book.write("docs/captures/epyc/notes.txt", "x"),
    "a host": lambda book: (book.root / "docs/captures/epyc/host.yaml").unlink(),
    "a snippet": lambda book: (book.root / "snippets/a/speed.py").unlink(),
    "a file beside a snippet": lambda book: book.write("snippets/a/data.csv", "1\n"),
    "a setting": lambda book: book.write("mkdocs.yml", "site_name: other\n"),
    "git's index": touch_index,
    "git's settings": lambda book: subprocess.run(["git", "config", "core.bare", "true"], cwd=book.root, check=True),
}


@pytest.mark.parametrize("change", EDITS.values(), ids=list(EDITS))
def test_whatever_changes_is_looked_at(book: Handbook, change: Callable[[Handbook], object]) -> None:
    """Any file that a rule reads, and git's index, which alone knows of an open merge."""
    before = key(book)
    assert before == key(book)
    assert before
    time.sleep(0.02)
    change(book)
    assert key(book) != before


def test_another_tool_or_package_looks_again(book: Handbook, monkeypatch: pytest.MonkeyPatch) -> None:
    """An edited rule, or another version of Markdown, may say something else."""
    before = key(book)
    monkeypatch.setattr("capture.store.inputs.tool", lambda: "1" * 64)
    edited = key(book)
    monkeypatch.setattr("capture.store.inputs.installed", lambda: ["another"])
    assert len({before, edited, key(book)}) == 3


SPELLINGS = {
    "a list": '!ENV [QA, QB, ""]',
    "over two lines": "!ENV [QA,\n      QB, epyc]",
    "a block, with an anchor": "!ENV &a\n      - QB\n      - epyc",
    "a mark in quotes": '!ENV ["A #x", QB, epyc]',
    "an escaped tag": "!%45NV [QB, epyc]",
    "a verbatim tag": "!<!ENV> [QB, epyc]",
}


@pytest.mark.usefixtures("settled")
@pytest.mark.parametrize("spelling", SPELLINGS.values(), ids=list(SPELLINGS))
def test_a_variable_that_mkdocs_yml_names_is_part_of_it(
    book: Handbook, monkeypatch: pytest.MonkeyPatch, spelling: str
) -> None:
    """However YAML lets one name it: another value is looked at, and any other variable is none of it."""
    text = (book.root / "mkdocs.yml").read_text("utf-8")
    book.write("mkdocs.yml", f"{text[: text.index('extra:')]}extra:\n  capture:\n    default_host: {spelling}\n")
    calls = counted(monkeypatch, examination, "of")
    assert checked(book) == checked(book)
    monkeypatch.setenv("HANDBOOK_OTHER", "1")
    assert checked(book)[0] == 0
    assert len(calls) == 1
    monkeypatch.setenv("QB", "nosuch")
    assert 'no host "nosuch"' in checked(book)[2]
    assert 'no host "nosuch"' in checked(book)[2]
    assert len(calls) == 2


def test_another_way_to_git_looks_again(book: Handbook, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where git is told of another repository or index, it may know of another merge."""
    found = [key(book)]
    for name in ("GIT_DIR", "GIT_INDEX_FILE"):
        monkeypatch.setenv(name, str(book.root / ".git" / ("index" if "INDEX" in name else "")))
        found.append(key(book))
    assert len(set(found)) == 3


def test_a_faulty_mkdocs_yml_is_told(book: Handbook) -> None:
    """No memory is asked where it is no text, and records can be checked all the same."""
    (book.root / "mkdocs.yml").write_bytes(b"site_name: \xe9\n")
    code, _, said = checked(book)
    assert (code, "mkdocs.yml: is not UTF-8" in said) == (2, True)
    assert checked(book, "--records-only")[0] == 0


def test_what_changed_just_now_is_not_trusted(book: Handbook, own_cache: Path) -> None:
    """A file could change once more within what its file system takes for one moment: nothing is kept."""
    assert checked(book)[0] == 0
    assert [path.name for path in kept(own_cache) if path.name == "verdict"] == []


@pytest.mark.usefixtures("settled")
@pytest.mark.parametrize(
    "config",
    [
        "markdown_extensions: [pymdownx.snippets]\n",
        "markdown_extensions:\n  - pymdownx.snippets: { base_path: .. }\n",
        "extra: { capture: { verification: build/verified.json } }\n",
    ],
)
def test_what_reads_other_files_is_read_each_time(book: Handbook, own_cache: Path, config: str) -> None:
    """Extensions that include files, and a verification that a build brings along."""
    text = (book.root / "mkdocs.yml").read_text("utf-8")
    if "extra" in config:
        text = text[: text.index("extra:")]
    else:
        text = text[: text.index("markdown_extensions:")]
    assert pages.read_nothing_else(read_site_config(book.book))
    book.write("mkdocs.yml", text + config)
    assert not pages.read_nothing_else(read_site_config(book.book))
    checked(book)
    assert [path.name for path in kept(own_cache) if path.name == "verdict"] == []


@pytest.mark.usefixtures("settled")
def test_a_damaged_memory_is_done_without(book: Handbook, own_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Bytes that are no verdict, or one of another form: everything is looked at."""
    first = checked(book)
    (path,) = [path for path in kept(own_cache) if path.name == "verdict"]
    whole = path.read_bytes()
    path.write_bytes(whole[:-20])
    calls = counted(monkeypatch, examination, "of")
    assert checked(book) == first
    found = asked(book.book, [], ["records", "pages"])
    assert found
    for text in ("[]", "{}", '{"problems": [[1]], "notes": [], "counted": "", "variables": {}}', "no JSON"):
        with verdict.store.Cache(book.root, "verdict") as cache:
            cache.put(found.key, text)
        assert checked(book) == first
    assert len(calls) == 5


def test_nothing_is_kept_where_a_folder_is_a_link(book: Handbook) -> None:
    """What is behind it could change unseen."""
    (book.root / "docs" / "more").symlink_to(os.devnull if os.name == "nt" else "/usr")
    assert asked(book.book) is None
