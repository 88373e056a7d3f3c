"""Changes as JSON, for other programs."""

from __future__ import annotations

from typing import Any

from capture import shape
from capture.changes import Changes
from capture.pairs import KINDS

SCHEMA = 1


def document(changes: Changes) -> dict[str, Any]:
    """Return all changes, with counts by class and why they must not be merged."""
    counts = {kind: sum(item.kind == kind for item in changes.records) for kind in KINDS}
    return {
        "schema": SCHEMA,
        "base": changes.base,
        "head": changes.head,
        "across_hosts": changes.across_hosts,
        "to_read": len(changes.to_read),
        "private": changes.private,
        "failing": list(changes.failing),
        "counts": {kind: count for kind, count in counts.items() if count},
        "hosts": shape.encode(changes.hosts),
        "records": shape.encode(changes.records),
    }
