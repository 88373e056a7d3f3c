"""Changes as lines for a terminal: the verdict first, hosts, then one row a cause."""

from __future__ import annotations

from rich.text import Text

from capture import across
from capture.changes import Changes
from capture.normalize import bidi_controls, control_characters
from capture.pairs import Kind
from capture.report.change_rows import HEAD, Row, failing_lines, head_line, number_cells, rows, telling

STYLES: dict[Kind, str] = {
    "private": "bold red", "invalid": "bold red", "status changed": "bold red", "claim broken": "bold red",
    "text changed": "yellow", "number beyond tolerance": "yellow", "not comparable": "yellow",
    "newly captured": "green", "removed": "magenta", "stale": "magenta",
}  # fmt: skip
MARGIN = 25  # columns of the class; what is said about it stands behind


def lines(changes: Changes) -> list[Text]:
    """Return the report; strangers' text in it has its control characters made visible."""
    found = [line(head_line(changes), "bold")]
    if changes.failing:
        found += [
            line("must not be merged:", "bold red"),
            *(line(f"  {words}", "red") for words in failing_lines(changes)),
        ]
    for item in changes.hosts:
        lead = f"host {item.host}  "
        found += [line(f"{lead if number == 0 else ' ' * len(lead)}{words}") for number, words in enumerate(item.words)]
    for row in rows(changes):
        found += row_lines(row)
    found += ranking(changes)
    return found


def row_lines(row: Row) -> list[Text]:
    """Return the lines of one row: class and sentence, then what moved in the capture that stands for it."""
    head = line(f"{row.kind:{MARGIN - 1}} ", STYLES.get(row.kind, ""))
    head.append_text(line(row.words))
    found = [head]
    if row.kind != "identical" and (row.first.quiet or len(row.changes) > 1):
        found.append(line(" " * MARGIN + row.names, "dim"))
    if row.first.quiet:
        return found
    numbers = telling(row.first)
    if numbers:
        cells = [HEAD, *number_cells(numbers)]
        widths = [max(len(cell[column]) for cell in cells) for column in range(len(HEAD))]
        for number, cell in enumerate(cells):
            text = "  ".join(part.ljust(width) for part, width in zip(cell, widths, strict=True))
            found.append(line(" " * MARGIN + text.rstrip(), "dim" if number == 0 else ""))
    elif row.edits:
        found += [line(" " * MARGIN + words) for words in row.edits]
    elif row.kind in ("text changed", "not comparable") and len({item.edit for item in row.changes}) == 1:
        colours = {"-": "red", "+": "green"}
        found += [line(" " * MARGIN + shown, colours.get(shown[0], "")) for shown in row.first.lines]
    return found


def ranking(changes: Changes) -> list[Text]:
    """Return the largest gains and losses in time, where many timings moved between two hosts."""
    if not changes.across_hosts:
        return []
    found = []
    for title, items in zip(("least time", "most time"), across.largest(changes), strict=True):
        if items:
            found.append(line(f"{title} on {changes.head}, against {changes.base}:", "bold"))
            found += [line(f"  {change:+7.0f} %  {name}") for name, change in items]
    return found


def line(text: str, style: str = "") -> Text:
    """Return one line of a report."""
    return Text(bidi_controls(control_characters(text)), style=style)
