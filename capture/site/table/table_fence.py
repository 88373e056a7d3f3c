"""The `capture-table` fence: pages that are drawn from all records, such as the matrix and the claims ledger."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from capture.errors import CaptureError, suggestion
from capture.host.host import chip
from capture.record.claims import Judgement
from capture.site.markdown import fence_positions, typed_figures
from capture.site.markdown.card_fence import answer
from capture.site.markdown.page_in_progress import Visit
from capture.site.model import templates
from capture.site.model.output_text import day
from capture.site.table import host_tables, page_tags, recent
from capture.site.table.host_tables import OF_HOST, state_cell
from capture.site.table.table import Cell, Table, embedded, head, needs, published


def formatter(source: str, _language: str, _class: str, _options: Any, md: Any, **_: Any) -> str:
    """Return the table that the fence names, or a card that says what is wrong."""
    name = source.strip()

    def line_of(here: Visit) -> int:
        text = here.page.text if here.page else ""
        return next(
            (place.line for place in fence_positions.fences(text, fence_positions.TABLE) if place.body == name), 0
        )

    return answer(
        md,
        line_of,
        lambda here, _: templates.table(named_table(here, name), name.partition(" ")[0]),
        "the table cannot be drawn",
    )


def hosts(here: Visit) -> Table:
    """Every host: its chip, its latest torch, its gates that are open, and how many results it has."""
    site = here.site
    rows = []
    for label in published(here):
        gates = [name for name, holds in sorted(site.gates[label].items()) if holds]
        found = site.catalogue.of_host(label)
        newest = max((item.captured for item in found), default="")
        rows.append(
            (
                Cell(site.titles[label], here.links.host(label), tags={"gate": tuple(gates)}),
                Cell(chip(site.catalogue.hosts[label])),
                Cell(site.catalogue.newest(label).torch or "none"),
                Cell(", ".join(gates) or "none"),
                Cell(str(len(found))),
                Cell(day(newest), order=newest),
                Cell(label),
            )
        )
    names = ("host", "chip", "torch", "gates open", "results", "newest", "label")
    return Table("Hosts", head(*names), tuple(rows), ("gate",), "No host has captured yet.")


def matrix(here: Visit) -> Table:
    """Every snippet by every host, with the state of its result."""
    site, labels, cards = here.site, published(here), embedded(here)
    columns = [
        Cell(site.titles[label], here.links.host(label), tags={
            "host": (site.titles[label],), "chip": (chip(site.catalogue.hosts[label]),),
        })
        for label in labels
    ]  # fmt: skip
    rows = []
    for key, snippet in sorted(site.catalogue.snippets.items()):
        cells = [Cell(key, cards.get(key), tags={"gate": needs(snippet)})]
        cells += [state_cell(site, snippet, label) for label in labels]
        rows.append(tuple(cells))
    return Table("Snippets by hosts", (Cell("snippet"), *columns), tuple(rows), ("gate", "state", "chip", "host"))


def claims(here: Visit) -> Table:
    """Every claim, its scope, and the hosts on which it holds, fails, or is not judged."""
    site, cards = here.site, embedded(here)
    rows = []
    for key, snippet in sorted(site.catalogue.snippets.items()):
        judged = site.catalogue.judgements(key, site.states)
        for claim in snippet.claims:
            entries = [entry for entry in judged if entry.claim.id == claim.id]
            fails = verdict(here, entries, "fails", "failed")
            holds = verdict(here, entries, "holds", "" if fails.text else "current")
            rows.append(
                (
                    Cell(claim.says, tags={"gate": needs(snippet)}),
                    Cell(key, cards.get(key)),
                    Cell(claim.where.text if claim.where else "everywhere"),
                    holds if holds.text else Cell("nowhere yet", None, holds.kind),
                    fails,
                    verdict(here, entries, "not judged"),
                )
            )
    names = ("claim", "snippet", "scope", "holds on", "fails on", "not judged on")
    filters = ("gate", "verdict", "chip", "host")
    return Table("Claims", head(*names), tuple(rows), filters, "No script claims anything yet.")


def verdict(here: Visit, entries: Iterable[Judgement], word: str, kind: str = "") -> Cell:
    """Return the hosts with a verdict."""
    found = {entry.host for entry in entries if entry.verdict == word}
    labels = [label for label in published(here) if label in found]
    titles = tuple(here.site.titles[label] for label in labels)
    chips = tuple(dict.fromkeys(chip(here.site.catalogue.hosts[label]) for label in labels))
    tags = {"verdict": (word,), "chip": chips, "host": titles} if titles else {}
    return Cell("; ".join(titles), None, kind if titles or word == "holds" else "", tags)


def typed(here: Visit) -> Table:
    """Every figure that is typed on purpose, with its reason."""
    found = typed_figures.opt_outs(here.site.catalogue.book)
    rows = tuple((Cell(f"{item.path}:{item.line}"), Cell(item.reason)) for item in found)
    return Table("Figures typed on purpose", head("where", "why"), rows, empty="No figure is typed.")


TABLES: Mapping[str, Callable[[Visit], Table]] = {
    "hosts": hosts,
    "matrix": matrix,
    "claims": claims,
    "typed": typed,
    "lately": recent.lately,
    "outdated": recent.outdated,
    "tags": page_tags.tags,
}


def named_table(here: Visit, name: str) -> Table:
    """Return a table, drawn once a page; raises CaptureError with the nearest name where there is none.

    A table about one host has the host's label behind its name.
    """
    if name not in here.tables:
        first, _, label = name.partition(" ")
        if first in TABLES and not label:
            here.tables[name] = TABLES[first](here)
        elif first in OF_HOST:
            here.tables[name] = OF_HOST[first](here, host_tables.known(here, first, label.strip()))
        else:
            names = [*TABLES, *OF_HOST]
            known = suggestion(first, names) or f"; there are: {', '.join(names)}"
            raise CaptureError(f'no table "{name}"{known}')
    found: Table = here.tables[name]
    return found
