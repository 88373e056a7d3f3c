"""`capture run` where snippets fail: what is stored, kept, tried again, and what a person is told."""

from __future__ import annotations

import errno
import os
import shutil
import sys
import tempfile
from pathlib import Path

import pytest
from harness.project import Project

from capture.cli import main

RECORD = "docs/captures/local/demo/case.yaml"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """An empty handbook."""
    return Project(tmp_path / "book")


@pytest.fixture(scope="module")
def once_captured(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A handbook with one good record; shared, so nobody changes it."""
    found = Project(tmp_path_factory.mktemp("good"))
    found.snippet("demo/case", 'print("good")')
    assert found.run().code == 0
    return found


@pytest.fixture
def good(tmp_path: Path, once_captured: Project) -> Project:
    """A copy of it."""
    shutil.copytree(once_captured.root, tmp_path / "book")
    return Project(tmp_path / "book")


@pytest.mark.parametrize(
    ("body", "status", "words"),
    [
        ("1 / 0", "error", "error: exit 1; ZeroDivisionError: division by zero"),
        ("import sys\nsys.exit(3)", "error", "error: exit 3; no error output"),
        ("x = (1,\nprint(x)", "error", "error: did not compile"),
        ("import os\nos.abort()", "crashed", "crashed at case.py:2: ended by SIGABRT"),
        ("import time\ntime.sleep(45)", "timeout", "timeout: reached its time limit at case.py:2"),
        ("import os\nos.write(1, b'x' * 70_000_000)", "output_limit", "output_limit: printed more than 64 MiB"),
        ("bytearray(1 << 60)", "out_of_memory", "out_of_memory: needed more memory"),
    ],
    ids=["error", "exit", "compile", "crash", "timeout", "output", "memory"],
)
def test_first_capture_that_fails_is_stored_and_told(project: Project, body: str, status: str, words: str) -> None:
    """A failure is a result as long as there is no better one; exit 1, and one line says what and where."""
    project.snippet("demo/case", body, timeout=0.7)
    result = project.run()
    assert result.code == 1
    assert words in result.out and result.text.count(words) == 1
    assert "demo/case" in result.err
    assert project.record("demo/case").status == status


@pytest.mark.parametrize("body", ["1 / 0", "import os\nos.abort()"])
def test_failure_does_not_replace_a_good_record(good: Project, body: str) -> None:
    """inv-error-cached: the good record stays, and the message names the option that would replace it."""
    good.snippet("demo/case", body)
    result = good.run()
    assert (result.code, result.untouched) == (1, True)
    assert "the good record stays (--accept-failure replaces it)" in result.out
    accepted = good.run("--accept-failure")
    assert (accepted.code, accepted.changed) == (1, (RECORD,))
    assert good.record("demo/case").status != "ok"


def test_error_is_not_executed_again_but_told(project: Project, tmp_path: Path) -> None:
    """An error would only come again: the next run executes nothing, and still says that it failed and what to do."""
    witness = tmp_path / "executions"
    project.snippet("demo/case", f"open({str(witness)!r}, 'a').write('x')\n1 / 0")
    project.run()
    result = project.run()
    assert (result.code, result.untouched, witness.read_text("utf-8")) == (1, True, "xx")  # once more to be sure
    assert "demo/case: still error (try again with: capture run demo/case --force)" in result.out
    project.run("--host", "desk-cpu")
    assert "capture run demo/case --host desk-cpu --force" in project.run("--host", "desk-cpu").out


def test_timeout_is_tried_again(project: Project, tmp_path: Path) -> None:
    """What another try may mend is tried at the next run, and a result is told as a change."""
    ready = tmp_path / "ready"
    body = f"import os, time\ntime.sleep(0 if os.path.exists({str(ready)!r}) else 45)"
    project.snippet("demo/case", body, timeout=0.7)
    assert project.run().code == 1
    ready.touch()
    result = project.run()
    assert result.code == 1
    assert "status changed: timeout -> ok (exit 0)" in result.out
    assert project.run().code == 0


def test_expected_failure_is_a_good_result(project: Project) -> None:
    """A snippet about an uncaught error declares its exit code; its record is current like any other."""
    project.snippet("demo/case", "raise RuntimeError('the lesson')", exit=1)
    assert project.run().code == 0
    item = project.record("demo/case")
    assert (item.status, item.exit_code) == ("ok", 1)
    assert "RuntimeError: the lesson" in item.stderr
    assert project.run().untouched


def test_one_failure_does_not_stop_the_others(project: Project) -> None:
    """exec-syntaxerror: every other snippet is captured."""
    project.snippet("demo/bad", "x = (")
    for name in ("a", "c"):
        project.snippet(f"demo/{name}", f"print({name!r})")
    assert project.run("-j", "1").code == 1
    assert [project.record(f"demo/{name}").status for name in ("a", "bad", "c")] == ["ok", "error", "ok"]


def test_failing_twice_leaves_the_file_alone(project: Project) -> None:
    """A forced execution that fails in the same way changes nothing and is still something to read."""
    project.snippet("demo/case", "1 / 0")
    project.run()
    result = project.run("--force")
    assert (result.code, result.untouched) == (1, True)
    assert "1 failed" in result.out


CLAIM = {"values": {"size": r"size (\d+)"}}


def with_claim(project: Project, holds: str) -> None:
    """Add a claim to the header."""
    path = "snippets/demo/case.py"
    claim = f'#\n# [tool.capture.claims.small]\n# says  = "it is small"\n# holds = "{holds}"\n# ///\n'
    project.write(path, project.read(path).removesuffix("# ///\n") + claim)


def test_claim_that_fails_is_something_to_read(project: Project) -> None:
    """A claim that does not hold here is told with its numbers, also by a run that executes nothing: exit 1."""
    project.snippet("demo/case", "print('size 12')", **CLAIM)
    with_claim(project, "size < 10")
    for result in (project.run(), project.run()):
        assert result.code == 1
        assert "claim fails demo/case: it is small (size < 10, but size is 12)" in result.out


def test_claim_without_its_value_is_told_after_the_summary(project: Project) -> None:
    """A pattern that matches nothing is an error in the header: named with its line, exit 2; the record is stored."""
    project.snippet("demo/case", "print('length 12')", **CLAIM)
    project.snippet("demo/other", "print('other')")
    with_claim(project, "size < 10")
    result = project.run()
    assert result.code == 2
    assert "local: 2 captured" in result.out
    assert "snippets/demo/case.py:11: value" in result.err and "matches nothing" in result.err
    assert project.records() == ["demo/case", "demo/other"]


@pytest.mark.parametrize("obstacle", ["docs/captures", "docs/captures/local", "docs/captures/local/demo"])
def test_file_where_a_folder_should_be(project: Project, obstacle: str) -> None:
    """Where nothing can be written the path and the reason are named, without a traceback."""
    project.snippet("demo/case", "print(1)")
    project.write(obstacle, "in the way")
    result = project.run()
    assert (result.code, result.changed) == (2, ())
    assert "docs/captures/local/" in result.err and "cannot be written" in result.err
    assert "Traceback" not in result.err


def test_no_space_for_a_probe_is_no_traceback(
    project: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whatever the system refuses, the reason is said in a line."""
    project.snippet("demo/case", "print(1)")

    def full(*arguments: object, **options: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "/tmp/somewhere")

    monkeypatch.setattr(tempfile, "TemporaryDirectory", full)
    monkeypatch.setattr(sys, "argv", ["capture", "--root", str(project.root), "run", "--python", project.python])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    assert "No space left on device; free space" in capsys.readouterr().err


def test_full_disk_keeps_the_old_record(
    good: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A record that cannot be written whole leaves the old file, and the message says what to do."""
    good.snippet("demo/case", 'print("new")')
    before = good.state()[RECORD]

    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    monkeypatch.setattr(sys, "argv", ["capture", "--root", str(good.root), "run", "--python", good.python])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    assert f"{RECORD}: cannot be written: No space left on device; free space" in capsys.readouterr().err
    assert good.state()[RECORD] == before
    assert not list(good.root.rglob("*.tmp-*"))
