"""What of the captures waits for a decision between HEAD and the working tree.

What is staged and has not changed since counts as accepted, unless something is wrong with it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from capture import store
from capture.errors import CaptureError, Problem, plural
from capture.host import host
from capture.record.privacy import PRIVACY_RULES
from capture.record.record import Record
from capture.review.handbook_changes import Changes
from capture.review.line_edits import text_edit
from capture.review.record_change import KINDS, Change, Kind
from capture.review.two_states import Key
from capture.store import Entry, Handbook
from capture.store.catalogue import Catalogue

HOST_FILE = "host.yaml"
WITH_LINES: tuple[Kind, ...] = ("status changed", "newly captured", "removed")


@dataclass(frozen=True)
class Snapshot:
    """What git says before anything is read: the commit, the files that differ from it, and digests of those files."""

    commit: str
    entries: Mapping[Key, Entry]
    digests: Mapping[str, str]


@dataclass(frozen=True)
class Item:
    """One record to decide about, or the facts of a host of which no record waits.

    `seen` are the files that accepting it stages, each with the digest of what was looked at. `why_not` says why it
    cannot be accepted.
    """

    change: Change
    entry: Entry
    seen: tuple[tuple[str, str], ...]
    why_not: Problem | None = None

    @property
    def is_host(self) -> bool:
        """Whether it is a host's facts and no record."""
        return self.change.snippet == HOST_FILE


def snapshot(book: Handbook) -> Snapshot:
    """Ask git what differs; raises CaptureError where there is no repository, no commit, or a conflict."""
    commit = store.resolve_revision(book, "HEAD")
    entries = {key: entry for entry in store.differing(book) if (key := key_of(entry.path))}
    return Snapshot(commit, entries, {entry.path: digest(book, entry.path) for entry in entries.values()})


def key_of(path: str) -> Key | None:
    """Return label and snippet of a record's path, or label and `host.yaml`; None for any other file."""
    label, *below = path.removeprefix(f"{store.CAPTURES}/").split("/")
    if not path.startswith(f"{store.CAPTURES}/{label}/") or label == host.LOCAL:
        return None
    if any(part.startswith(".") for part in below) or not below[-1].endswith(".yaml"):
        return None
    if len(below) == 2:
        return label, "/".join(below).removesuffix(".yaml")
    return (label, HOST_FILE) if below == [HOST_FILE] else None


def content(book: Handbook, path: str) -> bytes | None:
    """Return what the working tree holds of a file, of a link where it points; None where it holds nothing."""
    file = book.root / path
    try:
        return os.fsencode(file.readlink()) if file.is_symlink() else file.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        message = f"cannot be read: {error.strerror}; mend it, then run again"
        raise CaptureError(Problem(path, 0, message, "unreadable")) from error


def digest(book: Handbook, path: str) -> str:
    """Return what tells one content of a file from another; nothing where there is no file."""
    return digest_of(content(book, path))


def digest_of(data: bytes | None) -> str:
    """Return what tells one content from another; nothing for a file that is not there."""
    return "" if data is None else store.digest(data)


def waiting(taken: Snapshot, old: Catalogue, new: Catalogue, found: Changes, problems: Sequence[Problem]) -> list[Item]:
    """Return what is to be decided, worst first; `problems` are those of the static rules in the working tree."""
    known = {(item.host, item.snippet): item for item in found.records}
    wrong = faults(new, taken, problems)
    open_ones = {  # staged by hand or not, what is faulty is not accepted
        key: entry for key, entry in taken.entries.items() if not entry.settled or entry.path in wrong
    }
    with_records = {label for label, name in open_ones if name != HOST_FILE}
    items = []
    for key, entry in open_ones.items():
        label, name = key
        if name == HOST_FILE and label in with_records:
            continue  # it goes along with them
        facts, seen = open_ones.get((label, HOST_FILE), entry), [entry.path]
        if facts is not entry and taken.digests[facts.path]:
            seen.append(facts.path)
        present = bool(taken.digests[entry.path])
        unread = present and label not in new.hosts  # without a host's facts none of its records is read
        why_not = next((wrong[path] for path in seen if path in wrong), None)
        if unread and why_not is None:
            path = new.book.relative(new.book.host_path(label))
            why_not = wrong.get(path, Problem(path, 0, "is missing", "host"))
        if why_not and (unread or why_not.path == entry.path):
            kind: Kind = "private" if why_not.rule in PRIVACY_RULES else "invalid"
            change = Change(*key, kind, str(why_not), failing=str(why_not))
        elif name == HOST_FILE:
            change = host_change(label, entry, present, old, new, found)
        else:
            change = known.get(key) or Change(*key, "identical", unseen(entry))
        change = with_lines(change, old.records.get(key), new.records.get(key))
        items.append(Item(change, entry, tuple((path, taken.digests[path]) for path in seen), why_not))
    return sorted(items, key=lambda item: (KINDS.index(item.change.kind), item.change.snippet, item.change.host))


def faults(new: Catalogue, taken: Snapshot, problems: Iterable[Problem]) -> dict[str, Problem]:
    """Return what must be told first of all that is wrong with each file; what is private comes before all else."""
    found: dict[str, Problem] = {}
    for entry in taken.entries.values():
        if (new.book.root / entry.path).is_symlink():
            found[entry.path] = Problem(entry.path, 0, "is a link; captures are regular files", "link")
    for problem in sorted(problems, key=lambda item: item.rule not in PRIVACY_RULES):
        found.setdefault(problem.path, problem)
    return found


def unseen(entry: Entry) -> str:
    """Say in what a file differs whose record says the same on both sides."""
    if entry.staged != entry.committed:
        return "another version is staged; the working tree is as HEAD"
    return "only line ends or the mode of the file differ"


def host_change(label: str, entry: Entry, present: bool, old: Catalogue, new: Catalogue, found: Changes) -> Change:
    """Return the change of a host's facts alone."""
    words = tuple(line for item in found.hosts if item.host == label for line in item.words)
    before, after = old.hosts.get(label), new.hosts.get(label)
    lines, edit = text_edit(store.host_text(before) if before else "", store.host_text(after) if after else "")
    kind: Kind = "removed" if not present else "newly captured" if entry.committed is None else "text changed"
    return Change(label, HOST_FILE, kind, "", words, (), edit, lines)


def with_lines(change: Change, old: Record | None, new: Record | None) -> Change:
    """Return a change with the text that came, went or replaced another, where its class alone shows none."""
    if change.lines or change.kind not in WITH_LINES:
        return change
    lines, _ = text_edit(old.stdout + old.stderr if old else "", new.stdout + new.stderr if new else "")
    return replace(change, lines=lines)


def notes(taken: Snapshot, old: Catalogue, new: Catalogue, found: Changes) -> list[str]:
    """Say what differs beside the items: files that git ignores, and records that are as in HEAD and mean otherwise."""
    beside = [item for item in found.to_read if (item.host, item.snippet) not in taken.entries]
    ignored = [item for item in beside if (item.host, item.snippet) in {*new.records} - {*old.records}]
    said = []
    if ignored:
        first = new.book.relative(new.book.record_path(ignored[0].host, ignored[0].snippet))
        said.append(f"git ignores {plural(len(ignored), 'capture')}, such as {first}; nobody else gets what it ignores")
    if others := [item for item in beside if item not in ignored]:
        kinds = ", ".join(dict.fromkeys(item.kind for item in others))
        said.append(
            f"{plural(len(others), 'more capture')} to read, whose files are as in HEAD ({kinds}): capture diff"
        )
    return said
