"""`capture run --fleet` against a real scheduler: each host captures what it lacks, and only the client writes."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from harness.fleets import Fleet, fleet, run
from harness.headers import TIMED
from harness.project import Project, bare_python

from capture import store
from capture.host import host


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    """Two workers on a machine called epyc-avx2, one on another called xeon."""
    with fleet(tmp_path_factory.mktemp("fleet")) as found:
        found.worker("epyc-avx2", threads=2)
        found.worker("epyc-avx2", threads=2)
        found.worker("xeon", "xeon", user="zeldaq")
        found.ready(3)
        yield found


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A handbook with one snippet that reads a file and imports a helper."""
    found = Project(tmp_path / "book")
    found.write("snippets/demo/data.txt", "from a file\n")
    found.write("snippets/demo/helper.py", "words = 'from a helper'\n")
    found.snippet("demo/one", 'import helper\nprint(helper.words, open("data.txt").read())', files=["data.txt"])
    return found


def test_each_host_captures_what_it_lacks(shared: Fleet, project: Project) -> None:
    """First everything, under each host's facts; then nothing; then what says the same; then what one host lacks."""
    project.snippet("demo/gpu", "print(1)", needs=["cuda"])
    first = run(project, shared)
    assert first.code == 0, first.text
    assert {path.removeprefix("docs/captures/") for path in first.added} == {
        "epyc-avx2/host.yaml", "epyc-avx2/demo/one.yaml", "xeon/host.yaml", "xeon/demo/one.yaml",
    }  # fmt: skip
    assert "xeon: captured   demo/one" in first.err
    assert "new host xeon: docs/captures/xeon/host.yaml" in first.out
    assert "xeon: 1 captured, 1 not for this host\n  needs cuda: demo/gpu" in first.out
    for label, chip in (("xeon", "Intel(R) Xeon(R) Platinum 8480+, AVX512"), ("epyc-avx2", "AMD EPYC, AVX2")):
        item = project.record("demo/one", label)
        assert item.environment.chip.startswith(chip)
        assert (item.host, item.stdout, item.runs.count) == (label, "from a helper from a file\n\n", 2)
    again = run(project, shared)
    assert (again.code, again.untouched) == (0, True)
    assert "nothing to execute" in again.out and "xeon: 1 current" in again.out
    forced = run(project, shared, "--force", "--host", "xeon")
    assert forced.untouched and "xeon: 1 unchanged" in forced.out
    (project.root / "docs/captures/xeon/demo/one.yaml").unlink()
    plan = run(project, shared, "--dry-run")
    assert (plan.code, plan.untouched) == (0, True)
    assert "would execute demo/one: not captured yet\nxeon: 1 to execute" in plan.out
    assert run(project, shared).added == ("docs/captures/xeon/demo/one.yaml",)
    assert project.capture("check", "--records-only").code == 0


def test_timings_run_alone_on_their_host(shared: Fleet, project: Project, tmp_path: Path) -> None:
    """Beside a timing nothing else runs at that host, whichever of its workers; other hosts go on meanwhile."""
    witness = tmp_path / "witness"
    witness.mkdir()
    body = f"""
import json, os, time
print("slowdown 2x")
began = time.time()
time.sleep(0.1)
open(f"{witness}/{{os.getpid()}}", "w").write(json.dumps([__file__.split("/")[-1], os.getppid(), began, time.time()]))
"""
    for number in range(3):
        project.snippet(f"demo/plain_{number}", body)
        project.snippet(f"demo/timed_{number}", body, **TIMED)
    project.snippet("demo/timed_0", body, **TIMED | {"compare": {"ratio": {"slowdown": 2.0}, "spread": 2.0}})
    result = run(project, shared, "--host", "epyc-avx2", "--accept-noise", "--runs", "2")
    assert result.code == 0, result.text
    spans = [json.loads(path.read_text()) for path in witness.iterdir()]
    assert len(spans) == 12 and len({agent for _, agent, _, _ in spans}) > 1, "several workers took part"
    for name, agent, began, ended in spans:
        beside = [one for one in spans if one[1] != agent and one[2] < ended and began < one[3]]
        assert not (beside and name.startswith("timed")), beside
    assert project.record("demo/timed_1", "epyc-avx2").conditions is not None


def test_only_the_chosen_host(shared: Fleet, project: Project) -> None:
    """With --host the others take no part; one that is not there is named."""
    result = run(project, shared, "--host", "xeon")
    assert (result.code, project.book.labels()) == (0, ["xeon"])
    assert result.err == "xeon: captured   demo/one (" + result.err.partition("(")[2], "nothing is said of the others"
    result = run(project, shared, "--host", "h200")
    assert (result.code, result.untouched) == (2, True)
    assert "no worker of this fleet is h200" in result.err


