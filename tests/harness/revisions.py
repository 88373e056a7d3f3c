"""Two states of a small handbook: in two folders for the rules, in a git repository for the command."""

from __future__ import annotations

import atexit
import functools
import shutil
import tempfile
from pathlib import Path
from typing import Any

from capture.check import rules
from capture.review import handbook_changes
from capture.review.handbook_changes import HandbookChanges
from capture.review.record_change import RecordChange
from harness.checks import edit
from harness.handbooks import Handbook, make_handbook, record, script
from harness.handbooks import host as make_host
from harness.project import Run
from harness.repositories import GIT, Repository

PLAIN = script('print("a 1")')
OTHER = script('print("a 2")')
RECORD = "docs/captures/epyc/a/one.yaml"
HOME = "/home/" + "sam/model"
SPEED = {
    "timing": True,
    "values": {"slowdown": r"slowdown +([\d.]+|nan|inf)x"},
    "compare": {"ratio": {"slowdown": 3.0}},
}
TIMING = script("print(1)", **SPEED)


def compared(base: Handbook, head: Handbook) -> HandbookChanges:
    """Compare two states as the command does."""
    old, new = base.catalogue(), head.catalogue()
    problems, known = (rules.check(cat, (), ()).problems for cat in (new, old))
    return handbook_changes.compare_handbooks(old, new, ("base", "head"), problems, known)


def claiming(holds: str, name: str = "small", **options: Any) -> str:
    """Return the plain snippet with a claim about its value."""
    claim = {name: {"says": "it is small", "holds": holds}}
    return script('print("a 1")', **{"values": {"a": r"a (\d+)"}, **options}, claims=claim)


def states(folder: Path, base: dict[str, Any], head: dict[str, Any]) -> tuple[Handbook, Handbook, HandbookChanges]:
    """Write two states, one snippet with one record unless said otherwise, and compare them."""
    usual: dict[str, Any] = {"snippets": {"a/one": PLAIN}, "records": [record("a/one", stdout="a 1\n")]}
    made = (("base", usual | base), ("head", usual | head))
    old, new = (make_handbook(folder / name, **parts, site=False) for name, parts in made)
    return old, new, compared(old, new)


def between(folder: Path, base: dict[str, Any], head: dict[str, Any]) -> HandbookChanges:
    """Return the changes between two states."""
    return states(folder, base, head)[2]


def damaged(folder: Path, path: str, old: str, new: str) -> HandbookChanges:
    """Return the changes where one file of the new state was edited by hand."""
    base, head, _ = states(folder, {}, {})
    edit(head, path, old, new)
    return compared(base, head)


def kinds(found: HandbookChanges) -> dict[str, str]:
    """Return the class of each change by its capture."""
    return {f"{item.snippet} on {item.host}": item.kind for item in found.records}


def only(found: HandbookChanges) -> RecordChange:
    """Return the one change."""
    (change,) = found.records
    return change


class Compared(Repository):
    """A handbook in a git repository of its own, at its top or in a folder of it."""

    def __init__(self, root: Path, top: Path | None = None) -> None:
        root.mkdir(parents=True, exist_ok=True)
        super().__init__(root, top)
        self.git("init", "-q", "-b", "main", str(self.top))

    def identity(self, name: str) -> str:
        """Return the object of a revision or a path in one."""
        return self.git("rev-parse", name).strip()

    def diff(self, *arguments: str, **options: Any) -> Run:
        """Run `capture diff`; whatever it says, it writes nothing."""
        result = self.capture("diff", *arguments, env=GIT, **options)
        assert result.untouched, (result.changed, result.added, result.removed)
        assert "Traceback" not in result.text
        return result


def fill(book: Compared) -> None:
    """Write one snippet, one host and one record."""
    book.write("snippets/a/one.py", PLAIN)
    book.keep(make_host())
    book.keep(record("a/one", stdout="a 1\n"))


def upgraded(book: Compared) -> None:
    """Capture with another torch, which prints something else."""
    book.keep(record("a/one", stdout="a 2\n", torch="2.14.1+cpu"))


@functools.cache
def committed() -> Path:
    """Return a repository with one commit, made once."""
    folder = Path(tempfile.mkdtemp(prefix="repository-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    book = Compared(folder)
    fill(book)
    book.commit()
    return folder


def copy(folder: Path) -> Compared:
    """Return a copy of it."""
    shutil.copytree(committed(), folder)
    return Compared(folder)
