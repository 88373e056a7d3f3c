"""The snippet by host matrix, as a table and as JSON."""

from __future__ import annotations

from typing import Any

from rich.table import Table

from capture.catalogue import Catalogue

# A word as well as a colour: colour alone tells nothing on paper or to a screen reader.
STYLES = {"current": "green", "stale": "yellow", "orphan": "red", "missing": "dim", "gate unmet": "dim"}


def rows(cat: Catalogue) -> list[dict[str, Any]]:
    """Return one entry a snippet: its id, title, and per host the state, reasons, status and failing claims."""
    states = cat.states()
    result = []
    for key in sorted({snippet_id for _, snippet_id in states} | set(cat.snippets)):
        snippet = cat.snippets.get(key)
        broken: dict[str, list[str]] = {}
        for judged in cat.judgements(key, states) if snippet else ():
            if judged.verdict == "fails":
                broken.setdefault(judged.host, []).append(judged.claim.id)
        hosts = {}
        for label in cat.hosts:
            known = states.get((label, key))
            item = cat.records.get((label, key))
            if known is None:
                continue
            hosts[label] = {
                "state": known.kind,
                "reasons": list(known.reasons),
                "status": item.status if item else None,
                "captured": item.captured if item else None,
                "torch": item.environment.torch if item else None,
                "claims_failing": broken.get(label, []),
            }
        result.append({"snippet": key, "title": snippet.title if snippet else None, "hosts": hosts})
    return result


def table(cat: Catalogue) -> Table:
    """Return the matrix as a table, one column a host."""
    result = Table(box=None, pad_edge=False, header_style="bold")
    result.add_column("snippet", no_wrap=True)
    for label in cat.hosts:
        result.add_column(label, no_wrap=True)
    for row in rows(cat):
        cells = [cell(row["hosts"].get(label)) for label in cat.hosts]
        result.add_row(row["snippet"], *cells)
    return result


def cell(entry: dict[str, Any] | None) -> str:
    """Return the text of one cell, with markup."""
    if entry is None:
        return ""
    text = f"[{STYLES[entry['state']]}]{entry['state']}[/]"
    if entry["status"] not in (None, "ok"):
        text += f" [red]{entry['status']}[/]"
    if entry["claims_failing"]:
        text += " [red]claim fails[/]"
    return text
