"""The summary at the end of a run."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from capture.errors import plural
from capture.host.host import run_option
from capture.record import claims
from capture.run import plan
from capture.run.plan import Plan
from capture.run.runner import Result
from capture.run.shard import Shard

# Kinds that a human must read, worst first, with the words of the summary.
ATTENTION = {
    "private": "refused for privacy",
    "refused": "refused",
    "failed": "failed",
    "kept": "failed, good record kept",
    "changed": "changed",
}
_DIGITS = re.compile(r"\d[\d.,]*")
_QUIET = {"captured": "captured", "unchanged": "unchanged"}


def _line(result: Result) -> str:
    """Return one line about one result, with all that there is to say."""
    return f"{passing_line(result)}: {result.message}" if result.message else passing_line(result)


def passing_line(result: Result) -> str:
    """Return the line that tells of a result as it comes; what must be read stands in the summary, once."""
    words = {**ATTENTION, **_QUIET}[result.kind]
    return f"{words:10} {result.snippet} ({result.seconds:.1f} s)"


def share_line(share: Shard, count: int) -> str:
    """Return the line that says how much of a selection is executed here."""
    return f"share {share}: {plural(count, 'snippet')} of those selected"


def plan_summary(found: Plan, label: str) -> list[str]:
    """Return the lines that end a dry run."""
    return [_counts_line(f"{len(found.steps)} to execute" if found.steps else "", found, label), *_unmet_lines(found)]


def _counts_line(done: str, found: Plan, label: str) -> str:
    """Return the line of counts: what was or would be done, what is current, what is not for this host."""
    parts = [done] if done else []
    parts += [f"{len(found.current)} current"] if found.current else []
    parts += [f"{len(found.unmet)} not for this host"] if found.unmet else []
    return f"{label}: {', '.join(parts) or 'nothing to do'}"


def run_summary(
    found: Plan, results: Sequence[Result], label: str, broken: Sequence[tuple[str, claims.Judgement]]
) -> list[str]:
    """Return the lines that end a run: counts, then everything a human must read."""
    counts = Counter[str](result.kind for result in results)
    done = ", ".join(f"{counts[kind]} {words}" for kind, words in {**_QUIET, **ATTENTION}.items() if counts[kind])
    lines = [_counts_line(done, found, label), *_unmet_lines(found)]
    again = f"{run_option(label)} --force"
    for kind in ATTENTION:
        alike = [result for result in results if result.kind == kind]
        lines += refusal_lines(alike) if kind == "refused" else [f"  {_line(result)}" for result in alike]
    lines += [
        f"  failed     {item.snippet}: still {item.status} (try again with: capture run {item.snippet}{again})"
        for item in found.current
        if item.status != "ok"
    ]
    lines += [f"  claim fails {key}: {judged.claim.says} ({judged.reason})" for key, judged in broken]
    return lines


def refusal_lines(results: Sequence[Result]) -> list[str]:
    """Return lines about refusals; where reasons differ in numbers alone, the first one tells it for the others."""
    alike: dict[str, list[Result]] = {}
    for result in results:
        alike.setdefault(_DIGITS.sub("", result.message) or result.snippet, []).append(result)
    lines = []
    for first, *others in alike.values():
        lines.append(f"  {_line(first)}")
        if others:
            lines.append(f"  {'':10} for the like: {', '.join(result.snippet for result in others)}")
    return lines


def _unmet_lines(found: Plan) -> list[str]:
    """Group the snippets this host cannot run by their reason."""
    groups: dict[str, list[str]] = {}
    for key, reasons in found.unmet.items():
        groups.setdefault("; ".join(reasons), []).append(key)
    lines = [f"  {reason}: {', '.join(keys)}" for reason, keys in groups.items()]
    if plan.lacks_torch(found):
        lines.append("  install torch for this interpreter, or name one that has it: --python PATH")
    return lines
