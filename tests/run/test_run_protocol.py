"""The protocol that a run here and one on a fleet share: how often it reads, what it holds, how it ends."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from harness.fleets import probe
from harness.handbooks import host
from harness.project import Project
from typer.testing import CliRunner, Result

from capture import store
from capture.cli.app import app
from capture.cli.run_outcome import exit_code
from capture.cli.run_protocol import run_hosts
from capture.errors import HostRefused
from capture.record.claims import JudgedClaims
from capture.record.record import Record
from capture.run.fleet import members
from capture.run.fleet.members import Member
from capture.run.host_run import HostResult, HostRun
from capture.run.plan import Plan
from capture.run.preflight import RunDecision
from capture.run.run_request import HostSelection, RunRequest, read_host, read_hosts
from capture.run.runner import RunResult
from capture.store import catalogue


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A handbook of one snippet, which leaves a trace of each execution."""
    found = Project(tmp_path / "book")
    found.snippet("demo/one", f"open({str(tmp_path / 'executions')!r}, 'a').write('x')\nprint('one', 1)")
    return found


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """One entry for each time that a catalogue is read."""
    real, counted = catalogue.read_handbook, list[int]()
    monkeypatch.setattr(catalogue, "read_handbook", lambda *some, **more: counted.append(1) or real(*some, **more))
    return counted


def run(project: Project, *arguments: str) -> Result:
    """Run `capture run` in this process."""
    return CliRunner().invoke(app, ["--root", str(project.root), "run", "--python", project.python, *arguments])


def executions(project: Project) -> int:
    """Return how often the snippet was executed."""
    trace = project.root.parent / "executions"
    return len(trace.read_text()) if trace.exists() else 0


def test_the_handbook_is_read_once_where_nothing_has_changed(project: Project, reads: list[int]) -> None:
    """What a run stored is read for the claims; a run that stores nothing reads once, whether it executes or not."""
    assert run(project).exit_code == 0
    assert (len(reads), executions(project)) == (2, 1)
    for arguments, executed in (((), 1), (("--dry-run",), 1), (("--force",), 2)):
        reads.clear()
        assert run(project, *arguments).exit_code == 0
        assert (len(reads), executions(project)) == (1, executed), arguments


def test_a_host_is_planned_again_only_where_a_file_changed_before_it_was_held(
    project: Project, reads: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What another run captured before this one held the host is current now, whether this one waited or not."""
    assert run(project).exit_code == 0
    path = project.root / "docs/captures/local/demo/one.yaml"
    data = path.read_bytes()
    path.unlink()

    @contextlib.contextmanager
    def held(*_: object) -> Iterator[bool]:
        path.write_bytes(data)
        yield False

    with monkeypatch.context() as patched:
        patched.setattr(store, "held", held)
        reads.clear()
        result = run(project)
    assert (result.exit_code, executions(project), len(reads)) == (0, 1, 2)
    assert "nothing to execute: every record this host can make is current\nlocal: 1 current" in result.output
    path.unlink()
    reads.clear()
    assert run(project).exit_code == 0
    assert (executions(project), len(reads)) == (2, 2)


@dataclass(frozen=True)
class Elsewhere:
    """Other machines on which everything that has a record is current, and nothing else can run."""

    labels: Sequence[str]
    remote: bool = True

    def decide(self, selection: HostSelection, force: bool) -> RunDecision:
        """Plan nothing."""
        current = tuple(selection.cat.records.values())
        unmet = {
            name: ("needs cuda",) for name in selection.ids if (selection.label, name) not in selection.cat.records
        }
        return RunDecision(Plan((), current, unmet), None, "")

    def execute(
        self, runs: Sequence[HostRun], stop: threading.Event, started: Callable[[str], None]
    ) -> Generator[HostResult, None, None]:
        """Execute nothing."""
        yield from ()


def test_the_hosts_of_a_fleet_are_read_once_together(
    project: Project, reads: list[int], capsys: pytest.CaptureFixture[str]
) -> None:
    """However many hosts take part; what is said of nothing to do is true of them."""
    for label in ("desk", "lap"):
        store.write_host(project.book, host(label))
    reading = read_hosts(RunRequest(project.book))
    fleet = Elsewhere(("desk", "lap"))
    assert run_hosts(reading, reading.of_sources(), lambda: contextlib.nullcontext(fleet), dry_run=False) == 0
    assert len(reads) == 1
    out = capsys.readouterr().out
    assert "nothing to execute: these hosts lack what the snippets need" in out
    assert "desk: 1 not for this host" in out and "lap: 1 not for this host" in out


def captured_with(project: Project, torch: str) -> Record:
    """Return a record of the project under the label `worker`, with another torch in it."""
    assert project.run("--host", "worker").code == 0
    item = project.record("demo/one", "worker")
    return replace(item, environment=replace(item.environment, torch=torch))


def test_an_older_torch_is_refused_on_a_fleet_too(project: Project) -> None:
    """A label is one machine with one software environment, wherever its snippets are executed."""
    item = captured_with(project, "2.13.0+cu130")
    selection = read_host(RunRequest(project.book), "worker")
    selection = replace(selection, cat=replace(selection.cat, records={("worker", "demo/one"): item}))
    told = probe("worker", torch="2.13.0+cpu")
    with pytest.raises(HostRefused, match=r'label "worker" has results of torch 2\.13\.0\+cu130'):
        members.decide(selection, Member("tcp://127.0.0.1:1", "worker", 1, told), force=False)


def test_what_is_refused_for_privacy_is_told_above_all(project: Project) -> None:
    """A host whose torch is broken ends with 3, not 2, where something private would have been stored."""
    selection = read_host(RunRequest(project.book), "local")
    ended = HostRun(RunRequest(project.book), selection, RunDecision(Plan((), (), {}), None, "libcudart is missing"))
    private = RunResult("demo/one", "private", "stdout:1: holds a token", 0.0)
    assert exit_code(ended, [private], JudgedClaims(), faulty=True) == 3
    assert exit_code(ended, [], JudgedClaims(), faulty=True) == 2


def test_one_lost_value_is_one_problem_however_many_claims_ask(project: Project) -> None:
    """It is told at its own line, whether or not a claim asks for it, and each claim that does is not judged."""
    claims = {name: {"says": f"it is small, {name}", "holds": "size < 10"} for name in ("a", "b")}
    project.snippet("demo/one", "print('length 12')", values={"size": "^size (.*)$"}, claims=claims)
    result = project.run()
    assert result.code == 2
    assert result.err.count("matches nothing") == 1
    checked = project.capture("check", "--records-only")
    assert checked.out.count("matches nothing") == 1 and "note: snippets/demo/one.py:" in checked.out
