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
from capture.site.markdown import fence_positions, inline_value, page_check, typed_figures
from capture.site.markdown.page_in_progress import Visit
from capture.site.model import request
from capture.site.model.card_view import Card, Panel, Result
from capture.site.model.links import Links
from capture.site.model.output_text import Stream, printable
from capture.site.notebook.portable_markdown import marked, unfolded
from capture.site.page import markdown_copy, moved_addresses

SET_UP = Path(__file__).parents[1] / "templates" / "alone.py.txt"
Cell = dict[str, Any]
Output = dict[str, Any]


@dataclass(frozen=True)
class Place:
    """Where the notebook of a lesson is: the page that shows it, and the file to keep, below the site's root."""

    page: str
    file: str


def place(lesson: str) -> Place:
    """Return where the notebook of `chapter/name.md` is."""
    folder = f"{moved_addresses.address(lesson)}notebook/".lstrip("/")
    name = lesson.removesuffix(".md").removesuffix("/index").replace("/", "-")
    return Place(f"{folder.rstrip('/')}.md", f"{folder}{name}.ipynb")


def text(here: Visit) -> str:
    """Return the notebook of a lesson as its file's text.

    Links lead where the visit's page has its root: into the site, or into the repository where that is unknown.
    """
    cells = list(ordered(here))
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


def ordered(here: Visit) -> Iterator[Cell]:
    """Yield the cells: what this is, what every cell needs, the lesson, and what its figures were got on."""
    notes: dict[str, None] = {}
    cells = list(lesson(here, notes)) or [markdown("")]
    first = "".join(cells[0]["source"])
    head, _, rest = first.partition("\n") if first.startswith("# ") else ("# A lesson", "", first)
    keys = [cell["metadata"]["capture"] for cell in cells if "capture" in cell["metadata"]]
    needs = sorted({name for key in keys for name in here.site.catalogue.snippets[key].packages})
    yield markdown(introduction(here, head, needs))
    yield code(SET_UP.read_text("utf-8"), {}, [])
    yield from [markdown(rest), *cells[1:]]
    if notes:
        lines = "\n".join(f"- {note}" for note in notes)
        yield markdown(f"## What the figures in the text were captured on\n\n{lines}")


def introduction(here: Visit, title: str, needs: Iterable[str]) -> str:
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


def lesson(here: Visit, notes: dict[str, None]) -> Iterator[Cell]:
    """Yield the cells of the lesson itself; `notes` gains a line for each origin of a figure in a sentence."""
    body = page_check.without_front_matter(here.page.text if here.page else "")
    lines = typed_figures.OPT_OUT.sub("", body).splitlines()
    parts: list[str] = []
    at = 0
    for start, end, info in fence_positions.blocks(lines):
        if end is None:
            continue
        parts.append(sentences(here, "\n".join(lines[at:start]), notes))
        at = end + 1
        view = runnable(here, lines[start:at], info)
        if view is None:
            parts.append(markdown_copy.block(here, lines[start:at], info, marked))
            continue
        yield markdown("\n".join([*parts, heading(here, view)]))
        parts = []
        yield snippet(here, view)
    parts.append(sentences(here, "\n".join(lines[at:]), notes))
    if "".join(parts).strip():
        yield markdown("\n".join(parts))


def runnable(here: Visit, lines: list[str], info: str) -> Card | None:
    """Return the card of a fence that becomes a code cell.

    Others stay text: a card in a list or a folded block, one that shows a part, and one whose snippet is not one file.
    """
    name, options = fence_positions.header(info)
    if name != fence_positions.NAME or lines[0][:1].isspace() or lines[0].startswith(">"):
        return None
    try:
        asked = request.fence(fence_positions.inside(lines[1:-1]), options, here.site.catalogue)
    except CaptureError:
        return None
    if asked.show != "both" or asked.snippet.files or asked.snippet.imports:
        return None
    return card.card(here.site, asked, here.links, here.uid(asked.snippet))


def heading(here: Visit, view: Card) -> str:
    """Return the line that stands above a code cell."""
    script = here.links.script(here.site.catalogue.snippets[view.snippet])
    path = f"[`{view.path}`]({script})" if script else f"`{view.path}`"
    return f"\n**{marked(view.title)}** · {path}{f' · needs {view.needs}' if view.needs else ''}"


