"""Changes as lines for a terminal, all on one screen: what must not be merged, then hosts, then one row a cause."""

from __future__ import annotations

from rich.cells import cell_len
from rich.text import Text

from capture.cli.report.change_rows import ChangeRow, failing_lines, head_line, host_lines, one_line, rows, shortened
from capture.errors import plural
from capture.review import host_comparison
from capture.review.handbook_changes import HandbookChanges
from capture.review.record_change import ChangeKind

_STYLES: dict[ChangeKind, str] = {
    "private": "bold red", "invalid": "bold red", "status changed": "bold red", "claim broken": "bold red",
    "text changed": "yellow", "number beyond tolerance": "yellow", "not comparable": "yellow",
    "newly captured": "green", "removed": "magenta", "stale": "magenta",
}  # fmt: skip
MARK_COLOURS = {"-": "red", "+": "green"}
MARGIN = 25  # columns that the class of a row takes; all else about the row begins behind them
SCREEN_LINES = 45  # lines that a reader sees at once; where there are more, details are cut first, then the last rows


def lines(changes: HandbookChanges) -> list[Text]:
    """Return the report of all changes; control characters in captured text are made visible."""
    head = [line(head_line(changes), "bold")]
    if changes.failing:
        head += [
            line("must not be merged:", "bold red"),
            *(line(f"  {words}", "red") for words in failing_lines(changes)),
        ]
    for host, words in host_lines(changes):
        lead = f"host {host}  "
        head += [line(f"{lead if number == 0 else ' ' * len(lead)}{each}") for number, each in enumerate(words)]
    ranking = _ranking(changes)
    return [*head, *_fitted(rows(changes), SCREEN_LINES - len(head) - len(ranking)), *ranking]


def _fitted(every: list[ChangeRow], room: int) -> list[Text]:
    """Return as many rows as fit into `room` lines, but five at least, and count the others.

    What room is left is shared out for the details of the rows.
    """
    heads = [row_head(row) for row in every]
    taken, shown = 0, 0
    while shown < len(every) and (shown < 5 or taken + len(heads[shown]) < room):
        taken += len(heads[shown])
        shown += 1
    spare = room - taken - (shown < len(every))
    result: list[Text] = []
    for number in range(shown):
        details = row_details(every[number])
        share = max(spare, 0) // (shown - number)
        if len(details) > share:
            kept = details[: share - 1] if share > 2 else []
            more = line(f"{' ' * MARGIN}… {plural(len(details) - len(kept), 'more line')}", "dim")
            details = [*kept, more] if kept else []
        spare -= len(details)
        result += [*heads[number], *details]
    if left := every[shown:]:
        count = plural(sum(len(row.changes) for row in left), "capture")
        result.append(line(f"and {plural(len(left), 'more row')} ({count}); --format json has them all", "bold"))
    return result


def row_head(row: ChangeRow) -> list[Text]:
    """Return the class and the sentence of a row, and its captures on a second line if it names them."""
    head = line(f"{row.kind:{MARGIN - 1}} ", _STYLES.get(row.kind, ""))
    head.append_text(line(row.words))
    return [head, *([line(" " * MARGIN + row.names, "dim")] if row.names else [])]


def row_details(row: ChangeRow) -> list[Text]:
    """Return what a row shows: its table of numbers, else the edit of each capture, else its lines."""
    if table := row.table:
        widths = [max(cell_len(one_line(cell[column])) for cell in table) for column in range(len(table[0]))]
        padded = [
            "  ".join(part + " " * (width - cell_len(part)) for part, width in zip(cell, widths, strict=True)).rstrip()
            for cell in (tuple(map(one_line, each)) for each in table)
        ]
        return [line(" " * MARGIN + text, "" if number else "dim") for number, text in enumerate(padded)]
    if row.edits:
        return [line(" " * MARGIN + words, "dim" if row.first.quiet else "") for words in row.edits]
    return [line(" " * MARGIN + edit, MARK_COLOURS.get(edit[:1], "")) for edit in row.lines]


def _ranking(changes: HandbookChanges) -> list[Text]:
    """Return the largest gains and losses in time, where many timings moved between two hosts."""
    if not changes.across_hosts:
        return []
    result = []
    for title, items in zip(("least time", "most time"), host_comparison.largest_time_changes(changes), strict=True):
        if items:
            result.append(line(f"{title} on {changes.head}, against {changes.base}:", "bold"))
            result += [line(f"  {change:+7.0f} %  {shortened(name)}") for name, change in items]
    return result


def line(text: str, style: str = "") -> Text:
    """Return one line of a report, with control characters in it made visible."""
    return Text(one_line(text), style=style)
