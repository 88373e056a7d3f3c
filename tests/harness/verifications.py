"""Verifications as `capture verify --json` prints them, and a captured handbook in which to make some."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from capture import store
from capture.record import record as records
from capture.record import verification
from capture.record.record import Record, content_digest
from capture.record.verification import Reproduction, Verification, VerificationEnvironment
from harness.project import Project, Run

LABEL = "desk-cpu"
CONFIG = f"site_name: test\nextra:\n  capture:\n    default_host: {LABEL}\n"
HERE = VerificationEnvironment("Intel Xeon, AVX2, 4 vCPU (virtual machine)", "Ubuntu 24.04", "3.13.1", "2.13.0+cpu")


def result(item: Record, **changes: Any) -> Reproduction:
    """Return the result about a record that was reproduced; keywords change it."""
    good = Reproduction(item.snippet, item.host, content_digest(item), "reproduced", "identical", "")
    return replace(good, **changes)


def verified(*results: Reproduction, **changes: Any) -> Verification:
    """Return a verification of these results; keywords change it."""
    label = results[0].host if results else "epyc"
    good = Verification(verification.SCHEMA, label, "0.1.0", "2026-11-30", HERE, results)
    return replace(good, **changes)


def captured(root: Path) -> Project:
    """Return three snippets captured under a label; `demo/moody` does what a file beside the handbook says."""
    root.mkdir()
    found = Project(root)
    found.write("mkdocs.yml", CONFIG)
    found.snippet("demo/moody", f"exec(open({str(root.parent / 'mood')!r}).read())")
    found.snippet("demo/plain", 'print("plain")')
    found.snippet("other/number", "print('took 1.00 us, 7 apples')", compare={"volatile": [r"took [\d.]+ us"]})
    (root.parent / "mood").write_text("print('same')\nprint('kernels AVX512')", "utf-8")
    assert found.run("--host", LABEL).code == 0
    return found


def copy_of(known: Project, root: Path) -> Project:
    """Return a copy of a handbook."""
    shutil.copytree(known.root, root)
    return Project(root)


def moods(known: Project) -> Iterator[Callable[[str], object]]:
    """Yield what changes the code of `demo/moody`, in all copies, and change it back."""
    path = known.root.parent / "mood"
    before = path.read_text("utf-8")
    yield lambda code: path.write_text(code, "utf-8")
    path.write_text(before, "utf-8")


def verify(project: Project, *arguments: str, env: Mapping[str, str] | None = None) -> Run:
    """Verify with the handbook's interpreter; whatever comes of it, no file of the handbook is touched."""
    done = project.capture("verify", "--python", project.python, *arguments, env=env)
    assert done.untouched
    assert "Traceback" not in done.text
    return done


def results(project: Project, *arguments: str) -> tuple[int, dict[str, Reproduction]]:
    """Verify as JSON; return exit code and results by snippet."""
    done = verify(project, "--json", *arguments)
    found = verification.parse(done.out, "stdout", "")
    return done.code, {item.snippet: item for item in found.results}


def edit(project: Project, snippet: str, sealed: bool = True, environment: Any = None, **changes: Any) -> Record:
    """Change a stored record, sealed anew as another host would have written it, or as by hand."""
    item = project.record(snippet, LABEL)
    item = replace(item, environment=replace(item.environment, **environment or {}), **changes)
    item = records.sealed(item) if sealed else item
    store.write_record(project.book, item)
    return item
