"""What is asked of a run, and what is read for it: one reading of the handbook serves until a file of it changes."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from capture import store
from capture.errors import CaptureError, Problem
from capture.host import host
from capture.host.host import LOCAL
from capture.run import plan, shard
from capture.run.shard import Shard
from capture.snippet.snippet import Snippet
from capture.store import catalogue
from capture.store.catalogue import Catalogue

SOURCES = "snippets"
NOT_READ = "__pycache__"  # beside snippets, written by whoever runs one of them by hand


@dataclass(frozen=True)
class RunRequest:
    """What was asked for: ids, globs or chapters, all without any, or a share of them; with `force` the current too."""

    book: store.Handbook
    patterns: Sequence[str] = ()
    share: Shard | None = None
    force: bool = False


@dataclass(frozen=True)
class HostSelection:
    """What was read for one host: its records, the ids of the snippets that are its part, and the problems of these."""

    label: str
    cat: Catalogue
    ids: tuple[str, ...]

    @property
    def snippets(self) -> list[Snippet]:
        """The snippets that were selected."""
        return [self.cat.snippets[snippet_id] for snippet_id in self.ids]

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What is wrong with the files of the selection."""
        return self.cat.problems


@dataclass(frozen=True)
class HandbookReading:
    """A request's catalogue of some hosts, with the stamps of the files that it was read from, by label."""

    request: RunRequest
    cat: Catalogue
    stamps: Mapping[str, tuple[object, ...]]

    def of_host(self, label: str) -> HostSelection:
        """Return what the request selects for one host.

        The problems are those of the selection; what is not selected does no harm. Raises CaptureError when nothing is
        left to run, or when the facts of a named host are damaged or lost: nobody could tell then whether its records
        are of this machine.
        """
        book = self.request.book
        facts_path = book.relative(book.host_path(label))
        if label != LOCAL and (lost := [problem for problem in self.cat.problems if problem.path == facts_path]):
            raise CaptureError(*lost)
        return _selected(self.request, self.cat, label)

    def of_sources(self) -> HostSelection:
        """Return what the request selects of any host, before it is known which ones take part."""
        return _selected(self.request, self.cat, "")

    def again(self, labels: Iterable[str]) -> HandbookReading:
        """Return what some hosts of the reading are now: itself, unless a snippet or one of their files changed."""
        chosen = tuple(labels)
        now = _stamps_of(self.request.book, chosen)
        if all(self.stamps.get(place, ()) == stamps for place, stamps in now.items()):
            return self
        return replace(self, cat=catalogue.read_handbook(self.request.book, labels=chosen), stamps=now)


def read_hosts(request: RunRequest, labels: Sequence[str] | None = None) -> HandbookReading:
    """Read snippets and the records of some hosts, of every published one where no label is given.

    Raises CaptureError for what cannot be a label.
    """
    book = request.book
    for label in labels or ():
        host.check_label(label)
    chosen = [label for label in book.labels() if label != LOCAL] if labels is None else labels
    stamps = _stamps_of(book, chosen)  # first: what changes while the files are read is read again
    return HandbookReading(request, catalogue.read_handbook(book, labels=chosen), stamps)


def read_host(request: RunRequest, label: str) -> HostSelection:
    """Read snippets and one host's records; raises CaptureError as `HandbookReading.of_host` does."""
    return read_hosts(request, [label]).of_host(label)


def _selected(request: RunRequest, cat: Catalogue, label: str) -> HostSelection:
    """Return what a request selects of the snippets, with one host's records; no label leaves the sources alone."""
    snippet_ids = {problem: _snippet_of(problem, request.book, label) for problem in cat.problems}
    broken = {name for problem, name in snippet_ids.items() if _is_source(problem)}
    ids = plan.select(request.patterns, {*cat.snippets, *broken})
    valid = [snippet_id for snippet_id in ids if snippet_id in cat.snippets]
    problems = [problem for problem, name in snippet_ids.items() if name in ids]
    if not valid and problems:
        raise CaptureError(*problems)
    if not ids:
        raise CaptureError("no snippets here; add one with: capture new CHAPTER/NAME")
    own = shard.part(request.share, (cat.snippets[snippet_id] for snippet_id in valid))
    # A damaged record is mended by the share that captures it; whose a snippet is that cannot be read, nobody knows.
    told = tuple(problem for problem in problems if _is_source(problem) or snippet_ids[problem] in own)
    records = {key: item for key, item in cat.records.items() if key[0] == label}
    hosts = {name: item for name, item in cat.hosts.items() if name == label}
    of_label = replace(cat, hosts=hosts, records=records, problems=told)
    return HostSelection(label, of_label, tuple(snippet_id for snippet_id in valid if snippet_id in own))


def _is_source(problem: Problem) -> bool:
    """Tell whether a problem is about a snippet's own file."""
    return problem.path.startswith(f"{SOURCES}/")


def _snippet_of(problem: Problem, book: store.Handbook, label: str) -> str:
    """Return the id of the snippet that a problem is about: of its source, or its record on a host; else nothing."""
    folder = SOURCES if _is_source(problem) else f"{book.relative(book.captures)}/{label}"
    inside = problem.path.startswith(f"{folder}/")
    return problem.path.removeprefix(f"{folder}/").rpartition(".")[0] if inside else ""


def _stamps_of(book: store.Handbook, labels: Iterable[str]) -> dict[str, tuple[object, ...]]:
    """Return what tells one version of the files from the next, of the snippets and of each host, by its folder."""
    folders = {SOURCES: book.root / SOURCES, **{label: book.captures / label for label in labels}}
    return {place: tuple(sorted(_file_stamps(folder))) for place, folder in folders.items()}


def _file_stamps(folder: Path) -> Iterator[tuple[str, bytes]]:
    """Yield the path and the stamp of each file below a folder, without what is hidden, such as a lock."""
    for parent, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".") and name != NOT_READ]
        for name in names:
            if not name.startswith("."):
                with contextlib.suppress(OSError):  # a link that leads nowhere
                    path = Path(parent, name)
                    yield str(path), store.stamp_of(path.stat())
