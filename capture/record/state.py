"""The state of a result: current, stale (and why), orphan, missing or gate unmet.

One logic for every command and page.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from capture.record.record import Record
from capture.snippet.snippet import Snippet, unmet_gates
from capture.version_numbers import public_version

Kind = Literal["current", "stale", "orphan", "missing", "gate unmet"]


@dataclass(frozen=True)
class State:
    """What a result is, the reasons in words, and notes: what a reader may want to know without it being stale."""

    kind: Kind
    reasons: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.kind}: {'; '.join(self.reasons)}" if self.reasons else self.kind


@dataclass(frozen=True)
class Newest:
    """The newest software among the records of one label, and the newest hashes of upstream functions anywhere."""

    torch: str | None
    packages: Mapping[str, str]
    upstream: Mapping[str, tuple[str, str]]


def newest(same_label: Iterable[Record], everywhere: Iterable[Record]) -> Newest:
    """Collect what is newest; `upstream` maps a function to (torch version, hash) of the newest torch that has it."""
    torch: str | None = None
    packages: dict[str, str] = {}
    for item in same_label:
        torch = _later(torch, item.environment.torch)
        for name, version in item.environment.packages.items():
            packages[name] = _later(packages.get(name), version) or version
    upstream: dict[str, tuple[str, str]] = {}
    for item in everywhere:
        made_with = item.environment.torch
        for name, digest in item.upstream.items() if made_with else ():
            known = upstream.get(name)
            if known is None or _later(known[0], made_with) == made_with != known[0]:
                upstream[name] = (made_with or "", digest)
    return Newest(torch, packages, upstream)


def _later(old: str | None, new: str | None) -> str | None:
    """Return the later of two versions by public version; an unreadable one never wins."""
    candidate = public_version(new) if new and new != old else None
    if candidate is None:
        return old
    known = public_version(old) if old else None
    return new if known is None or candidate > known else old


def of_record(snippet: Snippet | None, item: Record, latest: Newest) -> State:
    """Return the state of an existing record.

    A torch function whose source differs in a newer capture, on whatever host, makes a note and nothing stale: the
    result stays true of the torch its badge names, and a host with an older torch could never become current again.
    """
    if snippet is None:
        return State("orphan", (f'no snippet "{item.snippet}"',))
    reasons = []
    if item.source_sha256 != snippet.digest:
        reasons.append("source changed since")
    torch = item.environment.torch
    if _later(torch, latest.torch) != torch:
        reasons.append(f"this host has captures with torch {latest.torch}")
    for name, version in item.environment.packages.items():
        if _later(version, latest.packages.get(name)) != version:
            reasons.append(f"{name} {version} is now {latest.packages[name]} on this host")
    notes = []
    for name, digest in item.upstream.items():
        known = latest.upstream.get(name)
        if known and known[1] != digest and torch and _later(torch, known[0]) != torch:
            notes.append(f"the source of {name} is another one in torch {known[0]}")
    return State("stale" if reasons else "current", tuple(reasons), tuple(notes))


def of_absence(snippet: Snippet, gates: Mapping[str, bool] | None) -> State:
    """Return the state where a host has no record; `gates` are those its other records show, if any.

    Records keep no gate about a module, so whether it is there is not known, and does not count as unmet.
    """
    if gates is not None:
        unmet = [gate for gate in unmet_gates(snippet, gates) if "module:" not in gate or gate.lstrip("!") in gates]
        if unmet:
            return State("gate unmet", tuple(gate_words(gate) for gate in unmet))
    return State("missing")


def gate_words(gate: str) -> str:
    """Say what a gate asks for, as `needs cuda` or `needs a host without cuda`."""
    bare = gate.removeprefix("!")
    name = f"the module {bare.removeprefix('module:')}" if bare.startswith("module:") else bare
    return f"needs a host without {name}" if gate.startswith("!") else f"needs {name}"
