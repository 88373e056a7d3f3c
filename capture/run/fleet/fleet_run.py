"""Carries a fleet's plans out: gives the workers snippets, stores what holds, copes with workers that go and come."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from capture.errors import CaptureError, PrivacyRefused
from capture.run import runner, timing
from capture.run.execution import Interrupted, Refused
from capture.run.fleet import answers, dask_cluster, members, placement, questions
from capture.run.fleet.dask_cluster import Cluster, text_of
from capture.run.fleet.members import Member
from capture.run.fleet.placement import Board, Job, Seat
from capture.run.fleet.questions import POLL, FleetRequest, ask_probe, probe_or_error
from capture.run.host_run import HostResult, HostRun
from capture.run.preflight import Prepared, RunDecision
from capture.run.run_request import HostSelection
from capture.run.runner import RunResult

if TYPE_CHECKING:
    from distributed import Future

LATE = 60.0  # seconds beyond what a worker may take, after which it is told that none has answered
NO_WORKER = 15.0  # seconds for a lost worker's nanny to bring another


@dataclass(frozen=True)
class FleetExecutor:
    """Captures on the hosts of a fleet: `groups` are the workers of each by its label, `others` take no part."""

    cluster: Cluster
    request: FleetRequest
    groups: Mapping[str, list[Member]]
    others: tuple[str, ...]
    tell: Callable[[str], None]
    remote: bool = True

    @property
    def labels(self) -> Sequence[str]:
        """The hosts that take part."""
        return tuple(self.groups)

    def decide(self, selection: HostSelection, force: bool) -> RunDecision:
        """Plan one host, by what its first worker told: the others are the same machine and software."""
        return members.decide(selection, self.groups[selection.label][0], force)

    def execute(
        self, runs: Sequence[HostRun], stop: threading.Event, started: Callable[[str], None]
    ) -> Generator[HostResult, None, None]:
        """Carry the plans out on the workers, as `FleetRun.results` does."""
        yield from FleetRun(self, runs).results(stop, started)


@contextlib.contextmanager
def fleet_executor(address: str, request: FleetRequest, tell: Callable[[str], None]) -> Iterator[FleetExecutor]:
    """Connect to a fleet and ask every worker what it is; raises CaptureError where they do not make up hosts."""
    with dask_cluster.connected(address) as cluster:
        everyone = questions.probe(cluster, request, tell)
        groups = members.gathered(everyone, request.label)
        others = tuple(member.address for member in everyone if member.label not in groups)
        yield FleetExecutor(cluster, request, groups, others, tell)


class FleetRun:
    """The plans of a fleet's hosts while they are carried out."""

    def __init__(self, fleet: FleetExecutor, runs: Sequence[HostRun]) -> None:
        self.cluster, self.request, self.groups, self.tell = fleet.cluster, fleet.request, fleet.groups, fleet.tell
        self.decisions = {run.label: run.decision for run in runs}
        self.snippets = {
            Job(run.label, step.snippet.id, step.snippet.timing): step.snippet
            for run in runs
            for step in run.plan.steps
        }
        self.board = Board(self.snippets, self.request.options.jobs)
        self.known = {member.address: member for group in self.groups.values() for member in group}
        self.ignored = set(fleet.others)  # addresses
        self.futures: dict[Future[str], Job] = {}
        self.due: dict[Future[str], float] = {}
        self.probing: dict[Future[str], str] = {}
        self.patience = dict.fromkeys(self.groups, self.request.options.patience)
        self.missed: dict[str, float] = {}
        self.seat()

    def seat(self) -> None:
        """Seat the known members."""
        where = placement.places(
            {member.address: (member.label, member.probe.machine) for member in self.known.values()}
        )
        for member in self.known.values():
            place, machine = where[member.address], member.probe.machine
            self.board.seat(Seat(member.address, member.label, machine, place, member.threads))

    def results(self, stop: threading.Event, started: Callable[[str], None]) -> Generator[HostResult, None, None]:
        """Yield each result once its record is stored. Setting `stop` lets the workers abandon what they run."""
        try:
            while self.board.open():
                if stop.is_set():
                    raise Interrupted
                while begun := self.board.start():
                    self.give(*begun, started)
                ended = self.cluster.finished([*self.futures, *self.probing], POLL) if self.pending() else []
                for future in ended:
                    if future in self.futures:
                        yield from self.take(future)
                    else:
                        self.join(self.probing.pop(future), text_of(future))
                yield from self.look()
                if not self.pending():
                    stop.wait(POLL)
        finally:
            for future in (*self.futures, *self.probing):
                self.cluster.abandon(future)

    def pending(self) -> bool:
        """Tell whether any worker owes an answer."""
        return bool(self.futures or self.probing)

    def give(self, job: Job, seat: Seat, started: Callable[[str], None]) -> None:
        """Send a snippet to a worker."""
        started(f"{job.snippet} on {job.label}")
        snippet, facts = self.snippets[job], self.known[seat.address].probe.facts
        task = questions.capture_task(self.request, self.prepared(job.label), facts, snippet)
        task["patience"] = self.patience[job.label]
        limit = questions.limit(self.request, snippet)
        future = self.cluster.ask(seat.address, task, limit)
        self.futures[future], self.due[future] = job, time.monotonic() + limit + LATE

    def prepared(self, label: str) -> Prepared:
        """Return what is known about a host."""
        prepared = self.decisions[label].prepared
        assert prepared is not None, "a fleet's host is planned with all that executing needs"
        return prepared

    def take(self, future: Future[str]) -> Generator[HostResult, None, None]:
        """Judge and store what a worker answered."""
        job, text = self.futures.pop(future), text_of(future)
        if text is None:
            self.cluster.workers()  # where the scheduler is gone, that is what is to be told
            yield from self.once_more(job)
            return
        self.board.done(job)
        yield HostResult(job.label, self.kept(job, text))

    def kept(self, job: Job, text: str) -> RunResult:
        """Store a record as a local run does, or say why not."""
        snippet, prepared = self.snippets[job], self.prepared(job.label)
        try:
            data = answers.decoded(text)
            for line in answers.told(data):
                self.tell(f"{job.label}: {line}")
            item = answers.record_of(data, snippet, prepared)
        except PrivacyRefused as error:
            return RunResult(snippet.id, "private", str(error), 0.0)
        except Refused as error:
            if str(error).startswith(timing.BUSY):
                self.patience[job.label] = 0.0  # waited for once; the others look, but do not wait again
            return RunResult(snippet.id, "refused", str(error), error.seconds)
        except CaptureError as error:
            return RunResult(snippet.id, "refused", str(error), 0.0)
        try:
            result = runner.keep(prepared, snippet, item, answers.seconds_of(data), self.request.options)
            return replace(result, notes=tuple(answers.told(data, "notes")))
        except PrivacyRefused as error:
            return RunResult(snippet.id, "private", "; ".join(map(str, error.problems)), 0.0)

    def once_more(self, job: Job) -> Generator[HostResult, None, None]:
        """Let a job whose worker was lost run again, alone on its worker, or report it."""
        if self.board.again(job):
            self.tell(f"{job.label}: a worker was lost while it ran {job.snippet}; it runs again")
            return
        why = "its worker was lost twice, the second time with nothing beside it: it ends workers, or needs more memory"
        yield HostResult(job.label, RunResult(job.snippet, "refused", why, 0.0))

    def look(self) -> Generator[HostResult, None, None]:
        """Notice which workers have gone and which have come."""
        there = self.cluster.workers()
        for address in [address for address in self.board.seats if address not in there]:
            for job in self.board.leave(address):
                (future,) = (future for future, other in self.futures.items() if other == job)
                del self.futures[future]
                self.cluster.abandon(future)
                yield from self.once_more(job)
            del self.known[address]
        self.remind()
        self.meet(there)
        stranded = self.board.stranded()
        now = time.monotonic()
        self.missed = {label: self.missed.get(label, now) for label in stranded}
        for label, jobs in stranded.items():
            if now - self.missed[label] > NO_WORKER and not self.probing:
                self.board.drop(jobs)
                why = f"no worker of {label} is left; start one, then run again"
                yield from (HostResult(label, RunResult(job.snippet, "refused", why, 0.0)) for job in jobs)

    def remind(self) -> None:
        """Tell once of each answer that is overdue: the worker's own limit begins when it comes to the task."""
        self.due = {future: due for future, due in self.due.items() if future in self.futures}
        for future in [future for future, due in self.due.items() if time.monotonic() > due]:
            del self.due[future]
            job = self.futures[future]
            where = self.board.running[job]
            self.tell(
                f"{job.label}: {where} owes {job.snippet} for long: it hangs, or does other work; Ctrl-C ends this"
            )

    def meet(self, there: Iterable[str]) -> None:
        """Ask workers that came later what they are, once no timing runs."""
        for future, address in list(self.probing.items()):
            if address not in there:
                del self.probing[future]
                self.cluster.abandon(future)
        strangers = {*there} - {*self.board.seats, *self.probing.values(), *self.ignored}
        if not any(job.timing for job in self.board.running):
            self.probing |= {ask_probe(self.cluster, address, self.request): address for address in sorted(strangers)}
        self.board.hold = bool(strangers or self.probing)

    def join(self, address: str, text: str | None) -> None:
        """Take in a worker that came later, where it is one of a host that is being captured."""
        threads = self.cluster.workers().get(address)
        if text is None or threads is None:  # lost; if it comes again, it is asked again
            return
        probe = probe_or_error(text)
        try:
            if isinstance(probe, CaptureError):
                raise probe
            member = Member(address, members.label_of(probe, self.request.label), threads, probe)
            why = self.strange(member)
        except CaptureError as error:
            why = str(error)
        if why:
            self.ignored.add(address)
            self.tell(f"worker {address} came later and takes no part: {why}")
            return
        self.known[address] = member
        self.seat()

    def strange(self, member: Member) -> str:
        """Say why a worker that came later cannot take part, or nothing."""
        group = self.groups.get(member.label)
        return members.apart(group[0], member) if group else "its host is not in this run's plan; run again for it"
