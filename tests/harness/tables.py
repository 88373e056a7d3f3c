"""The cells of a table over all records, as a reader sees them."""

from __future__ import annotations

import re
from html import unescape

from harness.handbooks import Handbook


def rows(book: Handbook, name: str) -> list[list[str]]:
    """Return the cells of a table as text."""
    html, problems = book.page(f"# All\n\n```capture-table\n{name}\n```\n")
    assert problems == []
    lines = re.findall(r"<tr>(.*?)</tr>", html, re.DOTALL)
    cells = [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", line, re.DOTALL) for line in lines]
    return [[text(cell) for cell in line] for line in cells]


def text(cell: str) -> str:
    """Return what stands in a cell, with single blanks."""
    return " ".join(unescape(re.sub(r"<[^>]+>", "", cell.replace("<wbr>", ""))).split())
