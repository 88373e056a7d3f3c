"""What is private in the files beside the records: sources, pages, and every other file that is published or stored."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from capture import store
from capture.errors import CaptureError, Problem
from capture.record import privacy
from capture.record.privacy import Identity
from capture.store.catalogue import Catalogue

_LARGEST = 64 * 2**20  # bytes of a file that are read; no host of sites takes a larger one
_READABLE = re.compile(rb"[\t\x20-\x7e]{6,}")  # what of a binary file is text; a shorter piece holds no secret
_MARKS = {b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}


def check_published_files(cat: Catalogue) -> list[Problem]:
    """Return what is private in files of the handbook that no other rule searches, at path:line, never the value.

    Those are all but the records and host.yaml that could be read. A content once found clean is not searched again.
    """
    searched = {cat.book.record_path(*key) for key in cat.records} | {cat.book.host_path(label) for label in cat.hosts}
    problems: list[Problem] = []
    with store.Cache(cat.book.cached_for, "published") as cache:
        for path in _files(cat.book):
            if path in searched:
                continue
            name = cat.book.relative(path)
            try:
                data = store.read_bytes(path, name, _LARGEST)
            except CaptureError as error:
                problems += error.located
                continue
            found: list[Mapping[str, str | int]] = cache.recall(store.digest(data), functools.partial(_hits, data))
            problems += [Problem(name, int(hit["line"]), str(hit["message"]), str(hit["rule"])) for hit in found]
    return problems


def _files(book: store.Handbook) -> Iterator[Path]:
    """Yield every file that is published or stored: the settings, and what lies in the folders of the site."""
    yield book.root / store.CONFIG
    yield from store.files_below(book)


def _hits(data: bytes) -> list[Mapping[str, str | int]]:
    """Return line, message and rule of what is private in a file."""
    text, has_lines = _text_of(data)
    found = {item if has_lines else replace(item, line=0) for item in privacy.scan(text, "", Identity())}
    return [{"line": item.line, "message": item.message, "rule": item.rule} for item in sorted(found)]


def _text_of(data: bytes) -> tuple[str, bool]:
    """Return the text of a file, and whether it has lines; of a binary one only what reads as text, a piece a line."""
    try:
        text = data.decode(_MARKS.get(data[:2], "utf-8"))
    except UnicodeDecodeError:
        text = "\0"
    if "\0" not in text:
        return text, True
    return b"\n".join(_READABLE.findall(data)).decode("ascii"), False
