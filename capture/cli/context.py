"""What every command needs: the handbook it works on, and consoles."""

from __future__ import annotations

from pathlib import Path

import typer
from rich.console import Console

from capture import store
from capture.errors import CaptureError


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
    return Console(highlight=False, soft_wrap=True)


def stderr() -> Console:
    """Return a console for progress and errors."""
    return Console(stderr=True, highlight=False, soft_wrap=True)


def fail(error: CaptureError) -> int:
    """Print an error's problems, one a line, and return its exit code."""
    console = stderr()
    for problem in error.problems:
        console.print(str(problem), markup=False, style="red" if console.is_terminal else "")
    return error.exit_code
