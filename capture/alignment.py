"""The numbers of two captured texts, set against each other where the words around them agree."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from capture import compare
from capture.snippet import Snippet

NOISE = 1e-4  # relative; what other instructions or another release of a library may change in a computed number
TIME = re.compile(r"\s?(?:ns|us|µs|ms|s)(?!\w)")
WORD = re.compile(r"[^\W\d_][\w.+-]*(?: [^\W\d_][\w.+-]*)?")
LEFT_OUT = 200  # numbers after which a table is no longer read


@dataclass(frozen=True)
class Number:
    """A number that moved: its name, both values, what may vary, whether it is within that, and whether it is a time.

    A name is that of a value of the snippet, or where the number stands.
    """

    name: str
    old: float
    new: float
    tolerance: str
    within: bool
    time: bool

    @property
    def ratio(self) -> float | None:
        """New over old, or None where that says nothing."""
        return self.new / self.old if self.old and (self.old > 0) == (self.new > 0) and self.new else None

    @property
    def noise(self) -> bool:
        """Whether so small a difference may come from other instructions or another release of a library."""
        return compare.within(self.old, self.new, NOISE, as_ratio=False)


def moved(snippet: Snippet, old: str, new: str) -> tuple[Number, ...] | None:
    """Return the numbers that differ between two texts, or None where their words differ as well."""
    before, after = numbers_of(old), numbers_of(new)
    if words_of(old) != words_of(new) or len(before) != len(after):
        return None
    spans = {name: match.span(1) for name, pattern in snippet.values.items() if (match := pattern.search(old))}
    result: list[Number] = []
    for one, other in zip(before, after, strict=True):
        first, second = as_number(one[0]), as_number(other[0])
        if first != second:
            name = next((name for name, span in spans.items() if span[0] <= one.start() < span[1]), "")
            tolerance, within = allowed(snippet, name, first, second)
            label = name or place(old, one)
            result.append(Number(label, first, second, tolerance, within, bool(TIME.match(old, one.end()))))
    return tuple(result[:LEFT_OUT])


def numbers_of(text: str) -> list[re.Match[str]]:
    """Return every number of a text, in order."""
    return list(compare.NUMBER.finditer(text))


def words_of(text: str) -> str:
    """Return a text without its numbers; how far its columns stand apart does not count."""
    return re.sub(r"[ \t]+", " ", compare.NUMBER.sub("#", compare.ADDRESS.sub("<address>", text)))


def as_number(text: str) -> float:
    """Return a printed number, with or without commas between thousands."""
    return float(text.replace(",", ""))


def allowed(snippet: Snippet, name: str, old: float, new: float) -> tuple[str, bool]:
    """Return in words what a number may do under the snippet's policy, and whether it keeps to that."""
    policy = snippet.compare
    if name in policy.ratio:
        return f"factor {policy.ratio[name]:g}", compare.within(old, new, policy.ratio[name], as_ratio=True)
    if name in policy.relative:
        return f"share {policy.relative[name]:g}", compare.within(old, new, policy.relative[name], as_ratio=False)
    return ("any", True) if snippet.timing else ("none", False)


def place(text: str, match: re.Match[str]) -> str:
    """Name a number by its line and the last words before it."""
    start = text.rfind("\n", 0, match.start()) + 1
    words = WORD.findall(text[start : match.start()])
    line = text.count("\n", 0, match.start()) + 1
    return f"line {line}, {words[-1]}" if words else f"line {line}"


def faster(numbers: tuple[Number, ...]) -> str:
    """Say how two hosts compare, as `3.1 times faster`: by the times they took, never as a verdict."""
    ratios = [number.ratio for number in numbers if number.time and number.ratio]
    if not ratios:
        return ""
    product = 1.0
    for ratio in ratios:
        product *= ratio
    mean = product ** (1 / len(ratios))  # of ratios, hence geometric
    if 1 / 1.05 < mean < 1.05:
        return "equally fast"
    return f"{1 / mean:.1f} times faster" if mean < 1 else f"{mean:.1f} times slower"


def percent(number: Number) -> float | None:
    """Return by how many percent a number moved, or None where that says nothing."""
    return None if number.ratio is None else (number.ratio - 1) * 100


def by_name(numbers: tuple[Number, ...]) -> Mapping[str, Number]:
    """Return the numbers by name; of several at one place the first."""
    return {number.name: number for number in reversed(numbers)}
