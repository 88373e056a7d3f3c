"""A record: its order, its digest, and what reading it demands."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any, get_args

import pytest
from harness.handbooks import record
from harness.properties import EXAMPLES
from hypothesis import given
from hypothesis import strategies as st

from capture.errors import CaptureError
from capture.host.environment import Conditions, Environment
from capture.plain_data import ShapeError
from capture.record import record as records
from capture.record.record import Elision, Record, Runs

FULL = record(
    "chapter/snippet", stderr="warning\n", status="crashed", exit_code=None, signal="SIGSEGV", phase="compile",
    hint="mend it", left_processes=2, elided={"stdout": Elision(70_000_000, 69_934_464)}, diagnostics="File x\n",
    conditions=Conditions(0.1, 0.02, None, "performance", gpu="1980 MHz", busy=True), limits={"cpus": "1.5"},
)  # fmt: skip


def plain(**changes: Any) -> dict[str, Any]:
    """Return the plain data of a record with some fields changed."""
    return records.encode(record("chapter/snippet")) | changes


def refusal(data: object) -> str:
    """Return what reading says about data that is no record."""
    with pytest.raises(ShapeError) as error:
        records.decode(data)
    return str(error.value)


def test_fields_stand_in_the_order_in_which_a_reviewer_reads() -> None:
    """Identity, provenance, environment, outcome; long text last."""
    names = list(records.encode(FULL))
    assert names[:6] == ["schema", "snippet", "source_sha256", "host", "captured", "environment"]
    assert names[-4:] == ["content_sha256", "stdout", "stderr", "diagnostics"]
    assert set(names) == set(Record.__dataclass_fields__) == set(records.ORDER)


def test_absent_facts_take_no_line() -> None:
    """An ordinary record says nothing about signals, elision or noise."""
    assert set(Record.__dataclass_fields__) - set(plain()) == {
        "conditions", "signal", "phase", "hint", "left_processes", "elided", "diagnostics",
    }  # fmt: skip
    assert "limits" not in plain()["environment"]


@pytest.mark.parametrize("item", [FULL, record("chapter/snippet")], ids=["full", "ordinary"])
def test_a_record_survives_plain_data(item: Record) -> None:
    """What is written is what is read."""
    assert records.decode(records.encode(item)) == item


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"schema": True}, "schema: expected a whole number, found true or false"),
        ({"schema": "1"}, "schema: expected a whole number, found text"),
        ({"schema": 0}, "schema: there is no schema 0; this tool knows 1"),
        ({"snippet": "a"}, "snippet: expected chapter/name"),
        ({"snippet": "../a/b"}, "snippet: expected chapter/name"),
        ({"snippet": "a/b\n"}, "snippet: expected chapter/name"),
        ({"source_sha256": "9b1f"}, "source_sha256: expected 64 hex digits"),
        ({"source_sha256": "G" * 64}, "source_sha256: expected 64 hex digits"),
        ({"content_sha256": ""}, "content_sha256: expected 64 hex digits"),
        ({"host": "../../etc"}, "host: expected a host label"),
        ({"host": "H200"}, "host: expected a host label"),
        ({"host": ""}, "host: expected a host label"),
        ({"captured": "29.11.2026"}, "captured: expected a date, YYYY-MM-DD"),
        ({"captured": "2026-11-31"}, "captured: there is no such day (day is out of range for month)"),
        ({"captured": "2026-11-29T10:00:00"}, "captured: expected a date, YYYY-MM-DD"),
        ({"captured": "٢٠٢٦-١١-٢٩"}, "captured: expected a date, YYYY-MM-DD"),
        ({"status": "good"}, f'status: expected one of {", ".join(get_args(records.Status))}, found "good"'),
        ({"exit_code": "0"}, "exit_code: expected a whole number or null, found text"),
        ({"normalized": "ansi"}, "normalized: expected a list, found text"),
        ({"stdout": None}, "stdout: expected text, found null"),
        ({"stduot": ""}, 'stduot: unknown field; did you mean "stdout"?'),
        ({"runs": {"count": 2, "agree": "yes"}}, "runs.agree: expected true or false or null, found text"),
        ({"upstream": ["a"]}, "upstream: expected a mapping, found a list"),
    ],
)  # fmt: skip
def test_what_is_no_record_is_refused_by_field(changes: dict[str, Any], said: str) -> None:
    """Forms that become paths, addresses and dates are checked as well as types."""
    assert refusal(plain(**changes)) == said


def test_a_missing_field_of_the_environment_is_named() -> None:
    """All that makes a result interpretable must be in the record itself."""
    for name in ("torch", "gates", "cuda_build"):
        data = plain()
        del data["environment"][name]
        assert refusal(data) == f"environment.{name}: missing field"


def test_a_newer_schema_says_how_to_update() -> None:
    """Fields that this tool does not know yet are no reason to call a record broken."""
    with pytest.raises(CaptureError, match="schema 2 is newer than this tool knows"):
        records.decode({"schema": 2, "anything": 1})


def test_the_content_digest_covers_every_field() -> None:
    """A hand edit or a bad merge of any field is noticed; the digest of another record is no fit."""
    sealed = records.sealed(FULL)
    assert records.content_digest(sealed) == sealed.content_sha256
    environment = replace(FULL.environment, threads={"intra": 4, "inter": 2})
    for changes in (
        {"stdout": "out \n"}, {"stderr": ""}, {"captured": "2026-11-30"}, {"host": "h200"}, {"exit_code": 0},
        {"environment": environment}, {"runs": Runs(3)}, {"hint": None}, {"normalized": ("ansi",)},
        {"upstream": {"a": "1"}},
        {"conditions": None}, {"elided": {}}, {"diagnostics": "File y\n"}, {"snippet": "chapter/other"},
    ):  # fmt: skip
        assert records.content_digest(replace(sealed, **changes)) != sealed.content_sha256, changes


def test_the_content_digest_does_not_depend_on_the_order_of_a_table() -> None:
    """A formatter that sorts keys changes bytes and no meaning."""
    gates = {"cuda": False, "mps": True}
    turned = dict(reversed(gates.items()))
    assert records.content_digest(record("a/b", gates=gates)) == records.content_digest(record("a/b", gates=turned))


@pytest.mark.parametrize(
    ("torch", "cuda_build", "build"),
    [
        ("2.13.0+cpu", None, "cpu"), ("2.14.1+cu130", "13.0", "cuda"), ("2.13.0+rocm6.4", None, "rocm"),
        ("2.13.0+xpu", None, "xpu"), ("2.13.0", None, "cpu"), ("2.13.0", "12.6", "cuda"), (None, None, None),
    ],
)  # fmt: skip
def test_how_torch_was_built_is_derived(torch: str | None, cuda_build: str | None, build: str | None) -> None:
    """From the CUDA version it was built for, else from the local version; null without torch."""
    assert records.build(torch, cuda_build) == build


words = st.text(max_size=8)
environments = st.builds(
    Environment, words, words, words, st.none() | words, st.none() | words, st.none() | words, st.none() | words,
    st.dictionaries(words, st.booleans(), max_size=3), st.dictionaries(words, st.integers(), max_size=2),
    st.dictionaries(words, words, max_size=2), st.dictionaries(words, words, max_size=2),
)  # fmt: skip


@EXAMPLES
@given(environments, st.floats(0, 1e300), st.text())
def test_any_record_survives_and_keeps_its_digest(environment: Environment, number: float, text: str) -> None:
    """Whatever the probes and snippets answer."""
    conditions = Conditions(number, number, None, text or None)
    item = records.sealed(
        replace(FULL, environment=environment, conditions=conditions, stdout=text, runs=Runs(3, spread=number))
    )
    again = records.decode(records.encode(item))
    assert (again, records.content_digest(again)) == (item, item.content_sha256)


def test_two_fields_of_one_text_are_not_interchangeable() -> None:
    """Moving text from one field to the next changes the digest: fields do not run into each other."""
    texts = ["a", "", "ab", "b"]
    digests = {records.content_digest(record("a/b", stdout=x, stderr=y)) for x, y in itertools.product(texts, texts)}
    assert len(digests) == len(texts) ** 2
