"""What no capture on that machine can have written: facts of another one, impossible days, numbers and lengths.

A digest or a fingerprint is made anew in a moment; here a file is compared with what else the handbook says.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterable, Iterator, Mapping

from capture import plain_data, store
from capture.errors import Problem
from capture.host import host
from capture.host.host import Host
from capture.record import privacy, record
from capture.record.privacy import Identity
from capture.record.record import Record
from capture.store.catalogue import Catalogue
from capture.version_numbers import parse_version

FIRST_DAY = "2026-01-01"  # the format of records is younger
KNOWN_MAJOR = 2  # of torch, as this tool was written
LONGEST_NAME = 100  # characters of a title
LONGEST_FACT = 300  # characters of any other fact: a driver, a device, a reason
_LONGEST = {"title": LONGEST_NAME, "environment.chip": 1000}  # a chip names several kinds of accelerators
_ADVICE = "; restore it with git, or write it again on that machine: capture host init LABEL"
_ARCHITECTURE = re.compile(r"x86_64|i\d86|arm\w*|riscv\w*|ppc\w*|s390x")
_Contradiction = tuple[str, str, str]  # rule, field and message
_Bounded = tuple[str, float | None, float, float]  # field, value, the least and the most that it may be
_TEXTS_OF_ANY_LENGTH = ("stdout", "stderr", "diagnostics", "hint")


def problems_of_host(cat: Catalogue, label: str, text: str) -> list[Problem]:
    """Return what no machine says of itself in a host's file, of which `text` is the content."""
    item, name = cat.hosts[label], cat.book.relative(cat.book.host_path(label))
    found = list(_contradictions_of_host(item, cat.of_host(label)))
    lines = store.parse_host(text, name)[1] if found else {}
    return [_problem(name, store.nearest_line(lines, field), words + _ADVICE, rule) for rule, field, words in found]


def problems_of_record(item: Record, name: str, text: str, advice: str) -> list[Problem]:
    """Return what no capture writes on any host, in a record's file of which `text` is the content."""
    found = list(_contradictions_of_record(item))
    lines = store.parse_record(text, name)[1] if found else {}
    return [_problem(name, store.nearest_line(lines, field), words + advice, rule) for rule, field, words in found]


def problems_between(cat: Catalogue) -> list[Problem]:
    """Return a problem for each record that is of another machine than its host, or of a day to come."""
    problems = []
    for (label, key), item in cat.records.items():
        found = list(_contradictions_between(item, cat.hosts[label])) if label in cat.hosts else []
        if not found or item.content_sha256 != record.content_digest(item):
            continue  # an edit by hand is told as such
        name, advice = cat.book.record_name(label, key), store.recapture_advice(label, key)
        lines = store.parse_record(store.read_text(cat.book.record_path(label, key), name), name)[1]
        for rule, field, words in found:
            if rule == "date":
                problems.append(_problem(name, 0, words, rule))
            else:
                problems.append(_problem(name, store.nearest_line(lines, field), words + advice, rule))
    return problems


def _problem(name: str, line: int, message: str, rule: str) -> Problem:
    """Return a problem whose message repeats nothing private."""
    if privacy.scan(message, name, Identity()):
        message = "contradicts what else is known, and holds something private, which is not shown here"
    return Problem(name, line, message, rule)


def _contradictions_of_host(item: Host, records: Iterable[Record]) -> Iterator[_Contradiction]:
    """Yield (rule, field, message) for what no machine says of itself; `records` are those of this host."""
    due = host.kind_of(item.accelerators)
    unnamed = "accelerators" in item.reasons or any(one.environment.gates.get(item.kind) for one in records)
    if due is not None and item.kind != due:
        yield "kind", "kind", f'says kind "{item.kind}", and its first accelerator is "{due}"'
    if due is None and item.kind != "cpu" and not unnamed:
        yield "kind", "kind", f'says kind "{item.kind}", and it has no accelerator'
    nulls = set(_nulls(item))
    for name in sorted(item.reasons.keys() - nulls - ({"accelerators"} if due is None else set())):
        yield "reasons", "reasons", f"gives a reason for {name[:LONGEST_NAME]}, which is not null"
    yield from _out_of_bounds(_numbers_of_host(item))
    yield from _too_long(plain_data.encode(item))


def _nulls(item: Host) -> Iterator[str]:
    """Yield the dotted name of each null of a host that has a reason."""
    yield from (f"cpu.{name}" for name, value in plain_data.encode(item.cpu).items() if value is None)
    yield from (name for name in ("memory_gib", "virtualization") if getattr(item, name) is None)
    for number, one in enumerate(item.accelerators):
        yield from (
            f"accelerators[{number}].{name}" for name in ("memory_mib", "capability") if getattr(one, name) is None
        )


