"""`capture run --fleet`: the same on the hosts of a dask cluster; only this process writes."""

from __future__ import annotations

from pathlib import PurePath, PureWindowsPath

from capture.cli.context import tell
from capture.cli.run_protocol import run_hosts
from capture.errors import CaptureError
from capture.host.host import LOCAL
from capture.run import preflight
from capture.run.engine.selection import Choice
from capture.run.execution import Options
from capture.run.fleet.fleet_run import fleet_executor
from capture.run.fleet.questions import FleetRequest
from capture.run.run_request import RunRequest, read_hosts


def run_fleet(
    request: RunRequest, address: str, host: str, python: str, engine: Choice, options: Options, dry_run: bool
) -> int:
    """Capture on the hosts of a fleet, or on the one that is named, and return the exit code."""
    if _is_relative(python):
        raise CaptureError(
            f"--python {python}: with --fleet it is a path on the workers; give an absolute one, or a name"
        )
    chosen = "" if host == LOCAL else host
    reading = read_hosts(request, [chosen] if chosen else None)
    selection = reading.of_host(chosen) if chosen else reading.of_sources()
    capture = FleetRequest(python, engine, options, preflight.question(selection.snippets), chosen)
    return run_hosts(reading, selection, lambda: fleet_executor(address, capture, tell), dry_run)


def _is_relative(path: str) -> bool:
    """Tell whether a path would depend on the folder that a worker happens to be in."""
    return (
        len(PurePath(path).parts) > 1 and not PurePath(path).is_absolute() and not PureWindowsPath(path).is_absolute()
    )
