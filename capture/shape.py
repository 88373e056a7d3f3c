"""The shape of stored data: dataclasses to and from plain mappings, and to JSON Schema.

One definition, the dataclass, serves reading, writing and the published schema, so they cannot disagree.
Supported field types: str, int, float, bool, None, unions of these, Literal, tuple[T, ...], Mapping[str, T]
and other frozen dataclasses. A field whose default is None may be left out of the stored form.
"""

from __future__ import annotations

import dataclasses
import functools
import types
import typing
from collections.abc import Mapping
from typing import Any, TypeVar

from capture.errors import CaptureError, suggestion

T = TypeVar("T")
NAMES = {str: "text", int: "a whole number", float: "a number", bool: "true or false", type(None): "null"}


class ShapeError(ValueError):
    """A value does not have the declared type; `field` is its dotted name."""

    def __init__(self, field: str, message: str) -> None:
        self.field = field
        super().__init__(f"{field}: {message}" if field else message)


@functools.cache
def about(text: str, omit_empty: bool = False) -> dict[str, Any]:
    """Return field metadata: a description for the JSON Schema, and whether an empty value is left out."""
    return {"about": text, "omit_empty": omit_empty}


def decode_versioned(cls: type[T], data: object, known: int) -> T:
    """Build a dataclass that carries its `schema`, which must be the known one.

    Raises CaptureError for a newer schema, before its unknown fields would confuse, and ShapeError as `decode` does.
    """
    schema = data.get("schema") if isinstance(data, Mapping) else None
    if type(schema) is int and schema > known:
        raise CaptureError(
            f"schema {schema} is newer than this tool knows ({known}); update with: git pull && make site"
        )
    found = decode(cls, data)
    if schema != known:
        raise ShapeError("schema", f"there is no schema {schema}; this tool knows {known}")
    return found


def fields_of(cls: type) -> dict[str, tuple[Any, bool]]:
    """Map each field of a dataclass to (resolved type, whether it may be absent)."""
    hints = typing.get_type_hints(cls)
    return {
        field.name: (hints[field.name], field.default is None or bool(field.metadata.get("omit_empty")))
        for field in dataclasses.fields(cls)
    }


def decode(cls: type[T], data: object, where: str = "") -> T:
    """Build a dataclass from a plain mapping.

    Raises ShapeError that names the field for unknown, missing or mistyped ones.
    """
    if not isinstance(data, Mapping):
        raise ShapeError(where, f"expected a mapping, found {kind(data)}")
    known = fields_of(typing.cast(type, cls))
    for key in data:
        if key not in known:
            raise ShapeError(join(where, str(key)), f"unknown field{suggestion(str(key), known)}")
    values = {}
    for name, (hint, optional) in known.items():
        if name not in data:
            if not optional:
                raise ShapeError(join(where, name), "missing field")
            continue
        values[name] = convert(hint, data[name], join(where, name))
    return cls(**values)


def convert(hint: Any, value: object, where: str) -> Any:
    """Return `value` as the declared type, or raise ShapeError."""
    origin = typing.get_origin(hint)
    if origin is typing.Literal:
        allowed = typing.get_args(hint)
        if value not in allowed:
            raise ShapeError(where, f"expected one of {', '.join(map(str, allowed))}, found {shown(value)}")
        return value
    if origin in (typing.Union, types.UnionType):
        errors = []
        for option in typing.get_args(hint):
            try:
                return convert(option, value, where)
            except ShapeError as error:
                errors.append(error)
        deepest = max(errors, key=lambda error: len(error.field))
        if len(deepest.field) > len(where):
            raise deepest
        raise mismatch(hint, value, where)
    if origin is tuple:
        if not isinstance(value, list | tuple):
            raise ShapeError(where, f"expected a list, found {kind(value)}")
        item = typing.get_args(hint)[0]
        return tuple(convert(item, part, f"{where}[{index}]") for index, part in enumerate(value))
    if origin is not None and issubclass(origin, Mapping):
        if not isinstance(value, Mapping):
            raise ShapeError(where, f"expected a mapping, found {kind(value)}")
        for key in value:
            if not isinstance(key, str):
                raise ShapeError(where, f"expected text as keys, found {kind(key)}; quote it")
        item = typing.get_args(hint)[1]
        return {key: convert(item, part, join(where, key)) for key, part in value.items()}
    if dataclasses.is_dataclass(hint):
        return decode(typing.cast(type, hint), value, where)
    if hint is float and type(value) is int:
        return float(value)
    if type(value) is not hint:
        raise mismatch(hint, value, where)
    return value


def mismatch(hint: Any, value: object, where: str) -> ShapeError:
    """Return the error for a value of another type; a scalar where text is due was read so for want of quotes."""
    options = typing.get_args(hint) or (hint,)
    unquoted = str in options and not isinstance(value, Mapping | list | tuple | None)
    return ShapeError(where, f"expected {describe(hint)}, found {kind(value)}{'; quote it' if unquoted else ''}")


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
            result[field.name] = encode(part)
        return result
    if isinstance(value, Mapping):
        return {key: encode(part) for key, part in value.items()}
    if isinstance(value, tuple | list):
        return [encode(part) for part in value]
    return value


def json_schema(cls: type, title: str) -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of a dataclass."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": title} | schema_of(cls)


def schema_of(hint: Any) -> dict[str, Any]:
    """Return the schema of one type."""
    origin = typing.get_origin(hint)
    if origin is typing.Literal:
        return {"enum": list(typing.get_args(hint))}
    if origin in (typing.Union, types.UnionType):
        return {"anyOf": [schema_of(option) for option in typing.get_args(hint)]}
    if origin is tuple:
        return {"type": "array", "items": schema_of(typing.get_args(hint)[0])}
    if origin is not None and issubclass(origin, Mapping):
        return {"type": "object", "additionalProperties": schema_of(typing.get_args(hint)[1])}
    if dataclasses.is_dataclass(hint):
        known = fields_of(typing.cast(type, hint))
        described = {field.name: field.metadata.get("about") for field in dataclasses.fields(hint)}
        return {
            "type": "object",
            "properties": {
                name: schema_of(inner) | ({"description": described[name]} if described[name] else {})
                for name, (inner, _) in known.items()
            },
            "required": [name for name, (_, optional) in known.items() if not optional],
            "additionalProperties": False,
        }
    names = {str: "string", int: "integer", float: "number", bool: "boolean", type(None): "null"}
    return {"type": names[hint]}


def describe(hint: Any) -> str:
    """Name a declared type in words."""
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        return " or ".join(describe(option) for option in typing.get_args(hint))
    if dataclasses.is_dataclass(hint) or typing.get_origin(hint) not in (None, tuple, typing.Literal):
        return "a mapping"
    if typing.get_origin(hint) is tuple:
        return "a list"
    return NAMES.get(hint, str(hint))


def kind(value: object) -> str:
    """Name a found value in words, without showing it (it may be personal)."""
    if isinstance(value, Mapping):
        return "a mapping"
    if isinstance(value, list | tuple):
        return "a list"
    return NAMES.get(type(value), type(value).__name__)


def shown(value: object, limit: int = 40) -> str:
    """Return a found word, shortened, or the kind of anything else."""
    return f'"{value[:limit]}"' if isinstance(value, str) else kind(value)


def join(where: str, name: str) -> str:
    """Return the dotted name of a field within `where`."""
    return f"{where}.{name}" if where else name
