"""The commands beside `run`: what they print, write and return, and what they say where they cannot work."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest
from harness.executions import case
from harness.handbooks import host, record
from harness.project import Project, rows

from capture import store


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Three snippets on two hosts: current, stale, failed, missing, behind a gate, orphaned; one claim fails."""
    project = Project(tmp_path_factory.mktemp("book"), python="python")
    project.snippet("demo/first", "print('size 12')", values={"size": r"size (\d+)"})
    path = "snippets/demo/first.py"
    claim = '#\n# [tool.capture.claims.small]\n# says  = "it is small"\n# holds = "size < 10"\n# ///\n'
    project.write(path, project.read(path).removesuffix("# ///\n") + claim)
    project.snippet("demo/second", "print(2)")
    project.snippet("demo/third", "print(3)", needs=["cuda"])
    for label in ("epyc", "h200"):
        store.write_host(project.book, host(label, title=label.upper()))
    project.keep(record("demo/first", "epyc", stdout="size 12\n"))
    project.keep(record("demo/first", "h200", stdout="size 5\n", gates={"cuda": True}, torch="2.14.1+cu130"))
    project.keep(record("demo/second", "epyc", source_sha256="5" * 64, stdout="old\n"))
    project.keep(
        record("demo/third", "h200", status="timeout", exit_code=None, gates={"cuda": True}, torch="2.14.1+cu130"),
    )
    project.keep(record("demo/gone", "epyc", source_sha256="5" * 64))
    return project


@pytest.fixture
def project(tmp_path: Path, shared: Project) -> Project:
    """A copy of it."""
    shutil.copytree(shared.root, tmp_path, dirs_exist_ok=True)
    return Project(tmp_path, python="python")


def test_status_is_a_matrix_in_words(project: Project) -> None:
    """Each snippet by each host: the state, how it ended where not well, and a claim that fails."""
    result = project.capture("status")
    assert (result.code, result.untouched, result.err) == (0, True, "")
    assert rows(result.out) == {
        "snippet": ["epyc", "h200"],
        "demo/first": ["current claim fails", "current"],
        "demo/second": ["stale", "missing"],
        "demo/third": ["gate unmet", "current timeout"],
        "demo/gone": ["orphan"],
    }


def test_status_as_json(project: Project) -> None:
    """The same for programs, with reasons."""
    result = project.capture("status", "--json")
    matrix = {row["snippet"]: row for row in json.loads(result.out)}
    assert matrix["demo/first"]["hosts"]["epyc"]["claims_failing"] == ["small"]
    assert matrix["demo/second"]["hosts"]["epyc"]["reasons"] == ["source changed since"]
    assert matrix["demo/third"]["hosts"]["epyc"] == {
        "state": "gate unmet", "reasons": ["needs cuda"], "status": None, "captured": None, "torch": None,
        "claims_failing": [],
    }  # fmt: skip
    assert matrix["demo/third"]["hosts"]["h200"]["status"] == "timeout"
    assert matrix["demo/gone"]["title"] is None


def test_status_before_any_capture(tmp_path: Path) -> None:
    """An empty handbook says how to start."""
    result = Project(tmp_path).capture("status")
    assert (result.code, result.out) == (0, "no host has captured yet; start with: capture run\n")


def test_status_names_what_it_cannot_read(project: Project) -> None:
    """A damaged record and a faulty snippet are named on stderr, also beside JSON; no record of it is an orphan."""
    path = "docs/captures/epyc/demo/first.yaml"
    project.write(path, project.read(path)[:200])
    project.write("snippets/demo/second.py", "print(2)\n")
    result = project.capture("status", "--json")
    assert f"{path}:" in result.err and "snippets/demo/second.py:2: no header" in result.err
    matrix = {row["snippet"]: row for row in json.loads(result.out)}
    assert matrix["demo/second"]["hosts"]["epyc"]["state"] == "faulty snippet"
    assert "would remove docs/captures/epyc/demo/second.yaml" not in project.capture("prune").out


