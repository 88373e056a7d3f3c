"""The lines of a run: one a result as it comes, and the summary at the end."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from capture.errors import plural
from capture.host.host import run_option
from capture.record import claims
from capture.run import plan
from capture.run.plan import Plan
from capture.run.runner import RunResult
from capture.run.shard import Shard

# The kinds of results that somebody must read, worst first, with the words of the summary.
ATTENTION = {
    "private": "refused for privacy",
    "refused": "refused",
    "failed": "failed",
    "kept": "failed, good record kept",
    "changed": "changed",
}
_NUMBER_IN_REASON = re.compile(r"\d[\d.,]*")
_QUIET = {"captured": "captured", "unchanged": "unchanged"}  # the kinds that nobody needs to read


def _line(result: RunResult) -> str:
    """Return the line of a result in the summary, with its message."""
    return f"{passing_line(result)}: {result.message}" if result.message else passing_line(result)


def passing_line(result: RunResult) -> str:
    """Return the line of a result as it comes, without its message, which the summary gives."""
    words = {**ATTENTION, **_QUIET}[result.kind]
    return f"{words:10} {result.snippet} ({result.seconds:.1f} s)"


def share_line(share: Shard, count: int) -> str:
    """Return the line that says which share of a selection, and how many snippets, are executed here."""
    return f"share {share}: {plural(count, 'snippet')} of those selected"


def plan_summary(planned: Plan, label: str) -> list[str]:
    """Return the lines that end a dry run on one host."""
    to_execute = f"{len(planned.steps)} to execute" if planned.steps else ""
    return [_counts_line(to_execute, planned, label), *_unmet_lines(planned)]


def _counts_line(done: str, planned: Plan, label: str) -> str:
    """Return the line of counts: `done`, which was or would be executed, what is current, what is not for this host."""
    parts = [done] if done else []
    parts += [f"{len(planned.current)} current"] if planned.current else []
    parts += [f"{len(planned.unmet)} not for this host"] if planned.unmet else []
    return f"{label}: {', '.join(parts) or 'nothing to do'}"


def run_summary(
    planned: Plan, results: Sequence[RunResult], label: str, broken: Sequence[tuple[str, claims.Judgement]]
) -> list[str]:
    """Return the lines that end a run on one host: counts, then all that somebody must read.

    `broken` are the judgements of claims that fail there, each with the id of its snippet.
    """
    counts = Counter[str](result.kind for result in results)
    done = ", ".join(f"{counts[kind]} {words}" for kind, words in {**_QUIET, **ATTENTION}.items() if counts[kind])
    lines = [_counts_line(done, planned, label), *_unmet_lines(planned)]
    again = f"{run_option(label)} --force"
    lines += attention_lines(results)
    lines += [
        f"  failed     {item.snippet}: still {item.status} (try again with: capture run {item.snippet}{again})"
        for item in planned.current
        if item.status != "ok"
    ]
    lines += [f"  note       {result.snippet}: {note}" for result in results for note in result.notes]
    lines += [f"  claim fails {key}: {judged.claim.says} ({judged.reason})" for key, judged in broken]
    return lines


def attention_lines(results: Sequence[RunResult]) -> list[str]:
    """Return the lines about results that somebody must read, the worst first."""
    lines = []
    for kind in ATTENTION:
        alike = [result for result in results if result.kind == kind]
        lines += refusal_lines(alike) if kind == "refused" else [f"  {_line(result)}" for result in alike]
    return lines


def refusal_lines(results: Sequence[RunResult]) -> list[str]:
    """Return lines about refusals; of those whose reasons differ in numbers alone, only the first gives its reason."""
    alike: dict[str, list[RunResult]] = {}
    for result in results:
        alike.setdefault(_NUMBER_IN_REASON.sub("", result.message) or result.snippet, []).append(result)
    lines = []
    for first, *others in alike.values():
        lines.append(f"  {_line(first)}")
        if others:
            lines.append(f"  {'':10} for the like: {', '.join(result.snippet for result in others)}")
    return lines


def _unmet_lines(planned: Plan) -> list[str]:
    """Return the snippets that this host cannot run, one line a reason."""
    groups: dict[str, list[str]] = {}
    for key, reasons in planned.unmet.items():
        groups.setdefault("; ".join(reasons), []).append(key)
    lines = [f"  {reason}: {', '.join(keys)}" for reason, keys in groups.items()]
    if plan.lacks_torch(planned):
        lines.append("  install torch for this interpreter, or name one that has it: --python PATH")
    return lines
