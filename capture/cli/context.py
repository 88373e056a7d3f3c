"""What every command needs: the handbook it works on, and consoles."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import typer
from rich.console import Console

from capture import normalize, store
from capture.errors import CaptureError, Problem


def set_root(context: typer.Context, root: str) -> None:
    """Remember the --root option for the command."""
    context.obj = root


def handbook(context: typer.Context) -> store.Handbook:
    """Return the handbook of --root, or the nearest one upward; raises CaptureError where there is none."""
    chosen = str(context.find_root().obj or "")
    start = Path(chosen).absolute() if chosen else Path.cwd()
    if chosen and not start.is_dir():
        raise CaptureError(f"--root {chosen}: no such folder")
    return store.find_root(start)


def stdout() -> Console:
    """Return a console for results; it wraps nothing that is piped."""
    return Console(highlight=False, soft_wrap=True, emoji=False)


def stderr() -> Console:
    """Return a console for progress and errors."""
    return Console(stderr=True, highlight=False, soft_wrap=True, emoji=False)


def say(text: object, console: Console | None = None, style: str = "") -> None:
    """Print one result; control characters, which a stranger's record may hold, are made visible."""
    (console or stdout()).print(
        normalize.bidi_controls(normalize.control_characters(str(text))), markup=False, style=style
    )


def tell(text: str) -> None:
    """Say what happens meanwhile, beside the results."""
    say(text, stderr())


def complain(problems: Iterable[Problem | str]) -> None:
    """Print problems to stderr, one a line."""
    console = stderr()
    for problem in problems:
        say(problem, console, "red" if console.is_terminal else "")


def fail(error: CaptureError) -> int:
    """Print an error's problems and return its exit code."""
    complain(error.problems)
    return error.exit_code
