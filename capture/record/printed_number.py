"""Numbers as scripts print them: whole ones exact whatever their size, others as floats."""

from __future__ import annotations

import decimal
import math
import re

# A number as Python writes it, or with commas between thousands; `1_000`, `1,5` and `٣` are text.
PRINTED_NUMBER = re.compile(
    r"[+-]?(?:(?:\d+|\d{1,3}(?:,\d{3})+)(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?|[+-]?(?:inf(?:inity)?|nan)",
    re.IGNORECASE | re.ASCII,
)
_WHOLE = re.compile(r"[+-]?\d+", re.ASCII)


def value_of(text: str) -> int | float:
    """Return the value of what PRINTED_NUMBER matches: an int where it is written whole.

    Raises ValueError for more digits than Python reads, 4,300 unless it was started otherwise.
    """
    bare = text.strip().replace(",", "")
    return int(bare) if _WHOLE.fullmatch(bare) else float(bare)


def scalar_of(text: str) -> int | float | str:
    """Return the value of a text that is a number, else the text; raises ValueError as `value_of` does."""
    return value_of(text) if PRINTED_NUMBER.fullmatch(text.strip()) else text


def is_finite(number: int | float) -> bool:
    """Tell whether a number is neither infinite nor none; a whole one may be larger than any float."""
    return isinstance(number, int) or math.isfinite(number)


def is_nan(number: int | float | str) -> bool:
    """Tell whether this is the float that is no number."""
    return isinstance(number, float) and math.isnan(number)


def exact(number: int | float) -> decimal.Decimal:
    """Return a finite number as the decimal that it is written as."""
    return decimal.Decimal(number if isinstance(number, int) else repr(number))


def shown(number: int | float) -> str:
    """Return a number in as few digits as say which it is."""
    if isinstance(number, int):
        return str(number)
    short = f"{number:g}"
    return short if float(short) == number or math.isnan(number) else repr(number)
