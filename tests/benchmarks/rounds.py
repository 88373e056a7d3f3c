"""Runs the sides of a comparison in turn, so that whatever else the machine does hits all of them alike."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from benchmarks.table import Faster, Row, Within

Measure = Callable[[], float]
HERE = Path(__file__).resolve().parent
# What changes how Python starts; a benchmark runs as a plain shell would.
DROPPED = ("PYTHONPATH", "PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE", "PYTHONHASHSEED")


def interleaved(sides: Mapping[str, Measure], rounds: int, tell: Callable[[str], None]) -> dict[str, list[float]]:
    """Measure every side once a round, each round in another order, and return what each side gave."""
    names = list(sides)
    found: dict[str, list[float]] = {name: [] for name in names}
    for number in range(rounds):
        turn = number % len(names)
        for name in names[turn:] + names[:turn]:
            tell(f"round {number + 1} of {rounds}: {name}")
            found[name].append(sides[name]())
    return found


def row(found: Mapping[str, Sequence[float]], ours: str, theirs: str, wanted: Faster | Within) -> Row:
    """Return the comparison of two sides."""
    return Row(ours, theirs, tuple(zip(found[ours], found[theirs], strict=True)), wanted)


def timed(action: Callable[[], object], before: Callable[[], object] | None = None) -> Measure:
    """Return a measure of the seconds that an action takes; `before` runs first and is not counted."""

    def measure() -> float:
        if before is not None:
            before()
        started = time.perf_counter()
        action()
        return time.perf_counter() - started

    return measure


def python(*arguments: str | Path, cwd: Path | None = None) -> str:
    """Run this interpreter with arguments and return what it printed; raises RuntimeError where it fails."""
    env = {name: value for name, value in os.environ.items() if name not in DROPPED}
    done = subprocess.run(
        [sys.executable, *map(str, arguments)], cwd=cwd, env=env, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        raise RuntimeError(f"{arguments[0]} {arguments[1]}: exit {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def capture(root: Path, *arguments: str) -> str:
    """Run `capture run` on a handbook and return what it printed."""
    return python("-m", "capture", "--root", root, "run", *arguments)
