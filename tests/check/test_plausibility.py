"""What no capture on its machine can have written is a problem, however well its digest fits."""

from __future__ import annotations

import datetime
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from harness.checks import TOKEN
from harness.handbooks import CHIP, Handbook, make_handbook, record, script
from harness.handbooks import host as make_host

from capture.check import rules
from capture.errors import Problem
from capture.host import host
from capture.host.environment import Conditions
from capture.host.host import Accelerator, Host
from capture.record.record import Elision, Record, Runs, sealed

PLACE, FACTS = "docs/captures/epyc/demo/one.yaml", "docs/captures/epyc/host.yaml"


def checked(tmp_path: Path, item: Record | None = None, owner: Host | None = None) -> list[Problem]:
    """Return the problems of a handbook with one record on one host, each sealed as if the tool had written it."""
    owner = host.identified(owner or make_host())
    records = [sealed(item)] if item else []
    book = make_handbook(tmp_path, {"demo/one": script("print(1)\n", title="One")}, [owner], records)
    return list(rules.check(book.catalogue(), (), ()).problems)


def of(**changes: Any) -> Record:
    """Return the record of the host with some changes."""
    return record("demo/one", stdout="1\n", **changes)


def test_what_a_capture_writes_is_plausible(tmp_path: Path) -> None:
    """An ordinary record of an ordinary host, a timing and a cut output included."""
    quiet = Conditions(load_before=0.0, foreign_cpu=0.01, steal=None, governor=None)
    elided = {"stdout": Elision(bytes=10_000_000, left_out=9_900_000)}
    assert (
        checked(tmp_path, of(conditions=quiet, elided=elided, exit_code=None, status="crashed", signal="SIGSEGV")) == []
    )


@pytest.mark.parametrize(
    ("model", "isa"), [("Intel Xeon Platinum 8480+", "AVX512"), ("Apple M3", "NEON"), ("AMD EPYC", "AVX512")]
)
def test_record_of_another_machine(tmp_path: Path, model: str, isa: str) -> None:
    """store-foreign-record: copied below another label and sealed anew, it is refused, and both chips are named."""
    theirs = host.chip(make_host("theirs", model=model, isa=isa))
    (problem,) = checked(tmp_path, of(chip=theirs))
    assert (problem.path, problem.rule) == (PLACE, "foreign")
    assert f'"{theirs}"' in problem.message and f'"{CHIP}"' in problem.message
    assert "capture run demo/one --force --host epyc" in problem.message
    assert (tmp_path / PLACE).read_text("utf-8").splitlines()[problem.line - 1].strip().startswith("chip:")


def test_record_of_another_architecture(tmp_path: Path) -> None:
    """store-foreign-record: the system's line tells it too; what names no architecture there tells nothing."""
    (problem,) = checked(tmp_path / "one", of(os="Ubuntu 24.04, Linux 6.8, arm64"))
    assert (problem.rule, "on arm64, and epyc is x86_64" in problem.message) == ("foreign", True)
    assert checked(tmp_path / "two", of(os="Plan 9, fourth edition")) == []


def test_nothing_private_is_repeated(tmp_path: Path) -> None:
    """A token in a chip is told as a token, and no message about the chip holds it."""
    problems = checked(tmp_path, of(chip=f"{TOKEN} EPYC"))
    assert {"secret", "foreign"} <= {problem.rule for problem in problems}
    assert not [problem for problem in problems if TOKEN in problem.message]


def day(days: int) -> str:
    """Return a day from today."""
    return (datetime.datetime.now(datetime.UTC).date() + datetime.timedelta(days=days)).isoformat()


@pytest.mark.parametrize(
    ("changes", "rule", "says"),
    [
        ({"captured": "2099-01-01"}, "date", "which has not come yet"),
        ({"captured": day(2)}, "date", "which has not come yet"),
        ({"captured": "1970-01-01"}, "date", "before there were records"),
        ({"torch": "newest"}, "version", "says torch 'newest', which is no version"),
        ({"python": "3.11.x"}, "version", "which is no version"),
        ({"runs": Runs(0)}, "size", "runs.count is 0"),
        ({"runs": Runs(-3, agree=True)}, "size", "runs.count is -3"),
        ({"runs": Runs(10**12)}, "size", "runs.count is 1e+12"),
        ({"runs": Runs(3, spread=0.5)}, "size", "runs.spread is 0.5"),
        ({"left_processes": -1}, "size", "left_processes is -1"),
        ({"exit_code": 2**40}, "size", "exit_code is"),
        ({"threads": {"intra": -2}}, "size", "environment.threads.intra is -2"),
        ({"elided": {"stdout": Elision(10, 11)}}, "size", "elided.stdout.left_out is 11"),
        ({"elided": {"stderr": Elision(-1, 0)}}, "size", "elided.stderr.bytes is -1"),
        ({"conditions": Conditions(0.1, 0.0, 1.5, None)}, "size", "conditions.steal is 1.5"),
        ({"driver": "x" * 3_000_000}, "size", "environment.driver has 3,000,000 characters, where 300 are the most"),
        ({"packages": {"numpy": "1" * 400}}, "size", "environment.packages.numpy has 400 characters"),
        ({"limits": {"cpus": "2" * 400}}, "size", "environment.limits.cpus has 400 characters"),
    ],
)
def test_what_no_capture_writes(tmp_path: Path, changes: dict[str, Any], rule: str, says: str) -> None:
    """Days, versions, numbers and lengths that cannot be: each is a problem at its file."""
    problems = checked(tmp_path, of(**changes))
    assert (PLACE, rule) in {(problem.path, problem.rule) for problem in problems}
    assert any(says in problem.message for problem in problems)


