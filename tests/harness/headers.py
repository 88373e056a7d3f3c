"""Snippets written into a temporary folder and read back: what the header says, or what is wrong with it."""

from __future__ import annotations

from pathlib import Path

import pytest

from capture.errors import CaptureError, Problem
from capture.snippet import header
from capture.snippet.snippet import Snippet
from harness.handbooks import script

BODY = '"""Proves it."""\n\nprint("slowdown 42.7x")\n'
VALUES = {"slowdown": r"slowdown ([\d.]+)x"}
TIMED = {"timing": True, "values": VALUES, "compare": {"ratio": {"slowdown": 2.0}}}  # the least that a timing declares


def parse(root: Path, text: str | bytes, name: str = "chapter/snippet") -> Snippet:
    """Write a snippet and read it."""
    path = root / "snippets" / f"{name}.py"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode("utf-8"))
    return header.parse(root, path)


def problems(root: Path, text: str | bytes, name: str = "chapter/snippet") -> list[str]:
    """Return what is wrong with a snippet, one line a problem, without the path that all share."""
    with pytest.raises(CaptureError) as error:
        parse(root, text, name)
    assert all(isinstance(problem, Problem) for problem in error.value.problems)
    return [str(problem).removeprefix(f"snippets/{name}.py:") for problem in error.value.problems]


def line_of(text: str, start: str) -> int:
    """Return the line on which a text stands."""
    return text.count("\n", 0, text.index(start)) + 1


def with_line(line: str, table: str = "[tool.capture]") -> str:
    """Return a valid snippet with one more header line, or several, below a table."""
    text = script(BODY, values=VALUES, compare={"spread": 1.5})
    commented = "".join(f"# {part}\n" for part in line.split("\n"))
    assert f"# {table}\n" in text
    return text.replace(f"# {table}\n", f"# {table}\n{commented}")
