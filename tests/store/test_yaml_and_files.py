"""YAML and files: what survives normalising survives the file; what is no record is refused at path:line."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import pytest
import ruamel.yaml
import yaml
from harness.handbooks import REPOSITORY, host, record
from harness.properties import EXAMPLES, captured_text
from hypothesis import example, given
from hypothesis import strategies as st

from capture import store
from capture.record import record as records
from capture.record import text_rules
from capture.record.record import sealed
from capture.store import yaml_text

PLACES = text_rules.Places()
TABLE = "Name            Self CPU\n-----------  -----------\naten::addmm       61.2%\n\n  total: 3 ms\n"


def stored(text: str) -> str:
    """Return the file of a record whose stdout is a text, as the runner would store it."""
    return store.record_text(sealed(record("a/b", stdout=text_rules.apply(text, PLACES)[0])))


def block(text: str) -> list[str]:
    """Return the lines of the stdout field of a file."""
    lines = text.split("\n")
    start = next(number for number, line in enumerate(lines) if line.startswith("stdout:"))
    return lines[start : lines.index("stderr: ''")]


def every_reader(text: str) -> list[object]:
    """Read a file as other people's tools do: PyYAML with and without libyaml, and a YAML 1.2 reader."""
    modern = ruamel.yaml.YAML(typ="safe", pure=True)
    return [yaml.safe_load(text), yaml.load(text, Loader=yaml.CSafeLoader), modern.load(text)]


@EXAMPLES
@given(captured_text())
@example("")
@example("\n")
@example("\n\n x\n\n")
@example("   \n       col0  col1\nrow    1.0   2.0\n")
@example("\tx\n y\n")
@example(" \tx\n")
@example("x\n\ty\n")
@example("# comment\n---\n...\n%YAML 1.2\n")
def test_whatever_survives_normalising_survives_the_file(text: str) -> None:
    """yaml-leading-space and every neighbour: write, read, compare; the same in every reader."""
    clean = text_rules.apply(text, PLACES)[0]
    item = sealed(record("a/b", stdout=clean, stderr=clean, diagnostics=clean or None))
    written = store.record_text(item)
    assert store.parse_record(written, "a.yaml")[0] == item
    for found in every_reader(written):
        assert isinstance(found, dict)
        assert (found["stdout"], found["stderr"], found.get("diagnostics", "")) == (clean, clean, clean)


@EXAMPLES
@example("\x85", "chip")
@example("a\u2028b", "os")
@example("\r", "driver")
@given(captured_text(), st.sampled_from(["chip", "os", "python", "torch", "driver"]))
def test_any_text_survives_in_a_short_field(text: str, field: str) -> None:
    """yaml-norway, yaml-version-float: `no`, `3.10` and `12:30` are read as the text they are."""
    clean = text.encode("utf-8", "ignore").decode()
    item = record("a/b", **{field: clean}, packages={clean: clean}, upstream={clean: clean})
    assert store.parse_record(store.record_text(item), "a.yaml")[0] == item


@EXAMPLES
@given(captured_text(), st.sampled_from(["chip", "driver", "os"]))
def test_a_record_is_written_as_one_document(text: str, field: str) -> None:
    """Whatever a field ends in, its mark for the end of a document stands nowhere but at the end of the file."""
    item = record("a/b", **{field: text}, stdout=text, packages={"numpy": text}, upstream={"torch.x": "0" * 64})
    plain = {name: yaml_text.flowing(name, value) for name, value in records.encode(item).items()}
    written = store.record_text(item)
    assert written == yaml_text.dump(plain)
    assert len(list(yaml.load_all(written, Loader=yaml.CSafeLoader))) == 1


def test_committed_records_are_written_as_they_are() -> None:
    """Byte for byte, so that nothing but a result changes a published file."""
    texts = {path: path.read_bytes().decode("utf-8") for path in REPOSITORY.glob("docs/captures/*/*/*.yaml")}
    again = {path: store.record_text(store.parse_record(text, path.name)[0]) for path, text in texts.items()}
    assert texts
    assert [str(path) for path, text in texts.items() if again[path] != text] == []


@EXAMPLES
@given(captured_text())
def test_the_pure_parser_reads_what_libyaml_reads(text: str) -> None:
    """A node without libyaml sees the same records."""
    written = stored(text)
    fast, slow = (list(yaml.parse(written, Loader=loader)) for loader in (yaml.CSafeLoader, yaml.SafeLoader))
    assert [getattr(event, "value", None) for event in fast] == [getattr(event, "value", None) for event in slow]


