"""A fleet in which something dies: a worker, a snippet with its worker, the client; what is stored is whole."""

from __future__ import annotations

import os
import signal
import threading
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from distributed import Client
from harness.fleets import Fleet, fleet, run
from harness.project import Project, processes_with, until

from capture import store
from capture.cli import run_fleet as fleets_command
from capture.run.fleet import fleet_run as runs
from capture.run.fleet import questions

KILLER = """
import os, signal
agent = os.getppid()
worker = int(open(f"/proc/{agent}/stat").read().rpartition(")")[2].split()[1])
if b"dask" in open(f"/proc/{worker}/cmdline", "rb").read():  # once it is gone, the agent has another parent
    os.kill(worker, signal.SIGKILL)
"""
pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="finds its worker through /proc")


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    """A scheduler; each test starts the workers it wants to lose."""
    with fleet(tmp_path_factory.mktemp("fleet")) as found:
        yield found


@pytest.fixture
def slow(tmp_path: Path) -> str:
    """Return a name that no other process has, for a snippet that waits."""
    return f"slow_{uuid.uuid4().hex}"


@pytest.fixture
def project(tmp_path: Path, slow: str) -> Project:
    """Three quick snippets, and one that waits unless a file lets it pass."""
    found = Project(tmp_path / "book")
    for number in range(3):
        found.snippet(f"demo/quick_{number}", f"print({number})")
    body = (
        f"import os, time\nwhile not os.path.exists({str(tmp_path / 'pass')!r}):\n    time.sleep(0.05)\nprint('passed')"
    )
    found.snippet(f"demo/{slow}", body, timeout=50)
    return found


def stored(project: Project) -> list[str]:
    """Return the ids for which there is a file."""
    return store.record_ids(project.book, "epyc-avx2")


def test_a_lost_worker_loses_only_what_it_ran(shared: Fleet, project: Project, slow: str, tmp_path: Path) -> None:
    """Its snippet goes to the other worker of the host; what was executing ends with the worker."""
    workers = {worker.pid: worker for worker in (shared.worker("epyc-avx2"), shared.worker("epyc-avx2"))}
    shared.ready(2)
    left = []

    def kill() -> None:
        until(lambda: len(processes_with(slow)) == 1, "the snippet runs")
        (snippet,) = processes_with(slow)
        parent = snippet.parent().parent()
        shared.end(workers.pop(parent.pid))
        until(lambda: not snippet.is_running(), "the snippet has ended")
        left.append(snippet.is_running())
        (tmp_path / "pass").touch()

    killing = threading.Thread(target=kill)
    killing.start()
    result = run(project, shared)
    killing.join()
    assert result.code == 0, result.text
    assert left == [False]
    assert f"a worker was lost while it ran demo/{slow}; it runs again" in result.err
    assert len(project.records("epyc-avx2")) == 4
    for worker in workers.values():
        shared.end(worker)
    shared.ready(0)


def test_a_snippet_that_ends_its_workers(shared: Fleet, project: Project, slow: str, tmp_path: Path) -> None:
    """After the second worker it is reported, not tried again; the third worker captures the rest."""
    (tmp_path / "pass").touch()
    workers = [shared.worker("epyc-avx2") for _ in range(3)]
    shared.ready(3)
    project.snippet("demo/killer", KILLER)
    result = run(project, shared)
    assert result.code == 1
    assert "epyc-avx2: 4 captured, 1 refused" in result.out
    assert "refused    demo/killer (0.0 s): its worker was lost twice" in result.out
    assert result.err.count("demo/killer; it runs again") == 1
    assert sum(worker.poll() is None for worker in workers) == 1
    for worker in workers:
        shared.end(worker)
    shared.ready(0)


