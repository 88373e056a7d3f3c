"""What is wrong with a header, each problem at the line of the key that it is about."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from capture.errors import Problem, suggestion


class HeaderProblems:
    """Collects the problems of one header, so that its author sees all of them at once.

    `lines` are the lines of dotted keys, `first` is that of the block.
    """

    def __init__(self, path: str, lines: Mapping[str, int], first: int) -> None:
        self.path, self.lines, self.first = path, lines, first
        self.noted: list[Problem] = []

    def note(self, key: str, message: str) -> None:
        """Note a problem at the line of the key, or of its nearest known parent."""
        parts = key.split(".")
        line = next(
            (self.lines[name] for end in range(len(parts), 0, -1) if (name := ".".join(parts[:end])) in self.lines),
            self.first,
        )
        self.noted.append(Problem(self.path, line, message))

    def checked(
        self,
        table: Mapping[str, Any],
        prefix: str,
        key: str,
        check: Callable[[Any], bool],
        form: str,
        default: Any,
    ) -> Any:
        """Return an option that passes a check; else note a problem that names its form, and return the default."""
        if key not in table:
            return default
        if not check(table[key]):
            self.note(f"{prefix}{key}", f"{key} must be {form}")
            return default
        return table[key]

    def note_unknown(self, table: Mapping[str, Any], prefix: str, known: Iterable[str], where: str) -> None:
        """Note every key of a table that is not known, with the nearest one that is."""
        for key in table:
            if key not in known:
                self.note(f"{prefix}{key}", f'unknown key "{key}" in {where}{suggestion(key, known)}')
