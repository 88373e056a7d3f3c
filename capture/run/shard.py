"""Shares of a selection for machines that work side by side: each snippet in exactly one, about as much work in each.

The rule needs nothing but headers, so that every machine finds the same shares. Records would tell more, but they
change while the shares are captured, and a share that is computed late must be the one that was computed early.

1. What a snippet costs is its time limit, of which five minutes count at most, as often as it is executed: three times
   and alone where it times, else twice and four side by side.
2. The costliest snippet comes first. Each ranks the shares by a hash of its id and takes the first one that has room,
   or the emptiest one where none has.
3. Room is a twentieth more than an even part, rounded up to an eighth of its highest power of two. So a new snippet
   changes the room rarely, takes its own place, and moves few others.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass

from capture.errors import CaptureError
from capture.snippet.snippet import Snippet

LONGEST = 300  # seconds of a time limit that count: most executions end far below theirs
ALONE, BESIDE = 6, 1  # halves of a time limit: three executions alone, two of which four run side by side
MOST = 1000


@dataclass(frozen=True)
class Shard:
    """One share out of `count`; `number` counts from 1."""

    number: int
    count: int

    def __str__(self) -> str:
        return f"{self.number}/{self.count}"


def parse(text: str) -> Shard | None:
    """Return the share that `K/N` names, or None for no text; raises CaptureError for anything else."""
    if not text:
        return None
    match = re.fullmatch(r"([0-9]{1,4})/([0-9]{1,4})", text)
    number, count = (int(match[1]), int(match[2])) if match else (0, 0)
    if not 1 <= number <= count <= MOST:
        raise CaptureError(f"--shard {text}: use K/N with K from 1 to N, such as 2/4; N is at most {MOST:,}")
    return Shard(number, count)


def part(shard: Shard | None, snippets: Iterable[Snippet]) -> set[str]:
    """Return the ids of a share; all of them where none is named."""
    chosen = list(snippets)
    return {item.id for item in chosen} if shard is None else set(shares(chosen, shard.count)[shard.number - 1])


def shares(snippets: Iterable[Snippet], count: int) -> list[list[str]]:
    """Return the ids of every share, by the rule above."""
    ordered = sorted(snippets, key=lambda item: (-cost(item), _rank(item.id, 0)))
    limit = _room(sum(map(cost, ordered)), count)
    loads, parts = [0] * count, [list[str]() for _ in range(count)]
    for item in ordered:
        ranked = sorted(range(count), key=lambda number: _rank(item.id, number + 1))
        fitting = [number for number in ranked if loads[number] + cost(item) <= limit]
        chosen = fitting[0] if fitting else min(ranked, key=loads.__getitem__)
        loads[chosen] += cost(item)
        parts[chosen].append(item.id)
    return parts


def cost(snippet: Snippet) -> int:
    """Return what executing a snippet is expected to cost, in half seconds."""
    return max(1, int(min(snippet.timeout, LONGEST))) * (ALONE if snippet.timing else BESIDE)


def _room(total: int, count: int) -> int:
    """Return how much a share may hold, in whole numbers, so that every machine computes the same."""
    even = max(1, total * 21 // (20 * count))
    step = max(1, (1 << even.bit_length() - 1) // 8)
    return (even + step - 1) // step * step


def _rank(snippet_id: str, number: int) -> bytes:
    """Return what orders the shares for a snippet, as if by lot but for ever."""
    return hashlib.sha256(f"{snippet_id} {number}".encode()).digest()
