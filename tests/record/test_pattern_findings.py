"""What the patterns of a header turn out to be on captured output."""

from __future__ import annotations

from pathlib import Path

import pytest
from harness.handbooks import record, script
from harness.headers import BODY, line_of, parse

from capture.record import pattern_findings
from capture.snippet import pattern

RULES = {"volatile": [r"pid \d+", r"took [\d.]+ s"]}


def test_a_volatile_pattern_that_matches_nowhere_is_idle(tmp_path: Path) -> None:
    """One that matches on some host, in the output or the errors, is not: each host may take another branch."""
    text = script(BODY, compare=RULES)
    snippet = parse(tmp_path, text)
    both = [record(snippet.id, "epyc", "pid 3\n"), record(snippet.id, "xeon", "done\n")]
    (note,) = pattern_findings.idle_volatile(snippet, both)
    assert str(note) == (
        f"snippets/chapter/snippet.py:{line_of(text, '# volatile')}: "
        'volatile "took [\\d.]+ s" matches nothing on epyc, xeon; mend it, or take it out'
    )
    both.append(record(snippet.id, "h200", "done\n", stderr="took 1.5 s\n"))
    assert pattern_findings.idle_volatile(snippet, both) == ()
    assert len(pattern_findings.idle_volatile(snippet, [record(snippet.id)])) == 2
    assert pattern_findings.idle_volatile(snippet, []) == ()


def test_every_slow_pattern_is_told_at_its_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """value-regex-hang: values and volatile patterns alike; one that is quick is not told."""
    monkeypatch.setattr(pattern, "LIMIT", 0.05)
    values = {"quick": "(a)!", "slow": r"^((?:a|aa)+)$"}
    text = script(BODY, values=values, compare={"volatile": [r"(?:a|aa|aaa)+$", "b"]})
    snippet = parse(tmp_path, text)
    found = pattern_findings.too_slow(snippet, record(snippet.id, stdout="a" * 60 + "!\n"))
    assert [item.line for item in found] == [line_of(text, "# slow ="), line_of(text, "# volatile")]
    assert all("takes longer than 0.05 s; make it simpler" in item.message for item in found)
    assert pattern_findings.idle_volatile(snippet, [record(snippet.id, stdout="b " + "a" * 60 + "!")]) == ()


def test_a_ratio_that_is_not_above_zero_is_told(tmp_path: Path) -> None:
    """ratio-zero-negative: at the line of the rule; a value that is missing is told with the claims."""
    text = script(BODY, values={"gain": r"gain (\S+)"}, compare={"ratio": {"gain": 2.0}})
    snippet = parse(tmp_path, text)
    (note,) = pattern_findings.without_ratio(snippet, record(snippet.id, stdout="gain 0.00\n"))
    assert note.line == line_of(text, "# ratio")
    assert note.message == (
        'ratio of "gain": it is 0 on epyc, and what is not above 0 has no ratio: bound it under absolute or relative'
    )
    for output in ("gain 0.1\n", "gain none\n", "loss 1\n"):
        assert pattern_findings.without_ratio(snippet, record(snippet.id, stdout=output)) == ()
