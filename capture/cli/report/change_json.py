"""Changes as JSON, for other programs."""

from __future__ import annotations

from typing import Any

from capture import plain_data
from capture.record import privacy
from capture.review.handbook_changes import HandbookChanges
from capture.review.record_change import KINDS

SCHEMA_VERSION = 1  # of the document; another meaning of a field is another version


def document(changes: HandbookChanges) -> dict[str, Any]:
    """Return all changes as plain data, with counts by class and why they must not be merged."""
    counts = {kind: sum(item.kind == kind for item in changes.records) for kind in KINDS}
    whole = {
        "schema": SCHEMA_VERSION,
        "base": changes.base,
        "head": changes.head,
        "across_hosts": changes.across_hosts,
        "to_read": len(changes.to_read),
        "private": changes.private,
        "failing": list(changes.failing),
        "counts": {kind: count for kind, count in counts.items() if count},
        "hosts": plain_data.encode(changes.hosts),
        "records": plain_data.encode(changes.records),
    }
    return privacy.shown_in(whole)
