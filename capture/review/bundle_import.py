"""Imports the captures of a bundle: checks all before it writes one, then stores each by the rules of a run."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from capture import store
from capture.check import plausibility, rules
from capture.errors import CaptureError, HostRefused, PrivacyRefused, Problem, nearest
from capture.exchange import bundle
from capture.host import host
from capture.host.host import Host
from capture.record import agreement, privacy
from capture.record.privacy import PRIVACY_RULES, Identity
from capture.record.record import Record
from capture.review import carry_out
from capture.run import record_assembly, runner
from capture.snippet.snippet import Snippet
from capture.store import catalogue
from capture.store.catalogue import Catalogue

ImportKind = Literal["captured", "unchanged", "changed", "stale", "failed", "kept", "left out"]


@dataclass(frozen=True)
class IncomingBundle:
    """A bundle that was checked: the name of its file, its one host, and its records by the ids of their snippets."""

    name: str
    host: Host
    records: Mapping[str, Record]


@dataclass(frozen=True)
class ImportOutcome:
    """What became of a record of a bundle; `message` says why, or what to do.

    `captured`: it is stored, and the record here, if any, said the same. `unchanged`: the record here says what it
    does. `changed`: it replaced a record that said something else. `stale`: it is stored, but the script here is
    another one. `failed`: it is stored, and it is a failure. `kept`: the record here stays. `left out`: there is no
    such snippet here.
    """

    snippet: str
    kind: ImportKind
    message: str = ""


def open_bundle(book: store.Handbook, path: Path, who: Identity) -> IncomingBundle:
    """Open and check a bundle; `who` is the person whose names must not be in it.

    Raises CaptureError, or PrivacyRefused, with everything that is wrong with it.
    """
    name = path.name
    label, files = bundle.unpack(store.read_bytes(path, name, bundle.PACKED), name)
    with tempfile.TemporaryDirectory(prefix="capture-import-") as folder:
        # The files become a handbook of their own, which is read and checked like any other. None is written elsewhere:
        # unpacking lets no other names through than those of records and of host.yaml.
        apart = store.Handbook(Path(folder), cached_for=book.cached_for)
        for key, data in files.items():
            file = apart.root / bundle.path_of(label, key)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(data)
        cat = catalogue.read_handbook(apart, labels=[label])
        problems = [*cat.problems, *rules.check_host_file(cat, label), *rules.check_record_files(cat)]
        problems += plausibility.problems_between(cat)
    for key, data in files.items():
        text = data.decode("utf-8", "replace")
        problems += privacy.scan(text, bundle.path_of(label, key), who)
    if problems:
        _refuse(name, problems)
    return IncomingBundle(name, cat.hosts[label], {key: item for (_, key), item in cat.records.items()})


def _refuse(name: str, problems: list[Problem]) -> None:
    """Raise PrivacyRefused with what is private in a bundle, else CaptureError with all problems.

    What is private is told alone, since other messages could repeat it.
    """
    located = [replace(problem, path=f"{name}: {problem.path}") for problem in sorted(set(problems))]
    if private := [problem for problem in located if problem.rule in PRIVACY_RULES]:
        raise PrivacyRefused(*private)
    raise CaptureError(*located)


def require_same_machine(incoming: IncomingBundle, cat: Catalogue, others: Iterable[IncomingBundle]) -> None:
    """Raise HostRefused where a bundle's label names another machine here, or in a bundle that is imported with it.

    Raises CaptureError where the host's facts here cannot be read, so that nobody can tell, and where a link would lead
    a write elsewhere.
    """
    label = incoming.host.label
    for key in ("host", *incoming.records):
        carry_out.require_own_folder(cat.book, bundle.path_of(label, key))
    facts = cat.book.relative(cat.book.host_path(label))
    if unreadable := [problem for problem in cat.problems if problem.path == facts]:
        raise CaptureError(*unreadable)
    known = cat.hosts.get(label) or next((other.host for other in others if other.host.label == label), None)
    if known is not None and not host.same_machine(host.identified(known), incoming.host):
        differ = "; ".join(host.differences(known, incoming.host)) or "neither tells what it is"
        raise HostRefused(
            f'{incoming.name}: label "{label}" names another machine here ({differ}); where it was captured choose a '
            "new one (capture host init NEW-LABEL), capture under it, and bundle that"
        )


def import_records(
    incoming: IncomingBundle, cat: Catalogue, accept_failure: bool, write: bool
) -> Iterator[ImportOutcome]:
    """Store the records of a bundle, or without `write` only say what would become of each.

    Every record here is replaced whole or left as it is; `cat` is what was read while the host's folder was held.
    Raises CaptureError where a file cannot be written; what was stored before that stays.
    """
    book, label = cat.book, incoming.host.label
    if write and label not in cat.hosts:
        store.write_host(book, incoming.host)
    faulty = {problem.path for problem in cat.problems}
    for key, item in incoming.records.items():
        outcome = _judge_record(key, item, cat, f"snippets/{key}.py" in faulty, accept_failure)
        if write and outcome.kind not in ("unchanged", "kept", "left out"):
            store.write_record(book, item)
        yield outcome


def _judge_record(key: str, item: Record, cat: Catalogue, faulty: bool, accept_failure: bool) -> ImportOutcome:
    """Decide what becomes of one record; `faulty` tells that its snippet is here and cannot be read."""
    snippet, old = cat.snippets.get(key), cat.records.get((item.host, key))
    if snippet is None:
        if faulty:
            return ImportOutcome(key, "left out", "the snippet here is faulty; mend it, then import again")
        near = nearest(key, cat.snippets)
        return ImportOutcome(key, "left out", f"no such snippet here; update this handbook, then import again{near}")
    if item == old:
        return ImportOutcome(key, "unchanged")
    failure = "" if item.status == "ok" else record_assembly.failure_words(item)
    if old is not None and (why := _why_kept(snippet, old, item, failure, accept_failure)):
        return ImportOutcome(key, "kept", why)
    if old is not None and runner.says_the_same(snippet, old, item):
        return ImportOutcome(key, "unchanged")
    if item.source_sha256 != snippet.digest:
        return ImportOutcome(key, "stale", "captured from another version of the script than the one here")
    if failure:
        return ImportOutcome(key, "failed", failure)
    change = None if old is None else agreement.classify(snippet, old, item)
    if change is None or change.same:
        return ImportOutcome(key, "captured")
    return ImportOutcome(key, "changed", f"{change.kind}: {change.detail}")


def _why_kept(snippet: Snippet, old: Record, item: Record, failure: str, accept_failure: bool) -> str:
    """Say why the record here is better than the one of the bundle and stays, or nothing.

    `failure` says how the one of the bundle failed, or nothing.
    """
    if failure and old.status == "ok" and not accept_failure:
        return f"{failure}; the good record stays (--accept-failure replaces it)"
    if old.source_sha256 != item.source_sha256 and snippet.digest in (old.source_sha256, item.source_sha256):
        stays = old.source_sha256 == snippet.digest
        return "captured from another version of the script; the record here is of this one" if stays else ""
    if item.captured < old.captured:
        return f"captured on {item.captured}; the record here is of {old.captured}"
    return ""
