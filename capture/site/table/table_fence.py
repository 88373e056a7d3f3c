"""The `capture-table` fence: pages that are drawn from all records, such as the matrix and the claims ledger."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from capture.errors import CaptureError, suggestion
from capture.host.host import chip
from capture.record.claims import Judgement
from capture.site.markdown import fence_positions, typed_figures
from capture.site.markdown.card_fence import fence_html
from capture.site.markdown.page_in_progress import PageInProgress
from capture.site.model import templates
from capture.site.model.output_text import written_day
from capture.site.table import host_tables, page_tags, recent
from capture.site.table.host_tables import HOST_TABLES, state_cell
from capture.site.table.table import Table, TableCell, card_address, needed_gates, published_labels, table_head


def formatter(source: str, _language: str, _class: str, _options: Any, md: Any, **_: Any) -> str:
    """Return the table that the fence names, or a card that says what is wrong."""
    name = source.strip()

    def line_of(here: PageInProgress) -> int:
        text = here.page.text if here.page else ""
        return next(
            (place.line for place in fence_positions.fences(text, fence_positions.TABLE_FENCE) if place.body == name), 0
        )

    return fence_html(
        md,
        line_of,
        lambda here, _: templates.table(named_table(here, name), name.partition(" ")[0]),
        "the table cannot be drawn",
    )


def _hosts_table(here: PageInProgress) -> Table:
    """Every host: its chip, its latest torch, its gates that are open, and how many results it has."""
    site = here.site
    rows = []
    for label in published_labels(here):
        gates = [name for name, holds in sorted(site.gates[label].items()) if holds]
        records = site.catalogue.of_host(label)
        newest = max((item.captured for item in records), default="")
        rows.append(
            (
                TableCell(site.titles[label], here.links.host(label), tags={"gate": tuple(gates)}),
                TableCell(chip(site.catalogue.hosts[label])),
                TableCell(site.catalogue.newest(label).torch or "none"),
                TableCell(", ".join(gates) or "none"),
                TableCell(str(len(records))),
                TableCell(written_day(newest), order=newest),
                TableCell(label),
            )
        )
    names = ("host", "chip", "torch", "gates open", "results", "newest", "label")
    return Table("Hosts", table_head(*names), tuple(rows), ("gate",), "No host has captured yet.")


def _matrix_table(here: PageInProgress) -> Table:
    """Every snippet by every host, with the state of its result."""
    site, labels = here.site, published_labels(here)
    columns = [
        TableCell(site.titles[label], here.links.host(label), tags={
            "host": (site.titles[label],), "chip": (chip(site.catalogue.hosts[label]),),
        })
        for label in labels
    ]  # fmt: skip
    rows = []
    for key, snippet in sorted(site.catalogue.snippets.items()):
        cells = [TableCell(key, card_address(here, key), tags={"gate": needed_gates(snippet)})]
        cells += [state_cell(site, snippet, label) for label in labels]
        rows.append(tuple(cells))
    return Table("Snippets by hosts", (TableCell("snippet"), *columns), tuple(rows), ("gate", "state", "chip", "host"))


def _claims_table(here: PageInProgress) -> Table:
    """Every claim, its scope, and the hosts on which it holds, fails, or is not judged."""
    site, rows = here.site, []
    for key, snippet in sorted(site.catalogue.snippets.items()):
        judged = site.judgements(key)
        for claim in snippet.claims:
            entries = [entry for entry in judged if entry.claim.id == claim.id]
            fails = _verdict_cell(here, entries, "fails", "failed")
            holds = _verdict_cell(here, entries, "holds", "" if fails.text else "current")
            rows.append(
                (
                    TableCell(claim.says, tags={"gate": needed_gates(snippet)}),
                    TableCell(key, card_address(here, key)),
                    TableCell(claim.where.text if claim.where else "everywhere"),
                    holds if holds.text else TableCell("nowhere yet", None, holds.kind),
                    fails,
                    _verdict_cell(here, entries, "not judged"),
                )
            )
    names = ("claim", "snippet", "scope", "holds on", "fails on", "not judged on")
    filters = ("gate", "verdict", "chip", "host")
    return Table("Claims", table_head(*names), tuple(rows), filters, "No script claims anything yet.")


def _verdict_cell(here: PageInProgress, entries: Iterable[Judgement], word: str, kind: str = "") -> TableCell:
    """Return the hosts with a verdict."""
    hosts = {entry.host for entry in entries if entry.verdict == word}
    labels = [label for label in published_labels(here) if label in hosts]
    titles = tuple(here.site.titles[label] for label in labels)
    chips = tuple(dict.fromkeys(chip(here.site.catalogue.hosts[label]) for label in labels))
    tags = {"verdict": (word,), "chip": chips, "host": titles} if titles else {}
    return TableCell("; ".join(titles), None, kind if titles or word == "holds" else "", tags)


def _typed_figures_table(here: PageInProgress) -> Table:
    """Every figure that is typed on purpose, with its reason."""
    opt_outs = typed_figures.opt_outs(here.site.catalogue.book)
    rows = tuple((TableCell(f"{item.path}:{item.line}"), TableCell(item.reason)) for item in opt_outs)
    return Table("Figures typed on purpose", table_head("where", "why"), rows, empty="No figure is typed.")


_TABLES: Mapping[str, Callable[[PageInProgress], Table]] = {
    "hosts": _hosts_table,
    "matrix": _matrix_table,
    "claims": _claims_table,
    "typed": _typed_figures_table,
    "lately": recent.newest_captures_table,
    "outdated": recent.stale_results_table,
    "tags": page_tags.tags_table,
}


def named_table(here: PageInProgress, name: str) -> Table:
    """Return a table, drawn once a page; raises CaptureError with the nearest name where there is none.

    A table about one host has the host's label behind its name.
    """
    if name not in here.tables:
        first, _, label = name.partition(" ")
        if first in _TABLES and not label:
            here.tables[name] = _TABLES[first](here)
        elif first in HOST_TABLES:
            here.tables[name] = HOST_TABLES[first](here, host_tables.require_host(here, first, label.strip()))
        else:
            names = [*_TABLES, *HOST_TABLES]
            known = suggestion(first, names) or f"; there are: {', '.join(names)}"
            raise CaptureError(f'no table "{name}"{known}')
    table: Table = here.tables[name]
    return table
