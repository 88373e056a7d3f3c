"""Says in what two executions of a snippet disagree, and what mends that, by the kind of the difference."""

from __future__ import annotations

import re

from capture.record import pattern_findings
from capture.record.agreement import Agreement, mask, mask_errors
from capture.record.record import Record
from capture.snippet.snippet import Snippet

DISAGREE = "two executions disagree"
_NUMBER = re.compile(r"[-+]?(?:\d[\d,]*\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|\b(?:nan|inf)\b")
_UNIT = r"(?:ns|[uµμ]s|ms|s|secs?|seconds?|min|minutes?|h|hours?|milliseconds?|microseconds?|[kMG]?Hz)(?!\w)"
_RATE = r"[^\W\d]\w*/(?:s|sec|second)(?!\w)|[kKMGTP]?FLOPS?(?!\w)"
_UNIT_BEHIND = re.compile(rf"[ \t]*[(\[]?(?:{_UNIT}|{_RATE})")
_UNIT_BEFORE = re.compile(rf"(?:^|[\W_])(?:{_UNIT}|{_RATE})[)\]]?[ \t]*[:=]?[ \t]*$")
_ADVICE = {
    "time": "it times: name the times under [tool.capture.values], bound them under [tool.capture.compare] ratio, "
    "and say timing = true",
    "number": "seed it (no seed sets the memory that torch.empty leaves as it is: do not print that), or name the "
    "number under [tool.capture.values] and bound it under [tool.capture.compare] relative or absolute",
    "text": "seed it, or say in its header what varies: [tool.capture.compare] volatile",
    "end": "find out why it ends in another way each time",
}


def in_words(snippet: Snippet, first: Record, later: Record, change: Agreement) -> str:
    """Return the refusal of two executions that disagree by `change`."""
    if slow := (*pattern_findings.too_slow(snippet, first), *pattern_findings.too_slow(snippet, later)):
        return "; ".join(dict.fromkeys(map(str, slow)))
    return f"{DISAGREE} ({change.kind}: {change.detail}); {_ADVICE[_kind(snippet, first, later, change)]}"


def _kind(snippet: Snippet, first: Record, later: Record, change: Agreement) -> str:
    """Return what differs first: a time, another number, text, or the end of the execution."""
    if change.kind == "status changed":
        return "end"
    if change.kind == "number beyond tolerance":
        return _kind_of_text(first.stdout, later.stdout)
    in_stdout = mask(snippet, first.stdout), mask(snippet, later.stdout)
    in_stderr = mask_errors(snippet, first.stderr), mask_errors(snippet, later.stderr)
    return _kind_of_text(*(in_stdout if in_stdout[0] != in_stdout[1] else in_stderr))


def _kind_of_text(old: str, new: str) -> str:
    """Return in what two texts differ first: a number beside a unit of time, another number, or text."""
    before, after = old.split("\n"), new.split("\n")
    one, other = next((pair for pair in zip(before, after, strict=False) if pair[0] != pair[1]), ("", "x"))
    if _without_numbers(one) != _without_numbers(other):
        return "text"
    for left, right in zip(_NUMBER.finditer(one), _NUMBER.finditer(other), strict=False):
        if left[0] != right[0]:
            beside = _UNIT_BEHIND.match(one, left.end()) or _UNIT_BEFORE.search(one[: left.start()])
            return "time" if beside else "number"
    return "text"


def _without_numbers(line: str) -> str:
    """Return a line without its numbers and the blanks that align them."""
    return re.sub(r"[ \t]+", " ", _NUMBER.sub("0", line))
