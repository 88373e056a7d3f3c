"""The workflows of this repository as data, and the scripts in them as files that can be run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from harness.handbooks import REPOSITORY

FOLDER = REPOSITORY / ".github" / "workflows"
NAMES = sorted(path.name for path in FOLDER.glob("*.yml"))


def text(name: str) -> str:
    """Return the text of a workflow."""
    return (FOLDER / name).read_text("utf-8")


def load(name: str) -> dict[str, Any]:
    """Return a workflow; YAML 1.1 reads its key `on` as true."""
    found: dict[Any, Any] = yaml.safe_load(text(name))
    return {"on" if key is True else str(key): value for key, value in found.items()}


def jobs(name: str) -> dict[str, dict[str, Any]]:
    """Return the jobs of a workflow."""
    found: dict[str, dict[str, Any]] = load(name)["jobs"]
    return found


def steps(name: str) -> list[tuple[str, dict[str, Any]]]:
    """Return every step of a workflow with the name of its job."""
    return [(job, step) for job, about in jobs(name).items() for step in about["steps"]]


def script(name: str, title: str) -> str:
    """Return the script of the step with a name."""
    (found,) = [step["run"] for _, step in steps(name) if step.get("name") == title]
    return str(found)


def bash(text: str, folder: Path, env: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    """Run a step as the runner does where `shell: bash` is chosen; the files it may write to are in the folder."""
    known = {name: str(folder / name) for name in ("GITHUB_ENV", "GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT")}
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", text], cwd=folder,
        env={name: value for name, value in os.environ.items() if not name.startswith("GIT")} | known | dict(env),
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip


def executable(path: Path, text: str) -> None:
    """Write a file that can be executed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    path.chmod(0o755)


# Answers by the first pattern that is in the method and the address; keeps every call. A jq expression of the script
# is applied by hand: it names the fields in order.
FAKE_GH = """#!{python}
import json, pathlib, re, sys

here = pathlib.Path(__file__).parent
arguments = sys.argv[2:]
taking = ("--method", "--jq", "--input", "-f")
address = next(one for before, one in zip(["", *arguments], arguments)
               if not one.startswith("-") and before not in taking)
method = arguments[arguments.index("--method") + 1] if "--method" in arguments else "GET"
sent = sys.stdin.buffer.read().decode() if "--input" in arguments else ""
with open(here / "calls", "a") as calls:
    print(json.dumps([method, address, arguments, sent]), file=calls)
for pattern, answer in json.loads((here / "answers.json").read_text()):
    if re.search(pattern, method + " " + address):
        break
else:
    sys.exit("gh: no such address in this test: " + method + " " + address)
if "error" in answer:
    sys.exit(answer["error"])
if "file" in answer:
    sys.stdout.buffer.write((here / answer["file"]).read_bytes())
elif "--jq" in arguments:
    for item in answer["items"]:
        print(json.dumps(item))
else:
    print(json.dumps(answer["items"]))
"""


@dataclass
class GitHub:
    """A fake `gh` on PATH: what it answers, and what it was asked."""

    folder: Path
    answers: list[tuple[str, dict[str, Any]]] = field(default_factory=list)

    def answer(self, pattern: str, items: object = None, error: str = "", file: bytes | None = None) -> None:
        """Say how a call is answered; the latest answer that fits counts."""
        told: dict[str, Any] = {"items": items}
        if error:
            told = {"error": error}
        elif file is not None:
            name = f"file{len(self.answers)}"
            (self.folder / name).write_bytes(file)
            told = {"file": name}
        self.answers.insert(0, (pattern, told))

    def run(self, script: str, event: object) -> subprocess.CompletedProcess[str]:
        """Run a script as the step does."""
        executable(self.folder / "gh", FAKE_GH.replace("{python}", sys.executable))
        (self.folder / "answers.json").write_text(json.dumps(self.answers), "utf-8")
        (self.folder / "event.json").write_text(json.dumps(event), "utf-8")
        (self.folder / "script.py").write_text(script, "utf-8")
        inherited = {name: value for name, value in os.environ.items() if not name.startswith(("GITHUB", "GH_"))}
        return subprocess.run(
            [sys.executable, self.folder / "script.py"], cwd=self.folder,
            env=inherited | {
                "PATH": f"{self.folder}{os.pathsep}{os.environ['PATH']}", "GH_TOKEN": "token-of-the-job",
                "GITHUB_REPOSITORY": "hub/book", "GITHUB_EVENT_PATH": str(self.folder / "event.json"),
                "GITHUB_STEP_SUMMARY": str(self.folder / "summary.md"),
            },
            capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip

    @property
    def calls(self) -> list[tuple[str, str, list[str], str]]:
        """Method, address, arguments and what was sent, of every call."""
        path = self.folder / "calls"
        return [tuple(json.loads(line)) for line in path.read_text("utf-8").splitlines()] if path.exists() else []

    @property
    def written(self) -> list[tuple[str, str, str]]:
        """Method, address and comment of the calls that write."""
        return [(method, at, json.loads(sent)["body"]) for method, at, _, sent in self.calls if method != "GET"]
