"""The shape of stored data: dataclasses to and from plain mappings.

One definition, the dataclass, serves reading, writing and the published schema, so they cannot disagree.
"""

from __future__ import annotations

import dataclasses
import functools
import typing
from collections.abc import Mapping
from typing import Any, TypeVar

from capture.declared_types import ShapeError, converter, fields_of, stored_name
from capture.errors import CaptureError

__all__ = ["ShapeError", "about", "decode", "decode_versioned", "encode", "fields_of", "stored_name"]

T = TypeVar("T")


@functools.cache
def about(text: str, omit_empty: bool = False) -> dict[str, Any]:
    """Return field metadata: a description for the JSON Schema, and whether an empty value is left out."""
    return {"about": text, "omit_empty": omit_empty}


def decode(cls: type[T], data: object) -> T:
    """Build a dataclass from a plain mapping.

    Raises ShapeError that names the field for unknown, missing or mistyped ones.
    """
    return typing.cast(T, converter(typing.cast(Any, cls))(data))


def decode_versioned(cls: type[T], data: object, known: int) -> T:
    """Build a dataclass that carries its `schema`, which must be the known one.

    Raises CaptureError for a newer schema, before its unknown fields would confuse, and ShapeError as `decode` does.
    """
    schema = data.get("schema") if isinstance(data, Mapping) else None
    if type(schema) is int and schema > known:
        raise CaptureError(
            f"schema {schema} is newer than this tool knows ({known}); update with: git pull && make site"
        )
    item = decode(cls, data)
    if schema != known:
        raise ShapeError("schema", f"there is no schema {schema}; this tool knows {known}")
    return item


def encode(value: Any) -> Any:
    """Return plain mappings, lists and scalars; optional fields that are None or marked empty are left out."""
    if dataclasses.is_dataclass(value):
        result = {}
        for field in dataclasses.fields(value):
            part = getattr(value, field.name)
            if field.default is None and part is None:
                continue
            if field.metadata.get("omit_empty") and not part:
                continue
            result[stored_name(field)] = encode(part)
        return result
    if isinstance(value, Mapping):
        return {key: encode(part) for key, part in value.items()}
    if isinstance(value, tuple | list):
        return [encode(part) for part in value]
    return value
