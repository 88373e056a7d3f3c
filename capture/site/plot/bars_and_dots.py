"""Bars and dots: a panel for each group, in which a row has its words above its mark."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from capture.site.plot.brief_text import brief
from capture.site.plot.plot_data import TIGHT, Bar, Plot
from capture.site.plot.scale import Scale, percent, scale_of

INSETS = {"bars": 0.5, "dots": 2.5}  # hundredths of the width, so that lines and dots at an end are whole
THINNEST = 0.5  # hundredths of the width: a bar of nothing can be seen
LONGEST_UNIT = 4  # letters of a unit that has room at the scale
EDGE = 8.0  # hundredths of the width, beside which the words of a line have no room on both of its sides
BEYOND = 3.5  # how far words may reach beyond their line towards an edge


@dataclass(frozen=True)
class ChartRow:
    """The words of a row, and its mark: the classes, where it begins and how wide it is, or where a dot is."""

    label: str
    text: str
    classes: str
    begin: str
    width: str


@dataclass(frozen=True)
class ChartPanel:
    """Rows under a heading, each line of which has something at the left and at the right."""

    heads: tuple[tuple[str, str], ...]
    rows: tuple[ChartRow, ...]


@dataclass(frozen=True)
class ScaleLine:
    """Where a line of the scale is, its words, the box that is theirs alone, and how they stand in it."""

    place: str
    text: str
    begin: str
    width: str
    align: str


@dataclass(frozen=True)
class Chart:
    """Places are hundredths of a panel's width. `keys` explain the base line and the colours: a class, and words."""

    kind: str
    panels: tuple[ChartPanel, ...]
    lines: tuple[ScaleLine, ...]
    base: str
    keys: tuple[tuple[str, str], ...]


def chart(plot: Plot) -> Chart:
    """Return where the marks and words of bars or dots stand."""
    numbers = [bar.number for group in plot.groups for bar in group.bars]
    if plot.baseline is not None or not plot.log:
        numbers.append(plot.baseline or 0.0)
    scale = scale_of(numbers, plot.log, INSETS[plot.kind])
    panels = tuple(
        ChartPanel(
            tuple((brief(left), brief(right)) for left, right in group.heads),
            tuple(chart_row(plot, bar, scale) for bar in group.bars),
        )
        for group in plot.groups
    )
    base = "" if plot.baseline is None else percent(scale.place(plot.baseline))
    return Chart(plot.kind, panels, scale_lines(plot, scale), base, keys(plot))


def chart_row(plot: Plot, bar: Bar, scale: Scale) -> ChartRow:
    """Return one row: a bar from the base line, or from zero, to its number, or a dot at its number."""
    classes = f"plot-mark{f' plot-{side(plot, bar)}' if side(plot, bar) else ''}{' plot-marked' if bar.marked else ''}"
    place = scale.place(bar.number)
    label, text = brief(bar.label), brief(bar.text)
    if plot.kind == "dots":
        return ChartRow(label, text, classes, percent(place), "")
    base = scale.place(plot.baseline or 0.0)
    width = max(abs(place - base), THINNEST)
    return ChartRow(label, text, classes, percent(base if place >= base else base - width), percent(width))


def side(plot: Plot, bar: Bar) -> str:
    """Return on which side of a base line a number is; nothing where the plot has no such line."""
    return "" if plot.baseline is None else "below" if bar.number < plot.baseline else "above"


def keys(plot: Plot) -> tuple[tuple[str, str], ...]:
    """Return what the base line means, and, where marks have both colours, what each of them means."""
    if plot.baseline is None:
        return ()
    number = f"{plot.baseline:g}"
    line = ("plot-base", brief(f"{number}: {plot.baseline_label}" if plot.baseline_label else f"from {number}"))
    sides = {side(plot, bar) for group in plot.groups for bar in group.bars}
    both = [(f"plot-{name}", f"{name} {number}") for name in ("below", "above")] if len(sides) > 1 else []
    return (line, *both)


def scale_lines(plot: Plot, scale: Scale) -> tuple[ScaleLine, ...]:
    """Return the lines of a scale. The words of each have room up to halfway to the next line, and wrap in it."""
    places = [scale.place(number) for number in scale.ticks]
    nearest = [min(gaps) for gaps in gaps_of(places)]
    lines = []
    for number, place, gap in zip(scale.ticks, places, nearest, strict=True):
        begin, end, align = place - gap / 2, place + gap / 2, "middle"
        if place < EDGE:
            begin, align = max(0.0, place - BEYOND), "start"
        elif place > 100 - EDGE:
            end, align = min(100.0, place + BEYOND), "end"
        else:
            half = min(gap / 2, place, 100 - place)
            begin, end = place - half, place + half
        text = f"{number:g}{unit(plot, number == scale.ticks[-1])}"
        lines.append(ScaleLine(percent(place), text, percent(begin), percent(end - begin), align))
    return tuple(lines)


def gaps_of(places: Sequence[float]) -> list[list[float]]:
    """Return how far each place is from those beside it; from an end where it is alone."""
    between = [after - before for before, after in pairwise(places)]
    return [[*between[max(at - 1, 0) : at + 1]] or [100.0] for at in range(len(places))]


def unit(plot: Plot, last: bool) -> str:
    """Return the unit behind a number of the scale: a short one behind each, a longer one behind the last."""
    if not plot.unit or plot.unit in TIGHT:
        return plot.unit
    return f" {plot.unit}" if len(plot.unit) == 1 or (last and len(plot.unit) <= LONGEST_UNIT) else ""
