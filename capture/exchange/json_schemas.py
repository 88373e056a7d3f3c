"""The published JSON Schemas of all stored data, generated from the dataclasses that read and write it."""

from __future__ import annotations

import dataclasses
import json
import types
import typing
from collections.abc import Mapping
from typing import Any

from capture import plain_data
from capture.exchange.bundle import Manifest
from capture.exchange.dataset import Dataset
from capture.host.host import Host
from capture.record.record import Record
from capture.record.verification import Verification

_FOLDER = "docs/schema"


def texts() -> Mapping[str, str]:
    """Return the text of each schema file by its path in the handbook."""
    return {
        f"{_FOLDER}/record.json": _as_text(Record, "A captured result of one snippet on one host"),
        f"{_FOLDER}/host.json": _as_text(Host, "What does not change about a host that captured"),
        f"{_FOLDER}/bundle.json": _as_text(Manifest, "What a bundle of captures says about itself"),
        f"{_FOLDER}/dataset.json": _as_text(Dataset, "All values, claims and hosts of the handbook"),
        f"{_FOLDER}/verification.json": _as_text(Verification, "Which records of a host were reproduced when re-run"),
    }


def _as_text(cls: type, title: str) -> str:
    """Return a schema as indented JSON with a final newline."""
    return json.dumps(json_schema(cls, title), indent=2, ensure_ascii=False) + "\n"


def json_schema(cls: type, title: str) -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of a dataclass."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": title} | _schema_of(cls)


def _schema_of(hint: Any) -> dict[str, Any]:
    """Return the schema of one type."""
    origin = typing.get_origin(hint)
    if origin is typing.Literal:
        return {"enum": list(typing.get_args(hint))}
    if origin in (typing.Union, types.UnionType):
        return {"anyOf": [_schema_of(option) for option in typing.get_args(hint)]}
    if origin is tuple:
        return {"type": "array", "items": _schema_of(typing.get_args(hint)[0])}
    if origin is not None and issubclass(origin, Mapping):
        return {"type": "object", "additionalProperties": _schema_of(typing.get_args(hint)[1])}
    if dataclasses.is_dataclass(hint):
        known = plain_data.fields_of(typing.cast(type, hint))
        described = {plain_data.stored_name(field): field.metadata.get("about") for field in dataclasses.fields(hint)}
        return {
            "type": "object",
            "properties": {
                name: _schema_of(inner) | ({"description": described[name]} if described[name] else {})
                for name, (inner, _) in known.items()
            },
            "required": [name for name, (_, optional) in known.items() if not optional],
            "additionalProperties": False,
        }
    names = {str: "string", int: "integer", float: "number", bool: "boolean", type(None): "null"}
    return {"type": names[hint]}
