"""The summary of a verification."""

from __future__ import annotations

from collections import Counter
from typing import get_args

from capture.record.verification import Outcome, Verification
from capture.run.verifier import Done

_OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)


def passing_line(done: Done) -> str:
    """Return the line that tells of a comparison as it comes."""
    return f"{done.result.outcome:10} {done.result.snippet} ({done.seconds:.1f} s)"


def lines(found: Verification, executed: int) -> list[str]:
    """Return the lines that end a verification: counts, what differs, and what was skipped by its reason."""
    counts = Counter[str](item.outcome for item in found.results)
    told = [f"{counts[kind]} {kind}" for kind in _OUTCOMES if counts[kind]]
    said = [f"{found.against}: {', '.join(told) or 'nothing to verify'}"]
    said += [
        f"  differs    {item.snippet}: {item.class_}: {item.detail}"
        for item in found.results
        if item.outcome == "differs"
    ]
    groups: dict[str, list[str]] = {}
    for item in found.results:
        if item.outcome == "skipped":
            groups.setdefault(item.detail, []).append(item.snippet)
    said += [f"  skipped    {reason}: {', '.join(names)}" for reason, names in groups.items()]
    if not executed:
        said.append("nothing was executed: no record can be verified here, for the reasons above")
    return said
