"""The published JSON Schemas: what they accept is what the tool reads and writes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from harness.handbooks import REPOSITORY, host, record
from harness.properties import EXAMPLES, captured_text
from hypothesis import given

from capture import store
from capture.exchange import json_schemas
from capture.host.environment import Conditions
from capture.record import text_rules
from capture.record.record import Elision, Record, Runs

SCHEMAS = {Path(name).stem: json.loads(text) for name, text in json_schemas.texts().items()}
FULL = record(
    "a/b", status="crashed", exit_code=None, signal="SIGSEGV", phase="compile", hint="mend it", left_processes=1,
    elided={"stdout": Elision(70_000_000, 69_934_464)}, diagnostics="File x\n", runs=Runs(3, spread=1.04),
    conditions=Conditions(None, 0.02, None, "performance", busy=True), limits={"cpus": "1.5"}, torch=None,
)  # fmt: skip
COMMITTED = sorted(
    path for path in (REPOSITORY / "docs/captures").glob("*/*/*.yaml") if path.parent.parent.name != "local"
)


def valid(kind: str, text: str) -> None:
    """Check the text of a file against a schema as another tool would: read by plain PyYAML."""
    jsonschema.Draft202012Validator(SCHEMAS[kind]).validate(yaml.safe_load(text))


@pytest.mark.parametrize("kind", ["record", "host", "verification", "bundle", "dataset"])
def test_each_schema_is_one(kind: str) -> None:
    """JSON Schema of draft 2020-12, with a title."""
    jsonschema.Draft202012Validator.check_schema(SCHEMAS[kind])
    assert SCHEMAS[kind]["title"]


@pytest.mark.parametrize("name", list(json_schemas.texts()))
def test_the_committed_schema_is_what_the_code_generates(name: str) -> None:
    """Write it again with `capture schema`."""
    assert (REPOSITORY / name).read_text("utf-8") == json_schemas.texts()[name]


@pytest.mark.parametrize("item", [record("a/b"), FULL], ids=["ordinary", "full"])
def test_a_dumped_record_is_valid(item: Record) -> None:
    """With every optional field and with none."""
    valid("record", store.record_text(item))


@EXAMPLES
@given(captured_text())
def test_a_record_of_any_output_is_valid(text: str) -> None:
    """Whatever a snippet prints is text to every reader."""
    valid("record", store.record_text(record("a/b", stdout=text_rules.apply(text, text_rules.Places())[0])))


@pytest.mark.parametrize("item", [host(), host("h200", kind="cuda"), host("m3", vendor=None, core_types="4 x a")])
def test_a_dumped_host_is_valid(item: Any) -> None:
    """With and without accelerators, with nulls."""
    valid("host", store.host_text(item))


def test_the_committed_files_are_valid() -> None:
    """Every record and host of the handbook itself."""
    for path in COMMITTED:
        valid("record", path.read_text("utf-8"))
    for path in {path.parent.parent / "host.yaml" for path in COMMITTED}:
        valid("host", path.read_text("utf-8"))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("python: 3.11.7", "python: 3.10"), ("host: epyc", "host: no"), ("status: ok", "status: good"),
        ("exit_code: 0", "exit_code: '0'"), ("status: ok\n", ""), ("status: ok\n", "status: ok\nstate: ok\n"),
        ("cuda: false", "cuda: 'no'"), ("{count: 2, agree: true}", "[2]"), ("normalized: []", "normalized: ansi"),
    ],
)  # fmt: skip
def test_the_schema_refuses_what_the_tool_refuses(old: str, new: str) -> None:
    """yaml-norway, yaml-version-float: mistyped, missing and unknown fields."""
    text = store.record_text(record("a/b"))
    assert old in text
    with pytest.raises(jsonschema.ValidationError):
        valid("record", text.replace(old, new))


def test_fields_are_described() -> None:
    """A reviewer's editor shows what a number means."""
    properties = SCHEMAS["record"]["properties"]
    assert properties["environment"]["properties"]["cpu_capability"]["description"]
    assert all(part.get("description") for part in SCHEMAS["host"]["properties"]["cpu"]["properties"].values())
