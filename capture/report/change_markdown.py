"""Changes as Markdown for a pull request: never longer than a comment may be."""

from __future__ import annotations

import re

from capture import across
from capture.changes import Changes
from capture.errors import plural
from capture.normalize import bidi_controls, control_characters
from capture.report.change_rows import HEAD, Row, failing_lines, head_line, number_cells, rows, telling

LIMIT = 64_000  # characters; a comment holds 65,536, and its marker and the verification stand beside this
SPECIAL = re.compile(r"([\\`*_{}\[\]<>!|~&])")
LINKED = re.compile(r"(@|#|://|www\.)(?=\S)")  # what a comment would turn into a mention, a reference or a link


def text(changes: Changes, limit: int = LIMIT) -> str:
    """Return the report; what does not fit is counted."""
    parts = [f"**{escaped(head_line(changes))}**\n"]
    if changes.failing:
        parts.append("Must not be merged:\n\n" + "".join(f"- {escaped(words)}\n" for words in failing_lines(changes)))
    if changes.hosts:
        parts.append(
            "| host | what changed |\n| --- | --- |\n"
            + "".join(f"| {escaped(item.host)} | {escaped('; '.join(item.words))} |\n" for item in changes.hosts)
        )
    parts += ranking(changes)
    found = rows(changes)
    if found:
        table = "| class | captures | what |\n| --- | ---: | --- |\n"
        overview = [f"| {row.kind} | {len(row.changes)} | {escaped(overview_words(row))} |\n" for row in found]
        parts.append(fitted(table, overview, limit // 2))
    result = "\n".join(parts)
    details = [section for row in found if (section := details_of(row))]
    return fitted(f"{result}\n" if details else result, details, limit)


def fitted(start: str, parts: list[str], limit: int) -> str:
    """Return the start and as many parts as fit, with a count of the others."""
    result = start
    for number, part in enumerate(parts):
        if len(result) + len(part) > limit - 80:
            count = plural(len(parts) - number, "part")
            return f"{result}\n{count} more left out, to stay within the length of a comment.\n"
        result += part
    return result


def overview_words(row: Row) -> str:
    """Return the sentence of a row, and its captures where there are several."""
    several = row.kind != "identical" and (row.first.quiet or len(row.changes) > 1)
    return f"{row.words}: {row.names}" if several else row.words


def details_of(row: Row) -> str:
    """Return what moved in the capture that stands for a row, or nothing."""
    if row.first.quiet:
        return ""
    numbers = telling(row.first)
    title = f"{row.first.snippet} on {row.first.host}"
    if numbers:
        cells = [HEAD, tuple("---" for _ in HEAD), *number_cells(numbers)]
        lines = ["| " + " | ".join(part if part == "---" else escaped(part) for part in cell) + " |" for cell in cells]
        return f"\n{escaped(title)}\n\n" + "\n".join(lines) + "\n"
    if row.edits:
        return "\n" + "".join(f"- {escaped(words)}\n" for words in row.edits)
    if row.first.lines and row.kind in ("text changed", "not comparable"):
        return f"\n{escaped(title)}\n\n{fenced(row.first.lines)}"
    return ""


def ranking(changes: Changes) -> list[str]:
    """Return the largest gains and losses in time, where many timings moved between two hosts."""
    if not changes.across_hosts:
        return []
    found = []
    for title, items in zip(("Least time", "Most time"), across.largest(changes), strict=True):
        if items:
            rows_of = "".join(f"| {escaped(name)} | {change:+.0f} % |\n" for name, change in items)
            head = f"{title} on {changes.head}, against {changes.base}"
            found.append(f"| {escaped(head)} | time |\n| --- | ---: |\n{rows_of}")
    return found


def escaped(words: str) -> str:
    """Return text that Markdown shows as it is, on one line; strangers' output mentions nobody and links nowhere."""
    shown = bidi_controls(control_characters(words)).replace("\r", " ").replace("\n", " ")
    return SPECIAL.sub(r"\\\1", LINKED.sub("\\1\u200b", shown))


def fenced(lines: tuple[str, ...]) -> str:
    """Return lines as a block of code that their text cannot close."""
    shown = [bidi_controls(control_characters(item)) for item in lines]
    longest = max((len(match[0]) for item in shown for match in re.finditer("`+", item)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}diff\n" + "".join(f"{item}\n" for item in shown) + f"{fence}\n"
