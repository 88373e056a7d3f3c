"""Bundles as tests take them apart and put them together again, whole and hostile."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import tarfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from capture import store
from capture.exchange import bundle
from capture.host.host import Host
from capture.record.record import Record
from harness.handbooks import host, record
from harness.project import Project, Run

LABEL = "h200"
HOST = host(LABEL, "H200", "cuda")
TOKEN = "hf_" + "Q" * 34
RECORD = f"docs/captures/{LABEL}/demo/one.yaml"


def texts(*records: Record, facts: Host = HOST) -> dict[str, str]:
    """Return the files of a bundle by snippet id."""
    return {"host": store.host_text(facts), **{item.snippet: store.record_text(item) for item in records}}


def packed(*records: Record, facts: Host = HOST) -> bytes:
    """Return a bundle of records."""
    return bundle.pack(facts.label, texts(*records, facts=facts))


GOOD = packed(record("demo/one", LABEL, source_sha256="1" * 64), record("demo/two", LABEL, source_sha256="2" * 64))
PATHS = [bundle.path_of(LABEL, key) for key in ("host", "demo/one", "demo/two")]


def members(data: bytes) -> list[tuple[tarfile.TarInfo, bytes]]:
    """Return what a bundle holds, as any other tool sees it."""
    with tarfile.open(fileobj=io.BytesIO(data)) as tar:
        return [(item, file.read() if (file := tar.extractfile(item)) else b"") for item in tar.getmembers()]


def tarred(parts: list[tuple[tarfile.TarInfo, bytes]], style: int = tarfile.USTAR_FORMAT) -> bytes:
    """Return members packed by tar, with what a stranger made of them."""
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode="w", format=style) as tar:
        for item, data in parts:
            tar.addfile(item, io.BytesIO(data))
    return gzip.compress(written.getvalue(), mtime=0)


def listed(parts: list[tuple[tarfile.TarInfo, bytes]], **changes: Any) -> list[tuple[tarfile.TarInfo, bytes]]:
    """Return members with a manifest that lists them as they are; keywords change its fields."""
    files = {item.name: hashlib.sha256(data).hexdigest() for item, data in parts if item.name != bundle.MANIFEST}
    manifest = {"schema": 1, "tool": "0.1.0", "host": LABEL, "files": files} | changes
    data = (json.dumps(manifest, indent=1, ensure_ascii=False) + "\n").encode("utf-8", "surrogateescape")
    return [(named(bundle.MANIFEST, data), data), *(part for part in parts if part[0].name != bundle.MANIFEST)]


def named(name: str, data: bytes = b"", kind: bytes = tarfile.REGTYPE, **fields: Any) -> tarfile.TarInfo:
    """Return the header of a member."""
    found = tarfile.TarInfo(name)
    found.type, found.size = kind, len(data)
    for field, value in fields.items():
        setattr(found, field, value)
    return found


def with_member(name: str, data: bytes = b"x", kind: bytes = tarfile.REGTYPE, **fields: Any) -> bytes:
    """Return the good bundle with one more member, which its manifest lists too."""
    own = data if kind == tarfile.REGTYPE else b""
    return tarred(listed([*members(GOOD), (named(name, own, kind, **fields), own)]))


def with_files(files: Mapping[str, bytes], **changes: Any) -> bytes:
    """Return a bundle of these files by path, with a manifest that fits."""
    return tarred(listed([(named(path, data), data) for path, data in files.items()], **changes))


def two_snippets(root: Path) -> Project:
    """Return a handbook with two snippets, one of which times, and nothing captured."""
    found = Project(root)
    found.snippet("demo/one", "print('out')")
    options: dict[str, Any] = {"values": {"gain": r"gain ([\d.]+)x"}, "compare": {"ratio": {"gain": 1.5}}}
    found.snippet("demo/two", "print('gain 3.0x')", timing=True, **options)
    return found


def made(project: Project, key: str = "demo/one", **changes: Any) -> Record:
    """Return a record of a snippet as it is here."""
    return record(key, LABEL, **{"source_sha256": project.parsed(key).digest} | changes)


def keep(project: Project, item: Record) -> None:
    """Store a record here, with its host."""
    project.keep(HOST)
    project.keep(item)


def take(project: Project, *items: Record, options: tuple[str, ...] = (), data: bytes | None = None) -> Run:
    """Import a bundle of records, or of these bytes; the file lies outside the handbook."""
    path = project.root.parent / "captures-h200.tar.gz"
    path.write_bytes(packed(*items) if data is None else data)
    return project.capture("import", str(path), *options)
