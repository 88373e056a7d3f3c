"""Pairs the numbers of two captured texts, where the words around the numbers agree."""

from __future__ import annotations

import bisect
import decimal
import math
import re
from dataclasses import dataclass

from capture.record import agreement, printed_number, tolerance
from capture.snippet.pattern import PatternTooSlow
from capture.snippet.snippet import Snippet

NOISE_SHARE = 1e-4  # relative; by this much other instructions or another library release may change a computed number
# A number may carry a unit. Commas belong to it only between thousands. `nan` and `inf` are numbers too.
_NUMBER_TO_ALIGN = re.compile(
    r"(?<![\w.])[-+]?(?:(?:\d{1,3}(?:,\d{3})+(?![\d,]*\d)|\d+)(?:\.\d+)?(?:[eE][-+]?\d+)?(?=[^\W\d]{0,3}(?!\w))"
    r"|(?:nan|inf)(?=x?(?!\w)))"
)
# What is written in digits and is a name: a version of three parts or more, a date, a time of day.
_DIGITS_OF_NAMES = re.compile(r"(?<![\w.])\d+(?:\.\d+){2,}[\w.+-]*|\d{4}-\d\d-\d\d|(?<!\d)\d\d:\d\d(?::\d\d)?(?!\d)")
_TIME_UNIT = re.compile(r"\s?(?:ns|us|µs|μs|ms|s)(?!\w)")
_WORDS = re.compile(r"(?<!\w)[^\W\d_][\w.+-]*(?: [^\W\d_][\w.+-]*)?")
_NAME_DISTANCE = 80  # characters before a number in which the words that name it are looked for
_LONGEST = 20_000  # letters of a number that is read to its last digit


@dataclass(frozen=True)
class MovedNumber:
    """A number that is printed differently in two captures.

    `name` is that of the snippet's value, or the line it stands in. `old` and `new` are the numbers as printed.
    `tolerance` says in words how far the snippet lets it move, and `within` whether it keeps to that. `time` is whether
    it is a time.
    """

    name: str
    old: str
    new: str
    tolerance: str
    within: bool
    time: bool

    @property
    def ratio(self) -> float | None:
        """New over old, or None where that says nothing: a zero, two signs, a number that is not finite."""
        return _ratio(self.old, self.new)

    @property
    def noise(self) -> bool:
        """Whether the difference is so small that other instructions or another release of a library may explain it.

        They explain no other integer, no other spelling of the same number, and no other sign of a zero.
        """
        before, after = _parsed(self.old), _parsed(self.new)
        computed = all(re.search(r"\.\d|[eE]", text) for text in (self.old, self.new))
        return computed and before != after and tolerance.within(before, after, NOISE_SHARE, as_ratio=False)

    @property
    def named(self) -> bool:
        """Whether it is a value that the snippet names."""
        return not self.name.startswith("line ")


@dataclass(frozen=True)
class _PrintedNumber:
    """A number in a text, where it stands there, and the name of the snippet's value that it is, if any."""

    start: int
    end: int
    text: str
    name: str = ""


def _paired_numbers(snippet: Snippet, old: str, new: str) -> list[tuple[_PrintedNumber, _PrintedNumber]] | None:
    """Return the numbers of two texts in pairs, or None where the texts differ in more than numbers.

    None as well where a pattern of the header takes too long, since nothing is known then.
    """
    try:
        before, after = _printed_numbers(snippet, old), _printed_numbers(snippet, new)
        if [cell.name for cell in before] != [cell.name for cell in after]:
            return None
        if _text_without_numbers(snippet, old, before) != _text_without_numbers(snippet, new, after):
            return None
    except PatternTooSlow:
        return None
    return list(zip(before, after, strict=True))


def moved_numbers(snippet: Snippet, old: str, new: str) -> tuple[MovedNumber, ...] | None:
    """Return the numbers that two texts print differently, or None where the texts differ in more than numbers."""
    pairs = _paired_numbers(snippet, old, new)
    if pairs is None:
        return None
    line_ends = [match.start() for match in re.finditer("\n", old)]
    result = []
    for one, other in pairs:
        if one.text != other.text:
            tolerance, within = allowed_tolerance(snippet, one.name, one.text, other.text)
            name = one.name or _position_in_words(old, one.start, line_ends)
            result.append(MovedNumber(name, one.text, other.text, tolerance, within, _is_time(old, one)))
    return tuple(result)


