"""Two records of one snippet set against each other: what differs, what may have caused it, and what says nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from capture.host.environment import Conditions, Environment
from capture.record import agreement
from capture.record.record import Record
from capture.review import number_alignment
from capture.review.line_edits import text_edit
from capture.review.number_alignment import Number
from capture.snippet.snippet import Snippet

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
NOISE = "differs by less than"
SOURCE, POLICY = "snippet changed", "compare policy changed"
LEFT_OUT = 50  # numbers of one record after which the others are left out
DEVICES = ("cuda", "rocm", "mps", "xpu", "xla")


@dataclass(frozen=True)
class Change:
    """What became of one record: its class, the words for it, what may have caused it, and what moved.

    `edit` is the change of text in short, the same for changes that are alike; `lines` are those that differ; `speed`
    is how two hosts compare. `failing` says why it must not be merged, or nothing.
    """

    host: str
    snippet: str
    kind: Kind
    detail: str = ""
    causes: tuple[str, ...] = ()
    numbers: tuple[Number, ...] = ()
    edit: str = ""
    lines: tuple[str, ...] = ()
    speed: str = ""
    failing: str = ""

    @property
    def quiet(self) -> bool:
        """Whether nobody need read it."""
        return self.kind in QUIET


def pair(snippet: Snippet, old: Record, new: Record, machine: tuple[str, ...]) -> Change:
    """Compare two records of one snippet under its policy; `machine` is in what their hosts differ."""
    found = agreement.classify(snippet, old, new)
    numbers = number_alignment.moved(snippet, old.stdout, new.stdout) or ()
    kind: Kind = found.kind
    detail = found.detail
    if kind == "text changed" and numbers and (reasons := noise_reasons(old.environment, new.environment)):
        stderr_same = agreement.mask_errors(snippet, old.stderr) == agreement.mask_errors(snippet, new.stderr)
        if stderr_same and all(number.noise or number.within for number in numbers):
            kind, detail = "number within tolerance", f"{NOISE} {number_alignment.NOISE:g}: {reasons}"
    why_not = incomparable(snippet, old, new, machine)
    if why_not and not comparable(snippet, kind, devices(old) != devices(new)):
        kind, detail = "not comparable", why_not
    lines, edit = difference(old, new, numbers, kind)
    return Change(new.host, snippet.id, kind, detail, (), telling(numbers), edit, lines)


def comparable(snippet: Snippet, kind: Kind, other_device: bool) -> bool:
    """Tell whether a difference of this class counts although devices or machines differ.

    Who compares timings of two machines compares the machines; text stays text, but on another device it is another
    result.
    """
    if kind in ("status changed", "identical"):
        return True
    if snippet.timing:
        return kind == "text changed" and not other_device
    return kind == "volatile only"


def telling(numbers: tuple[Number, ...]) -> tuple[Number, ...]:
    """Return the numbers that moved, those beyond tolerance first, the named before the others, not without end."""
    return tuple(sorted(numbers, key=lambda number: (number.within, not number.named))[:LEFT_OUT])


def difference(old: Record, new: Record, numbers: tuple[Number, ...], kind: Kind) -> tuple[tuple[str, ...], str]:
    """Return the lines that differ and the change in short, where somebody should read it; stdout before stderr."""
    if kind in QUIET or kind == "status changed":
        return (), ""
    if numbers and kind != "text changed":
        return (), "; ".join(f"{number.name}: {number.old} -> {number.new}" for number in telling(numbers)[:4])
    if old.stdout != new.stdout:
        return text_edit(old.stdout, new.stdout)
    lines, edit = text_edit(old.stderr, new.stderr)
    return ("stderr:", *lines), f"stderr: {edit}"


def noise_reasons(old: Environment, new: Environment) -> str:
    """Say why computed numbers may differ in their last digits, or nothing."""
    names = ("cpu_capability", "torch", "cuda_build", "driver")
    found = [name for name in names if getattr(old, name) != getattr(new, name)]
    every = dict.fromkeys([*old.packages, *new.packages])
    found += [name for name in every if old.packages.get(name) != new.packages.get(name)]
    return " and ".join(f"{name} differs" for name in found)


def incomparable(snippet: Snippet, old: Record, new: Record, machine: tuple[str, ...]) -> str:
    """Say why two records say nothing about each other, or nothing: another device; for a timing, another machine."""
    if moved := [f"gate {name}: {before} -> {after}" for name, before, after in devices_moved(old, new)]:
        return ", ".join(moved)
    if not snippet.timing:
        return ""
    chips = old.environment.chip, new.environment.chip
    if machine:
        return ", ".join(machine[:3]) + (f" and {len(machine) - 3} more" if len(machine) > 3 else "")
    if chips[0] != chips[1]:
        return f"chip: {chips[0]} -> {chips[1]}"
    return ", ".join(power(old.conditions, new.conditions))


def power(old: Conditions | None, new: Conditions | None) -> list[str]:
    """Name the power states in which two timings were taken, where they differ; what nobody could read does not count.

    Beside other work, and slowed down by heat, a machine is another one as well.
    """
    if old is None or new is None:
        return []
    found = []
    for words, name in (
        ("governor", "governor"),
        ("battery", "on_battery"),
        ("cores", "cores"),
        ("highest frequency", "cpu_max_mhz"),
    ):
        before, after = getattr(old, name), getattr(new, name)
        if before is not None and after is not None and before != after:
            found.append(f"{words}: {said(before)} -> {said(after)}")
    for words, name in (("busy host", "busy"), ("slowed down by heat", "throttled")):
        both = bool(getattr(old, name)), bool(getattr(new, name))
        if both[0] != both[1]:
            found.append(f"{words}: {said(both[0])} -> {said(both[1])}")
    return found


def said(value: object) -> str:
    """Return a state in words."""
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)


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
        causes.append(SOURCE)
    elif old_snippet is not None and old_snippet.compare != snippet.compare:
        causes.append(POLICY)
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
