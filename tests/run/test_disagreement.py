"""What a refusal says of two executions that disagree: in what they differ, and what mends that."""

from __future__ import annotations

from pathlib import Path

import pytest
from harness.handbooks import record, script
from harness.headers import BODY, parse
from harness.project import Project
from harness.properties import rows

from capture.record import agreement
from capture.run import disagreement

TIME = "it times: name the times under [tool.capture.values]"
NUMBER = "seed it (no seed sets the memory that torch.empty leaves as it is: do not print that), or name the number"
TEXT = "seed it, or say in its header what varies: [tool.capture.compare] volatile"
ADVICE = {
    "milliseconds": ("took 1.25 ms\n", "took 1.31 ms\n", TIME),
    "attached": ("took 12us\n", "took 9us\n", TIME),
    "rate": ("copy 11.2 GB/s\n", "copy 11.9 GB/s\n", TIME),
    "iterations": ("100 steps, 31.5it/s\n", "100 steps, 30.9it/s\n", TIME),
    "seconds": ("elapsed: 2 seconds\n", "elapsed: 3 seconds\n", TIME),
    "per-iteration": ("1.20 s/it\n", "1.31 s/it\n", TIME),
    "unit-before": ("time_ms=12.5\n", "time_ms=13.5\n", TIME),
    "unit-in-brackets": ("median [us]: 3.1\n", "median [us]: 3.9\n", TIME),
    "second-number": ("batch 8  0.31 s\n", "batch 8  0.29 s\n", TIME),
    "loss": ("loss 0.4804\n", "loss 0.4811\n", NUMBER),
    "size": ("kept 12 samples\n", "kept 13 samples\n", NUMBER),
    "tensor": ("tensor([0.1, -1.2e-05])\n", "tensor([0.1, 3.3e-05])\n", NUMBER),
    "not-a-number": ("loss nan\n", "loss 1.0\n", NUMBER),
    "order": ("['cat', 'dog']\n", "['dog', 'cat']\n", TEXT),
    "name": ("run tmpab12cd\n", "run tmpzz90qq\n", TEXT),
    "another-line": ("a\n", "a\nb\n", TEXT),
}


@pytest.mark.parametrize(("old", "new", "advice"), rows(ADVICE))
def test_advice_is_by_the_kind_of_the_first_difference(tmp_path: Path, old: str, new: str, advice: str) -> None:
    """A time is to be named and bounded, another number seeded or bounded, text seeded or called volatile."""
    snippet = parse(tmp_path, script(BODY))
    first, later = (record(snippet.id, stdout=text) for text in (old, new))
    change = agreement.classify(snippet, first, later)
    words = disagreement.in_words(snippet, first, later, change)
    assert words == f"two executions disagree ({change.kind}: {change.detail}); {words.partition('); ')[2]}"
    assert words.partition("); ")[2].startswith(advice)
    assert ("timing = true" in words) == (advice == TIME), "what times nothing is not told to switch checks off"


def test_advice_looks_past_what_may_vary(tmp_path: Path) -> None:
    """And into the errors; another end is neither a number nor text."""
    snippet = parse(tmp_path, script(BODY, compare={"volatile": [r"took \d+ ms"]}))
    pairs = [
        ({"stdout": "took 3 ms\nloss 0.5\n"}, {"stdout": "took 4 ms\nloss 0.6\n"}, NUMBER),
        ({"stderr": "warned in 3 s\n"}, {"stderr": "warned in 4 s\n"}, TIME),
        ({}, {"status": "error", "exit_code": 1}, "find out why it ends in another way each time"),
    ]
    for old, new, advice in pairs:
        first, later = record(snippet.id, **old), record(snippet.id, **new)
        words = disagreement.in_words(snippet, first, later, agreement.classify(snippet, first, later))
        assert words.partition("); ")[2].startswith(advice)


def test_a_pattern_that_takes_too_long_is_refused(tmp_path: Path) -> None:
    """value-regex-hang: the run stores nothing, and names the line of the header."""
    project = Project(tmp_path)
    body = "import secrets\nprint('a' * 60 + '!')\nprint(secrets.token_hex(9))"
    for name, options in (
        ("value", {"values": {"word": "^((?:a|aa)+)$"}}),
        ("volatile", {"compare": {"volatile": ["^(?:a|aa)+$"]}}),
    ):
        project.snippet(f"demo/{name}", body if name == "volatile" else body.rpartition("\n")[0], **options)
    result = project.run()
    assert result.code in (1, 2)
    assert result.out.count("takes longer than 1 s; make it simpler") == 2
    assert "snippets/demo/value.py:" in result.out and "snippets/demo/volatile.py:" in result.out
    assert project.records() == []


def test_what_a_header_gets_wrong_is_noted_when_it_is_captured(tmp_path: Path) -> None:
    """A volatile pattern that matches nothing, by `run` and by `check`, at its line."""
    project = Project(tmp_path)
    project.snippet("demo/one", "print('took 3 s')", compare={"volatile": [r"took \d+ ms"]})
    for arguments in (("run",), ("check", "--records-only")):
        result = project.capture(*arguments)
        assert result.code == 0
        (note,) = [line for line in result.out.splitlines() if "matches nothing" in line]
        assert note.startswith("note: snippets/demo/one.py:")
        assert 'volatile "took \\d+ ms" matches nothing on local' in note
