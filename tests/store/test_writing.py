"""Files are replaced whole or not at all, and a handbook's folders say what there is."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from harness.handbooks import host, record, script

from capture import store
from capture.errors import CaptureError
from capture.record.record import Record, Runs
from capture.store import catalogue

OLD, NEW = record("a/b", stdout="old\n"), record("a/b", stdout="new\n" * 5000)


@pytest.fixture
def book(tmp_path: Path) -> store.Handbook:
    """A handbook with one host and one record."""
    (tmp_path / "snippets").mkdir()
    (tmp_path / "mkdocs.yml").touch()
    found = store.Handbook(tmp_path)
    store.write_host(found, host())
    store.write_record(found, OLD)
    return found


def files(book: store.Handbook) -> list[str]:
    """Return every file below the captures."""
    return sorted(path.relative_to(book.captures).as_posix() for path in book.captures.rglob("*") if path.is_file())


def kept(book: store.Handbook) -> Record | None:
    """Return the record that the file holds now."""
    return store.read_record(book, "epyc", "a/b")


def test_one_record_is_one_file_of_its_host(book: store.Handbook) -> None:
    """yaml-conflict: no shared index, so that two pull requests never touch the same file."""
    store.write_host(book, host("h200", kind="cuda"))
    before = {name: (book.captures / name).read_bytes() for name in files(book)}
    assert store.write_record(book, record("a/b", "h200"))
    assert files(book) == sorted([*before, "h200/a/b.yaml"])
    assert all((book.captures / name).read_bytes() == data for name, data in before.items())


def test_writing_the_same_leaves_the_file_untouched(book: store.Handbook) -> None:
    """Not even its time changes."""
    path = book.record_path("epyc", "a/b")
    os.utime(path, (1, 1))
    assert not store.write_record(book, OLD)
    assert not store.write_host(book, host())
    assert path.stat().st_mtime == 1
    assert store.write_record(book, NEW)
    assert kept(book) == NEW


@pytest.mark.parametrize("failing", ["fsync", "replace", "open", "mkdir"])
@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EACCES, errno.EROFS, errno.EIO])
def test_a_disk_that_refuses_loses_nothing(
    book: store.Handbook, monkeypatch: pytest.MonkeyPatch, failing: str, number: int
) -> None:
    """Full, read-only or broken: the old file stays, no piece of the new one remains, and the error says why."""

    def fail(*_: object, **__: object) -> None:
        raise OSError(number, os.strerror(number))

    owner = os if failing == "fsync" else Path
    monkeypatch.setattr(owner, failing, fail)
    with pytest.raises(CaptureError) as error:
        store.write_record(book, NEW)
    monkeypatch.undo()
    assert str(error.value) == (
        f"docs/captures/epyc/a/b.yaml: cannot be written: {os.strerror(number)}; "
        "free space or mend permissions, then run again"
    )
    assert (kept(book), files(book)) == (OLD, ["epyc/a/b.yaml", "epyc/host.yaml"])


@pytest.mark.parametrize("failing", ["fsync", "replace"])
def test_an_interrupt_leaves_the_old_file_and_nothing_else(
    book: store.Handbook, monkeypatch: pytest.MonkeyPatch, failing: str
) -> None:
    """store-atomic: Ctrl-C in the middle of a write passes through."""

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os if failing == "fsync" else Path, failing, interrupt)
    with pytest.raises(KeyboardInterrupt):
        store.write_record(book, NEW)
    monkeypatch.undo()
    assert (kept(book), files(book)) == (OLD, ["epyc/a/b.yaml", "epyc/host.yaml"])


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
def test_a_full_disk_during_the_write_loses_nothing(book: store.Handbook) -> None:
    """The real error, raised by the system in the middle of the data."""
    path = book.record_path("epyc", "a/b")
    path.with_name(f".b.yaml.tmp-{os.getpid()}").symlink_to("/dev/full")
    with pytest.raises(CaptureError, match="cannot be written: No space left on device"):
        store.write_record(book, NEW)
    assert (kept(book), files(book)) == (OLD, ["epyc/a/b.yaml", "epyc/host.yaml"])


def test_a_folder_that_is_in_the_way_is_reported(book: store.Handbook) -> None:
    """A file where a chapter's folder should be, and a folder where the file should be."""
    (book.captures / "epyc" / "c").write_text("")
    with pytest.raises(CaptureError, match=r"epyc/c/d\.yaml: cannot be written: "):
        store.write_record(book, record("c/d"))
    (book.captures / "epyc" / "a" / "e.yaml").mkdir()
    with pytest.raises(CaptureError, match=r"epyc/a/e\.yaml: cannot be written: "):
        store.write_record(book, record("a/e"))


def test_what_would_not_survive_is_not_written(book: store.Handbook) -> None:
    """A record that the reader would refuse, or read otherwise, never replaces a good one."""
    for changes in ({"stdout": "\ud800"}, {"runs": Runs(2, spread=float("nan"))}, {"captured": "yesterday"}):
        damaged = replace(OLD, **changes)  # type: ignore[arg-type]
        with pytest.raises(CaptureError, match=r"docs/captures/epyc/a/b\.yaml"):
            store.write_record(book, damaged)
    assert kept(book) == OLD


