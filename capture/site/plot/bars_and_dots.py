"""Bars and dots: each row has its name and its number above its mark, so that nothing collides on a telephone."""

from __future__ import annotations

from collections.abc import Callable
from math import ceil, floor, log10
from typing import Any

from capture.site.plot.plot_data import TIGHT, Bar, Group, Plot
from capture.site.plot.svg import EDGE, ROW, WIDTH, Part, box, cut, dot, line, ruling, wide, words

COLOURS = 6
INSET = 8.0  # of the scale, so that a dot at its end is whole
STEP = 33.0
TEXT = 17.0  # of a row, above its mark
LONGEST = 4  # letters of a unit that has room at the scale
FEW_DECADES = 1.2  # below that a log scale has lines at 2 and 5 too


def chart(plot: Plot) -> tuple[float, float, list[Part]]:
    """Return the size and the parts."""
    place, numbers = scale(plot)
    begin = place(plot.baseline if plot.baseline is not None else 0.0) if not plot.log or plot.baseline else EDGE
    rows: list[Part] = []
    spans: list[tuple[float, float]] = []
    y = 2.0
    for group in plot.groups:
        y, parts = head(group, y)
        rows += parts
        for bar in group.bars:
            rows += row(plot, bar, y, begin, place(bar.number))
            spans.append((y + TEXT, y + STEP))
            y += STEP
        y += 10
    spans[-1] = (spans[-1][0], y)
    axis: list[Part] = []
    for number in numbers:
        x, said = place(number), f"{number:g}{unit(plot, number == numbers[-1])}"
        axis += [ruling(x, spans, "grid"), words(x, y + 13, said, "soft", anchor(x, wide(said) / 2))]
    y += 18
    if plot.baseline is not None:
        said = f"{plot.baseline:g}: {plot.baseline_label}" if plot.baseline_label else f"from {plot.baseline:g}"
        axis.append(ruling(begin, spans, "base"))
        axis.append(words(begin, y + 12, cut(said, WIDTH - 2 * EDGE), "base-text", anchor(begin, wide(said) / 2)))
        y += ROW
    return WIDTH, y, [*axis, *rows]


def unit(plot: Plot, last: bool) -> str:
    """Return the unit behind a number of the scale: a short one behind each, a longer one behind the last."""
    if not plot.unit or plot.unit in TIGHT:
        return plot.unit
    return f" {plot.unit}" if len(plot.unit) == 1 or (last and len(plot.unit) <= LONGEST) else ""


def anchor(x: float, half: float) -> str:
    """Return where a text has to be held so that it stays inside."""
    return "start" if x < half else "end" if x > WIDTH - half else "middle"


def head(group: Group, y: float) -> tuple[float, list[Part]]:
    """Return where a heading ends, and its parts."""
    parts: list[Part] = []
    for left, right in group.heads:
        right = cut(right, WIDTH * 0.5)
        room = WIDTH - 3 * EDGE - (wide(right) if right else 0)
        parts += [words(EDGE, y + 13, cut(left, room), "head"), words(WIDTH - EDGE, y + 13, right, "soft", "end")]
        y += ROW
    return y + 3, parts


def scale(plot: Plot) -> tuple[Callable[[float], float], list[float]]:
    """Return a function from numbers to places, and the numbers at which the scale has its lines."""
    from matplotlib import ticker

    numbers = [bar.number for group in plot.groups for bar in group.bars]
    if plot.baseline is not None or not plot.log:
        numbers.append(plot.baseline if plot.baseline is not None else 0.0)
    low, high = min(numbers), max(numbers)
    room = WIDTH - 2 * INSET
    if plot.log:
        few = log10(high / low) < FEW_DECADES
        if few:
            low, high = low / 1.25, high * 1.25
        else:
            low, high = min(low, 10.0 ** floor(log10(low) + 0.3)), max(high, 10.0 ** ceil(log10(high) - 0.3))
        begin, span = log10(low), log10(high / low)
        locator: Any = ticker.LogLocator(subs=(1.0, 2.0, 5.0) if few else (1.0,), numticks=7)
        return lambda number: INSET + (log10(number) - begin) / span * room, ticks(locator, low, high)
    high = high if high > low else low + 1
    locator = ticker.MaxNLocator(nbins=4, steps=[1, 2, 2.5, 5, 10])
    return lambda number: INSET + (number - low) / (high - low) * room, ticks(locator, low, high)


def ticks(locator: Any, low: float, high: float) -> list[float]:
    """Return the places of a scale's lines that are inside of it."""
    slack = (high - low) * 1e-9
    return [float(tick) for tick in locator.tick_values(low, high) if low - slack <= tick <= high + slack]


def row(plot: Plot, bar: Bar, y: float, begin: float, end: float) -> list[Part]:
    """Return one row."""
    name = f"mark plot-mark-{bar.place % COLOURS}{' plot-marked' if bar.marked else ''}"
    number = cut(bar.text, WIDTH / 2)
    parts = [
        words(EDGE, y + 13, cut(bar.label, WIDTH - 4 * EDGE - wide(number))),
        words(WIDTH - EDGE, y + 13, number, "number", "end"),
    ]
    if plot.kind == "dots":
        return [*parts, line((INSET, y + 23), (WIDTH - INSET, y + 23), "track"), dot(end, y + 23, name)]
    width = max(abs(end - begin), 1.5)
    return [*parts, box(begin if end >= begin else begin - width, y + 18, width, 9, name)]
