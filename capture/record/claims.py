"""Values derived from captured text, and claims judged on each host."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from capture.errors import CaptureError, Problem, suggestion
from capture.host.host import Host
from capture.record import printed_number, record
from capture.record.record import Record
from capture.snippet import claim_evaluation, claim_syntax
from capture.snippet.pattern import PatternTooSlow
from capture.snippet.snippet import Claim, Snippet

Verdict = Literal["holds", "fails", "not claimed", "not judged"]


@dataclass(frozen=True)
class Value:
    """A named value: its text as printed, and the number if it parses as one."""

    name: str
    text: str
    line: int

    @property
    def scalar(self) -> int | float | str:
        """The number, an int where it is written whole, or the text; raises ValueError for one too long to read."""
        return printed_number.scalar_of(self.text)


@dataclass(frozen=True)
class Judgement:
    """A claim on one host: the verdict and, where it needs one, the reason.

    `faulty` is true of one that is not judged since its header cannot be evaluated there.
    """

    claim: Claim
    host: str
    verdict: Verdict
    reason: str
    faulty: bool = False


@dataclass(frozen=True)
class JudgedClaims:
    """Claims judged on records, each with the id of its snippet, and what the headers have to mend, each told once."""

    entries: tuple[tuple[str, Judgement], ...] = ()
    problems: tuple[Problem, ...] = ()

    @property
    def failing(self) -> tuple[tuple[str, Judgement], ...]:
        """The claims that do not hold."""
        return tuple((key, entry) for key, entry in self.entries if entry.verdict == "fails")


def value(snippet: Snippet, name: str, item: Record) -> Value:
    """Return one named value of a record; raises CaptureError as `find` does."""
    return find(snippet, name, item.stdout, item.host)


def find(snippet: Snippet, name: str, stdout: str, host: str) -> Value:
    """Return one named value of a text.

    Raises CaptureError when the name is unknown, when its pattern takes too long or does not match exactly once, naming
    the lines, and when the number is too long to read.
    """
    if name not in snippet.values:
        known = suggestion(name, snippet.values) or "; it declares none"
        raise CaptureError(f'snippet "{snippet.id}" has no value "{name}"{known}')
    where = f'value "{name}" of {snippet.id} on {host}'
    try:
        matches = snippet.values[name].matches(stdout)
    except PatternTooSlow as error:  # on whichever host
        raise CaptureError(f'value "{name}" of {snippet.id}: its pattern {error}') from error
    lines = [stdout.count("\n", 0, match.start()) + 1 for match in matches]
    if not matches:
        raise CaptureError(
            f"{where}: its pattern matches nothing in the captured output; mend the pattern or the snippet"
        )
    if len(matches) > 1:
        raise CaptureError(
            f"{where}: its pattern matches {len(matches)} times, "
            f"on output lines {', '.join(map(str, lines[:6]))}; make it match once"
        )
    if matches[0][1] is None:
        raise CaptureError(f"{where}: its group took no part in the match; mend the pattern")
    try:
        printed_number.scalar_of(matches[0][1])
    except ValueError as error:
        raise CaptureError(
            f"{where}: its number has {len(matches[0][1].strip()):,} characters, more than Python reads; "
            "print it shorter, or let the pattern catch a part of it"
        ) from error
    return Value(name, matches[0][1], lines[0])


def values(snippet: Snippet, item: Record) -> dict[str, Value]:
    """Return all named values of a record; raises CaptureError as `value` does."""
    return {name: value(snippet, name, item) for name in snippet.values}


def lost_values(snippet: Snippet, item: Record) -> dict[str, str]:
    """Return why a named value cannot be taken from a record, by name; nothing where each matches once."""
    lost = {}
    for name in snippet.values:
        try:
            value(snippet, name, item)
        except CaptureError as error:
            lost[name] = str(error)
    return lost


def facts(item: Record, host: Host) -> dict[str, claim_syntax.Scalar | None]:
    """Return what a scope may ask about the host of a record; an unknown fact is null."""
    cpu, environment = host.cpu, item.environment
    device = host.accelerators[0] if host.accelerators else None
    return {
        "cpu.vendor": cpu.vendor,
        "cpu.isa": cpu.isa,
        "cpu.bf16": cpu.bf16,
        "cpu.amx": cpu.amx,
        "cpu.vnni": cpu.vnni,
        "cpu.count": cpu.count,
        "gpu.name": device.name if device else None,
        "gpu.capability": device.capability if device else None,
        **{f"gate.{name}": environment.gates.get(name) for name in claim_syntax.gate_names()},
        "torch": environment.torch,
        "build": record.build(environment.torch, environment.cuda_build),
        "os": _operating_system(environment.os),
        "arch": host.arch,
    }


def _operating_system(line: str) -> str:
    """Return linux, macos or windows for the recorded line about the system."""
    lower = line.lower()
    return next((name for name in ("macos", "windows") if name in lower), "linux")


def judge(snippet: Snippet, claim: Claim, item: Record, host: Host, reason_not: str = "") -> Judgement:
    """Judge a claim on one record.

    `reason_not` says why the record cannot be judged (stale, failed). A fact or value that cannot be evaluated is an
    error in the header and raises CaptureError.
    """
    if reason_not:
        return Judgement(claim, item.host, "not judged", reason_not)
    if claim.where is not None:
        known = facts(item, host)
        try:
            in_scope = claim_evaluation.evaluate(claim.where, known)
        except claim_evaluation.UnknownFact as error:
            return Judgement(claim, item.host, "not claimed", error.message + _why_null(error.name, known, host))
        except claim_syntax.ExpressionError as error:
            raise CaptureError(f"claim {claim.id}, where, on {item.host}: {error}") from error
        if not in_scope:
            return Judgement(claim, item.host, "not claimed", f"claimed only where {claim.where.text}")
    try:
        numbers: Mapping[str, claim_syntax.Scalar] = {
            name: value(snippet, name, item).scalar for name in claim.holds.names
        }
        held = claim_evaluation.evaluate(claim.holds, numbers)
    except claim_syntax.ExpressionError as error:
        raise CaptureError(f"claim {claim.id}, holds, on {item.host}: {error}") from error
    return Judgement(
        claim, item.host, "holds" if held else "fails", claim.holds.text if held else _broken(claim, numbers)
    )


def judge_record(snippet: Snippet, item: Record, host: Host, reason_not: str = "") -> JudgedClaims:
    """Judge every claim on one record; the one policy for what a header gets wrong.

    A value that cannot be read and an expression that fails are a problem each, at their place in the header and told
    once however many claims ask; their claims are not judged. `reason_not` says why the record cannot be judged.
    """
    lost = {} if reason_not else lost_values(snippet, item)
    problems = [
        Problem(snippet.path, snippet.place("tool", "capture", "values", name), words, "value")
        for name, words in lost.items()
    ]
    entries = []
    for claim in snippet.claims:
        try:
            entry = judge(snippet, claim, item, host, reason_not)
        except CaptureError as error:
            entry = Judgement(claim, item.host, "not judged", str(error), faulty=True)
            if entry.reason not in lost.values():
                line = snippet.place("tool", "capture", "claims", claim.id)
                problems.append(Problem(snippet.path, line, entry.reason, "claim"))
        entries.append((snippet.id, entry))
    return JudgedClaims(tuple(entries), tuple(problems))


def together(parts: Iterable[JudgedClaims]) -> JudgedClaims:
    """Return the claims of several records as one, with each problem once."""
    every = list(parts)
    problems = dict.fromkeys(problem for part in every for problem in part.problems)
    return JudgedClaims(tuple(entry for part in every for entry in part.entries), tuple(problems))


def _why_null(fact: str, known: Mapping[str, claim_syntax.Scalar | None], host: Host) -> str:
    """Say in brackets why a fact is null, or nothing where it is not or the host's file gives no reason."""
    if known[fact] is not None:
        return ""
    if fact.startswith("gpu.") and not host.accelerators:
        return " (this host has no accelerator)"
    reason = host.reasons.get(fact) or host.reasons.get(fact.replace("gpu.", "accelerators[0]."))
    return f" ({reason})" if reason else ""


def _broken(claim: Claim, numbers: Mapping[str, claim_syntax.Scalar]) -> str:
    """Say how a claim fails, as `slowdown > 5, but slowdown is 0.8`."""
    actual = ", ".join(
        f"{name} is {number!r}" if isinstance(number, str) else f"{name} is {printed_number.shown(number)}"
        for name, number in numbers.items()
    )
    return f"{claim.holds.text}, but {actual}" if actual else f"{claim.holds.text} is false"
