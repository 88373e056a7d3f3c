"""The examples for clusters and matrices: they parse, name what exists, and do what the page says."""

from __future__ import annotations

import json
import os
import re
import shutil
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml
from harness.handbooks import REPOSITORY, record
from harness.project import PATIENCE, Project, environment
from harness.verifications import result, verified

from capture.cli.app import app
from capture.record import verification

TEXT = (REPOSITORY / "docs/contributing/offline.md").read_text("utf-8")
BLOCKS = re.findall(r"^```(sh|yaml)(?: title=\"([^\"]+)\")?\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)
SHELL = [text for language, _, text in BLOCKS if language == "sh"]
(SLURM,) = (text for _, title, text in BLOCKS if title == "capture.sbatch")
(WORKFLOW,) = (text for language, _, text in BLOCKS if language == "yaml")
MATRIX: dict[str, Any] = yaml.safe_load(WORKFLOW)
STEPS = [step["run"] for job in MATRIX["jobs"].values() for step in job["steps"] if "run" in step]


def bash(text: str, cwd: Path, env: dict[str, str] | None = None, *options: str) -> subprocess.CompletedProcess[str]:
    """Run a script as bash does that GitHub starts."""
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", *options, "-c", text],
        cwd=cwd, env=environment(env or {}), capture_output=True, text=True, timeout=PATIENCE, check=False,
    )  # fmt: skip


@pytest.mark.parametrize("text", [*SHELL, *STEPS])
def test_every_script_is_one(text: str, tmp_path: Path) -> None:
    """`bash -n` finds no fault, and every command of ours has the options that it is given."""
    done = bash(text, tmp_path, None, "-n")
    assert (done.returncode, done.stderr) == (0, "")
    group = typer.main.get_command(app)
    joined = text.replace("\\\n", " ")
    for name, rest in re.findall(r"(?:-m|\.venv/bin/)\s*capture (\w+)([^\n|&]*)", joined):
        command = group.commands[name]  # type: ignore[attr-defined]
        known = {option for parameter in command.params for option in parameter.opts}
        assert set(re.findall(r"(?<= )--[a-z-]+", rest)) <= known, name


def test_the_page_uses_the_commands() -> None:
    """What the tests above look at is there."""
    commands = set(re.findall(r"capture (run|bundle|import|check|verify) ", "".join([*SHELL, *STEPS]) + " "))
    assert {"run", "bundle", "import"} <= commands
    assert len(SHELL) >= 5


def test_actions_are_those_of_our_own_workflows() -> None:
    """Pinned to the same commits, so that an update there is not forgotten here."""
    own = "".join(path.read_text("utf-8") for path in (REPOSITORY / ".github/workflows").glob("*.yml"))
    used = re.findall(r"uses: (\S+@[0-9a-f]{40} # v\S+)", WORKFLOW)
    assert len(used) == WORKFLOW.count("uses:") == 5
    assert all(f"uses: {name}\n" in own for name in used)
    assert MATRIX["permissions"] == {"contents": "read"}
    count = len(MATRIX["jobs"]["share"]["strategy"]["matrix"]["number"])
    assert MATRIX["jobs"]["share"]["env"]["SHARE"].endswith(f"/{count}")


def tool(root: Path, text: str) -> None:
    """Put a program where the tool's interpreter is expected."""
    path = root / ".venv/bin/python"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n", "utf-8")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


@pytest.mark.parametrize(("code", "expected"), [(0, 0), (1, 0), (2, 1), (3, 1), (130, 1)])
def test_steps_fail_for_what_is_invalid_only(tmp_path: Path, code: int, expected: int) -> None:
    """A result to read ends no job; invalid data, something private and an interruption do."""
    tool(tmp_path, f'echo "$@"; exit {code}')
    for step in STEPS:
        if " run --host" in step or " import " in step:
            done = bash(step, tmp_path, {"LABEL": "h200", "SHARE": "3/4"})
            assert done.returncode == expected
            assert re.match(r"-m capture (run --host h200 --shard 3/4|import captures-\*\.tar\.gz)\n", done.stdout)
        elif " bundle " in step:
            done = bash(step, tmp_path, {"LABEL": "h200", "SHARE": "3/4"})
            assert done.stdout == "-m capture bundle --host h200 --shard 3/4 --output captures-3.tar.gz\n"


def test_the_slurm_script(tmp_path: Path) -> None:
    """Every task captures its share in a copy and leaves a bundle; all together are imported, each snippet once."""
    project = Project(tmp_path / "book")
    for name in ("one", "two", "three"):
        project.snippet(f"demo/{name}", f"print('{name}')")
    tool(project.root, f'exec "{sys.executable}" "$@"')
    before = project.state()
    settings = {"LABEL": "desk", "TORCH_PYTHON": project.python, "SLURM_SUBMIT_DIR": str(project.root)}
    settings |= {"SLURM_ARRAY_TASK_COUNT": "2", "TMPDIR": str(tmp_path / "node")}
    (tmp_path / "node").mkdir()
    (project.root / "docs").mkdir()
    for number in ("1", "2"):
        done = bash(SLURM, tmp_path, settings | {"SLURM_ARRAY_TASK_ID": number})
        assert done.returncode == 0, done.stdout + done.stderr
        assert f"share {number}/2: " in done.stdout
    added = sorted(project.state().keys() - before.keys())
    assert added == ["captures-desk-1.tar.gz", "captures-desk-2.tar.gz"]
    assert [path for path in (tmp_path / "node").iterdir() if not path.name.startswith("capture-")] == []
    came = project.capture("import", *added)
    assert came.code == 0, came.text
    assert project.records("desk") == ["demo/one", "demo/three", "demo/two"]
    assert "unchanged" not in came.out
    again = bash(SLURM, tmp_path, settings | {"SLURM_ARRAY_TASK_ID": "2", "SLURM_ARRAY_TASK_COUNT": "1", "SHARES": "2"})
    assert again.returncode == 0 and "share 2/2: " in again.stdout


@pytest.mark.skipif(shutil.which("jq") is None, reason="jq is not installed")
def test_shares_of_a_verification_are_joined(tmp_path: Path) -> None:
    """The document is one that a build takes."""
    items = [record(f"x/{name}") for name in ("a", "b", "c")]
    for number, part in enumerate((items[:2], items[2:], [])):
        text = verification.text(verified(*map(result, part)))
        (tmp_path / f"verified-{number}.json").write_text(text, "utf-8")
    (line,) = (text for text in SHELL if text.startswith("jq"))
    assert bash(line, tmp_path, {"PATH": os.environ["PATH"]}).returncode == 0
    text = (tmp_path / "verified.json").read_text("utf-8")
    found = verification.decode(json.loads(text))
    assert [item.snippet for item in found.results] == ["x/a", "x/b", "x/c"]
