"""The static rules over files: what each finds, at path:line, and what it says to do."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from harness.checks import HOST, RECORD, TOKEN, clean_handbook, edit, found
from harness.handbooks import Handbook, record
from harness.handbooks import host as make_host
from harness.properties import rows

from capture import store
from capture.check.findings import Findings
from capture.errors import Problem
from capture.exchange import json_schemas

RESTORE = "restore it with git, or capture it again: capture run a/speed --force --host epyc"


@pytest.fixture
def book(tmp_path: Path) -> Handbook:
    """A handbook in which nothing is to be found."""
    return clean_handbook(tmp_path)


def test_a_whole_handbook_has_no_findings(book: Handbook) -> None:
    """Neither problems nor notes."""
    assert found(book) == Findings((), ())
    assert not found(book).private


RECORD_EDITS = {
    "edited-by-hand": (
        "slowdown 42.7x",
        "slowdown 47.2x",
        "content_sha256:",
        "digest",
        "was edited by hand: its digest",
    ),
    "edited-date": ("'2026-11-29'", "'2026-11-28'", "content_sha256:", "digest", "was edited by hand: its digest"),
    "store-formatter": ("host: epyc", 'host: "epyc"', "host:", "format", "is not written as the tool writes it"),
    "comment": ("stderr: ''\n", "stderr: ''\n# merged\n", "stderr:", "format", "is not written as the tool writes it"),
    "yaml-conflict": ("status: ok\n", "<<<<<<< ours\nstatus: ok\n", "status:", "conflict", "conflict marker"),
    "yaml-dup-key": ("status: ok\n", "status: ok\nstatus: ok\n", "exit_code:", "duplicate-key", 'key "status" is here'),
    "yaml-anchors": ("host: epyc", "host: &a epyc", "host:", "anchor", "anchors and aliases are not allowed"),
    "yaml-version-float": ("python: 3.11.7", "python: 3.10", "  python:", "shape", "environment.python: expected text"),
    "misplaced": ("snippet: a/speed", "snippet: a/other", "snippet:", "path", 'says snippet "a/other", not "a/speed"'),
    "copied-from-another-host": ("host: epyc", "host: h200", "host:", "path", 'says host "h200", not "epyc"'),
}


@pytest.mark.parametrize(("old", "new", "at", "rule", "said"), rows(RECORD_EDITS))
def test_a_record_is_as_the_tool_wrote_it(book: Handbook, old: str, new: str, at: str, rule: str, said: str) -> None:
    """Edits, merges, formatters and copies: at the line, with the command that makes it right."""
    text = (book.root / RECORD).read_text("utf-8")
    line = text.count("\n", 0, text.index(f"\n{at}") + 1) + 1 + (rule == "format" and at == "stderr:")
    edit(book, RECORD, old, new)
    (problem,) = found(book).problems
    assert (problem.path, problem.line, problem.rule) == (RECORD, line, rule)
    assert problem.message.startswith(said)
    assert problem.message.endswith(RESTORE)


def test_line_ends_of_a_checkout_are_no_finding(book: Handbook) -> None:
    """store-formatter: a checkout on Windows without .gitattributes means the same."""
    for path in (RECORD, HOST):
        (book.root / path).write_bytes((book.root / path).read_bytes().replace(b"\n", b"\r\n"))
    assert found(book) == Findings((), ())


HOST_EDITS = {
    "edited-by-hand": ("count: 2", "count: 4", "fingerprint:", "digest", "was edited: its fingerprint does not match"),
    "label": ("label: epyc", "label: other", "label:", "path", 'says label "other" in the folder of "epyc"'),
    "format": ("kind: cpu", 'kind: "cpu"', "kind:", "format", "is not written as the tool writes it"),
    "shape": ("count: 2", "count: two", "  count:", "shape", "cpu.count: expected a whole number or null, found text"),
}


@pytest.mark.parametrize(("old", "new", "at", "rule", "said"), rows(HOST_EDITS))
def test_a_host_is_as_the_tool_wrote_it(book: Handbook, old: str, new: str, at: str, rule: str, said: str) -> None:
    """An edited fact no longer fits the fingerprint; the advice names the command."""
    text = (book.root / HOST).read_text("utf-8")
    edit(book, HOST, old, new)
    problem = next(item for item in found(book).problems if item.path == HOST)
    assert (problem.line, problem.rule) == (text.count("\n", 0, text.index(f"\n{at}") + 1) + 1, rule)
    assert problem.message.startswith(said)
    assert "capture host init" in problem.message


def test_a_faulty_header_makes_no_record_an_orphan(book: Handbook) -> None:
    """The header is what is wrong; nobody is told to remove the captures of a snippet that is there."""
    edit(book, "snippets/a/speed.py", "# ///\n", "")
    problems = found(book).problems
    assert {problem.path for problem in problems} == {"snippets/a/speed.py"}


def test_a_link_among_the_captures_is_a_problem(book: Handbook) -> None:
    """git would keep the link and not what it names."""
    path = book.root / RECORD
    path.rename(book.root / "elsewhere.yaml")
    path.symlink_to(book.root / "elsewhere.yaml")
    (problem,) = found(book).problems
    assert str(problem) == f"{RECORD}: is a link; put the file itself there"


def test_records_without_a_host_are_a_problem(book: Handbook) -> None:
    """Whoever has that machine writes the file."""
    (book.root / HOST).unlink()
    (problem,) = found(book).problems
    assert str(problem) == f"{HOST}: missing; write it on that machine: capture host init epyc"


@pytest.mark.parametrize(
    ("path", "near"),
    [("a/spede.yml", "; did you mean a/speed.yaml?"), ("notes.txt", ""), ("speed.yaml", "; did you mean a/speed.yaml?"),
     ("a/b/speed.yaml", "; did you mean a/speed.yaml?"), ("a/speed.yaml.orig", "; did you mean a/speed.yaml?")],
)  # fmt: skip
def test_a_stray_file_is_a_problem(book: Handbook, path: str, near: str) -> None:
    """A host's folder holds records and nothing else; the nearest one is named."""
    book.write(f"docs/captures/epyc/{path}", "x: 1\n")
    problem = next(item for item in found(book).problems if item.rule == "stray")
    assert problem.path == f"docs/captures/epyc/{path}"
    assert problem.message == (f"is no record; records are epyc/<chapter>/<snippet>.yaml; move or remove it{near}")


