"""What may run where and when: timings alone on their machine, whoever lost a worker alone on the next.

dask moves, runs and watches tasks; it cannot be told what must not run beside what, which is all that is decided here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

LOSSES = 2  # workers that a snippet may lose


@dataclass(frozen=True)
class Job:
    """One snippet for one host."""

    label: str
    snippet: str
    timing: bool


@dataclass(frozen=True)
class Seat:
    """A worker as far as scheduling goes; beside a timing nothing else runs at its `place`."""

    address: str
    label: str
    machine: str
    place: str
    threads: int


class Board:
    """Jobs that wait, jobs that run, and the workers there are; `limit` is how many run side by side on a machine."""

    def __init__(self, jobs: Iterable[Job], limit: int) -> None:
        self.waiting = list(dict.fromkeys(jobs))
        self.limit = limit
        self.running: dict[Job, str] = {}  # where: an address, since a place may grow while something runs there
        self.seats: dict[str, Seat] = {}
        self.losses = Counter[Job]()
        self.hold = False  # no timing begins while workers are asked what they are, which takes CPUs nobody knows where

    def open(self) -> bool:
        """Tell whether anything is left to do."""
        return bool(self.waiting or self.running)

    def seat(self, seat: Seat) -> None:
        """Take in a worker."""
        self.seats[seat.address] = seat

    def start(self) -> tuple[Job, Seat] | None:
        """Return the next job that may begin now, and where; it counts as running from here on."""
        for job in sorted(self.waiting, key=lambda job: job.timing):
            free = [seat for seat in self.seats.values() if seat.label == job.label and self.may(job, seat)]
            if free:
                chosen = min(free, key=lambda seat: (len(self.on(seat)) / seat.threads, seat.address))
                self.waiting.remove(job)
                self.running[job] = chosen.address
                return job, chosen
        return None

    def may(self, job: Job, seat: Seat) -> bool:
        """Tell whether a job may begin at a worker now."""
        beside = [other for other, where in self.running.items() if self.seats[where].place == seat.place]
        if any(other.timing for other in beside):
            return False
        if job.timing and self.hold:
            return False
        if job.timing:  # after all that can still run beside others there
            here = {other.label for other in self.seats.values() if other.place == seat.place}
            return not beside and not any(other.label in here and not other.timing for other in self.waiting)
        if sum(self.seats[where].machine == seat.machine for where in self.running.values()) >= self.limit:
            return False
        there = self.on(seat)
        if self.losses[job] or any(self.losses[other] for other in there):
            return not there
        return len(there) < seat.threads

    def on(self, seat: Seat) -> list[Job]:
        """Return what runs at a worker."""
        return [job for job, where in self.running.items() if where == seat.address]

    def done(self, job: Job) -> None:
        """Take a job off."""
        del self.running[job]

    def again(self, job: Job) -> bool:
        """Let a job whose worker was lost wait for another, and tell whether it may: not after its second loss.

        The second time it ran alone on its worker, so that no innocent one is blamed for a neighbour.
        """
        del self.running[job]
        self.losses[job] += 1
        if self.losses[job] >= LOSSES:
            return False
        self.waiting.append(job)
        return True

    def leave(self, address: str) -> list[Job]:
        """Take a worker away and return what it was running."""
        seat = self.seats.pop(address, None)
        return self.on(seat) if seat else []

    def stranded(self) -> dict[str, list[Job]]:
        """Return the waiting jobs for which no worker is there, by label."""
        labels = {seat.label for seat in self.seats.values()}
        by_label: dict[str, list[Job]] = {}
        for job in self.waiting:
            if job.label not in labels:
                by_label.setdefault(job.label, []).append(job)
        return by_label

    def drop(self, jobs: Iterable[Job]) -> None:
        """Give up on waiting jobs."""
        gone = set(jobs)
        self.waiting = [job for job in self.waiting if job not in gone]


def places(machines: Mapping[str, tuple[str, str]]) -> dict[str, str]:
    """Return the place of each worker by its address, from its label and its machine.

    Workers share a place where they share either: a machine may go by two labels, and of the machines of one label
    nobody says how well they are separated.
    """
    place = {address: address for address in machines}
    for address, (label, machine) in machines.items():
        for other, (its_label, its_machine) in machines.items():
            if label == its_label or machine == its_machine:
                old, new = sorted((place[address], place[other]), reverse=True)
                place = {key: new if value == old else value for key, value in place.items()}
    return place
