"""Runs every rule over a handbook and sorts what they find: problems fail a check, notes only inform."""

from __future__ import annotations

import difflib
import functools
import io
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from capture import store
from capture.check import captured_values, plausibility
from capture.check.findings import Findings
from capture.check.merge_conflicts import check_merges
from capture.check.published_files import check_published_files
from capture.errors import CaptureError, Problem
from capture.exchange import json_schemas
from capture.host import host
from capture.host.host import LOCAL
from capture.record import privacy, record
from capture.record.privacy import PRIVACY_RULES, Identity
from capture.record.record import Record
from capture.record.state import State
from capture.store.catalogue import Catalogue

_States = Mapping[tuple[str, str], State]


def check(cat: Catalogue, strict_stale: Sequence[str], pages: Iterable[Problem]) -> Findings:
    """Return everything that the rules find in a handbook.

    `strict_stale` are labels of hosts whose stale and missing records fail. `pages` are problems that rendering the
    pages found, which this adds to its own.
    """
    links = store.links(cat.book)
    problems = [*cat.problems, *pages, *_check_schemas(cat), *check_published_files(cat), *_check_stray_captures(cat)]
    notes = plausibility.unusual_versions(cat)
    for label in cat.book.labels():
        problems += check_host_file(cat, label)
        problems += _check_stray_files(cat, label)
    problems += [*check_record_files(cat), *plausibility.problems_between(cat)]
    problems += check_merges(cat, {problem.path for problem in problems if problem.rule == "conflict"})
    states = cat.states()
    for more_problems, more_notes in (
        _check_states(cat, states, strict_stale),
        captured_values.check_claims(cat, states),
        captured_values.check_patterns(cat, states),
    ):
        problems, notes = problems + more_problems, notes + more_notes
    problems = [*links, *(problem for problem in problems if not _is_behind(problem.path, links))]
    notes += [problem for problem in problems if _concerns_local_alone(problem)]
    failing = {problem for problem in problems if not _concerns_local_alone(problem)}
    return Findings(tuple(sorted(failing)), tuple(sorted(set(notes))))


def _is_behind(path: str, links: Sequence[Problem]) -> bool:
    """Tell whether a file is a link that must not be there, or lies behind one: what it holds is not told then."""
    return any(path == link.path or path.startswith(f"{link.path}/") for link in links)


def _concerns_local_alone(problem: Problem) -> bool:
    """Tell whether a problem is only a note, since it is in the folder `local`, which git ignores.

    What is private there stays a problem, and so does what `strict_stale` asks about.
    """
    always = (*PRIVACY_RULES, "stale", "missing")
    return problem.path.startswith(f"{store.CAPTURES}/{LOCAL}/") and problem.rule not in always


def _check_schemas(cat: Catalogue) -> list[Problem]:
    """Return a problem for each committed JSON Schema that is not what the code would write."""
    problems = []
    for name, text in json_schemas.texts().items():
        path = cat.book.root / name
        if path.parent.is_dir() and not _says(path, name, text):
            problems.append(
                Problem(name, 0, "is not what the code generates; write it again: capture schema", "schema")
            )
    return problems


def _says(path: Path, name: str, text: str) -> bool:
    """Tell whether a file is there, can be read, and says this; line ends are git's affair."""
    try:
        return store.read_bytes(path, name).replace(b"\r\n", b"\n") == text.encode()
    except CaptureError:
        return False


def check_host_file(cat: Catalogue, label: str) -> list[Problem]:
    """Return what is wrong with a host's file: private words, a fingerprint of other facts, a foreign format."""
    item = cat.hosts.get(label)
    if item is None:
        return []
    path = cat.book.host_path(label)
    name, text = cat.book.relative(path), path.read_text("utf-8")
    advice = "restore it with git, or write it again on that machine: capture host init LABEL"
    problems = privacy.scan(text, name, Identity())
    if item.fingerprint != host.fingerprint(item):
        _, lines = store.parse_host(text, name)
        problems.append(
            Problem(name, lines["fingerprint"], f"was edited: its fingerprint does not match; {advice}", "digest")
        )
    elif (expected := store.host_text(item)) != text:
        problems.append(
            Problem(
                name,
                _first_differing_line(text, expected),
                f"is not written as the tool writes it; {advice}",
                "format",
            )
        )
    return problems + plausibility.problems_of_host(cat, label, text)


