"""Finds the captures that differ from HEAD in the working tree and wait for a decision.

A capture that is staged and has not changed since counts as accepted, unless something is wrong with it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from capture import store
from capture.errors import CaptureError, Problem, plural
from capture.host import host
from capture.record.privacy import PRIVACY_RULES
from capture.review.handbook_changes import HandbookChanges
from capture.review.line_edits import text_edit
from capture.review.record_change import ChangeKind, RecordChange
from capture.review.two_states import RecordKey
from capture.store import DifferingFile, Handbook
from capture.store.catalogue import Catalogue

HOST_FILE = "host.yaml"
# Classes whose changes carry no lines; a reviewer is shown the outputs in their place.
_KINDS_WITHOUT_LINES: tuple[ChangeKind, ...] = ("status changed", "newly captured", "removed")


@dataclass(frozen=True)
class GitSnapshot:
    """What git says before any capture is read.

    `commit` is HEAD, `entries` are the files of captures that differ from it, and `digests` tell by path what the
    working tree holds of each.
    """

    commit: str
    entries: Mapping[RecordKey, DifferingFile]
    digests: Mapping[str, str]


@dataclass(frozen=True)
class Uncommitted:
    """What a handbook's working tree holds beyond HEAD.

    `git` is what git says of it, `old` and `new` are the handbook in HEAD and in the working tree, and `changes` is
    what their records say differently.
    """

    git: GitSnapshot
    old: Catalogue
    new: Catalogue
    changes: HandbookChanges

    def is_unread(self, key: RecordKey, entry: DifferingFile) -> bool:
        """Tell whether a file is there and was not read: without a host's facts none of its records is."""
        return bool(self.git.digests[entry.path]) and key[0] not in self.new.hosts


@dataclass(frozen=True)
class ReviewItem:
    """One record to decide about, or the facts of a host of which no record waits.

    `seen` are the files that accepting it stages, each with the digest of what the reviewer saw. `why_not` says why it
    cannot be accepted, if it cannot.
    """

    change: RecordChange
    entry: DifferingFile
    seen: tuple[tuple[str, str], ...]
    why_not: Problem | None = None

    @property
    def is_host(self) -> bool:
        """Whether it is the facts of a host and no record."""
        return self.change.snippet == HOST_FILE


def take_snapshot(book: Handbook) -> GitSnapshot:
    """Ask git which captures differ from HEAD; raises CaptureError without a repository or commit, or at a conflict."""
    commit = store.resolve_revision(book, "HEAD")
    entries = {key: entry for entry in store.differing(book) if (key := record_key(entry.path))}
    return GitSnapshot(commit, entries, {entry.path: file_digest(book, entry.path) for entry in entries.values()})


def record_key(path: str) -> RecordKey | None:
    """Return the key of a record's path; for a host's facts it is its label and HOST_FILE, for other files None."""
    label, *below = path.removeprefix(f"{store.CAPTURES}/").split("/")
    if not path.startswith(f"{store.CAPTURES}/{label}/") or label == host.LOCAL:
        return None
    if any(part.startswith(".") for part in below) or not below[-1].endswith(".yaml"):
        return None
    if len(below) == 2:
        return label, "/".join(below).removesuffix(".yaml")
    return (label, HOST_FILE) if below == [HOST_FILE] else None


def file_content(book: Handbook, path: str) -> bytes | None:
    """Return the bytes of a file in the working tree, or None where there is none; of a link where it points to.

    Raises CaptureError for a file that cannot be read.
    """
    file = book.root / path
    try:
        return os.fsencode(file.readlink()) if file.is_symlink() else file.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        message = f"cannot be read: {error.strerror}; mend it, then run again"
        raise CaptureError(Problem(path, 0, message, "unreadable")) from error


def file_digest(book: Handbook, path: str) -> str:
    """Return a digest of a file in the working tree, or an empty text where there is none."""
    return content_digest(file_content(book, path))


def content_digest(data: bytes | None) -> str:
    """Return a digest of a file's content, or an empty text for one that is not there."""
    return "" if data is None else store.digest(data)


def items_to_decide(uncommitted: Uncommitted, problems: Sequence[Problem]) -> list[ReviewItem]:
    """Return what is to be decided, worst first; `problems` are those of the static rules in the working tree."""
    git = uncommitted.git
    faults = _fault_of_each_file(uncommitted, problems)
    undecided = {  # a faulty file is never accepted, so it stays undecided although it is staged
        key: entry for key, entry in git.entries.items() if not entry.settled or entry.path in faults
    }
    with_records = {label for label, name in undecided if name != HOST_FILE}
    changes = {(item.host, item.snippet): item for item in uncommitted.changes.records}
    items = []
    for key, entry in undecided.items():
        label, name = key
        if name == HOST_FILE and label in with_records:
            continue  # the host's facts go along with its records
        seen = [entry.path]
        facts = undecided.get((label, HOST_FILE), entry)
        if facts is not entry and git.digests[facts.path]:
            seen.append(facts.path)
        why_not = _why_not(uncommitted, key, entry, seen, faults)
        change = _change_to_show(uncommitted, key, entry, changes.get(key), why_not)
        items.append(ReviewItem(change, entry, tuple((path, git.digests[path]) for path in seen), why_not))
    return sorted(items, key=lambda item: item.change.rank)


