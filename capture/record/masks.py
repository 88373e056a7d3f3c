"""What an author lets out of stored text because it differs in each process and teaches nothing: addresses, ids."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

# An address as Python, C and torch print it; `id()` of CPython is the same number in decimal digits.
_MASKS: Mapping[str, tuple[re.Pattern[str], str]] = {
    "address": (re.compile(r"\b0x[0-9a-fA-F]{6,16}\b"), "0x…"),
    "id": (re.compile(r"(?<![\w.+-])[1-9]\d{11,15}(?!\w|\.\d)"), "<id>"),
}


def applied(names: Iterable[str], text: str, changed: tuple[str, ...]) -> tuple[str, tuple[str, ...]]:
    """Return a text with the named masks applied, and the names of the rules that have changed it, `mask-id` added."""
    for name in names:
        pattern, word = _MASKS[name]
        after = pattern.sub(word, text)
        if after != text:
            text, changed = after, (*changed, f"mask-{name}")
    return text, changed
