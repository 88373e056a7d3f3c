"""The published JSON Schemas of records and hosts, generated from the dataclasses that read and write them."""

from __future__ import annotations

import json
from collections.abc import Mapping

from capture import shape
from capture.host import Host
from capture.record import Record

FOLDER = "docs/schema"


def texts() -> Mapping[str, str]:
    """Return the text of each schema file by its path in the handbook."""
    return {
        f"{FOLDER}/record.json": as_text(Record, "A captured result of one snippet on one host"),
        f"{FOLDER}/host.json": as_text(Host, "What does not change about a host that captured"),
    }


def as_text(cls: type, title: str) -> str:
    """Return a schema as indented JSON with a final newline."""
    return json.dumps(shape.json_schema(cls, title), indent=2, ensure_ascii=False) + "\n"
