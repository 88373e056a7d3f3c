"""A run over a thousand snippets whose records are current, against reading the same files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from benchmarks import generated
from benchmarks.rounds import HERE, capture, interleaved, python, row, timed
from benchmarks.table import Row, Within
from capture import store

COUNT = 1000
NOTHING, READING, IMPORTING = "run, 1,000 current", "read and hash all, libyaml", "import torch"


def prepare(folder: Path, count: int) -> None:
    """Write the handbook: one snippet is captured, and the other records are made after its record."""
    generated.handbook(folder, map(generated.ordinary, range(count)))
    capture(folder, f"{generated.CHAPTER}/s0000")
    model = store.read_record(store.Handbook(folder), "local", f"{generated.CHAPTER}/s0000")
    assert model is not None
    generated.fill(folder, model)


def compare(folder: Path, rounds: int, tell: Callable[[str], None]) -> list[Row]:
    """Measure the run; that it takes less than importing torch shows that it does not import it."""
    tell(f"writing {COUNT} records")
    prepare(folder, COUNT)

    def run() -> None:
        said = capture(folder)
        assert f"{COUNT} current" in said, said

    found = interleaved(
        {
            NOTHING: timed(run),
            READING: timed(lambda: python(HERE / "read_and_hash.py", folder)),
            IMPORTING: timed(lambda: python("-c", "import torch")),
        },
        rounds,
        tell,
    )
    return [row(found, NOTHING, READING, Within(2)), row(found, NOTHING, IMPORTING, Within(1))]
