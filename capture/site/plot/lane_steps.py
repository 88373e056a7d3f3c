"""A line of steps that a snippet prints, as the `lanes` of a plot draw it.

    A load > A write x > B waits A > B read x* > free x > A go on

Steps stand in the order in which they happen. `LANE TEXT` is an operation in a lane; a sign that the fence declares may
follow it. `LANE waits LANE` is an arrow into the first lane. What begins with no lane's name, such as `free x`, happens
to all lanes at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from capture.errors import CaptureError, suggestion

MOST_STEPS = 24


@dataclass(frozen=True)
class LaneStep:
    """`lane` is None for what happens to all; `source` is the lane that a wait is for; `marks` are its signs."""

    text: str
    lane: int | None = None
    source: int | None = None
    marks: str = ""


def parse(text: str, lanes: Sequence[str], signs: Iterable[str]) -> tuple[LaneStep, ...]:
    """Read a line of steps; raises CaptureError that says which step cannot be read."""
    parts = [" ".join(part.split()) for part in text.split(">")]
    if len(parts) > MOST_STEPS:
        raise CaptureError(f"{len(parts)} steps in one line; lanes show at most {MOST_STEPS}")
    steps = tuple(step(part, lanes, "".join(signs)) for part in parts)
    if not any(item.lane is not None for item in steps):
        raise CaptureError(f'no step of "{text}" is in a lane ({", ".join(lanes)})')
    return steps


def step(text: str, lanes: Sequence[str], signs: str) -> LaneStep:
    """Read one step."""
    if not text:
        raise CaptureError('an empty step between two ">"')
    name, _, rest = text.partition(" ")
    if name not in lanes:
        return LaneStep(text)
    if not rest:
        raise CaptureError(f'step "{text}" says a lane and nothing that happens in it')
    word, _, other = rest.partition(" ")
    if word == "waits":
        if other not in lanes or other == name:
            raise CaptureError(f'step "{text}": a lane waits for another one{suggestion(other, set(lanes) - {name})}')
        return LaneStep(rest, lanes.index(name), lanes.index(other))
    bare = rest.rstrip(signs) if signs else rest
    return LaneStep(rest, lanes.index(name), None, rest[len(bare) :])
