"""Two runs at once in one host's folder: the second waits, gives up with advice, or takes over from a dead one."""

from __future__ import annotations

import errno
import itertools
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
from harness.project import Project, until

from capture import store
from capture.cli import main
from capture.errors import CaptureError
from capture.store import host_lock
from capture.store.host_lock import NAME, Owner

PATH = f"docs/captures/local/{NAME}"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A snippet that waits until a file lets it pass, and writes down that it ran."""
    found = Project(tmp_path / "book")
    gate, log = tmp_path / "pass", tmp_path / "log"
    found.snippet("demo/slow", f"""
import pathlib, time
with open({str(log)!r}, "a") as file:
    file.write("x")
while not pathlib.Path({str(gate)!r}).exists():
    time.sleep(0.02)
print("passed")
""")  # fmt: skip
    return found


def waiting() -> subprocess.Popen[bytes]:
    """Start a process that ends with the `with` it is used in."""
    return subprocess.Popen([sys.executable, "-c", "import sys; sys.stdin.read()"], stdin=subprocess.PIPE)


def line(owner: Owner | int) -> str:
    """Return the lock of an owner, or of a living process."""
    return str(owner if isinstance(owner, Owner) else Owner(owner, psutil.Process(owner).create_time()))


def test_second_run_waits_and_does_nothing_twice(project: Project, tmp_path: Path) -> None:
    """It says in one line for whom it waits, and captures only what the first has not; no lock is left."""
    arguments = ("run", "--python", project.python)
    with project.start(*arguments) as first:
        until(lambda: (tmp_path / "log").exists(), "the first executes")
        assert project.read(PATH) == line(first.pid)
        with project.start(*arguments) as second:
            assert second.stderr is not None
            said = second.stderr.readline()
            (tmp_path / "pass").touch()
            out, err = second.communicate(timeout=30)
        assert (first.wait(30), second.returncode) == (0, 0)
    assert said.startswith(f"waiting up to 30 s for another run that captures local (process {first.pid}, started ")
    assert (err, "nothing to execute" in out) == ("", True)
    assert (tmp_path / "log").read_text() == "xx"  # the two executions of one capture
    assert not (project.root / PATH).exists()


def test_other_labels_and_reading_do_not_wait(project: Project, tmp_path: Path) -> None:
    """A run on another label, --dry-run, status and check go on beside a run; the lock is no stray file."""
    project.snippet("demo/quick", "print(1)")
    with project.start("run", "demo/slow", "--python", project.python):
        until(lambda: (tmp_path / "log").exists(), "the first executes")
        other = project.run("demo/quick", "--host", "other")
        dry = project.run("demo/quick", "--dry-run")
        check, status = project.capture("check"), project.capture("status")
    for result in (other, dry, check, status):
        assert "waiting" not in result.text and NAME not in result.text
    assert (other.code, dry.code) == (0, 0)
    assert project.records("other") == ["demo/quick"]
    assert not (project.root / PATH.replace("local", "other")).exists()


@pytest.mark.parametrize("words", [["run"], ["run", "--force"]])
def test_patience_ends_with_advice(
    project: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], words: list[str]
) -> None:
    """Exit 2: which process works there, and what to do; its lock stays, nothing is executed."""
    monkeypatch.setattr(host_lock, "PATIENCE", 0.3)
    monkeypatch.setattr(sys, "argv", ["capture", "--root", str(project.root), *words, "--python", project.python])
    monkeypatch.setattr(signal, "signal", lambda *_: None)  # the handlers of the tests stay
    with waiting() as process:
        project.write(PATH, line(process.pid))
        with pytest.raises(SystemExit) as end:
            main()
        assert project.read(PATH) == line(process.pid)
    err = capsys.readouterr().err
    assert end.value.code == 2
    assert f"another run captures local (process {process.pid}, started less than a minute ago); let it end" in err
    assert f"remove {PATH}" in err
    assert project.records() == []


def dead_process() -> Owner:
    """Return a process that has ended."""
    with waiting() as process:
        return Owner(process.pid, psutil.Process(process.pid).create_time())


def test_stale_locks_are_taken_over(tmp_path: Path) -> None:
    """Left by a process that is gone, by one whose id a younger one has, by one that had ours; or not a lock at all."""
    project = Project(tmp_path)
    with waiting() as young:
        earlier = psutil.Process(young.pid).create_time() - 60
        for text in (line(dead_process()), line(Owner(young.pid, earlier)), line(os.getpid()), "?", ""):
            file = project.write(PATH, text)
            os.utime(file, (time.time() - 60,) * 2)
            with store.held(project.book, "local", pytest.fail, patience=0) as waited:
                assert (waited, project.read(PATH)) == (False, line(os.getpid()))
            assert not file.exists()
        assert young.poll() is None


def test_lock_that_is_being_written_is_waited_for(tmp_path: Path) -> None:
    """A file without content may be a lock of this very moment."""
    project, said = Project(tmp_path), []
    project.write(PATH, "")
    with pytest.raises(CaptureError, match="it has just started"), store.held(project.book, "local", said.append, 0):
        pytest.fail("it was not waited for")
    assert len(said) == 1


@pytest.mark.skipif(os.name != "posix", reason="POSIX signals")
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP", "SIGKILL"])
def test_lock_after_a_signal(project: Project, tmp_path: Path, name: str) -> None:
    """Interrupted while it executes or waits, a run releases its lock; killed, it leaves one to the next run."""
    arguments = ("run", "--python", project.python)
    with project.start(*arguments, env={"TMPDIR": str(tmp_path)}) as first:
        until(lambda: (tmp_path / "log").exists(), "the first executes")
        with project.start(*arguments) as second:
            assert second.stderr is not None and second.stderr.readline().startswith("waiting")
            second.send_signal(getattr(signal, name))
            second.wait(20)
            assert (project.root / PATH).exists()
        first.send_signal(getattr(signal, name))
        first.wait(20)
    assert (project.root / PATH).exists() == (name == "SIGKILL")
    (tmp_path / "pass").touch()
    result = project.run()
    assert (result.code, project.records()) == (0, ["demo/slow"])
    assert "waiting" not in result.err
    assert not (project.root / PATH).exists()


HOLDER = """
import sys, time
from pathlib import Path
from capture import store
book, log = store.Handbook(Path(sys.argv[1])), sys.argv[2]
input()
with store.held(book, "local", lambda line: None):
    since = time.monotonic()
    time.sleep(0.05)
    with open(log, "a") as file:
        file.write(f"{since} {time.monotonic()}\\n")
