"""Commands over many records, against the fastest read of the same bytes: time, growth, and memory."""

from __future__ import annotations

import dataclasses
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

from benchmarks import lessons, unchanged
from benchmarks.generated import write
from benchmarks.rounds import HERE, Usage, used
from benchmarks.table import Holds, Row, Within
from capture import store
from capture.record import record
from capture.store.cache import VARIABLE

SIZES = (100, 1000, 10_000)
HOSTS = len(lessons.HOSTS)
CHANGED = 50  # of so many records one differs from what is committed
FLOOR, COLD, WARM, RUN = "YAML read", "check, nothing kept", "check", "run, all current"
COMMANDS: dict[str, tuple[str, ...]] = {
    COLD: ("check",), WARM: ("check",), "status": ("status",), "diff": ("diff",), RUN: ("run",),
}  # fmt: skip
Found = dict[tuple[str, int], list[Usage]]


def prepare(folder: Path, count: int) -> None:
    """Write a handbook of so many records on several hosts, commit it, and let some records say something else."""
    write(folder / "mkdocs.yml", "site_name: benchmark\n")
    book = lessons.write_scripts(folder, count // HOSTS)
    assert lessons.write_records(book) == count
    for words in (["init", "-q"], ["add", "."], ["-c", "user.name=b", "-c", "user.email=b@x", "commit", "-qm", "All"]):
        subprocess.run(["git", *words], cwd=folder, check=True)
    for number in range(0, count // HOSTS, CHANGED):
        old = store.read_record(book, lessons.HOSTS[0].label, lessons.name_of(number))
        assert old is not None
        new = record.sealed(
            dataclasses.replace(old, captured="2026-11-30", stdout=old.stdout.replace("ratio  ", "Ratio  "))
        )
        write(book.record_path(new.host, new.snippet), store.record_text(new))


def measure(folder: Path, name: str) -> Usage:
    """Run one command, or the floor, over a handbook."""
    root = folder / ("run" if name == RUN else "book")
    env = {VARIABLE: str(folder / "kept")}
    if name == COLD:
        shutil.rmtree(folder / "kept", ignore_errors=True)
    if name == FLOOR:
        return used(HERE / "read_and_hash.py", root, cwd=folder, env=env)
    codes = (1,) if name == "diff" else (0, 2) if COMMANDS[name] == ("check",) else (0,)
    return used("-m", "capture", "--root", root, *COMMANDS[name], cwd=folder, env=env, codes=codes)


def compare(folder: Path, rounds: int, tell: Callable[[str], None]) -> list[Row]:
    """Measure every command at every size."""
    found: Found = {}
    for size in SIZES:
        place = folder / str(size)
        tell(f"writing {size:,} records")
        prepare(place / "book", size)
        unchanged.prepare(place / "run", size)
        for number in range(rounds):
            for name in (FLOOR, *COMMANDS):
                tell(f"round {number + 1} of {rounds}: {name}, {size:,} records")
                found.setdefault((name, size), []).append(measure(place, name))
        shutil.rmtree(place)
    return [*against_floor(found), *growth(found), *memory(found)]


def called(name: str, size: int) -> str:
    """Return a side's name."""
    return f"{name}, {size:,} records"


def row(found: Found, ours: tuple[str, int], theirs: tuple[str, int], wanted: Within) -> Row:
    """Return one comparison of times."""
    pairs = zip(found[ours], found[theirs], strict=True)
    return Row(called(*ours), called(*theirs), tuple((one.seconds, other.seconds) for one, other in pairs), wanted)


def against_floor(found: Found) -> list[Row]:
    """Return how `check` compares with reading the same bytes."""
    bounds = {COLD: Within(10), WARM: Within(4)}
    return [row(found, (name, size), (FLOOR, size), how) for size in SIZES for name, how in bounds.items()]


def growth(found: Found) -> list[Row]:
    """Return how each command grows while the records grow tenfold; twelvefold is in line with that."""
    steps = list(zip(SIZES[1:], SIZES, strict=False))
    return [row(found, (name, more), (name, less), Within(12)) for name in COMMANDS for more, less in steps]


def memory(found: Found) -> list[Row]:
    """Return how much memory each command holds at the largest size."""
    size = SIZES[-1]
    return [
        Row(called(name, size), "its peak", tuple((one.megabytes, 0.0) for one in found[name, size]), Holds(300))
        for name in COMMANDS
    ]
