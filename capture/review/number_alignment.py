"""The numbers of two captured texts, set against each other where the words around them agree."""

from __future__ import annotations

import bisect
import math
import re
from dataclasses import dataclass

from capture.record import agreement, claims
from capture.snippet.snippet import Snippet

NOISE = 1e-4  # relative; what other instructions or another release of a library may change in a computed number
# A number may carry a unit; commas count only between thousands. Not finite ones are numbers too.
NUMBER = re.compile(
    r"(?<![\w.])[-+]?(?:(?:\d{1,3}(?:,\d{3})+(?![\d,]*\d)|\d+)(?:\.\d+)?(?:[eE][-+]?\d+)?(?=[^\W\d]{0,3}(?!\w))"
    r"|(?:nan|inf)(?=x?(?!\w)))"
)
# What looks like numbers and is a name: a version of three parts or more, a date, a time of day.
NAMES = re.compile(r"(?<![\w.])\d+(?:\.\d+){2,}[\w.+-]*|\d{4}-\d\d-\d\d|(?<!\d)\d\d:\d\d(?::\d\d)?(?!\d)")
TIME = re.compile(r"\s?(?:ns|us|µs|μs|ms|s)(?!\w)")
WORD = re.compile(r"(?<!\w)[^\W\d_][\w.+-]*(?: [^\W\d_][\w.+-]*)?")
BEFORE = 80  # characters before a number in which the words that name it are looked for


@dataclass(frozen=True)
class Number:
    """A number that moved: both as printed, what it may do, whether it keeps to that, and whether it is a time.

    Its name is that of a value of the snippet, or where it stands.
    """

    name: str
    old: str
    new: str
    tolerance: str
    within: bool
    time: bool

    @property
    def ratio(self) -> float | None:
        """New over old, or None where that says nothing."""
        before, after = scalar(self.old), scalar(self.new)
        found = after / before if before and after and (before > 0) == (after > 0) else math.nan
        return found if math.isfinite(found) and found else None

    @property
    def noise(self) -> bool:
        """Whether so small a difference may come from other instructions or another release of a library.

        Neither changes an integer, nor how a number is spelled, nor the sign of a zero.
        """
        before, after = scalar(self.old), scalar(self.new)
        computed = all(re.search(r"\.\d|[eE]", text) for text in (self.old, self.new))
        return computed and before != after and agreement.within(before, after, NOISE, as_ratio=False)

    @property
    def named(self) -> bool:
        """Whether the snippet names it."""
        return not self.name.startswith("line ")


@dataclass(frozen=True)
class Cell:
    """A number in a text: where it stands, and the name of the value it is, if any."""

    start: int
    end: int
    text: str
    name: str = ""


def aligned(snippet: Snippet, old: str, new: str) -> list[tuple[Cell, Cell]] | None:
    """Return the numbers of two texts in pairs, or None where their words differ as well."""
    before, after = cells(snippet, old), cells(snippet, new)
    if [cell.name for cell in before] != [cell.name for cell in after]:
        return None
    return None if words(snippet, old, before) != words(snippet, new, after) else list(zip(before, after, strict=True))


def moved(snippet: Snippet, old: str, new: str) -> tuple[Number, ...] | None:
    """Return the numbers that are printed differently in two texts, or None where their words differ as well."""
    pairs = aligned(snippet, old, new)
    if pairs is None:
        return None
    ends = [match.start() for match in re.finditer("\n", old)]
    result = []
    for one, other in pairs:
        if one.text != other.text:
            tolerance, within = allowed(snippet, one.name, one.text, other.text)
            label = one.name or place(old, one.start, ends)
            result.append(Number(label, one.text, other.text, tolerance, within, is_time(old, one)))
    return tuple(result)


