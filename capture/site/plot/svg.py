"""Shapes and texts as the inside of an SVG: real text, and classes whose colours are the style sheet's affair.

Matplotlib draws; of its SVG only shapes and texts are kept, each with the class that its artist was given. So a picture
has no colour, font or id of its own, and the same parts are the same bytes on every machine.
"""

from __future__ import annotations

import io
import itertools
import re
import unicodedata
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

from capture.errors import CaptureError
from capture.site.model.output_text import printable

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Part = Callable[["Axes"], Any]
WIDTH = 330.0  # as wide as the column of a telephone, so that text there has its full size
EDGE = 4.0
ROW = 17.0
LETTER = 6.7  # of a text of 12 units, wider than most fonts have it
PREFIX = "plot "
SVG = "{http://www.w3.org/2000/svg}"
LINK = "{http://www.w3.org/1999/xlink}href"
NUMBER = re.compile(r"-?\d+\.\d+")


def require() -> None:
    """Raise CaptureError that says what to install where Matplotlib is not there."""
    try:
        import matplotlib.backends.backend_svg  # noqa: F401
    except ImportError as error:
        raise CaptureError(
            f"a plot is drawn with Matplotlib, which cannot be imported ({error}); "
            'install it with: pip install -e ".[site]"'
        ) from error


def drawn(width: float, height: float, parts: Iterable[Part]) -> str:
    """Return what stands between the tags of an SVG of this size."""
    import matplotlib
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    # What a user has set for plots of his own changes nothing here.
    own: dict[Any, Any] = {name: value for name, value in matplotlib.rcParamsDefault.items() if name != "backend"}
    own |= {"svg.fonttype": "none", "text.parse_math": False, "path.simplify": False, "svg.hashsalt": "plot"}
    out = io.StringIO()
    with matplotlib.rc_context(own), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about glyphs that Matplotlib's font lacks; the reader's font draws them
        figure = Figure(figsize=(width / 72, height / 72), dpi=72)
        FigureCanvasSVG(figure)
        axes = figure.add_axes((0, 0, 1, 1))
        axes.set_axis_off()
        axes.set_xlim(0, width)
        axes.set_ylim(height, 0)
        axes.set_autoscale_on(False)
        for part in parts:
            known = set(axes.get_children())
            part(axes)
            for artist in set(axes.get_children()) - known:
                artist.set_zorder(len(known))  # by itself Matplotlib puts every line above every shape
        figure.savefig(out, format="svg", metadata={"Date": None})
    return printable("".join(kept(ElementTree.fromstring(out.getvalue()))))


def kept(root: ElementTree.Element) -> Iterator[str]:
    """Yield each shape and text that has a class of ours."""
    shapes = {f"#{path.get('id')}": path.get("d", "") for path in root.iter(f"{SVG}path") if path.get("id")}
    for group in root.iter(f"{SVG}g"):
        if not group.get("id", "").startswith(PREFIX):
            continue
        name = group.get("id", "").replace(PREFIX, "plot-", 1)
        for item in group.iter():
            if item.tag == f"{SVG}path" and not item.get("id"):
                yield element("path", {"class": name, "d": compact(item.get("d", ""))})
            elif item.tag == f"{SVG}use":
                place = f"translate({compact(item.get('x', '0'))} {compact(item.get('y', '0'))})"
                yield element("path", {"class": name, "d": compact(shapes[item.get(LINK, "")]), "transform": place})
            elif item.tag == f"{SVG}text":
                at = {axis: compact(item.get(axis, "0")) for axis in ("x", "y")}
                yield element("text", {"class": name} | at, item.text or "")


def element(tag: str, facts: dict[str, str], text: str = "") -> str:
    """Return one element as HTML has it."""
    made = ElementTree.Element(tag, facts)
    made.text = text
    return ElementTree.tostring(made, encoding="unicode", short_empty_elements=False)


def compact(numbers: str) -> str:
    """Return a path or a number on one line, with one decimal at most."""
    found = NUMBER.sub(lambda match: f"{float(match[0]):.1f}".removesuffix(".0"), numbers)
    return " ".join(found.split())


def words(x: float, y: float, text: str, name: str = "text", anchor: str = "start") -> Part:
    """Return a text with its base line at y, that starts, has its middle or ends at x."""
    return lambda axes: axes.text(x, y, clean(text), gid=f"{PREFIX}{name} plot-{anchor}", clip_on=False)


def box(x: float, y: float, width: float, height: float, name: str) -> Part:
    """Return a rectangle."""

    def add(axes: Axes) -> None:
        from matplotlib.patches import Rectangle

        axes.add_patch(Rectangle((x, y), width, height, gid=f"{PREFIX}{name}", clip_on=False))

    return add


def line(start: tuple[float, float], end: tuple[float, float], name: str) -> Part:
    """Return a line between two points."""
    return lambda axes: axes.plot((start[0], end[0]), (start[1], end[1]), gid=f"{PREFIX}{name}", clip_on=False)


def ruling(x: float, spans: Sequence[tuple[float, float]], name: str) -> Part:
    """Return a vertical line in pieces, so that none of it runs through the texts between them."""
    heights = [height for span in spans for height in (*span, float("nan"))]
    return lambda axes: axes.plot([x] * len(heights), heights, gid=f"{PREFIX}{name}", clip_on=False)


def dot(x: float, y: float, name: str) -> Part:
    """Return a dot."""
    return lambda axes: axes.plot(
        [x], [y], marker="o", markersize=9, linestyle="none", gid=f"{PREFIX}{name}", clip_on=False
    )


def arrow(x: float, start: float, end: float) -> Part:
    """Return a vertical arrow: a shaft and a head."""

    def add(axes: Axes) -> None:
        from matplotlib.patches import Polygon

        back = 7 if end > start else -7
        line((x, start), (x, end - back), "wait")(axes)
        points = ((x - 4, end - back), (x + 4, end - back), (x, end))
        axes.add_patch(Polygon(points, gid=f"{PREFIX}wait-head", clip_on=False))

    return add


def clean(text: str) -> str:
    """Return a text on one line and without what XML cannot hold."""
    return printable(" ".join(text.split()))


def wide(text: str) -> float:
    """Return how wide a text is at most, about."""
    return sum(map(width, text))


def width(letter: str) -> float:
    """Return how wide a letter is at most, about."""
    return 12.5 if unicodedata.east_asian_width(letter) in "WF" else LETTER


def fitting(text: str, room: float) -> int:
    """Return how many letters of a text fit; records hold long ones, so each letter is looked at once."""
    ends = itertools.accumulate(map(width, text))
    return next((at for at, end in enumerate(ends) if end > room), len(text))


def cut(text: str, room: float) -> str:
    """Return a text that fits; the table has the whole."""
    text = clean(text)
    if fitting(text, room) == len(text):
        return text
    return f"{text[: fitting(text, room - LETTER)].rstrip()}…"


def broken(text: str, room: float, most: int = 3) -> list[str]:
    """Return a text in lines, broken between words where it can be; what needs more lines is cut."""
    found: list[str] = []
    rest = clean(text)
    while len(found) < most - 1 and (fits := fitting(rest, room)) < len(rest):
        fits = max(fits, 1)
        at = max(rest.rfind(" ", 0, fits + 1), 0) or fits
        found.append(rest[:at])
        rest = rest[at:].lstrip()
    return [*found, cut(rest, room)]
