"""Shares of a selection: whole, the same everywhere, about as much work in each, and few that move."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from harness.handbooks import REPOSITORY
from harness.project import Project
from harness.properties import EXAMPLES, rows
from hypothesis import given
from hypothesis import strategies as st

from capture import store
from capture.errors import CaptureError
from capture.run import shard
from capture.snippet.snippet import Snippet

SNIPPETS = store.read_snippets(store.Handbook(REPOSITORY))[0]
ONE = next(iter(SNIPPETS.values()))


def many(count: int) -> list[Snippet]:
    """Return so many snippets; every sixth times, every eleventh has a longer limit."""
    return [
        replace(ONE, id=f"chapter{n % 7}/snippet_{n}", timing=n % 6 == 0, timeout=300.0 if n % 11 == 0 else 120.0)
        for n in range(count)
    ]


def places(snippets: list[Snippet], count: int) -> dict[str, int]:
    """Return the share of each snippet."""
    return {key: number for number, ids in enumerate(shard.shares(snippets, count)) for key in ids}


@EXAMPLES
@given(st.lists(st.sampled_from(many(60)), unique_by=lambda item: item.id), st.integers(1, 12), st.randoms())
def test_every_snippet_is_in_exactly_one_share(chosen: list[Snippet], count: int, order: object) -> None:
    """Whatever is selected, in whatever order, by whichever machine."""
    found = shard.shares(chosen, count)
    assert len(found) == count
    assert sorted(key for ids in found for key in ids) == sorted(item.id for item in chosen)
    order.shuffle(chosen)  # type: ignore[attr-defined]
    assert shard.shares(chosen, count) == found
    parts = [shard.part(shard.Shard(number, count), chosen) for number in range(1, count + 1)]
    assert parts == [set(ids) for ids in found]


@pytest.mark.parametrize("count", [2, 3, 4, 5, 8])
@pytest.mark.parametrize("snippets", [list(SNIPPETS.values()), many(1000)], ids=["handbook", "thousand"])
def test_shares_are_balanced(snippets: list[Snippet], count: int) -> None:
    """No share holds a fifth more than an even part of the expected cost."""
    costs = {item.id: shard.cost(item) for item in snippets}
    loads = [sum(costs[key] for key in ids) for ids in shard.shares(snippets, count)]
    assert max(loads) <= 1.2 * sum(loads) / count


@pytest.mark.parametrize("count", [2, 4, 8])
def test_a_new_snippet_moves_few_others(count: int) -> None:
    """On average fewer than one in thirty, so that a job's cache of yesterday still serves today."""
    snippets = list(SNIPPETS.values())
    before = places(snippets, count)
    moved = 0
    for gone in snippets[::3]:
        after = places([item for item in snippets if item is not gone], count)
        moved += sum(after[key] != before[key] for key in after)
    assert moved / len(snippets[::3]) < len(snippets) / 30


def test_what_makes_nothing_stale_moves_nothing() -> None:
    """Sources, titles and claims may change: only limits and timing count."""
    edited = [replace(item, source="x", digest="0" * 64, title="other", claims=()) for item in SNIPPETS.values()]
    assert shard.shares(edited, 4) == shard.shares(SNIPPETS.values(), 4)


def test_a_share_of_its_own() -> None:
    """A limit of an hour counts as five minutes; with more shares than snippets some are empty."""
    long = replace(ONE, id="a/long", timeout=3600.0, timing=False)
    assert shard.cost(long) == shard.LONGEST
    found = shard.shares([long], 3)
    assert sorted(map(len, found)) == [0, 0, 1]


@pytest.mark.parametrize(
    "text",
    rows({"zero": "0/4", "beyond": "5/4", "none": "1/0", "word": "a/b", "one": "1", "minus": "-1/4", "more": "1/1001",
          "blank": " 1/4", "float": "1.0/4", "digits": "١/٤"}),
)  # fmt: skip
def test_what_is_no_share(text: str) -> None:
    """The form is named, with an example."""
    with pytest.raises(CaptureError, match="use K/N with K from 1 to N, such as 2/4"):
        shard.parse(text)


def test_no_share_is_all() -> None:
    """Without the option everything selected is executed."""
    assert shard.parse("") is None
    assert shard.part(None, SNIPPETS.values()) == set(SNIPPETS)
    assert str(shard.parse("2/4")) == "2/4"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A handbook of five snippets."""
    found = Project(tmp_path / "book")
    for name in ("one", "two", "three", "four", "five"):
        found.snippet(f"demo/{name}", f"print('{name}')")
    return found


def test_all_shares_together_capture_everything_once(project: Project) -> None:
    """Each run says how much is its own; records of earlier shares change nothing about later ones."""
    told = []
    for number in (1, 2, 3):
        before = set(project.records("desk"))
        done = project.run("--host", "desk", "--shard", f"{number}/3")
        assert done.code == 0, done.text
        own = len(set(project.records("desk")) - before)
        assert f"share {number}/3: {own} snippet" in done.out
        told.append(own)
    assert sum(told) == 5
    assert project.run("--host", "desk").out == "nothing to execute: every record this host can make is current\n" \
        "desk: 5 current\n"  # fmt: skip


def test_a_share_knows_only_its_own_damage(project: Project) -> None:
    """A damaged record is mended by its share and no fault of another; a snippet without a header is everybody's."""
    project.run("--host", "desk")
    path = "docs/captures/desk/demo/one.yaml"
    project.write(path, "schema: [\n")
    codes = {n: project.run("--host", "desk", "--shard", f"{n}/2", "--dry-run").code for n in (1, 2)}
    assert sorted(codes.values()) == [0, 2]
    project.write("snippets/demo/bad.py", "# /// script\n# ///\nprint(1)\n")
    assert [project.run("--host", "desk", "--shard", f"{n}/2", "--dry-run").code for n in (1, 2)] == [2, 2]


def test_an_empty_share_is_no_failure(project: Project) -> None:
    """A matrix may have more jobs than snippets are selected."""
    empty = [project.run("demo/one", "--shard", f"{n}/3", "--host", "desk") for n in (1, 2, 3)]
    assert [done.code for done in empty] == [0, 0, 0]
    assert sum("share" in done.out and ": 0 snippets" in done.out for done in empty) == 2
    assert project.records("desk") == ["demo/one"]


def test_verify_takes_a_share(project: Project) -> None:
    """What the shares compare is together what there is, each once."""
    project.run("--host", "desk")
    done = [
        project.capture("verify", "--against", "desk", "--python", project.python, "--shard", f"{n}/2") for n in (1, 2)
    ]
    assert [one.code for one in done] == [0, 0]
    lines = sorted(line.split()[1] for one in done for line in one.err.splitlines() if "reproduced" in line)
    assert lines == sorted(project.records("desk"))


def test_invalid_share(project: Project) -> None:
    """Exit 2, and nothing is written."""
    done = project.run("--shard", "4/3")
    assert (done.code, done.untouched) == (2, True)
    assert "--shard 4/3: use K/N" in done.err
