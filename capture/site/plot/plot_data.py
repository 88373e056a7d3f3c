"""From the records of every published host to what a plot shows: groups of rows or of lanes, a table, and the words."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from capture.errors import CaptureError, plural
from capture.host.host import LOCAL
from capture.record import claims, printed_number
from capture.site.model.output_text import joined_host_titles, joined_with_and, written_day
from capture.site.model.site import Site
from capture.site.plot import lane_steps
from capture.site.plot.lane_steps import LaneStep
from capture.site.plot.plot_spec import CHARTS, LARGEST, PlotSpec, PlottedValue

TIGHT = ("x", "×", "%")  # units that stand at their number


@dataclass(frozen=True)
class HostValue:
    """What one host says to one value. `words` say why it is not drawn, or what is to be known about it."""

    text: str = ""
    number: float | None = None
    words: tuple[str, ...] = ()
    drawn: bool = False

    @property
    def said(self) -> str:
        """The text with its words, as tables show it."""
        return (
            f"{self.text} ({', '.join(self.words)})" if self.text and self.words else self.text or "; ".join(self.words)
        )


@dataclass(frozen=True)
class PlottedHost:
    """A host: what it says to every value and to the results of each; `torch` is that of its records."""

    label: str
    title: str
    torch: str
    captured: str
    values: tuple[HostValue, ...]
    results: tuple[tuple[HostValue, ...], ...]

    @property
    def drawn(self) -> bool:
        """Whether the picture shows this host."""
        return any(value.drawn for value in self.values)


@dataclass(frozen=True)
class Bar:
    """One row of a chart: its words, its number as text, and where it ends."""

    label: str
    text: str
    number: float
    marked: bool


@dataclass(frozen=True)
class Strip:
    """One row of lanes: a name, its steps, and lines below."""

    label: str
    steps: tuple[LaneStep, ...]
    results: tuple[str, ...]


@dataclass(frozen=True)
class Group:
    """Rows under a heading; each line of it has something at the left and at the right."""

    heads: tuple[tuple[str, str], ...]
    bars: tuple[Bar, ...] = ()
    strips: tuple[Strip, ...] = ()


@dataclass(frozen=True)
class Plot:
    """All that is drawn."""

    kind: str
    groups: tuple[Group, ...]
    unit: str = ""
    log: bool = False
    baseline: float | None = None
    baseline_label: str = ""
    lanes: tuple[tuple[str, str], ...] = ()
    marks: tuple[tuple[str, str], ...] = ()


def plotted_hosts(site: Site, spec: PlotSpec) -> list[PlottedHost]:
    """Return every published host; raises CaptureError where a current record does not hold what it should."""
    hosts = []
    for label in (label for label in site.order if label != LOCAL):
        values = tuple(host_value(site, label, item, spec) for item in spec.values)
        results = tuple(
            tuple(host_value(site, label, more, spec, True) for more in item.results) for item in spec.values
        )
        ids = dict.fromkeys(item.snippet.id for item in spec.values)
        items = [record for key in ids if (record := site.catalogue.records.get((label, key)))]
        torch = " and ".join(dict.fromkeys(item.environment.torch or "none" for item in items))
        days = max((item.captured for item in items), default="")
        hosts.append(PlottedHost(label, site.titles[label], torch, written_day(days) if days else "", values, results))
    return hosts


def host_value(site: Site, label: str, item: PlottedValue, spec: PlotSpec, as_text: bool = False) -> HostValue:
    """Return what a host has for a value."""
    record, state = site.catalogue.records.get((label, item.snippet.id)), site.states[label, item.snippet.id]
    if record is None:
        return HostValue(words=state.reasons if state.kind == "gate unmet" else ("not captured",))
    if record.status != "ok":
        return HostValue(words=(f"ended with {record.status}",))
    words: tuple[str, ...] = ("stale",) if state.kind == "stale" else ()
    try:
        printed = claims.value(item.snippet, item.name, record)
        if spec.kind == "lanes" and not as_text:
            lane_steps.parse(printed.text, tuple(spec.lanes), spec.marks)
    except CaptureError as error:
        if state.kind == "stale":
            return HostValue(words=("stale", f"its output has no {item.name}"))
        raise CaptureError(*(f"{item.snippet.id} {item.name} on {label}: {said}" for said in error.problems)) from error
    words += ("busy host",) if record.conditions and record.conditions.busy else ()
    text = " ".join(printed.text.split())
    if spec.kind not in CHARTS or as_text:
        return HostValue(text, None, words, True)
    number = printed.scalar
    if spec.unit and not isinstance(number, str):
        text += spec.unit if spec.unit in TIGHT else f" {spec.unit}"
    if isinstance(number, str) or not printed_number.is_finite(number):
        return HostValue(text, None, (*words, "no number: not drawn"))
    if abs(number) > LARGEST or (spec.log and number < 1 / LARGEST):
        return HostValue(text, None, (*words, f"{'not above 0' if number <= 0 else 'off every scale'}: not drawn"))
    return HostValue(text, float(number), words, True)


def plot(spec: PlotSpec, hosts: list[PlottedHost]) -> Plot:
    """Return what is drawn. Hosts that say the same are drawn once, under all their names."""
    alike: dict[object, list[PlottedHost]] = {}
    for host in hosts:
        if host.drawn:
            alike.setdefault((host.values, host.results), []).append(host)
    if spec.kind == "lanes":
        groups = [Group(heads(same), strips=strips(spec, same[0])) for same in alike.values()]
    elif spec.by_value:
        groups = by_value(spec, list(alike.values()))
    else:
        groups = [Group(heads(same), bars=bars(spec, same[0])) for same in alike.values()]
    return Plot(
        spec.kind, tuple(groups), spec.unit, spec.log, spec.baseline, spec.baseline_label,
        tuple(spec.lanes.items()), tuple(spec.marks.items()),
    )  # fmt: skip


def heads(same: list[PlottedHost]) -> tuple[tuple[str, str], ...]:
    """Return the heading of hosts that say the same: four of them by name."""
    shown = [(host.title, f"torch {host.torch}") for host in same[:4]]
    left_out = len(same) - len(shown)
    return tuple(shown) + (((f"and {plural(left_out, 'more host')} that say the same", ""),) if left_out else ())


def bars(spec: PlotSpec, host: PlottedHost) -> tuple[Bar, ...]:
    """Return a host's rows, one for each value."""
    pairs = zip(spec.values, host.values, strict=True)
    return tuple(bar(item.label, value) for item, value in pairs if value.drawn)


