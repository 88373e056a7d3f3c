"""A run that is interrupted, killed or doubled leaves whole records, nothing that executes, and can go on."""

from __future__ import annotations

import os
import random
import signal
import tempfile
import threading
import time
import uuid
from pathlib import Path

import psutil
import pytest
from harness.headers import TIMED
from harness.project import Project, bare_interpreter, processes_with, until

from capture import store
from capture.cli.progress import stopped_by_signals
from capture.run.engine import fresh

pytestmark = pytest.mark.skipif(os.name != "posix", reason="POSIX signals")
QUICK = "docs/captures/local/demo/quick.yaml"


@pytest.fixture
def slow(tmp_path: Path) -> str:
    """Return a name that no other process has, for a snippet that waits."""
    return f"slow_{uuid.uuid4().hex}"


@pytest.fixture
def project(tmp_path: Path, slow: str) -> Project:
    """A quick snippet, and one with a child of its own that waits until a file outside lets it pass."""
    found = Project(tmp_path / "book")
    found.snippet("demo/quick", 'print("quick")')
    found.snippet(f"demo/{slow}", waiting(tmp_path / "pass"), timeout=50)
    return found


def waiting(gate: Path) -> str:
    """Return a snippet that waits, with a child that ignores requests to end, unless the gate is open."""
    return f"""
import pathlib, subprocess, sys, time
if not pathlib.Path({str(gate)!r}).exists():
    child = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(45)"
    subprocess.Popen([sys.executable, "-c", child, __file__])
    time.sleep(45)
print("passed")
"""


def whole(project: Project) -> list[str]:
    """Return the ids of the stored records, each of which can be read; no temporary file may be left."""
    assert not list(project.root.rglob("*.tmp-*"))
    return project.records()


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_signal_ends_the_run_cleanly(project: Project, slow: str, tmp_path: Path, name: str) -> None:
    """Ctrl-C, a request to end, a closed terminal: exit 130, records stay, no process does; the next run goes on."""
    with project.start("run", "--python", project.python, "-j", "2") as process:
        until(lambda: len(processes_with(slow)) == 2 and (project.root / QUICK).exists(), "both snippets run")
        process.send_signal(getattr(signal, name))
        out, err = process.communicate(timeout=20)
    assert process.returncode == 130
    assert "interrupted: 1 of 2 finished and stored" in err
    assert "Traceback" not in out + err
    assert processes_with(slow) == []
    assert whole(project) == ["demo/quick"]
    (tmp_path / "pass").touch()
    result = project.run()
    assert (result.code, result.added) == (0, (f"docs/captures/local/demo/{slow}.yaml",))
    assert not result.changed


def test_a_second_signal_changes_nothing(project: Project, slow: str) -> None:
    """An impatient Ctrl-C, as often as it comes, leaves no process, no traceback and the same exit code."""
    with project.start("run", "--python", project.python, "demo") as process:
        until(lambda: len(processes_with(slow)) == 2, "the snippet runs")
        while process.poll() is None:
            process.send_signal(signal.SIGINT)
            time.sleep(0.002)
        _, err = process.communicate(timeout=20)
    assert (process.returncode, "Traceback" in err) == (130, False)
    assert processes_with(slow) == []


def test_killed_run_is_cleaned_up_by_the_next(project: Project, slow: str, tmp_path: Path) -> None:
    """After kill -9 of the run its snippet goes on; the next run ends it before it executes anything itself."""
    with project.start("run", "--python", project.python, "-j", "2", env={"TMPDIR": str(tmp_path)}) as process:
        until(lambda: len(processes_with(slow)) == 2 and (project.root / QUICK).exists(), "both snippets run")
        process.kill()
        process.wait()
    abandoned = processes_with(slow)
    try:
        assert len(abandoned) == 2
        assert whole(project) == ["demo/quick"]
        (tmp_path / "pass").touch()
        assert project.run().code == 0
        assert not any(left.is_running() and left.status() != psutil.STATUS_ZOMBIE for left in abandoned)
    finally:
        for left in abandoned:
            if left.is_running():
                left.kill()


def test_kill_at_any_moment_leaves_whole_records(tmp_path: Path) -> None:
    """store-atomic: each file is the old one or the new one, never a part, at 50 moments of a kill."""
    project = Project(tmp_path)
    names = [f"demo/s{number}" for number in range(6)]
    own = {"TMPDIR": str(tmp_path.parent)}  # what is left in it goes with the tests
    moments = random.Random(0)
    for moment in range(50):
        for name in names:
            project.snippet(name, f"print({name!r} * 50)  # {moment}")
        with project.start("run", "--python", project.python, "--force", "-j", "2", env=own) as process:
            assert process.stderr is not None
            for _ in range(moments.randrange(len(names) + 1)):  # of the lines that tell of a snippet, one each
                process.stderr.readline()
            time.sleep(moments.uniform(0, 0.05))
            process.kill()
            process.wait()
        assert set(project.records()) <= set(names)
    assert project.run().code == 0
    assert whole(project) == names


