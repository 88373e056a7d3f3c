"""`capture review`: what waits for a decision, and that neither side is ever lost by one."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from harness.checks import TOKEN
from harness.handbooks import host, record
from harness.repositories import END, FACTS, GONE, INTERRUPT, NEW, ONE, TWO, Repository, at_terminal, with_changes

from capture import store

posix = pytest.mark.skipif(os.name != "posix", reason="pseudo-terminals")


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    """Made once."""
    return with_changes(tmp_path_factory.mktemp("repository"))


@pytest.fixture
def project(tmp_path: Path, shared: Repository) -> Repository:
    """A copy of it; the handbook is a subfolder of the repository."""
    return shared.copied(tmp_path / "copy")


def test_without_a_terminal_it_lists_and_says_how_to_decide(project: Repository) -> None:
    """Worst first, each with what it says differently; nothing is touched, and something is left: exit 1."""
    before = project.status()
    result = project.capture("review")
    assert (result.code, result.untouched, result.err, project.status()) == (1, True, "", before)
    kinds = re.findall(r"^(text changed|newly captured|removed) +(\S+ on \w+)", result.out, re.MULTILINE)
    assert kinds == [
        ("text changed", "demo/one on epyc"), ("newly captured", "demo/one on h200"),
        ("removed", "other/gone on epyc"),
    ]  # fmt: skip
    assert re.search(r"- demo/one\n +\+ changed\n +must not be merged: .*neither snippet", result.out)
    assert re.search(r"newly captured.*\n +\+ first\n", result.out)
    assert "host h200  new: H200" in result.out
    assert "capture review ID… --accept" in result.out and "3 captures left to decide" in result.out


def test_accepting_stages_and_does_not_ask_again(project: Repository) -> None:
    """What is accepted is staged, a new host's facts with it; it waits no more until it changes again."""
    result = project.capture("review", "demo", "--accept")
    assert (result.code, result.untouched) == (0, True)
    assert f"accepted {NEW}, with {FACTS}" in result.out
    assert project.status() == [f"M  {ONE}", f" D {GONE}", f"A  {NEW}", f"A  {FACTS}"]
    again = project.capture("review", "demo/o*")
    assert (again.code, again.out) == (
        0, "nothing to decide; waiting, but not asked for: 1; accepted, staged for the next commit: 3\n",
    )  # fmt: skip
    project.keep(record("demo/one", stdout="changed again\n"))
    assert "+ changed again" in project.capture("review", "demo/one", "--host", "epyc").out
    assert project.capture("review", "--accept", "--all").code == 0
    assert project.status() == [f"M  {ONE}", f"D  {GONE}", f"A  {NEW}", f"A  {FACTS}"]


def test_rejecting_restores_and_keeps_what_it_rejects(project: Repository) -> None:
    """All is as in HEAD, byte for byte, also in the index; what is rejected lies where it says, ignored by git."""
    texts = {path: project.read(path) for path in (ONE, NEW, FACTS)}
    project.git("add", ONE, NEW)
    project.keep(record("demo/one", stdout="and again\n"))
    project.git("rm", "--cached", "--quiet", NEW)
    result = project.capture("review", "--reject", "--all")
    assert (result.code, project.status()) == (0, [])
    assert not (project.book.captures / "h200").exists()
    kept = project.rejected()
    assert "and again" in kept.pop("epyc/demo/one.yaml")
    assert kept == {
        "epyc/demo/one.staged.yaml": texts[ONE],
        "h200/demo/one.yaml": texts[NEW],
        "h200/host.yaml": texts[FACTS],
    }
    (shown,) = re.findall(rf"rejected {NEW}: removed; what was rejected is in (\S+)", result.out)
    assert project.read(shown) == texts[NEW]
    assert f"rejected {GONE}: as in HEAD again\n" in result.out


def test_what_was_accepted_stays_accepted(project: Repository) -> None:
    """Rejecting what is left touches nothing that was accepted, and no facts that an accepted record needs."""
    project.git("add", NEW)
    result = project.capture("review", "--reject", "--host", "h200")
    assert (result.code, result.untouched) == (1, True)
    assert result.err == f"{FACTS}: its records need it; unstage or remove them first\n"
    assert project.capture("review", "--accept", "--host", "h200").code == 0
    assert project.capture("review", "--reject", "--all").code == 0
    assert project.status() == [f"A  {NEW}", f"A  {FACTS}"]


@posix
def test_a_walk_at_a_terminal(project: Repository) -> None:
    """Each is asked about, worst first; an answer that is none shows the help; what is skipped is left: exit 1."""
    code, shown = at_terminal(project, ["x", "a", "s", "r"])
    assert code == 1
    assert re.findall(r"^(\d/3 \S+ on \S+) \[", shown, re.MULTILINE) == [
        "1/3 demo/one on epyc", "1/3 demo/one on epyc", "2/3 demo/one on h200", "3/3 other/gone on epyc",
    ]  # fmt: skip
    assert re.search(r"x\n  a  accept it.*\n(.*\n)*  \?  show this help\n1/3", shown)
    assert "1 capture left to decide" in shown
    assert project.status() == [f"M  {ONE}", f"?? {NEW}", f"?? {FACTS}"]


