"""Dataclasses to and from plain data, and to JSON Schema: one definition for reading, writing and publishing."""

from __future__ import annotations

import datetime
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import jsonschema
import pytest
from harness.properties import EXAMPLES
from hypothesis import given
from hypothesis import strategies as st

from capture import plain_data
from capture.exchange import json_schemas
from capture.plain_data import ShapeError


@dataclass(frozen=True)
class Part:
    """An inner mapping."""

    name: str
    weight: float | None = field(metadata={"about": "in grams"})


@dataclass(frozen=True)
class Whole:
    """Every kind of field that stored data has."""

    text: str
    count: int
    ratio: float
    flag: bool
    word: Literal["ok", "error"]
    maybe: str | None
    parts: tuple[Part, ...]
    table: Mapping[str, int]
    inner: Part
    extra: str | None = None
    limits: Mapping[str, str] = field(default_factory=dict, metadata={"omit_empty": True})


PLAIN: dict[str, Any] = {
    "text": "a", "count": 1, "ratio": 1.5, "flag": True, "word": "ok", "maybe": None,
    "parts": [{"name": "x", "weight": None}], "table": {"a": 1}, "inner": {"name": "y", "weight": 2.0},
}  # fmt: skip
WHOLE = Whole("a", 1, 1.5, True, "ok", None, (Part("x", None),), {"a": 1}, Part("y", 2.0))

ENDLESS = "found infinity or no number"
NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
wholes = st.builds(
    Whole, st.text(), st.integers(), NUMBERS, st.booleans(), st.sampled_from(["ok", "error"]),
    st.none() | st.text(), st.lists(st.builds(Part, st.text(), st.none() | NUMBERS)).map(tuple),
    st.dictionaries(st.text(), st.integers()), st.builds(Part, st.text(), st.none()), st.none() | st.text(),
    st.dictionaries(st.text(), st.text()),
)  # fmt: skip


def refusal(**changes: object) -> str:
    """Return what reading says about the plain data with some fields changed."""
    with pytest.raises(ShapeError) as error:
        plain_data.decode(Whole, PLAIN | changes)
    return str(error.value)


def test_plain_data_becomes_the_dataclass_and_back() -> None:
    """Lists become tuples, mappings dataclasses; what is written is what was read."""
    assert plain_data.decode(Whole, PLAIN) == WHOLE
    assert plain_data.encode(WHOLE) == PLAIN


@EXAMPLES
@given(wholes)
def test_any_value_survives_and_satisfies_the_published_schema(value: Whole) -> None:
    """What is encoded decodes to the same value, and the JSON Schema accepts it."""
    plain = plain_data.encode(value)
    assert plain_data.decode(Whole, plain) == value
    jsonschema.validate(plain, json_schemas.json_schema(Whole, "Whole"))


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"text": 3.1}, "text: expected text, found a number; quote it"),
        ({"text": True}, "text: expected text, found true or false; quote it"),
        ({"text": datetime.date(2026, 11, 29)}, "text: expected text, found date; quote it"),
        ({"text": None}, "text: expected text, found null"),
        ({"text": ["a"]}, "text: expected text, found a list"),
        ({"maybe": 3}, "maybe: expected text or null, found a whole number; quote it"),
        ({"count": True}, "count: expected a whole number, found true or false"),
        ({"count": 1.0}, "count: expected a whole number, found a number"),
        ({"count": "1"}, "count: expected a whole number, found text"),
        ({"ratio": False}, "ratio: expected a number, found true or false"),
        ({"ratio": math.inf}, f"ratio: expected a number, {ENDLESS}"),
        ({"ratio": math.nan}, f"ratio: expected a number, {ENDLESS}"),
        ({"ratio": 10**400}, "ratio: expected a number, found a whole number"),
        ({"inner": {"name": "y", "weight": -math.inf}}, f"inner.weight: expected a number or null, {ENDLESS}"),
        ({"flag": 1}, "flag: expected true or false, found a whole number"),
        ({"flag": "yes"}, "flag: expected true or false, found text"),
        ({"word": "oks"}, 'word: expected one of ok, error, found "oks"'),
        ({"word": {"a": 1}}, "word: expected one of ok, error, found a mapping"),
        ({"parts": {"name": "x"}}, "parts: expected a list, found a mapping"),
        ({"parts": [{"name": "x", "weight": "1"}]}, "parts[0].weight: expected a number or null, found text"),
        ({"parts": [PLAIN["inner"], 3]}, "parts[1]: expected a mapping, found a whole number"),
        ({"table": {"a": "1"}}, "table.a: expected a whole number, found text"),
        ({"table": {True: 1}}, "table: expected text as keys, found true or false; quote it"),
        ({"table": [1]}, "table: expected a mapping, found a list"),
        ({"inner": {"name": "y"}}, "inner.weight: missing field"),
        ({"inner": {"name": "y", "wieght": 1}}, 'inner.wieght: unknown field; did you mean "weight"?'),
        ({"txet": "a"}, 'txet: unknown field; did you mean "text"?'),
    ],
)  # fmt: skip
def test_a_wrong_field_is_named_with_what_it_should_be(changes: dict[str, object], said: str) -> None:
    """The dotted name, the type that is due and the one that was found; a scalar for text asks for quotes."""
    assert refusal(**changes) == said


def test_a_missing_field_is_named() -> None:
    """A field without a default may not be left out; one whose default is None or empty may."""
    with pytest.raises(ShapeError, match="text: missing field"):
        plain_data.decode(Whole, {name: value for name, value in PLAIN.items() if name != "text"})
    assert plain_data.decode(Whole, PLAIN).extra is None


def test_what_is_no_mapping_is_refused_at_the_top() -> None:
    """A list or a word instead of a record has no field to name."""
    with pytest.raises(ShapeError, match=r"^expected a mapping, found a list$"):
        plain_data.decode(Whole, [PLAIN])


def test_found_words_are_shown_shortened() -> None:
    """A refusal does not repeat a page of somebody's text."""
    assert len(refusal(word="x" * 5000)) < 120


def test_whole_numbers_stand_for_numbers() -> None:
    """YAML writes 2 for 2.0; a number field takes both and keeps a float."""
    assert type(plain_data.decode(Whole, PLAIN | {"ratio": 2}).ratio) is float


def test_empty_optional_fields_are_left_out() -> None:
    """A null default and an empty table are not written; a null without a default is."""
    assert not {"extra", "limits"} & plain_data.encode(WHOLE).keys()
    assert plain_data.encode(WHOLE)["maybe"] is None


def test_the_schema_says_what_reading_demands() -> None:
    """Required and unknown fields, closed words and descriptions stand in the JSON Schema."""
    schema = json_schemas.json_schema(Whole, "Whole")
    assert schema["title"] == "Whole"
    assert set(schema["required"]) == set(PLAIN)
    assert schema["additionalProperties"] is False
    assert schema["properties"]["word"] == {"enum": ["ok", "error"]}
    assert schema["properties"]["inner"]["properties"]["weight"]["description"] == "in grams"
    for changes in ({"text": 3}, {"flag": "yes"}, {"word": "oks"}, {"odd": 1}, {"table": {"a": "1"}}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(PLAIN | changes, schema)
