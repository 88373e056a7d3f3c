"""`capture diff` on real git repositories: which states it compares, and what it does with what is no plain file."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from harness.handbooks import record
from harness.properties import rows
from harness.repositories import GIT
from harness.revisions import OTHER, PLAIN, RECORD, Compared, copy, fill, upgraded


@pytest.fixture
def book(tmp_path: Path) -> Compared:
    """A repository with one commit: one snippet, one host, one record."""
    return copy(tmp_path / "book")


def test_the_working_tree_is_compared_with_a_revision(book: Compared) -> None:
    """HEAD without a word, else the revision named; what is not committed counts, also where git does not know it."""
    first = book.identity("HEAD")
    clean = book.diff()
    assert (clean.code, clean.err) == (0, "")
    assert clean.out == f"HEAD ({first[:10]}) -> working tree: no capture differs\n"
    upgraded(book)
    changed = book.diff()
    assert changed.code == 1
    assert "text changed" in changed.out and "torch 2.13.0+cpu -> 2.14.1+cpu" in changed.out
    second = book.commit()
    assert book.diff().code == 0
    assert book.diff(first).out.startswith(f"{first[:10]} -> working tree: 1 capture differs")
    book.write("snippets/a/two.py", OTHER)
    book.keep(record("a/two", stdout="a 2\n"))
    assert "newly captured" in book.diff(second).out


def test_two_revisions_are_compared(book: Compared) -> None:
    """BASE..HEAD says what one holds beside the other, BASE...HEAD what one side did since both parted."""
    base = book.identity("HEAD")
    book.git("switch", "-q", "-c", "topic")
    book.write("snippets/a/topic.py", PLAIN)
    book.keep(record("a/topic", stdout="a 1\n"))
    book.commit()
    book.git("switch", "-q", "main")
    upgraded(book)
    book.commit()
    two = book.diff("main..topic")
    assert two.out.startswith("main (") and "-> topic (" in two.out
    assert "a/topic on epyc" in two.out and "text changed" in two.out
    three = book.diff("main...topic")
    assert f"{base[:10]} -> topic (" in three.out
    assert "newly captured" in three.out and "text changed" not in three.out
    assert book.diff("..topic").out.startswith("HEAD (")
    assert "newly captured" in book.diff("main~1..topic").out
    assert book.diff("topic..").out == book.diff("topic..HEAD").out
    assert book.diff("..").code == 0


def test_revisions_do_not_depend_on_the_working_tree(book: Compared) -> None:
    """Neither what is edited nor what is staged is part of a revision."""
    upgraded(book)
    book.commit()
    before = book.diff("HEAD~1..HEAD").out
    book.write(RECORD, "<<<<<<< ours\n")
    book.write("mkdocs.yml", "site_name: [\n")
    book.git("add", "-A")
    (book.root / "snippets/a/one.py").unlink()
    assert book.diff("HEAD~1..HEAD").out == before


def test_without_a_repository(tmp_path: Path) -> None:
    """git says why, in one line; without a commit that is said."""
    book = Compared(tmp_path / "book")
    fill(book)
    empty = book.diff()
    assert (empty.code, empty.err) == (
        2,
        "nothing is committed yet, so there is nothing to compare with; commit once\n",
    )
    shutil.rmtree(book.root / ".git")
    outside = book.diff()
    assert outside.code == 2
    assert outside.err.startswith("git rev-parse: not a git repository")
    assert len(outside.err.splitlines()) == 1


def test_without_git(book: Compared, tmp_path: Path) -> None:
    """Where git is not installed the command says what it is needed for."""
    result = book.capture("diff", env={**GIT, "PATH": str(tmp_path / "nothing")})
    assert (result.code, result.err) == (2, "git is not installed; it is what knows the other revision\n")


def test_a_handbook_in_a_folder_of_the_repository(tmp_path: Path) -> None:
    """Only its own files count, and paths are told from its root, whatever the folder is called."""
    top = tmp_path / "repository"
    book = Compared(top / "työ kansio" / "book", top)
    fill(book)
    (top / "docs/captures/epyc").mkdir(parents=True)
    (top / "docs/captures/epyc/host.yaml").write_text("not ours\n")
    first = book.commit()
    upgraded(book)
    assert "text changed             a/one on epyc: torch 2.13.0+cpu -> 2.14.1+cpu" in book.diff().out
    book.commit()
    assert book.diff(f"{first}..HEAD", cwd=book.root / "snippets").code == 1
    book.write(RECORD, book.read(RECORD).replace("  a 2\n", "  a 3\n"))
    assert f"  {RECORD}:" in book.diff().out


def test_a_base_from_before_the_handbook(tmp_path: Path) -> None:
    """A revision without snippets and captures is an empty handbook: all is new."""
    book = Compared(tmp_path / "book")
    (book.root / "mkdocs.yml").unlink()
    (book.root / "README").write_text("x\n")
    first = book.commit()
    book.write("mkdocs.yml", "site_name: test\n")
    fill(book)
    result = book.diff(first)
    assert (result.code, result.err) == (1, "")
    assert "newly captured           a/one on epyc: new host epyc" in result.out


def index(book: Compared, mode: str, path: str, text: str = "") -> None:
    """Commit an entry of any mode under a path, as a stranger's pull request may."""
    identity = book.git("hash-object", "-w", "--stdin", data=text).strip()
    if mode == "160000":
        identity = book.identity("HEAD")
    book.git("update-index", "--add", "--cacheinfo", f"{mode},{identity},{path}")
    book.git("commit", "-q", "-m", "entry")


