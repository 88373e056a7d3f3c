"""Files told from their next version without being read: any change shows, and where one may not, that is said."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from capture.store.file_stamps import footprint_of


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a file, and one in a folder below."""
    (tmp_path / "top" / "below").mkdir(parents=True)
    (tmp_path / "top" / "one.txt").write_text("one\n")
    (tmp_path / "top" / "below" / "two.txt").write_text("two\n")
    return tmp_path / "top"


def same_size_same_time(folder: Path) -> None:
    """Change a file and give it the size and the time that it had."""
    path = folder / "one.txt"
    before = path.stat()
    path.write_text("eno\n")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def replaced(folder: Path) -> None:
    """Put another file of the same size and time in a file's place."""
    before, other = (folder / "one.txt").stat(), folder / "other"
    other.write_text("eno\n")
    os.utime(other, ns=(before.st_atime_ns, before.st_mtime_ns))
    other.replace(folder / "one.txt")


def linked(folder: Path) -> None:
    """Move a file elsewhere and put a link to it in its place."""
    (folder / "one.txt").rename(folder.parent / "elsewhere.txt")
    (folder / "one.txt").symlink_to(folder.parent / "elsewhere.txt")


def bytecode(folder: Path) -> None:
    """Put a page into a folder with a name that is passed over elsewhere."""
    (folder / "__pycache__").mkdir()
    (folder / "__pycache__" / "page.md").write_text("")


CHANGES: dict[str, Callable[[Path], object]] = {
    "content": lambda folder: (folder / "below" / "two.txt").write_text("three\n"),
    "content of the same size and time": same_size_same_time,
    "another file of the same size and time": replaced,
    "a link in a file's place": linked,
    "a new file": lambda folder: (folder / "below" / "new").write_text(""),
    "an empty folder": lambda folder: (folder / "below" / "empty").mkdir(),
    "a file in a folder for bytecode": bytecode,
    "a hidden file": lambda folder: (folder / ".hidden").write_text(""),
    "a lost file": lambda folder: (folder / "one.txt").unlink(),
    "a new name": lambda folder: (folder / "one.txt").rename(folder / "1.txt"),
    "who may execute it": lambda folder: (folder / "one.txt").chmod(0o755),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=list(CHANGES))
def test_every_change_shows(folder: Path, change: Callable[[Path], object]) -> None:
    """Whatever happens to a file, the folder is another; what nobody touched is the same."""
    before = footprint_of([folder])
    assert before == footprint_of([folder])
    assert before is not None
    time.sleep(0.02)  # a time of the file system's clock may stand for so long
    change(folder)
    after = footprint_of([folder])
    assert after is not None
    assert after != before


def test_the_link_of_a_file_shows_where_it_leads(folder: Path) -> None:
    """A link is told by its target's name as well as by its content."""
    (folder / "link").symlink_to("one.txt")
    before = footprint_of([folder])
    (folder / "link").unlink()
    (folder / "link").symlink_to(folder / "one.txt")
    assert footprint_of([folder]) != before


@pytest.mark.parametrize("target", ["below", "nowhere"])
def test_what_is_behind_a_linked_folder_cannot_be_told(folder: Path, target: str) -> None:
    """Nor what a link that leads nowhere will lead to: there is no footprint, rather than one that says less."""
    (folder / "link").symlink_to(target)
    assert footprint_of([folder]) is None


def test_places_that_are_not_there_count(folder: Path) -> None:
    """A file that appears later makes another footprint; so does the order in which places are named."""
    places = [folder / "below", folder / "later"]
    before = footprint_of(places)
    assert before != footprint_of(places[::-1])
    (folder / "later").write_text("")
    assert footprint_of(places) != before


def test_a_folder_that_was_away_for_a_while_is_another(folder: Path) -> None:
    """Another may have been in its place meanwhile, and have been read."""
    before = footprint_of([folder])
    time.sleep(0.02)
    folder.rename(folder.parent / "away")
    (folder.parent / "away").rename(folder)
    assert footprint_of([folder]) != before


def test_a_lock_that_came_and_went_changes_nothing(folder: Path) -> None:
    """A run with nothing to do holds the lock of its host's folder, and leaves every file as it was."""
    before = footprint_of([folder])
    time.sleep(0.02)
    (folder / "below" / ".lock").write_text("")
    (folder / "below" / ".lock").unlink()
    assert footprint_of([folder]) == before
