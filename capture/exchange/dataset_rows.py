"""From a catalogue to the public dataset. This machine's own results never enter it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import replace

from capture import __version__
from capture.errors import CaptureError
from capture.exchange import dataset
from capture.exchange.dataset import ClaimRow, Dataset, HostRow, ResultRow, SnippetRow, ValueRow, VerdictRow
from capture.host.host import LOCAL, Host
from capture.record import claims
from capture.record.claims import Judgement
from capture.record.printed_number import is_finite
from capture.record.record import Record, build
from capture.record.state import State
from capture.snippet.snippet import Snippet
from capture.store.catalogue import Catalogue


def of(cat: Catalogue) -> Dataset:
    """Return the dataset."""
    cat = _published(cat)
    states = cat.states()
    ids = sorted(cat.snippets)
    records = [cat.records[key] for key in sorted(cat.records, key=lambda key: (key[1], key[0]))]
    return Dataset(
        schema=dataset.SCHEMA,
        tool=__version__,
        hosts=tuple(host_row(cat.hosts[label]) for label in sorted(cat.hosts)),
        snippets=tuple(_snippet_row(cat.snippets[key]) for key in ids),
        results=tuple(_result_row(item, states[item.host, item.snippet]) for item in records),
        values=tuple(row for item in records if item.snippet in cat.snippets for row in _value_rows(cat, item)),
        claims=tuple(row for key in ids for row in _claim_rows(cat.snippets[key])),
        verdicts=tuple(
            VerdictRow(key, judged.claim.id, judged.host, judged.verdict, _reason_of(judged))
            for key in ids
            for judged in cat.judgements(key, states)
        ),
    )


def _reason_of(judged: Judgement) -> str | None:
    """Return why a claim fails or is not judged; of the others the table of claims says all."""
    return judged.reason if judged.verdict in ("fails", "not judged") else None


def _published(cat: Catalogue) -> Catalogue:
    """Return a catalogue without the results of this machine."""
    hosts = {label: item for label, item in cat.hosts.items() if label != LOCAL}
    return replace(cat, hosts=hosts, records={key: item for key, item in cat.records.items() if key[0] in hosts})


def host_row(item: Host) -> HostRow:
    """Return a host as a row."""
    cpu, first = item.cpu, item.accelerators[0] if item.accelerators else None
    return HostRow(
        host=item.label, title=item.title, kind=item.kind, arch=item.arch, cpu_vendor=cpu.vendor, cpu_model=cpu.model,
        cpu_isa=cpu.isa, cpu_bf16=cpu.bf16, cpu_amx=cpu.amx, cpu_vnni=cpu.vnni, cpu_count=cpu.count,
        accelerator=first.name if first else None, accelerator_memory_mib=first.memory_mib if first else None,
        accelerator_capability=first.capability if first else None,
        accelerators=sum(device.count for device in item.accelerators), memory_gib=item.memory_gib,
        virtualization=item.virtualization, fingerprint=item.fingerprint,
    )  # fmt: skip


def _snippet_row(snippet: Snippet) -> SnippetRow:
    """Return a snippet as a row."""
    return SnippetRow(snippet.id, snippet.title, snippet.timing, snippet.digest)


def _result_row(item: Record, known: State) -> ResultRow:
    """Return a record as a row."""
    there = item.environment
    assert known.kind in ("current", "stale", "orphan"), "the state of a record, not of an absence"
    return ResultRow(
        snippet=item.snippet, host=item.host, captured=item.captured, status=item.status, state=known.kind,
        torch=there.torch, build=build(there.torch, there.cuda_build), python=there.python, os=there.os,
        cpu_capability=there.cpu_capability, driver=there.driver, threads=there.threads.get("intra"),
        spread=item.runs.spread, busy=bool(item.conditions and item.conditions.busy),
        content_sha256=item.content_sha256,
    )  # fmt: skip


def _value_rows(cat: Catalogue, item: Record) -> Iterator[ValueRow]:
    """Yield what a record holds of its snippet's values; a failed or stale one may lack some."""
    snippet = cat.snippets[item.snippet]
    for name in snippet.values:
        with contextlib.suppress(CaptureError):
            value = claims.value(snippet, name, item)
            number = None if isinstance(value.scalar, str) or not is_finite(value.scalar) else value.scalar
            yield ValueRow(item.snippet, item.host, name, number, value.text)


def _claim_rows(snippet: Snippet) -> Iterator[ClaimRow]:
    """Yield the claims of a snippet."""
    for item in snippet.claims:
        yield ClaimRow(snippet.id, item.id, item.says, item.holds.text, item.where.text if item.where else None)
