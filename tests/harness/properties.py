"""Inputs of tests: named rows, and property tests with the same examples on every run and no deadline."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st

EXAMPLES = settings(max_examples=150, deadline=None, derandomize=True, database=None)

# Text in which what YAML, terminals and our own rules treat specially stands close together.
SPECIAL = (
    "\n", "\n\n", "\t", "\r", "\r\n", " ", "  ", "\b", "\x00", "\x07", "\x1b", "\x1b[31m", "\x1b]8;;", "\x85", "\x9b",
    "\xa0", "\u2028", "\u200b", "\u202e", "\u2066", "\ufeff", "\ufffe", "\uffff", "\ufffd", "\U0001f680", "\U0001fffe",
    "e\u0301", "שלום", "#", " #", ": ", "- ", "? ", "|", ">", "%", "@", "`", "'", '"', "\\", "{", "}", "[", "]", "&a",
    "*a", "!!str", "---", "...", "---\n", "...\n", "<<", "=", "~", "null", "no", "yes", "1e3", "017", "12:30:45",
    "<<<<<<< ours\n", "=======\n", ">>>>>>> theirs\n", "stdout: |\n", "/tmp", "/home/someone", "a", "Z", "0",
)  # fmt: skip


def rows(table: Mapping[str, Any]) -> list[Any]:
    """Return the rows of a parametrized test, each with its name as the id."""
    return [pytest.param(*(row if isinstance(row, tuple) else (row,)), id=name) for name, row in table.items()]


def captured_text() -> st.SearchStrategy[str]:
    """Texts that programs print, and some that none does; lone surrogates included."""
    anything = st.text(st.characters(), max_size=30)
    return st.lists(st.sampled_from(SPECIAL) | anything, max_size=12).map("".join)


def captured_bytes() -> st.SearchStrategy[bytes]:
    """Bytes of every kind, with the special texts among them."""
    special = st.sampled_from(SPECIAL).map(lambda text: text.encode("utf-8", "surrogatepass"))
    return st.lists(special | st.binary(max_size=30), max_size=12).map(b"".join)
