"""Validates the compare rules of a header: what may differ between two captures of its snippet."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from capture.errors import suggestion
from capture.snippet.header_problems import HeaderProblems
from capture.snippet.option_types import is_number, is_numbers, is_table, is_texts
from capture.snippet.pattern import Pattern
from capture.snippet.snippet import Compare

_AT = "tool.capture.compare."
# What bounds a value: the form of each table, and the least number in it.
_BOUNDS = {
    "ratio": (1, "a table of value names to factors of at least 1"),
    "relative": (0, "a table of value names to tolerances"),
    "absolute": (0, "a table of value names to differences, in the unit of the value"),
}


def compare_rules(
    problems: HeaderProblems,
    options: Mapping[str, Any],
    values: Mapping[str, Pattern],
    pattern: Callable[[str, object], Pattern | None],
) -> Compare:
    """Return the checked compare rules; `pattern` returns a pattern, or notes at a key why it is none."""
    table = problems.checked(options, "tool.capture.", "compare", is_table, "a table", {})
    problems.note_unknown(table, _AT, (*_BOUNDS, "spread", "volatile"), "[tool.capture.compare]")
    bounds = {kind: _bounds(problems, table, kind) for kind in _BOUNDS}
    _note_names(problems, options.get("values", {}), bounds, values)
    if options.get("timing") is True and not any(table.get(kind) for kind in _BOUNDS):
        problems.note(
            "tool.capture.timing",
            "timing = true lets every number differ, so nothing would be checked; name a number under "
            f"[tool.capture.values] and bound it under [tool.capture.compare]: {', '.join(_BOUNDS)}",
        )
    volatile = problems.checked(table, _AT, "volatile", is_texts, "a list of patterns", [])
    compiled = [pattern(f"{_AT}volatile", text) for text in volatile]
    spread = problems.checked(table, _AT, "spread", lambda v: is_number(v) and v >= 1, "a factor of at least 1", 1.25)
    return Compare(spread=float(spread), volatile=tuple(item for item in compiled if item), **bounds)


def _bounds(problems: HeaderProblems, table: Mapping[str, Any], kind: str) -> Mapping[str, float]:
    """Return the checked bounds of one kind, by the names of values."""
    least, form = _BOUNDS[kind]
    found: Mapping[str, float] = problems.checked(table, _AT, kind, lambda v: is_numbers(v, least), form, {})
    return found


def _note_names(
    problems: HeaderProblems, declared: object, bounds: Mapping[str, Mapping[str, float]], values: Mapping[str, Pattern]
) -> None:
    """Note each bound of a value that is not declared, and each ratio of one that may be below zero."""
    for kind, name in ((kind, name) for kind, table in bounds.items() for name in table):
        if isinstance(declared, dict) and name not in declared:
            problems.note(f"{_AT}{kind}", f'no value "{name}"{suggestion(name, values)}')
        elif kind == "ratio" and name in values and values[name].admits_minus:
            problems.note(
                f"{_AT}{kind}",
                f'ratio of "{name}": the group of its pattern admits a minus sign, and no factor leads from a number '
                "below zero to one above; bound it under absolute or relative",
            )
