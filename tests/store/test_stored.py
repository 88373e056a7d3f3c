"""What was stored once is read for ever.

`tests/stored/` holds one of each kind that the tool has written. Its files may never be edited, formatted or written
again: they stand for what others have captured and published. A new schema brings new files beside them.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest
from harness.handbooks import REPOSITORY

from capture import plain_data, store
from capture.check import rules
from capture.exchange import bundle, dataset
from capture.exchange.dataset import Dataset
from capture.host import host
from capture.record import record, verification
from capture.record.record import Record
from capture.store import catalogue

STORED = REPOSITORY / "tests/stored"
FIRST = STORED / "schema-1"
UNTOUCHED = {"schema-1": "603ef5e60595ac9bcde6b21189507b32d11cb8d5f9098594048b63528ba62696"}
RECORDS = sorted((FIRST / "docs/captures").glob("*/*/*.yaml"))
HOSTS = sorted((FIRST / "docs/captures").glob("*/host.yaml"))


def name(path: Path) -> str:
    """Return what a test about a file is called."""
    return path.relative_to(FIRST / "docs/captures").as_posix()


def test_nobody_has_touched_them() -> None:
    """If this fails, restore the files with git: do not change the digest."""
    for folder, digest in UNTOUCHED.items():
        found = hashlib.sha256()
        for path in sorted((STORED / folder).rglob("*")):
            if path.is_file():
                found.update(f"{path.relative_to(STORED).as_posix()}\0".encode() + path.read_bytes() + b"\0")
        assert found.hexdigest() == digest


@pytest.mark.parametrize("path", RECORDS, ids=map(name, RECORDS))
def test_a_record(path: Path) -> None:
    """It is read whole, its digest holds, and while its schema is current it would be written the same."""
    text = path.read_text("utf-8")
    item, _ = store.parse_record(text, path.name)
    assert f"{item.host}/{item.snippet}.yaml" == name(path)
    assert item.content_sha256 == record.content_digest(item)
    assert record.SCHEMA > 1 or store.record_text(item) == text


@pytest.mark.parametrize("path", HOSTS, ids=map(name, HOSTS))
def test_a_host(path: Path) -> None:
    """It is read whole and is the machine that it was."""
    text = path.read_text("utf-8")
    item, _ = store.parse_host(text, path.name)
    assert item.fingerprint == host.fingerprint(item)
    assert host.SCHEMA > 1 or store.host_text(item) == text


def items() -> list[Record]:
    """Return all records."""
    return [store.parse_record(path.read_text("utf-8"), path.name)[0] for path in RECORDS]


def test_all_that_existed_then_is_there() -> None:
    """Every status, every kind of host, every field that may be left out."""
    found = items()
    statuses = {"ok", "error", "timeout", "crashed", "output_limit", "out_of_memory"}
    assert {item.status for item in found} == statuses
    kinds = {store.parse_host(path.read_text("utf-8"), path.name)[0].kind for path in HOSTS}
    assert kinds == {"cpu", "cuda", "rocm", "mps", "xpu", "xla"}
    optional = {"conditions", "signal", "phase", "hint", "left_processes", "elided", "diagnostics"}
    assert {field for item in found for field in optional if field in record.encode(item)} == optional
    assert any(item.environment.limits for item in found)


def test_the_check_accepts_them() -> None:
    """As part of a handbook of today, with no fault in any file."""
    cat = catalogue.read_handbook(store.Handbook(FIRST))
    assert cat.problems == () and len(cat.records) == len(RECORDS)
    assert rules.check_record_files(cat) == []
    assert [problem for label in cat.hosts for problem in rules.check_host_file(cat, label)] == []


def test_a_bundle() -> None:
    """It is unpacked, and holds the records beside it."""
    label, files = bundle.unpack((FIRST / "bundle.tar.gz").read_bytes(), "bundle.tar.gz")
    assert len(files) == 1 + sum(item.host == label for item in items())
    for key, data in files.items():
        assert data == (FIRST / bundle.path_of(label, key)).read_bytes()


def test_a_verification() -> None:
    """It is read, and is about a record that is there."""
    found = verification.parse((FIRST / "verification.json").read_text("utf-8"), "verification.json", "")
    assert {item.outcome for item in found.results} == {"reproduced", "differs", "skipped"}


def test_a_dataset() -> None:
    """Who kept one can read it with the dataclass of today, or has a schema of his own to go by."""
    found = plain_data.decode_versioned(
        Dataset, json.loads((FIRST / "dataset.json").read_text("utf-8")), dataset.SCHEMA
    )
    assert found.values and {row.verdict for row in found.verdicts} == {"holds", "fails"}
