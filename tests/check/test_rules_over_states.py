"""The static rules over states and claims: what fails, what is only told, and what concerns nobody else."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from harness.checks import BODY, RECORD, SPEED, TOKEN, clean_handbook, edit, found
from harness.handbooks import STALE, Handbook, record, script
from harness.handbooks import host as make_host
from harness.properties import rows

from capture import store
from capture.check.findings import Findings


@pytest.fixture
def book(tmp_path: Path) -> Handbook:
    """A handbook in which nothing is to be found."""
    return clean_handbook(tmp_path)


def test_an_orphan_is_a_problem(book: Handbook) -> None:
    """Its snippet is gone, so nobody can capture it again."""
    book.keep(record("a/gone"))
    (problem,) = found(book).problems
    assert str(problem) == (
        'docs/captures/epyc/a/gone.yaml:2: orphan: no snippet "a/gone"; remove it with: capture prune'
    )


def test_stale_missing_and_failed_records_are_notes(book: Handbook) -> None:
    """Nobody can mend the record of a chip he does not have."""
    book.write("snippets/a/new.py", script(BODY))
    book.write("snippets/a/broken.py", script(BODY))
    book.keep(record("a/speed", source_sha256=STALE))
    book.keep(record("a/broken", status="timeout", exit_code=None))
    findings = found(book)
    assert findings.problems == ()
    assert [str(note) for note in findings.notes] == [
        "docs/captures/epyc/a/broken.yaml: the capture ended with timeout",
        "docs/captures/epyc/a/new.yaml: missing; capture it: capture run a/new --host epyc",
        f"{RECORD}: stale: source changed since; capture it: capture run a/speed --host epyc",
    ]


def test_strict_stale_fails_for_the_named_host_only(book: Handbook) -> None:
    """The host that a pipeline owns must be complete; the others may lag."""
    store.write_host(book.book, make_host("h200", kind="cuda"))
    book.keep(record("a/speed", source_sha256=STALE))
    findings = found(book, "h200")
    assert [(item.path, item.rule) for item in findings.problems] == [("docs/captures/h200/a/speed.yaml", "missing")]
    assert [(item.path, item.rule) for item in findings.notes] == [(RECORD, "stale")]
    assert {item.rule for item in found(book, "h200", "epyc").problems} == {"missing", "stale"}


def test_what_a_host_cannot_run_is_neither(book: Handbook) -> None:
    """An unmet gate is derived from its other records and asks for nothing."""
    book.write("snippets/a/streams.py", script(BODY, needs=["cuda"]))
    assert found(book, "epyc") == Findings((), ())


def test_a_failing_claim_is_a_problem_of_the_snippet(book: Handbook) -> None:
    """At the line of the claim, with the number that breaks it."""
    book.keep(record("a/speed", stdout="slowdown 0.8x\n"))
    (problem,) = found(book).problems
    line = SPEED.count("\n", 0, SPEED.index("# slower")) + 1
    assert str(problem) == (
        f"snippets/a/speed.py:{line}: claim slower fails on epyc: slowdown > 5, but slowdown is 0.8; "
        "narrow its scope, or mend the snippet"
    )


def test_a_value_that_does_not_match_is_a_problem_of_the_snippet(book: Handbook) -> None:
    """Of the value alone: a claim that needs it says nothing more."""
    book.keep(record("a/speed", stdout="faster\n"))
    findings = found(book).problems
    assert [(item.path, item.rule) for item in findings] == [("snippets/a/speed.py", "value")]
    assert findings[0].line == SPEED.count("\n", 0, SPEED.index("# slowdown =")) + 1
    assert "its pattern matches nothing in the captured output; mend the pattern or the snippet" in findings[0].message


@pytest.mark.parametrize(
    "changes",
    [{"source_sha256": STALE}, pytest.param({"status": "error", "exit_code": 1}, id="inv-error-cached")],
)
def test_claims_on_stale_and_failed_records_are_not_checked(book: Handbook, changes: dict[str, object]) -> None:
    """They are told as stale or failed, once."""
    book.keep(record("a/speed", stdout="slowdown 0.8x\n", **changes))
    findings = found(book)
    assert findings.problems == ()
    assert len(findings.notes) == 1


LOCAL: dict[str, Callable[[Handbook], object]] = {
    "orphan": lambda book: book.keep(record("a/gone", "local")),
    "edited": lambda book: edit(book, "docs/captures/local/a/speed.yaml", "42.7x", "47.2x"),
    "damaged": lambda book: book.write("docs/captures/local/a/speed.yaml", "schema: 1\n"),
    "stray": lambda book: book.write("docs/captures/local/notes.txt", ""),
    "failing-claim": lambda book: book.keep(record("a/speed", "local", "slowdown 0.8x\n")),
    "lost-value": lambda book: book.keep(record("a/speed", "local", "faster\n")),
    "stale": lambda book: book.keep(record("a/speed", "local", source_sha256=STALE)),
}


@pytest.mark.parametrize("damage", rows(LOCAL))
def test_what_is_wrong_with_local_records_is_a_note(book: Handbook, damage: Callable[[Handbook], object]) -> None:
    """Git ignores that folder: it is a newcomer's own machine and fails no check of the handbook."""
    store.write_host(book.book, make_host("local"))
    book.keep(record("a/speed", "local", "slowdown 42.7x\n"))
    assert found(book) == Findings((), ())
    damage(book)
    findings = found(book)
    assert findings.problems == ()
    assert findings.notes
    assert all(note.message for note in findings.notes)


def test_a_secret_in_a_local_record_is_a_problem_all_the_same(book: Handbook) -> None:
    """It was printed, and has to be revoked."""
    store.write_host(book.book, make_host("local"))
    book.keep(record("a/speed", "local", f"slowdown 42.7x\n{TOKEN}\n"))
    assert found(book).private
