"""Highlighted source, kept by its content: colouring the scripts is most of what a page costs to render."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Mapping
from importlib import metadata
from pathlib import Path
from typing import Any

from capture.store import Cache, digest

# With these options the HTML of a block counts the blocks before it, so it is not made of its content alone.
_COUNTING_OPTIONS = ("anchor_linenums", "line_anchors", "linespans", "line_spans")


class Highlighted:
    """What the page's highlighter made of each source; without options of its own every block is highlighted anew."""

    def __init__(self, root: Path, options: Mapping[str, Any] | None) -> None:
        chosen = options or {}
        self.open = contextlib.ExitStack()
        counting = any(chosen.get(name) for name in _COUNTING_OPTIONS)
        self.cache = None if counting else self.open.enter_context(Cache(root, "highlighted"))
        versions = [metadata.version(name) for name in ("pygments", "pymdown-extensions")]
        self.highlighter = json.dumps([versions, dict(chosen)], sort_keys=True, default=repr)

    def html(self, text: str, first: int, block_id: str, make: Callable[[], str]) -> str:
        """Return the HTML kept for a source, its first line's number and its block's id; else `make` makes it."""
        if self.cache is None:
            return make()
        key = digest(*(part.encode() for part in (self.highlighter, str(first), block_id, text)))
        return self.cache.recall(key, make)

    def write(self) -> None:
        """Keep what was made, for the next build."""
        self.open.close()
