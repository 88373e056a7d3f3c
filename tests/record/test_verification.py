"""A verification as data: what its reader takes and refuses, and its published schema."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest
from harness.handbooks import record
from harness.verifications import result, verified

from capture.errors import CaptureError
from capture.exchange import json_schemas
from capture.record import verification

GOOD = verified(
    result(record("x/speed")),
    result(record("x/other"), outcome="differs", class_="text changed", detail='line 1: "流" -> "b"'),
    result(record("x/none"), outcome="skipped", class_=None, content_sha256=None, detail="a timing is not verified"),
)


def changed(**changes: Any) -> str:
    """Return the good one as text with some of its fields changed, `result__name` those of its first result."""
    data = json.loads(verification.text(GOOD))
    for name, value in changes.items():
        table, field = (data["results"][0], name.removeprefix("result__")) if "result__" in name else (data, name)
        table[field] = value
    return json.dumps(data)


def test_written_and_read_again() -> None:
    """What was written is what is read; the class of a change has the name that other programs expect."""
    assert verification.parse(verification.text(GOOD), "v.json", "") == GOOD
    assert [item["class"] for item in json.loads(verification.text(GOOD))["results"]] == [
        "identical", "text changed", None,
    ]  # fmt: skip


def test_it_is_valid_by_the_published_schema() -> None:
    """The schema describes what the tool writes, and refuses what the tool refuses."""
    schema = json.loads(json_schemas.texts()["docs/schema/verification.json"])
    validator = jsonschema.Draft202012Validator(schema)
    validator.validate(json.loads(verification.text(GOOD)))
    for damage in ({"result__outcome": "fine"}, {"verdict": 1}, {"date": 5}):
        assert not validator.is_valid(json.loads(changed(**damage)))
    assert schema["properties"]["against"]["description"]
    assert schema["properties"]["results"]["items"]["properties"]["class"]["description"]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "v.json:1: is no JSON (Expecting value)"),
        ('{\n"schema": 1,\n', "v.json:3: is no JSON"),
        ("[" * 100_000, "v.json: is no JSON that can be read"),
        ("[]", "is no verification: expected a mapping, found a list"),
        ("{}", "is no verification: schema: missing field"),
        (changed(schema=2, verdicts=[]), "schema 2 is newer than this tool knows (1)"),
        (changed(schema=0), "there is no schema 0"),
        (changed(verdict=1), "verdict: unknown field"),
        (changed(against="Not a label"), "against: expected a host label"),
        (changed(date="2026-02-30"), "date: there is no such day"),
        (changed(date="yesterday"), "date: expected a date"),
        (changed(result__outcome="fine"), "results[0].outcome: expected one of reproduced, differs, skipped"),
        (changed(result__content_sha256="abc"), "results[0].content_sha256: expected 64 hex digits"),
        (changed(result__content_sha256=None), "results[0].content_sha256: expected 64 hex digits"),
        (changed(result__snippet="../../etc"), "results[0].snippet: expected chapter/name"),
        (changed(result__host="<b>"), "results[0].host: expected a host label"),
        (changed(result__class_="identical"), "results[0].class_: unknown field"),
        (changed(result__snippet="x/other"), "results: one record stands there twice"),
    ],
)
def test_what_cannot_be_used_is_refused(text: str, says: str) -> None:
    """Every refusal names the file, the field, and what to do."""
    with pytest.raises(CaptureError) as refused:
        verification.parse(text, "v.json", "write it again")
    assert str(refused.value).startswith("v.json:")
    assert says in str(refused.value) and str(refused.value).endswith("; write it again")
