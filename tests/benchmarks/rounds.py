"""Runs the sides of a comparison in turn, so that whatever else the machine does hits all of them alike."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
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


@dataclass(frozen=True)
class Usage:
    """What a command took: seconds by the clock, seconds of CPU, and the most memory that one of its processes held."""

    seconds: float
    cpu_seconds: float
    megabytes: float


def clean_environment(more: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of a plain shell, with some more variables."""
    return {name: value for name, value in os.environ.items() if name not in DROPPED} | dict(more)


def used(*arguments: str | Path, cwd: Path, env: Mapping[str, str], codes: Sequence[int] = (0,)) -> Usage:
    """Run this interpreter and return what that took; raises RuntimeError where it ends with another exit code."""
    with tempfile.TemporaryFile() as said:
        started = time.perf_counter()
        child = subprocess.Popen(
            [sys.executable, *map(str, arguments)], cwd=cwd, env=clean_environment(env), stdout=said, stderr=said
        )
        _, status, usage = os.wait4(child.pid, 0)
        seconds = time.perf_counter() - started
        child.returncode = os.waitstatus_to_exitcode(status)
        said.seek(0)
        text = said.read().decode("utf-8", "replace")
    if child.returncode not in codes:
        raise RuntimeError(f"{' '.join(map(str, arguments))}: exit {child.returncode}\n{text}")
    return Usage(seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def python(*arguments: str | Path, cwd: Path | None = None) -> str:
    """Run this interpreter with arguments and return what it printed; raises RuntimeError where it fails."""
    done = subprocess.run(
        [sys.executable, *map(str, arguments)],
        cwd=cwd, env=clean_environment({}), capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        raise RuntimeError(f"{arguments[0]} {arguments[1]}: exit {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def capture(root: Path, *arguments: str) -> str:
    """Run `capture run` on a handbook and return what it printed."""
    return python("-m", "capture", "--root", root, "run", *arguments)