def test_show_puts_hosts_beside_each_other(project: Project) -> None:
    """One snippet: chip, torch, gate, date, state and output of every host, claims with reasons, absences."""
    result = project.capture("show", "demo/first")
    assert result.code == 0
    assert re.search(r"epyc +│ h200", result.out)
    assert re.search(r"torch 2\.13\.0\+cpu; cuda no.* torch 2\.14\.1\+cu130; cuda yes", result.out)
    assert re.search(r"size 12 +│ size 5", result.out)
    assert re.search(r"fails +epyc: it is small \(size < 10, but size is 12\)", result.out)
    assert re.search(r"holds +h200: it is small", result.out)
    assert "h200: missing" in project.capture("show", "demo/second").out
    assert "epyc: gate unmet: needs cuda" in project.capture("show", "demo/third").out


def test_show_makes_control_characters_visible(project: Project) -> None:
    """A stranger's record or title cannot drive the reviewer's terminal."""
    project.keep(record("demo/second", "epyc", stdout="\x1b]0;owned\x07\x1b[2Jtext \u202eflipped\n"))
    result = project.capture("show", "demo/second")
    assert not set("\x1b\x07\u202e") & set(result.text)
    assert "\\x1b[2Jtext \\u202eflipped" in result.out


def test_show_keeps_long_lines(project: Project) -> None:
    """A table of 120 columns is not broken where the output is piped."""
    line = "x" * 60 + " " + "y" * 59
    project.keep(record("demo/second", "epyc", stdout=line + "\n"))
    assert line in project.capture("show", "demo/second").out


@pytest.mark.parametrize("given", ["demo/frist", "snippets/demo/frist.py"])
def test_show_of_an_unknown_snippet(project: Project, given: str) -> None:
    """The nearest id is named."""
    result = project.capture("show", given)
    assert (result.code, result.err) == (2, 'no snippet "demo/frist"; did you mean "demo/first"?\n')


def test_show_of_a_faulty_snippet_says_why(project: Project) -> None:
    """A snippet that cannot be read is not called unknown without its reason."""
    project.write("snippets/demo/second.py", "print(2)\n")
    result = project.capture("show", "demo/second")
    assert result.code == 2
    assert "snippets/demo/second.py:2: no header" in result.err


@case("store-subset-delete")
def test_prune_lists_then_removes(case: str, project: Project) -> None:
    """Records without a snippet are listed; only --yes removes them, and nothing else."""
    path = "docs/captures/epyc/demo/gone.yaml"
    listed = project.capture("prune")
    assert (listed.code, listed.untouched) == (0, True)
    assert listed.out == f"would remove {path}\nremove them with: capture prune --yes\n"
    removed = project.capture("prune", "--yes")
    assert (removed.code, removed.removed, removed.changed) == (0, (path,), ())
    assert project.capture("prune").out == "no orphan record\n"


def test_new_writes_a_snippet_that_works(tmp_path: Path) -> None:
    """The template parses, its claim can be judged, and what to do next is said; it overwrites nothing."""
    project = Project(tmp_path)
    result = project.capture("new", "demo/first_steps")
    assert (result.code, result.added) == (0, ("snippets/demo/first_steps.py",))
    assert result.out == "wrote snippets/demo/first_steps.py; fill it in, then: capture run demo/first_steps\n"
    assert project.parsed("demo/first_steps").title == "first steps"
    again = project.capture("new", "demo/first_steps")
    assert (again.code, again.untouched) == (2, True)
    assert "exists; choose another name" in again.err


@pytest.mark.parametrize("name", ["first", "Demo/first", "demo/first-steps", "demo/a/b", "../demo/x", "demo/"])
def test_new_refuses_other_names(tmp_path: Path, name: str) -> None:
    """A name that could not be an id is refused with the form it should have."""
    result = Project(tmp_path).capture("new", name)
    assert (result.code, result.untouched) == (2, True)
    assert "CHAPTER/NAME" in result.err
