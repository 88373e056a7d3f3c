"""A page as Markdown for those who read no HTML: its cards, values and tables filled in from the records, as text.

Language models and terminals get the numbers with what they were got on: a line above each output, and a footnote
behind each number in a sentence.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterable, Mapping

from capture.errors import CaptureError
from capture.site.card import card
from capture.site.markdown import fence_positions, inline_value, typed_figures
from capture.site.markdown.page_in_progress import PageInProgress, PageSource
from capture.site.model import request
from capture.site.model.card_view import Absence, Badge, CardView, Panel, ResultView
from capture.site.model.output_text import StreamView, as_markdown_text, printable
from capture.site.page import moved_addresses
from capture.site.plot import plot_fence, plot_spec
from capture.site.table import table_fence
from capture.site.table.table import Table, TableCell

_LINK_TARGET = re.compile(r"(\]\(|^ {0,3}\[[^\]^]+\]:[ ]+)([^)\s]+)(?=[\s)]|\Z)", re.MULTILINE)
_INDENTATION = re.compile(r"[> \t]*")
Mark = Callable[[str], str]
"""Makes Markdown of a text from a record, a host or a header: `str` where nothing renders it."""


def page_copy(here: PageInProgress, markdown: str) -> str:
    """Return the Markdown of a rendered page, given without front matter, for the folder in which its HTML lies.

    What cannot be filled in stays as its author wrote it: the page itself says what is wrong with it.
    """
    here.uses.clear()  # its cards are counted again
    notes: dict[str, str] = {}
    lines = markdown.splitlines()
    parts, at = [], 0
    for start, end, info in fence_positions.fenced_blocks(lines):
        if end is not None:
            parts.append(_copied_prose(here, "\n".join(lines[at:start]), notes))
            parts.append(filled_fence(here, lines[start : end + 1], info, as_markdown_text))
            at = end + 1
    parts.append(_copied_prose(here, "\n".join(lines[at:]), notes))
    parts += ["", *(f"[^{name}]: {text}" for text, name in notes.items())] if notes else []
    text = typed_figures.OPT_OUT_COMMENT.sub("", "\n".join(parts))
    return printable(text.strip("\n")) + "\n"


def filled_fence(here: PageInProgress, lines: list[str], info: str, mark: Mark = str) -> str:
    """Return a fence: filled in where it names a card, a table or a plot, else as it is."""
    name, options = fence_positions.parse_fence_opening(info)
    fill = _FENCE_TEXTS.get(name)
    try:
        text = fill(here, fence_positions.fence_body(lines[1:-1]), options, mark) if fill else None
    except CaptureError:
        text = None
    if text is None:
        return "\n".join(lines)
    match = _INDENTATION.match(lines[0])
    indent = match[0] if match else ""
    return "\n".join(f"{indent}{line}" if line else indent.rstrip() for line in text.split("\n"))


def _copied_prose(here: PageInProgress, text: str, notes: dict[str, str]) -> str:
    """Return prose with every captured value filled in, and links that lead to the other copies."""

    def value(captured: inline_value.CapturedValue) -> str:
        name = notes.setdefault(f"{captured.snippet}: {as_markdown_text(captured.title)}", f"captured-{len(notes) + 1}")
        return f"{as_markdown_text(captured.text)}[^{name}]"

    return filled_prose(here, text, value, lambda target: _copy_link(here.page, target) if here.page else target)


def filled_prose(
    here: PageInProgress, text: str, value: Callable[[inline_value.CapturedValue], str], lead: Callable[[str], str]
) -> str:
    """Return prose with what `value` makes of every captured value, and `lead` of the target of every link."""

    def captured(span: re.Match[str]) -> str:
        mark = fence_positions.CAPTURED_PREFIX.match(span[2])
        if not mark:
            return span[0]
        try:
            return value(inline_value.requested_value(here, span[2][mark.end() :])[1])
        except CaptureError:
            return span[0]

    parts, at = [], 0
    for span in fence_positions.CODE_SPAN.finditer(text):
        parts += [_LINK_TARGET.sub(lambda match: match[1] + lead(match[2]), text[at : span.start()]), captured(span)]
        at = span.end()
    return "".join([*parts, _LINK_TARGET.sub(lambda match: match[1] + lead(match[2]), text[at:])])


def _copy_link(page: PageSource, target: str) -> str:
    """Return a link as seen from the folder of the page's HTML; one to a page leads to its copy."""
    path, mark, fragment = target.partition("#")
    if not path or path.startswith("/") or ":" in path.split("/")[0]:
        return target
    source = page.path.removeprefix("docs/")
    place = posixpath.normpath(posixpath.join(posixpath.dirname(source), path))
    if place.endswith(".md"):
        place = f"{moved_addresses.address(place)}index.md".lstrip("/")
    folder = moved_addresses.address(source).strip("/")
    return f"{posixpath.relpath(place, folder or '.')}{mark}{fragment}"