def test_snippet_that_ends_its_parent(project: Project, slow: str) -> None:
    """A snippet may ask the whole group of its parent to end; that is an interruption like any other."""
    project.snippet(
        f"demo/{slow}", "import os, signal\nos.killpg(os.getpgid(os.getppid()), signal.SIGTERM)\nwhile 1: 0"
    )
    result = project.run("-j", "1")
    assert result.code == 130
    assert "interrupted" in result.err
    assert processes_with(slow) == []
    assert whole(project) == ["demo/quick"]


def test_interruption_while_waiting_for_a_quiet_machine(tmp_path: Path) -> None:
    """The wait for other work to end is left at once, not after its patience."""
    project = Project(tmp_path)
    project.snippet("demo/timed", "import time\ntime.sleep(45)", **TIMED)
    with project.start("run", "--python", project.python) as process:
        until(lambda: (project.root / "docs/captures/local/host.yaml").exists(), "the run has started")
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=15)
    assert process.returncode == 130
    assert "interrupted: 0 of 1" in err


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_interruption_while_torch_is_asked(project: Project, tmp_path: Path, name: str) -> None:
    """Before anything is executed an interruption ends the probe that is under way, and says nothing confusing."""
    code = {"torch/__init__.py": "import time; time.sleep(45)", "torch/version.py": '__version__ = "2.13.0"\n'}
    python = bare_interpreter(tmp_path / "env", code)
    with project.start("run", "--python", python) as process:
        until(lambda: bool(processes_with(python, "torch_script.py")), "torch is asked")
        process.send_signal(getattr(signal, name))
        out, err = process.communicate(timeout=20)
    assert (process.returncode, out, err) == (130, "", "")
    until(lambda: not processes_with(python, "torch_script.py"), "it ended")


def test_ignored_signals_stay_ignored(tmp_path: Path) -> None:
    """Under nohup or in the background a run goes on, and its snippets start with the usual signals all the same."""
    project = Project(tmp_path)
    handlers = (
        "print([signal.getsignal(getattr(signal, n)) is signal.SIG_IGN for n in ('SIGINT', 'SIGTERM', 'SIGHUP')])"
    )
    project.snippet("demo/case", f"import signal, time\ntime.sleep(0.7)\n{handlers}")
    with project.start("run", "--python", project.python, signals=signal.SIG_IGN) as process:
        until(lambda: bool(processes_with(project.python, "case.py")), "the snippet runs")
        for name in ("SIGINT", "SIGTERM", "SIGHUP"):
            process.send_signal(getattr(signal, name))
        assert process.wait(30) == 0
    assert project.record("demo/case").stdout == "[False, False, False]\n"


def test_signals_are_as_before_after_a_run() -> None:
    """Handlers come back where no signal came; after one, no further signal can spoil the end."""
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = {number: signal.signal(number, signal.SIG_DFL) for number in numbers}
    try:
        stop = threading.Event()
        with stopped_by_signals(stop):
            stop.set()  # as an error does
        assert [signal.getsignal(number) for number in numbers] == [signal.SIG_DFL] * 3
        stop.clear()
        with stopped_by_signals(stop):
            os.kill(os.getpid(), signal.SIGTERM)
            assert stop.wait(5)
        assert [signal.getsignal(number) for number in numbers] == [signal.SIG_IGN] * 3
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def test_folders_of_killed_runs_are_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a killed run left in the temporary folder goes once no execution can be using it; other files stay."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    names = ("capture-4194304-old", "capture-4194304-new", f"capture-{os.getpid()}-old", "capture-mine-old", "other")
    for name in names:
        (tmp_path / name / "work").mkdir(parents=True)
        if not name.endswith("new"):
            os.utime(tmp_path / name, (0, 0))
    fresh.remove_abandoned()
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(names[1:])


def test_two_runs_at_once(tmp_path: Path) -> None:
    """Two runs of one handbook disturb each other's time, not their records."""
    project = Project(tmp_path)
    names = [f"demo/s{number}" for number in range(5)]
    for name in names:
        project.snippet(name, f"print({name!r})")
    arguments = ("run", "--python", project.python)
    with project.start(*arguments) as one, project.start(*arguments) as other:
        codes = [process.wait(60) for process in (one, other)]
    assert codes == [0, 0]
    assert whole(project) == names
    assert "nothing to execute" in project.run().out


def test_left_temporary_file_is_swept(project: Project) -> None:
    """What a killed run was writing goes at the next run of that host; a living writer's file stays."""
    project.run("demo/quick")
    folder = project.book.record_path("local", "demo/quick").parent
    dead, alive = folder / ".quick.yaml.tmp-4194304", folder / f".quick.yaml.tmp-{os.getpid()}"
    for path in (dead, alive):
        path.write_text("half", "utf-8")
    project.run("demo/quick", "--force")
    assert (dead.exists(), alive.exists()) == (False, True)
    assert store.record_ids(project.book, "local") == ["demo/quick"]
