"""Whether two captures of a snippet say the same, under the policy its header declares."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from capture.errors import CaptureError
from capture.record import claims, privacy
from capture.record.record import Record
from capture.snippet.snippet import Snippet

# Worst first, as a reviewer reads them.
ChangeKind = Literal[
    "status changed",
    "text changed",
    "number beyond tolerance",
    "number within tolerance",
    "volatile only",
    "identical",
]
_SAME: tuple[ChangeKind, ...] = ("number within tolerance", "volatile only", "identical")
# Named rules for what varies and teaches nothing. A printed `hex()` is a lesson, so an address counts only inside
# the angle brackets of a default repr, behind "at" or a colon.
ADDRESS = re.compile(r"(?:(?<= at )|(?<=\w:))0x[0-9a-fA-F]{6,16}(?=>|[,:;]? [^\n>]*>)")
_WITHHELD = "differs in what must not be shown"
_CARETS = re.compile(r"^[ |+]*[~^][~^ ]*$\n?", re.MULTILINE)
# A number may carry a unit, as in `0.19ms` or `7.3x`; the digits of a name such as `bf16` are none, nor is `2.13.0`.
_NUMBER_WITH_UNIT = re.compile(r"(?<![\w.])[-+]?\d[\d,]*(?:\.\d+)?(?!\.\d)(?:[eE][-+]?\d+)?(?=[^\W\d]{0,3}(?!\w))")


@dataclass(frozen=True)
class Agreement:
    """How far two captures of a snippet agree: the class of their difference, and what differs, in words."""

    kind: ChangeKind
    detail: str = ""

    @property
    def same(self) -> bool:
        """Tell whether the two captures say the same."""
        return self.kind in _SAME


def classify(snippet: Snippet, old: Record, new: Record) -> Agreement:
    """Return the class of the change between two records of one snippet; its words hold nothing private."""
    found = _classify(snippet, old, new)
    if not found.detail:
        return found
    told_old, told_new = _as_shown(old), _as_shown(new)
    if told_old is old and told_new is new:
        return found
    told = _classify(snippet, told_old, told_new)
    return replace(found, detail=told.detail if told.kind == found.kind else _WITHHELD)


def _as_shown(item: Record) -> Record:
    """Return a record with its outputs as a person may see them; the same one where nothing in them is private."""
    stdout, stderr = privacy.shown(item.stdout), privacy.shown(item.stderr)
    return item if (stdout, stderr) == (item.stdout, item.stderr) else replace(item, stdout=stdout, stderr=stderr)


def _classify(snippet: Snippet, old: Record, new: Record) -> Agreement:
    """Return the class of the change, in words that quote both records."""
    if (old.status, old.exit_code) != (new.status, new.exit_code):
        return Agreement("status changed", f"{ending(old)} -> {ending(new)}")
    in_stdout = _text_change(snippet, old.stdout, new.stdout)
    if not in_stdout.same:
        return in_stdout
    if mask_errors(snippet, old.stderr) != mask_errors(snippet, new.stderr):
        return Agreement("text changed", f"stderr: {_first_difference(old.stderr, new.stderr)}")
    if in_stdout.kind == "identical" and old.stderr != new.stderr:
        return Agreement("volatile only", "stderr")
    return in_stdout


def ending(item: Record) -> str:
    """Say how a record ended."""
    return f"{item.status} (exit {item.exit_code})" if item.exit_code is not None else item.status


def _text_change(snippet: Snippet, old: str, new: str) -> Agreement:
    """Compare two stdout texts: named values by their tolerance, the rest exactly but for what may vary."""
    if old == new:
        return Agreement("identical")
    policy = snippet.compare
    moved: list[str] = []
    beyond: list[str] = []
    for name, limit in {**policy.relative, **policy.ratio}.items():
        try:
            before, after = (claims.find(snippet, name, text, "a capture").scalar for text in (old, new))
        except CaptureError as error:
            return Agreement("text changed", str(error))
        if before == after or str(before) == str(after) == "nan":
            continue
        if isinstance(before, str) or isinstance(after, str):
            return Agreement("text changed", f"{name}: {before} -> {after}")
        agree = within(before, after, limit, name in policy.ratio)
        (moved if agree else beyond).append(f"{name}: {before:g} -> {after:g}")
    if mask(snippet, old) != mask(snippet, new):
        return Agreement("text changed", _first_difference(mask(snippet, old), mask(snippet, new)))
    if beyond:
        return Agreement("number beyond tolerance", "; ".join(beyond))
    return Agreement("number within tolerance", "; ".join(moved)) if moved else Agreement("volatile only")


def within(before: float, after: float, limit: float, as_ratio: bool) -> bool:
    """Tell whether two numbers agree: within a factor, or within a share of the larger one.

    What is not finite agrees with nothing, not even by a share of itself.
    """
    if not math.isfinite(before - after):
        return False
    if as_ratio:
        small, large = sorted((abs(before), abs(after)))
        return small > 0 and (before > 0) == (after > 0) and large <= limit * small
    return abs(after - before) <= limit * max(abs(before), abs(after))


def mask(snippet: Snippet, text: str) -> str:
    """Return stdout with all that may vary replaced by marks; column widths do not count then.

    Where nothing may vary they do: blanks are what aligns a result.
    """
    exact = text
    for name in {**snippet.compare.relative, **snippet.compare.ratio}:
        text = snippet.values[name].sub(lambda match: _replace_group(match, "<number>"), text)
    for pattern in snippet.compare.volatile:
        text = pattern.sub("<varies>", text)
    text = ADDRESS.sub("<address>", text)
    if snippet.timing:
        text = _NUMBER_WITH_UNIT.sub("<number>", text)
    return text if text == exact else re.sub(r"[ \t]+", " ", text)


def mask_errors(snippet: Snippet, text: str) -> str:
    """Return stderr with all that may vary replaced by marks; Python versions differ in their carets."""
    return mask(snippet, _CARETS.sub("", text))


def _replace_group(match: re.Match[str], mark: str) -> str:
    """Return the matched text with its group replaced."""
    if match[1] is None:
        return match[0]
    start, end = match.start(1) - match.start(), match.end(1) - match.start()
    return match[0][:start] + mark + match[0][end:]


def _first_difference(old: str, new: str) -> str:
    """Show the first line that differs, shortened."""
    before, after = old.split("\n"), new.split("\n")
    for number, (one, other) in enumerate(zip(before, after, strict=False), 1):
        if one != other:
            return f"line {number}: {_short(one)} -> {_short(other)}"
    return f"{len(before) - 1} -> {len(after) - 1} lines"


def _short(line: str, limit: int = 60) -> str:
    """Return a line in quotes, cut to a length."""
    return f'"{line[:limit]}…"' if len(line) > limit else f'"{line}"'


def spread(numbers: Sequence[float]) -> float:
    """Return max/min of positive numbers, which is how well repetitions agree (1 is perfect)."""
    return max(numbers) / min(numbers) if min(numbers) > 0 else float("inf")
