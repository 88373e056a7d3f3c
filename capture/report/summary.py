"""The summary at the end of a run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from capture import claims
from capture.catalogue import Catalogue
from capture.plan import Plan
from capture.runner import Result

# Kinds that a human must read, worst first, with the words of the summary.
ATTENTION = {
    "private": "refused for privacy",
    "refused": "refused",
    "failed": "failed",
    "kept": "failed, good record kept",
    "changed": "changed",
}
QUIET = {"captured": "captured", "unchanged": "unchanged"}


def line(result: Result) -> str:
    """Return one line about one result."""
    words = {**ATTENTION, **QUIET}[result.kind]
    text = f"{words:10} {result.snippet} ({result.seconds:.1f} s)"
    return f"{text}: {result.message}" if result.message else text


def run_summary(found: Plan, results: Sequence[Result], label: str, broken: Sequence[claims.Judgement]) -> list[str]:
    """Return the lines that end a run: counts, then everything a human must read."""
    counts = Counter[str](result.kind for result in results)
    parts = [f"{counts[kind]} {words}" for kind, words in {**QUIET, **ATTENTION}.items() if counts[kind]]
    parts += [f"{len(found.current)} current"] if found.current else []
    parts += [f"{len(found.unmet)} not for this host"] if found.unmet else []
    lines = [f"{label}: {', '.join(parts) or 'nothing to do'}"]
    lines += unmet_lines(found.unmet)
    for kind in ATTENTION:
        lines += [f"  {line(result)}" for result in results if result.kind == kind]
    lines += [
        f"  failed     {item.snippet}: still {item.status} (capture run {item.snippet} --force tries again)"
        for item in found.current
        if item.status != "ok"
    ]
    lines += [f"  claim fails {judged.claim.says} ({judged.reason})" for judged in broken]
    return lines


def unmet_lines(unmet: Mapping[str, tuple[str, ...]]) -> list[str]:
    """Group the snippets this host cannot run by their reason."""
    groups: dict[str, list[str]] = {}
    for key, reasons in unmet.items():
        groups.setdefault("; ".join(reasons), []).append(key)
    return [f"  {reason}: {', '.join(keys)}" for reason, keys in groups.items()]


def broken_claims(cat: Catalogue, label: str, ids: Sequence[str]) -> list[claims.Judgement]:
    """Return the claims of these snippets that fail on a host."""
    states = cat.states()
    return [
        judged
        for key in ids
        for judged in cat.judgements(key, states)
        if judged.host == label and judged.verdict == "fails"
    ]
