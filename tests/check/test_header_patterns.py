"""Patterns of strangers on stored records: no command is kept busy by one, and what says nothing is noted."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from harness.checks import found
from harness.handbooks import Handbook, host, make_handbook, record, script
from harness.headers import BODY, line_of
from harness.project import Project

from capture.exchange import dataset_rows
from capture.review.record_change import compare_records
from capture.snippet import pattern

ENDLESS = "^((?:a|aa)+)$"
OUTPUT = "a" * 60 + "!\nsum 6\n"
HANGING = script(
    BODY, values={"word": ENDLESS, "sum": r"sum (\d+)"}, compare={"volatile": [r"^(?:a|aa|x)+$"]},
    claims={"six": {"says": "it is six", "holds": "sum == 6"}},
)  # fmt: skip


@pytest.fixture
def book(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Handbook:
    """A handbook with one header that never ends, and records of it on two hosts."""
    monkeypatch.setattr(pattern, "LIMIT", 0.05)
    hosts = [host("epyc"), host("xeon", "Xeon")]
    return make_handbook(tmp_path, {"a/one": HANGING}, hosts, [record("a/one", each.label, OUTPUT) for each in hosts])


def test_a_check_tells_each_slow_pattern_once(book: Handbook) -> None:
    """value-regex-hang: at its line, however many hosts have a record; the claim that does not need it is judged."""
    problems = found(book).problems
    assert [(item.line, item.rule) for item in problems] == [
        (line_of(HANGING, "# word ="), "value"), (line_of(HANGING, "# volatile"), "pattern"),
    ]  # fmt: skip
    assert all("takes longer than 0.05 s" in item.message for item in problems)
    judged = book.catalogue().judged(["a/one"]).failing
    assert judged == ()


def test_every_command_ends(book: Handbook) -> None:
    """value-regex-hang: the dataset lacks the value, `show` names the line, pages name the value, a comparison ends."""
    rows = dataset_rows.of(book.catalogue()).values
    assert {(row.host, row.value, row.number) for row in rows} == {("epyc", "sum", 6), ("xeon", "sum", 6)}
    project = Project(book.root)
    for arguments in (["export"], ["show", "a/one"], ["status"], ["check", "--records-only"]):
        assert project.capture(*arguments).code in (0, 1, 2)
    _, problems = book.page("It is `#!captured a/one word`.\n")
    assert "takes longer than 0.05 s" in str(problems[0])
    snippet = book.parsed("a/one")
    change = compare_records(snippet, record("a/one", stdout=OUTPUT), record("a/one", stdout=f"{OUTPUT}7\n"), ())
    assert (change.kind, change.numbers) == ("text changed", ())
    assert "a pattern takes longer than 0.05 s" in change.detail


def test_all_patterns_of_a_handbook_share_their_time(tmp_path: Path) -> None:
    """One allowance for each reading, so that a hundred slow headers cost a check no more than a few."""
    snippets = {f"a/s{number}": script(BODY, values={"word": f"(a)|{number}"}) for number in range(3)}
    read = make_handbook(tmp_path, snippets, site=False).catalogue()
    assert len({id(item.values["word"].allowance) for item in read.snippets.values()}) == 1


def test_an_idle_volatile_pattern_is_a_note(tmp_path: Path) -> None:
    """Where no current record has what it is for; a zero under `ratio` is one as well. Neither fails a check."""
    text = script(
        BODY, values={"gain": r"gain (\S+)"}, compare={"ratio": {"gain": 2.0}, "volatile": ["pid [0-9]+", "took"]}
    )
    records = [record("a/one", stdout="gain 0.0\ntook 1 s\n")]
    findings = found(make_handbook(tmp_path, {"a/one": text}, [host()], records))
    assert findings.problems == ()
    assert {(item.line, item.rule) for item in findings.notes} == {
        (line_of(text, "# volatile"), "volatile"), (line_of(text, "# ratio"), "ratio"),
    }  # fmt: skip


def test_large_integers_reach_the_dataset_whole(tmp_path: Path) -> None:
    """As numbers of JSON; what is too long to be a number is left out of it and told by the check."""
    text = script(BODY, values={"n": r"n (\d+)"})
    book = make_handbook(tmp_path, {"a/one": text}, [host()], [record("a/one", stdout=f"n {2**63 + 1}\n")])
    done = Project(book.root).capture("export")
    assert json.loads(done.out)["values"][0]["number"] == 2**63 + 1
    book.keep(record("a/one", stdout=f"n {'9' * 5000}\n"))
    (problem,) = found(book).problems
    assert "its number has 5,000 characters" in problem.message
