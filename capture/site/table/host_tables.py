"""Tables about one host: what is recorded of it, where its results were got, and what it cannot bear out."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from capture.errors import CaptureError, plural, suggestion
from capture.host.host import Host
from capture.record.record import Record
from capture.record.state import gate_words
from capture.site.card import absence
from capture.site.card.result import torch_build
from capture.site.markdown.page_in_progress import PageInProgress
from capture.site.model.output_text import written_day
from capture.site.model.site import Site
from capture.site.table.table import Table, TableCell, card_address, card_links, needed_gates, table_head
from capture.snippet.snippet import Snippet
from capture.version_numbers import parse_version

_NOT_FACTS = ("schema", "reasons")
_NO_RESULT = "No result has been captured here yet."
_LONG_WORD = 40  # characters without a blank that would widen a table beyond a telephone
_MEANINGS = {
    "label": "names the host in commands and in the folder of its records",
    "kind": "what torch computes on there",
    "accelerators": "devices that torch could compute on",
    "name": "as the driver reports it",
    "memory_mib": "memory of one device",
}
_NONE_IS_AN_ANSWER = ("virtualization",)  # null on bare metal


def require_host(here: PageInProgress, name: str, label: str) -> str:
    """Return the label behind a table's name; raises CaptureError where there is none, or no such host."""
    hosts = here.site.catalogue.hosts
    if not label:
        raise CaptureError(f"{name} is a table about one host: write its label behind it, such as {name} h200")
    if label not in hosts:
        raise CaptureError(f'no host "{label}"{suggestion(label, hosts)}')
    return label


def _hardware_table(here: PageInProgress, label: str) -> Table:
    """Every fact about the machine by the name that scopes use, with its meaning; a null gives its reason."""
    item = here.site.catalogue.hosts[label]
    rows = tuple(
        (
            TableCell(name),
            TableCell(text, kind=("long" if len(text) > _LONG_WORD else "") if known else "missing"),
            TableCell(about),
        )
        for name, text, known, about in _host_facts(item, item)
    )
    return Table(f"Hardware of {here.site.titles[label]}", table_head("fact", "value", "meaning"), rows, fixed=True)


def _host_facts(item: Host, part: Any, above: str = "") -> Iterator[tuple[str, str, bool, str]]:
    """Yield dotted name, text, whether it is known, and meaning of every fact."""
    for field in dataclasses.fields(part):
        value, name = getattr(part, field.name), f"{above}{field.name}"
        about = field.metadata.get("about") or _MEANINGS.get(field.name, "")
        if name in _NOT_FACTS:
            continue
        if dataclasses.is_dataclass(value):
            yield from _host_facts(item, value, f"{name}.")
        elif isinstance(value, tuple) and value:
            for number, device in enumerate(value):
                yield from _host_facts(item, device, f"{name}[{number}].")
        elif value is not None:
            yield name, _fact_words(value), True, about
        elif name in item.reasons or field.default is dataclasses.MISSING:
            unknown = name not in _NONE_IS_AN_ANSWER
            yield name, item.reasons.get(name, "not known" if unknown else "none"), not unknown, about


def _fact_words(value: object) -> str:
    """Return a fact in words."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "none" if value == () else str(value)


def _software_table(here: PageInProgress, label: str) -> Table:
    """Every environment that the host's records were taken in: a column each, newest torch first."""
    groups: dict[tuple[str, ...], list[Record]] = {}
    for item in here.site.catalogue.of_host(label):
        groups.setdefault(_environment_words(item), []).append(item)

    def age(texts: tuple[str, ...]) -> tuple[Any, ...]:
        torch = parse_version(texts[0])
        return (torch is not None, torch, texts)

    environments = sorted(groups, key=age, reverse=True)
    rows = [
        (TableCell(name), *(TableCell(texts[number]) for texts in environments))
        for number, name in enumerate(_ENVIRONMENT_ROWS)
        if number
    ]
    when, results = [], []
    for texts in environments:
        days = sorted(item.captured for item in groups[texts])
        when.append(
            TableCell(
                written_day(days[0]) if days[0] == days[-1] else f"{written_day(days[0])} to {written_day(days[-1])}"
            )
        )
        listed = card_links(here, sorted(item.snippet for item in groups[texts]), label)
        results.append(TableCell(plural(len(listed), "result"), items=listed))
    rows += [(TableCell("captured"), *when), (TableCell("results"), *results)]
    return Table(
        f"Software on {here.site.titles[label]}", table_head("torch", *(texts[0] for texts in environments)),
        tuple(rows) if environments else (), empty=_NO_RESULT, fixed=True,
    )  # fmt: skip


_ENVIRONMENT_ROWS = ("torch", "build", "Python", "system", "kernels", "threads", "limits", "chip")


