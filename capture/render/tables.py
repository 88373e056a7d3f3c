"""The `capture-table` fence: pages that are drawn from all records, such as the matrix and the claims ledger."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from capture import prose
from capture.claims import Judgement
from capture.errors import CaptureError, suggestion
from capture.host import LOCAL, chip
from capture.render import card, markup, pages, places
from capture.render.fence import answer
from capture.render.visit import Visit
from capture.state import gate_words


@dataclass(frozen=True)
class Cell:
    """Text, where it leads, and the kind that colours it; the word says the same as the colour."""

    text: str
    href: str | None = None
    kind: str = ""


@dataclass(frozen=True)
class Table:
    """A name for those who hear the page, a head, and rows whose first cell heads them."""

    label: str
    head: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]


def formatter(source: str, _language: str, _class: str, _options: Any, md: Any, **_: Any) -> str:
    """Return the table that the fence names, or a card that says what is wrong."""
    name = source.strip()

    def line_of(here: Visit) -> int:
        text = here.page.text if here.page else ""
        return next((place.line for place in places.fences(text, "capture-table") if place.body == name), 0)

    return answer(md, line_of, lambda here, _: markup.table(named_table(here, name)), "the table cannot be drawn")


def hosts(here: Visit) -> Table:
    """Every host: its chip, its latest torch, its gates that are open, and how many results it has."""
    site = here.site
    rows = []
    for label in published(here):
        gates = [name for name, holds in sorted(site.gates[label].items()) if holds]
        counted = len(site.catalogue.of_host(label))
        record = here.links.record(label, "host")
        rows.append(
            (
                Cell(site.titles[label], record),
                Cell(label),
                Cell(chip(site.catalogue.hosts[label])),
                Cell(site.catalogue.newest(label).torch or "none"),
                Cell(", ".join(gates) or "none"),
                Cell(str(counted)),
            )
        )
    return Table("Hosts", ("host", "label", "chip", "torch", "gates open", "results"), tuple(rows))


def matrix(here: Visit) -> Table:
    """Every snippet by every host, with the state of its result."""
    site, labels, cards = here.site, published(here), embedded(here)
    rows = []
    for key, snippet in sorted(site.catalogue.snippets.items()):
        cells = [Cell(key, cards.get(key))]
        for label in labels:
            found, item = site.states[label, key], site.catalogue.records.get((label, key))
            failed = item is not None and item.status != "ok"
            word = f"{found.kind}, {item.status}" if failed and item else found.kind
            if found.kind == "gate unmet":
                word = ", ".join(gate_words(gate) for gate in snippet.needs) or found.reasons[0]
            cells.append(Cell(word, None, "failed" if failed else found.kind.replace(" ", "-")))
        rows.append(tuple(cells))
    return Table("Snippets by hosts", ("snippet", *(site.titles[label] for label in labels)), tuple(rows))


def claims(here: Visit) -> Table:
    """Every claim, its scope, and the hosts on which it holds, fails, or is not judged."""
    site, cards = here.site, embedded(here)
    rows = []
    for key, snippet in sorted(site.catalogue.snippets.items()):
        judged = site.catalogue.judgements(key, site.states)
        for claim in snippet.claims:
            entries = [entry for entry in judged if entry.claim.id == claim.id]
            fails = named(here, entries, "fails")
            rows.append(
                (
                    Cell(claim.says),
                    Cell(key, cards.get(key)),
                    Cell(claim.where.text if claim.where else "everywhere"),
                    Cell(named(here, entries, "holds") or "nowhere yet", None, "current" if not fails else ""),
                    Cell(fails, None, "failed" if fails else ""),
                    Cell(named(here, entries, "not judged")),
                )
            )
    return Table("Claims", ("claim", "snippet", "scope", "holds on", "fails on", "not judged on"), tuple(rows))


def typed(here: Visit) -> Table:
    """Every figure that is typed on purpose, with its reason."""
    found = prose.opt_outs(here.site.catalogue.book)
    rows = tuple((Cell(f"{item.path}:{item.line}"), Cell(item.reason)) for item in found)
    return Table("Figures typed on purpose", ("where", "why"), rows)


TABLES: Mapping[str, Callable[[Visit], Table]] = {"hosts": hosts, "matrix": matrix, "claims": claims, "typed": typed}


def named_table(here: Visit, name: str) -> Table:
    """Return a table, drawn once a page; raises CaptureError with the nearest name where there is none."""
    if name not in TABLES:
        known = suggestion(name, TABLES) or f"; there are: {', '.join(TABLES)}"
        raise CaptureError(f'no table "{name}"{known}')
    if name not in here.tables:
        here.tables[name] = TABLES[name](here)
    found: Table = here.tables[name]
    return found


def published(here: Visit) -> list[str]:
    """Return the labels that everybody sees, the default host first."""
    return [label for label in here.site.order if label != LOCAL]


def named(here: Visit, entries: Iterable[Judgement], verdict: str) -> str:
    """Return the titles of the hosts with this verdict."""
    found = {entry.host for entry in entries if entry.verdict == verdict}
    return "; ".join(here.site.titles[label] for label in published(here) if label in found)


def embedded(here: Visit) -> dict[str, str]:
    """Map each snippet to its card, where the site's addresses are known."""
    found = {}
    for key, paths in pages.embedded_ids(here.site.catalogue.book).items():
        snippet = here.site.catalogue.snippets.get(key)
        lesson = [path for path in paths if path.count("/") > 1] or list(paths)
        address = here.links.lesson(lesson[0])
        if snippet and address:
            found[key] = f"{address}#{card.first_uid(snippet)}"
    return found
