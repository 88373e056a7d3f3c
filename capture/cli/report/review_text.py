"""One capture that waits for a decision, as lines for a terminal."""

from __future__ import annotations

from rich.text import Text

from capture.cli.report.change_rows import ChangeRow
from capture.cli.report.change_text import MARGIN, MARK_COLOURS, line, row_details, row_head
from capture.review.record_change import RecordChange
from capture.review.waiting import ReviewItem


def lines(item: ReviewItem) -> list[Text]:
    """Return what differs in an item, and why it cannot be accepted or must not be merged."""
    change = item.change
    row = ChangeRow(change.kind, _sentence(change), (change,))
    details = row_details(row)
    result = [*row_head(row), *details]
    if not details:
        result += [line(" " * MARGIN + edit, MARK_COLOURS.get(edit[0], "")) for edit in change.lines]
    if item.why_not and str(item.why_not) != change.detail:
        result.append(line(" " * MARGIN + f"cannot be accepted: {item.why_not}", "red"))
    elif change.failing and change.detail not in change.failing:
        result.append(line(" " * MARGIN + f"must not be merged: {change.failing}", "red"))
    return result


def _sentence(change: RecordChange) -> str:
    """Say which capture changed, in what and why."""
    detail = "" if change.kind == "text changed" and change.lines else change.detail  # the lines below say it
    about = "; ".join(part for part in (*change.causes, detail) if part)
    if change.quiet and change.kind != "identical":
        return about  # the capture is named on the next line
    name = f"{change.snippet} on {change.host}"
    return f"{name}: {about}" if about else name
