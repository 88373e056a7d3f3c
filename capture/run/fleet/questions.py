"""How a run asks workers: what they are, and for a snippet."""

from __future__ import annotations

import base64
import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from capture import plain_data
from capture.errors import CaptureError, plural
from capture.host.probe.torch_probe import TorchFacts, TorchRequest
from capture.run import confirmation, timing
from capture.run.engine.selection import Choice
from capture.run.execution import Options, Refused
from capture.run.fleet import answers, members
from capture.run.fleet.dask_cluster import Cluster, text_of
from capture.run.fleet.members import Member
from capture.run.preflight import Prepared
from capture.snippet.snippet import Snippet

if TYPE_CHECKING:
    from distributed import Future

POLL = 0.3  # seconds between looks at which workers are there
PATIENCE = 20.0  # seconds after which somebody who waits is told for what
PROBE_LIMIT = 240.0  # seconds for a worker to tell what it is; importing torch anew may take minutes
OVERHEAD = 180.0  # seconds beyond the executions themselves, such as starting the fork server


@dataclass(frozen=True)
class FleetRequest:
    """How every snippet of a run is to be captured; `python` is a path on the workers, or nothing for their own."""

    python: str
    engine: Choice
    options: Options
    question: TorchRequest
    label: str


def probe(cluster: Cluster, request: FleetRequest, tell: Callable[[str], None]) -> list[Member]:
    """Ask every worker what it is; raises CaptureError where there is none, or one cannot tell."""
    threads = cluster.workers()
    if not threads:
        raise CaptureError("the fleet has no worker; start one: CAPTURE_HOST=LABEL dask worker ADDRESS")
    asked = {address: ask_probe(cluster, address, request) for address in threads}
    told: dict[str, answers.Probe | CaptureError] = {}
    patient = time.monotonic() + PATIENCE
    while pending := {address: future for address, future in asked.items() if address not in told}:
        ended = cluster.finished(pending.values(), POLL)
        there = cluster.workers()
        for address, future in pending.items():
            text = text_of(future) if future in ended else None
            if text is not None:
                told[address] = probe_or_error(text)
            elif future in ended or address not in there:
                tell(f"worker {address} was lost before it told what it is")
                cluster.abandon(future)
                del asked[address]
        if late := [address for address in asked if address not in told and time.monotonic() > patient]:
            patient = math.inf
            tell(f"waiting for {plural(len(late), 'worker')} ({', '.join(late[:3])}): it may do other work first")
    probes = members.answering(told)
    if not probes:
        raise CaptureError("every worker of the fleet was lost; look at their logs, then run again")
    return [
        Member(address, members.label_of(item, request.label), threads[address], item)
        for address, item in probes.items()
    ]


def ask_probe(cluster: Cluster, address: str, request: FleetRequest) -> Future[str]:
    """Ask one worker what it is."""
    question = plain_data.encode(request.question)
    task = {"do": "probe", "python": request.python, "salt": cluster.run, "request": question}
    return cluster.ask(address, task, PROBE_LIMIT)


def probe_or_error(text: str) -> answers.Probe | CaptureError:
    """Return what a worker told, or why that is of no use."""
    try:
        return answers.probe_of(text)
    except (CaptureError, Refused) as error:
        return error if isinstance(error, CaptureError) else CaptureError(str(error))


def capture_task(request: FleetRequest, prepared: Prepared, facts: TorchFacts, snippet: Snippet) -> dict[str, Any]:
    """Return what a worker needs to capture a snippet, its source included."""
    options = request.options
    return {
        "do": "capture", "python": request.python, "engine": request.engine, "path": snippet.path,
        "files": files(prepared, snippet), "digest": snippet.digest, "host": plain_data.encode(prepared.host),
        "facts": plain_data.encode(facts), "runs": options.runs, "accept_noise": options.accept_noise,
        "patience": options.patience,
    }  # fmt: skip


def limit(request: FleetRequest, snippet: Snippet) -> float:
    """Return how many seconds a worker may take for a snippet."""
    most = timing.TIMING_RUNS[1] if snippet.timing else confirmation.DETERMINISTIC_RUNS
    return (request.options.runs or most) * (snippet.timeout + 30) + request.options.patience + OVERHEAD


def files(prepared: Prepared, snippet: Snippet) -> dict[str, str]:
    """Return the script and the files it needs, in base64, by their paths from its folder."""
    path = prepared.book.root / snippet.path
    names = [path.name, *(PurePosixPath(name).as_posix() for name in (*snippet.imports, *snippet.files))]
    try:
        return {name: base64.b64encode((path.parent / name).read_bytes()).decode() for name in names}
    except OSError as error:
        raise CaptureError(f"{snippet.path}: cannot be read: {error.strerror}; run again") from error