def _environment_words(item: Record) -> tuple[str, ...]:
    """Return in words what tells one environment from another; packages are those of single scripts."""
    recorded = item.environment
    return (
        recorded.torch or "not importable",
        torch_build(item) or "none",
        recorded.python,
        recorded.os,
        recorded.cpu_capability or "not known",
        ", ".join(f"{name.replace('_', ' ')} {count}" for name, count in recorded.threads.items()) or "not known",
        ", ".join(f"{name} {value}" for name, value in recorded.limits.items()) or "none",
        recorded.chip,
    )


def _gates_table(here: PageInProgress, label: str) -> Table:
    """Every gate as the newest record shows it, the call that asks for it, and the scripts that need it."""
    site, rows = here.site, []
    for name, holds in sorted(site.gates[label].items()):
        need = [key for key, snippet in sorted(site.catalogue.snippets.items()) if name in snippet.needs]
        asked = absence.GATE_CALLS.get(name, "")
        counted = TableCell(plural(len(need), "script"), order=str(len(need)), items=card_links(here, need, label))
        rows.append(
            (
                TableCell(name),
                TableCell("yes" if holds else "no", kind="current" if holds else ""),
                counted,
                TableCell(asked),
            )
        )
    names = ("gate", "open", "needed by", "the call behind it")
    title = here.site.titles[label]
    return Table(f"Gates of {title}", table_head(*names), tuple(rows), empty=_NO_RESULT)


def _results_table(here: PageInProgress, label: str) -> Table:
    """Every script, captured ones first: the state of its result here, the torch and day it was got, and its claims."""
    site, rows = here.site, []
    records, scripts_of = site.catalogue.records, site.catalogue.snippets
    for key in sorted(scripts_of, key=lambda key: ((label, key) not in records, key)):
        snippet, item = scripts_of[key], records.get((label, key))
        judged = site.judged[label, key].entries if item else ()
        verdicts = [entry.verdict for _, entry in judged]
        holding, failing = verdicts.count("holds"), verdicts.count("fails")
        parts = [f"{holding} hold" if holding != 1 else "1 holds"] if holding else []
        parts += [f"{failing} fail" if failing != 1 else "1 fails"] if failing else []
        record = here.links.record(label, key)
        rows.append(
            (
                TableCell(key, card_address(here, key, label), tags={"gate": needed_gates(snippet)}),
                state_cell(site, snippet, label),
                TableCell(item.environment.torch or "none" if item else ""),
                TableCell(written_day(item.captured), order=item.captured) if item else TableCell(""),
                TableCell(", ".join(parts), kind="failed" if failing else ""),
                TableCell("record", record) if item else TableCell(""),
            )
        )
    names = ("snippet", "state", "torch", "captured", "claims", "file")
    title = here.site.titles[label]
    return Table(f"Results on {title}", table_head(*names), tuple(rows), ("gate", "state"), "There is no script yet.")


def _failing_claims_table(here: PageInProgress, label: str) -> Table:
    """Every claim that the host does not bear out, and how it fails."""
    site, rows = here.site, []
    for key in sorted(site.catalogue.snippets):
        item = site.catalogue.records.get((label, key))
        for _, entry in site.judged[label, key].failing if item else ():
            scope = entry.claim.where.text if entry.claim.where else "everywhere"
            how = TableCell(entry.reason, kind="failed")
            rows.append(
                (TableCell(entry.claim.says), TableCell(key, card_address(here, key, label)), TableCell(scope), how)
            )
    title = here.site.titles[label]
    return Table(
        f"Claims that fail on {title}", table_head("claim", "snippet", "scope", "how it fails"), tuple(rows),
        empty="None: every claim that is judged on this host holds.",
    )  # fmt: skip


def state_cell(site: Site, snippet: Snippet, label: str) -> TableCell:
    """Return the state of a result in words; what a host cannot run says what it needs."""
    known_state, item = site.states[label, snippet.id], site.catalogue.records.get((label, snippet.id))
    failed = item is not None and item.status != "ok"
    word = f"{known_state.kind}, {item.status}" if failed and item else known_state.kind
    if known_state.kind == "gate unmet":
        word = ", ".join(gate_words(gate) for gate in snippet.needs) or known_state.reasons[0]
    tags = (known_state.kind, "failed") if failed else (known_state.kind,)
    return TableCell(word, None, "failed" if failed else known_state.kind.replace(" ", "-"), {"state": tags})


HOST_TABLES: Mapping[str, Callable[[PageInProgress, str], Table]] = {
    "hardware": _hardware_table,
    "software": _software_table,
    "gates": _gates_table,
    "results": _results_table,
    "failing": _failing_claims_table,
}
