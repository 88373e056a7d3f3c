"""`capture diff` as a user runs it: what it refuses, its exit codes, its formats, two hosts."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from harness.checks import TOKEN
from harness.handbooks import STALE, record, script
from harness.handbooks import host as make_host
from harness.properties import rows
from harness.repositories import GIT
from harness.revisions import RECORD, TIMING, Compared, copy, upgraded


@pytest.fixture
def book(tmp_path: Path) -> Compared:
    """A repository with one commit: one snippet, one host, one record."""
    return copy(tmp_path / "book")


UNKNOWN = {
    "nearest": (["mian"], 'no revision "mian"; did you mean "main"?'),
    "head": (["main..tpoic"], 'no revision "tpoic"'),
    "merge-base": (["main...tpoic"], 'no revision "tpoic"'),
    "option-like": (["--", "--output=x"], 'no revision "--output=x"'),
    "option-like-head": (["--", "main..--output=x"], 'no revision "--output=x"'),
    "dash": (["--", "-"], 'no revision "-"'),
    "path": (["HEAD:snippets"], 'no revision "HEAD:snippets"'),
    "three-parts": (["main..main..main"], 'no revision "main..main"'),
    "blank": ([" "], 'no revision " "'),
    "option": (["--output=x"], "No such option: --output"),
    "unknown-format": (["--format", "markdwon"],
                       '--format markdwon: choose text, markdown or json; did you mean "markdown"?'),
    "empty-format": (["--format", ""], "--format : choose text, markdown or json"),
    "both": (["main", "--hosts", "epyc", "h200"],
             "--hosts compares two hosts of the working tree; leave the revisions out"),
    "unknown-host": (["--hosts", "epyc", "h20"], 'no host "h20"'),
    "nearest-host": (["--hosts", "epic", "epyc"], 'no host "epic"; did you mean "epyc"?'),
    "empty-hosts": (["--hosts", "", ""], 'no host ""'),
    "equal-hosts": (["--hosts", "epyc", "epyc"], "--hosts epyc epyc: name two hosts"),
    "one-host": (["--hosts", "epyc"], "requires 2 arguments"),
}  # fmt: skip


@pytest.mark.parametrize(("arguments", "said"), rows(UNKNOWN))
def test_what_cannot_be_compared_is_named(book: Compared, arguments: list[str], said: str) -> None:
    """Unknown revisions, hosts and formats are exit 2 with the nearest known one; no revision is taken as an option."""
    result = book.diff(*arguments)
    assert (result.code, result.out) == (2, "")
    assert said in " ".join(result.err.split())
    assert not (book.root / "x").exists()


EXITS: dict[str, tuple[str, int, int]] = {
    "nothing": ("", 0, 0), "captured-again": ("again", 0, 0), "new-torch": ("torch", 1, 1), "stale": ("stale", 1, 1),
    "removed": ("removed", 1, 1), "timing": ("timing", 1, 1), "causeless": ("causeless", 1, 2),
    "hand-edit": ("edit", 1, 2), "failure": ("failure", 1, 2), "orphan": ("orphan", 1, 2), "claim": ("claim", 1, 2),
    "secret": ("secret", 3, 3), "host-file": ("host", 1, 2),
}  # fmt: skip


def spoil(book: Compared, how: str) -> None:
    """Change the working tree in one way."""
    changed = {
        "again": {"captured": "2026-12-01"}, "torch": {"stdout": "a 2\n", "torch": "2.14.1+cpu"},
        "causeless": {"stdout": "a 2\n"}, "failure": {"status": "crashed", "exit_code": -11, "stdout": ""},
        "stale": {"source_sha256": STALE},
    }  # fmt: skip
    if how in changed:
        book.keep(record("a/one", **{"stdout": "a 1\n", **changed[how]}))
    elif how == "removed":
        (book.root / RECORD).unlink()
    elif how == "orphan":
        (book.root / "snippets/a/one.py").unlink()
    elif how == "edit":
        book.write(RECORD, book.read(RECORD).replace("  a 1\n", "  a 2\n"))
    elif how == "secret":
        book.keep(record("a/one", stdout=f"a {TOKEN}\n"))
    elif how == "host":
        book.write("docs/captures/epyc/host.yaml", "schema: x\n")
    elif how == "claim":
        claim = {"big": {"says": "it is big", "holds": "a > 5"}}
        book.write("snippets/a/one.py", script('print("a 1")', values={"a": r"a (\d+)"}, claims=claim))
    elif how == "timing":
        book.write("snippets/a/speed.py", TIMING)
        book.keep(record("a/speed", stdout="slowdown 2x\n"))
        book.commit()
        book.keep(record("a/speed", stdout="slowdown 90x\n"))


@pytest.mark.parametrize(("how", "code", "strict"), rows(EXITS))
def test_exit_codes(book: Compared, how: str, code: int, strict: int) -> None:
    """0 nothing to read, 1 something, 2 with --strict what must not be merged, 3 something private, never echoed."""
    spoil(book, how)
    for style in ("text", "markdown", "json") if how == "secret" else ("text",):
        result = book.diff("--format", style)
        assert (result.code, result.err) == (code, "")
        assert TOKEN not in result.text
    book.commit()
    base = "HEAD~1" if how else "HEAD"
    assert book.diff(f"{base}..HEAD", "--strict").code == strict


def test_each_format_says_the_same(book: Compared) -> None:
    """Text without colour where it is piped, Markdown for a comment, JSON for programs."""
    upgraded(book)
    text, markdown, data = (book.diff("--format", style).out for style in ("text", "markdown", "json"))
    assert book.diff().out == text and "\x1b" not in text
    assert markdown.startswith("**HEAD (") and "| text changed | 1 |" in markdown
    read = json.loads(data)
    assert (read["counts"], read["to_read"], read["failing"]) == ({"text changed": 1}, 1, [])
    assert re.match(r"HEAD \([0-9a-f]{10}\)", read["base"]) and read["head"] == "working tree"
    coloured = book.diff("--format", "json", cwd=book.root / "docs")
    assert coloured.out == data


def test_a_failing_report_is_colour_free_in_json(book: Compared) -> None:
    """Colours that the caller forces are for people; JSON and Markdown stay as they are."""
    upgraded(book)
    for style in ("markdown", "json"):
        forced = book.capture("diff", "--format", style, env={**GIT, "FORCE_COLOR": "1"})
        assert "\x1b" not in forced.out
    assert "\x1b[" in book.capture("diff", env={**GIT, "FORCE_COLOR": "1"}).out


def test_records_of_local_are_never_shown(book: Compared) -> None:
    """Not even where somebody committed them."""
    book.keep(make_host("local"))
    book.keep(record("a/one", "local", stdout="mine\n"))
    assert book.diff().code == 0
    book.git("add", "-f", "docs/captures/local")
    book.git("commit", "-q", "-m", "local")
    book.keep(record("a/one", "local", stdout="other\n"))
    for revisions in ("HEAD", "HEAD~1..HEAD"):
        result = book.diff(revisions)
        assert (result.code, result.out.count("local")) == (0, 0)


def test_two_hosts_are_compared(book: Compared) -> None:
    """cmp-gpu-variant: one table of both, `local` too; the exit code says that there is something to read."""
    for label, ms in (("a100-pcie", "3.10"), ("a100-sxm", "1.00"), ("local", "2.00")):
        book.keep(make_host(label, f"A100 {label}", "cuda"))
        book.write("snippets/a/speed.py", TIMING)
        book.keep(record("a/speed", label, stdout=f"step {ms} ms\nslowdown 2x\n"))
    result = book.diff("--hosts", "a100-pcie", "a100-sxm")
    assert (result.code, result.err) == (1, "")
    assert "another machine (accelerators: 1 x A100 a100-pcie -> 1 x A100 a100-sxm)" in result.out
    assert "values equal, 3.1 times faster" in result.out
    assert "line 1, step  3.10  1.00  0.323  any" in result.out
    assert book.diff("--hosts", "a100-pcie", "local", "--strict").code == 1
    assert "a/one on h: missing" not in result.out


def test_a_damaged_record_of_a_host_is_told(book: Compared) -> None:
    """It does not pass for one that was never captured; the other host's troubles are its own."""
    book.keep(make_host("h200"))
    book.keep(make_host("third"))
    book.keep(record("a/one", "h200", stdout="a 1\n"))
    book.keep(record("a/one", "third", stdout="a 1\n"))
    for label in ("h200", "third"):
        book.write(f"docs/captures/{label}/a/one.yaml", "schema: 1\n")
    result = book.diff("--hosts", "epyc", "h200")
    assert "docs/captures/h200/a/one.yaml:" in result.err and "third" not in result.err
    book.write("docs/captures/h200/host.yaml", "schema: 1\n")
    broken = book.diff("--hosts", "epyc", "h200")
    assert broken.code == 2 and broken.err.startswith("docs/captures/h200/host.yaml:")