def bar(label: str, value: HostValue) -> Bar:
    """Return one row; what is to be known about it stands behind its name."""
    said = f"{label} ({', '.join(value.words)})" if value.words else label
    return Bar(said, value.text, value.number or 0.0, bool(value.words))


def by_value(spec: PlotSpec, alike: list[list[PlottedHost]]) -> list[Group]:
    """Return a group for each value, with a row for each host, or for hosts that say the same."""
    groups = []
    for place, item in enumerate(spec.values):
        rows = []
        for same in alike:
            first, value = same[0], same[0].values[place]
            more = f" and {plural(len(same) - 1, 'other host')}" if len(same) > 1 else f" ({first.torch})"
            if value.drawn:
                rows.append(bar(f"{first.title}{more}", value))
        if rows:
            groups.append(Group(((item.label, ""),), bars=tuple(rows)))
    return groups


def strips(spec: PlotSpec, host: PlottedHost) -> tuple[Strip, ...]:
    """Return a host's rows of lanes."""
    drawn = []
    for item, value, results in zip(spec.values, host.values, host.results, strict=True):
        if value.drawn:
            said = f"{item.label} ({', '.join(value.words)})" if value.words else item.label
            lines = (f"{more.label}: {result.said}" for more, result in zip(item.results, results, strict=True))
            drawn.append(Strip(said, lane_steps.parse(value.text, tuple(spec.lanes), spec.marks), tuple(lines)))
    return tuple(drawn)


def sources(hosts: Iterable[PlottedHost]) -> str:
    """Say from which hosts and builds a plot is drawn."""
    drawn = [host for host in hosts if host.drawn]
    days = {host.captured for host in drawn}
    each = [f"{item.title} (torch {item.torch}{f', {item.captured}' if len(days) > 1 else ''})" for item in drawn]
    shown = [*each[:6], *([f"{len(each) - 6} more, in the table"] if len(each) > 6 else [])]
    when = f"of {days.pop()}: " if len(days) == 1 else "of "
    return f"Drawn from the records {when}{'; '.join(shown)}." if drawn else "No host has captured this yet."


def absences(hosts: Iterable[PlottedHost]) -> str:
    """Say which hosts a plot does not show, and why; nothing where it shows all."""
    missing: dict[str, list[str]] = {}
    for host in hosts:
        if not host.drawn:
            words = joined_with_and(dict.fromkeys(word for value in host.values for word in value.words))
            missing.setdefault(words, []).append(host.title)
    return " ".join(f"Not drawn: {joined_host_titles(titles)} ({words})." for words, titles in missing.items())


def description(spec: PlotSpec, hosts: list[PlottedHost]) -> str:
    """Say what is seen, for those who do not see it."""
    count = plural(sum(host.drawn for host in hosts), "host")
    if spec.kind == "lanes":
        names = joined_with_and(spec.lanes.values())
        return f"Lanes for {names}, in {plural(len(spec.values), 'case')}; each step in the order it happens. {count}."
    numbers = [
        (value.number, f"{value.text}, {item.label}, on {host.title}")
        for host in hosts
        for item, value in zip(spec.values, host.values, strict=True)
        if value.number is not None
    ]
    if not numbers:
        return "Nothing is drawn."
    start = "" if spec.baseline is None else f" from {spec.baseline:g}"
    start += f", which is {spec.baseline_label}" if spec.baseline_label else ""
    head = f"{spec.kind.capitalize()} on a {'logarithmic' if spec.log else 'linear'} scale{start}; {count}."
    return f"{head} Lowest: {min(numbers)[1]}. Highest: {max(numbers)[1]}."
