"""Twenty trivial torch snippets, executed once each with records: the engines against plain loops."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

from benchmarks import generated
from benchmarks.rounds import HERE, Measure, capture, interleaved, python, row, timed
from benchmarks.table import Faster, Row, Within

COUNT = 20
FORKED, FRESH, LABELLED = "forked engine", "fresh engine", "under a label, confirmed"
LABEL = "bench"
LOOP, FORKS = "python x.py, 20 times", "a minimal fork loop"


def engine(root: Path, name: str, count: int = COUNT, label: str = "") -> Measure:
    """Return a measure of one engine, which writes every record anew; under a label each execution is confirmed."""
    captures = root / "docs" / "captures"

    def run() -> None:
        capture(root, *(["--host", label] if label else ["--runs", "1"]), "--engine", name, "--force")
        written = len(list(captures.glob(f"{label or 'local'}/*/*.yaml")))
        assert written == count, f"{written} of {count} records"

    return timed(run, before=lambda: shutil.rmtree(captures, ignore_errors=True))


def loop(scripts: list[Path]) -> None:
    """Run each script with a new interpreter."""
    for script in scripts:
        python("-u", script)


def compare(folder: Path, rounds: int, tell: Callable[[str], None]) -> list[Row]:
    """Measure both engines against both loops."""
    scripts = generated.handbook(folder, map(generated.trivial, range(COUNT)))
    found = interleaved(
        {
            FORKED: engine(folder, "forked"),
            FORKS: timed(lambda: python(HERE / "fork_loop.py", *scripts)),
            FRESH: engine(folder, "fresh"),
            LABELLED: engine(folder, "auto", label=LABEL),
            LOOP: timed(lambda: loop(scripts)),
        },
        rounds,
        tell,
    )
    return [
        row(found, FORKED, LOOP, Faster(12)),
        row(found, FORKED, FORKS, Within(1.3)),
        row(found, FRESH, LOOP, Within(1.0)),
        row(found, LABELLED, LOOP, Within(0.75)),
    ]
