"""What `capture verify` does not execute: with its reason, and with exit 2 where a file is at fault."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from harness.handbooks import record
from harness.headers import TIMED
from harness.project import Project, bare_interpreter
from harness.verifications import LABEL, captured, copy_of, edit, moods, results, verify

from capture.record import verification
from capture.record.verification import Reproduction


@pytest.fixture(scope="module")
def once_captured(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Three captured snippets; shared, so nobody changes it."""
    return captured(tmp_path_factory.mktemp("captured") / "book")


@pytest.fixture
def project(tmp_path: Path, once_captured: Project) -> Project:
    """A copy of it."""
    return copy_of(once_captured, tmp_path / "book")


@pytest.fixture
def mood(once_captured: Project) -> Iterator[Callable[[str], object]]:
    """Change what `demo/moody` does, until the test ends."""
    yield from moods(once_captured)


def test_another_torch_is_not_executed(project: Project, mood: Callable[[str], object]) -> None:
    """A record of another torch says nothing about this one: skipped, with both versions, and told."""
    edit(project, "demo/moody", environment={"torch": "2.13.0+cpu"})
    mood("raise SystemExit('executed')")
    done = verify(project, "demo/moody")
    assert (done.code, done.err) == (0, "")
    assert "  skipped    captured with torch 2.13.0+cpu, this interpreter has none: demo/moody\n" in done.out
    assert "nothing was executed" in done.out


def test_another_build_of_torch_is_another_torch(project: Project, tmp_path: Path) -> None:
    """2.13.0+cpu and 2.13.0+cu130 answer differently; the very same one is verified."""
    fake = {
        "torch/__init__.py": "from torch.version import __version__",
        "torch/version.py": "__version__ = '2.13.0+cpu'",
    }
    project.python = bare_interpreter(tmp_path / "env", fake)
    edit(project, "demo/plain", environment={"torch": "2.13.0+cu130"})
    assert "captured with torch 2.13.0+cu130, this interpreter has 2.13.0+cpu" in verify(project, "demo/plain").out
    edit(project, "demo/plain", environment={"torch": "2.13.0+cpu"})
    code, found = results(project, "demo/plain")
    assert (code, found["demo/plain"].outcome) == (0, "reproduced")


def test_torch_that_fails_to_import(project: Project, tmp_path: Path) -> None:
    """A broken installation is exit 2; what needs no torch is verified all the same, the rest is skipped."""
    broken = {
        "torch/__init__.py": "raise OSError('libgomp.so is missing')",
        "torch/version.py": "__version__ = '2.13.0'",
    }
    project.python = bare_interpreter(tmp_path / "env", broken)
    project.snippet("demo/tensor", "import torch", dependencies=["torch"])
    project.keep(record("demo/tensor", LABEL, torch="2.13.0", stdout=""))
    for name in ("demo/moody", "demo/plain", "other/number"):
        edit(project, name, environment={"torch": "2.13.0"})
    code, found = results(project)
    assert (code, found["demo/plain"].outcome, found["demo/tensor"].outcome) == (2, "reproduced", "skipped")
    assert "torch fails to import" in found["demo/tensor"].detail


@pytest.mark.parametrize(
    ("options", "changes", "reason"),
    [
        (TIMED, {}, "a timing is not verified"),
        ({}, {"source_sha256": "5" * 64}, "stale: source changed since"),
        ({}, {"status": "timeout", "exit_code": None}, "its capture ended with timeout"),
        ({"needs": ["cuda"]}, {}, "needs cuda"),
        ({"needs": ["module:no_such_module"]}, {}, "needs the module no_such_module"),
        ({"dependencies": ["numpy>=2"]}, {"packages": {"numpy": "2.4.6"}}, "numpy>=2 is not installed"),
    ],
    ids=["timing", "stale", "failed", "gate", "module", "dependency"],
)
def test_what_is_skipped(project: Project, options: dict[str, Any], changes: dict[str, Any], reason: str) -> None:
    """What cannot be verified here is not executed, has its reason, and fails nothing."""
    project.snippet("demo/special", "raise SystemExit('executed')", **options)
    project.keep(record("demo/special", LABEL, **{"torch": None, "stdout": "", **changes}))
    code, found = results(project)
    assert code == 0
    assert found.pop("demo/special") == Reproduction(
        "demo/special", LABEL, project.record("demo/special", LABEL).content_sha256, "skipped", None, reason
    )
    assert {item.outcome for item in found.values()} == {"reproduced"}


def test_a_snippet_without_a_record(project: Project) -> None:
    """There is nothing to compare with; why the host has none is told where it is known."""
    project.snippet("demo/new", "print(1)")
    project.snippet("demo/gpu", "print(1)", needs=["cuda"])
    code, found = results(project, "demo")
    assert (code, found["demo/new"].content_sha256) == (0, None)
    assert found["demo/new"].detail == f"{LABEL} has no record of it"
    assert found["demo/gpu"].detail == f"{LABEL} has no record of it (needs cuda)"


def test_a_device_that_only_one_host_has(project: Project, mood: Callable[[str], object]) -> None:
    """A difference beside another gate says nothing about the record; the same output is reproduced nevertheless."""
    gates = {**project.record("demo/moody", LABEL).environment.gates, "cuda": True}
    edit(project, "demo/moody", environment={"gates": gates})
    assert verify(project, "demo/moody").code == 0
    mood("print('same')\nprint('no device')")
    code, found = results(project, "demo/moody")
    assert (code, found["demo/moody"].outcome) == (0, "skipped")
    assert found["demo/moody"].detail.startswith("not comparable: captured with cuda, run without it; line 2: ")


def test_a_damaged_record(project: Project) -> None:
    """It is named with its line, exit 2, and the others are verified."""
    path = f"docs/captures/{LABEL}/demo/plain.yaml"
    project.write(path, project.read(path) + "<<<<<<< ours\n")
    done = verify(project, "--json")
    found = {item.snippet: item for item in verification.parse(done.out, "stdout", "").results}
    assert done.code == 2
    assert f"{path}:" in done.err
    assert (found["demo/plain"].outcome, found["demo/plain"].detail) == ("skipped", "its record is damaged")
    assert found["other/number"].outcome == "reproduced"


def test_a_record_edited_by_hand(project: Project) -> None:
    """Its digest does not fit: nobody knows what was captured, so it is not executed, and exit 2."""
    edit(project, "demo/plain", sealed=False, stdout="forged\n")
    done = verify(project)
    assert done.code == 2
    assert f"docs/captures/{LABEL}/demo/plain.yaml: was edited by hand" in done.err
    assert f"{LABEL}: 2 reproduced, 1 skipped" in done.out