WRITER = """
import sys
from dataclasses import replace
from pathlib import Path
from capture import store
book = store.Handbook(Path(sys.argv[1]))
item = store.read_record(book, "epyc", "a/b")
print("ready", flush=True)
number = 0
while True:
    number += 1
    store.write_record(book, replace(item, stdout=f"{number}\\n" * 3000))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL")
@pytest.mark.parametrize("delay", [pytest.param(wait, id=f"store-atomic-{wait}") for wait in (0.0, 0.001, 0.004, 0.01)])
def test_a_killed_writer_leaves_a_whole_file(book: store.Handbook, delay: float) -> None:
    """Killed at any moment, the file is the old or the new one; the rest is swept up by the next run."""
    writer = subprocess.Popen([sys.executable, "-c", WRITER, str(book.root)], stdout=subprocess.PIPE)
    assert writer.stdout
    with writer.stdout:
        assert writer.stdout.readline() == b"ready\n"
        time.sleep(delay)
        writer.send_signal(signal.SIGKILL)
        writer.wait(30)
    item = kept(book)
    assert item is not None
    first, _, rest = item.stdout.partition("\n")
    assert item == OLD or rest == f"{first}\n" * 2999
    store.sweep(book, "epyc")
    assert files(book) == ["epyc/a/b.yaml", "epyc/host.yaml"]


def test_only_what_a_dead_run_left_is_swept(book: store.Handbook) -> None:
    """A temporary file of a run that still works, and files that only look alike, stay."""
    folder = book.captures / "epyc" / "a"
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait(30)
    for name in (f".b.yaml.tmp-{dead.pid}", f".b.yaml.tmp-{os.getpid()}", ".b.yaml.tmp-x", "b.yaml.tmp-1", ".hidden"):
        (folder / name).write_text("")
    assert store.sweep(book, "epyc") == 1
    assert not (folder / f".b.yaml.tmp-{dead.pid}").exists()
    assert len(list(folder.iterdir())) == 5
    assert store.sweep(book, "nobody") == 0


def test_folders_name_hosts_and_files_name_records(book: store.Handbook) -> None:
    """`local` comes last; hidden files and folders are none."""
    for label in ("local", "zen", ".git"):
        (book.captures / label).mkdir()
    store.write_record(book, record("a/c"))
    (book.captures / "epyc" / "a" / ".b.yaml.tmp-1").write_text("")
    (book.captures / "README.md").write_text("")
    assert book.labels() == ["epyc", "zen", "local"]
    assert store.record_ids(book, "epyc") == ["a/b", "a/c"]
    assert store.Handbook(book.root / "none").labels() == []


def test_the_nearest_folder_upward_is_the_handbook(book: store.Handbook) -> None:
    """It holds snippets/ and mkdocs.yml; without one the error says what to do."""
    inner = book.root / "docs" / "captures" / "epyc"
    assert store.find_root(inner).root == book.root
    (book.root / "mkdocs.yml").unlink()
    with pytest.raises(CaptureError, match=r"holds snippets/ and mkdocs\.yml; change into one or pass --root DIR"):
        store.find_root(inner)


def test_helpers_are_no_faulty_snippets(book: store.Handbook) -> None:
    """A file that a snippet imports or declares needs no header; one that nobody uses does."""
    folder = book.root / "snippets" / "a"
    folder.mkdir()
    (folder / "b.py").write_text(script("import helper\n", files=["data.py"]))
    for name in ("helper.py", "data.py", "lost.py", "_private.py", ".hidden.py"):
        (folder / name).write_text("x = 1\n")
    (book.root / "snippets" / ".ipynb_checkpoints").mkdir()
    (book.root / "snippets" / ".ipynb_checkpoints" / "b-checkpoint.py").write_text("x = 1\n")
    snippets, problems = store.read_snippets(book)
    assert list(snippets) == ["a/b"]
    assert [problem.path for problem in problems] == ["snippets/a/lost.py"]


def test_an_unknown_id_names_the_nearest(book: store.Handbook) -> None:
    """A slip of the finger is answered with what was meant."""
    with pytest.raises(CaptureError, match='no snippet "a/bf16_liner"; did you mean "a/bf16_linear"'):
        store.resolve("a/bf16_liner", {"a/bf16_linear": 1, "b/c": 2})


def test_damaged_files_are_problems_and_the_rest_is_read(book: store.Handbook) -> None:
    """One broken record, one misplaced one and one host without facts do not hide the others."""
    store.write_record(book, record("a/good"))
    book.record_path("epyc", "a/b").write_text("schema: 1\n")
    misplaced = book.record_path("epyc", "c/d")
    misplaced.parent.mkdir()
    misplaced.write_bytes(book.record_path("epyc", "a/good").read_bytes())
    store.write_record(book, record("a/b", "h200"))
    found = catalogue.read_handbook(book)
    assert list(found.records) == [("epyc", "a/good")]
    assert sorted((problem.path, problem.rule) for problem in found.problems) == [
        ("docs/captures/epyc/a/b.yaml", "shape"), ("docs/captures/epyc/c/d.yaml", "path"),
        ("docs/captures/h200/host.yaml", "host"),
    ]  # fmt: skip
