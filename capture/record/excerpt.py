"""Cuts two texts that differ to the part around their first difference, so that both halves show it."""

from __future__ import annotations


def first_difference(one: str, other: str) -> int:
    """Return the position of the first character in which two texts differ."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((place for place, (before, after) in pairs if before != after), min(len(one), len(other)))


def around_difference(one: str, other: str, width: int) -> tuple[str, str]:
    """Return both texts, each cut to a width around their first difference, with a mark where something is left out."""
    place = first_difference(one, other)
    return _around(one, place, width), _around(other, place, width)


def _around(text: str, place: int, width: int) -> str:
    """Return the part of a text around a place."""
    first = max(0, min(place - width // 2, len(text) - width))
    last = first + width
    return f"{'…' if first else ''}{text[first:last]}{'…' if last < len(text) else ''}"
