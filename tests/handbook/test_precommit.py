"""The hooks that others name in their pre-commit configuration."""

from __future__ import annotations

import tomllib

import pytest
import yaml
from harness.handbooks import REPOSITORY
from typer.testing import CliRunner

from capture.cli.app import app

HOOKS = {hook["id"]: hook for hook in yaml.safe_load((REPOSITORY / ".pre-commit-hooks.yaml").read_text("utf-8"))}


@pytest.mark.parametrize("name", HOOKS)
def test_a_hook_runs_whatever_is_committed(name: str) -> None:
    """A removed snippet makes an orphan, and pre-commit passes no removed file; names would be refused as arguments."""
    hook = HOOKS[name]
    assert (hook["always_run"], hook["pass_filenames"], hook["require_serial"]) == (True, False, True)
    command = hook["entry"].split()
    assert command[0] == "capture"
    assert CliRunner().invoke(app, [*command[1:], "--help"]).exit_code == 0


def test_the_hook_with_its_own_environment_can_check_pages() -> None:
    """It installs what the site is built with, at the same versions; builds alone draw notebooks."""
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text("utf-8"))["project"]
    assert HOOKS["capture-check"]["language"] == "python"
    assert HOOKS["capture-check"]["additional_dependencies"] == [
        pin for pin in project["optional-dependencies"]["site"] if not pin.startswith("mkdocs-jupyter")
    ]
    assert "capture" in project["scripts"]
