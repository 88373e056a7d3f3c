"""Words of a picture: on one line of the source, and short. The page's own font sets them, and they wrap."""

from __future__ import annotations

LONGEST = 120  # letters; records hold long lines, and the table below a picture has the whole


def brief(text: str) -> str:
    """Return a text on one line, cut behind its first 120 letters."""
    line = " ".join(text.split())
    return line if len(line) <= LONGEST else f"{line[:LONGEST].rstrip()}…"