def _printed_numbers(snippet: Snippet, text: str) -> list[_PrintedNumber]:
    """Return the numbers of a text as they follow each other there.

    They are the snippet's values, and every other number that is neither volatile nor part of a name.
    """
    numbers: list[_PrintedNumber] = []
    for name, pattern in snippet.values.items():
        matches = pattern.matches(text)
        if (
            len(matches) == 1
            and matches[0][1] is not None
            and printed_number.PRINTED_NUMBER.fullmatch(matches[0][1].strip())
        ):
            start = matches[0].start(1) + len(matches[0][1]) - len(matches[0][1].lstrip())
            numbers.append(_PrintedNumber(start, start + len(matches[0][1].strip()), matches[0][1].strip(), name))
    taken = [(value.start, value.end) for value in numbers]
    taken += [match.span() for pattern in snippet.compare.volatile for match in pattern.matches(text)]
    taken += [match.span() for match in _DIGITS_OF_NAMES.finditer(text)]
    taken = _merged_spans(taken)
    starts = [start for start, _ in taken]
    for match in _NUMBER_TO_ALIGN.finditer(text):
        nearest = bisect.bisect_left(starts, match.end()) - 1
        if nearest < 0 or taken[nearest][1] <= match.start():
            numbers.append(_PrintedNumber(match.start(), match.end(), match[0]))
    numbers.sort(key=lambda number: (number.start, number.end))
    return [number for at, number in enumerate(numbers) if not at or numbers[at - 1].end <= number.start]


def _merged_spans(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return spans in order; those that overlap become one."""
    result: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if result and start < result[-1][1]:
            result[-1] = (result[-1][0], max(end, result[-1][1]))
        else:
            result.append((start, end))
    return result


def _text_without_numbers(snippet: Snippet, text: str, numbers: list[_PrintedNumber]) -> str:
    """Return a text without its numbers and without what may vary, its blanks run together.

    So two texts are equal whose columns merely stand further apart.
    """
    parts, last = [], 0
    for number in numbers:
        parts.append(text[last : number.start])
        last = number.end
    bare = "\0".join([*parts, text[last:]])
    for pattern in snippet.compare.volatile:
        bare = pattern.replaced(bare, lambda match: "<varies>")
    return re.sub(r"[ \t]+", " ", agreement.ADDRESS.sub("<address>", bare))


def _parsed(text: str) -> int | float:
    """Return the value of a printed number, with or without commas between thousands.

    A whole one is exact up to _LONGEST letters; reading takes the square of them, so that a longer one is infinite.
    """
    if len(text) > _LONGEST:
        return float(text.replace(",", ""))
    try:
        return printed_number.value_of(text)
    except ValueError:  # too many digits to be read at once
        return int(decimal.Decimal(text.replace(",", "")))


def _ratio(old: str, new: str) -> float | None:
    """Return one printed number over another, or None where that says nothing."""
    before, after = _parsed(old), _parsed(new)
    try:
        ratio = after / before if before and after and (before > 0) == (after > 0) else math.nan
    except OverflowError:
        return None
    return ratio if math.isfinite(ratio) and ratio else None


def allowed_tolerance(snippet: Snippet, name: str, old: str, new: str) -> tuple[str, bool]:
    """Say how far the snippet's policy lets a number move, and whether it keeps to that."""
    policy, before, after = snippet.compare, _parsed(old), _parsed(new)
    if words := tolerance.in_words(policy, name):
        same = before == after or (printed_number.is_nan(before) and printed_number.is_nan(after))
        return words, same or tolerance.keeps_to(policy, name, before, after)
    return ("any", True) if snippet.timing else ("none", False)


def _position_in_words(text: str, start: int, line_ends: list[int]) -> str:
    """Name a number by its line and the last words before it there."""
    line = bisect.bisect_left(line_ends, start)
    first = line_ends[line - 1] + 1 if line else 0
    words_before = _WORDS.findall(text[max(first, start - _NAME_DISTANCE) : start])
    return f"line {line + 1}, {words_before[-1]}" if words_before else f"line {line + 1}"


def _is_time(text: str, number: _PrintedNumber) -> bool:
    """Tell whether a unit of time stands behind a number."""
    return bool(_TIME_UNIT.match(text, number.end))


def relative_speed(snippet: Snippet, old: str, new: str) -> str:
    """Say how fast the second host is against the first, as `3.1 times faster`; nothing where no times are paired.

    It is the geometric mean over all times in both outputs: a description, and no verdict.
    """
    logs = []
    for one, other in _paired_numbers(snippet, old, new) or ():
        ratio = _ratio(one.text, other.text)
        if ratio and _is_time(old, one):
            logs.append(math.log(ratio))
    if not logs:
        return ""
    mean = math.exp(math.fsum(logs) / len(logs))
    if 1 / 1.05 < mean < 1.05:
        return "equally fast"
    return f"{1 / mean:.1f} times faster" if mean < 1 else f"{mean:.1f} times slower"


def percent_moved(number: MovedNumber) -> float | None:
    """Return by how many percent a number moved, or None where its ratio says nothing."""
    return None if number.ratio is None else (number.ratio - 1) * 100
