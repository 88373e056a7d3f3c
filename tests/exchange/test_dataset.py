"""The public dataset: what is in it, what never is, and that other programs read it as it stands."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import jsonschema
import pandas
import pytest
from harness.handbooks import REPOSITORY, STALE, Handbook, host, make_handbook, record, script
from harness.project import Project

from capture import plain_data, store
from capture.errors import CaptureError
from capture.exchange import dataset, dataset_rows, json_schemas
from capture.exchange.dataset import Dataset
from capture.store import catalogue

SCHEMA = json.loads(json_schemas.texts()["docs/schema/dataset.json"])
SPEED = script(
    "print('ratio 7.3x')", title="Speed", timing=True,
    values={"ratio": r"ratio (\S+)x", "word": r"says (\w+)"}, compare={"ratio": {"ratio": 2.0}},
    claims={
        "faster": {"says": "it is faster", "holds": "ratio > 5"},
        "there": {"says": "only there", "holds": "ratio > 5", "where": "gate.cuda"},
    },
)  # fmt: skip
HOSTS = [host("epyc", "EPYC"), host("h200", "H200", "cuda"), host("local", "Mine")]
OUT = "ratio 7.3x\nsays yes\n"
RECORDS = [
    record("x/speed", "epyc", OUT), record("x/speed", "h200", "ratio 1,234.5x\nsays no\n", source_sha256=STALE),
    record("x/speed", "local", "ratio 5x\nsays localword\n"), record("x/gone", "epyc", "secretword\n"),
]  # fmt: skip


@pytest.fixture
def book(tmp_path: Path) -> Handbook:
    """A handbook of one snippet on two hosts and on this machine."""
    return make_handbook(tmp_path, {"x/speed": SPEED}, HOSTS, RECORDS)


def tables(book: Handbook) -> dict[str, Any]:
    """Return the dataset as another program reads it."""
    found: dict[str, Any] = json.loads(dataset.text(dataset_rows.of(book.catalogue())))
    jsonschema.Draft202012Validator(SCHEMA).validate(found)
    return found


def test_values_claims_and_hosts(book: Handbook) -> None:
    """Every value as number and as printed, every claim with its verdict on each host, every host."""
    found = tables(book)
    assert found["schema"] == 1
    assert [row["host"] for row in found["hosts"]] == ["epyc", "h200"]
    assert [(row["host"], row["value"], row["number"], row["text"]) for row in found["values"]] == [
        ("epyc", "ratio", 7.3, "7.3"), ("epyc", "word", None, "yes"),
        ("h200", "ratio", 1234.5, "1,234.5"), ("h200", "word", None, "no"),
    ]  # fmt: skip
    assert [(row["claim"], row["where"]) for row in found["claims"]] == [("faster", None), ("there", "gate.cuda")]
    assert [(row["claim"], row["host"], row["verdict"]) for row in found["verdicts"]] == [
        ("faster", "epyc", "holds"), ("there", "epyc", "not claimed"),
        ("faster", "h200", "not judged"), ("there", "h200", "not judged"),
    ]  # fmt: skip
    assert found["verdicts"][2]["reason"] == "stale: source changed since"
    states = {(row["snippet"], row["host"]): row["state"] for row in found["results"]}
    assert states == {("x/gone", "epyc"): "orphan", ("x/speed", "epyc"): "current", ("x/speed", "h200"): "stale"}
    assert found["hosts"][1]["accelerator"] == "H200" and found["hosts"][0]["accelerator"] is None


def test_this_machine_is_never_in_it(book: Handbook) -> None:
    """Neither its name, nor its values, nor what depends on them; and no whole output of anybody."""
    text = dataset.text(dataset_rows.of(book.catalogue()))
    assert "local" not in text and "Mine" not in text
    assert "secretword" not in text
    alone = dataset_rows.of(catalogue.read_handbook(book.book, local=False))
    assert dataset.text(alone) == text


@pytest.mark.parametrize(
    ("printed", "number"), [("inf", None), ("nan", None), ("-0.5", -0.5), ("1e999", None), ("7_0", None)]
)
def test_numbers_are_those_of_json(book: Handbook, printed: str, number: float | None) -> None:
    """What JSON cannot say is null, beside what was printed."""
    book.keep(record("x/speed", "epyc", f"ratio {printed}x\nsays yes\n"))
    row = tables(book)["values"][0]
    assert (row["number"], row["text"]) == (number, printed)


def test_a_value_that_a_failed_result_lacks(book: Handbook) -> None:
    """It is left out; the result says how it ended."""
    book.keep(record("x/speed", "epyc", "", status="crashed", exit_code=None, signal="SIGSEGV"))
    found = tables(book)
    assert [row["host"] for row in found["values"]] == ["h200", "h200"]
    assert [row["status"] for row in found["results"]] == ["ok", "crashed", "ok"]


def test_one_row_a_line(book: Handbook) -> None:
    """Compact, and two of them can be compared line by line."""
    lines = dataset.text(dataset_rows.of(book.catalogue())).splitlines()
    assert '{"snippet":"x/speed","host":"epyc","value":"ratio","number":7.3,"text":"7.3"},' in lines
    assert dataset.text(Dataset(1, "0", (), (), (), (), (), ())).count("\n") == 8


def test_tables_join(book: Handbook) -> None:
    """Each row of one table names rows that are in the others, once."""
    found = tables(book)
    results = [(row["snippet"], row["host"]) for row in found["results"]]
    assert len(set(results)) == len(results)
    assert {(row["snippet"], row["host"]) for name in ("values", "verdicts") for row in found[name]} <= set(results)
    claims = {(row["snippet"], row["claim"]) for row in found["claims"]}
    assert {(row["snippet"], row["claim"]) for row in found["verdicts"]} == claims


def test_it_is_read_again_and_a_newer_one_is_refused(book: Handbook) -> None:
    """The dataclass that writes it reads it; another schema says what to do."""
    made = dataset_rows.of(book.catalogue())
    data = json.loads(dataset.text(made))
    assert plain_data.decode_versioned(Dataset, data, dataset.SCHEMA) == made
    with pytest.raises(CaptureError, match=r"schema 2 is newer than this tool knows .*; update with"):
        plain_data.decode_versioned(Dataset, data | {"schema": 2, "more": []}, dataset.SCHEMA)


def test_the_site_publishes_it(book: Handbook) -> None:
    """At its address, the same that the command prints; this machine is left out in any build."""
    book.write("docs/index.md", "# Start\n\nThe [dataset](handbook.json).\n")
    done = book.build()
    assert done.returncode == 0, done.stderr
    text = (book.root / "site" / dataset.ADDRESS).read_text("utf-8")
    assert text == dataset.text(dataset_rows.of(book.catalogue()))


def test_a_claim_that_its_header_cannot_judge(book: Handbook) -> None:
    """It is not judged, with the reason; the dataset is whole all the same."""
    book.keep(record("x/speed", "epyc", "ratio fastx\nsays yes\n"))
    row = tables(book)["verdicts"][0]
    assert (row["claim"], row["host"], row["verdict"]) == ("faster", "epyc", "not judged")
    assert row["reason"].endswith("text is compared with a number")


def test_the_handbook_itself() -> None:
    """It is valid, and what the snippets read is an extract of its form."""
    made = dataset_rows.of(catalogue.read_handbook(store.Handbook(REPOSITORY), local=False))
    jsonschema.Draft202012Validator(SCHEMA).validate(json.loads(dataset.text(made)))
    text = (REPOSITORY / "snippets/reference/handbook.json").read_text("utf-8")
    extracted = plain_data.decode_versioned(Dataset, json.loads(text), dataset.SCHEMA)
    assert dataset.text(extracted) == text
    assert extracted.values and set(extracted.snippets) and len(extracted.hosts) >= 3


def test_pandas_and_duckdb_read_the_whole_of_it(tmp_path: Path) -> None:
    """Not only the extract: every table, with the same number of rows."""
    made = dataset_rows.of(catalogue.read_handbook(store.Handbook(REPOSITORY), local=False))
    path = tmp_path / dataset.ADDRESS
    path.write_text(dataset.text(made), "utf-8")
    data = pandas.read_json(path, typ="series")
    for name in ("hosts", "snippets", "results", "values", "claims", "verdicts"):
        rows = len(getattr(made, name))
        assert len(pandas.DataFrame(data[name])) == rows
        assert len(duckdb.sql(f"""select unnest("{name}", recursive := true) from '{path}'""")) == rows


def test_export_prints_it(book: Handbook) -> None:
    """Without MkDocs: the same text on standard output; a damaged record is named instead."""
    project = Project(book.root)
    done = project.capture("export")
    assert (done.code, done.untouched, done.err) == (0, True, "")
    assert done.out == dataset.text(dataset_rows.of(book.catalogue()))
    project.write("docs/captures/epyc/x/speed.yaml", "schema: [\n")
    done = project.capture("export")
    assert (done.code, done.out) == (2, "")
    assert "docs/captures/epyc/x/speed.yaml:" in done.err


def test_every_column_is_filled_somewhere() -> None:
    """A host with everything: no column is always null for want of a line of code."""
    row = dataset_rows.host_row(host("h200", "H200", "cuda", part="0x41"))
    assert [name for name, part in plain_data.encode(row).items() if part is None] == []
    assert replace(row, accelerators=2).accelerators == 2
