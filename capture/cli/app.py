"""The application: its options and commands, and how errors become exit codes."""

from __future__ import annotations

import os
import signal
import sys
import traceback
from pathlib import Path

import typer

from capture import __version__
from capture.cli.commands import Commands
from capture.cli.context import fail, say, set_root
from capture.errors import EXIT_INVALID, CaptureError

TRACEBACK = "CAPTURE_TRACEBACK"  # set, an error that nobody foresaw is shown with all that led to it
app = typer.Typer(
    cls=Commands,
    help="Captures what pinned snippets print, with the host they ran on, and checks what the handbook says about it.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(value: bool) -> None:
    """Print the version and stop."""
    if value:
        say(__version__)
        raise typer.Exit


@app.callback()
def _take_options(
    context: typer.Context,
    root: str = typer.Option("", metavar="DIR", help="The handbook to work on; the nearest folder upward by default."),
    version: bool = typer.Option(False, "--version", callback=_show_version, is_eager=True, help="Show the version."),
) -> None:
    """Take the options that stand before a command."""
    set_root(context, root)


def main() -> None:
    """Run the command line and exit; an error is printed as place, reason and way out, never as a traceback.

    What nobody foresaw ends with 2 as well: 1 says that there is something to read.
    """
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    # A request to end and a closed terminal are treated like Ctrl-C, so that a probe under way is ended too.
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, signal.default_int_handler)
    try:
        app()
    except CaptureError as error:
        sys.exit(fail(error))
    except BrokenPipeError:
        sys.exit(EXIT_INVALID)
    except OSError as error:
        place = Path(str(error.filename)).name if error.filename else "the system"
        reason = error.strerror or type(error).__name__
        sys.exit(fail(CaptureError(f"{place}: {reason}; free space or mend permissions, then run again")))
    except Exception as error:
        sys.exit(fail(CaptureError(_fault(error))))


def _fault(error: Exception) -> str:
    """Say what happened that nobody foresaw, and how to report it, without what it may have been about.

    The message of the error is left out, since it may repeat a file; the traceback is printed where `TRACEBACK` is set.
    """
    if os.environ.get(TRACEBACK):
        traceback.print_exception(error)
    steps = traceback.extract_tb(error.__traceback__)
    own = [step for step in steps if f"{os.sep}capture{os.sep}" in step.filename] or steps
    place = f" in {Path(own[-1].filename).name}, line {own[-1].lineno}" if own else ""
    return (
        f"{type(error).__name__}{place}: a fault of this tool, not of what you did; set {TRACEBACK}=1, run the same "
        "again, and open an issue with what it prints"
    )
