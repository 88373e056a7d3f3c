"""A small handbook in which the static rules find nothing, and how to damage it."""

from __future__ import annotations

from pathlib import Path

from capture.check.findings import Findings
from capture.check.rules import check
from capture.errors import Problem
from harness.handbooks import Handbook, make_handbook, record, script
from harness.handbooks import host as make_host

BODY = '"""Proves it."""\n\nprint("slowdown 42.7x")\n'
SPEED = script(
    BODY, values={"slowdown": r"slowdown ([\d.]+)x"},
    claims={"slower": {"says": "it is slower", "holds": "slowdown > 5"}, "here": {"says": "a", "holds": "1 == 1"}},
)  # fmt: skip
RECORD, HOST = "docs/captures/epyc/a/speed.yaml", "docs/captures/epyc/host.yaml"
TOKEN = "hf_" + "Z" * 34


def clean_handbook(folder: Path) -> Handbook:
    """Return a handbook of one snippet with one good record."""
    good = record("a/speed", stdout="slowdown 42.7x\n")
    return make_handbook(folder, {"a/speed": SPEED}, [make_host()], [good])


def found(book: Handbook, *strict: str, pages: tuple[Problem, ...] = ()) -> Findings:
    """Run every rule."""
    return check(book.catalogue(), strict, pages)


def edit(book: Handbook, path: str, old: str, new: str) -> int:
    """Change one place of a file and return its line."""
    file = book.root / path
    text = file.read_text("utf-8")
    assert text.count(old) == 1, old
    book.write(path, text.replace(old, new))
    return text.count("\n", 0, text.index(old)) + 1