def snippet(here: Visit, view: Card) -> Cell:
    """Return the code cell of a card, with what the chosen host printed."""
    found = here.site.catalogue.snippets[view.snippet]
    words = [found.id, *([f"--exit={found.exit}"] if found.exit else [])]
    words += [shlex.quote(f"{name}={value}") for name, value in found.env.items()]
    panel = next((panel for panel in view.panels if panel.chosen), None)
    failed = panel is not None and panel.result is not None and panel.result.failure is not None
    metadata: dict[str, Any] = {"capture": found.id}
    if found.needs or failed:
        metadata["tags"] = ["raises-exception"]
    return code(f"%%alone {' '.join(words)}\n{found.source}", metadata, list(outputs(view, panel)))


def outputs(view: Card, panel: Panel | None) -> Iterator[Output]:
    """Yield the badge, the streams, and what else is said of them; or why there is no output."""
    absence = view.nowhere or (panel.absence if panel else None)
    if absence:
        yield said(markdown_copy.absent(absence))
    if panel and panel.result:
        yield from printed(panel.result)


def printed(view: Result) -> Iterator[Output]:
    """Yield what a host printed, each stream under its own name, between what is said about it."""
    words = [markdown_copy.badge(view.badge) + "."]
    words += [f"{view.failure.headline}. {view.failure.hint}".strip()] if view.failure else []
    words += [f"It {view.note}."] if view.note else []
    words += [] if view.stdout else ["Nothing was printed to stdout."]
    link = f" [record]({view.record})" if view.record else ""
    yield said("\n\n".join(words), link)
    yield from streamed("stdout", view.stdout)
    yield from streamed("stderr", view.stderr)
    if view.elisions:
        yield said("\n\n".join(f"{words}." for words in view.elisions))


def streamed(name: str, stream: Stream) -> Iterator[Output]:
    """Yield a stream, in two parts where a page leaves out what is between."""
    if stream:
        yield {"name": name, "output_type": "stream", "text": rows(f"{stream.indexed}{stream.rest}\n")}
    if stream.cut:
        yield said(f"{name}: {stream.cut}")
        yield {"name": name, "output_type": "stream", "text": rows(f"{stream.tail}\n")}


def said(words: str, link: str = "") -> Output:
    """Return an output that nobody printed: what the handbook says, with a link of ours behind it."""
    shown = "\n\n".join(marked(part) for part in words.split("\n\n"))
    shown = re.sub(r"^captured on", "**captured on**", shown)
    return {
        "data": {"text/markdown": rows(shown + link), "text/plain": rows(words)},
        "metadata": {"capture": "said"},
        "output_type": "display_data",
    }


def sentences(here: Visit, words: str, notes: dict[str, None]) -> str:
    """Return prose with every captured value as text, and links that lead on from the notebook."""

    def value(found: inline_value.Found) -> str:
        notes.setdefault(f"`{found.snippet}`: {marked(found.title)}")
        return marked(found.text)

    return markdown_copy.filled(here, words, value, lambda target: lead(here.links, target))


def lead(links: Links, target: str) -> str:
    """Return a lesson's link as the notebook needs it: to a page of the site, or to its source."""
    path, mark, fragment = target.partition("#")
    if path.startswith("/") or ":" in path.split("/")[0] or links.page is None:
        return target
    own = links.page.removeprefix("docs/")
    there = posixpath.normpath(posixpath.join(posixpath.dirname(own), path)) if path else own
    if there.endswith(".md"):
        found = links.lesson(f"docs/{there}")
    else:
        found = links.view(f"docs/{there}") if links.base is None else f"{links.base}{there}"
    return f"{found}{mark}{fragment}" if found else target


def markdown(words: str) -> Cell:
    """Return a Markdown cell."""
    return {
        "cell_type": "markdown",
        "metadata": {},
        "source": rows("\n".join(unfolded(words.splitlines())).strip("\n")),
    }


def code(source: str, metadata: dict[str, Any], found: list[Output]) -> Cell:
    """Return a code cell that has not run."""
    lines = rows(source.rstrip("\n"))
    return {"cell_type": "code", "execution_count": None, "metadata": metadata, "outputs": found, "source": lines}


def rows(words: str) -> list[str]:
    """Return text as notebooks keep it, a string a line, with control characters made visible."""
    return re.findall(r"[^\n]*\n|[^\n]+", printable(words))
