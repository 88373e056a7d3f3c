"""Timing snippets: how often they are executed, which execution is kept, what a busy machine does to them."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from harness.executions import case, prepared, written
from harness.handbooks import record
from harness.headers import TIMED
from harness.project import Project

from capture.cli.report import summary
from capture.host.environment import Conditions
from capture.host.probe import cpu_conditions, quietness
from capture.host.probe.quietness import CpuCounters
from capture.record.record import Runs
from capture.run import execution, runner, timing
from capture.run.engine.contract import CapturedStream, ExecutionOutcome, ExecutionRequest
from capture.run.plan import RunStep
from capture.run.runner import Options, RunResult
from capture.site.card import result

RATIO = {"values": {"slowdown": r"slowdown ([\d.]+|-|\w+)x"}, "compare": {"ratio": {"slowdown": 2.0}, "spread": 1.25}}
CALM = Conditions(load_before=0.1, foreign_cpu=0.0, steal=0.0, governor=None)
QUIET = CpuCounters(wall=0.0, busy=0.0, steal=0.0, total=0.0, own=0.0)


@pytest.fixture
def quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the machine quiet, whatever else it does."""
    monkeypatch.setattr(quietness, "read_counters", lambda: QUIET)


def printed(text: str, code: int = 0) -> ExecutionOutcome:
    """Return an execution that printed a text."""
    stream, empty = CapturedStream(text.encode(), b"", len(text)), CapturedStream(b"", b"", 0)
    return ExecutionOutcome(code, None, stream, empty, "", 0, 0.5, 0.5, 0, "/x/work", "/x/home", "/x")


def take(
    root: Path, monkeypatch: pytest.MonkeyPatch, values: Iterable[str], options: Options | None = None
) -> tuple[RunResult, int]:
    """Capture a timing snippet whose executions print these values; return the result and how many there were."""
    outcomes = [printed(f"slowdown {value}x\n") for value in values]
    left = iter(outcomes)

    def execute(request: ExecutionRequest, stop: threading.Event) -> ExecutionOutcome:
        return next(left)

    monkeypatch.setattr(execution.fresh, "execute", execute)
    snippet = written(root, "print()", timing=True, **RATIO)
    step = RunStep(snippet, "not captured yet")
    (result,) = runner.run(prepared(root), (step,), options or Options(), threading.Event(), lambda name: None)
    return result, len(outcomes) - len(list(left))


@pytest.mark.usefixtures("quiet")
def test_median_execution_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three executions that agree are enough; the one in the middle is stored, with count and spread."""
    result, executions = take(tmp_path, monkeypatch, ["7.0", "7.7", "7.4", "9.9"])
    assert (result.kind, executions) == ("captured", 3)
    item = Project(tmp_path).record("demo/case")
    assert item.stdout == "slowdown 7.4x\n"
    assert (item.runs.count, item.runs.spread, item.runs.agree) == (3, 1.1, None)
    assert item.conditions is not None and item.conditions.busy is None


@pytest.mark.usefixtures("quiet")
def test_more_executions_until_the_last_agree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An outlier costs further executions until the last three agree; the record tells how many there were in all."""
    result, executions = take(tmp_path, monkeypatch, ["7.0", "14.0", "7.1", "7.3", "7.2", "9.9"])
    assert (result.kind, executions) == ("captured", 5)
    item = Project(tmp_path).record("demo/case")
    assert (item.stdout, item.runs.count, item.runs.spread) == ("slowdown 7.2x\n", 5, 1.03)


