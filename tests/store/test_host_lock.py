"""Two runs at once in one host's folder: the second waits, gives up with advice, or takes over from a dead one."""

from __future__ import annotations

import contextlib
import errno
import itertools
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from filelock import FileLock
from harness.project import Project, until

from capture import store
from capture.cli import main
from capture.errors import CaptureError
from capture.store import host_lock
from capture.store.host_lock import NAME

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


HOLDING = """
import os, sys
from pathlib import Path
from capture import store
from capture.errors import CaptureError
tell = lambda line: print(line, flush=True)
try:
    with store.held(store.Handbook(Path(sys.argv[1])), "local", tell, float(sys.argv[2])) as waited:
        print(f"held by {os.getpid()}, waited {waited}", flush=True)
        sys.stdin.read()
except CaptureError as error:
    print(error, flush=True)
"""


@contextlib.contextmanager
def holding(project: Project, patience: float = 0, *within: str) -> Iterator[subprocess.Popen[str]]:
    """Start a process that takes the lock, says what came of it, and holds it until its input ends."""
    command = [*within, sys.executable, "-c", HOLDING, str(project.root), str(patience)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            assert process.stdin is not None
            process.stdin.close()


def said(process: subprocess.Popen[str]) -> str:
    """Return the next line of a process that `holding` started."""
    assert process.stdout is not None
    return process.stdout.readline()


def owner(project: Project) -> int:
    """Return the process that the lock names; it began to work within the last minute."""
    match = re.fullmatch(r" (\d+) (\d+\.\d\d)\n", project.read(PATH))
    assert match and abs(time.time() - float(match[2])) < 60
    return int(match[1])


def test_second_run_waits_and_does_nothing_twice(project: Project, tmp_path: Path) -> None:
    """It says in one line for whom it waits, and captures only what the first has not; no lock is left."""
    arguments = ("run", "--python", project.python)
    with project.start(*arguments) as first:
        until(lambda: (tmp_path / "log").exists(), "the first executes")
        assert owner(project) == first.pid
        with project.start(*arguments) as second:
            assert second.stderr is not None
            waiting = second.stderr.readline()
            (tmp_path / "pass").touch()
            out, err = second.communicate(timeout=30)
        assert (first.wait(30), second.returncode) == (0, 0)
    assert waiting.startswith(f"waiting up to 30 s for another run that captures local (process {first.pid}, started ")
    assert (err, "nothing to execute" in out) == ("", True)
    assert (tmp_path / "log").read_text() == "x"
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
    with holding(project) as process:
        assert said(process) == f"held by {process.pid}, waited False\n"
        with pytest.raises(SystemExit) as end:
            main()
        assert owner(project) == process.pid
    err = capsys.readouterr().err
    assert end.value.code == 2
    assert f"another run captures local (process {process.pid}, started less than a minute ago); let it end" in err
    assert "or on a machine that shares this folder, then run again" in err
    assert "remove" not in err  # a second run would lock the new file while the first still holds the old one
    assert project.records() == []


def dead_process() -> int:
    """Return the number of a process that has ended."""
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        return process.pid


def test_stale_locks_are_taken_over(tmp_path: Path) -> None:
    """What stands in the file decides nothing: left by a process that is gone, one that lives, by us; or no lock."""
    project = Project(tmp_path)
    now, living = time.time(), psutil.Process(os.getppid())
    whole = f" {living.pid} {living.create_time():.2f}\n"
    for text in (f" {dead_process()} {now:.2f}\n", whole, f" {os.getpid()} {now:.2f}\n", f"{whole}{whole}", "?", ""):
        file = project.write(PATH, text)
        with store.held(project.book, "local", pytest.fail, patience=0) as waited:
            assert (waited, owner(project)) == (False, os.getpid())
        assert not file.exists()


def test_lock_that_is_being_written_is_waited_for(tmp_path: Path) -> None:
    """A locked file without content is a lock of this very moment."""
    project, told = Project(tmp_path), []
    project.write(PATH, "")
    lock = FileLock(project.root / PATH)
    started = pytest.raises(CaptureError, match="it has just started")
    with lock, started, store.held(project.book, "local", told.append, 0):
        pytest.fail("it was not waited for")
    assert len(told) == 1
    assert (project.root / PATH).exists()


def test_one_process_holds_it_once(tmp_path: Path) -> None:
    """Asked twice by one process, as by two threads of it, the second waits as any other."""
    project = Project(tmp_path)
    first, refused = store.held(project.book, "local", pytest.fail), pytest.raises(CaptureError, match="another run")
    with first, refused as error, store.held(project.book, "local", lambda _: None, 0):
        pytest.fail("it was not waited for")
    assert f"(process {os.getpid()}, started " in str(error.value)


def own_processes() -> list[str]:
    """Return the command that gives another one process numbers of its own; nothing where the system allows none."""
    ways = (["--pid", "--fork", "--mount-proc"], ["-Urpf", "--mount-proc"], ["-Urpf"])
    for way in ways if sys.platform == "linux" else ():
        with contextlib.suppress(OSError, subprocess.TimeoutExpired):
            if subprocess.run(["unshare", *way, "true"], capture_output=True, timeout=20, check=False).returncode == 0:
                return ["unshare", *way]
    return []


def test_two_containers_with_the_same_process_number(tmp_path: Path) -> None:
    """host-two-containers: each is process 1 where it runs; the second gives up, a third waits for the first."""
    within = own_processes()
    if not within:
        pytest.skip("the system gives no process numbers of one's own")
    project = Project(tmp_path)
    whom = "another run captures local (process 1, started less than a minute ago)"
    with holding(project, 0, *within) as first:
        assert said(first) == "held by 1, waited False\n"
        with holding(project, 0, *within) as second:
            assert said(second).startswith("waiting up to 0 s for another run that captures local (process 1, started ")
            assert said(second).startswith(f"{whom}; let it end, or end it")
        with holding(project, 30, *within) as third:
            assert said(third).startswith("waiting up to 30 s for another run that captures local (process 1, started ")
            first.communicate("", timeout=20)
            assert said(third) == "held by 1, waited True\n"
    assert not (project.root / PATH).exists()


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
    project.write(PATH, f" {dead_process()} {time.time():.2f}\n")
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

    monkeypatch.setattr(os, "open", refuse)
    words = f"{PATH}: cannot be written: {os.strerror(number)}; free space or mend permissions"
    with pytest.raises(CaptureError, match=words), store.held(project.book, "local", pytest.fail):
        pytest.fail("there is no lock")
    assert not (project.root / PATH).parent.exists()


def test_full_disk_leaves_no_lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the file can be made and not written, it goes again."""
    project = Project(tmp_path)

    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patched:
        patched.setattr(os, "write", full)
        with pytest.raises(CaptureError, match="cannot be written: No space"), store.held(project.book, "local", print):
            pytest.fail("there is no lock")
    assert not (project.root / PATH).parent.exists()


@pytest.mark.skipif(os.name != "posix", reason="links and pipes")
@pytest.mark.parametrize("kind", ["link", "dangling link", "folder", "pipe"])
def test_what_is_no_file_is_no_lock(tmp_path: Path, kind: str) -> None:
    """It is named and stays, and so does what a link leads to."""
    project, other = Project(tmp_path), tmp_path / "other"
    path = project.root / PATH
    path.parent.mkdir(parents=True)
    if kind == "link":
        other.write_text("mine")
    if "link" in kind:
        path.symlink_to(other)
    elif kind == "folder":
        path.mkdir()
    else:
        os.mkfifo(path)
    words = f"{PATH}: is no regular file; remove it, then run again"
    with pytest.raises(CaptureError, match=words), store.held(project.book, "local", pytest.fail):
        pytest.fail("there is no lock")
    assert os.path.lexists(path)
    assert other.exists() == (kind == "link") and (kind != "link" or other.read_text() == "mine")


@pytest.mark.skipif(os.name != "posix", reason="POSIX locks")
@pytest.mark.parametrize("number", [errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP])
def test_file_system_without_locks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    """The run says so and goes on; that nobody captures beside it is then for people to see to. No file is left."""
    project, told = Project(tmp_path), []

    def refuse(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr("fcntl.flock", refuse)
    with store.held(project.book, "local", told.append) as waited:
        assert not waited and not (project.root / PATH).exists()
    why = os.strerror(number)
    assert told == [
        f"docs/captures/local is on a file system without locks ({why}); see that nothing else captures local meanwhile"
    ]
    assert not (project.root / PATH).parent.exists()