def test_the_last_worker_of_a_host(
    shared: Fleet, project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What nobody is left to capture is reported; the other host goes on. A worker that comes later may help."""
    (tmp_path / "pass").touch()
    monkeypatch.setattr(runs, "NO_WORKER", 0.0)
    project.snippet("demo/killer", KILLER)
    last, other = shared.worker("epyc-avx2"), shared.worker("xeon", "xeon")
    shared.ready(2)
    result = run(project, shared, "demo/killer")
    assert result.code == 1
    assert (
        result.out.count("no worker of") == 2 and "no worker of xeon is left; start one, then run again" in result.out
    )
    for worker in (last, other):
        shared.end(worker)
    shared.ready(0)


def test_killed_client_leaves_whole_records(shared: Fleet, project: Project, slow: str, tmp_path: Path) -> None:
    """After kill -9 of the client its workers abandon what they execute; the same command goes on."""
    worker = shared.worker("epyc-avx2", threads=2)
    shared.ready(1)
    with project.start("run", "--python", project.python, "--fleet", shared.address) as process:
        until(lambda: len(processes_with(slow)) == 1 and len(stored(project)) == 3, "all run or have run")
        process.kill()
        process.wait()
    until(lambda: not processes_with(slow), "the worker has abandoned it")
    assert len(project.records("epyc-avx2")) == 3
    assert not list(project.root.rglob("*.tmp-*"))
    (tmp_path / "pass").touch()
    result = run(project, shared)
    assert (result.code, result.added) == (0, (f"docs/captures/epyc-avx2/demo/{slow}.yaml",))
    (tmp_path / "pass").unlink()
    with project.start("run", "--python", project.python, "--fleet", shared.address, "--force") as process:
        until(lambda: len(processes_with(slow)) == 1, "it runs")
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "interrupted: " in err and "Traceback" not in err
    until(lambda: not processes_with(slow), "the worker has abandoned it")
    shared.end(worker)
    shared.ready(0)


def test_who_waits_is_told_for_what(
    shared: Fleet, project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker that does another client's work first, and one that is overdue: a line each, and the run goes on."""
    worker = shared.worker("epyc-avx2")
    shared.ready(1)
    os.mkfifo(tmp_path / "busy")
    told: list[str] = []

    def tell(line: str) -> None:
        told.append(line)
        if line.startswith("waiting for 1 worker (tcp://127.0.0.1:"):
            (tmp_path / "busy").write_text("free")
        if "hangs, or does other work" in line:
            (tmp_path / "pass").touch()

    monkeypatch.setattr(questions, "PATIENCE", 0.0)
    monkeypatch.setattr(runs, "LATE", -1e6)
    monkeypatch.setattr(fleets_command, "tell", tell)
    with Client(shared.address) as other:
        doing = other.submit(eval, f"open({str(tmp_path / 'busy')!r}).read()")
        until(lambda: other.processing() and any(other.processing().values()), "it works for another client")
        result = run(project, shared)
        assert doing.result() == "free"
    assert (result.code, len(project.records("epyc-avx2"))) == (0, 4)
    assert len([line for line in told if line.startswith("waiting for")]) == 1
    assert len(told) == len(set(told))
    shared.end(worker)
    shared.ready(0)


@pytest.mark.slow
def test_a_nanny_brings_another_worker(shared: Fleet, project: Project, tmp_path: Path) -> None:
    """A worker that its nanny starts again takes part; its one thread a library is not the host's nature."""
    (tmp_path / "pass").touch()
    project.snippet("demo/killer", KILLER)
    project.snippet("demo/threads", "import os\nprint(os.environ.get('OMP_NUM_THREADS'))")
    nanny = shared.worker("epyc-avx2", nanny=True)
    shared.ready(1)
    result = run(project, shared)
    assert result.code == 1
    assert "epyc-avx2: 5 captured, 1 refused" in result.out
    assert project.record("demo/threads", "epyc-avx2").stdout == f"{os.environ.get('OMP_NUM_THREADS')}\n"
    shared.end(nanny)


@pytest.mark.slow
def test_a_lost_scheduler(project: Project, slow: str, tmp_path: Path) -> None:
    """The run ends with a sentence, what was finished is stored, and the workers abandon the rest."""
    with fleet(tmp_path) as found:
        found.worker("epyc-avx2", threads=2)
        found.ready(1)
        with project.start("run", "--python", project.python, "--fleet", found.address) as process:
            until(lambda: len(processes_with(slow)) == 1 and len(stored(project)) == 3, "all run or have run")
            found.processes[0].kill()
            _, err = process.communicate(timeout=60)
        assert process.returncode == 2, err
        assert "the fleet's scheduler is gone" in err and "Traceback" not in err
        assert len(project.records("epyc-avx2")) == 3
        until(lambda: not processes_with(slow), "the worker has abandoned it")