@pytest.mark.usefixtures("quiet")
def test_executions_that_never_agree_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After seven executions of which no three in a row agree, nothing is stored, and the spread of all is named."""
    result, executions = take(tmp_path, monkeypatch, ["7", "14", "7", "7", "14", "7", "7", "7"])
    assert (result.kind, executions) == ("refused", 7)
    assert "slowdown varied by a factor of 2.00 over 7 executions (limit 1.25)" in result.message
    assert "--accept-noise" in result.message
    assert Project(tmp_path).records() == []


@pytest.mark.usefixtures("quiet")
def test_accepted_noise_is_marked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """--accept-noise stores what would have been refused, and the record says so."""
    result, executions = take(tmp_path, monkeypatch, ["7", "14"] * 4, Options(accept_noise=True))
    assert (result.kind, executions) == ("captured", 7)
    item = Project(tmp_path).record("demo/case")
    assert item.conditions is not None and item.conditions.busy is True
    assert (item.stdout, item.runs.spread) == ("slowdown 7x\n", 2.0)


def test_disturbed_execution_is_repeated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An execution beside other work is not kept where a later one is undisturbed."""
    disturbed = dataclasses.replace(CALM, foreign_cpu=0.9)
    looks = iter([(disturbed, "other work")] * 3 + [(CALM, "")] * 4)
    monkeypatch.setattr(quietness, "wait_until_quiet", lambda patience, stop, gpus: "")
    monkeypatch.setattr(quietness, "judge", lambda before, later, load, gpu: next(looks))
    result, executions = take(tmp_path, monkeypatch, ["7.0", "7.1", "7.2", "7.3", "7.4", "7.5"])
    assert (result.kind, executions) == ("captured", 5)
    item = Project(tmp_path).record("demo/case")
    assert item.stdout == "slowdown 7.3x\n"
    assert item.conditions is not None and (item.conditions.foreign_cpu, item.conditions.busy) == (0.0, None)


@pytest.mark.usefixtures("quiet")
@pytest.mark.parametrize(("accepted", "kind"), [(False, "refused"), (True, "captured")])
def test_gpu_in_use_is_noise(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, accepted: bool, kind: str) -> None:
    """Where torch uses a GPU on which another process computes, a timing is refused, or marked and its state kept."""
    asked: list[bool] = []

    class Crowded:
        def __init__(self, usable: bool) -> None:
            asked.append(usable)

        def read_counters(self) -> None:
            """Tell nothing before."""

        def noise(self) -> str:
            return ""

        def since(self, before: None) -> tuple[str, str]:
            return "GPU at 1980 MHz", "1 other process on the GPU (limit 0)"

    monkeypatch.setattr(timing, "Gpus", Crowded)
    result, _ = take(tmp_path, monkeypatch, ["7"] * 7, Options(accept_noise=accepted))
    assert (result.kind, asked) == (kind, [False])
    if accepted:
        found = Project(tmp_path).record("demo/case").conditions
        assert found is not None and (found.gpu, found.busy) == ("GPU at 1980 MHz", True)
    else:
        assert "1 other process on the GPU" in result.message


@pytest.mark.usefixtures("quiet")
def test_number_of_executions_can_be_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """--runs N executes N times, one of which has no spread."""
    result, executions = take(tmp_path, monkeypatch, ["7"] * 9, Options(runs=1))
    assert (result.kind, executions) == ("captured", 1)
    assert Project(tmp_path).record("demo/case").runs.spread is None


@pytest.mark.usefixtures("quiet")
@pytest.mark.parametrize(
    ("values", "words"),
    [
        (["none"] * 7, "is text, not a number"),
        (
            ["0", "1", "0", "1", "0", "1", "0"],
            "slowdown is 0 in one execution and 1 in another; what is not above 0 has no",
        ),
        ([""], "matches nothing"),
    ],
)
def test_value_that_cannot_be_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, values: list[str], words: str
) -> None:
    """A value that is missing, text or sometimes zero is refused in words, not with a traceback."""
    result, _ = take(tmp_path, monkeypatch, values)
    assert result.kind == "refused"
    assert words in result.message


TWO = {
    "values": {"slowdown": r"slowdown (\S+)x", "share": r"share (\S+)"},
    "compare": {"ratio": {"slowdown": 2.0, "share": 2.0}, "spread": 1.25},
}


def take_two(
    root: Path, monkeypatch: pytest.MonkeyPatch, shares: Iterable[str], options: Options | None = None
) -> RunResult:
    """Capture a timing snippet whose first ratio value is steady and whose second one takes these values."""
    left = iter([printed(f"slowdown 7x\nshare {share}\n") for share in shares])
    monkeypatch.setattr(execution.fresh, "execute", lambda request, stop: next(left))
    step = RunStep(written(root, "print()", timing=True, **TWO), "")
    (result,) = runner.run(prepared(root), (step,), options or Options(), threading.Event(), lambda name: None)
    return result


