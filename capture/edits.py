"""A change of text in short: the lines that differ, and which words became what."""

from __future__ import annotations

import difflib
import re

TOKEN = re.compile(r"\w+(?:\.\w+)*|\s+|[^\w\s]")


def text_edit(old: str, new: str, limit: int = 12) -> tuple[tuple[str, ...], str]:
    """Return the lines that differ, marked - and +, and the words exchanged in short."""
    before, after = old.splitlines(), new.splitlines()
    lines: list[str] = []
    edits: dict[str, None] = {}
    for tag, i, j, k, m in difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if tag == "equal":
            continue
        lines += [*(f"- {line}" for line in before[i:j]), *(f"+ {line}" for line in after[k:m])]
        edits.update(dict.fromkeys(word_edits("\n".join(before[i:j])[:4000], "\n".join(after[k:m])[:4000])))
    if len(lines) > limit:
        lines = [*lines[:limit], f"… {len(lines) - limit} more lines"]
    return tuple(lines), "; ".join(list(edits)[:8])


def word_edits(old: str, new: str) -> list[str]:
    """Return what words became what, as `"2.13.0" -> "2.14.1"`."""
    before, after = TOKEN.findall(old), TOKEN.findall(new)
    found = []
    for tag, i, j, k, m in difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        one, other = "".join(before[i:j]).strip(), "".join(after[k:m]).strip()
        if tag != "equal" and one != other:
            found.append(f"{quoted(one) if one else 'nothing'} -> {quoted(other) if other else 'nothing'}")
    return found


def quoted(text: str, limit: int = 40) -> str:
    """Return words in quotes on one line, cut to a length."""
    line = text.replace("\n", " ⏎ ")
    return f'"{line[:limit]}…"' if len(line) > limit else f'"{line}"'
