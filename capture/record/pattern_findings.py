"""What the patterns of a header and its ratios turn out to be on captured output: too slow, idle, without meaning."""

from __future__ import annotations

from collections.abc import Sequence

from capture.errors import CaptureError, Problem
from capture.record import claims, printed_number, tolerance
from capture.record.record import Record
from capture.snippet.pattern import Pattern, PatternTooSlow
from capture.snippet.snippet import Snippet

_VOLATILE = ("tool", "capture", "compare", "volatile")


def too_slow(snippet: Snippet, item: Record) -> tuple[Problem, ...]:
    """Return a problem, at its line, for each pattern of the header that takes too long on the output of a record."""
    found = []
    for name, pattern in snippet.values.items():
        try:
            pattern.matches(item.stdout)
        except PatternTooSlow as error:
            line = snippet.place("tool", "capture", "values", name)
            found.append(Problem(snippet.path, line, f'value "{name}": its pattern {error}', "pattern"))
    return (*found, *too_slow_volatile(snippet, item))


def too_slow_volatile(snippet: Snippet, item: Record) -> tuple[Problem, ...]:
    """Return a problem for each volatile pattern that takes too long on the output of a record."""
    found = []
    for pattern in snippet.compare.volatile:
        try:
            for text in (item.stdout, item.stderr):
                pattern.replaced(text, lambda match: "")
        except PatternTooSlow as error:
            message = f'volatile "{pattern.pattern}": it {error}'
            found.append(Problem(snippet.path, snippet.place(*_VOLATILE), message, "pattern"))
    return tuple(found)


def idle_volatile(snippet: Snippet, items: Sequence[Record]) -> tuple[Problem, ...]:
    """Return a note for each volatile pattern that matches nothing in the output of any of some records.

    One that takes too long is no news here.
    """
    if not items:
        return ()
    idle = [
        pattern.pattern for pattern in snippet.compare.volatile if not any(_may_be_in(pattern, item) for item in items)
    ]
    where = "on " + ", ".join(item.host for item in items[:3]) + (" and others" if len(items) > 3 else "")
    line = snippet.place(*_VOLATILE)
    return tuple(
        Problem(snippet.path, line, f'volatile "{text}" matches nothing {where}; mend it, or take it out', "volatile")
        for text in idle
    )


def without_ratio(snippet: Snippet, item: Record) -> tuple[Problem, ...]:
    """Return a note for each value under `ratio` that is not above 0 in the output of a record."""
    found = []
    for name in snippet.compare.ratio:
        try:
            number = claims.value(snippet, name, item).scalar
        except CaptureError:
            continue  # told with the claims
        if isinstance(number, str) or not (why := tolerance.why_no_ratio(snippet.compare, name, (number,))):
            continue
        line = snippet.place("tool", "capture", "compare", "ratio")
        message = f'ratio of "{name}": it is {printed_number.shown(number)} on {item.host}, and {why}'
        found.append(Problem(snippet.path, line, message, "ratio"))
    return tuple(found)


def _may_be_in(pattern: Pattern, item: Record) -> bool:
    """Tell whether a pattern matches anything that a record holds, or takes too long to say."""
    try:
        return pattern.is_in(item.stdout) or pattern.is_in(item.stderr)
    except PatternTooSlow:
        return True