@pytest.mark.usefixtures("quiet")
def test_every_ratio_value_has_to_agree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not the first alone; the refusal names the one that varied most, and by how much."""
    result = take_two(tmp_path, monkeypatch, ["10", "20", "30", "40", "50", "60", "70"])
    assert result.kind == "refused"
    assert "noisy timing: share varied by a factor of 7.00 over 7 executions (limit 1.25)" in result.message
    result = take_two(tmp_path, monkeypatch, ["10", "20", "10", "11", "12"])
    assert (result.kind, Project(tmp_path).record("demo/case").runs) == ("captured", Runs(5, spread=1.2))


@pytest.mark.usefixtures("quiet")
def test_a_ratio_that_says_nothing_is_refused_with_its_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """ratio-zero-negative: equal runs of zero agree; negative ones that differ do not, and neither does text."""
    result = take_two(tmp_path, monkeypatch, ["-1.00", "-1.01"] * 4)
    assert result.kind == "refused"
    assert result.message == (
        "share is -1.01 in one execution and -1 in another; "
        "what is not above 0 has no ratio: bound it under absolute or relative"
    )
    assert 'value "share" is text in some executions' in take_two(tmp_path, monkeypatch, ["1", "none"] * 4).message
    assert take_two(tmp_path, monkeypatch, ["0.0"] * 3).kind == "captured"
    assert Project(tmp_path).record("demo/case").runs.spread == 1.0


@pytest.mark.usefixtures("quiet")
def test_failure_ends_the_repetitions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An execution that fails is not tried again six times."""
    calls = iter([printed("slowdown 7x\n"), printed("slowdown 7x\n", code=1)])
    monkeypatch.setattr(execution.fresh, "execute", lambda request, stop: next(calls))
    step = RunStep(written(tmp_path, "print()", timing=True, **RATIO), "")
    (result,) = runner.run(prepared(tmp_path), (step,), Options(), threading.Event(), lambda name: None)
    assert (result.kind, next(calls, None)) == ("failed", None)


@contextlib.contextmanager
def busy_neighbour() -> Iterator[None]:
    """Keep one CPU busy."""
    with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as process:
        try:
            time.sleep(0.2)
            yield
        finally:
            process.kill()


def test_busy_neighbour_is_noticed(tmp_path: Path) -> None:
    """Beside a process that computes, a timing is refused; accepted, it is marked and its conditions are stored."""
    snippet = written(tmp_path, "import time\ntime.sleep(0.2)\nprint('slowdown 7x')", timing=True, **RATIO)
    steps = (RunStep(snippet, ""),)
    with busy_neighbour():
        options = Options(patience=0.1)
        (refused,) = runner.run(prepared(tmp_path), steps, options, threading.Event(), lambda name: None)
        assert refused.kind == "refused"
        assert "busy host: other processes kept" in refused.message
        assert Project(tmp_path).records() == []
        options = dataclasses.replace(options, accept_noise=True)
        (taken,) = runner.run(prepared(tmp_path), steps, options, threading.Event(), lambda name: None)
    assert (taken.kind, taken.message) == ("captured", "marked as taken on a busy host")
    stored = Project(tmp_path).record("demo/case").conditions
    assert stored is not None and stored.busy is True and stored.foreign_cpu > 0.5


@pytest.mark.parametrize(("old", "new", "kept"), [(None, True, "old"), (True, None, "new"), (None, None, "old")])
def test_quiet_result_is_not_replaced_by_a_busy_one(
    tmp_path: Path, old: bool | None, new: bool | None, kept: str
) -> None:
    """Of two results that say the same, the one taken on a quiet machine stays or comes."""
    stored, taken = (record("demo/case", conditions=dataclasses.replace(CALM, busy=busy)) for busy in (old, new))
    snippet = written(tmp_path, "print()", timing=True, **RATIO)
    assert runner.says_the_same(snippet, stored, taken) == (kept == "old")