"""


def test_only_one_takes_over(tmp_path: Path) -> None:
    """Several that find a dead run's lock at once work one after the other."""
    project, log = Project(tmp_path / "book"), tmp_path / "log"
    project.write(PATH, line(dead_process()))
    command = [sys.executable, "-c", HOLDER, str(project.root), str(log)]
    holders = [subprocess.Popen(command, stdin=subprocess.PIPE) for _ in range(6)]
    for holder in holders:
        assert holder.stdin is not None
        holder.stdin.write(b"\n")
        holder.stdin.close()
    assert [holder.wait(30) for holder in holders] == [0] * 6
    spans = sorted(tuple(map(float, text.split())) for text in log.read_text().splitlines())
    assert len(spans) == 6
    assert all(one[1] <= other[0] for one, other in itertools.pairwise(spans))
    assert not list(project.book.captures.glob("local/*"))


@pytest.mark.parametrize("number", [errno.EACCES, errno.EROFS, errno.ENOSPC])
def test_folder_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    """The usual error of what cannot be written, and no folder is left."""
    project = Project(tmp_path)

    def refuse(*_: object) -> int:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(host_lock.os, "open", refuse)
    words = f"{PATH}: cannot be written: {os.strerror(number)}; free space or mend permissions"
    with pytest.raises(CaptureError, match=words), store.held(project.book, "local", pytest.fail):
        pytest.fail("there is no lock")
    assert not (project.root / PATH).parent.exists()
