"""The public dataset: every value, claim and host of the handbook as a few flat tables in one JSON document.

Rows of one table have the same columns, and tables join on `snippet` and `host`; so a data frame or a database takes
them as they are.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Literal

from capture import plain_data
from capture.host.host import Kind
from capture.plain_data import about
from capture.record.claims import Verdict
from capture.record.record import Status

SCHEMA = 1
ADDRESS = "handbook.json"  # on the site, for ever


@dataclass(frozen=True)
class HostRow:
    """A host, one row each; null is what it does not tell."""

    host: str = field(metadata=about("label, by which other tables name it"))
    title: str
    kind: Kind
    arch: str
    cpu_vendor: str | None
    cpu_model: str | None
    cpu_isa: str | None = field(metadata=about("widest vector ISA"))
    cpu_bf16: bool | None = field(metadata=about("has instructions for bfloat16 arithmetic"))
    cpu_amx: bool | None
    cpu_vnni: bool | None
    cpu_count: int | None = field(metadata=about("CPUs visible to the system"))
    accelerator: str | None = field(metadata=about("name of the first one; null without"))
    accelerator_memory_mib: int | None
    accelerator_capability: str | None = field(metadata=about("CUDA compute capability, or gfx name"))
    accelerators: int = field(metadata=about("how many in all"))
    memory_gib: int | None
    virtualization: str | None = field(metadata=about("hypervisor or container kind; null on bare metal"))
    fingerprint: str = field(metadata=about("SHA-256 over the hardware facts; equal on one machine under two labels"))


@dataclass(frozen=True)
class SnippetRow:
    """A snippet, as it is now."""

    snippet: str
    title: str
    timing: bool = field(metadata=about("its output holds times"))
    source_sha256: str


@dataclass(frozen=True)
class ResultRow:
    """A record without its text: what a script was run on, and how it ended."""

    snippet: str
    host: str
    captured: str = field(metadata=about("date of the capture, YYYY-MM-DD"))
    status: Status
    state: Literal["current", "stale", "orphan"] = field(metadata=about("whether it is of the script as it is now"))
    torch: str | None = field(metadata=about("full version with local suffix"))
    build: str | None = field(metadata=about("cpu, cuda, rocm or xpu"))
    python: str
    os: str
    cpu_capability: str | None = field(metadata=about("vector ISA that torch's own kernels use"))
    driver: str | None
    threads: int | None = field(metadata=about("torch's intra-op threads"))
    spread: float | None = field(metadata=about("timing: largest max/min of a ratio value over its executions"))
    busy: bool = field(metadata=about("a timing taken beside other work"))
    content_sha256: str = field(metadata=about("digest of the record, by which it can be found again"))


@dataclass(frozen=True)
class ValueRow:
    """A named value of a result."""

    snippet: str
    host: str
    value: str = field(metadata=about("its name"))
    number: int | float | None = field(
        metadata=about("exact where it is whole; null where it is text, infinite or no number")
    )
    text: str = field(metadata=about("as it was printed"))


@dataclass(frozen=True)
class ClaimRow:
    """A claim, and the conditions in which it is made."""

    snippet: str
    claim: str = field(metadata=about("its name in the snippet"))
    says: str
    holds: str = field(metadata=about("condition over the snippet's values"))
    where: str | None = field(metadata=about("scope over facts about the host; null where it is claimed everywhere"))


@dataclass(frozen=True)
class VerdictRow:
    """A claim on one host."""

    snippet: str
    claim: str
    host: str
    verdict: Verdict
    reason: str | None = field(
        metadata=about("of a claim that fails, or that cannot be judged on a stale or failed result")
    )


@dataclass(frozen=True)
class Dataset:
    """All tables. `schema` grows when a reader of the old ones would misread the new ones."""

    schema: int
    tool: str = field(metadata=about("version of the tool that wrote it"))
    hosts: tuple[HostRow, ...]
    snippets: tuple[SnippetRow, ...]
    results: tuple[ResultRow, ...]
    values: tuple[ValueRow, ...]
    claims: tuple[ClaimRow, ...]
    verdicts: tuple[VerdictRow, ...]


def text(item: Dataset) -> str:
    """Return the document: one row a line, so that it is compact and two of them can be compared."""
    parts = []
    for name, part in plain_data.encode(item).items():
        if isinstance(part, list):
            rows = ",\n".join(_compact(row) for row in part)
            parts.append(f"{_compact(name)}:[\n{rows}\n]" if rows else f"{_compact(name)}:[]")
        else:
            parts.append(f"{_compact(name)}:{_compact(part)}")
    return "{" + ",\n".join(parts) + "}\n"


def _compact(part: object) -> str:
    """Return a part of the document as JSON without blanks; raises ValueError for infinity, which JSON lacks."""
    return json.dumps(part, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