@posix
def test_a_whole_host_at_once(project: Repository) -> None:
    """A and R decide all that follow of one host and nothing of another."""
    code, shown = at_terminal(project, ["A", "R"])
    assert (code, "nothing left to decide" in shown) == (0, True)
    assert project.status() == [f"M  {ONE}", f"D  {GONE}"]
    assert set(project.rejected()) == {"h200/demo/one.yaml", "h200/host.yaml"}


@posix
@pytest.mark.parametrize("key", ["q", END, INTERRUPT], ids=["q", "Ctrl-D", "Ctrl-C"])
def test_leaving_a_walk(project: Repository, key: str) -> None:
    """What was decided stays so, the rest is left: exit 1, no traceback."""
    code, shown = at_terminal(project, ["a", key])
    assert (code, "Traceback" in shown, "2 captures left to decide" in shown) == (1, False, True)
    assert project.status() == [f"M  {ONE}", f" D {GONE}", f"?? {NEW}", f"?? {FACTS}"]


FAULTS = {"private": (TOKEN, 3, "holds a Hugging Face token"), "edited": ("other", 2, "was edited by hand")}


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("staged", [False, True], ids=["", "staged by hand"])
def test_what_is_faulty_cannot_be_accepted(project: Repository, fault: str, staged: bool) -> None:
    """Private or invalid, its reason is told and not its text; others are accepted, and it can be rejected."""
    text, code, words = FAULTS[fault]
    project.write(TWO, project.read(TWO).replace("same", text))
    if staged:
        project.git("add", TWO)
    result = project.capture("review", "--accept", "--all")
    assert (result.code, project.status(TWO)) == (code, [f"M  {TWO}" if staged else f" M {TWO}"])
    assert re.search(rf"^cannot be accepted: {TWO}:\d+: {words}", result.err, re.MULTILINE)
    assert TOKEN not in result.text and f"accepted {ONE}\n" in result.out
    assert project.capture("review", "--reject", "--all").code == 0
    assert (project.status(TWO), text in project.rejected()["epyc/demo/two.yaml"]) == ([], True)


@posix
def test_what_is_faulty_is_asked_about_again(project: Repository) -> None:
    """At the terminal the reason is told, and another answer asked for; left so, the exit code is that of the fault."""
    project.write(TWO, project.read(TWO).replace("same", TOKEN))
    code, shown = at_terminal(project, ["a", "s"], "demo/two")
    assert (code, shown.count("1/1 demo/two on epyc"), TOKEN in shown) == (3, 2, False)
    assert at_terminal(project, ["A", "r"], "demo/two")[0] == 0


def test_new_facts_with_a_fault_hold_their_records_back(project: Repository) -> None:
    """A record is not accepted with a host.yaml that is not as the tool wrote it, or without one."""
    project.write(FACTS, project.read(FACTS).replace("memory_gib: 24", "memory_gib:  24"))
    result = project.capture("review", "--accept", "--host", "h200")
    assert (result.code, project.status(NEW, FACTS)) == (2, [f"?? {NEW}", f"?? {FACTS}"])
    assert f"cannot be accepted: {FACTS}:" in result.err
    (project.root / FACTS).unlink()
    result = project.capture("review", "--accept", "--host", "h200")
    assert (result.code, project.status(NEW)) == (2, [f"?? {NEW}"])
    assert f"cannot be accepted: {FACTS}: missing; write it on that machine" in result.err


def test_facts_alone_are_decided_like_a_record(project: Repository) -> None:
    """A host.yaml that changes without its records waits too."""
    facts = "docs/captures/epyc/host.yaml"
    project.capture("review", "--reject", "--all")
    store.write_host(project.book, host("epyc", title="Another name"))
    listed = project.capture("review")
    assert re.search(r"text changed +host.yaml on epyc\n.*EPYC.*\n.*Another name", listed.out)
    assert (project.capture("review", "demo").code, project.capture("review", "--accept", "--all").code) == (0, 0)
    assert project.status() == [f"M  {facts}"]
    store.write_host(project.book, host("epyc", title="A third"))
    assert project.capture("review", "--reject", "--host", "epyc").code == 0
    assert project.status() == []


def test_a_host_that_goes(project: Repository) -> None:
    """With its last record its facts go; with the first that comes back they come back."""
    project.git("clean", "--quiet", "--force", "docs/captures/h200/")
    for path in project.book.captures.rglob("*.yaml"):
        path.unlink()
    assert project.capture("review", "demo/two", "--reject").code == 0
    assert project.status("docs/captures/epyc/host.yaml", TWO) == []
    (project.root / TWO).unlink()
    (project.root / "docs/captures/epyc/host.yaml").unlink()
    assert project.capture("review", "--accept", "--all").code == 0
    assert {line[:3] for line in project.status()} == {"D  "} and len(project.status()) == 4
