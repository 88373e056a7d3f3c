"""Damaged, merged or forged files are refused at path:line, with what to do; nothing in them is expanded."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from harness.handbooks import host, record
from harness.properties import EXAMPLES, captured_text, rows
from hypothesis import given
from hypothesis import strategies as st

from capture import store
from capture.errors import CaptureError, Problem

TEXT = store.record_text(record("a/b", stdout="one\ntwo\n", packages={"numpy": "2.4.6"}))
ADVICE = "; restore it with git, or capture it again: capture run a/b --force --host epyc"


def refusal(text: str, advice: str = ADVICE) -> str:
    """Return what reading says about the text of a record."""
    with pytest.raises(CaptureError) as error:
        store.parse_record(text, "a.yaml", advice)
    return str(error.value)


def line_of(start: str) -> int:
    """Return the line of a field in the text of the record."""
    return TEXT[: TEXT.index(start)].count("\n") + 1


def swap(old: str, new: str) -> str:
    """Return the text of the record with one place changed."""
    assert TEXT.count(old) == 1, old
    return TEXT.replace(old, new)


NOT_WRITTEN = {
    "empty": ("", "a.yaml:1: the file is empty"),
    "comment": ("# only a comment\n", "a.yaml:1: the file is empty"),
    "yaml-conflict": (
        swap("  two\n", "<<<<<<< ours\n  2.10 ms\n=======\n  2.14 ms\n>>>>>>> theirs\n"),
        f"a.yaml:{line_of('  two')}: conflict marker",
    ),
    "yaml-conflict-base": (swap("status: ok\n", "status: ok\n||||||| base\n"), ": conflict marker"),
    "yaml-conflict-end": (TEXT + ">>>>>>> theirs\n", f"a.yaml:{line_of('stderr') + 1}: conflict marker"),
    "yaml-dup-key": (
        TEXT + "stdout: |\n  0.97x\n",
        f'a.yaml:{line_of("stderr") + 1}: key "stdout" is here and on line {line_of("stdout:")}',
    ),
    "yaml-dup-key-inner": (
        swap("  torch: 2.13.0+cpu\n", "  torch: 2.13.0+cpu\n  python: 3.12.1\n"),
        f'a.yaml:{line_of("  torch:") + 1}: key "python" is here and on line {line_of("  python:")}',
    ),
    "yaml-dup-key-flow": (swap("{numpy: 2.4.6}", "{numpy: '1', numpy: '2'}"), 'key "numpy" is here and on line'),
    "yaml-anchors": (swap("host: epyc", "host: &h epyc"), f"a.yaml:{line_of('host:')}: anchors and aliases are not"),
    "alias": (swap("host: epyc", "host: *h"), f"a.yaml:{line_of('host:')}: anchors and aliases are not allowed"),
    "anchor-on-mapping": (swap("environment:\n", "environment: &e\n"), "anchors and aliases are not allowed"),
    "anchor-on-key": (swap("host: epyc", "&k host: epyc"), "anchors and aliases are not allowed"),
    "merge-key": (swap("{numpy: 2.4.6}", "{<<: {a: b}}"), "cannot read '<<'"),
    "tag": (swap("host: epyc", "host: !!str epyc"), "tags are not allowed (tag:yaml.org,2002:str)"),
    "python-tag": (
        swap("host: epyc", "host: !!python/object/apply:os.system ['id']"),
        f"a.yaml:{line_of('host:')}: tags are not allowed (tag:yaml.org,2002:python/object/apply:os.system)",
    ),
    "own-tag": (swap("host: epyc", "host: !x epyc"), "tags are not allowed (!x)"),
    "binary": (swap("host: epyc", "host: !!binary aGk="), "tags are not allowed"),
    "second-document": (TEXT + "---\na: 1\n", ": a second document in the file"),
    "list-as-key": (swap("host: epyc", "? [a, b]\n: epyc"), ": a key must be plain text"),
    "nested": (swap("host: epyc", "host: " + "[" * 21 + "]" * 21), ": nested too deeply"),
    "nested-mappings": (swap("host: epyc", "host: " + "{a: " * 21 + "}" * 21), ": nested too deeply"),
    "nul": (swap("host: epyc", "host: ep\x00yc"), "a.yaml: not valid YAML: "),
    "open-quote": (swap("host: epyc", "host: 'epyc"), ": not valid YAML: "),
    "two-colons": (swap("host: epyc", "host: epyc: x"), f"a.yaml:{line_of('host:')}: not valid YAML: "),
    "tab": (swap("host: epyc", "\thost: epyc"), f"a.yaml:{line_of('host:')}: not valid YAML: "),
    "long-number": (swap("schema: 1", "schema: " + "1" * 5000), "a.yaml:1: cannot read '1111"),
    "no-such-day": (swap("'2026-11-29'", "2026-13-99"), ": cannot read '2026-13-99'"),
    "text": ("just text\n", "a.yaml:1: expected a mapping, found text"),
    "list": ("- a\n", "a.yaml:1: expected a mapping, found a list"),
    "null": ("null\n", "a.yaml:1: expected a mapping, found null"),
}


@pytest.mark.parametrize(("text", "said"), rows(NOT_WRITTEN))
def test_what_the_writer_never_writes_is_refused(text: str, said: str) -> None:
    """Each at its line, with the command that makes a new record."""
    found = refusal(text)
    assert said in found
    assert found.endswith(ADVICE)


PYTHON, PACKAGES = "python: 3.11.7", "{numpy: 2.4.6}"
MISTYPED = {
    "yaml-version-float": (PYTHON, "python: 3.10", "environment.python: expected text, found a number; quote it"),
    "yaml-version-time": (PYTHON, "python: 12:30:45", "environment.python: expected text, found a whole number; quote"),
    "yaml-version-octal": (PYTHON, "python: 017", "environment.python: expected text, found a whole number; quote it"),
    "yaml-version-date": (PYTHON, "python: 2026-11-29", "environment.python: expected text, found date; quote it"),
    "yaml-norway": ("host: epyc", "host: no", "host: expected text, found true or false; quote it"),
    "yaml-norway-on": ("driver: null", "driver: on", "environment.driver: expected text or null, found true or false"),
    "yaml-norway-key": (PACKAGES, "{on: '2'}", "environment.packages: expected text as keys, found true or false"),
    "package-version": (
        PACKAGES,
        "{numpy: 2.4}",
        "environment.packages.numpy: expected text, found a number; quote it",
    ),
    "day": ("captured: '2026-11-29'", "captured: 2026-11-29", "captured: expected text, found date; quote it"),
    "unknown": ("status: ok", "statsu: ok", 'statsu: unknown field; did you mean "status"?'),
    "missing": ("status: ok\n", "", "status: missing field"),
    "newer": ("schema: 1", "schema: 2", "schema 2 is newer than this tool knows (1); update with: git pull"),
}


@pytest.mark.parametrize(("old", "new", "said"), rows(MISTYPED))
def test_a_mistyped_field_is_named_at_its_line(old: str, new: str, said: str) -> None:
    """Only the declared type is accepted, and the message names the field."""
    found = refusal(swap(old, new))
    line = line_of(old) if new else 1
    assert found.startswith(f"a.yaml:{line}: {said}")


@pytest.mark.parametrize("length", range(0, len(TEXT) - 1, 7))
def test_a_cut_file_is_no_record(length: int) -> None:
    """store-atomic: whatever is missing at the end, the rest never passes for a result."""
    found = refusal(TEXT[:length])
    assert found.startswith("a.yaml:")
    assert found.endswith(ADVICE)


def test_an_alias_bomb_is_refused_before_it_expands() -> None:
    """yaml-anchors: a few hundred bytes that would become gigabytes."""
    lines = ["a: &a [x, x, x, x, x, x, x, x]"]
    lines += [f"{new}: &{new} [{', '.join([f'*{old}'] * 9)}]" for old, new in zip("abcdefgh", "bcdefghi", strict=True)]
    assert refusal("\n".join(lines)) == f"a.yaml:1: anchors and aliases are not allowed{ADVICE}"


def test_a_large_file_without_anchors_is_read() -> None:
    """yaml-anchors: a long output is not taken for an attack."""
    item = record("a/b", stdout="row 1.0 2.0\n" * 20000)
    assert store.parse_record(store.record_text(item), "a.yaml")[0] == item


@pytest.mark.parametrize(
    "unit", ["[", "{", "- ", "a: ", "? ", "'", '"', "&a ", "!", "|\n", "#", "\\", "\t", "9", "{a: "]
)
def test_no_text_takes_long_to_refuse(unit: str) -> None:
    """A stranger's file of 256 KiB of any one thing is answered in seconds at the very most."""
    before = time.process_time()
    refusal(unit * (2**18 // len(unit)))
    assert time.process_time() - before < 10


FORMATTED = {
    "crlf": TEXT.replace("\n", "\r\n"),
    "bom": "\ufeff" + TEXT,
    "document-start": "---\n" + TEXT,
    "comments": "# merged\n" + TEXT + "\n\n",
    "store-formatter": TEXT.replace("host: epyc", 'host: "epyc"').replace("  ", "    "),
    "store-formatter-flow": swap("{numpy: 2.4.6}", "\n    numpy: 2.4.6"),
}


@pytest.mark.parametrize("text", rows(FORMATTED))
def test_what_a_formatter_changes_means_the_same(text: str) -> None:
    """Other bytes, the same record: comparing and digests work on what was read."""
    assert text != TEXT
    assert store.parse_record(text, "a.yaml")[0] == store.parse_record(TEXT, "a.yaml")[0]


@EXAMPLES
@given(captured_text(), st.integers(0, len(TEXT)), st.integers(0, 40))
def test_any_text_is_a_record_or_a_problem_with_a_place(text: str, start: int, length: int) -> None:
    """Random text, and a record with any piece of it replaced."""
    clean = text.encode("utf-8", "ignore").decode()
    for damaged in (clean, TEXT[:start] + clean + TEXT[start + length :]):
        try:
            store.parse_record(damaged, "a.yaml")
        except CaptureError as error:
            assert all(isinstance(problem, Problem) and problem.path == "a.yaml" for problem in error.problems)


@pytest.mark.parametrize("field", ["a[", "a]", "[", "[0]", "a.b[0].c", "]]", "a..b", ".", "a[x].y"])
def test_the_nearest_line_of_any_field_is_found(field: str) -> None:
    """Names with brackets and dots of their own end the search like any other."""
    assert store.nearest_line({}, field) == 1
    assert store.nearest_line({field: 7}, field) == 7
    assert store.nearest_line({"a": 3}, f"a.{field}") == 3


@pytest.fixture
def book(tmp_path: Path) -> store.Handbook:
    """A handbook with one host and one record."""
    found = store.Handbook(tmp_path)
    store.write_host(found, host())
    store.write_record(found, record("a/b"))
    return found


SAYS = f" says{ADVICE}"


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"\xff\xfe" + b"s\x00c\x00", "docs/captures/epyc/a/b.yaml: is not UTF-8 (byte 0)"),
        (b"stdout: caf\xe9\n", "docs/captures/epyc/a/b.yaml: is not UTF-8 (byte 11)"),
        (b"x" * (4 * 2**20 + 1), "docs/captures/epyc/a/b.yaml: larger than 4 MiB; no record is"),
        (swap("host: epyc", "host: h200").encode(), f'b.yaml:4: says host "h200", not "epyc" as its path{SAYS}'),
        (TEXT.replace("a/b", "a/c").encode(), f'b.yaml:2: says snippet "a/c", not "a/b" as its path{SAYS}'),
    ],
)  # fmt: skip
def test_a_file_that_cannot_be_this_record_is_refused(book: store.Handbook, data: bytes, said: str) -> None:
    """Not text, too large to parse, or the record of something else."""
    book.record_path("epyc", "a/b").write_bytes(data)
    with pytest.raises(CaptureError) as error:
        store.read_record(book, "epyc", "a/b")
    assert str(error.value).endswith(said)