@pytest.mark.parametrize(
    ("text", "first", "lines"),
    [
        pytest.param(TABLE, "stdout: |", TABLE, id="table"),
        pytest.param("Name  Self CPU  \naten::addmm  61.2%  \n", "stdout: |", None, id="yaml-trailing-space"),
        pytest.param("       col0\nrow    1.0\n", "stdout: |2", "       col0\nrow    1.0\n", id="yaml-leading-space"),
        pytest.param("   \nrow\n", "stdout: |2", "\nrow\n", id="yaml-blank-first-line"),
        pytest.param("\x1b[31mFAILED\x1b[0m 3 tests\x00\n", "stdout: |", "FAILED 3 tests\\x00\n", id="yaml-control"),
        pytest.param("done 🚀\n", "stdout: |", "done 🚀\n", id="yaml-dumper-differs"),
        pytest.param("path " + "segment " * 30 + "\n", "stdout: |", None, id="yaml-fold"),
        pytest.param("<<<<<<< ours\n=======\n>>>>>>> theirs\n", "stdout: |", None, id="yaml-conflict-in-output"),
        pytest.param("a: b\n- c\n# d\n'e'\n", "stdout: |", None, id="yaml-in-output"),
        pytest.param("x\n\n\n", "stdout: |+", None, id="blank-lines-at-the-end"),
        pytest.param("a\tb\n", "stdout: |", "a\tb\n", id="tab-within-a-line"),
        pytest.param("\U0001fffe \u200b e\u0301\n", "stdout: |", None, id="rare-characters"),
    ],
)
def test_output_is_a_literal_block(text: str, first: str, lines: str | None) -> None:
    """One line of output is one line of the file, indented by two, so that a diff can be read."""
    found = block(stored(text))
    assert found[0] == first
    shown = "".join(line.removeprefix("  ") + "\n" for line in found[1:])
    assert shown == (text_rules.apply(text, PLACES)[0] if lines is None else lines)


def test_a_line_that_starts_with_a_tab_is_quoted() -> None:
    """The one text that a literal block cannot hold in every reader; it stays one line of the file."""
    assert block(stored("a\n\tb\n")) == ['stdout: "a\\n\\tb\\n"']


def test_short_fields_are_not_folded() -> None:
    """yaml-fold: one source line is one file line, however long."""
    item = record("a/b", hint="word " * 60 + "end")
    assert f"\nhint: {item.hint}\n" in store.record_text(item)


@pytest.mark.parametrize(
    "word",
    [
        "no",
        "on",
        "off",
        "yes",
        "null",
        "~",
        "3.10",
        "1e3",
        "-1E+5",
        "0o17",
        "017",
        "0x1F",
        "12:30:45",
        "2026-11-29",
        "=",
    ],
)
def test_words_that_yaml_would_read_otherwise_are_quoted(word: str) -> None:
    """yaml-norway, yaml-version-float: every reader gets the text."""
    text = store.record_text(record("a/b", driver=word))
    assert f"  driver: '{word}'\n" in text
    assert all(found["environment"]["driver"] == word for found in every_reader(text))  # type: ignore[index]


WITHOUT_LIBYAML = """
import sys
sys.modules["yaml._yaml"] = None
import yaml
from capture import store
assert not yaml.__with_libyaml__
text = sys.stdin.buffer.read().decode("utf-8")
sys.stdout.buffer.write(store.record_text(store.parse_record(text, "a.yaml")[0]).encode("utf-8"))
"""


def test_the_bytes_do_not_depend_on_libyaml() -> None:
    """yaml-dumper-differs: without the C library the same record is read, and written as the same bytes."""
    written = stored("done 🚀 ✓\n\ta\n é\n").replace("a/b", "c/d")
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_LIBYAML],
        input=written.encode("utf-8"),
        capture_output=True,
        check=True,
        timeout=60,
    )
    assert done.stdout.decode("utf-8") == written


def test_short_tables_take_one_line() -> None:
    """Gates, threads, packages and runs are read at a glance."""
    text = store.record_text(record("a/b", packages={"numpy": "2.4.6"}, gates={"cuda": False, "mps": True}))
    for line in ("  gates: {cuda: false, mps: true}", "  packages: {numpy: 2.4.6}", "runs: {count: 2, agree: true}"):
        assert f"\n{line}\n" in text
    assert text.endswith("stdout: |\n  out\nstderr: ''\n")


@pytest.mark.parametrize("item", [host(), host("m3", kind="mps", core_types="4 x performance: fast, # no")])
def test_a_host_survives_the_file(item) -> None:  # type: ignore[no-untyped-def]
    """Also where a field holds what YAML treats specially."""
    odd = replace(item, title="no: # 'x' \u202e\x1b", reasons={"cpu.part": "yes", "a: b": "- c"})
    assert store.parse_host(store.host_text(odd), "host.yaml")[0] == odd
