"""The declared types of stored fields: each takes a plain value as its own, or says what is wrong with it.

Supported are str, int, float, bool, None, unions of these, Literal, tuple[T, ...], Mapping[str, T] and other frozen
dataclasses. A field whose default is None may be left out of the stored form; one whose name is Python's own, such as
`class_`, is stored without the underscore.
"""

from __future__ import annotations

import dataclasses
import functools
import math
import types
import typing
from collections.abc import Callable, Mapping
from typing import Any

from capture.errors import suggestion

_NAMES = {str: "text", int: "a whole number", float: "a number", bool: "true or false", type(None): "null"}


class ShapeError(ValueError):
    """A value does not have the declared type; `field` is its dotted name."""

    def __init__(self, field: str, message: str) -> None:
        self.field, self.message = field, message
        super().__init__(f"{field}: {message}" if field else message)

    def within(self, name: str) -> ShapeError:
        """Return the same error with its field named from one level further out."""
        between = "." if self.field and not self.field.startswith("[") else ""
        return ShapeError(f"{name}{between}{self.field}", self.message)


def stored_name(field: dataclasses.Field[Any]) -> str:
    """Return the name of a field in stored data."""
    return field.name.rstrip("_")


@functools.cache
def fields_of(cls: type) -> dict[str, tuple[Any, bool]]:
    """Map the stored name of each field of a dataclass to (resolved type, whether it may be absent)."""
    hints = typing.get_type_hints(cls)
    return {
        stored_name(field): (hints[field.name], field.default is None or bool(field.metadata.get("omit_empty")))
        for field in dataclasses.fields(cls)
    }


# A type is taken apart once; what comes of it is called for every field of every record.
Converter = Callable[[Any], Any]


@functools.cache
def converter(hint: Any) -> Converter:
    """Return the function that gives a value as the declared type, or raises ShapeError."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Literal:
        return _literal_converter(arguments)
    if origin in (typing.Union, types.UnionType):
        return _union_converter(hint, arguments)
    if origin is tuple:
        return _tuple_converter(converter(arguments[0]))
    if origin is not None and issubclass(origin, Mapping):
        return _mapping_converter(converter(arguments[1]))
    if dataclasses.is_dataclass(hint):
        return _dataclass_converter(typing.cast(type, hint))
    return _scalar_converter(hint)


def _scalar_converter(hint: Any) -> Converter:
    """Take exactly this type; a whole number serves as a float, true and false serve as no number.

    What JSON cannot say and nothing measures is no number either: infinity, and what is none.
    """

    def convert(value: Any) -> Any:
        if hint is float and type(value) in (int, float) and not _endless(value):
            return float(value)
        if type(value) is hint and hint is not float:
            return value
        raise _mismatch(hint, value)

    return convert


def _endless(value: object) -> bool:
    """Tell whether a value is a number that no finite float is."""
    try:
        return type(value) in (int, float) and not math.isfinite(typing.cast(float, value))
    except OverflowError:
        return True


def _literal_converter(allowed: tuple[Any, ...]) -> Converter:
    """Take one of some words."""

    def convert(value: Any) -> Any:
        if value not in allowed:
            raise ShapeError("", f"expected one of {', '.join(map(str, allowed))}, found {_shown(value)}")
        return value

    return convert


def _union_converter(hint: Any, options: tuple[Any, ...]) -> Converter:
    """Take the first option that fits; the error is that of the option which got furthest."""
    plain = frozenset(option for option in options if option in _NAMES)
    converters = [converter(option) for option in options]

    def convert(value: Any) -> Any:
        if type(value) in plain and not (type(value) is float and _endless(value)):
            return value
        deepest: ShapeError | None = None
        for option in converters:
            try:
                return option(value)
            except ShapeError as error:
                if deepest is None or len(error.field) > len(deepest.field):
                    deepest = error
        raise deepest if deepest and deepest.field else _mismatch(hint, value)

    return convert


def _tuple_converter(item: Converter) -> Converter:
    """Take a list of one type."""

    def convert(value: Any) -> Any:
        if not isinstance(value, list | tuple):
            raise ShapeError("", f"expected a list, found {_kind(value)}")
        index = 0
        try:
            result = []
            for index, part in enumerate(value):  # noqa: B007 - the index names the item that failed
                result.append(item(part))
        except ShapeError as error:
            raise error.within(f"[{index}]") from error
        return tuple(result)

    return convert


def _mapping_converter(item: Converter) -> Converter:
    """Take a mapping from text to one type."""

    def convert(value: Any) -> Any:
        if not isinstance(value, Mapping):
            raise ShapeError("", f"expected a mapping, found {_kind(value)}")
        result, key = {}, ""
        try:
            for key, part in value.items():
                if not isinstance(key, str):
                    raise ShapeError("", f"expected text as keys, found {_kind(key)}; quote it")
                result[key] = item(part)
        except ShapeError as error:
            raise (error.within(key) if isinstance(key, str) else error) from error
        return result

    return convert


def _dataclass_converter(cls: type) -> Converter:
    """Take a mapping with the fields of a dataclass."""
    known = fields_of(cls)
    converters = {name: converter(hint) for name, (hint, _) in known.items()}
    required = frozenset(name for name, (_, optional) in known.items() if not optional)
    attributes = {stored_name(field): field.name for field in dataclasses.fields(cls)}

    def convert(value: Any) -> Any:
        if not isinstance(value, Mapping):
            raise ShapeError("", f"expected a mapping, found {_kind(value)}")
        if unknown := [key for key in value if key not in converters]:
            raise ShapeError(str(unknown[0]), f"unknown field{suggestion(str(unknown[0]), known)}")
        if not required <= value.keys():
            name = next(name for name in known if name in required and name not in value)
            raise ShapeError(name, "missing field")
        arguments, key = {}, ""
        try:
            for key, part in value.items():
                arguments[attributes[key]] = converters[key](part)
        except ShapeError as error:
            raise error.within(key) from error
        return cls(**arguments)

    return convert


def _mismatch(hint: Any, value: object) -> ShapeError:
    """Return the error for a value of another type; a scalar where text is due was read so for want of quotes."""
    options = typing.get_args(hint) or (hint,)
    unquoted = str in options and not isinstance(value, Mapping | list | tuple | None)
    return ShapeError("", f"expected {_describe(hint)}, found {_kind(value)}{'; quote it' if unquoted else ''}")


def _describe(hint: Any) -> str:
    """Name a declared type in words."""
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        return " or ".join(_describe(option) for option in typing.get_args(hint))
    if dataclasses.is_dataclass(hint) or typing.get_origin(hint) not in (None, tuple, typing.Literal):
        return "a mapping"
    if typing.get_origin(hint) is tuple:
        return "a list"
    return _NAMES.get(hint, str(hint))


def _kind(value: object) -> str:
    """Name a found value in words, without showing it (it may be personal)."""
    if isinstance(value, Mapping):
        return "a mapping"
    if isinstance(value, list | tuple):
        return "a list"
    if type(value) is float and _endless(value):
        return "infinity or no number"
    return _NAMES.get(type(value), type(value).__name__)


def _shown(value: object, limit: int = 40) -> str:
    """Return a found word, shortened, or the kind of anything else."""
    return f'"{value[:limit]}"' if isinstance(value, str) else _kind(value)
