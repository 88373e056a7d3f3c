"""The matrix of snippets by hosts, as a table and as plain data for JSON."""

from __future__ import annotations

from typing import Any

from rich.table import Table

from capture.errors import Problem
from capture.store.catalogue import Catalogue

# A word as well as a colour: colour alone tells nothing on paper or to a screen reader.
_STATE_STYLES = {"current": "green", "stale": "yellow", "orphan": "red", "missing": "dim", "gate unmet": "dim"}
_FAULTY = "faulty snippet"


def rows(cat: Catalogue) -> list[dict[str, Any]]:
    """Return one entry a snippet, with its id, its title and by host what is known of its result.

    That is its state with the reasons, the status, the day, torch's version, and the ids of failing claims.
    """
    states = cat.states()
    # A snippet that cannot be read is there all the same; its records are no orphans.
    faulty = {problem.path.removeprefix("snippets/").removesuffix(".py") for problem in cat.problems} - set(
        cat.snippets
    )
    entries = []
    for key in sorted({snippet_id for _, snippet_id in states} | set(cat.snippets)):
        snippet = cat.snippets.get(key)
        broken: dict[str, list[str]] = {}
        for _, entry in cat.judged([key], states).failing if snippet else ():
            broken.setdefault(entry.host, []).append(entry.claim.id)
        hosts = {}
        for label in cat.hosts:
            known = states.get((label, key))
            item = cat.records.get((label, key))
            if known is None:
                continue
            hosts[label] = {
                "state": _FAULTY if key in faulty else known.kind,
                "reasons": ["its header or source cannot be read"] if key in faulty else list(known.reasons),
                "status": item.status if item else None,
                "captured": item.captured if item else None,
                "torch": item.environment.torch if item else None,
                "claims_failing": broken.get(label, []),
            }
        entries.append({"snippet": key, "title": snippet.title if snippet else None, "hosts": hosts})
    return entries


def claim_problems(cat: Catalogue) -> tuple[Problem, ...]:
    """Return what keeps claims from being judged."""
    return cat.judged(cat.snippets).problems


def table(cat: Catalogue) -> Table:
    """Return the matrix as a table, one column a host."""
    result = Table(box=None, pad_edge=False, header_style="bold")
    result.add_column("snippet", no_wrap=True)
    for label in cat.hosts:
        result.add_column(label, no_wrap=True)
    for row in rows(cat):
        cells = [_cell(row["hosts"].get(label)) for label in cat.hosts]
        result.add_row(row["snippet"], *cells)
    return result


def _cell(entry: dict[str, Any] | None) -> str:
    """Return the text of one cell, with the markup of rich."""
    if entry is None:
        return ""
    text = f"[{_STATE_STYLES.get(entry['state'], 'red')}]{entry['state']}[/]"
    if entry["status"] not in (None, "ok"):
        text += f" [red]{entry['status']}[/]"
    if entry["claims_failing"]:
        text += " [red]claim fails[/]"
    return text
