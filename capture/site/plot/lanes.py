"""Lanes: time runs downwards, each lane is a column, and a wait is an arrow from one lane to another.

So there is room for any number of steps at any width, and the words of a step wrap in their lane.
"""

from __future__ import annotations

from dataclasses import dataclass

from capture.site.plot.brief_text import brief
from capture.site.plot.lane_steps import LaneStep
from capture.site.plot.plot_data import Plot, Strip
from capture.site.plot.scale import percent

SIGNS = 3  # colours of signs


@dataclass(frozen=True)
class LaneRow:
    """One step: `kind` is box, wait or across. A box begins at `begin`; an arrow leads from there to `end`."""

    kind: str
    text: str = ""
    classes: str = ""
    begin: str = ""
    end: str = ""
    leftward: bool = False


@dataclass(frozen=True)
class LanePanel:
    """What happens in one case, and the lines of text below."""

    label: str
    rows: tuple[LaneRow, ...]
    results: tuple[str, ...]


@dataclass(frozen=True)
class LaneGroup:
    """Panels under a heading, which a group that is alone does not need."""

    heads: tuple[tuple[str, str], ...]
    panels: tuple[LanePanel, ...]


@dataclass(frozen=True)
class LanesPicture:
    """Places are hundredths of a panel's width: `lanes` has each lane's name and middle, `width` is that of a lane.

    `keys` say what lanes and signs mean: a class, which lanes have none of, and words.
    """

    kind: str
    lanes: tuple[tuple[str, str], ...]
    width: str
    keys: tuple[tuple[str, str], ...]
    groups: tuple[LaneGroup, ...]


def lanes_picture(plot: Plot) -> LanesPicture:
    """Return where the lanes, steps and arrows of a plot stand."""
    count = len(plot.lanes)
    keys = [("", brief(f"{name}: {meaning}")) for name, meaning in plot.lanes if meaning != name]
    keys += [(sign_class(at), brief(f"{sign} {meaning}")) for at, (sign, meaning) in enumerate(plot.marks)]
    groups = [
        LaneGroup(
            tuple((brief(left), brief(right)) for left, right in group.heads) if len(plot.groups) > 1 else (),
            tuple(lane_panel(plot, strip) for strip in group.strips),
        )
        for group in plot.groups
    ]
    names = tuple((brief(name), middle(at, count)) for at, (name, _) in enumerate(plot.lanes))
    return LanesPicture(plot.kind, names, percent(100 / count), tuple(keys), tuple(groups))


def middle(lane: int, count: int) -> str:
    """Return where the line of a lane is."""
    return percent(100 * (lane + 0.5) / count)


def sign_class(at: int) -> str:
    """Return the class of a sign."""
    return f"plot-sign-{at % SIGNS}"


def lane_panel(plot: Plot, strip: Strip) -> LanePanel:
    """Return the panel of one case."""
    rows = tuple(lane_row(plot, step) for step in strip.steps)
    return LanePanel(brief(strip.label), rows, tuple(map(brief, strip.results)))


def lane_row(plot: Plot, step: LaneStep) -> LaneRow:
    """Return one step: a box in its lane, an arrow into it, or a line across all."""
    count = len(plot.lanes)
    if step.lane is None:
        return LaneRow("across", brief(step.text))
    if step.source is not None:
        return LaneRow(
            "wait", "", "", middle(step.source, count), middle(step.lane, count), leftward=step.source > step.lane
        )
    signs = [sign_class(at) for at, (sign, _) in enumerate(plot.marks) if sign in step.marks]
    return LaneRow("box", brief(step.text), " ".join(signs), percent(100 * step.lane / count))
