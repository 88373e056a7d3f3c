"""The benchmarks' own parts, on a tiny input and without the tools they compare with."""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks import generated, read_and_hash, rounds, table
from handbooks import host
from handbooks import record as made_record

from capture import catalogue, store


def test_a_generated_handbook_holds_a_current_record_for_every_snippet(tmp_path: Path) -> None:
    """All files are valid, each record has the digest of its own snippet, and the plain reader sees every file."""
    generated.handbook(tmp_path, map(generated.ordinary, range(3)))
    store.write_host(store.Handbook(tmp_path), host("epyc"))
    assert generated.fill(tmp_path, made_record("bench/s0000")) == 3
    cat = catalogue.read(store.Handbook(tmp_path))
    assert cat.problems == ()
    assert [str(state) for state in cat.states().values()] == ["current"] * 3
    assert cat.records["epyc", "bench/s0002"].stdout.splitlines()[:2] == ["first 2", "row 2: 4.0 items"]
    assert read_and_hash.main(tmp_path) == 7


@pytest.mark.parametrize(
    ("wanted", "cells"),
    [
        (table.Faster(12), ("15.0x faster", "at least 12x faster", "met")),
        (table.Faster(20), ("15.0x faster", "at least 20x faster", "MISSED")),
        (table.Within(0.5), ("0.07x its time", "at most 0.5x its time", "met")),
        (table.Grows(-10), ("-28.0 MB more", "at most -10 MB more", "met")),
    ],
)
def test_the_table_tells_the_median_of_paired_rounds(wanted: table.Faster, cells: tuple[str, str, str]) -> None:
    """The comparison is made within each round; the middle one is shown with its range and judged."""
    row = table.Row("ours", "loop", ((2.0, 30.0), (1.0, 20.0), (4.0, 32.0)), wanted)
    ours, theirs, measured, spread, asked, verdict = row.cells()
    assert (ours, theirs, measured, asked, verdict) == ("ours", "loop", *cells)
    head, rule, line = table.text([row]).rstrip("\n").split("\n")
    assert head.startswith("ours") and set(rule) == {"-"} and spread in line and line.endswith(verdict)


def test_the_sides_are_measured_in_turn() -> None:
    """Every side is measured once a round, and no side is always the first."""
    order: list[str] = []

    def side(name: str) -> rounds.Measure:
        return lambda: float(order.append(name) or len(order))

    found = rounds.interleaved({"a": side("a"), "b": side("b")}, 2, lambda line: None)
    assert order == ["a", "b", "b", "a"]
    assert found == {"a": [1.0, 4.0], "b": [2.0, 3.0]}
