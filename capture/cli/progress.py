"""Long work on the command line: a bar on a terminal, plain lines elsewhere, and a clean end at Ctrl-C."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Callable, Generator, Iterator
from types import FrameType
from typing import TypeVar

from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
)

from capture.cli.context import say, stderr
from capture.run import runner

Found = TypeVar("Found")
Work = Callable[[threading.Event, Callable[[str], None]], Generator[Found, None, None]]
"""Takes the event that stops it and what to tell of each beginning; yields each result."""
EXIT_INTERRUPTED = 130  # 128 + SIGINT, as shells report it


def follow(work: Work[Found], total: int, doing: str, line: Callable[[Found], str]) -> tuple[list[Found], bool]:
    """Show each result of some work as it comes; return what came, and whether it was all, not interrupted before."""
    stop = threading.Event()
    console = stderr()
    results: list[Found] = []
    progress = Progress(
        SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(),
        console=console, transient=True, disable=not console.is_terminal,
    )  # fmt: skip
    bar = progress.add_task(doing, total=total)

    def started(name: str) -> None:
        progress.update(bar, description=name)

    try:
        with (
            progress,
            stopped_by_signals(stop),
            # Closed at once when anything goes wrong here: nothing may go on executing meanwhile.
            contextlib.closing(work(stop, started)) as running,
        ):
            for result in running:
                results.append(result)
                progress.advance(bar)
                say(line(result), console)
    except runner.Interrupted:
        return results, False
    return results, True


@contextlib.contextmanager
def stopped_by_signals(stop: threading.Event) -> Iterator[None]:
    """Set `stop` at Ctrl-C, at a request to end, and when the terminal goes.

    Nothing is raised, since an exception at any point of the scheduling could leave a process or a lock behind, and
    further signals do nothing. A signal that the caller ignores, as nohup does, does nothing here either; snippets
    start with none ignored, because a handler, unlike an ignored signal, is not inherited.
    """
    names = ("SIGINT", "SIGTERM", "SIGHUP")  # Windows lacks the last
    numbers = [number for name in names if (number := getattr(signal, name, None)) is not None]
    received: list[int] = []

    def nothing(number: int, frame: FrameType | None) -> None:
        pass

    def handle(number: int, frame: FrameType | None) -> None:
        for other in numbers:  # first: a second signal inside `set` would wait for its lock for ever
            signal.signal(other, nothing)
        received.append(number)
        stop.set()

    previous = {number: signal.getsignal(number) for number in numbers}
    for number, before in previous.items():
        signal.signal(number, nothing if before is signal.SIG_IGN else handle)
    try:
        yield
    finally:
        for number, before in previous.items():
            signal.signal(number, signal.SIG_IGN if received else before)
