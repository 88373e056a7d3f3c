"""What a fleet's client decides without any cluster: which address will do, who runs beside whom, who is one host."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from harness.fleets import probe
from harness.handbooks import REPOSITORY
from harness.missing_packages import ALONE
from harness.project import Project
from hypothesis import given
from hypothesis import strategies as st

from capture.errors import CaptureError
from capture.run.fleet import members, placement, trusted_address
from capture.run.fleet.answers import Probe
from capture.run.fleet.members import Member
from capture.run.fleet.placement import Board, Job, Seat


@pytest.mark.parametrize(
    ("given_one", "taken"),
    [
        ("tls://node7.example.org:8786", "tls://node7.example.org:8786"),
        ("tls://[2001:db8::1]:8786/", "tls://[2001:db8::1]:8786"),
        ("tcp://127.0.0.1:8786", "tcp://127.0.0.1:8786"),
        ("127.3.2.1:8786", "tcp://127.3.2.1:8786"),
        ("localhost:8786", "tcp://localhost:8786"),
        ("tcp://[::1]:8786", "tcp://[::1]:8786"),
    ],
)
def test_addresses_that_are_closed_to_others(given_one: str, taken: str) -> None:
    """TLS anywhere, plain TCP on this machine only."""
    assert trusted_address.checked(given_one) == taken


@pytest.mark.parametrize(
    ("given_one", "says"),
    [
        ("tcp://10.0.0.5:8786", "give tls://10.0.0.5:8786: the certificates are those of dask's own configuration"),
        ("tcp://0.0.0.0:8786", "beyond loopback"),
        ("tcp://127.0.0.1.example.org:8786", "beyond loopback"),
        ("localhost.example.org:8786", "beyond loopback"),
        ("tcp://[::ffff:10.0.0.5]:8786", "beyond loopback"),
        ("ws://127.0.0.1:8786", "beyond loopback"),
        ("ucx://10.0.0.5:13337", "beyond loopback"),
        ("tls://node7", "not an address"),
        ("tls://node7:99999", "not an address"),
        ("scheduler.json", "not an address"),
        ("tcp://user:word@127.0.0.1:8786", "not an address"),
    ],
)
def test_addresses_that_are_open_or_none(given_one: str, says: str) -> None:
    """Whatever is open beyond this machine is refused with the address that would do; nothing is looked up."""
    with pytest.raises(CaptureError, match=says.replace("[", r"\[")):
        trusted_address.checked(given_one)


def test_without_dask(tmp_path: Path) -> None:
    """The option says what to install; the rest of the tool does not know dask."""
    code = (
        ALONE + "\nfrom capture.cli import main\nsys.argv = ['capture', 'run', '--fleet', 'tcp://127.0.0.1:1']\nmain()"
    )
    project = Project(tmp_path)
    project.snippet("demo/one", "print(1)")
    done = subprocess.run(
        [sys.executable, "-c", code, "distributed,dask", str(REPOSITORY), "capture.cli"],
        cwd=project.root, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert "--fleet needs dask.distributed: pip install distributed" in done.stderr


def played(jobs: list[Job], seats: list[Seat], limit: int, lost: set[str]) -> list[set[Job]]:
    """Let a board run to its end, each step ending what began first; return what ran together at each moment."""
    desk = Board(jobs, limit)
    for seat in seats:
        desk.seat(seat)
    moments = []
    while True:
        while begun := desk.start():
            assert begun[0].label == begun[1].label
        if not desk.running:
            return moments
        moments.append(set(desk.running))
        first = next(iter(desk.running))
        if first.snippet in lost:
            desk.again(first)
        else:
            desk.done(first)


@given(
    jobs=st.lists(st.builds(Job, st.sampled_from("ab"), st.text("xyz", min_size=1, max_size=2), st.booleans())),
    threads=st.lists(st.integers(1, 3), min_size=2, max_size=4),
    limit=st.integers(1, 4),
    lost=st.sets(st.text("xyz", min_size=1, max_size=1)),
)
def test_every_job_runs_and_timings_run_alone(jobs: list[Job], threads: list[int], limit: int, lost: set[str]) -> None:
    """On one machine of two labels: all run, a timing never beside anything, no more than the limit at once."""
    seats = [Seat(f"tcp://{number}", "ab"[number % 2], "m", "one", count) for number, count in enumerate(threads)]
    moments = played(jobs, seats, limit, lost)
    assert {job for moment in moments for job in moment} == set(jobs)
    for moment in moments:
        assert len(moment) == 1 or not any(job.timing for job in moment)
        assert len(moment) <= limit


def test_who_lost_a_worker_runs_alone_on_the_next() -> None:
    """So the second loss has one culprit; beside it other workers go on."""
    killer, innocent, third = (Job("a", name, False) for name in ("killer", "innocent", "third"))
    desk = Board([killer, innocent, third], 4)
    for number in (1, 2):
        desk.seat(Seat(f"tcp://{number}", "a", "m", "one", 2))
    assert [desk.start() is not None for _ in range(4)] == [True, True, True, False]
    lost = desk.running[killer]
    beside = desk.leave(lost)
    assert all(desk.again(job) for job in beside)
    for job in [job for job in desk.running if job not in beside]:
        desk.done(job)
    assert desk.start() and not desk.start(), "nothing runs beside a suspect"
    (suspect,) = desk.running
    assert not desk.again(suspect), "the second loss is reported"
    assert desk.stranded() == {}


def test_workers_share_a_place_by_label_or_machine() -> None:
    """A machine may go by two labels, and one label may stand for several machines; either is one place."""
    found = placement.places({"1": ("a", "m"), "2": ("b", "m"), "3": ("b", "n"), "4": ("c", "o")})
    assert found["1"] == found["2"] == found["3"] != found["4"]


def member(name: str, found: Probe, chosen: str = "") -> Member:
    """Return a worker as one that takes part."""
    return Member(name, members.label_of(found, chosen), 1, found)


@pytest.mark.parametrize("label", ["local", "Desk", "a/b", "../x", "x" * 50])
def test_labels_of_workers_have_the_form_of_labels(label: str) -> None:
    """A worker's label becomes the name of a folder; `local` is nobody's on a fleet."""
    with pytest.raises(CaptureError, match=r"label|calls its host"):
        members.label_of(probe(label), "")


@pytest.mark.parametrize(
    ("other", "says"),
    [
        (probe("a", "n", isa="AVX512"), "cpu.isa: AVX2 -> AVX512"),
        (probe("a", "n", model=None, vendor=None), "cpu.model"),
        (probe("a", "m", torch="2.13.0+cpu"), "torch none and Python 3.11.7, torch 2.13.0"),
    ],
)
def test_two_hosts_under_one_label(other: Probe, says: str) -> None:
    """Another machine, one that does not tell, and another torch are other hosts."""
    with pytest.raises(CaptureError, match="names two hosts, 1 and 2") as caught:
        members.gathered([member("2", other), member("1", probe("a"))], "")
    assert says in str(caught.value)


def test_equal_machines_share_a_label() -> None:
    """A label names hardware, never a node."""
    groups = members.gathered([member("1", probe("a")), member("2", probe("a", "n"))], "")
    assert [item.address for item in groups["a"]] == ["1", "2"]
