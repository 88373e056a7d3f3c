"""Everything a handbook holds, read once: snippets, hosts, records, and the state of each result."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from capture import store
from capture.errors import CaptureError, Problem
from capture.host.host import LOCAL, Host
from capture.record import claims, state
from capture.record.record import Record
from capture.snippet.snippet import Snippet


@dataclass(frozen=True)
class Catalogue:
    """A snapshot of a handbook. Records are keyed by (label, snippet id); damaged files are in `problems`."""

    book: store.Handbook
    snippets: Mapping[str, Snippet]
    hosts: Mapping[str, Host]
    records: Mapping[tuple[str, str], Record]
    problems: tuple[Problem, ...]

    def labels(self) -> tuple[str, ...]:
        """Return the labels of hosts that can be shown, `local` last."""
        return tuple(self.hosts)

    def of_host(self, label: str) -> list[Record]:
        """Return the records of a host."""
        return [item for (owner, _), item in self.records.items() if owner == label]

    def of_snippet(self, snippet_id: str) -> list[Record]:
        """Return the records of a snippet, in the order of the hosts."""
        return [item for label in self.hosts if (item := self.records.get((label, snippet_id)))]

    def newest(self, label: str) -> state.Newest:
        """Return the newest software seen on a host, and upstream hashes seen anywhere."""
        return state.newest(self.of_host(label), self.records.values())

    def gates(self, label: str) -> Mapping[str, bool] | None:
        """Return the gates of a host as its latest record shows them, or None without one."""
        items = sorted(self.of_host(label), key=lambda item: item.captured)
        return items[-1].environment.gates if items else None

    def states(self) -> dict[tuple[str, str], state.State]:
        """Return the state of every (label, snippet id), of records and of absences."""
        result: dict[tuple[str, str], state.State] = {}
        for label in self.hosts:
            latest, gates = self.newest(label), self.gates(label)
            for snippet_id, snippet in self.snippets.items():
                item = self.records.get((label, snippet_id))
                result[label, snippet_id] = (
                    state.of_record(snippet, item, latest) if item else state.of_absence(snippet, gates)
                )
            for owner, snippet_id in self.records:
                if owner == label and snippet_id not in self.snippets:
                    result[label, snippet_id] = state.of_record(None, self.records[owner, snippet_id], latest)
        return result

    def judged_on(self, item: Record, states: Mapping[tuple[str, str], state.State]) -> claims.JudgedClaims:
        """Judge every claim on one record, as `claims.judge_record` does; nothing where its snippet cannot be read."""
        snippet = self.snippets.get(item.snippet)
        if snippet is None:
            return claims.JudgedClaims()
        reason = unjudged(item, states[item.host, item.snippet])
        return claims.judge_record(snippet, item, self.hosts[item.host], reason)

    def judged(
        self, ids: Iterable[str], states: Mapping[tuple[str, str], state.State] | None = None
    ) -> claims.JudgedClaims:
        """Judge every claim of some snippets on every host that has a record."""
        known = self.states() if states is None else states
        return claims.together(
            self.judged_on(item, known) for snippet_id in ids for item in self.of_snippet(snippet_id)
        )

    def judgements(self, snippet_id: str, states: Mapping[tuple[str, str], state.State]) -> list[claims.Judgement]:
        """Judge every claim of a snippet on every host that has a record."""
        return [entry for _, entry in self.judged([snippet_id], states).entries]


def unjudged(item: Record, known: state.State) -> str:
    """Say why the claims on a record are not judged, or nothing."""
    if item.status != "ok":
        return f"the capture ended with {item.status}"
    return str(known) if known.kind == "stale" else ""


def read_handbook(book: store.Handbook, labels: Iterable[str] | None = None, local: bool = True) -> Catalogue:
    """Read a handbook, or only some hosts of it; damaged files become problems, never exceptions."""
    snippets, problems = store.read_snippets(book)
    wanted = [label for label in book.labels() if (labels is None or label in labels) and (local or label != LOCAL)]
    hosts: dict[str, Host] = {}
    records: dict[tuple[str, str], Record] = {}
    for label in wanted:
        try:
            facts = store.read_host(book, label)
            if facts is None:
                if store.record_ids(book, label):
                    path = book.relative(book.host_path(label))
                    problems.append(
                        Problem(path, 0, f"missing; write it on that machine: capture host init {label}", "host")
                    )
                continue
            hosts[label] = facts
        except CaptureError as error:
            problems += error.located
            continue
        except store.UNFORESEEN as error:
            problems.append(store.unforeseen(book.relative(book.host_path(label)), error))
            continue
        with store.Cache(book.cached_for, f"records-{label}") as cache:
            for snippet_id in store.record_ids(book, label):
                try:
                    item = store.read_record(book, label, snippet_id, cache)
                except CaptureError as error:
                    problems += error.located
                    continue
                except store.UNFORESEEN as error:
                    problems.append(store.unforeseen(book.record_name(label, snippet_id), error))
                    continue
                if item is not None:
                    records[label, snippet_id] = item
    return Catalogue(book, snippets, hosts, records, tuple(sorted(problems)))