@pytest.mark.parametrize(
    ("stdout", "rule", "said"),
    [
        (f"slowdown 42.7x\n{TOKEN}\n", "secret", "holds a Hugging Face token; revoke it"),
        ("slowdown 42.7x\n/home/maria\n", "personal", "holds a home folder"),
    ],
)  # fmt: skip
def test_what_is_private_is_a_problem_of_its_own_kind(book: Handbook, stdout: str, rule: str, said: str) -> None:
    """priv-token: also where somebody forged the digest to go with it; the value is not shown."""
    book.keep(record("a/speed", stdout=stdout))
    findings = found(book)
    (problem,) = findings.problems
    text = (book.root / RECORD).read_text("utf-8")
    assert (problem.path, problem.line, problem.rule) == (
        RECORD,
        text.count("\n", 0, text.index(stdout[-8:-1])) + 1,
        rule,
    )
    assert problem.message.startswith(said)
    assert stdout[-8:-1] not in str(problem)
    assert findings.private


def test_a_title_of_a_host_is_scanned_too(book: Handbook) -> None:
    """priv-meta-secret: every file of a host."""
    store.write_host(book.book, replace(make_host(), title=TOKEN))
    assert [(item.path, item.rule) for item in found(book).problems] == [(HOST, "secret")]


def test_a_committed_schema_is_what_the_code_generates(book: Handbook) -> None:
    """Old or missing, it is written again with one command; without the folder none is asked for."""
    for name, text in json_schemas.texts().items():
        book.write(name, text)
    assert found(book) == Findings((), ())
    book.write("docs/schema/record.json", "{}\n")
    (book.root / "docs/schema/host.json").unlink()
    assert [str(problem) for problem in found(book).problems] == [
        f"docs/schema/{name}.json: is not what the code generates; write it again: capture schema"
        for name in ("host", "record")
    ]


def test_problems_of_snippets_and_pages_are_passed_on_once(book: Handbook) -> None:
    """A faulty header and a page that names an unknown id stand beside the rest, sorted by place."""
    book.write("snippets/a/broken.py", "x = 1\n")
    page = Problem("docs/index.md", 7, 'no snippet "a/x"', "page")
    findings = found(book, pages=(page, page))
    assert [(item.path, item.line) for item in findings.problems] == [("docs/index.md", 7), ("snippets/a/broken.py", 2)]
