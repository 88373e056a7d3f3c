"""Errors and problems: every one says where, what, and what to do next."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass

EXIT_OK = 0
EXIT_ATTENTION = 1
EXIT_INVALID = 2
EXIT_PRIVACY = 3


@dataclass(frozen=True, order=True)
class Problem:
    """One finding about one place.

    `path` is relative to the handbook's root (or a name such as `mkdocs.yml`), `line` counts from 1 and is 0
    where no line applies. `rule` is a stable kebab-case name.
    """

    path: str
    line: int
    message: str
    rule: str = "invalid"

    def __str__(self) -> str:
        path = self.path.replace("\n", "\\n").replace("\r", "\\r")  # a name that would begin a line of its own
        place = f"{path}:{self.line}" if self.line else path
        return f"{place}: {self.message}"


class CaptureError(Exception):
    """Invalid usage or data; carries the problems to print and the exit code of the command."""

    exit_code = EXIT_INVALID

    def __init__(self, *problems: Problem | str) -> None:
        self.problems: tuple[Problem | str, ...] = problems
        super().__init__("\n".join(str(problem) for problem in problems))

    @property
    def located(self) -> list[Problem]:
        """The problems that have a place."""
        return [problem for problem in self.problems if isinstance(problem, Problem)]


class PrivacyRefused(CaptureError):
    """Something personal or secret would have been stored; the value is never part of the message."""

    exit_code = EXIT_PRIVACY


class HostRefused(CaptureError):
    """A capture would have mixed two machines, or used a label that names another one."""


class HostBroken(CaptureError):
    """The host cannot execute snippets at all (no interpreter, torch fails to import)."""


def nearest(name: str, known: Iterable[str]) -> str:
    """Return `; did you mean "x"?` for the nearest known name, or nothing."""
    names = sorted(set(known))
    near = difflib.get_close_matches(name, names, n=1, cutoff=0.6)
    if not near and len(name) >= 3:  # a part of a name is what people remember
        near = [known for known in names if name in known]
    return f'; did you mean "{near[0]}"?' if near else ""


def suggestion(name: str, known: Iterable[str]) -> str:
    """Return `; did you mean "x"?` for the nearest known name, or a list of a few known ones, or nothing."""
    names = sorted(set(known))
    if near := nearest(name, names):
        return near
    if not names:
        return ""
    if len(names) <= 12:
        return f"; known: {', '.join(names)}"
    return f"; known: {', '.join(names[:12])} and {len(names) - 12} more"


def plural(count: int, noun: str, many: str = "") -> str:
    """Return `1 line` or `2 lines`."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {many or noun + 's'}"
