"""The `capture-plot` fence: named values of every published host as a picture, and its numbers as a table."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

from capture.errors import CaptureError, Problem
from capture.site.card import absence
from capture.site.markdown import fence_positions
from capture.site.markdown.card_fence import answer
from capture.site.markdown.page_in_progress import Visit
from capture.site.model import templates
from capture.site.plot import bars_and_dots, lanes, plot_data, plot_spec, svg
from capture.site.plot.plot_data import Column, Plot
from capture.site.plot.plot_spec import CHARTS, Spec
from capture.site.table.table import Cell, Table, head

FENCE = "capture-plot"


@dataclass(frozen=True)
class Figure:
    """A plot on a page. `picture` is None where nothing can be drawn, or nobody looks."""

    uid: str
    title: str
    description: str
    sources: str
    absences: str
    table: Table
    picture: Picture | None = None


@dataclass(frozen=True)
class Picture:
    """The inside of an SVG, and its size."""

    width: float
    height: float
    inside: str


def formatter(source: str, _language: str, _class: str, _options: Any, md: Any, **_: Any) -> str:
    """Return the plot that the fence describes, or a card that says what is wrong."""
    body = fence_positions.inside(source.splitlines())

    def line_of(here: Visit) -> int:
        text = here.page.text if here.page else ""
        return next((place.line for place in fence_positions.fences(text, FENCE) if place.body == body), 0)

    return answer(md, line_of, lambda here, line: render(here, source, line), "the plot cannot be drawn")


def render(here: Visit, body: str, line: int) -> str:
    """Return the HTML of a plot; each fault of the fence is noted at its own line."""
    try:
        spec = plot_spec.read(body, here.site.catalogue)
        hosts = columns(here, spec)
        if here.draws:
            svg.require()
    except CaptureError as error:
        return refuse(here, line, error)
    here.plots += 1
    uid = f"{FENCE}-{here.plots}"
    shown = plot_data.plot(spec, hosts) if any(column.drawn for column in hosts) else None
    view = figure(here, spec, hosts, uid, picture(shown) if shown and here.draws else None)
    if not shown and (lost := unkept(here, spec)):
        here.note(line, lost, f'id="{uid}"', "missing")
    return templates.plot(view)


def columns(here: Visit, spec: Spec) -> list[Column]:
    """Return every published host; raises CaptureError where a value cannot be taken or is a number nowhere."""
    hosts = plot_data.columns(here.site, spec)
    if spec.kind in CHARTS:
        for place, item in enumerate(spec.values):
            found = [column.readings[place] for column in hosts]
            texts = [reading.text for reading in found if reading.text]
            if texts and not any(reading.drawn for reading in found):
                said = f'{item.snippet.id} {item.name} is "{texts[0]}" and a number to draw on no host'
                raise CaptureError(f"{said}; choose a value that is one")
    return hosts


def refuse(here: Visit, line: int, error: CaptureError) -> str:
    """Note every fault and return the card that shows them."""
    sign = here.sign()
    for problem in error.problems:
        inner = isinstance(problem, Problem) and not problem.path
        at = line + problem.line if line and isinstance(problem, Problem) and inner else line
        message = problem.message if isinstance(problem, Problem) and inner else str(problem)
        here.note(at, message, f'id="{sign}"')
    messages = [problem.message if isinstance(problem, Problem) else problem for problem in error.problems]
    return templates.error(messages, sign, f"{here.page.path}:{line}" if here.page and line else "")


def unkept(here: Visit, spec: Spec) -> str:
    """Say which promise of the page no record keeps, or nothing where no host here could keep it."""
    host = here.site.default_host
    for item in spec.values:
        if host and here.site.states[host, item.snippet.id].kind == "missing":
            return absence.unrecorded(item.snippet, host)
    return ""


@functools.lru_cache(maxsize=512)
def picture(plot: Plot) -> Picture:
    """Draw a plot, the same one once: while a page is edited its pictures stay."""
    width, height, parts = (lanes.lanes if plot.kind == "lanes" else bars_and_dots.chart)(plot)
    return Picture(round(width), round(height), svg.drawn(round(width), round(height), parts))


def figure(here: Visit, spec: Spec, hosts: list[Column], uid: str = "", drawing: Picture | None = None) -> Figure:
    """Return a plot on a page."""
    return Figure(
        uid, spec.title, plot_data.description(spec, hosts), plot_data.sources(hosts), plot_data.absences(hosts),
        lanes_table(spec, hosts) if spec.kind == "lanes" else chart_table(here, spec, hosts), drawing,
    )  # fmt: skip


def host_cell(here: Visit, spec: Spec, column: Column) -> Cell:
    """Return a host's name, which leads to its record where it has one."""
    ids = (item.snippet.id for item in spec.values)
    key = next((key for key in ids if (column.label, key) in here.site.catalogue.records), None)
    return Cell(column.title, here.links.record(column.label, key) if key else None)


def chart_table(here: Visit, spec: Spec, hosts: list[Column]) -> Table:
    """Return the numbers: a row a host, a column a value."""
    rows = []
    for column in hosts:
        cells = (Cell(reading.said, None, "" if reading.drawn else "missing") for reading in column.readings)
        about = (host_cell(here, spec, column), Cell(column.torch or "none"), Cell(column.captured or "never"))
        rows.append((*about, *cells))
    names = ("host", "torch", "captured", *(item.label for item in spec.values))
    return Table(spec.title, head(*names), tuple(rows), fixed=True)


def lanes_table(spec: Spec, hosts: list[Column]) -> Table:
    """Return the steps: a row for each thing that hosts say to a value."""
    rows = []
    for place, item in enumerate(spec.values):
        alike: dict[tuple[str, str], list[str]] = {}
        for column in hosts:
            pairs = zip(item.results, column.results[place], strict=True)
            results = "; ".join(f"{more.label}: {got.said}" for more, got in pairs if column.drawn)
            name = f"{column.title} (torch {column.torch})" if column.torch else column.title
            alike.setdefault((column.readings[place].said, results), []).append(name)
        for (said, results), names in alike.items():
            long = (Cell(text, None, "long") for text in (said, results, "; ".join(names)))
            rows.append((Cell(item.label), *long))
    return Table(spec.title, head("case", "steps", "result", "hosts"), tuple(rows), fixed=True)
