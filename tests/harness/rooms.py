"""The rooms of `capture/`, from the top; the one list that the test of imports and CONTRIBUTING's picture share."""

from __future__ import annotations

# Each line is a floor, each name a room: a module belongs to the longest name that it stands in. A room imports from
# itself and from the floors below; rooms of one floor do not know each other.
FLOORS: tuple[tuple[str, ...], ...] = (
    ("__main__",),
    ("cli", "mkdocs_plugin"),
    ("cli.report",),
    ("review",),
    ("check",),
    ("site.notebook", "run.fleet", "exchange"),
    ("site.page", "run"),
    ("site.plot", "run.engine"),
    ("site.table",),
    ("site.markdown",),
    ("site.card",),
    ("site.model",),
    ("store",),
    ("record",),
    ("host.probe",),
    ("host",),
    ("snippet",),
    ("ground",),
)
GROUND = (
    "errors",
    "declared_types",
    "plain_data",
    "characters",
    "version_numbers",
)  # modules that know nothing of the handbook


def room_of(module: str) -> str:
    """Return the room of a module such as `capture.site.card.card`; nothing for one that stands in none."""
    name = module.removeprefix("capture").lstrip(".")
    if name in GROUND:
        return "ground"
    inside = [room for floor in FLOORS for room in floor if name == room or name.startswith(f"{room}.")]
    return max(inside, key=len, default="")


def floor_of(room: str) -> int:
    """Return the floor of a room, 0 being the top."""
    return next(number for number, floor in enumerate(FLOORS) if room in floor)