def _fault_of_each_file(uncommitted: Uncommitted, problems: Iterable[Problem]) -> dict[str, Problem]:
    """Return by path the first problem that a reader must hear of: a link, then what is private, then all else."""
    faults: dict[str, Problem] = {}
    for entry in uncommitted.git.entries.values():
        if (uncommitted.new.book.root / entry.path).is_symlink():
            faults[entry.path] = Problem(entry.path, 0, "is a link; captures are regular files", "link")
    for problem in sorted(problems, key=lambda item: item.rule not in PRIVACY_RULES):
        faults.setdefault(problem.path, problem)
    return faults


def _why_not(
    uncommitted: Uncommitted, key: RecordKey, entry: DifferingFile, seen: Iterable[str], faults: Mapping[str, Problem]
) -> Problem | None:
    """Return why a file cannot be accepted with those staged along with it, or None."""
    why_not = next((faults[path] for path in seen if path in faults), None)
    if why_not is None and uncommitted.is_unread(key, entry):
        path = uncommitted.new.book.relative(uncommitted.new.book.host_path(key[0]))
        return faults.get(path, Problem(path, 0, "is missing", "host"))
    return why_not


def _change_to_show(
    uncommitted: Uncommitted, key: RecordKey, entry: DifferingFile, change: RecordChange | None, why_not: Problem | None
) -> RecordChange:
    """Return what a reviewer reads of a file; `change` is that of its record, if the record says anything else."""
    if why_not and (uncommitted.is_unread(key, entry) or why_not.path == entry.path):
        kind: ChangeKind = "private" if why_not.rule in PRIVACY_RULES else "invalid"
        change = RecordChange(*key, kind, str(why_not), failing=str(why_not))
    elif key[1] == HOST_FILE:
        change = _facts_change(uncommitted, key[0], entry)
    else:
        change = change or RecordChange(*key, "identical", _unseen_difference(entry))
    if change.lines or change.kind not in _KINDS_WITHOUT_LINES:
        return change
    old, new = uncommitted.old.records.get(key), uncommitted.new.records.get(key)
    lines, _ = text_edit(old.stdout + old.stderr if old else "", new.stdout + new.stderr if new else "")
    return replace(change, lines=lines)


def _unseen_difference(entry: DifferingFile) -> str:
    """Say in what a file differs from HEAD although its record does not."""
    if entry.staged != entry.committed:
        return "another version is staged; the working tree is as HEAD"
    return "only line ends or the mode of the file differ"


def _facts_change(uncommitted: Uncommitted, label: str, entry: DifferingFile) -> RecordChange:
    """Return the change of a host's facts, without those of its records."""
    changes = [item for item in uncommitted.changes.hosts if item.host == label]
    words = tuple(line for item in changes for line in item.words if line not in item.edits)
    before, after = uncommitted.old.hosts.get(label), uncommitted.new.hosts.get(label)
    lines, edit = text_edit(store.host_text(before) if before else "", store.host_text(after) if after else "")
    present = bool(uncommitted.git.digests[entry.path])
    kind: ChangeKind = "removed" if not present else "newly captured" if entry.committed is None else "text changed"
    return RecordChange(label, HOST_FILE, kind, "", words, (), edit, lines)


def other_differences(uncommitted: Uncommitted) -> list[str]:
    """Say what differs and is nothing to decide about.

    These are captures that git ignores, and those whose files are as in HEAD but mean something else now.
    """
    old, new, entries = uncommitted.old, uncommitted.new, uncommitted.git.entries
    as_in_head = [item for item in uncommitted.changes.to_read if (item.host, item.snippet) not in entries]
    ignored = [item for item in as_in_head if (item.host, item.snippet) in {*new.records} - {*old.records}]
    lines = []
    if ignored:
        first = new.book.relative(new.book.record_path(ignored[0].host, ignored[0].snippet))
        count = plural(len(ignored), "capture")
        lines.append(f"git ignores {count}, such as {first}; nobody else gets what it ignores")
    if others := [item for item in as_in_head if item not in ignored]:
        kinds = ", ".join(dict.fromkeys(item.kind for item in others))
        count = plural(len(others), "more capture")
        lines.append(f"{count} to read, whose files are as in HEAD ({kinds}): capture diff")
    return lines
