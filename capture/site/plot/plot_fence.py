"""The `capture-plot` fence: named values of every published host as a picture, and its numbers as a table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from capture.errors import CaptureError, Problem
from capture.site.card import absence
from capture.site.markdown import fence_positions
from capture.site.markdown.card_fence import fence_html
from capture.site.markdown.page_in_progress import PageInProgress
from capture.site.model import templates
from capture.site.plot import plot_data, plot_spec
from capture.site.plot.bars_and_dots import Chart, chart
from capture.site.plot.lanes import LanesPicture, lanes_picture
from capture.site.plot.plot_data import PlottedHost
from capture.site.plot.plot_spec import CHARTS, PlotSpec
from capture.site.table.table import Table, TableCell, table_head

FENCE = "capture-plot"
Picture = Chart | LanesPicture


@dataclass(frozen=True)
class Figure:
    """A plot on a page. `picture` is None where nothing can be drawn."""

    uid: str
    title: str
    description: str
    sources: str
    absences: str
    table: Table
    picture: Picture | None = None


def formatter(source: str, _language: str, _class: str, _options: Any, md: Any, **_: Any) -> str:
    """Return the plot that the fence describes, or a card that says what is wrong."""
    body = fence_positions.fence_body(source.splitlines())

    def line_of(here: PageInProgress) -> int:
        text = here.page.text if here.page else ""
        return next((place.line for place in fence_positions.fences(text, FENCE) if place.body == body), 0)

    return fence_html(md, line_of, lambda here, line: render(here, source, line), "the plot cannot be drawn")


def render(here: PageInProgress, body: str, line: int) -> str:
    """Return the HTML of a plot; each fault of the fence is noted at its own line."""
    try:
        spec = plot_spec.parse_spec(body, here.site.catalogue)
        hosts = checked_hosts(here, spec)
    except CaptureError as error:
        return refuse(here, line, error)
    here.plots += 1
    uid = f"{FENCE}-{here.plots}"
    shown = plot_data.plot(spec, hosts) if any(host.drawn for host in hosts) else None
    picture = (lanes_picture if shown.kind == "lanes" else chart)(shown) if shown else None
    view = figure(here, spec, hosts, uid, picture)
    if not shown and (lost := unkept(here, spec)):
        here.note(line, lost, f'id="{uid}"', "missing")
    return templates.plot(view)


def checked_hosts(here: PageInProgress, spec: PlotSpec) -> list[PlottedHost]:
    """Return every published host; raises CaptureError where a value cannot be taken or is a number nowhere."""
    hosts = plot_data.plotted_hosts(here.site, spec)
    if spec.kind in CHARTS:
        for place, item in enumerate(spec.values):
            values = [host.values[place] for host in hosts]
            texts = [value.text for value in values if value.text]
            if texts and not any(value.drawn for value in values):
                said = f'{item.snippet.id} {item.name} is "{texts[0]}" and a number to draw on no host'
                raise CaptureError(f"{said}; choose a value that is one")
    return hosts


def refuse(here: PageInProgress, line: int, error: CaptureError) -> str:
    """Note every fault and return the card that shows them."""
    sign = here.sign()
    for problem in error.problems:
        inner = isinstance(problem, Problem) and not problem.path
        at = line + problem.line if line and isinstance(problem, Problem) and inner else line
        message = problem.message if isinstance(problem, Problem) and inner else str(problem)
        here.note(at, message, f'id="{sign}"')
    messages = [problem.message if isinstance(problem, Problem) else problem for problem in error.problems]
    return templates.error(messages, sign, f"{here.page.path}:{line}" if here.page and line else "")


def unkept(here: PageInProgress, spec: PlotSpec) -> str:
    """Say which promise of the page no record keeps, or nothing where no host here could keep it."""
    host = here.site.default_host
    for item in spec.values:
        if host and here.site.states[host, item.snippet.id].kind == "missing":
            return absence.unrecorded(item.snippet, host)
    return ""


def figure(
    here: PageInProgress, spec: PlotSpec, hosts: list[PlottedHost], uid: str = "", picture: Picture | None = None
) -> Figure:
    """Return a plot on a page."""
    return Figure(
        uid, spec.title, plot_data.description(spec, hosts), plot_data.sources(hosts), plot_data.absences(hosts),
        lanes_table(spec, hosts) if spec.kind == "lanes" else chart_table(here, spec, hosts), picture,
    )  # fmt: skip


def host_cell(here: PageInProgress, spec: PlotSpec, host: PlottedHost) -> TableCell:
    """Return a host's name, which leads to its record where it has one."""
    ids = (item.snippet.id for item in spec.values)
    key = next((key for key in ids if (host.label, key) in here.site.catalogue.records), None)
    return TableCell(host.title, here.links.record(host.label, key) if key else None)


def chart_table(here: PageInProgress, spec: PlotSpec, hosts: list[PlottedHost]) -> Table:
    """Return the numbers: a row for each host, a column for each value."""
    rows = []
    for host in hosts:
        cells = (TableCell(value.said, None, "" if value.drawn else "missing") for value in host.values)
        about = (host_cell(here, spec, host), TableCell(host.torch or "none"), TableCell(host.captured or "never"))
        rows.append((*about, *cells))
    names = ("host", "torch", "captured", *(item.label for item in spec.values))
    return Table(spec.title, table_head(*names), tuple(rows), fixed=True)


def lanes_table(spec: PlotSpec, hosts: list[PlottedHost]) -> Table:
    """Return the steps: a row for each thing that hosts say to a value."""
    rows = []
    for place, item in enumerate(spec.values):
        alike: dict[tuple[str, str], list[str]] = {}
        for host in hosts:
            pairs = zip(item.results, host.results[place], strict=True)
            results = "; ".join(f"{more.label}: {got.said}" for more, got in pairs if host.drawn)
            name = f"{host.title} (torch {host.torch})" if host.torch else host.title
            alike.setdefault((host.values[place].said, results), []).append(name)
        for (said, results), names in alike.items():
            long = (TableCell(text, None, "long") for text in (said, results, "; ".join(names)))
            rows.append((TableCell(item.label), *long))
    return Table(spec.title, table_head("case", "steps", "result", "hosts"), tuple(rows), fixed=True)
