"""What a fleet's client makes of answers: a worker is a stranger, and only the record that was asked for is stored."""

from __future__ import annotations

import dataclasses
import datetime
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from harness.executions import prepared, written
from harness.fleets import probe
from harness.handbooks import host, record

from capture import plain_data
from capture.errors import CaptureError, PrivacyRefused
from capture.host import host as hosts
from capture.record import record as records
from capture.record.record import Record, Runs
from capture.run.execution import Refused
from capture.run.fleet import answers


def answered(root: Path, change: Callable[[Record], Record] = lambda item: item) -> Record:
    """Return what the client makes of a worker's record of `demo/case`."""
    known = prepared(root, host=host("a"))
    snippet, today = written(root, "print(1)"), datetime.datetime.now(datetime.UTC).date()
    item = record(
        "demo/case", "a", "1\n", source_sha256=snippet.digest, chip=hosts.chip(known.host), python="3.11.7", torch=None,
        cpu_capability=None, gates={"cuda": False}, threads={}, captured=today.isoformat(),
    )  # fmt: skip
    item = records.sealed(change(item))
    text = json.dumps({"record": records.encode(item), "seconds": 1.0})
    return answers.record_of(answers.decoded(text), snippet, known)


def moved(**changes: Any) -> Callable[[Record], Record]:
    """Return a change to a record."""
    return lambda item: dataclasses.replace(item, **changes)


def elsewhere(**changes: Any) -> Callable[[Record], Record]:
    """Return a change to a record's environment."""
    return lambda item: dataclasses.replace(item, environment=dataclasses.replace(item.environment, **changes))


def test_a_record_that_was_asked_for_is_taken(tmp_path: Path) -> None:
    """What a worker made as it should is equal to what is stored."""
    assert answered(tmp_path).stdout == "1\n"


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (moved(host="b"), "something else than was asked for in host"),
        (moved(snippet="demo/other"), "in snippet"),
        (moved(source_sha256="0" * 64), "in source_sha256"),
        (moved(snippet="../../x"), "no record"),
        (moved(captured="2020-01-01"), "clock"),
        (moved(status="fine"), "no record"),
        (moved(exit_code=7), "in exit_code"),
        (moved(runs=Runs(0)), "in runs"),
        (moved(stdout="x\n" * 1_500_000), "larger than any record"),
        (moved(stdout="1\r\n\x1b[31mred"), "tidied"),
        (elsewhere(chip="NVIDIA H200"), "in environment.chip"),
        (elsewhere(torch="2.13.0"), "in environment.torch"),
        (elsewhere(gates={"cuda": True}), "in environment.gates"),
    ],
)
def test_a_record_of_something_else_is_refused(tmp_path: Path, change: Callable[[Record], Record], says: str) -> None:
    """Label, digests, hardware, software, date and form have to be those that were asked for."""
    with pytest.raises(CaptureError, match=says):
        answered(tmp_path, change)


@pytest.mark.parametrize(
    ("text", "kind", "says"),
    [
        ("", CaptureError, "none of this tool's"),
        ("[]", CaptureError, "none of this tool's"),
        ("[" * 10_000, CaptureError, "none of this tool's"),
        ('"' + "x" * answers.SIZE_LIMIT + '"', CaptureError, "larger than any record"),
        ('{"broken": 7}', CaptureError, "no reason given"),
        ('{"broken": "a\\n\\tb"}', CaptureError, "^a b$"),
        ('{"private": "stdout:1: holds"}', PrivacyRefused, "stdout:1"),
        ('{"refused": "busy host: x", "seconds": -3}', Refused, "busy host"),
    ],
)
def test_answers_are_a_strangers(text: str, kind: type[Exception], says: str) -> None:
    """Whatever arrives ends as one bounded line about one snippet."""
    with pytest.raises(kind, match=says):
        answers.decoded(text)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({}, ""),
        ({"fingerprint": "0" * 64}, "fingerprint"),
        ({"label": "../x"}, "label"),
        ({"cpu": None}, "form"),
        ({"extra": 1}, "form"),
    ],
)
def test_what_a_worker_tells_hangs_together(change: dict[str, Any], says: str) -> None:
    """The facts have the form of a host's, and the fingerprint is theirs."""
    told = plain_data.encode(probe("a"))
    told["host"] |= change
    if says:
        with pytest.raises(CaptureError, match=says):
            answers.probe_of(json.dumps({"probe": told}))
    else:
        assert answers.probe_of(json.dumps({"probe": told})) == probe("a")
