"""Characters that a reader does not see and a terminal or a browser obeys, and how they are shown as escapes."""

from __future__ import annotations

import re

CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")
# Bidirectional overrides and isolates (Unicode UAX 9); they can make text read as what it is not.
BIDI = re.compile(r"[\u202a-\u202e\u2066-\u2069\u200e\u200f\u061c]")


def control_characters(text: str) -> str:
    """Make control characters visible, as `\\x00` or `\\u2028`; newline and tab stay."""
    return CONTROL.sub(_visible, text)


def bidi_controls(text: str) -> str:
    """Make bidirectional controls visible; plain Arabic or Hebrew text is untouched."""
    return BIDI.sub(_visible, text)


def _visible(match: re.Match[str]) -> str:
    """Return a character as a Python escape."""
    code = ord(match[0])
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}"
