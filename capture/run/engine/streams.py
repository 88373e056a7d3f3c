"""Captured streams: pipes as a shell gives, head and tail of what came out, and the interpreter's report of a crash."""

from __future__ import annotations

import contextlib
import os
import re
import selectors
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from capture.run.engine.contract import KEPT, OUTPUT_LIMIT, CapturedStream

EDGE = 4096  # bytes within which a cut is moved to a line end
REPORT = re.compile(rb"^(?:Fatal Python error|Windows fatal exception): ", re.MULTILINE)  # faulthandler's first line
REPORT_SEARCH = 256 * 1024  # bytes in which it is looked for
REPORT_KEPT = 16 * 1024
CHUNK = 1 << 16  # bytes
BEAT = 0.05  # seconds between looks at whether collecting shall end
LAST = 2.0  # seconds to collect what a snippet printed that has ended


class Pipe:
    """A pipe that a snippet prints to, and the file that takes what comes out of it.

    A file alone would not do: who opens /dev/stdout anew truncates it, and seeks in it.
    """

    def __init__(self, path: Path) -> None:
        self.file = path.open("w+b", buffering=0)  # the snippet may remove its name
        self.reader, self.writer = os.pipe()
        os.set_blocking(self.reader, False)

    def collect(self) -> bool:
        """Take what has come, and tell whether more may come; what is beyond the limit stays where it is."""
        while size(self.file) <= OUTPUT_LIMIT:
            try:
                data = os.read(self.reader, CHUNK)
            except BlockingIOError:
                return True
            if not data:
                return False
            self.file.write(data)
        return False

    def close(self) -> None:
        """Close what is open of it."""
        self.release()
        os.close(self.reader)
        self.file.close()

    def release(self) -> None:
        """Close the writing end, once the snippet has it."""
        if self.writer >= 0:
            os.close(self.writer)
            self.writer = -1


class Collector:
    """A thread that collects what comes out of pipes while their snippet runs."""

    def __init__(self, pipes: tuple[Pipe, ...]) -> None:
        self.pipes = pipes
        self.ended, self.deadline = threading.Event(), 0.0
        self.thread = threading.Thread(target=self._collect, daemon=True)
        self.thread.start()

    def _collect(self) -> None:
        """Collect until every pipe is closed, or nothing of the snippet is left."""
        with selectors.DefaultSelector() as selector:
            for pipe in self.pipes:
                selector.register(pipe.reader, selectors.EVENT_READ, pipe)
            while selector.get_map():
                ready = selector.select(BEAT)
                for key, _ in ready:
                    if not key.data.collect():
                        selector.unregister(key.fd)
                if self.ended.is_set() and (not ready or time.monotonic() > self.deadline):
                    return  # who still holds a pipe has nothing to do with the snippet

    def finish(self) -> None:
        """Return when all that the snippet printed has been collected; it has ended."""
        self.deadline = time.monotonic() + LAST
        self.ended.set()
        self.thread.join()


@contextlib.contextmanager
def piped(folder: Path) -> Iterator[tuple[Pipe, Pipe]]:
    """Open the pipes of stdout and stderr, with their files in a folder."""
    with contextlib.ExitStack() as stack:
        out, err = (stack.enter_context(contextlib.closing(Pipe(folder / name))) for name in ("stdout", "stderr"))
        yield out, err


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
