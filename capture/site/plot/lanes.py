"""Lanes: what happens in each, from left to right in the order of the steps, with arrows for waits."""

from __future__ import annotations

from capture.site.plot.bars_and_dots import head
from capture.site.plot.lane_steps import Step
from capture.site.plot.plot_data import Plot, Strip
from capture.site.plot.svg import EDGE, ROW, WIDTH, Part, arrow, box, broken, cut, line, wide, words

LANE = 32.0
GAP, MARGIN = 5.0, 5.0
LONGEST = 120.0  # of the name of an operation


def lanes(plot: Plot) -> tuple[float, float, list[Part]]:
    """Return the size and the parts."""
    begin = EDGE + max(wide(cut(name, LONGEST)) for name, _ in plot.lanes) + 8
    strips = [strip for group in plot.groups for strip in group.strips]
    width = max(WIDTH, *(begin + sum(room(step) + GAP for step in strip.steps) + EDGE for strip in strips))
    y, parts = legend(plot, width)
    for group in plot.groups:
        if len(plot.groups) > 1:
            y, heading = head(group, y)
            parts += heading
        for strip in group.strips:
            y, drawn = rows(plot, strip, y, begin, width)
            parts += drawn
    return width, y, parts


def legend(plot: Plot, width: float) -> tuple[float, list[Part]]:
    """Return where the legend ends, and its lines."""
    entries = [f"{name}: {said}" for name, said in plot.lanes if said != name]
    entries += [f"{sign} {said}" for sign, said in plot.marks]
    y, parts = 0.0, []
    for entry in entries:
        for text in broken(entry, width - 2 * EDGE):
            parts.append(words(EDGE, y + 13, text, "soft"))
            y += ROW
    return y + (6 if entries else 0), parts


def room(step: Step) -> float:
    """Return how much of the width a step takes."""
    if step.source is not None:
        return 12.0
    return wide(cut(step.text, LONGEST)) + (2 if step.lane is None else 2 * MARGIN)


def rows(plot: Plot, strip: Strip, y: float, begin: float, width: float) -> tuple[float, list[Part]]:
    """Return where one row of lanes ends, and its parts."""
    back: list[Part] = []
    front: list[Part] = []
    for text in broken(strip.label, width - 2 * EDGE):
        front.append(words(EDGE, y + 13, text, "head"))
        y += ROW
    across = any(step.lane is None for step in strip.steps)
    top = y + (ROW - 2 if across else 2)
    heights = [top + LANE / 2 + LANE * number for number in range(len(plot.lanes))]
    end = top + LANE * len(plot.lanes)
    for (name, _), height in zip(plot.lanes, heights, strict=True):
        back.append(line((begin - 4, height), (width - EDGE, height), "lane"))
        front.append(words(EDGE, height + 4, cut(name, LONGEST), "soft"))
    x = begin
    for step in strip.steps:
        takes = room(step)
        middle, text = x + takes / 2, cut(step.text, LONGEST)
        if step.source is not None and step.lane is not None:
            front.append(arrow(middle, heights[step.source], heights[step.lane]))
        elif step.lane is None:
            back.append(line((middle, top), (middle, end), "across"))
            front.append(words(middle, top - 3, text, "across-text", "middle"))
        else:
            height = heights[step.lane]
            marked = "".join(f" plot-sign-{at}" for at, (sign, _) in enumerate(plot.marks) if sign in step.marks)
            front.append(box(x, height - 11, takes, 22, f"step{marked}"))
            front.append(words(middle, height + 4, text, "step-text", "middle"))
        x += takes + GAP
    y = end + 2
    for result in strip.results:
        for text in broken(result, width - 2 * EDGE):
            front.append(words(EDGE, y + 12, text))
            y += ROW
    return y + 12, [*back, *front]
