"""A lesson as a notebook: its prose in Markdown cells, its snippets in code cells, their outputs from the records.

A cell runs its snippet as a record is made, alone in a fresh interpreter: in one that all cells share, what a snippet
sets or caches would reach the next, and what an environment variable decides is decided when torch is imported.
"""

from __future__ import annotations

import json
import posixpath
import re
import shlex
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from capture.errors import CaptureError
from capture.site.card import card
from capture.site.markdown import fence_positions, handbook_pages, inline_value, typed_figures
from capture.site.markdown.page_in_progress import PageInProgress
from capture.site.model import request
from capture.site.model.card_view import CardView, Panel, ResultView
from capture.site.model.links import Links
from capture.site.model.output_text import StreamView, printable
from capture.site.notebook.portable_markdown import escaped_markdown, portable_lines
from capture.site.page import markdown_copy, moved_addresses

_SET_UP_CELL = Path(__file__).parents[1] / "templates" / "alone.py.txt"
NotebookCell = dict[str, Any]
CellOutput = dict[str, Any]


@dataclass(frozen=True)
class NotebookAddress:
    """Where the notebook of a lesson is: the page that shows it, and the file to keep, below the site's root."""

    page: str
    file: str


def notebook_address(lesson: str) -> NotebookAddress:
    """Return where the notebook of `chapter/name.md` is."""
    folder = f"{moved_addresses.address(lesson)}notebook/".lstrip("/")
    name = lesson.removesuffix(".md").removesuffix("/index").replace("/", "-")
    return NotebookAddress(f"{folder.rstrip('/')}.md", f"{folder}{name}.ipynb")


