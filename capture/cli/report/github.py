"""Problems as commands of GitHub Actions, which marks the line of each in a pull request."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Literal

from capture.errors import Problem
from capture.record import privacy

_Level = Literal["error", "notice"]
MOST_MARKED = 10  # annotations of a level that GitHub keeps of one step; the rest is only in its log


def annotation(problem: Problem, level: _Level, prefix: str = "") -> str:
    """Return the command that marks one problem; `prefix` leads from the repository to the handbook.

    Nothing in the problem's text can end the command or begin another.
    """
    place = {"file": f"{prefix}{problem.path}", "line": str(problem.line) if problem.line else ""}
    properties = place | {"title": f"capture check: {problem.rule}"}
    chosen = ",".join(f"{name}={_escaped_property(value)}" for name, value in properties.items() if value)
    return f"::{level} {chosen}::{_escaped(privacy.shown(problem.message))}"


def _escaped(text: str) -> str:
    """Return text escaped for the message of a command."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _escaped_property(text: str) -> str:
    """Return text escaped for a property of a command."""
    return _escaped(text).replace(":", "%3A").replace(",", "%2C")


def worst_first(problems: Iterable[Problem], rules: Iterable[str]) -> list[Problem]:
    """Return the problems with those of some rules in front, since GitHub marks only the first ones."""
    first = set(rules)
    return sorted(problems, key=lambda problem: problem.rule not in first)


def path_to(root: Path) -> str:
    """Return the path from its repository to a folder, as `book/`; nothing for the top, or without a repository."""
    for folder in (root, *root.parents):
        if (folder / ".git").exists():
            path = root.relative_to(folder).as_posix()
            return "" if path == "." else f"{path}/"
    return ""
