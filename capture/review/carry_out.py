"""How a decision about a capture is carried out.

Accepting stages a file. Rejecting brings HEAD's bytes back, after what is rejected has been kept aside: whatever ends
the process in between, both sides are there.
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
from capture.review.waiting import HOST_FILE, Item, content, digest, digest_of, key_of
from capture.store import Entry, Handbook

REJECTED = ".cache/rejected"
Tell = Callable[[str], None]


@dataclass(frozen=True)
class Told:
    """What became of a decision about a file: what was done, or why nothing was."""

    path: str
    done: bool
    words: str


def accept(book: Handbook, commit: str, items: Iterable[Item], tell: Tell) -> list[Told]:
    """Stage records as they were looked at, each with its host's facts where those are new or changed."""
    told = []
    for label, group in by_host(items):
        with held(book, commit, label, tell):
            refused = {item.entry.path: why for item in group if (why := refusal(book, item))}
            ready = [item for item in group if item.entry.path not in refused]
            store.stage(book, dict.fromkeys(path for item in ready for path, _ in item.seen))
            facts = book.relative(book.host_path(label))
            if ready and digest(book, facts) == "" and store.staged_paths(book, label) == [facts]:
                store.stage(book, [facts])  # the host is gone with its last record
        for item in group:
            path = item.entry.path
            along = "".join(f", with {other}" for other, _ in item.seen[1:])
            told.append(Told(path, path not in refused, refused.get(path) or f"accepted {path}{along}"))
    return told


def refusal(book: Handbook, item: Item) -> str:
    """Say why an item cannot be accepted, or nothing."""
    if item.why_not:
        return f"cannot be accepted: {item.why_not}"
    return next((moved(path) for path, shown in item.seen if digest(book, path) != shown), "")


def moved(path: str) -> str:
    """Say that a file is no longer what was looked at."""
    return f"{path}: has changed since it was read; review it again"


def reject(book: Handbook, commit: str, items: Iterable[Item], stamp: str, tell: Tell) -> list[Told]:
    """Bring HEAD's version of records back; what they held is kept under a folder named by `stamp` first.

    A host's facts follow: where a record that comes back needs them, and where no record differs any more.
    """
    told = []
    for label, group in by_host(items):
        with held(book, commit, label, tell):
            store.sweep(book, label)
            needed = [item.entry.path for item in group if item.is_host and not item.entry.committed]
            if needed and store.record_ids(book, label):
                told += [
                    Told(path, False, f"{path}: its records need it; unstage or remove them first") for path in needed
                ]
                continue
            done = bring_back(book, commit, [(item.entry, item.seen[0][1]) for item in group], stamp)
            left = {key: entry for entry in store.differing(book) if (key := key_of(entry.path)) and key[0] == label}
            facts = left.pop((label, HOST_FILE), None)
            if facts and not facts.settled and any(item.done for item in done):
                gone = digest(book, facts.path)
                if not left or (not gone and facts.committed):
                    done += bring_back(book, commit, [(facts, gone)], stamp)
            told += done
        with contextlib.suppress(OSError):  # a new host of which nothing is left
            (book.captures / label).rmdir()
    return told


def bring_back(book: Handbook, commit: str, wanted: Iterable[tuple[Entry, str]], stamp: str) -> list[Told]:
    """Let the index and the working tree hold files as a commit does; each comes with the digest of what was seen."""
    told, ready = [], []
    for entry, seen in wanted:
        require_own_folder(book, entry.path)
        old = store.committed_bytes(book, commit, entry) if entry.committed else None
        data = content(book, entry.path)
        if digest_of(data) == seen:
            ready.append((entry, seen, old, keep(book, entry, data, old, stamp)))
        else:
            told.append(Told(entry.path, False, moved(entry.path)))
    store.unstage(book, commit, [entry.path for entry, *_ in ready])
    for entry, seen, old, kept in ready:
        if digest(book, entry.path) != seen:
            told.append(Told(entry.path, False, moved(entry.path)))
            continue
        put_back(book, entry, old)
        where = f"; what was rejected is in {', '.join(kept)}" if kept else ""
        became = "removed" if old is None else "as in HEAD again"
        told.append(Told(entry.path, True, f"rejected {entry.path}: {became}{where}"))
    return told


def keep(book: Handbook, entry: Entry, data: bytes | None, old: bytes | None, stamp: str) -> list[str]:
    """Keep what the working tree and the index hold of a file, where HEAD does not; return where."""
    versions = [("", data)]
    if entry.staged and entry.staged != entry.committed:
        versions.append((".staged", store.staged_bytes(book, entry)))
    kept: list[str] = []
    saved = [old]
    for mark, version in versions:
        if version is None or version in saved:
            continue
        saved.append(version)
        store.write_text(book, book.root / REJECTED / ".gitignore", "*\n")
        name = entry.path.removeprefix(f"{store.CAPTURES}/").removesuffix(".yaml") + f"{mark}.yaml"
        place = free_place(book.root / REJECTED, stamp, name)
        store.write_bytes(book, place, version)
        with contextlib.suppress(OSError), open_folder(place.parent) as number:  # not on Windows
            os.fsync(number)
        kept.append(book.relative(place))
    return kept


def free_place(base: Path, stamp: str, name: str) -> Path:
    """Return a place for a file that nothing holds yet: two reviews may begin in one second."""
    folders = (base / (stamp if number == 1 else f"{stamp}-{number}") for number in itertools.count(1))
    return next(place for folder in folders if not os.path.lexists(place := folder / name))


@contextlib.contextmanager
def open_folder(path: Path) -> Iterator[int]:
    """Open a folder, so that the names in it can be written to disk."""
    number = os.open(path, os.O_RDONLY)
    try:
        yield number
    finally:
        os.close(number)


def put_back(book: Handbook, entry: Entry, old: bytes | None) -> None:
    """Write a file as HEAD has it, or remove one that HEAD lacks."""
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
    """Raise CaptureError where a link on the way would lead a write elsewhere."""
    if (book.root / path).parent.resolve() != book.root.resolve() / Path(path).parent:
        raise CaptureError(Problem(path, 0, "its folder is a link; restore it with git", "link"))


@contextlib.contextmanager
def held(book: Handbook, commit: str, label: str, tell: Tell) -> Iterator[None]:
    """Hold a host's folder against runs; raises CaptureError where HEAD is no longer what was compared with."""
    with store.held(book, label, tell):
        if store.resolve_revision(book, "HEAD") != commit:
            raise CaptureError("HEAD has moved since the captures were read; run the same command again")
        yield


def by_host(items: Iterable[Item]) -> list[tuple[str, list[Item]]]:
    """Return items gathered by host."""
    groups: dict[str, list[Item]] = {}
    for item in items:
        groups.setdefault(item.change.host, []).append(item)
    return list(groups.items())
