"""The scale that all panels of a chart share: from numbers to places, and where its lines are."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import ceil, floor, log10

INTERVALS = 4  # between the lines of a linear scale
DECADES = 5  # between the first and the last line of a logarithmic one
FEW_DECADES = 1.2  # below that a logarithmic scale has lines at 2 and 5 too
NICE = (1.0, 2.0, 2.5, 5.0, 10.0)
SLACK = 1e-9  # of an interval: what rounding takes from a number that lies on a line


@dataclass(frozen=True)
class Scale:
    """From `low` to `high`, `inset` hundredths of the width from its ends; it has its lines at the `ticks`."""

    low: float
    high: float
    log: bool
    inset: float
    ticks: tuple[float, ...]

    def place(self, number: float) -> float:
        """Return where a number stands, in hundredths of the width."""
        if self.log:
            share = log10(number / self.low) / log10(self.high / self.low)
        else:
            share = (number - self.low) / (self.high - self.low)
        return self.inset + share * (100 - 2 * self.inset)


def scale_of(numbers: Iterable[float], log: bool, inset: float = 0.0) -> Scale:
    """Return the scale that holds all numbers, of which there is one at least; those of a logarithm are above 0."""
    numbers = list(numbers)
    low, high = min(numbers), max(numbers)
    if not log:
        high = high if high > low else low + 1
        return Scale(low, high, log, inset, linear_ticks(low, high))
    few = log10(high / low) < FEW_DECADES
    if few:
        low, high = low / 1.25, high * 1.25
    else:
        low, high = min(low, 10.0 ** floor(log10(low) + 0.3)), max(high, 10.0 ** ceil(log10(high) - 0.3))
    return Scale(low, high, log, inset, log_ticks(low, high, few))


def linear_ticks(low: float, high: float) -> tuple[float, ...]:
    """Return the multiples of a round number between two numbers: five at most."""
    least = (high - low) / INTERVALS
    magnitude = 10.0 ** floor(log10(least))
    step = next((nice * magnitude for nice in NICE if nice * magnitude >= least * (1 - SLACK)), 10 * magnitude)
    multiples = range(ceil(low / step - SLACK), floor(high / step + SLACK) + 1)
    return tuple(float(f"{multiple * step:.12g}") for multiple in multiples)


def log_ticks(low: float, high: float, few: bool) -> tuple[float, ...]:
    """Return powers of ten between two numbers, or, where there are few, also what is twice and five times as much."""
    first, last = floor(log10(low)), ceil(log10(high))
    every = 1 if few else max(1, ceil((last - first) / DECADES))
    factors = (1.0, 2.0, 5.0) if few else (1.0,)
    powers = (power for power in range(first, last + 1) if power % every == 0)
    numbers = (float(f"{factor}e{power}") for power in powers for factor in factors)
    ticks = tuple(number for number in numbers if low * (1 - SLACK) <= number <= high * (1 + SLACK))
    return ticks if len(ticks) > 1 else linear_ticks(low, high)


def percent(share: float) -> str:
    """Return hundredths of a width as CSS and SVG have them, with one decimal at most."""
    return f"{round(share, 1):g}%"