def test_a_host_of_another_label_is_refused(book: store.Handbook) -> None:
    """A copied folder is not another host."""
    path = book.host_path("epyc")
    path.write_text(path.read_text().replace("label: epyc", "label: other"))
    with pytest.raises(
        CaptureError, match=r'docs/captures/epyc/host\.yaml:2: says label "other" in the folder of "epyc"'
    ):
        store.read_host(book, "epyc")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_what_is_no_file_is_not_read(book: store.Handbook) -> None:
    """A link to an endless device, a pipe nobody writes to, a folder: refused, never waited for."""
    path = book.record_path("epyc", "a/b")
    path.unlink()
    for make in (lambda: path.symlink_to("/dev/zero"), lambda: os.mkfifo(path), path.mkdir):
        make()
        with pytest.raises(CaptureError, match=r"b\.yaml: is no regular file"):
            store.read_record(book, "epyc", "a/b")
        if not path.is_dir():
            path.unlink()


def test_what_is_not_there_is_none(book: store.Handbook) -> None:
    """Absence is no problem of the file system."""
    assert store.read_record(book, "epyc", "a/none") is None
    assert store.read_host(book, "h200") is None


def test_a_file_that_may_not_be_read_says_so(book: store.Handbook, monkeypatch: pytest.MonkeyPatch) -> None:
    """Permissions are the reader's to mend."""

    def locked(_: Path) -> bytes:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "read_bytes", locked)
    with pytest.raises(CaptureError, match=r"docs/captures/epyc/a/b\.yaml: cannot be read: Permission denied"):
        store.read_record(book, "epyc", "a/b")
