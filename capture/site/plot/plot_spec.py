"""What the lines of a `capture-plot` fence ask for.

Each line is `key: text`. `value:` and `result:` may stand more than once; a name in them is a named value of a snippet:

    kind: bars                                     bars, dots or lanes
    title: bfloat16 against float32
    value: instruments/bf16_linear autocast = autocast
    unit: x                                        bars and dots: behind each number
    scale: log                                     linear unless said
    baseline: 1 as long as float32                 where bars begin, and what it means; on a log scale bars need one
    group: host                                    or value: what stands under one heading

    lanes: A = producer, B = consumer              lanes: the lanes from the left, and what they are
    mark: * = last use at the free                 a sign behind an operation, and what it says
    result: graphs/capture_reuse_rules once_0 = yes at once     a line under the lanes of the value before it
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from capture.errors import CaptureError, Problem, suggestion
from capture.record.printed_number import PRINTED_NUMBER
from capture.site.model import request
from capture.snippet.snippet import Snippet
from capture.store.catalogue import Catalogue

CHARTS = ("bars", "dots")
KINDS = (*CHARTS, "lanes")
OF_CHARTS = ("unit", "scale", "baseline", "group")
OF_LANES = ("lanes", "mark", "result")
KEYS = ("kind", "title", "value", *OF_CHARTS, *OF_LANES)
REPEATED = ("value", "mark", "result")
CHOICES = {"kind": KINDS, "scale": ("linear", "log"), "group": ("host", "value")}
MOST_VALUES = 12
LARGEST = 1e15  # nothing measured is beyond; a scale could not be drawn
LINE = re.compile(r"([^:]*?)\s*:\s*(.*)")


@dataclass(frozen=True)
class PlottedValue:
    """One named value and what the plot calls it; `results` are more of them that belong to it."""

    snippet: Snippet
    name: str
    label: str
    results: tuple[PlottedValue, ...] = ()


@dataclass(frozen=True)
class PlotSpec:
    """A fence, read. `lanes` and `marks` map a name or sign to its words."""

    kind: str
    title: str
    values: tuple[PlottedValue, ...]
    unit: str
    log: bool
    baseline: float | None
    baseline_label: str
    by_value: bool
    lanes: Mapping[str, str]
    marks: Mapping[str, str]


@dataclass(frozen=True)
class FenceLine:
    """A line of a fence: its number from the fence's opening on, its key and the rest."""

    number: int
    key: str
    text: str


def parse_spec(body: str, catalogue: Catalogue) -> PlotSpec:
    """Read a fence; raises CaptureError with every fault, each a Problem whose line counts from the fence."""
    lines: list[FenceLine] = []
    faults: list[Problem] = []
    for number, text in enumerate(body.splitlines(), 1):
        if text.strip():
            match = LINE.fullmatch(text.strip())
            lines.append(FenceLine(number, match[1] if match else "", match[2] if match else text.strip()))
    seen: dict[str, FenceLine] = {}
    for line in lines:
        faults += shape_faults(line, seen)
        seen.setdefault(line.key, line)
    kind = seen["kind"].text if "kind" in seen else ""
    for key in ("kind", "title", "value", *(("lanes",) if kind == "lanes" else ())):
        if key not in seen:
            faults.append(fault(0, f'a capture-plot fence needs a line "{key}: …"'))
    if kind in KINDS:
        foreign = OF_CHARTS if kind == "lanes" else OF_LANES
        mine = OF_LANES if kind == "lanes" else OF_CHARTS
        faults += [
            fault(line.number, f'"{line.key}:" is not for kind {kind}, which takes {", ".join(mine)}')
            for line in lines
            if line.key in foreign
        ]
    values = read_values(lines, catalogue, faults)
    baseline, baseline_label = read_baseline(seen.get("baseline"), faults)
    log = "scale" in seen and seen["scale"].text == "log"
    if log and kind == "bars" and "baseline" not in seen:
        faults.append(fault(seen["scale"].number, "on a log scale bars begin at no zero; add a baseline, or draw dots"))
    if log and baseline is not None and baseline <= 0:
        faults.append(fault(seen["baseline"].number, "a log scale shows numbers above 0; choose another baseline"))
    marks = {sign: words for line in lines if line.key == "mark" for sign, words in named(line.text).items()}
    faults += [fault(seen["mark"].number, f'mark "{sign}": one sign') for sign in marks if len(sign) != 1]
    if faults:
        raise CaptureError(*faults)
    return PlotSpec(
        kind, seen["title"].text, values, seen["unit"].text if "unit" in seen else "", log, baseline, baseline_label,
        "group" in seen and seen["group"].text == "value",
        named(seen["lanes"].text) if "lanes" in seen else {}, marks,
    )  # fmt: skip