def notebook_text(here: PageInProgress) -> str:
    """Return the notebook of a lesson as its file's text.

    Links lead where the page has its root: into the site, or into the repository where that is unknown.
    """
    cells = list(_all_cells(here))
    for number, cell in enumerate(cells, 1):
        cell["id"] = f"{number}-{cell['metadata'].get('capture', 'text')}".replace("/", "-")[:64]
    document = {
        "cells": cells,
        "metadata": {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"file_extension": ".py", "mimetype": "text/x-python", "name": "python"},
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def _all_cells(here: PageInProgress) -> Iterator[NotebookCell]:
    """Yield the cells: what this is, what every cell needs, the lesson, and what its figures were got on."""
    notes: dict[str, None] = {}
    cells = list(_lesson_cells(here, notes)) or [_markdown_cell("")]
    first = "".join(cells[0]["source"])
    head, _, rest = first.partition("\n") if first.startswith("# ") else ("# A lesson", "", first)
    keys = [cell["metadata"]["capture"] for cell in cells if "capture" in cell["metadata"]]
    needs = sorted({name for key in keys for name in here.site.catalogue.snippets[key].packages})
    yield _markdown_cell(_introduction(here, head, needs))
    yield _code_cell(_SET_UP_CELL.read_text("utf-8"), {}, [])
    yield from [_markdown_cell(rest), *cells[1:]]
    if notes:
        lines = "\n".join(f"- {note}" for note in notes)
        yield _markdown_cell(f"## What the figures in the text were captured on\n\n{lines}")


def _introduction(here: PageInProgress, title: str, needs: Iterable[str]) -> str:
    """Return the title and what a reader has to know before the first cell."""
    own = here.links.lesson(here.page.path) if here.page else None
    name = title.removeprefix("#").strip()
    names = f"[{name}]({own})" if own else name
    install = f"`pip install {' '.join(map(shlex.quote, needs))}`" if needs else "nothing"
    return f"""{title}

This is the lesson {names} as a notebook. Nothing ran when it was made: its outputs come from records, and
**captured on** above each says which machine printed it. If you run a cell, the output of your machine takes its place.

It needs {install}, beside Jupyter, in the notebook's environment. A cell that needs a device which is not there ends
with an error, and the others go on."""


def _lesson_cells(here: PageInProgress, notes: dict[str, None]) -> Iterator[NotebookCell]:
    """Yield the cells of the lesson itself; `notes` gains a line for each origin of a figure in a sentence."""
    body = handbook_pages.without_front_matter(here.page.text if here.page else "")
    lines = typed_figures.OPT_OUT_COMMENT.sub("", body).splitlines()
    parts: list[str] = []
    at = 0
    for start, end, info in fence_positions.fenced_blocks(lines):
        if end is None:
            continue
        parts.append(_prose(here, "\n".join(lines[at:start]), notes))
        at = end + 1
        view = _runnable_card(here, lines[start:at], info)
        if view is None:
            parts.append(markdown_copy.filled_fence(here, lines[start:at], info, escaped_markdown))
            continue
        yield _markdown_cell("\n".join([*parts, _cell_heading(here, view)]))
        parts = []
        yield _snippet_cell(here, view)
    parts.append(_prose(here, "\n".join(lines[at:]), notes))
    if "".join(parts).strip():
        yield _markdown_cell("\n".join(parts))


def _runnable_card(here: PageInProgress, lines: list[str], info: str) -> CardView | None:
    """Return the card of a fence that becomes a code cell.

    Others stay text: a card in a list or a folded block, one that shows a part, and one whose snippet is not one file,
    or is seeded by whoever runs it.
    """
    name, options = fence_positions.parse_fence_opening(info)
    if name != fence_positions.CARD_FENCE or lines[0][:1].isspace() or lines[0].startswith(">"):
        return None
    try:
        asked = request.parse_fence(fence_positions.fence_body(lines[1:-1]), options, here.site.catalogue)
    except CaptureError:
        return None
    snippet = asked.snippet
    if asked.show != "both" or snippet.files or snippet.imports or snippet.seed is not None:
        return None
    return card.card(here.site, asked, here.links, here.uid(snippet))


def _cell_heading(here: PageInProgress, view: CardView) -> str:
    """Return the line that stands above a code cell."""
    script = here.links.script(here.site.catalogue.snippets[view.snippet])
    path = f"[`{view.path}`]({script})" if script else f"`{view.path}`"
    return f"\n**{escaped_markdown(view.title)}** · {path}{f' · needs {view.needs}' if view.needs else ''}"


def _snippet_cell(here: PageInProgress, view: CardView) -> NotebookCell:
    """Return the code cell of a card, with what the chosen host printed."""
    snippet = here.site.catalogue.snippets[view.snippet]
    words = [snippet.id, *([f"--exit={snippet.exit}"] if snippet.exit else [])]
    words += [shlex.quote(f"{name}={value}") for name, value in snippet.env.items()]
    panel = next((panel for panel in view.panels if panel.chosen), None)
    failed = panel is not None and panel.result is not None and panel.result.failure is not None
    metadata: dict[str, Any] = {"capture": snippet.id}
    if snippet.needs or failed:
        metadata["tags"] = ["raises-exception"]
    return _code_cell(f"%%alone {' '.join(words)}\n{snippet.source}", metadata, list(_card_outputs(view, panel)))


def _card_outputs(view: CardView, panel: Panel | None) -> Iterator[CellOutput]:
    """Yield the badge, the streams, and what else is said of them; or why there is no output."""
    absence = view.nowhere or (panel.absence if panel else None)
    if absence:
        yield _remark(markdown_copy.absence_line(absence))
    if panel and panel.result:
        yield from _result_outputs(panel.result)


def _result_outputs(view: ResultView) -> Iterator[CellOutput]:
    """Yield what a host printed, each stream under its own name, between what is said about it."""
    words = [markdown_copy.badge_line(view.badge) + "."]
    words += [f"{view.failure.headline}. {view.failure.hint}".strip()] if view.failure else []
    words += [f"It {view.note}."] if view.note else []
    words += [] if view.stdout else ["Nothing was printed to stdout."]
    link = f" [record]({view.record})" if view.record else ""
    yield _remark("\n\n".join(words), link)
    yield from _stream_outputs("stdout", view.stdout)
    yield from _stream_outputs("stderr", view.stderr)
    if view.elisions:
        yield _remark("\n\n".join(f"{words}." for words in view.elisions))


def _stream_outputs(name: str, stream: StreamView) -> Iterator[CellOutput]:
    """Yield a stream, in two parts where a page leaves out what is between."""
    if stream:
        yield {"name": name, "output_type": "stream", "text": _source_lines(f"{stream.indexed}{stream.rest}\n")}
    if stream.cut:
        yield _remark(f"{name}: {stream.cut}")
        yield {"name": name, "output_type": "stream", "text": _source_lines(f"{stream.tail}\n")}


def _remark(words: str, link: str = "") -> CellOutput:
    """Return an output that nobody printed: what the handbook says, with a link of ours behind it."""
    shown = "\n\n".join(escaped_markdown(part) for part in words.split("\n\n"))
    shown = re.sub(r"^captured on", "**captured on**", shown)
    return {
        "data": {"text/markdown": _source_lines(shown + link), "text/plain": _source_lines(words)},
        "metadata": {"capture": "said"},
        "output_type": "display_data",
    }


def _prose(here: PageInProgress, words: str, notes: dict[str, None]) -> str:
    """Return prose with every captured value as text, and links that lead on from the notebook."""

    def value(captured: inline_value.CapturedValue) -> str:
        notes.setdefault(f"`{captured.snippet}`: {escaped_markdown(captured.title)}")
        return escaped_markdown(captured.text)

    return markdown_copy.filled_prose(here, words, value, lambda target: _notebook_link(here.links, target))


def _notebook_link(links: Links, target: str) -> str:
    """Return a lesson's link as the notebook needs it: to a page of the site, or to its source."""
    path, mark, fragment = target.partition("#")
    if path.startswith("/") or ":" in path.split("/")[0] or links.page is None:
        return target
    own = links.page.removeprefix("docs/")
    there = posixpath.normpath(posixpath.join(posixpath.dirname(own), path)) if path else own
    if there.endswith(".md"):
        address = links.lesson(f"docs/{there}")
    else:
        address = links.view(f"docs/{there}") if links.base is None else f"{links.base}{there}"
    return f"{address}{mark}{fragment}" if address else target


def _markdown_cell(words: str) -> NotebookCell:
    """Return a Markdown cell."""
    return {
        "cell_type": "markdown",
        "metadata": {},
        "source": _source_lines("\n".join(portable_lines(words.splitlines())).strip("\n")),
    }


def _code_cell(source: str, metadata: dict[str, Any], outputs: list[CellOutput]) -> NotebookCell:
    """Return a code cell that has not run."""
    lines = _source_lines(source.rstrip("\n"))
    return {"cell_type": "code", "execution_count": None, "metadata": metadata, "outputs": outputs, "source": lines}


def _source_lines(words: str) -> list[str]:
    """Return text as notebooks keep it, a string a line, with control characters made visible."""
    return re.findall(r"[^\n]*\n|[^\n]+", printable(words))