@pytest.mark.parametrize("captured", [day(1), day(0), "2026-01-01"])
def test_days_that_can_be(tmp_path: Path, captured: str) -> None:
    """Somewhere on earth it is tomorrow already."""
    assert checked(tmp_path, of(captured=captured)) == []


def test_torch_that_nobody_knows_is_a_note(tmp_path: Path) -> None:
    """The next major version is news; one far above all others is a slip until others have it too."""
    book = make_handbook(tmp_path, {"demo/one": script("print(1)\n", title="One")}, [make_host()], [of(torch="3.0.1")])
    assert not [note for note in rules.check(book.catalogue(), (), ()).notes if note.rule == "version"]
    book.keep(of(torch="99.0"))
    found = rules.check(book.catalogue(), (), ())
    assert found.problems == ()
    assert [note.message for note in found.notes if note.rule == "version"] == [
        "says torch 99.0, where no other is above torch 2"
    ]


L4 = Accelerator("cuda", "NVIDIA L4", 23034, "8.9", 1)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"kind": "cuda"}, 'says kind "cuda", and it has no accelerator'),
        ({"kind": "cpu", "accelerators": (L4,)}, 'says kind "cpu", and its first accelerator is "cuda"'),
        ({"kind": "rocm", "accelerators": (L4,)}, 'says kind "rocm", and its first accelerator is "cuda"'),
        ({"reasons": {"cpu.part": "only ARM has it", "memory_gib": "lost"}}, "gives a reason for memory_gib"),
        ({"reasons": {"cpu.colour": "unknown"}}, "gives a reason for cpu.colour, which is not null"),
        ({"kind": "cuda", "accelerators": (L4,), "reasons": {"accelerators": "x"}}, "gives a reason for accelerators"),
        ({"memory_gib": 0}, "memory_gib is 0; it lies between 1 and"),
        ({"memory_gib": 10**9}, "memory_gib is 1e+09"),
        ({"title": "N" * 200}, "title has 200 characters, where 100 are the most"),
        ({"kind": "cuda", "accelerators": (replace(L4, count=0),)}, "accelerators[0].count is 0"),
        ({"kind": "cuda", "accelerators": (replace(L4, name="G" * 999),)}, "accelerators[0].name has 999 characters"),
    ],
)
def test_hosts_that_no_machine_describes(tmp_path: Path, changes: dict[str, Any], says: str) -> None:
    """store-host-edited: the kind follows from the accelerators, a reason explains a null, sizes have bounds."""
    problems = checked(tmp_path, owner=replace(make_host(), **changes))
    assert [problem.path for problem in problems] == [FACTS]
    assert says in problems[0].message
    assert "restore it with git, or write it again on that machine: capture host init LABEL" in problems[0].message


def test_kind_of_a_device_without_a_name(tmp_path: Path) -> None:
    """Where a gate held and nobody named the device, the reason says so, or a record of the host shows the gate."""
    lost = replace(make_host(), kind="cuda", reasons={"cpu.part": "only ARM has it", "accelerators": "nobody names it"})
    assert checked(tmp_path / "one", owner=lost) == []
    gates = {"cuda": True, "rocm": False, "mps": False, "xpu": False, "xla": False}
    assert checked(tmp_path / "two", of(gates=gates), replace(make_host(), kind="cuda")) == []


def test_an_edit_by_hand_is_told_once(tmp_path: Path) -> None:
    """A record whose digest does not fit is told as edited, whatever else it says."""
    book: Handbook = make_handbook(tmp_path, {"demo/one": script("print(1)\n", title="One")}, [make_host()], [of()])
    book.write(PLACE, book.read(PLACE).replace("chip: AMD EPYC", "chip: Apple M9"))
    assert [problem.rule for problem in rules.check(book.catalogue(), (), ()).problems] == ["digest"]
