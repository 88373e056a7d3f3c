"""Whether two numbers agree, by factor, by share or by bound, computed without rounding."""

from __future__ import annotations

from typing import Any

import pytest
from harness.properties import rows

from capture.record import tolerance
from capture.snippet.snippet import Compare

NAN = float("nan")


@pytest.mark.parametrize(
    ("before", "after", "limit", "as_ratio", "agree"),
    [
        (2.0, -2.0, 3.0, True, False), (-2.0, -4.0, 3.0, True, True), (0.0, 0.0, 3.0, True, False),
        (1e-300, 2e-300, 3.0, True, True), (1.0, 1.1, 0.1, False, True), (-1.0, 1.0, 0.1, False, False),
        (0.0, 0.0, 0.0, False, True),
    ],
)  # fmt: skip
def test_numbers_agree_by_factor_or_by_share(
    before: float, after: float, limit: float, as_ratio: bool, agree: bool
) -> None:
    """Numbers of different sign agree within no factor, however small they are."""
    assert tolerance.within(before, after, limit, as_ratio) is agree


@pytest.mark.parametrize(
    ("numbers", "spread"),
    [
        ([2.0, 3.0, 2.5], 1.5), ([1.0], 1.0), ([0.0, 1.0], float("inf")), ([-1.0, 1.0], float("inf")),
        ([0, 0, 0], 1.0), ([-2.5, -2.5], 1.0), ([-1.0, -1.01], float("inf")), ([10**400, 5 * 10**399], 2.0),
        ([10**400, 1.0], float("inf")), ([NAN, NAN], 1.0), ([1.0, NAN], float("inf")),
    ],
)  # fmt: skip
def test_spread_is_the_largest_over_the_smallest(numbers: list[float], spread: float) -> None:
    """ratio-zero-negative: 1 is perfect, as of equal runs of zero; what differs and is not positive has none."""
    assert tolerance.spread(numbers) == spread


BIG = 2**200


BOUNDS = {
    "share-of-nearly-nothing": (4.9e-18, 2.2e-18, {"relative": {"x": 0.05}}, False),
    "tolerance-near-zero": (4.9e-18, 2.2e-18, {"relative": {"x": 0.05}, "absolute": {"x": 1e-12}}, True),
    "around-zero": (3e-13, -3e-13, {"absolute": {"x": 1e-12}}, True),
    "share-suffices": (100.0, 104.0, {"relative": {"x": 0.05}, "absolute": {"x": 1e-12}}, True),
    "bound-alone": (100.0, 104.0, {"absolute": {"x": 1e-12}}, False),
    "as-printed": (0.4, 0.3, {"absolute": {"x": 0.1}}, True),
    "signed-zero": (0, -0.0, {"absolute": {"x": 0}}, True),
    "big-within": (BIG, BIG + 1, {"absolute": {"x": 1}}, True),
    "big-beyond": (BIG, BIG + 2, {"absolute": {"x": 1}}, False),
    "big-share": (BIG, BIG + 1, {"relative": {"x": 0}}, False),
    "int-and-float": (2**53 + 1, float(2**53), {"absolute": {"x": 0.5}}, False),
    "larger-than-floats": (10**400, 10**400 + 1, {"ratio": {"x": 1}}, False),
    "larger-and-equal": (10**400, 10**400, {"ratio": {"x": 1}}, True),
    "infinite": (1, float("inf"), {"absolute": {"x": 1e300}}, False),
    "ratio-from-zero": (0, 0.2, {"ratio": {"x": 2.0}, "absolute": {"x": 0.5}}, True),
}


@pytest.mark.parametrize(("before", "after", "rules", "agree"), rows(BOUNDS))
def test_one_bound_suffices_and_none_is_rounded(
    before: float, after: float, rules: dict[str, Any], agree: bool
) -> None:
    """An absolute bound holds near zero, alone or beside a share, and for integers of any size."""
    assert tolerance.keeps_to(Compare(**rules), "x", before, after) is agree
    assert tolerance.keeps_to(Compare(**rules), "x", after, before) is agree
