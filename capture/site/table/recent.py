"""What changed lately, and what is out of date, told by records alone: a build may know no history of the files.

A record holds the day it was taken and not what stood there before. Why it was taken on that day can be told from the
others: those of the same host, and those of the same snippet.
"""

from __future__ import annotations

from collections.abc import Iterable

from capture.errors import plural
from capture.record.record import Record
from capture.site.markdown.page_in_progress import PageInProgress
from capture.site.model.output_text import written_day
from capture.site.table.table import Table, TableCell, card_links, published_labels, table_head

_MOST_DAYS = 20  # a table of every day would never end


def newest_captures_table(here: PageInProgress) -> Table:
    """The newest captures by day, grouped by host and by why they were taken."""
    site = here.site
    order = {label: number for number, label in enumerate(published_labels(here))}
    records = [item for (label, _), item in site.catalogue.records.items() if label in order]
    days = sorted({item.captured for item in records}, reverse=True)[:_MOST_DAYS]
    causes, groups = _CaptureCauses(records), dict[tuple[str, str, str], list[str]]()
    for item in records:
        if item.captured in days:
            groups.setdefault((item.captured, item.host, causes.of(item)), []).append(item.snippet)

    def place(key: tuple[str, str, str]) -> tuple[int, int, int, str]:
        return (days.index(key[0]), order[key[1]], -len(groups[key]), key[2])

    rows = []
    for captured, label, cause in sorted(groups, key=place):
        keys = sorted(groups[captured, label, cause])
        rows.append(
            (
                TableCell(written_day(captured), order=captured, tags={"host": (site.titles[label],)}),
                TableCell(site.titles[label], here.links.host(label)),
                TableCell(cause),
                TableCell(plural(len(keys), "script"), order=str(len(keys)), items=card_links(here, keys)),
            )
        )
    return Table(
        "Newest captures", table_head("day", "host", "why", "captured"), tuple(rows), ("host",), "No capture yet."
    )


class _CaptureCauses:
    """Why each record was taken on its day, as far as the other records tell."""

    def __init__(self, records: Iterable[Record]) -> None:
        self.begins: dict[str, str] = {}
        self.torch: dict[tuple[str, str | None], str] = {}
        self.of_snippet: dict[str, list[Record]] = {}
        for item in records:
            torch = (item.host, item.environment.torch)
            self.begins[item.host] = min(self.begins.get(item.host, item.captured), item.captured)
            self.torch[torch] = min(self.torch.get(torch, item.captured), item.captured)
            self.of_snippet.setdefault(item.snippet, []).append(item)

    def of(self, item: Record) -> str:
        """Return the first cause that explains a record."""
        torch = item.environment.torch
        if item.captured == self.begins[item.host]:
            return "the first captures of this host"
        if item.captured == self.torch[item.host, torch]:
            return f"torch {torch} is new on this host" if torch else "torch cannot be imported here any more"
        before = [other for other in self.of_snippet[item.snippet] if other.captured < item.captured]
        if not before:
            return "no host had these before"
        if all(other.source_sha256 != item.source_sha256 for other in before):
            return "the scripts have changed"
        return "other hosts had these before, or captured again"


def stale_results_table(here: PageInProgress) -> Table:
    """Every stale result, grouped by host and reason; the worst group first."""
    site = here.site
    groups: dict[tuple[str, str], list[str]] = {}
    for label in published_labels(here):
        for key in sorted(site.catalogue.snippets):
            state = site.states[label, key]
            if state.kind == "stale":
                groups.setdefault((label, "; ".join(state.reasons)), []).append(key)
    rows = tuple(
        (
            TableCell(site.titles[label], here.links.host(label)),
            TableCell(reason, kind="stale"),
            TableCell(plural(len(keys), "script"), order=str(len(keys)), items=card_links(here, keys)),
        )
        for (label, reason), keys in sorted(groups.items(), key=lambda entry: -len(entry[1]))
    )
    none = "Nothing: every result is of its script as it is, on the newest software of its host."
    return Table("Results out of date", table_head("host", "why", "results"), rows, empty=none)
