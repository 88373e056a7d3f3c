"""Carries out decisions about captures.

Accepting stages a file. Rejecting first copies what is rejected to a folder of its own, then brings HEAD's bytes back:
whatever ends the process in between, nothing is lost.
"""

from __future__ import annotations

import contextlib
import itertools
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from capture import store
from capture.errors import CaptureError, Problem
from capture.review.waiting import HOST_FILE, ReviewItem, content_digest, file_content, file_digest, record_key
from capture.store import DifferingFile, Handbook

REJECTED = ".cache/rejected"  # below the handbook; what was rejected is kept here
_Tell = Callable[[str], None]


@dataclass(frozen=True)
class DecisionOutcome:
    """What became of the decision about a file: `words` say what was done, or, without `done`, why nothing was."""

    path: str
    done: bool
    words: str


def accept(book: Handbook, commit: str, items: Iterable[ReviewItem], tell: _Tell) -> list[DecisionOutcome]:
    """Stage records as the reviewer saw them, each with its host's facts where those are new or changed.

    What cannot be accepted, or has changed since, is left as it is. `tell` is called where a run is waited for. Raises
    CaptureError where HEAD is no longer `commit`, or a run goes on for too long.
    """
    outcomes = []
    for label, group in _by_host(items):
        with _host_held(book, commit, label, tell):
            refused = {item.entry.path: why for item in group if (why := _why_refused(book, item))}
            ready = [item for item in group if item.entry.path not in refused]
            store.stage(book, dict.fromkeys(path for item in ready for path, _ in item.seen))
            facts = book.relative(book.host_path(label))
            if ready and file_digest(book, facts) == "" and store.staged_paths(book, label) == [facts]:
                store.stage(book, [facts])  # the host is gone with its last record
        for item in group:
            path = item.entry.path
            along = "".join(f", with {other}" for other, _ in item.seen[1:])
            outcomes.append(DecisionOutcome(path, path not in refused, refused.get(path) or f"accepted {path}{along}"))
    return outcomes


def _why_refused(book: Handbook, item: ReviewItem) -> str:
    """Say why an item cannot be accepted, or nothing."""
    if item.why_not:
        return f"cannot be accepted: {item.why_not}"
    return next((_changed_since_read(path) for path, seen in item.seen if file_digest(book, path) != seen), "")


def _changed_since_read(path: str) -> str:
    """Say that a file is no longer what the reviewer saw."""
    return f"{path}: has changed since it was read; review it again"


def reject(book: Handbook, commit: str, items: Iterable[ReviewItem], stamp: str, tell: _Tell) -> list[DecisionOutcome]:
    """Bring HEAD's version of records back, after what they hold was kept in a folder named by `stamp`.

    A host's facts come back with them where a record needs HEAD's, and where no record of the host differs any more.
    `tell` is called where a run is waited for. Raises CaptureError where HEAD is no longer `commit`, where a run goes
    on for too long, and where a file cannot be written.
    """
    outcomes = []
    for label, group in _by_host(items):
        with _host_held(book, commit, label, tell):
            store.sweep(book, label)
            needed = [item.entry.path for item in group if item.is_host and not item.entry.committed]
            if needed and store.record_ids(book, label):
                words = "its records need it; unstage or remove them first"
                outcomes += [DecisionOutcome(path, False, f"{path}: {words}") for path in needed]
                continue
            back = _bring_back(book, commit, [(item.entry, item.seen[0][1]) for item in group], stamp)
            left = {key: item for item in store.differing(book) if (key := record_key(item.path)) and key[0] == label}
            facts = left.pop((label, HOST_FILE), None)
            if facts and not facts.settled and any(outcome.done for outcome in back):
                digest = file_digest(book, facts.path)
                if not left or (not digest and facts.committed):
                    back += _bring_back(book, commit, [(facts, digest)], stamp)
            outcomes += back
        with contextlib.suppress(OSError):  # the folder of a new host of which nothing is left
            (book.captures / label).rmdir()
    return outcomes