def test_failures_and_secrets_follow_the_same_rules(shared: Fleet, project: Project) -> None:
    """A failure replaces no good record; a secret, or a name that only the worker's machine knows, is refused."""
    run(project, shared, "--host", "xeon")
    project.snippet("demo/one", "import helper\nraise SystemExit(3)")
    project.snippet("demo/broken", "raise SystemExit('broken')")
    result = run(project, shared, "--host", "xeon")
    assert result.code == 1, result.text
    assert "failed, good record kept demo/one" in result.out
    assert project.record("demo/one", "xeon").status == "ok"
    assert project.record("demo/broken", "xeon").status == "error"
    assert run(project, shared, "--host", "xeon", "--accept-failure", "demo/one").code == 1
    assert project.record("demo/one", "xeon").status == "error"
    project.snippet("demo/secret", "print('hf_' + 'Z' * 34)")
    project.snippet("demo/user", "print('run by ' + 'zelda' + 'q')")
    refused = run(project, shared, "--host", "xeon", "demo/secret", "demo/user")
    assert refused.code == 3
    assert "stdout:1: holds a Hugging Face token" in refused.out
    assert "holds the node or user name of this machine" in refused.out
    assert refused.untouched and "zeldaq" not in refused.text


def test_another_machine_under_a_label_is_refused(shared: Fleet, project: Project) -> None:
    """What the handbook knows of a label holds on a fleet too; nothing is executed or written on any host."""
    run(project, shared, "--host", "xeon")
    known = store.read_host(project.book, "xeon")
    assert known is not None
    other = dataclasses.replace(known, cpu=dataclasses.replace(known.cpu, model="Example CPU 9000"))
    store.write_host(project.book, host.identified(other))
    result = run(project, shared)
    assert (result.code, result.untouched) == (2, True)
    assert 'label "xeon" names another machine' in result.err and "Example CPU 9000" in result.err


def test_workers_that_cannot_be_told_apart(shared: Fleet, project: Project) -> None:
    """Two machines under one label, and a worker without a label, are refused before anything runs."""
    unnamed = shared.worker("", "alder")
    shared.ready(4)
    result = run(project, shared)
    assert (result.code, result.untouched) == (2, True)
    assert "1 worker without a label" in result.err and "CAPTURE_HOST=LABEL" in result.err
    assert run(project, shared, "--host", "alder").code == 0
    assert "i7-12700H" in project.read("docs/captures/alder/host.yaml")
    shared.end(unnamed)
    shared.ready(3)  # else the one that has ended may be counted in place of the next
    other = shared.worker("xeon", "alder")
    shared.ready(4)
    result = run(project, shared)
    shared.end(other)
    shared.ready(3)
    assert (result.code, result.untouched) == (2, True)
    assert 'label "xeon" names two hosts' in result.err and "cpu.model" in result.err


def test_options_that_a_fleet_cannot_take(shared: Fleet, project: Project) -> None:
    """An interpreter is a path on the workers; one that is not there is named with its worker."""
    result = project.capture("run", "--fleet", shared.address, "--python", "env/bin/python")
    assert (result.code, result.untouched) == (2, True)
    assert "it is a path on the workers" in result.err
    result = project.capture("run", "--fleet", shared.address, "--python", f"{bare_python()}-gone")
    assert (result.code, result.untouched) == (2, True)
    assert "no such interpreter" in result.err and "worker tcp://127.0.0.1" in result.err


def test_nobody_answers(project: Project) -> None:
    """Without a scheduler, or with an open one elsewhere, the command says what would help and writes nothing."""
    result = project.run("--fleet", "tcp://10.0.0.5:8786")
    assert (result.code, result.untouched) == (2, True)
    assert "tls://10.0.0.5:8786" in result.err and "distributed.comm.tls" in result.err


def test_a_share_of_a_fleet(shared: Fleet, project: Project) -> None:
    """Each snippet is captured by exactly one of the shares, on every host."""
    project.snippet("demo/two", "print(2)")
    shares = [run(project, shared, "--shard", f"{number}/2", "--host", "xeon") for number in (1, 2)]
    assert [share.code for share in shares] == [0, 0]
    stored = [{path for path in share.added if "demo" in path} for share in shares]
    assert sorted(map(len, stored)) == [1, 1] and not stored[0] & stored[1]
    assert all(f"share {number}/2" in share.out for number, share in enumerate(shares, 1))
