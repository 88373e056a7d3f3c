"""Two records of one snippet set against each other: what differs, what may have caused it, and what says nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from capture import alignment, compare
from capture.alignment import Number
from capture.edits import text_edit
from capture.record import Environment, Record
from capture.snippet import Snippet

# Worst first. The first two are not about what was captured but about the file that holds it.
Kind = Literal[
    "private",
    "invalid",
    "status changed",
    "claim broken",
    "text changed",
    "number beyond tolerance",
    "not comparable",
    "newly captured",
    "removed",
    "stale",
    "number within tolerance",
    "volatile only",
    "identical",
]
KINDS: tuple[Kind, ...] = get_args(Kind)
QUIET: tuple[Kind, ...] = ("number within tolerance", "volatile only", "identical")
DEVICES = ("cuda", "rocm", "mps", "xpu", "xla")


@dataclass(frozen=True)
class Change:
    """What became of one record: its class, the words for it, what may have caused it, and what moved.

    `edit` is the change of text in short, the same for changes that are alike; `lines` are those that differ. `failing`
    says why it must not be merged, or nothing.
    """

    host: str
    snippet: str
    kind: Kind
    detail: str = ""
    causes: tuple[str, ...] = ()
    numbers: tuple[Number, ...] = ()
    edit: str = ""
    lines: tuple[str, ...] = ()
    failing: str = ""

    @property
    def quiet(self) -> bool:
        """Whether nobody need read it."""
        return self.kind in QUIET


def pair(snippet: Snippet, old: Record, new: Record, machine: tuple[str, ...]) -> Change:
    """Compare two records of one snippet under its policy; `machine` is in what their hosts differ."""
    found = compare.classify(snippet, old, new)
    numbers = alignment.moved(snippet, old.stdout, new.stdout)
    kind: Kind = found.kind
    detail = found.detail
    if kind == "text changed" and numbers is not None and old.stderr == new.stderr:
        reasons = noise_reasons(old.environment, new.environment)
        if reasons and numbers and all(number.noise or number.within for number in numbers):
            kind, detail = "number within tolerance", f"differs by less than {alignment.NOISE:g}: {reasons}"
    why_not = incomparable(snippet, old, new, machine)
    if why_not and kind not in ("status changed", "text changed", "identical"):
        kind, detail = "not comparable", f"{why_not}{f'; {found.detail}' if found.detail else ''}"
    elif why_not and kind == "text changed":
        kind = "not comparable" if devices(old) != devices(new) else kind
        detail = f"{why_not}; {detail}" if kind == "not comparable" else detail
    lines, edit = text_edit(old.stdout, new.stdout) if kind in ("text changed", "not comparable") else ((), "")
    if kind == "text changed" and not edit:
        lines, edit = text_edit(old.stderr, new.stderr)
    return Change(new.host, snippet.id, kind, detail, (), numbers or (), edit, lines)


def noise_reasons(old: Environment, new: Environment) -> str:
    """Say why computed numbers may differ in their last digits, or nothing."""
    names = [name for name in ("cpu_capability", "torch") if getattr(old, name) != getattr(new, name)]
    return " and ".join(f"{name} differs" for name in names)


def incomparable(snippet: Snippet, old: Record, new: Record, machine: tuple[str, ...]) -> str:
    """Say why two records say nothing about each other, or nothing: another device; for a timing, another machine."""
    if moved := [f"gate {name}: {before} -> {after}" for name, before, after in devices_moved(old, new)]:
        return ", ".join(moved)
    if not snippet.timing:
        return ""
    if machine:
        return ", ".join(machine[:3]) + (f" and {len(machine) - 3} more" if len(machine) > 3 else "")
    if old.conditions is None or new.conditions is None:
        return ""
    names = ("governor", "on_battery", "busy")
    states = [(name, getattr(old.conditions, name), getattr(new.conditions, name)) for name in names]
    return ", ".join(f"{name}: {before} -> {after}" for name, before, after in states if before != after)


def devices(item: Record) -> list[bool]:
    """Return which kinds of device torch saw."""
    return [item.environment.gates.get(name, False) for name in DEVICES]


def devices_moved(old: Record, new: Record) -> list[tuple[str, bool, bool]]:
    """Return the kinds of device that only one of two records saw."""
    both = zip(DEVICES, devices(old), devices(new), strict=True)
    return [(name, before, after) for name, before, after in both if before != after]


def causes_of(
    old: Record, new: Record, old_snippet: Snippet | None, snippet: Snippet, machine: tuple[str, ...]
) -> tuple[str, ...]:
    """Name what changed that may explain a difference: the source, the machine, the software."""
    causes = []
    if old.source_sha256 != new.source_sha256:
        causes.append("snippet changed")
    elif old_snippet is not None and old_snippet.compare != snippet.compare:
        causes.append("compare policy changed")
    causes += [f"host: {words}" for words in machine]
    return (*causes, *environment_changes(old.environment, new.environment))


def environment_changes(old: Environment, new: Environment) -> tuple[str, ...]:
    """Name what differs between two environments, as `torch 2.13.0+cpu -> 2.14.1+cpu`."""
    found = []
    for name in ("torch", "python", "cuda_build", "driver", "os", "cpu_capability", "chip"):
        before, after = getattr(old, name), getattr(new, name)
        if before != after:
            found.append(f"{name.replace('_', ' ')} {before or 'none'} -> {after or 'none'}")
    for table in ("packages", "gates", "threads", "limits"):
        before, after = getattr(old, table), getattr(new, table)
        for name in dict.fromkeys([*before, *after]):
            if before.get(name) != after.get(name):
                lead = "" if table == "packages" else f"{table.removesuffix('s')} "
                found.append(f"{lead}{name} {before.get(name, 'none')} -> {after.get(name, 'none')}")
    return tuple(found)