def check_record_files(cat: Catalogue) -> list[Problem]:
    """Return what is wrong with the files of all records; a content once found faultless is not checked again."""
    problems: list[Problem] = []
    with store.Cache(cat.book.cached_for, "checked") as cache:
        for (label, key), item in cat.records.items():
            name, data = cat.book.record_name(label, key), cat.book.record_path(label, key).read_bytes()
            faultless = functools.partial(_is_faultless, name, data, item)
            if not cache.recall(store.digest(data), faultless):
                problems += _check_record_file(name, data, item)
    return problems


def _is_faultless(name: str, data: bytes, item: Record) -> bool:
    """Tell whether nothing is wrong with a record's file."""
    return not _check_record_file(name, data, item)


def _check_record_file(name: str, data: bytes, item: Record) -> list[Problem]:
    """Return what is wrong with a record's file: private words, an edit by hand, a foreign format."""
    text = io.TextIOWrapper(io.BytesIO(data), "utf-8").read()  # line ends are git's affair
    label, key = item.host, item.snippet
    advice = store.recapture_advice(label, key)
    problems = privacy.scan(text, name, Identity())
    if item.content_sha256 != record.content_digest(item):
        _, lines = store.parse_record(text, name)
        problems.append(
            Problem(
                name,
                lines["content_sha256"],
                f"was edited by hand: its digest does not match its content{advice}",
                "digest",
            )
        )
    elif (expected := store.record_text(item)) != text:
        problems.append(
            Problem(
                name,
                _first_differing_line(text, expected),
                f"is not written as the tool writes it (a formatter, or a merge){advice}",
                "format",
            )
        )
    return problems + plausibility.problems_of_record(item, name, text, advice)


def _first_differing_line(text: str, expected: str) -> int:
    """Return the number of the first line in which a file differs from what the tool would write."""
    for number, (one, other) in enumerate(zip(text.split("\n"), expected.split("\n"), strict=False), 1):
        if one != other:
            return number
    return min(text.count("\n"), expected.count("\n")) + 1


def _check_stray_files(cat: Catalogue, label: str) -> list[Problem]:
    """Return a problem for each file in a host's folder that is neither a record nor host.yaml."""
    folder, problems = cat.book.captures / label, []
    for relative in _stray_files(folder):
        path = folder / relative
        name = cat.book.relative(path)
        close = difflib.get_close_matches(relative, [f"{key}.yaml" for key in cat.snippets], n=1)
        near = f"; did you mean {close[0]}?" if close else ""
        problems.append(
            Problem(
                name,
                0,
                f"is no record; records are {label}/<chapter>/<snippet>.yaml; move or remove it{near}",
                "stray",
            )
        )
    return problems


def _check_stray_captures(cat: Catalogue) -> list[Problem]:
    """Return a problem for each file that stands among the folders of the hosts."""
    folder = cat.book.captures
    names = sorted(path.name for path in folder.iterdir() if path.is_file()) if folder.is_dir() else []
    message = "is no record; records are LABEL/<chapter>/<snippet>.yaml; move or remove it"
    return [Problem(f"{store.CAPTURES}/{name}", 0, message, "stray") for name in names if not name.startswith(".")]


def _stray_files(folder: Path) -> list[str]:
    """Return the paths, from a host's folder, of the files in it that stand where no record does."""
    paths = []
    for parent, _, names in os.walk(folder):
        inside = Path(parent).relative_to(folder).parts
        for name in names:
            is_record = name.endswith(".yaml") and (len(inside) == 1 or (not inside and name == "host.yaml"))
            if not is_record and not name.startswith("."):
                paths.append("/".join((*inside, name)))
    return sorted(paths)


def _check_states(cat: Catalogue, states: _States, strict_stale: Sequence[str]) -> tuple[list[Problem], list[Problem]]:
    """Return problems and notes about the states of results.

    An orphan is a problem. Stale, missing and failed captures are notes; stale and missing ones are problems for the
    labels of `strict_stale`.
    """
    problems: list[Problem] = []
    notes: list[Problem] = []
    faulty = {problem.path for problem in cat.problems}
    for (label, key), result_state in states.items():
        path = cat.book.record_name(label, key)
        kind = result_state.kind
        if kind == "orphan" and f"snippets/{key}.py" in faulty:
            continue  # the snippet is there and is named itself; its records are good once it can be read
        if kind == "orphan":
            problems.append(Problem(path, 2, f'orphan: no snippet "{key}"; remove it with: capture prune', "orphan"))
        elif kind in ("stale", "missing"):
            message = f"{result_state}; capture it: capture run {key}{host.run_option(label)}"
            (problems if label in strict_stale else notes).append(Problem(path, 0, message, kind))
        item = cat.records.get((label, key))
        if item is not None and item.status != "ok":
            notes.append(Problem(path, 0, f"the capture ended with {item.status}", "failed"))
    return problems, notes