def _contradictions_of_record(item: Record) -> Iterator[_Contradiction]:
    """Yield (rule, field, message) for what no capture writes on any host."""
    if item.captured < FIRST_DAY:
        yield "date", "captured", f"says it was captured on {item.captured}, before there were records"
    for name in ("torch", "python"):
        version = getattr(item.environment, name)
        if version is not None and parse_version(version) is None:
            yield "version", f"environment.{name}", f"says {name} {version[:40]!r}, which is no version"
    yield from _out_of_bounds(_numbers_of_record(item))
    plain = plain_data.encode(item)
    yield from _too_long({name: value for name, value in plain.items() if name not in _TEXTS_OF_ANY_LENGTH})


def _contradictions_between(item: Record, owner: Host) -> Iterator[_Contradiction]:
    """Yield (rule, field, message) where a record's environment is not that of its host, or its day has not come.

    A day that has begun nowhere on earth is no capture's, and no later capture would replace it.
    """
    tomorrow = (datetime.datetime.now(datetime.UTC).date() + datetime.timedelta(days=1)).isoformat()
    if item.captured > tomorrow:
        why = "which has not come yet; set that machine's clock and capture again, or set this one's"
        yield "date", "captured", f"says it was captured on {item.captured}, {why}"
    chip = host.chip(owner)
    if item.environment.chip != chip:
        yield (
            "foreign",
            "environment.chip",
            f'was captured on "{item.environment.chip[:LONGEST_FACT]}", and {item.host} is "{chip}"',
        )
    arch = item.environment.os.rpartition(", ")[2]
    if arch != owner.arch and _ARCHITECTURE.fullmatch(arch):
        yield "foreign", "environment.os", f"was captured on {arch}, and {item.host} is {owner.arch}"


def _numbers_of_host(item: Host) -> Iterator[_Bounded]:
    """Yield the numbers of a host with what they lie between."""
    yield "memory_gib", item.memory_gib, 1, 2**20
    yield "cpu.count", item.cpu.count, 1, 100_000
    for name in ("family", "model_number", "stepping"):
        yield f"cpu.{name}", getattr(item.cpu, name), 0, 10_000
    for number, one in enumerate(item.accelerators):
        yield f"accelerators[{number}].count", one.count, 1, 100_000
        yield f"accelerators[{number}].memory_mib", one.memory_mib, 1, 2**30


def _numbers_of_record(item: Record) -> Iterator[_Bounded]:
    """Yield the numbers of a record with what they lie between."""
    yield "runs.count", item.runs.count, 1, 10_000
    yield "runs.spread", item.runs.spread, 1, 1e12
    yield "exit_code", item.exit_code, -(2**32), 2**32
    yield "left_processes", item.left_processes, 0, 1_000_000
    for name, count in item.environment.threads.items():
        yield f"environment.threads.{name}", count, 0, 100_000
    for stream, part in item.elided.items():
        yield f"elided.{stream}.bytes", part.bytes, 0, 2**50
        yield f"elided.{stream}.left_out", part.left_out, 0, part.bytes
    if (conditions := item.conditions) is not None:
        yield "conditions.load_before", conditions.load_before, 0, 1e6
        yield "conditions.foreign_cpu", conditions.foreign_cpu, -1, 1e5  # a difference of two counters
        yield "conditions.steal", conditions.steal, 0, 1
        yield "conditions.cpu_mhz", conditions.cpu_mhz, 1, 1e5
        yield "conditions.cpu_max_mhz", conditions.cpu_max_mhz, 1, 1e5
        yield "conditions.throttled", conditions.throttled, 0, 1e12


def _out_of_bounds(numbers: Iterable[_Bounded]) -> Iterator[_Contradiction]:
    """Yield each number that no machine has."""
    for field, value, least, most in numbers:
        if value is not None and not least <= value <= most:
            yield "size", field, f"{field} is {value:.6g}; it lies between {least:g} and {most:g}"


def _too_long(data: object, field: str = "") -> Iterator[_Contradiction]:
    """Yield each text of plain data that is longer than any fact."""
    if isinstance(data, Mapping):
        for name, part in data.items():
            yield from _too_long(part, f"{field}.{name}" if field else name)
    elif isinstance(data, list):
        for number, part in enumerate(data):
            yield from _too_long(part, f"{field}[{number}]")
    elif isinstance(data, str) and len(data) > (most := _LONGEST.get(field, LONGEST_FACT)):
        shown = field[:LONGEST_NAME]
        yield "size", shown, f"{shown} has {len(data):,} characters, where {most:,} are the most"


def unusual_versions(cat: Catalogue) -> list[Problem]:
    """Return a note for each record of a torch whose major version lies far above those of all others."""
    by_major: dict[int, list[tuple[str, str]]] = {}
    for place, item in cat.records.items():
        if item.environment.torch and (version := parse_version(item.environment.torch)):
            by_major.setdefault(version.major, []).append(place)
    notes, known = [], KNOWN_MAJOR
    for major, keys in sorted(by_major.items()):
        if major <= known + 1:
            known = max(known, major)
            continue
        for label, key in keys:
            name, torch = cat.book.record_name(label, key), cat.records[label, key].environment.torch
            notes.append(_problem(name, 0, f"says torch {torch}, where no other is above torch {known}", "version"))
    return notes
