"""A record: one result of one snippet on one host, with all that makes it interpretable."""

from __future__ import annotations

import dataclasses
import datetime
import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from capture import plain_data
from capture.host.environment import Conditions, Environment
from capture.host.host import LABEL
from capture.plain_data import about
from capture.snippet.snippet import SNIPPET_ID

SCHEMA = 1
Status = Literal["ok", "error", "timeout", "crashed", "output_limit", "out_of_memory"]


@dataclass(frozen=True)
class Runs:
    """How often the snippet was executed, and how well the executions agreed."""

    count: int
    agree: bool | None = field(default=None, metadata=about("deterministic text: all executions gave it"))
    spread: float | None = field(default=None, metadata=about("timing: max/min of the first ratio value"))


@dataclass(frozen=True)
class Elision:
    """How much output there was and how much of it is stored."""

    bytes: int
    left_out: int = field(metadata=about("bytes between head and tail that are not stored"))


@dataclass(frozen=True)
class Record:
    """One live record per snippet and host. Long text stands last."""

    schema: int
    snippet: str
    source_sha256: str = field(metadata=about("digest of the source and the options that change what runs"))
    host: str
    captured: str = field(metadata=about("date of the capture, YYYY-MM-DD"))
    environment: Environment
    upstream: Mapping[str, str] = field(metadata=about("hash of the source of each torch function it is about"))
    runs: Runs
    status: Status
    exit_code: int | None
    normalized: tuple[str, ...] = field(metadata=about("named rules that changed the text"))
    content_sha256: str = field(metadata=about("over all other fields, as canonical JSON"))
    stdout: str
    stderr: str
    conditions: Conditions | None = field(default=None, metadata=about("timing snippets only"))
    signal: str | None = field(default=None, metadata=about("signal that ended it, such as SIGSEGV"))
    phase: Literal["compile"] | None = field(default=None, metadata=about("it did not compile"))
    hint: str | None = field(default=None, metadata=about("what usually mends this failure"))
    left_processes: int | None = field(default=None, metadata=about("processes it left, which were ended"))
    elided: Mapping[str, Elision] = field(
        default_factory=dict, metadata=about("per stream, where output was left out", True)
    )
    diagnostics: str | None = field(default=None, metadata=about("where every thread stood at a timeout"))


# Identity, provenance, environment, outcome; long text last, so that a diff is read from the top.
ORDER = (
    "schema", "snippet", "source_sha256", "host", "captured", "environment", "upstream", "runs", "conditions",
    "status", "exit_code", "signal", "phase", "hint", "left_processes", "elided", "normalized", "content_sha256",
    "stdout", "stderr", "diagnostics",
)  # fmt: skip
HEX64 = re.compile(r"[0-9a-f]{64}")
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)


def encode(record: Record) -> dict[str, Any]:
    """Return plain data in the stored order."""
    plain = plain_data.encode(record)
    return {name: plain[name] for name in ORDER if name in plain}


def content_digest(record: Record) -> str:
    """Return the SHA-256 of everything but `content_sha256`, over canonical JSON.

    It catches hand edits and bad merges; it does not vouch for an author.
    """
    plain = encode(record)
    del plain["content_sha256"]
    canonical = json.dumps(plain, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(canonical.encode("utf-8", "surrogatepass")).hexdigest()


def sealed(record: Record) -> Record:
    """Return the record with its content digest filled in."""
    return dataclasses.replace(record, content_sha256=content_digest(record))


def decode(data: object) -> Record:
    """Build a Record from plain data.

    Raises ShapeError naming the field, or CaptureError for a schema newer than this tool.
    """
    record = plain_data.decode_versioned(Record, data, SCHEMA)
    for name, value, pattern, form in (
        ("snippet", record.snippet, SNIPPET_ID, "chapter/name"),
        ("source_sha256", record.source_sha256, HEX64, "64 hex digits"),
        ("host", record.host, LABEL, "a host label"),
        ("content_sha256", record.content_sha256, HEX64, "64 hex digits"),
    ):
        if not pattern.fullmatch(value):
            raise plain_data.ShapeError(name, f"expected {form}")
    require_date("captured", record.captured)
    return record


def require_date(name: str, text: str) -> None:
    """Raise ShapeError for a field that holds no day of the calendar."""
    if not _DATE.fullmatch(text):
        raise plain_data.ShapeError(name, "expected a date, YYYY-MM-DD")
    try:
        datetime.date.fromisoformat(text)
    except ValueError as error:
        raise plain_data.ShapeError(name, f"there is no such day ({error})") from error


def build(torch: str | None, cuda_build: str | None) -> str | None:
    """Return how torch was built: cuda, rocm, xpu or cpu; null without torch.

    ROCm and XPU wheels tell only in their local version suffix (`2.13.0+rocm6.4`).
    """
    if torch is None:
        return None
    if cuda_build is not None:
        return "cuda"
    suffix = torch.partition("+")[2]
    return next((name for name in ("rocm", "xpu") if suffix.startswith(name)), "cpu")
