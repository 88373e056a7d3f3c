"""The site against a plain MkDocs Material build of the same content as Markdown, at several sizes, in CPU time."""

from __future__ import annotations

import contextlib
import shutil
import socket
import statistics
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks import lessons, plain
from benchmarks.rounds import clean_environment, used
from benchmarks.table import Row, Within
from capture.store.cache import VARIABLE

SIZES = (30, 300, 3000)
PLAIN, COLD = "plain Material", "site, nothing kept"
EDITED = "site, a lesson edited"
EDITED_LESSON = 3
SERVED = "edit to served, 30 pages"
Found = dict[tuple[str, int], list[float]]


def build(folder: Path, name: str, pages: int) -> float:
    """Build a site as a command and return the seconds of CPU, user and system, that it took."""
    root = folder / ("plain" if name == PLAIN else "ours")
    shutil.rmtree(root / "site", ignore_errors=True)  # to empty a folder of thousands of files is no part of either
    if name == COLD:
        shutil.rmtree(folder / "kept", ignore_errors=True)
    if name == EDITED:
        page = root / "docs" / f"{lessons.name_of(EDITED_LESSON)}.md"
        page.write_text(page.read_text("utf-8") + "\nOne more sentence.\n", "utf-8")
    env = {VARIABLE: str(folder / "kept"), "NO_MKDOCS_2_WARNING": "1"}
    seconds = used("-m", "mkdocs", "build", "--strict", cwd=root, env=env).cpu_seconds
    built = len(list((root / "site").glob("chapter*/*/index.html")))
    assert built == pages - 1, f"{built} of {pages - 1} lessons"
    return seconds


def compare(folder: Path, rounds: int, tell: Callable[[str], None]) -> list[Row]:
    """Measure both kinds of site at every size; the largest takes minutes, so it is built once."""
    found: Found = {}
    for size in SIZES:
        place = folder / str(size)
        tell(f"writing {size:,} pages")
        book = lessons.handbook(place / "ours", size - 1)
        plain.write_site(book, place / "plain", size - 1)
        for number in range(1 if size == SIZES[-1] else rounds):
            for name in (PLAIN, COLD, EDITED):
                tell(f"round {number + 1}: {name}, {size:,} pages")
                found.setdefault((name, size), []).append(build(place, name, size))
        if size == SIZES[0]:
            tell("an edit while it is served")
            found[SERVED, size] = served(place, rounds)
        shutil.rmtree(place)
    bounds = {COLD: Within(0.85), EDITED: Within(0.6)}
    rows = [row(found, (name, size), (PLAIN, size), how) for size in SIZES for name, how in bounds.items()]
    for more, less in zip(SIZES[1:], SIZES, strict=False):
        rows += [grown(found, name, more, less) for name in (PLAIN, COLD, EDITED)]
    edits = tuple((seconds, 1.0) for seconds in found[SERVED, SIZES[0]])
    return [*rows, Row(SERVED, "a second", edits, Within(2))]


def row(found: Found, ours: tuple[str, int], theirs: tuple[str, int], wanted: Within) -> Row:
    """Return one comparison."""
    return Row(
        f"{ours[0]}, {ours[1]:,} pages", f"{theirs[0]}, {theirs[1]:,} pages",
        tuple(zip(found[ours], found[theirs], strict=True)), wanted,
    )  # fmt: skip


def grown(found: Found, name: str, more: int, less: int) -> Row:
    """Return how a build grows with ten times the pages, against the median of the smaller one."""
    before = statistics.median(found[name, less])
    rounds = tuple((seconds, before) for seconds in found[name, more])
    return Row(f"{name}, {more:,} pages", f"{name}, {less:,} pages", rounds, Within(12))


def served(folder: Path, rounds: int) -> list[float]:
    """Return the seconds from an edit of a page to its being served."""
    root, number = folder / "ours", EDITED_LESSON
    page = root / "docs" / f"{lessons.name_of(number)}.md"
    with server(root, {VARIABLE: str(folder / "kept"), "NO_MKDOCS_2_WARNING": "1"}) as address:
        found = []
        for turn in range(rounds):
            time.sleep(2)  # the watcher is at rest again
            word = f"freshword{turn}"
            page.write_text(page.read_text("utf-8") + f"\n{word}\n", "utf-8")
            started = time.perf_counter()
            while word not in text_of(f"{address}{lessons.name_of(number)}/"):
                time.sleep(0.02)
                assert time.perf_counter() - started < 60, "the edit is never served"
            found.append(time.perf_counter() - started)
    return found


@contextlib.contextmanager
def server(root: Path, env: dict[str, str]) -> Iterator[str]:
    """Run `mkdocs serve` and yield its address once it answers."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "mkdocs", "serve", "-a", f"127.0.0.1:{port}"]
    child = subprocess.Popen(
        command, cwd=root, env=clean_environment(env), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    address = f"http://127.0.0.1:{port}/"
    try:
        deadline = time.monotonic() + 120
        while not text_of(address):
            assert time.monotonic() < deadline, "mkdocs serve does not answer"
            time.sleep(0.1)
        yield address
    finally:
        child.terminate()
        child.wait(20)


def text_of(address: str) -> str:
    """Return a page, or nothing where nobody answers."""
    try:
        with urllib.request.urlopen(address, timeout=10) as answer:
            text: str = answer.read().decode("utf-8")
            return text
    except (urllib.error.URLError, OSError):
        return ""
