"""Captured streams: head and tail of what was printed, and the interpreter's report about a crash."""

from __future__ import annotations

import os
import re
from typing import IO

from capture.run.engine.contract import KEPT, CapturedStream

EDGE = 4096  # bytes within which a cut is moved to a line end
REPORT = re.compile(rb"^(?:Fatal Python error|Windows fatal exception): ", re.MULTILINE)  # faulthandler's first line
REPORT_SEARCH = 256 * 1024  # bytes in which it is looked for
REPORT_KEPT = 16 * 1024


def size(file: IO[bytes]) -> int:
    """Return how many bytes were captured; the snippet may have removed the file's name meanwhile."""
    return os.fstat(file.fileno()).st_size


def read_stream(file: IO[bytes], end: int | None = None) -> CapturedStream:
    """Return head and tail of a stream up to `end`, KEPT bytes in all, cut at line ends where lines are short."""
    total = size(file) if end is None else end
    if total <= KEPT:
        return CapturedStream(part(file, 0, total), b"", total)
    head, tail = part(file, 0, KEPT // 2), part(file, total - KEPT // 2, KEPT // 2)
    newline = head.rfind(b"\n", len(head) - EDGE)
    head = head[: newline + 1] if newline >= 0 else _whole_end(head)
    newline = tail.find(b"\n", 0, EDGE)
    tail = tail[newline + 1 :] if newline >= 0 else _whole_start(tail)
    return CapturedStream(head, tail, total)


def part(file: IO[bytes], start: int, length: int) -> bytes:
    """Return some bytes of a file."""
    file.seek(start)
    return file.read(length)


def _whole_end(data: bytes) -> bytes:
    """Return UTF-8 bytes without a character that is cut in two at their end."""
    for back in range(1, min(4, len(data)) + 1):
        byte = data[-back]
        if byte & 0xC0 == 0x80:
            continue
        needed = 2 if byte >= 0xC0 else 1
        needed += (byte >= 0xE0) + (byte >= 0xF0)
        return data[:-back] if needed > back else data
    return data


def _whole_start(data: bytes) -> bytes:
    """Return UTF-8 bytes without the rest of a character that is cut in two at their start."""
    skip = next((index for index, byte in enumerate(data[:4]) if byte & 0xC0 != 0x80), 0)
    return data[skip:]


def split_report(file: IO[bytes], start: int) -> tuple[CapturedStream, str]:
    """Return a stream without the report that the interpreter wrote as it was ended, and the report.

    The report stands at or after `start`, on a line of its own unless the snippet had not ended its last one.
    """
    total = size(file)
    start = max(start, total - REPORT_SEARCH)
    data = part(file, start, REPORT_SEARCH)
    match = REPORT.search(data) or re.search(REPORT.pattern.lstrip(b"^"), data)
    if not match:
        return read_stream(file), ""
    report = data[match.start() : match.start() + REPORT_KEPT].decode("utf-8", "backslashreplace")
    return read_stream(file, end=start + match.start()), report
