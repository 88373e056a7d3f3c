"""The lines of a verification: one a comparison as it comes, and the summary at the end."""

from __future__ import annotations

from collections import Counter
from typing import get_args

from capture.record.verification import Outcome, Verification
from capture.run.verifier import Done

_OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)


def passing_line(done: Done) -> str:
    """Return the line of a comparison as it comes."""
    return f"{done.result.outcome:10} {done.result.snippet} ({done.seconds:.1f} s)"


def lines(verification: Verification, executed: int) -> list[str]:
    """Return the lines that end a verification: counts, what differs, and what was skipped, by its reason.

    `executed` is how many snippets were executed.
    """
    counts = Counter[str](item.outcome for item in verification.results)
    counted = [f"{counts[kind]} {kind}" for kind in _OUTCOMES if counts[kind]]
    result = [f"{verification.against}: {', '.join(counted) or 'nothing to verify'}"]
    result += [
        f"  differs    {item.snippet}: {item.class_}: {item.detail}"
        for item in verification.results
        if item.outcome == "differs"
    ]
    groups: dict[str, list[str]] = {}
    for item in verification.results:
        if item.outcome == "skipped":
            groups.setdefault(item.detail, []).append(item.snippet)
    result += [f"  skipped    {reason}: {', '.join(names)}" for reason, names in groups.items()]
    if not executed:
        result.append("nothing was executed: no record can be verified here, for the reasons above")
    return result
