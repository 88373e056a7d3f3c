"""What one snippet printed on all hosts, side by side."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from capture.record import privacy
from capture.record.record import Record
from capture.store.catalogue import Catalogue

_NARROW = 44  # columns; outputs beside each other cannot be read where each has fewer


def snippet_on_hosts(cat: Catalogue, key: str, width: int) -> RenderableType:
    """Return the outputs of a snippet on all hosts, with its claims, and why it has none on the others.

    They stand beside each other where a console of `width` columns allows it, else below each other.
    """
    states = cat.states()
    snippet = cat.snippets[key]
    items = cat.of_snippet(key)
    title = _visible(f"{key}  {snippet.title}", "bold")
    absent = [
        Text(f"{label}: {known}", style="dim")
        for label in cat.hosts
        if (label, key) not in cat.records and (known := states.get((label, key)))
    ]
    heads = [_visible(_head(item, str(states[item.host, key]))) for item in items]
    bodies = [_visible(item.stdout.rstrip("\n") + _stderr_part(item)) for item in items]
    body: RenderableType
    if items and width // len(items) >= _NARROW:
        grid = Table(show_header=False, expand=False, padding=(0, 1))
        for _ in items:
            grid.add_column(overflow="fold")
        grid.add_row(*heads)
        grid.add_section()
        grid.add_row(*bodies)
        body = grid
    else:
        body = Group(*(Group(head, text, Text("")) for head, text in zip(heads, bodies, strict=True)))
    judged = cat.judged([key], states)
    claims = [
        _visible(f"{entry.verdict:11} {entry.host}: {entry.claim.says} ({entry.reason})") for _, entry in judged.entries
    ]
    faults = [_visible(str(problem)) for problem in judged.problems]
    return Group(title, body, *claims, *faults, *absent)


def _visible(text: str, style: str = "") -> Text:
    """Return a stranger's text for a terminal: control characters made visible, and nothing private in it."""
    return Text(privacy.visible(text), style=style)


def _head(item: Record, state: str) -> str:
    """Return the lines above an output: host, chip, torch, gates, date, state."""
    environment = item.environment
    gates = ", ".join(
        f"{name} {'yes' if environment.gates.get(name) else 'no'}"
        for name in ("cuda", "mps")
        if name in environment.gates
    )
    torch = f"torch {environment.torch}" if environment.torch else "no torch"
    ended = "" if item.status == "ok" else f"\nended with {item.status}"
    return f"{item.host}\n{environment.chip}\n{torch}; {gates}\n{item.captured}; {state}{ended}"


def _stderr_part(item: Record) -> str:
    """Return stderr under a line that says so."""
    return f"\n--- stderr ---\n{item.stderr.rstrip()}" if item.stderr.strip() else ""