def cells(snippet: Snippet, text: str) -> list[Cell]:
    """Return the numbers of a text, in order: its values first, then all that is neither volatile nor a name."""
    found: list[Cell] = []
    for name, pattern in snippet.values.items():
        matches = list(pattern.finditer(text))
        if len(matches) == 1 and matches[0][1] is not None and claims.NUMBER.fullmatch(matches[0][1].strip()):
            start = matches[0].start(1) + len(matches[0][1]) - len(matches[0][1].lstrip())
            found.append(Cell(start, start + len(matches[0][1].strip()), matches[0][1].strip(), name))
    taken = [(cell.start, cell.end) for cell in found]
    taken += [match.span() for pattern in (*snippet.compare.volatile, NAMES) for match in pattern.finditer(text)]
    taken = merged(taken)
    starts = [start for start, _ in taken]
    for match in NUMBER.finditer(text):
        nearest = bisect.bisect_left(starts, match.end()) - 1
        if nearest < 0 or taken[nearest][1] <= match.start():
            found.append(Cell(match.start(), match.end(), match[0]))
    found.sort(key=lambda cell: (cell.start, cell.end))
    return [cell for number, cell in enumerate(found) if not number or found[number - 1].end <= cell.start]


def merged(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return spans in order, those that overlap as one."""
    result: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if result and start < result[-1][1]:
            result[-1] = (result[-1][0], max(end, result[-1][1]))
        else:
            result.append((start, end))
    return result


def words(snippet: Snippet, text: str, numbers: list[Cell]) -> str:
    """Return a text without its numbers and what may vary; how far its columns stand apart does not count."""
    parts, last = [], 0
    for cell in numbers:
        parts.append(text[last : cell.start])
        last = cell.end
    bare = "\0".join([*parts, text[last:]])
    for pattern in snippet.compare.volatile:
        bare = pattern.sub("<varies>", bare)
    return re.sub(r"[ \t]+", " ", agreement.ADDRESS.sub("<address>", bare))


def scalar(text: str) -> float:
    """Return a printed number, with or without commas between thousands."""
    return float(text.replace(",", ""))


def allowed(snippet: Snippet, name: str, old: str, new: str) -> tuple[str, bool]:
    """Return in words what a number may do under the snippet's policy, and whether it keeps to that."""
    policy, before, after = snippet.compare, scalar(old), scalar(new)
    same = before == after or (math.isnan(before) and math.isnan(after))
    if name in policy.ratio:
        limit = policy.ratio[name]
        return f"factor {limit:g}", same or agreement.within(before, after, limit, as_ratio=True)
    if name in policy.relative:
        limit = policy.relative[name]
        return f"share {limit:g}", same or agreement.within(before, after, limit, as_ratio=False)
    return ("any", True) if snippet.timing else ("none", False)


def place(text: str, start: int, ends: list[int]) -> str:
    """Name a number by its line and the last words before it; `ends` are the ends of the lines."""
    line = bisect.bisect_left(ends, start)
    first = ends[line - 1] + 1 if line else 0
    found = WORD.findall(text[max(first, start - BEFORE) : start])
    return f"line {line + 1}, {found[-1]}" if found else f"line {line + 1}"


def is_time(text: str, cell: Cell) -> bool:
    """Tell whether a unit of time stands behind a number."""
    return bool(TIME.match(text, cell.end))


def faster(snippet: Snippet, old: str, new: str) -> str:
    """Say how two hosts compare, as `3.1 times faster`: by all times they took, never as a verdict."""
    logs = []
    for one, other in aligned(snippet, old, new) or ():
        ratio = Number("", one.text, other.text, "", True, True).ratio
        if ratio and is_time(old, one):
            logs.append(math.log(ratio))
    if not logs:
        return ""
    mean = math.exp(math.fsum(logs) / len(logs))  # of ratios, hence geometric
    if 1 / 1.05 < mean < 1.05:
        return "equally fast"
    return f"{1 / mean:.1f} times faster" if mean < 1 else f"{mean:.1f} times slower"


def percent(number: Number) -> float | None:
    """Return by how many percent a number moved, or None where that says nothing."""
    return None if number.ratio is None else (number.ratio - 1) * 100
