"""Compares two records of one snippet: of what class the difference is, and what may have caused it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from capture.host.environment import Conditions, Environment
from capture.record import agreement, privacy
from capture.record.record import Record
from capture.review import number_alignment
from capture.review.line_edits import text_edit
from capture.review.number_alignment import MovedNumber
from capture.snippet.snippet import Snippet

# The classes, worst first. The first two are about the file of a record, the others about what was captured.
ChangeKind = Literal[
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
KINDS: tuple[ChangeKind, ...] = get_args(ChangeKind)
QUIET: tuple[ChangeKind, ...] = ("number within tolerance", "volatile only", "identical")
NOISE_WORDS = "differs by less than"
SOURCE_CHANGED, POLICY_CHANGED = "snippet changed", "compare policy changed"
MOST_NUMBERS = 50  # numbers of one record after which the others are left out
_DEVICE_GATES = ("cuda", "rocm", "mps", "xpu", "xla")


@dataclass(frozen=True)
class RecordChange:
    """What became of one record.

    `kind` is the class of the change, `detail` says it in words, and `causes` what may have caused it. `numbers` are
    those that moved. `edit` is the change of text in short, the same for changes that are alike, and `lines` are the
    lines that differ. `speed` says how fast one host is against another. `failing` says why the change must not be
    merged, or nothing.
    """

    host: str
    snippet: str
    kind: ChangeKind
    detail: str = ""
    causes: tuple[str, ...] = ()
    numbers: tuple[MovedNumber, ...] = ()
    edit: str = ""
    lines: tuple[str, ...] = ()
    speed: str = ""
    failing: str = ""

    @property
    def quiet(self) -> bool:
        """Whether nobody needs to read it."""
        return self.kind in QUIET

    @property
    def rank(self) -> tuple[int, str, str]:
        """What changes are sorted by: the worst class first, in it by snippet and host."""
        return KINDS.index(self.kind), self.snippet, self.host


def compare_records(snippet: Snippet, old: Record, new: Record, machine: tuple[str, ...]) -> RecordChange:
    """Compare two records of one snippet under its policy; `machine` says in what their hosts differ.

    The change names no causes: who calls this knows more of them.
    """
    classified = agreement.classify(snippet, old, new)
    old, new = privacy.shown_in(old), privacy.shown_in(new)  # all that follows quotes them
    numbers = number_alignment.moved_numbers(snippet, old.stdout, new.stdout) or ()
    kind: ChangeKind = classified.kind
    detail = classified.detail
    if kind == "text changed" and numbers and (reasons := _noise_reasons(old.environment, new.environment)):
        stderr_same = agreement.mask_errors(snippet, old.stderr) == agreement.mask_errors(snippet, new.stderr)
        if stderr_same and all(number.noise or number.within for number in numbers):
            kind, detail = "number within tolerance", f"{NOISE_WORDS} {number_alignment.NOISE_SHARE:g}: {reasons}"
    why_incomparable = _why_incomparable(snippet, old, new, machine)
    if why_incomparable and not _counts_all_the_same(snippet, kind, _devices_seen(old) != _devices_seen(new)):
        kind, detail = "not comparable", why_incomparable
    lines, edit = _text_difference(old, new, numbers, kind)
    return RecordChange(new.host, snippet.id, kind, detail, (), _numbers_to_show(numbers), edit, lines)


def _counts_all_the_same(snippet: Snippet, kind: ChangeKind, other_device: bool) -> bool:
    """Tell whether a difference of this class counts although the devices or the machines differ.

    Timings of two machines compare the machines and say nothing of the snippet. Other text counts on another machine;
    on another kind of device it was to be expected.
    """
    if kind in ("status changed", "identical"):
        return True
    if snippet.timing:
        return kind == "text changed" and not other_device
    return kind == "volatile only"


def _numbers_to_show(numbers: tuple[MovedNumber, ...]) -> tuple[MovedNumber, ...]:
    """Return the first MOST_NUMBERS numbers: those beyond tolerance before the others, in both the named ones first."""
    return tuple(sorted(numbers, key=lambda number: (number.within, not number.named))[:MOST_NUMBERS])


def _text_difference(
    old: Record, new: Record, numbers: tuple[MovedNumber, ...], kind: ChangeKind
) -> tuple[tuple[str, ...], str]:
    """Return the lines that differ and the edit in short, both empty for a change that nobody needs to read.

    The lines are those of stdout, or those of stderr where stdout is the same.
    """
    if kind in QUIET or kind == "status changed":
        return (), ""
    if numbers and kind != "text changed":
        return (), "; ".join(f"{number.name}: {number.old} -> {number.new}" for number in _numbers_to_show(numbers)[:4])
    if old.stdout != new.stdout:
        return text_edit(old.stdout, new.stdout)
    lines, edit = text_edit(old.stderr, new.stderr)
    return ("stderr:", *lines), f"stderr: {edit}"


def _noise_reasons(old: Environment, new: Environment) -> str:
    """Say what in the environment lets computed numbers differ in their last digits, or nothing."""
    names = ("cpu_capability", "torch", "cuda_build", "driver")
    differing = [name for name in names if getattr(old, name) != getattr(new, name)]
    packages = dict.fromkeys([*old.packages, *new.packages])
    differing += [name for name in packages if old.packages.get(name) != new.packages.get(name)]
    return " and ".join(f"{name} differs" for name in differing)


def _why_incomparable(snippet: Snippet, old: Record, new: Record, machine: tuple[str, ...]) -> str:
    """Say why two records cannot be compared, or nothing.

    The reason is another kind of device, or, for timings, another machine or another power state.
    """
    if moved := [f"gate {name}: {before} -> {after}" for name, before, after in _device_differences(old, new)]:
        return ", ".join(moved)
    if not snippet.timing:
        return ""
    chips = old.environment.chip, new.environment.chip
    if machine:
        return ", ".join(machine[:3]) + (f" and {len(machine) - 3} more" if len(machine) > 3 else "")
    if chips[0] != chips[1]:
        return f"chip: {chips[0]} -> {chips[1]}"
    return ", ".join(_power_differences(old.conditions, new.conditions))


def _power_differences(old: Conditions | None, new: Conditions | None) -> list[str]:
    """Say in which states of its machine two timings were taken, where the states differ.

    A machine that is busy, or slowed down by heat, counts as another one as well. What could not be read on one side
    does not count.
    """
    if old is None or new is None:
        return []
    differences = []
    for words, name in (
        ("governor", "governor"),
        ("battery", "on_battery"),
        ("cores", "cores"),
        ("highest frequency", "cpu_max_mhz"),
    ):
        before, after = getattr(old, name), getattr(new, name)
        if before is not None and after is not None and before != after:
            differences.append(f"{words}: {_in_words(before)} -> {_in_words(after)}")
    for words, name in (("busy host", "busy"), ("slowed down by heat", "throttled")):
        before, after = bool(getattr(old, name)), bool(getattr(new, name))
        if before != after:
            differences.append(f"{words}: {_in_words(before)} -> {_in_words(after)}")
    return differences


def _in_words(value: object) -> str:
    """Return a condition of a machine in words."""
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)


def _devices_seen(item: Record) -> list[bool]:
    """Return for each kind of device whether torch saw one."""
    return [item.environment.gates.get(name, False) for name in _DEVICE_GATES]


def _device_differences(old: Record, new: Record) -> list[tuple[str, bool, bool]]:
    """Return the kinds of device that torch saw for one of two records alone, each with what both saw."""
    both = zip(_DEVICE_GATES, _devices_seen(old), _devices_seen(new), strict=True)
    return [(name, before, after) for name, before, after in both if before != after]


def causes_of(
    old: Record, new: Record, old_snippet: Snippet | None, snippet: Snippet, machine: tuple[str, ...]
) -> tuple[str, ...]:
    """Name what changed and may explain a difference: source or compare policy, machine, environment.

    `old_snippet` is None where the snippet of the old record cannot be read; `machine` says in what the hosts differ.
    """
    causes = []
    if old.source_sha256 != new.source_sha256:
        causes.append(SOURCE_CHANGED)
    elif old_snippet is not None and old_snippet.compare != snippet.compare:
        causes.append(POLICY_CHANGED)
    causes += [f"host: {words}" for words in machine]
    software = environment_changes(old.environment, new.environment)
    return (*causes, *(words for words in software if not (machine and words.startswith(CHIP_CHANGED))))


CHIP_CHANGED = "chip "  # begins the words for another chip, which are no news beside another machine


def environment_changes(old: Environment, new: Environment) -> tuple[str, ...]:
    """Name what differs between two environments, each as `torch 2.13.0+cpu -> 2.14.1+cpu`."""
    changes = []
    for name in ("torch", "python", "cuda_build", "driver", "os", "cpu_capability", "chip"):
        before, after = getattr(old, name), getattr(new, name)
        if before != after:
            changes.append(f"{name.replace('_', ' ')} {before or 'none'} -> {after or 'none'}")
    for table in ("packages", "gates", "threads", "limits", "xla"):
        before, after = getattr(old, table), getattr(new, table)
        for name in dict.fromkeys([*before, *after]):
            if before.get(name) != after.get(name):
                lead = "" if table == "packages" else f"{table.removesuffix('s')} "
                changes.append(f"{lead}{name} {before.get(name, 'none')} -> {after.get(name, 'none')}")
    return privacy.shown_in(tuple(changes))
