"""What every command needs: the handbook it works on, and consoles."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from capture import store
from capture.errors import CaptureError, Problem
from capture.record import privacy

if TYPE_CHECKING:  # plain lines need no rich, which takes longer to import than most commands to run
    from rich.console import Console

COLOURED = ("FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE")  # variables by which rich takes a pipe for a terminal


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
    from rich.console import Console

    return Console(highlight=False, soft_wrap=True, emoji=False)


def stderr() -> Console:
    """Return a console for progress and errors."""
    from rich.console import Console

    return Console(stderr=True, highlight=False, soft_wrap=True, emoji=False)


def say(text: object, console: Console | None = None, style: str = "") -> None:
    """Print one result; control characters, which a stranger's record may hold, are made visible."""
    if console:
        console.print(visible(text), markup=False, style=style)
    else:
        print(visible(text), flush=True)


def visible(text: object) -> str:
    """Return a text in which no character moves the cursor or turns the line, and which holds no secret.

    Paths of this machine stay: whoever runs a command on it must find what it speaks of.
    """
    return privacy.visible(str(text), kinds=("secret",))


def tell(text: str) -> None:
    """Say what happens meanwhile, beside the results; nothing where nobody listens."""
    if sys.stderr:
        print(visible(text), file=sys.stderr, flush=True)


def problem_line(problem: Problem | str) -> str:
    """Return a problem as one line: a file's name may hold a line break, and what follows one may be a command."""
    return str(problem).replace("\n", "\\n") if isinstance(problem, Problem) else problem


def complain(problems: Iterable[Problem | str]) -> None:
    """Print problems to stderr, one a line, in red on a terminal."""
    if not (sys.stderr and sys.stderr.isatty()) and not any(os.environ.get(name) for name in COLOURED):
        for problem in problems:
            tell(problem_line(problem))
        return
    console = stderr()
    for problem in problems:
        say(problem_line(problem), console, "red" if console.is_terminal else "")


def fail(error: CaptureError) -> int:
    """Print an error's problems and return its exit code."""
    complain(error.problems)
    return error.exit_code
