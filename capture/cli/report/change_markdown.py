"""Changes as Markdown for a comment on a pull request, never longer than a comment may be."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

from capture.cli.report.change_rows import ChangeRow, failing_lines, head_line, host_lines, one_line, rows, shortened
from capture.errors import plural
from capture.review import host_comparison
from capture.review.handbook_changes import HandbookChanges

_COMMENT_LENGTH = 60_000  # characters; a comment holds 65,536, and its marker and the verification stand beside this
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>!|~&$])")
# What a comment would turn into a mention, a reference, a link or a picture. A blank without width goes between; within
# a scheme or `www.`, since a browser drops it where a host's name is due.
_LINKED = re.compile(
    r"(?<=[@#])(?=\S)|(?=://)|(?<=www)(?=\.)|(?<=\bGH)(?=-\d)|(?<=:)(?=(?:\w*[a-z+-][\w+-]*|100|1234):)", re.IGNORECASE
)
_BLOCK_START = re.compile(r"\s*(?:[-+=]|#{1,6}|\d{1,9}[.)])(?=\s|$|[-=])")  # what begins a list, a heading or a rule


def text(changes: HandbookChanges, limit: int = _COMMENT_LENGTH) -> str:
    """Return the report of all changes, of at most `limit` characters; what does not fit is counted."""
    parts = [f"**{escaped(head_line(changes))}**\n"]
    if changes.failing:
        parts.append("Must not be merged:\n\n" + "".join(f"- {escaped(words)}\n" for words in failing_lines(changes)))
    if changes.hosts:
        parts.append(
            _table(
                ("host", "what changed"),
                ((name, shortened("; ".join(words), 1500)) for name, words in host_lines(changes)),
            )
        )
    parts += _ranking(changes)
    every = rows(changes)
    if every:
        cells = [(row.kind, str(len(row.changes)), _overview(row)) for row in every]
        head = "| class | captures | what |\n| --- | ---: | --- |\n"
        start = "\n".join([*parts, head])
        result = _fitted(
            start, [_table_row(cell) for cell in cells], limit * 3 // 4, lambda left: _rows_left_out(every, left)
        )
    else:
        result = "\n".join(parts)
    details = [section for row in every if (section := _details(row))]
    return _fitted(result, details, limit, lambda left: f"{plural(left, 'more capture')} with details")


def _fitted(start: str, parts: list[str], limit: int, missing: Callable[[int], str]) -> str:
    """Return the start with as many parts as fit; `missing` says for their number what the others are."""
    result = start
    for number, part in enumerate(parts):
        if len(result) + len(part) > limit - 200:
            return f"{result}\n… {missing(len(parts) - number)}, left out to stay within the length of a comment.\n"
        result += part
    return result


def _rows_left_out(every: Sequence[ChangeRow], left: int) -> str:
    """Say how many of all rows are left out at the end, and how many captures they hold."""
    count = sum(len(row.changes) for row in every[len(every) - left :])
    return f"{plural(left, 'more row')} ({plural(count, 'capture')})"


def _overview(row: ChangeRow) -> str:
    """Return the sentence of a row, and its captures where there are several."""
    return f"{row.words}: {row.names}" if row.names else row.words


def _details(row: ChangeRow) -> str:
    """Return what a row shows: its table of numbers, else the edit of each capture, else its lines, else nothing."""
    title = f"\n{escaped(f'{row.first.snippet} on {row.first.host}')}\n\n"
    if table := row.table:
        return title + _table(table[0], table[1:])
    if row.edits:
        about = f"\n{escaped(row.kind)}, by capture:\n\n"
        return about + "".join(f"- {escaped(words)}\n" for words in row.edits)
    return title + _fenced(row.lines) if row.lines else ""


def _ranking(changes: HandbookChanges) -> list[str]:
    """Return tables of the largest gains and losses in time, where many timings moved between two hosts."""
    if not changes.across_hosts:
        return []
    return [
        _table(
            (f"{title} on {changes.head}, against {changes.base}", "time"),
            ((shortened(name), f"{change:+.0f} %") for name, change in items),
        )
        for title, items in zip(("Least time", "Most time"), host_comparison.largest_time_changes(changes), strict=True)
        if items
    ]


def _table(head: Sequence[str], body: Iterable[Sequence[str]]) -> str:
    """Return a table in Markdown."""
    return f"{_table_row(head)}|{' --- |' * len(head)}\n" + "".join(map(_table_row, body))


def _table_row(cells: Sequence[str]) -> str:
    """Return one row of a table in Markdown."""
    return f"| {' | '.join(map(escaped, cells))} |\n"


def escaped(words: str) -> str:
    """Return text that Markdown shows as it is, on one line.

    The text may be a stranger's output: it mentions nobody and links nowhere.
    """
    shown = _SPECIAL.sub(r"\\\1", _LINKED.sub("\u200b", one_line(words).strip()))
    return (
        _BLOCK_START.sub(lambda match: f"{match[0][:-1]}\\{match[0][-1]}", shown, count=1)
        if _BLOCK_START.match(shown)
        else shown
    )


def _fenced(lines: tuple[str, ...]) -> str:
    """Return lines as a block of code that their text cannot close."""
    shown = [one_line(line) for line in lines]
    longest = max((len(match[0]) for line in shown for match in re.finditer("`+", line)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}diff\n" + "".join(f"{line}\n" for line in shown) + f"{fence}\n"