ENTRIES = {
    "link": ("120000", RECORD, "../../../../secret", "is a link; commit the file itself"),
    "link-to-captures": ("120000", "docs/captures/h200", "epyc", "is a link; commit the file itself"),
    "submodule": ("160000", "docs/captures/h200", "", "is a submodule; commit the file itself"),
    "oversized": ("100644", RECORD, "x" * (4 * 2**20 + 1), "larger than 4 MiB; no record is"),
    "backslash": ("100644", "docs/captures/epyc/a\\b.yaml", "x", "has a name that is no file's on every system"),
    "drive": ("100644", "docs/captures/epyc/c:x.yaml", "x", "has a name that is no file's on every system"),
    "snippet-link": ("120000", "snippets/a/two.py", "/etc/passwd", "is a link; commit the file itself"),
}


@pytest.mark.parametrize(("mode", "path", "text", "said"), rows(ENTRIES))
def test_what_is_no_file_is_named_and_not_followed(book: Compared, mode: str, path: str, text: str, said: str) -> None:
    """A link, a submodule, a blob of megabytes or an odd name in a revision is invalid, and left alone."""
    index(book, mode, path, text)
    result = book.diff("HEAD~1..HEAD", "--strict")
    assert result.code == 2
    assert f"{path}: {said}" in result.out
    assert "removed" not in result.out


def test_a_link_in_the_working_tree_is_named(book: Compared) -> None:
    """git would keep the link and not what it names; a record that is read through one is not shown as a file."""
    book.keep(record("a/one", stdout="a 1\n", captured="2026-12-01"))
    (book.root / RECORD).rename(book.root / "elsewhere.yaml")
    (book.root / RECORD).symlink_to(book.root / "elsewhere.yaml")
    result = book.diff("--strict")
    assert result.code == 2
    assert f"{RECORD}: is a link; put the file itself there" in result.out


ODD = ["docs/captures/epyc/a/ümläut 损失.yaml",
       "docs/captures/epyc/a/two\nlines.yaml", 'docs/captures/epyc/a/"q".yaml',
       "docs/captures/epyc/a/\x1b[2J.yaml", "docs/captures/epyc/a/| b.yaml",
       "docs/captures/epyc/-x/--y.yaml"]  # fmt: skip


@pytest.mark.parametrize("style", ["text", "markdown", "json"])
def test_odd_file_names_are_named(book: Compared, style: str) -> None:
    """Whatever a file is called, it is read, and its name drives no terminal."""
    for name in ODD:
        book.write(name, "x\n")
    (book.root / "docs/captures/epyc/a/caf\udce9.yaml").write_bytes(b"x\n")
    book.commit()
    result = book.diff("HEAD~1..HEAD", "--format", style)
    assert result.code == 1
    assert not set("\x1b") & set(result.out)
    if style == "json":
        assert json.loads(result.out)["counts"] == {"invalid": 7}
        assert any("ümläut 损失.yaml" in item["failing"] for item in json.loads(result.out)["records"])
    else:
        assert "must not be merged" in result.out.lower()


def test_a_shallow_clone_says_what_is_missing(book: Compared, tmp_path: Path) -> None:
    """What was not fetched is no revision here; the message says how to get it."""
    first = book.identity("HEAD")
    upgraded(book)
    book.commit()
    book.git("clone", "-q", "--depth", "1", f"file://{book.root}", str(tmp_path / "clone"))
    clone = Compared(tmp_path / "clone")
    assert clone.diff().code == 0
    for name in (first, f"{first}...HEAD", "HEAD~1"):
        result = clone.diff(name)
        assert result.code == 2
        assert "this clone is shallow, get the rest with: git fetch --unshallow" in result.err


def test_histories_that_never_met(book: Compared) -> None:
    """Two branches without a common commit have no merge base; their states can be compared."""
    book.git("switch", "-q", "--orphan", "alone")
    book.write("mkdocs.yml", "site_name: test\n")
    fill(book)
    book.commit()
    result = book.diff("main...alone")
    assert (result.code, result.err) == (2, '"main" and "alone" have no commit in common\n')
    assert book.diff("main..alone").code == 0


def test_an_object_that_is_lost(book: Compared) -> None:
    """A damaged repository is named, with what to do."""
    upgraded(book)
    book.commit()
    identity = book.identity(f"HEAD:{RECORD}")
    (book.root / ".git/objects" / identity[:2] / identity[2:]).unlink()
    result = book.diff("HEAD~1..HEAD")
    assert result.code == 2
    assert identity in result.err or "git ls-tree" in result.err


def test_nothing_is_kept_of_a_revision(book: Compared, own_cache: Path) -> None:
    """The copies that are compared are removed, and their readings lie in the cache of the handbook itself."""
    upgraded(book)
    book.commit()
    for _ in range(3):
        book.diff("HEAD~1..HEAD")
    assert len(list(own_cache.iterdir())) == 1
