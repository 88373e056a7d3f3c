"""The runner's memory while a snippet prints a gigabyte, against one that prints a line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from benchmarks import generated
from benchmarks.rounds import HERE, Measure, interleaved, python
from benchmarks.table import Grows, Row
from capture import store

FLOOD = 'import sys\n\nprint("first", 0)\nfor _ in range(1024):\n    sys.stdout.write(("x" * 63 + "\\n") * 16384)\n'
LINE = 'print("first", 0)\n'
LIFTED, AS_IS, QUIET = "runner, 1 GB printed, limit lifted", "runner, 1 GB printed, ended at 64 MiB", "one line printed"


def peak(root: Path, snippet: str, limit: int, printed: int) -> Measure:
    """Return a measure of the runner's highest resident memory in megabytes; a `limit` of 0 leaves the usual one.

    The record has to tell of as many `printed` bytes at least.
    """
    arguments = ("--root", root, "run", snippet, "--runs", "1", "--force", "--accept-failure")

    def measure() -> float:
        highest = python(HERE / "runner_peak.py", str(limit), *arguments).split()[-1]
        item = store.read_record(store.Handbook(root), "local", snippet)
        assert item is not None and (item.elided["stdout"].bytes if item.elided else len(item.stdout)) >= printed
        return int(highest) / 1e6

    return measure


def compare(folder: Path, rounds: int, tell: Callable[[str], None]) -> list[Row]:
    """Measure with the usual limit on output and without one."""
    generated.handbook(folder, [FLOOD, LINE])
    flood, line = f"{generated.CHAPTER}/s0000", f"{generated.CHAPTER}/s0001"
    sides = {
        LIFTED: peak(folder, flood, 2 << 30, printed=1 << 30),
        AS_IS: peak(folder, flood, 0, printed=64 << 20),
        QUIET: peak(folder, line, 0, printed=1),
    }
    found = interleaved(sides, rounds, tell)
    return [Row(name, QUIET, tuple(zip(found[name], found[QUIET], strict=True)), Grows(20)) for name in (LIFTED, AS_IS)]