def test_a_busy_machine_is_waited_for_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no quiet moment came for one timing snippet, the others look but do not wait as long again."""
    waits: list[float] = []

    def wait(patience: float, stop: threading.Event, gpus: object) -> str:
        waits.append(patience)
        return "other work"

    monkeypatch.setattr(quietness, "wait_until_quiet", wait)
    project = Project(tmp_path)
    for name in ("a", "b", "c"):
        project.snippet(f"demo/{name}", "print()", **TIMED)
    steps = tuple(RunStep(project.parsed(f"demo/{name}"), "") for name in ("a", "b", "c"))
    results = list(runner.run(prepared(tmp_path), steps, Options(), threading.Event(), lambda name: None))
    assert [result.kind for result in results] == ["refused"] * 3
    assert waits == [execution.PATIENCE, 0.0, 0.0]


def test_timing_runs_alone(tmp_path: Path) -> None:
    """Nothing else executes while a timing snippet does, however many run side by side before it."""
    log = tmp_path / "log"
    body = f"""
import json, os, time
print("slowdown 2x")
since = time.time()
time.sleep(0.15)
with open({str(log)!r}, "a") as file:
    file.write(json.dumps([os.path.basename(__file__), since, time.time()]) + "\\n")
"""
    project = Project(tmp_path / "book")
    for name in ("a", "c", "d", "e"):
        project.snippet(f"demo/{name}", body)
    for name in ("b", "f"):
        project.snippet(f"demo/{name}", body, **TIMED)
    assert project.run("-j", "4", "--accept-noise").code == 0
    spans = [json.loads(line) for line in log.read_text("utf-8").splitlines()]
    timed = [span for span in spans if span[0] in ("b.py", "f.py")]
    assert len(timed) >= 6
    for name, since, until in timed:
        overlapping = [
            other for other in spans if other != [name, since, until] and other[1] < until and since < other[2]
        ]
        assert overlapping == []
    assert any(one[1] < other[2] and other[1] < one[2] for one in spans for other in spans if one is not other)


@case("host-hybrid")
@pytest.mark.parametrize(
    ("types", "mine", "noted"),
    [
        ("12 x performance + 8 x efficiency", range(20), "hybrid, unpinned"),
        ("12 x performance + 8 x efficiency", (0, 1), "hybrid, bound to 2 CPUs"),
        ("12 x performance + 8 x efficiency", (), "hybrid, unpinned"),
        (None, range(20), None),
    ],
    ids=["unpinned", "pinned", "untold", "alike"],
)
def test_two_kinds_of_core_are_noted(
    case: str, types: str | None, mine: Iterable[int], noted: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A time on one thread depends on the kind of core that the scheduler chose; the badge says so."""
    monkeypatch.setattr(cpu_conditions, "usable", lambda: tuple(mine))
    monkeypatch.setattr(cpu_conditions, "online", lambda: tuple(range(20)))
    assert cpu_conditions.pinning(types) == noted
    item = record("a/b", conditions=dataclasses.replace(CALM, cores=noted), runs=Runs(3, spread=1.04))
    assert result.runs(item) == f"3 runs, spread 1.04×{f', {noted}' if noted else ''}"


def test_a_timing_of_a_hybrid_host_is_recorded_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, quiet: None) -> None:
    """The note is in the record that is stored."""
    monkeypatch.setattr(cpu_conditions, "pinning", lambda types: "hybrid, unpinned")
    found, _ = take(tmp_path, monkeypatch, ["2.0", "2.0", "2.0"])
    assert found.record is not None and found.record.conditions is not None
    assert found.record.conditions.cores == "hybrid, unpinned"


def test_refusals_alike_are_told_once() -> None:
    """Of several whose reasons differ in numbers alone one is told in full, and the others are named."""
    said = "busy host: other processes kept {} CPUs busy (limit 0.25)"
    results = [RunResult(f"x/{name}", "refused", said.format(name / 10), 20.0) for name in range(3)]
    results.append(RunResult("x/other", "refused", "its repetitions disagree", 1.0))
    lines = summary.refusal_lines(results)
    assert len(lines) == 3
    assert lines[0].endswith(f"x/0 (20.0 s): {said.format(0.0)}")
    assert lines[1].strip() == "for the like: x/1, x/2"
    assert "x/other" in lines[2]
