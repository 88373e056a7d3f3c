"""Whether two numbers agree: within a factor, a share or a bound, computed exactly."""

from __future__ import annotations

import decimal
from collections.abc import Sequence

from capture.record import printed_number
from capture.record.printed_number import is_nan
from capture.snippet.snippet import Compare

# Room for sums and products of the longest whole numbers and of floats of any size, so that nothing is rounded.
_EXACT = decimal.Context(prec=20_000)


def within(before: float, after: float, limit: float, as_ratio: bool) -> bool:
    """Tell whether two numbers agree: within a factor, or within a share of the larger one.

    What is not finite agrees with nothing, not even by a share of itself.
    """
    if not (printed_number.is_finite(before) and printed_number.is_finite(after)):
        return False
    one, other, factor = (printed_number.exact(number) for number in (before, after, limit))
    small, large = sorted((one.copy_abs(), other.copy_abs()))  # `abs` would round
    if as_ratio:
        return small > 0 and (one > 0) == (other > 0) and large <= _EXACT.multiply(factor, small)
    return _EXACT.subtract(other, one).copy_abs() <= _EXACT.multiply(factor, large)


def within_bound(before: float, after: float, bound: float) -> bool:
    """Tell whether two finite numbers differ by no more than a bound."""
    if not (printed_number.is_finite(before) and printed_number.is_finite(after)):
        return False
    difference = _EXACT.subtract(printed_number.exact(before), printed_number.exact(after))
    return difference.copy_abs() <= printed_number.exact(bound)


def keeps_to(policy: Compare, name: str, before: float, after: float) -> bool:
    """Tell whether a value moved by no more than one of its bounds allows."""
    return (
        (name in policy.ratio and within(before, after, policy.ratio[name], as_ratio=True))
        or (name in policy.relative and within(before, after, policy.relative[name], as_ratio=False))
        or (name in policy.absolute and within_bound(before, after, policy.absolute[name]))
    )


def in_words(policy: Compare, name: str) -> str:
    """Say by how much a value may move, or nothing."""
    kinds = (("factor", policy.ratio), ("share", policy.relative), ("bound", policy.absolute))
    return " or ".join(f"{kind} {printed_number.shown(table[name])}" for kind, table in kinds if name in table)


def why_no_ratio(policy: Compare, name: str, numbers: Sequence[float]) -> str:
    """Say why numbers have no ratio where that keeps a value from its policy, or nothing."""
    if name not in policy.ratio or all(number > 0 for number in numbers):
        return ""
    return "what is not above 0 has no ratio: bound it under absolute or relative"


def spread(numbers: Sequence[float]) -> float:
    """Return max/min of positive numbers, which is how well repetitions agree; 1, which is perfect, for equal ones.

    Numbers that differ, of which one is not above 0, agree by no factor: infinity.
    """
    low, high = min(numbers), max(numbers)
    if all(number == numbers[0] for number in numbers) or all(map(is_nan, numbers)):
        return 1.0
    if low <= 0 or any(map(is_nan, numbers)):
        return float("inf")
    try:
        return high / low
    except OverflowError:
        return float("inf")