def fault(number: int, message: str) -> Problem:
    """Return a fault of a line."""
    return Problem("", number, message, "page")


def shape_faults(line: FenceLine, seen: Mapping[str, FenceLine]) -> list[Problem]:
    """Return what is wrong with a line by itself."""
    if line.key not in KEYS:
        said = f'unknown key "{line.key}"{suggestion(line.key, KEYS)}' if line.key else f'no "key: text": "{line.text}"'
        return [fault(line.number, said)]
    if not line.text:
        return [fault(line.number, f'"{line.key}:" says nothing')]
    if line.key in seen and line.key not in REPEATED:
        return [fault(line.number, f'"{line.key}:" stands here twice')]
    if line.key in CHOICES and line.text not in CHOICES[line.key]:
        return [fault(line.number, f'{line.key} "{line.text}"{suggestion(line.text, CHOICES[line.key])}')]
    return []


def read_values(lines: list[FenceLine], catalogue: Catalogue, faults: list[Problem]) -> tuple[PlottedValue, ...]:
    """Return the values in order, each with its results."""
    values: list[PlottedValue] = []
    count = 0
    for line in lines:
        if line.key not in ("value", "result") or not line.text:
            continue
        count += line.key == "value"
        if line.key == "result" and not count:
            faults.append(fault(line.number, '"result:" belongs to the "value:" above it, and there is none'))
        try:
            item = plotted_value(line.text, catalogue)
        except CaptureError as error:
            faults += [fault(line.number, str(problem)) for problem in error.problems]
            continue
        if line.key == "value":
            if any((item.snippet.id, item.name) == (other.snippet.id, other.name) for other in values):
                faults.append(fault(line.number, f"{item.snippet.id} {item.name} stands here twice"))
            values.append(item)
        elif values:
            values[-1] = replace(values[-1], results=(*values[-1].results, item))
    if count > MOST_VALUES:
        faults.append(fault(0, f"{count} values; a plot shows at most {MOST_VALUES}, so make two of it"))
    return tuple(values)


def plotted_value(text: str, catalogue: Catalogue) -> PlottedValue:
    """Read `ID VALUE = LABEL`; raises CaptureError with the nearest id or value."""
    names, _, label = text.partition(" = ")
    if len(names.split()) != 2:
        raise CaptureError(f'write "value: ID VALUE = LABEL", such as "x/speed ratio = autocast"; found "{text}"')
    if "@" in names:
        raise CaptureError(f'a plot shows every host; leave the host out of "{names.strip()}"')
    asked = request.parse_inline_value(names, catalogue)
    return PlottedValue(asked.snippet, asked.value, label.strip() or asked.value)


def read_baseline(line: FenceLine | None, faults: list[Problem]) -> tuple[float | None, str]:
    """Return the number and its words."""
    if line is None or not line.text:
        return None, ""
    number, _, words = line.text.partition(" ")
    if not PRINTED_NUMBER.fullmatch(number) or not math.isfinite(float(number.replace(",", ""))):
        faults.append(fault(line.number, f'baseline "{number}" is no number; write "baseline: 1 as long as float32"'))
        return None, ""
    baseline = float(number.replace(",", ""))
    if baseline and not 1 / LARGEST <= abs(baseline) <= LARGEST:
        faults.append(fault(line.number, f'baseline "{number}" is off every scale; choose one that can be drawn'))
        return None, ""
    return baseline, words.strip()


def named(text: str) -> dict[str, str]:
    """Read `A = producer, B = consumer`; a name without words stands for itself."""
    pairs = (part.partition("=") for part in text.split(","))
    return {name.strip(): words.strip() or name.strip() for name, _, words in pairs if name.strip()}
