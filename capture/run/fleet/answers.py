"""What workers answer, taken as a stranger's: decoded, compared with what was asked, refused where it does not fit."""

from __future__ import annotations

import datetime
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from capture import plain_data, store
from capture.errors import CaptureError, PrivacyRefused
from capture.host import host
from capture.host.host import Host
from capture.host.probe.interpreter import Interpreter
from capture.host.probe.torch_probe import TorchFacts
from capture.record import privacy, record, text_rules
from capture.record.record import Record
from capture.run.execution import Refused
from capture.run.preflight import Prepared
from capture.snippet.snippet import Snippet

SIZE_LIMIT = 8 * 1024 * 1024  # characters; a record is at most some 200 KB
WORDS_LIMIT = 600  # characters of a sentence that a worker says


@dataclass(frozen=True)
class Probe:
    """What a worker tells about itself; `label` is empty where it names none, `machine` the same for one machine."""

    label: str
    machine: str
    interpreter: Interpreter
    facts: TorchFacts
    host: Host

    @property
    def software(self) -> tuple[object, ...]:
        """What has to be the same under one label."""
        python = self.interpreter
        return python.version, python.torch, dict(python.packages), dict(python.modules), dict(self.facts.gates)


def decoded(text: str) -> Mapping[str, Any]:
    """Return an answer as plain data; raises CaptureError where it is none, or says why there is none."""
    if len(text) > SIZE_LIMIT:
        raise CaptureError("the worker's answer is larger than any record")
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise CaptureError("the worker's answer is none of this tool's") from error
    if not isinstance(data, dict):
        raise CaptureError("the worker's answer is none of this tool's")
    if "private" in data:
        raise PrivacyRefused(words(data["private"]))
    if "broken" in data:
        raise CaptureError(words(data["broken"]))
    if "refused" in data:
        raise Refused(words(data["refused"]), seconds_of(data))
    return data


def words(value: object) -> str:
    """Return a sentence that a worker says, as one line of bounded length."""
    line = privacy.shown(" ".join(value.split())) if isinstance(value, str) else "no reason given"
    return line if len(line) <= WORDS_LIMIT else f"{line[:WORDS_LIMIT]}…"


def seconds_of(data: Mapping[str, Any]) -> float:
    """Return how long the executions took, 0 where that is not said."""
    value = data.get("seconds")
    return float(value) if isinstance(value, int | float) and 0 <= value < 1e6 else 0.0


def told(data: Mapping[str, Any], key: str = "told") -> list[str]:
    """Return what a worker has to tell beside its answer, or with another key about the snippet."""
    lines = data.get(key)
    return [words(line) for line in lines[:10]] if isinstance(lines, list) else []


def probe_of(text: str) -> Probe:
    """Return what a worker told about itself; raises CaptureError where that does not hang together."""
    try:
        probe = plain_data.decode(Probe, decoded(text).get("probe"))
        host.decode(plain_data.encode(probe.host))
    except plain_data.ShapeError as error:
        raise CaptureError(f"its answer does not have the form of this tool's ({error})") from error
    if probe.host.fingerprint != host.fingerprint(probe.host):
        raise CaptureError("its fingerprint does not match its facts")
    return probe


def record_of(data: Mapping[str, Any], snippet: Snippet, prepared: Prepared) -> Record:
    """Return the record in an answer; raises CaptureError where it is not the one that was asked for."""
    try:
        item = record.decode(data.get("record"))
    except (plain_data.ShapeError, CaptureError) as error:
        raise CaptureError(f"the worker's answer is no record ({error})") from error
    known, facts = prepared.host, prepared.facts
    here = item.environment
    pairs = {
        "snippet": (item.snippet, snippet.id),
        "source_sha256": (item.source_sha256, snippet.digest),
        "host": (item.host, known.label),
        "environment.chip": (here.chip, host.chip(known)),
        "environment.python": (here.python, facts.python),
        "environment.torch": (here.torch, facts.torch),
        "environment.cuda_build": (here.cuda_build, facts.cuda_build),
        "environment.gates": (dict(here.gates), {name: facts.gates.get(name, False) for name in here.gates}),
        "conditions": (item.conditions is not None, snippet.timing),
        "exit_code": (item.status == "ok" and item.exit_code != snippet.exit, False),
        "runs": (item.runs.count > 0, True),
        "content_sha256": (item.content_sha256, record.content_digest(item)),
    }
    if wrong := [name for name, (says, due) in pairs.items() if says != due]:
        raise CaptureError(f"the worker's record says something else than was asked for in {', '.join(wrong)}")
    today = datetime.datetime.now(datetime.UTC).date()
    if abs((datetime.date.fromisoformat(item.captured) - today).days) > 1:
        raise CaptureError(f"the worker's record is dated {item.captured}; set that machine's clock")
    name = "the worker's record"
    try:
        text = store.record_text(item)
        if len(text.encode("utf-8")) > store.SIZE_LIMIT:  # no reader would take it
            raise CaptureError(f"{name} is larger than any record")
        if store.parse_record(text, name)[0] != item:
            raise CaptureError(f"{name} cannot be written as this tool writes one")
    except (ValueError, RecursionError) as error:
        raise CaptureError(f"{name} cannot be written as this tool writes one") from error
    for text in (item.stdout, item.stderr):
        if text_rules.clean(text.encode("utf-8", "replace"), text_rules.Places())[0] != text:
            raise CaptureError(f"{name} holds text that this tool would have tidied")
    return item