def _card_text(here: PageInProgress, body: str, options: Mapping[str, str], mark: Mark) -> str:
    """Return a card."""
    asked = request.parse_fence(body, options, here.site.catalogue)
    uid = here.uid(asked.snippet)
    view = here.cards.get(uid) or card.card(here.site, asked, here.links, uid)
    return "\n\n".join(_card_paragraphs(view, mark))


def _card_paragraphs(view: CardView, mark: Mark) -> Iterable[str]:
    """Yield the paragraphs of a card."""
    yield f"**{mark(view.title)}** (`{view.path}`)"
    if view.source:
        yield code_block(view.source.text, "python")
    for panel in view.panels:
        yield from _panel_paragraphs(panel, mark)
    if view.nowhere:
        yield absence_line(view.nowhere, mark)


def _panel_paragraphs(panel: Panel, mark: Mark) -> Iterable[str]:
    """Yield the paragraphs of one host."""
    if panel.absence:
        yield absence_line(panel.absence, mark)
    if panel.result:
        yield from _result_paragraphs(panel.title, panel.result, mark)


def _result_paragraphs(title: str, view: ResultView, mark: Mark) -> Iterable[str]:
    """Yield the badge as a line, the output, and the claims. Output that another host has too stands there."""
    record = f" ([record]({view.record.removeprefix('./')}))" if view.record else ""
    yield f"{mark(f'{title}: {badge_line(view.badge)}.')}{record}"
    if view.failure:
        yield mark(f"{view.failure.headline}. {view.failure.hint}".strip())
    if view.note:
        yield mark(f"It {view.note}.")
    if not view.badge.same_as:
        if view.stdout:
            yield code_block(shown_stream(view.stdout), "text")
        else:
            yield "Nothing was printed to stdout."
        if view.stderr:
            yield "Printed to stderr:"
            yield code_block(shown_stream(view.stderr), "text")
    if view.elisions:
        yield mark(f"{'; '.join(view.elisions)}.")
    if view.verdicts:
        yield "\n".join(
            "- " + mark(f"{verdict.mark}: {verdict.says}" + (f" ({verdict.more})" if verdict.more else ""))
            for verdict in view.verdicts
        )


def badge_line(view: Badge) -> str:
    """Return the badge as one line."""
    parts = [
        f"captured on {view.chip}" + (f", {view.rest}" if view.rest else ""),
        view.torch,
        view.build,
        *(f"{gate.name} {'yes' if gate.yes else 'no'}" for gate in view.gates),
        view.threads,
        view.runs,
        view.day,
        view.state,
        "busy host: other programs ran beside it" if view.busy else "",
        view.rerun.words if view.rerun else "",
        f"same output as {view.same_as}" if view.same_as else "",
    ]
    return "; ".join(part for part in parts if part)


def absence_line(view: Absence, mark: Mark = str) -> str:
    """Say why there is no result."""
    reasons = f" {'; '.join(view.reasons)}." if view.reasons else ""
    return f"{mark(f'{view.headline}{reasons} {view.advice}')} `{view.command}`"


def shown_stream(stream: StreamView) -> str:
    """Return what a page shows of a stream, with a line for what it leaves out."""
    text = stream.indexed + stream.rest
    return f"{text}\n[{stream.cut}]\n{stream.tail}" if stream.cut else text


def code_block(text: str, language: str) -> str:
    """Return a code block that no text inside can end."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text.rstrip(chr(10))}\n{fence}"


def _table_text(here: PageInProgress, body: str, _options: Mapping[str, str], mark: Mark) -> str:
    """Return a table over all records; raises CaptureError where there is none of that name."""
    return _markdown_table(table_fence.named_table(here, body), mark)


def _plot_text(here: PageInProgress, body: str, _options: Mapping[str, str], mark: Mark) -> str:
    """Return what a picture shows as a table; raises CaptureError where its fence is faulty."""
    spec = plot_spec.parse_spec(body, here.site.catalogue)
    view = plot_fence.figure(here, spec, plot_fence.checked_hosts(here, spec))
    about = mark(f"{view.sources} {view.absences}".strip())
    return "\n\n".join([f"**{mark(view.title)}**", _markdown_table(view.table, mark), about])


def _markdown_table(view: Table, mark: Mark) -> str:
    """Return a table in Markdown."""
    if not view.rows:
        return view.empty
    rows = [[_cell_text(cell, mark) for cell in view.head], ["---" for _ in view.head]]
    rows += [[_cell_text(cell, mark) for cell in row] for row in view.rows]
    return "\n".join(f"| {' | '.join(' '.join(cell.replace('|', '&#124;').split()) for cell in row)} |" for row in rows)


def _cell_text(cell: TableCell, mark: Mark) -> str:
    """Return a cell with its link, and what stands under it."""
    text = f"[{mark(cell.text)}]({cell.href})" if cell.href else mark(cell.text)
    return f"{text}: {', '.join(_cell_text(item, mark) for item in cell.items)}" if cell.items else text


_FENCE_TEXTS: Mapping[str, Callable[[PageInProgress, str, Mapping[str, str], Mark], str]] = {
    fence_positions.CARD_FENCE: _card_text,
    fence_positions.TABLE_FENCE: _table_text,
    plot_fence.FENCE: _plot_text,
}