def _bring_back(
    book: Handbook, commit: str, wanted: Iterable[tuple[DifferingFile, str]], stamp: str
) -> list[DecisionOutcome]:
    """Let the index and the working tree hold files as a commit does, except those that the reviewer did not see so.

    Each entry of `wanted` comes with the digest of what the reviewer saw.
    """
    outcomes, ready = [], []
    for entry, seen in wanted:
        require_own_folder(book, entry.path)
        old = store.committed_bytes(book, commit, entry) if entry.committed else None
        data = file_content(book, entry.path)
        if content_digest(data) == seen:
            ready.append((entry, seen, old, _keep_aside(book, entry, data, old, stamp)))
        else:
            outcomes.append(DecisionOutcome(entry.path, False, _changed_since_read(entry.path)))
    store.unstage(book, commit, [entry.path for entry, *_ in ready])
    for entry, seen, old, kept in ready:
        if file_digest(book, entry.path) != seen:
            outcomes.append(DecisionOutcome(entry.path, False, _changed_since_read(entry.path)))
            continue
        _write_committed(book, entry, old)
        where = f"; what was rejected is in {', '.join(kept)}" if kept else ""
        became = "removed" if old is None else "as in HEAD again"
        outcomes.append(DecisionOutcome(entry.path, True, f"rejected {entry.path}: {became}{where}"))
    return outcomes


def _keep_aside(book: Handbook, entry: DifferingFile, data: bytes | None, old: bytes | None, stamp: str) -> list[str]:
    """Copy what the working tree and the index hold of a file, unless HEAD holds it too; return where the copies are.

    `data` is what the working tree holds, `old` what HEAD holds; either may be nothing.
    """
    versions = [("", data)]
    if entry.staged and entry.staged != entry.committed:
        versions.append((".staged", store.staged_bytes(book, entry)))
    kept: list[str] = []
    saved = [old]
    for suffix, version in versions:
        if version is None or version in saved:
            continue
        saved.append(version)
        store.write_text(book, book.root / REJECTED / ".gitignore", "*\n")
        name = entry.path.removeprefix(f"{store.CAPTURES}/").removesuffix(".yaml") + f"{suffix}.yaml"
        path = _free_path(book.root / REJECTED, stamp, name)
        store.write_bytes(book, path, version)
        with contextlib.suppress(OSError), _open_folder(path.parent) as descriptor:  # not on Windows
            os.fsync(descriptor)
        kept.append(book.relative(path))
    return kept


def _free_path(base: Path, stamp: str, name: str) -> Path:
    """Return a path for a file that is not taken yet, since two reviews may begin in one second."""
    folders = (base / (stamp if number == 1 else f"{stamp}-{number}") for number in itertools.count(1))
    return next(path for folder in folders if not os.path.lexists(path := folder / name))


@contextlib.contextmanager
def _open_folder(path: Path) -> Iterator[int]:
    """Yield a descriptor of a folder, by which the names in it can be forced to disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _write_committed(book: Handbook, entry: DifferingFile, old: bytes | None) -> None:
    """Write a file as HEAD holds it, which is `old`, or remove one that HEAD lacks; raises CaptureError."""
    file = book.root / entry.path
    if old is not None:
        store.write_bytes(book, file, old, executable=bool(entry.committed and entry.committed.mode == "100755"))
        return
    try:
        file.unlink(missing_ok=True)
    except OSError as error:
        message = f"cannot be removed: {error.strerror}; mend permissions, then run again"
        raise CaptureError(Problem(entry.path, 0, message, "write")) from error
    with contextlib.suppress(OSError):
        file.parent.rmdir()


def require_own_folder(book: Handbook, path: str) -> None:
    """Raise CaptureError where a link among the folders of a path would lead a write elsewhere."""
    if (book.root / path).parent.resolve() != book.root.resolve() / Path(path).parent:
        raise CaptureError(Problem(path, 0, "its folder is a link; restore it with git", "link"))


@contextlib.contextmanager
def _host_held(book: Handbook, commit: str, label: str, tell: _Tell) -> Iterator[None]:
    """Hold a host's folder against runs; raises CaptureError where HEAD is no longer the commit that was compared."""
    with store.held(book, label, tell):
        if store.resolve_revision(book, "HEAD") != commit:
            raise CaptureError("HEAD has moved since the captures were read; run the same command again")
        yield


def _by_host(items: Iterable[ReviewItem]) -> list[tuple[str, list[ReviewItem]]]:
    """Return items by the label of their host."""
    groups: dict[str, list[ReviewItem]] = {}
    for item in items:
        groups.setdefault(item.change.host, []).append(item)
    return list(groups.items())
