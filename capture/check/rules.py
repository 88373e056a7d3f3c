"""Runs every rule and sorts what it finds: problems fail, notes inform."""

from __future__ import annotations

import difflib
import functools
import io
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from capture import store
from capture.check.findings import Findings
from capture.check.merge_conflicts import check_merges
from capture.errors import CaptureError, Problem
from capture.exchange import json_schemas
from capture.host import host
from capture.host.host import LOCAL
from capture.record import claims, privacy, record
from capture.record.privacy import PRIVACY_RULES, Identity
from capture.record.record import Record
from capture.record.state import State
from capture.store.catalogue import Catalogue

States = Mapping[tuple[str, str], State]


def check(cat: Catalogue, strict_stale: Sequence[str], pages: Iterable[Problem]) -> Findings:
    """Return everything the rules find; `pages` are the problems of rendering each page, `strict_stale` labels."""
    problems = [*cat.problems, *pages, *check_schemas(cat), *store.links(cat.book)]
    notes: list[Problem] = []
    for label in cat.book.labels():
        problems += check_host_file(cat, label)
        problems += check_stray_files(cat, label)
    problems += check_record_files(cat)
    problems += check_merges(cat, {problem.path for problem in problems if problem.rule == "conflict"})
    states = cat.states()
    found, told = check_states(cat, states, strict_stale)
    problems, notes = problems + found, notes + told
    found, told = check_claims(cat, states)
    problems, notes = problems + found, notes + told
    notes += [problem for problem in problems if is_own(problem)]
    return Findings(tuple(sorted({problem for problem in problems if not is_own(problem)})), tuple(sorted(set(notes))))


def is_own(problem: Problem) -> bool:
    """Tell whether a problem concerns `local` alone: git ignores that folder, so it is nobody else's.

    What is private stays a problem, and so does what was asked for with `strict_stale`.
    """
    always = (*PRIVACY_RULES, "stale", "missing")
    return problem.path.startswith(f"{store.CAPTURES}/{LOCAL}/") and problem.rule not in always


def check_schemas(cat: Catalogue) -> list[Problem]:
    """The committed JSON Schemas are what the code would write."""
    problems = []
    for name, text in json_schemas.texts().items():
        path = cat.book.root / name
        if path.parent.is_dir() and (not path.is_file() or path.read_text("utf-8") != text):
            problems.append(
                Problem(name, 0, "is not what the code generates; write it again: capture schema", "schema")
            )
    return problems


def check_host_file(cat: Catalogue, label: str) -> list[Problem]:
    """A host's file is as the writer writes it, and carries its own fingerprint."""
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
                first_difference(text, expected),
                f"is not written as the tool writes it; {advice}",
                "format",
            )
        )
    return problems


def check_record_files(cat: Catalogue) -> list[Problem]:
    """Check each record's file; one that was found faultless before is known by its content."""
    problems: list[Problem] = []
    with store.Cache(cat.book.cached_for, "checked") as cache:
        for (label, key), item in cat.records.items():
            name, data = cat.book.record_name(label, key), cat.book.record_path(label, key).read_bytes()
            faultless = functools.partial(is_faultless, name, data, item)
            if not cache.recall(store.digest(data), faultless):
                problems += check_record_file(name, data, item)
    return problems


def is_faultless(name: str, data: bytes, item: Record) -> bool:
    """Tell whether nothing is wrong with a record's file."""
    return not check_record_file(name, data, item)


def check_record_file(name: str, data: bytes, item: Record) -> list[Problem]:
    """A record is whole, unedited and as the writer writes it, and holds nothing private."""
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
                first_difference(text, expected),
                f"is not written as the tool writes it (a formatter, or a merge){advice}",
                "format",
            )
        )
    return problems


def first_difference(text: str, expected: str) -> int:
    """Return the first line in which a file differs from what the writer writes."""
    for number, (one, other) in enumerate(zip(text.split("\n"), expected.split("\n"), strict=False), 1):
        if one != other:
            return number
    return min(text.count("\n"), expected.count("\n")) + 1


def check_stray_files(cat: Catalogue, label: str) -> list[Problem]:
    """A host's folder holds records and host.yaml, and nothing else."""
    folder, problems = cat.book.captures / label, []
    for relative in stray(folder):
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


def stray(folder: Path) -> list[str]:
    """Return the files below a host's folder whose places are no record's, each by its path in it."""
    found = []
    for parent, _, names in os.walk(folder):
        inside = Path(parent).relative_to(folder).parts
        for name in names:
            is_record = name.endswith(".yaml") and (len(inside) == 1 or (not inside and name == "host.yaml"))
            if not is_record and not name.startswith("."):
                found.append("/".join((*inside, name)))
    return sorted(found)


def check_states(cat: Catalogue, states: States, strict_stale: Sequence[str]) -> tuple[list[Problem], list[Problem]]:
    """An orphan fails; stale and missing are notes, but fail for the labels of `strict_stale`."""
    problems: list[Problem] = []
    notes: list[Problem] = []
    faulty = {problem.path for problem in cat.problems}
    for (label, key), found in states.items():
        path = cat.book.record_name(label, key)
        if found.kind == "orphan" and f"snippets/{key}.py" in faulty:
            continue  # the snippet is there and is named itself; its records are good once it can be read
        if found.kind == "orphan":
            problems.append(Problem(path, 2, f'orphan: no snippet "{key}"; remove it with: capture prune', "orphan"))
        elif found.kind in ("stale", "missing"):
            where = problems if label in strict_stale else notes
            where.append(
                Problem(path, 0, f"{found}; capture it: capture run {key}{host.run_option(label)}", found.kind)
            )
        item = cat.records.get((label, key))
        if item is not None and item.status != "ok":
            notes.append(Problem(path, 0, f"the capture ended with {item.status}", "failed"))
    return problems, notes


def check_claims(cat: Catalogue, states: States) -> tuple[list[Problem], list[Problem]]:
    """Every value of a current record matches once, and no claim fails in its scope.

    On `local`, a newcomer's own machine, both are notes: his hardware is not in the handbook's hands.
    """
    problems: list[Problem] = []
    notes: list[Problem] = []
    for (label, key), item in cat.records.items():
        snippet = cat.snippets.get(key)
        if snippet is None or item.status != "ok" or states[label, key].kind != "current":
            continue
        where = notes if label == LOCAL else problems
        lost = claims.lost_values(snippet, item)
        for name, words in lost.items():
            where.append(Problem(snippet.path, snippet.place("tool", "capture", "values", name), words, "value"))
        for claim in snippet.claims:
            line = snippet.place("tool", "capture", "claims", claim.id)
            try:
                judged = claims.judge(snippet, claim, item, cat.hosts[label])
            except CaptureError as error:
                if str(error) not in lost.values():  # which is told already, and once is enough
                    where.append(Problem(snippet.path, line, str(error), "claim"))
                continue
            if judged.verdict == "fails":
                message = f"claim {claim.id} fails on {label}: {judged.reason}; narrow its scope, or mend the snippet"
                where.append(Problem(snippet.path, line, message, "claim"))
    return problems, notes
