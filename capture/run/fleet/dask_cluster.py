"""The door to dask.distributed: connect, see which workers there are, let one of them do a task, wait."""

from __future__ import annotations

import asyncio
import base64
import concurrent.futures
import contextlib
import hashlib
import io
import json
import logging
import uuid
import warnings
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import capture
from capture.errors import CaptureError
from capture.host.probe.torch_script_questions import without_paths
from capture.run.fleet import trusted_address as addresses

if TYPE_CHECKING:
    from distributed import Client, Future

CONNECT_LIMIT = 15.0  # seconds
FETCH_LIMIT = 20.0  # seconds for an answer that is there
CLOSE_LIMIT = 5.0  # seconds for the agents to end
# As text, called through a builtin: what is pickled by name or as byte code would need our package or the very Python.
CALL = "[scope := {}, exec(seed, scope), scope['work'](package, digest, task, limit)][-1]"
INSTALL = '--fleet needs dask.distributed: pip install distributed, or with this tool: pip install -e ".[fleet]"'


class FleetLost(CaptureError):
    """The scheduler is gone; what was finished is stored."""


class Cluster:
    """A connection; every task is restricted to one worker and done once."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.seed = Path(__file__).with_name("worker_bootstrap.py").read_text("utf-8")
        data = package()
        self.package, self.digest = base64.b64encode(data).decode(), hashlib.sha256(data).hexdigest()
        self.run = uuid.uuid4().hex
        self.count = 0

    def workers(self) -> dict[str, int]:
        """Return the threads of each worker by its address.

        Raises FleetLost where the scheduler is gone, CaptureError for a worker that is open beyond loopback.
        """
        try:
            if self.client.status != "running":
                raise OSError
            threads = dict(self.client.nthreads())
        except (OSError, ValueError, RuntimeError) as error:
            raise FleetLost(
                "the fleet's scheduler is gone; start it, then run again: what was finished is stored"
            ) from error
        for address in threads:
            addresses.checked(address, "worker")
        return threads

    def ask(self, address: str, task: dict[str, Any] | None, limit: float) -> Future[str]:
        """Let a worker do a task; `limit` is in seconds. Without a task its waiting agents end."""
        self.count += 1
        scope = {
            "seed": self.seed, "package": self.package, "digest": self.digest, "limit": limit,
            "task": "" if task is None else json.dumps(task),
        }  # fmt: skip
        return self.client.submit(
            eval, CALL, scope,
            workers=[address], allow_other_workers=False, pure=False, key=f"capture-{self.run}-{self.count}",
        )  # fmt: skip

    def abandon(self, future: Future[str]) -> None:
        """Let the worker end what it does for an answer that nobody waits for any more."""
        with contextlib.suppress(Exception):  # the scheduler may be gone, and the worker sees that itself
            future.cancel()

    def finished(self, pending: Iterable[Future[str]], seconds: float, all_of_them: bool = False) -> list[Future[str]]:
        """Return those that have ended once one has, or all, but after at most so many seconds."""
        from distributed import wait

        waiting = list(pending)
        # Late, or cancelled with the scheduler's end: each one's own status tells.
        with contextlib.suppress(TimeoutError, asyncio.CancelledError, concurrent.futures.CancelledError):
            wait(waiting, timeout=seconds, return_when="ALL_COMPLETED" if all_of_them else "FIRST_COMPLETED")
        return [future for future in waiting if future.status != "pending"]

    def close(self) -> None:
        """End the agents that wait for tasks."""
        with contextlib.suppress(CaptureError, OSError):
            asked = [self.ask(address, None, CLOSE_LIMIT) for address in self.workers()]
            self.finished(asked, CLOSE_LIMIT, all_of_them=True)


def text_of(future: Future[str]) -> str | None:
    """Return what a worker answered, or an answer that says why there is none; None where the answer was lost."""
    if future.status in ("cancelled", "lost"):  # somebody restarted the cluster
        return None
    try:
        answer = future.result(timeout=FETCH_LIMIT)
    except TimeoutError:  # the worker was lost with it
        return None
    except Exception as error:  # whatever the worker raised arrives here
        return json.dumps({"broken": f"the worker failed: {type(error).__name__}: {without_paths(str(error))[:200]}"})
    return answer if isinstance(answer, str) else ""


@contextlib.contextmanager
def connected(address: str) -> Iterator[Cluster]:
    """Connect to a scheduler; raises CaptureError where that cannot be, with what would help."""
    place = addresses.checked(address)
    try:
        from distributed import Client
    except ImportError as error:
        raise CaptureError(INSTALL) from error
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)  # news of what is lost is ours to tell, in sentences
    try:
        client = _connect(Client, place)
        cluster = Cluster(client)
        try:
            yield cluster
        finally:
            cluster.close()
            with contextlib.suppress(Exception):  # the scheduler may be gone
                client.close(timeout=CLOSE_LIMIT)
    finally:
        logging.disable(before)


def _connect(kind: type[Client], place: str) -> Client:
    """Return a client of a scheduler; raises CaptureError where it cannot be talked to."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # other versions there: the tool itself travels with each task
            return kind(place, timeout=CONNECT_LIMIT)
    except (OSError, TypeError, ValueError, RuntimeError) as error:
        why = without_paths(str(error).splitlines()[0])[:200] if str(error) else type(error).__name__
        tls = f"; {addresses.CERTIFICATES}" if place.startswith("tls:") else ""
        advice = f"start one with: dask scheduler, or mend the address{tls}"
        raise CaptureError(f"--fleet {place}: no dask scheduler can be talked to there ({why}); {advice}") from error


def package() -> bytes:
    """Return this tool, zipped; equal files give equal bytes."""
    root = Path(capture.__file__).parent
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(root.rglob("*.py")):
            name = f"capture/{path.relative_to(root).as_posix()}"
            archive.writestr(zipfile.ZipInfo(name), path.read_bytes(), zipfile.ZIP_DEFLATED)
    return data.getvalue()
