"""`capture review` when something else changes the files meanwhile, and when it is killed in between."""

from __future__ import annotations

import os
import shutil
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from harness.handbooks import host, record
from harness.repositories import FACTS, NEW, ONE, Repository, reviewed, with_changes

from capture import store
from capture.cli import review
from capture.store import host_lock


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    """Made once."""
    return with_changes(tmp_path_factory.mktemp("repository"))


@pytest.fixture
def project(tmp_path: Path, shared: Repository) -> Repository:
    """A copy of it."""
    return shared.copied(tmp_path / "copy")


@pytest.mark.parametrize("accepting", [True, False])
def test_what_changes_meanwhile_is_not_decided(project: Repository, accepting: bool) -> None:
    """Only what was shown can be accepted or rejected: a record written since is looked at again."""
    session = review.begin_review(project.book, ["demo"], "")
    project.keep(record("demo/one", stdout="newer\n"))
    store.write_host(project.book, host("h200", title="Another"))
    left = session.decide(accepting, session.items)
    assert [item.entry.path for item in left] == ([ONE, NEW] if accepting else [ONE])
    assert "newer" in project.read(ONE) and project.status(ONE) == [f" M {ONE}"]


def test_a_commit_meanwhile(project: Repository) -> None:
    """Where HEAD moves during a review, what was compared is no longer the other side: nothing is decided."""
    session = review.begin_review(project.book, ["demo"], "")
    project.git("commit", "--quiet", "--allow-empty", "--message", "meanwhile")
    assert session.decide(False, session.items) == session.items
    assert set(session.refused.values()) == {2}
    assert project.status(ONE) == [f" M {ONE}"]


def test_a_run_meanwhile(project: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    """While a run captures on a host its records are not decided."""
    monkeypatch.setattr(host_lock, "PATIENCE", 0.0)
    with store.held(project.book, "epyc", pytest.fail):
        code, said = reviewed(project, "--reject", "--all")
    assert (code, "another run captures epyc" in said) == (2, True)
    assert project.status("docs/captures/epyc/demo") == [f" M {ONE}"]


def test_one_review_after_another_in_the_same_second(project: Repository) -> None:
    """What is kept is never replaced."""
    for number in range(3):
        project.keep(record("demo/one", stdout=f"{number}\n"))
        session = review.begin_review(project.book, ["demo/one"], "epyc")
        session.stamp = "2026-11-29T12-00-00"
        assert session.decide(False, session.items) == []
    kept = [path.read_text("utf-8") for path in sorted((project.root / ".cache/rejected").glob("*/epyc/demo/one.yaml"))]
    assert [f"stdout: |\n  {number}\n" in text for number, text in enumerate(kept)] == [True] * 3


def killed(act: Callable[[], object], moment: int) -> bool:
    """Do something in a child that is killed before its n-th change of a file or call of git; tell whether it was."""
    child = os.fork()
    if child == 0:
        changes = 0

        def hook(event: str, arguments: tuple[Any, ...]) -> None:
            nonlocal changes
            writes = event == "open" and isinstance(arguments[2], int) and arguments[2] & (os.O_WRONLY | os.O_RDWR)
            if writes or event in ("os.rename", "os.remove", "os.mkdir", "os.rmdir", "subprocess.Popen"):
                changes += 1
                if changes > moment:
                    os.kill(os.getpid(), signal.SIGKILL)

        try:
            sys.addaudithook(hook)
            act()
        finally:
            os._exit(0)
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])


@pytest.mark.skipif(os.name != "posix", reason="fork and signals")
def test_killed_at_any_moment_no_side_is_lost(shared: Repository, tmp_path: Path) -> None:
    """After kill -9 each file is whole, what was rejected is there or kept, and the next review ends it."""
    rejected = {path: shared.read(path) for path in (ONE, NEW, FACTS)}
    for moment in range(0, 1000, 3):
        project = shared.copied(tmp_path / str(moment))
        session = review.begin_review(project.book, [], "")
        died = killed(lambda: session.decide(False, session.items), moment)  # noqa: B023  called at once
        kept = project.rejected().values()
        for path, text in rejected.items():
            here = project.read(path) if (project.root / path).exists() else None
            committed = project.git("show", f"HEAD:./{path}") if path == ONE else None
            assert here == text or (here == committed and text in kept), (moment, path)
        assert reviewed(project, "--reject", "--all")[0] == 0
        assert project.status("docs") == [] and not list(project.book.captures.rglob(".*.tmp-*")), moment
        shutil.rmtree(project.top)
        if not died:
            break
    assert moment > 30  # it did end many times in between
