"""The benchmarks' own parts, on a tiny input and without the tools they compare with."""

from __future__ import annotations

import itertools
import statistics
from pathlib import Path
from typing import Any

import pytest
from benchmarks import commands, generated, lessons, plain, read_and_hash, rounds, sites, table
from harness.handbooks import host
from harness.handbooks import record as made_record

from capture import store
from capture.check import rules
from capture.site.markdown import page_check
from capture.store import catalogue


def test_a_generated_handbook_holds_a_current_record_for_every_snippet(tmp_path: Path) -> None:
    """All files are valid, each record has the digest of its own snippet, and the plain reader sees every file."""
    generated.handbook(tmp_path, map(generated.ordinary, range(3)))
    store.write_host(store.Handbook(tmp_path), host("epyc"))
    assert generated.fill(tmp_path, made_record("bench/s0000")) == 3
    cat = catalogue.read_handbook(store.Handbook(tmp_path))
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
        (table.Holds(2), ("2.00 MB", "at most 2 MB", "met")),
    ],
)
def test_the_table_tells_the_median_of_paired_rounds(wanted: table.Wanted, cells: tuple[str, str, str]) -> None:
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


@pytest.fixture(scope="module")
def generated_lessons(tmp_path_factory: pytest.TempPathFactory) -> store.Handbook:
    """A generated handbook of a chapter and a bit."""
    return lessons.handbook(tmp_path_factory.mktemp("lessons"), lessons.CHAPTER_SIZE + 1)


def test_generated_lessons_are_what_the_tool_would_have_written(generated_lessons: store.Handbook) -> None:
    """Nothing is wrong with them: digests, form, values, claims and pages; every record is current."""
    cat = catalogue.read_handbook(generated_lessons)
    found = rules.check(cat, (), page_check.check_pages(cat))
    assert (found.problems, found.notes) == ((), ())
    assert {str(state) for state in cat.states().values()} == {"current"}
    assert len(cat.records) == (lessons.CHAPTER_SIZE + 1) * len(lessons.HOSTS)
    assert len({item.stdout for item in cat.records.values()}) == len(cat.records)


def test_a_generated_script_prints_what_its_records_say(generated_lessons: store.Handbook) -> None:
    """All but the times, which each host's clock gives."""
    number = 3
    path = generated_lessons.root / "snippets" / f"{lessons.name_of(number)}.py"
    said = rounds.python(path).splitlines()
    timed = len(lessons.PATTERNS) - 1
    assert said[:-timed] == lessons.printed(number, "h200").splitlines()[:-timed]
    assert [line.split()[0] for line in said[-timed:]] == ["loop", "expression", "ratio"]


def test_the_same_number_gives_the_same_lesson_and_another_one_another() -> None:
    """So that every round, and every machine, builds the same."""
    assert lessons.lesson(7, 20) == lessons.lesson(7, 20)
    bodies = [lessons.lesson(number, 20).partition("\n# ")[2] for number in range(20)]
    sentences = [set(body.split(". ")) for body in bodies]
    assert all(len(one & other) < 12 for one, other in itertools.combinations(sentences, 2))
    assert (
        330 < statistics.mean(len(body.split()) for body in bodies) < 450
    )  # as a lesson of ours has for each of its cards


def test_the_nav_shows_as_much_however_many_pages_there_are() -> None:
    """A page lists its chapter, the chapters of its group, and the groups of its part."""

    def widest(items: list[Any]) -> int:
        below = [inner for item in items if isinstance(item, dict) for inner in item.values()]
        return max(len(items), *map(widest, below)) if below else len(items)

    assert widest(lessons.nested(30)) <= widest(lessons.nested(3000)) == lessons.CHAPTER_SIZE


def test_the_plain_site_holds_the_same_text(generated_lessons: store.Handbook, tmp_path: Path) -> None:
    """Source, every host's output, badge, claims and environment are in the page that ours is compared with."""
    plain.write_site(generated_lessons, tmp_path, 3)
    text = (tmp_path / "docs" / f"{lessons.name_of(2)}.md").read_text("utf-8")
    assert lessons.source(2).rstrip() in text
    for owner in lessons.HOSTS:
        assert f'=== "{owner.title}"' in text
        assert all(line in text for line in lessons.printed(2, owner.label).splitlines())
    for words in (
        "the expression is faster than the loop",
        "torch 2.13.0+cu130",
        "3 runs, spread 1.04",
        "source digest",
    ):
        assert words in text
    assert all(f" {value} of them" in text for value in lessons.typed(2))
    config = (tmp_path / "mkdocs.yml").read_text("utf-8")
    assert "navigation.prune" in config and "pymdownx.superfences" in config and "capture.site" not in config


def test_the_commands_are_compared_with_the_floor_and_with_themselves() -> None:
    """Bounds of the check, growth of every command, and the memory of every command at the largest size."""
    found = {
        (name, size): [rounds.Usage(size / 100, size / 100, 40.0)] for name in (commands.FLOOR, *commands.COMMANDS)
        for size in commands.SIZES
    }  # fmt: skip
    rows = [*commands.against_floor(found), *commands.growth(found), *commands.memory(found)]
    assert len(rows) == 2 * len(commands.SIZES) + 2 * len(commands.COMMANDS) + len(commands.COMMANDS)
    assert all(row.met for row in rows)
    assert rows[0].cells()[:3] == ("check, nothing kept, 100 records", "YAML read, 100 records", "1.00x its time")
    assert sites.grown({("s", 300): [30.0], ("s", 30): [1.0, 2.0, 3.0]}, "s", 300, 30).measured == 15.0


def test_what_a_command_takes_is_measured(tmp_path: Path) -> None:
    """Its seconds and its memory, that of its processes included; another exit code than the wanted is an error."""
    took = rounds.used("-c", "x = b'x' * 100_000_000", cwd=tmp_path, env={})
    assert took.megabytes > 100
    assert took.seconds > 0 and took.cpu_seconds > 0
    with pytest.raises(RuntimeError, match="exit 3"):
        rounds.used("-c", "raise SystemExit(3)", cwd=tmp_path, env={})
