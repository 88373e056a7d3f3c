"""Whether two captures of a snippet say the same, under the policy its header declares."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

from capture.errors import CaptureError
from capture.record import claims, printed_number, privacy, tolerance
from capture.record.excerpt import around_difference
from capture.record.record import Record
from capture.snippet.pattern import Match, PatternTooSlow
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
_WIDTH = 60  # characters of a line that are shown, around its first difference
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
    """Return the class of the change between two records of one snippet; its words hold nothing private.

    Where a pattern of its header takes too long nothing is known, which counts as changed text.
    """
    try:
        found = _classified(snippet, old, new)
        told_old, told_new = _as_shown(old), _as_shown(new)
        if not found.detail or (told_old is old and told_new is new):
            return found
        told = _classified(snippet, told_old, told_new)
    except PatternTooSlow as error:
        line = snippet.place("tool", "capture", "compare", "volatile")
        return Agreement("text changed", f"{snippet.path}:{line}: a pattern {error}")
    return replace(found, detail=told.detail if told.kind == found.kind else _WITHHELD)


def _as_shown(item: Record) -> Record:
    """Return a record with its outputs as a person may see them; the same one where nothing in them is private."""
    stdout, stderr = privacy.shown(item.stdout), privacy.shown(item.stderr)
    return item if (stdout, stderr) == (item.stdout, item.stderr) else replace(item, stdout=stdout, stderr=stderr)


def _classified(snippet: Snippet, old: Record, new: Record) -> Agreement:
    """Return the class of the change, in words that quote both records; raises PatternTooSlow."""
    if (old.status, old.exit_code) != (new.status, new.exit_code):
        return Agreement("status changed", f"{ending(old)} -> {ending(new)}")
    in_stdout = _text_change(snippet, old.stdout, new.stdout)
    if not in_stdout.same:
        return in_stdout
    if mask_errors(snippet, old.stderr) != mask_errors(snippet, new.stderr):
        shown = _first_difference(old.stderr, new.stderr, lambda line: mask_errors(snippet, line))
        return Agreement("text changed", f"stderr: {shown}")
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
    for name in policy.bounded:
        try:
            before, after = (claims.find(snippet, name, text, "a capture").scalar for text in (old, new))
        except CaptureError as error:
            return Agreement("text changed", str(error))
        if before == after or (printed_number.is_nan(before) and printed_number.is_nan(after)):
            continue
        if isinstance(before, str) or isinstance(after, str):
            return Agreement("text changed", f"{name}: {before} -> {after}")
        words = f"{name}: {printed_number.shown(before)} -> {printed_number.shown(after)}"
        if tolerance.keeps_to(policy, name, before, after):
            moved.append(words)
        else:
            why = tolerance.why_no_ratio(policy, name, (before, after))
            beyond.append(f"{words} ({why})" if why else words)
    if mask(snippet, old) != mask(snippet, new):
        return Agreement("text changed", _first_difference(mask(snippet, old), mask(snippet, new)))
    if beyond:
        return Agreement("number beyond tolerance", "; ".join(beyond))
    return Agreement("number within tolerance", "; ".join(moved)) if moved else Agreement("volatile only")


def mask(snippet: Snippet, text: str) -> str:
    """Return stdout with all that may vary replaced by marks; column widths do not count then.

    Where nothing may vary they do: blanks are what aligns a result.
    """
    exact = text
    for name in snippet.compare.bounded:
        text = snippet.values[name].replaced(text, lambda match: _replace_group(match, "<number>"))
    for pattern in snippet.compare.volatile:
        text = pattern.replaced(text, lambda match: "<varies>")
    text = ADDRESS.sub("<address>", text)
    if snippet.timing:
        text = _NUMBER_WITH_UNIT.sub("<number>", text)
    return text if text == exact else re.sub(r"[ \t]+", " ", text)


def mask_errors(snippet: Snippet, text: str) -> str:
    """Return stderr with all that may vary replaced by marks; Python versions differ in their carets."""
    return mask(snippet, _CARETS.sub("", text))


def _replace_group(match: Match, mark: str) -> str:
    """Return the matched text with its group replaced."""
    if match[1] is None:
        return match[0]
    start, end = match.start(1) - match.start(), match.end(1) - match.start()
    return match[0][:start] + mark + match[0][end:]


def _first_difference(old: str, new: str, of_line: Callable[[str], str] = str) -> str:
    """Show the first line that differs, both halves cut around the place where they part.

    `of_line` returns what is compared of a line; where by that no line differs, the first that does at all is shown.
    """
    before, after = old.split("\n"), new.split("\n")
    pairs = [(number, *pair) for number, pair in enumerate(zip(before, after, strict=False), 1) if pair[0] != pair[1]]
    if not pairs:
        return f"{len(before) - 1} -> {len(after) - 1} lines"
    number, one, other = next((pair for pair in pairs if of_line(pair[1]) != of_line(pair[2])), pairs[0])
    left, right = around_difference(one, other, _WIDTH)
    return f'line {number}: "{left}" -> "{right}"'
