"""Ratios of what was measured side by side, each against what is wanted."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Faster:
    """Wanted: ours takes at most one `times`-th of the other's time."""

    times: float

    def of(self, ours: float, theirs: float) -> float:
        """Return how many times faster ours is."""
        return theirs / ours

    def met(self, measured: float) -> bool:
        """Tell whether that is enough."""
        return measured >= self.times

    def words(self) -> tuple[str, str]:
        """Return the unit of what is measured, and what is wanted."""
        return "x faster", f"at least {self.times:g}x faster"


@dataclass(frozen=True)
class Within:
    """Wanted: ours takes at most `times` the other's time."""

    times: float

    def of(self, ours: float, theirs: float) -> float:
        """Return how many times the other's time ours takes."""
        return ours / theirs

    def met(self, measured: float) -> bool:
        """Tell whether that is little enough."""
        return measured <= self.times

    def words(self) -> tuple[str, str]:
        """Return the unit of what is measured, and what is wanted."""
        return "x its time", f"at most {self.times:g}x its time"


@dataclass(frozen=True)
class Grows:
    """Wanted: ours uses at most `megabytes` more than the other; both are given in megabytes."""

    megabytes: float

    def of(self, ours: float, theirs: float) -> float:
        """Return how much more ours uses."""
        return ours - theirs

    def met(self, measured: float) -> bool:
        """Tell whether that is little enough."""
        return measured <= self.megabytes

    def words(self) -> tuple[str, str]:
        """Return the unit of what is measured, and what is wanted."""
        return " MB more", f"at most {self.megabytes:g} MB more"


@dataclass(frozen=True)
class Holds:
    """Wanted: ours holds at most so many `megabytes` of memory; the other is only named."""

    megabytes: float

    def of(self, ours: float, _: float) -> float:
        """Return how much ours holds."""
        return ours

    def met(self, measured: float) -> bool:
        """Tell whether that is little enough."""
        return measured <= self.megabytes

    def words(self) -> tuple[str, str]:
        """Return the unit of what is measured, and what is wanted."""
        return " MB", f"at most {self.megabytes:g} MB"


Wanted = Faster | Within | Grows | Holds


@dataclass(frozen=True)
class Row:
    """One comparison: what was measured in each round, ours and the other's of the same round."""

    ours: str
    theirs: str
    rounds: tuple[tuple[float, float], ...]
    wanted: Wanted

    @property
    def measured(self) -> float:
        """The median over the rounds of the comparison within a round, so that noise hits both sides alike."""
        return statistics.median(self.each)

    @property
    def each(self) -> list[float]:
        """The comparison within each round."""
        return [self.wanted.of(ours, theirs) for ours, theirs in self.rounds]

    @property
    def met(self) -> bool:
        """Whether the median is as wanted."""
        return self.wanted.met(self.measured)

    def cells(self) -> tuple[str, ...]:
        """Return the row as text: ours, theirs, measured with its range, wanted, verdict."""
        unit, wanted = self.wanted.words()
        spread = f"{number(min(self.each))} to {number(max(self.each))}"
        return self.ours, self.theirs, f"{number(self.measured)}{unit}", spread, wanted, "met" if self.met else "MISSED"


def number(value: float) -> str:
    """Return a number with as many digits as a ratio deserves."""
    return f"{value:.2f}" if abs(value) < 10 else f"{value:.1f}"


def text(rows: Sequence[Row]) -> str:
    """Return the rows as an aligned table under a head."""
    head = ("ours", "against", "median", "rounds", "wanted", "")
    cells = [head, *(row.cells() for row in rows)]
    widths = [max(len(line[column]) for line in cells) for column in range(len(head))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in cells]
    return "\n".join([lines[0], "-" * max(map(len, lines)), *lines[1:], ""])
