"""Reported faults of hosts and runs, each end to end: what the machine lacks or does costs its own fact and no more."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest
from harness.executions import NOTHING, case, posix
from harness.project import Project, bare_interpreter, processes_with

from capture.host import host
from capture.host.host import Host
from capture.host.probe import accelerators, facts

PROFILED = """\
import torch
from torch.profiler import ProfilerActivity, profile
layer, x = torch.nn.Linear(64, 8), torch.ones(2, 64)
with profile(activities=[ProfilerActivity.CPU]) as prof:
    layer(x)
"""
# A torch that sees one GPU, and prints what a seed gives on it.
GPU_TORCH = """\
from torch.version import __version__
class Properties:
    name, total_memory, major, minor = "NVIDIA H200", 139 << 30, 9, 0
class version: cuda, hip = "13.0", None
class cuda:
    is_available = staticmethod(lambda: True)
    device_count = staticmethod(lambda: 1)
    get_device_properties = staticmethod(lambda index: Properties)
get_num_threads = get_num_interop_threads = lambda: 2
rand = lambda: 0.4963 if cuda.is_available() else 0.3990
"""
SAMPLE = "import torch\nprint(torch.rand())"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """One snippet that needs nothing but Python."""
    found = Project(tmp_path / "book")
    found.snippet("demo/plain", 'print("plain")')
    return found


def torch_environment(folder: Path, code: str) -> str:
    """Return an interpreter with a faked torch."""
    return bare_interpreter(folder, {"torch/__init__.py": code, "torch/version.py": '__version__ = "2.13.0+cu130"\n'})


def tool(folder: Path, name: str, script: str) -> dict[str, str]:
    """Write a shell script and return the environment in which it is found first."""
    path = folder / name
    folder.mkdir()
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return {"PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}


@case("inv-force-ignored")
def test_force_executes_what_is_current(case: str, project: Project, tmp_path: Path) -> None:
    """--force executes again, as often as a first capture would, and only what was selected."""
    witness = tmp_path / "executions"
    for name in ("one", "two"):
        project.snippet(f"demo/{name}", f"open({str(witness)!r}, 'a').write('{name} ')\nprint('{name}')")
    assert project.run().code == 0
    witness.unlink()
    assert project.run("demo/one").untouched and not witness.exists()
    result = project.run("demo/one", "--force")
    assert (result.code, witness.read_text().split()) == (0, ["one"])
    assert "nothing to execute" not in result.out


@case("inv-force-ignored")
def test_force_that_this_host_cannot_obey_is_told(case: str, project: Project) -> None:
    """What was asked for by name and cannot run here is exit 1 with the reason, never silence."""
    project.snippet("demo/device", "print(1)", needs=["module:nothing_of_that_name"])
    result = project.run("demo/device", "--force")
    assert result.code == 1
    assert "nothing to execute: this host lacks what the snippets need" in result.out
    assert "needs the module nothing_of_that_name: demo/device" in result.out
    assert project.run("demo/device").code == 0


@case("inv-force-ignored")
def test_no_setting_of_a_snippet_disarms_force(case: str, project: Project, tmp_path: Path) -> None:
    """There is no key that freezes a result: one that says so is refused by name, forced or not."""
    project.snippet("demo/plain", 'print("plain")', pinned=True)
    result = project.run("demo/plain", "--force")
    assert (result.code, result.untouched) == (2, True)
    assert 'snippets/demo/plain.py:9: unknown key "pinned"' in result.err


@case("exec-profiler-noise")
def test_dated_log_lines_of_a_library_stay_out_of_the_output(case: str, tmp_path: Path) -> None:
    """torch's profiler logs date, time and process id on stderr: a named rule drops them, so that two runs agree."""
    project = Project(tmp_path, python=sys.executable)
    table = PROFILED + 'print(prof.key_averages().table(sort_by="cpu_time_total", row_limit=2))'
    project.snippet(
        "demo/table", table, dependencies=["torch>=2.2"],
        compare={"volatile": [r"[\d.]+ *(?:us|ms|%)", r"-{4,}"]},
    )  # fmt: skip
    result = project.run()
    assert result.code == 0, result.text
    record = project.record("demo/table")
    header, rule = record.stdout.splitlines()[1], record.stdout.splitlines()[0]
    assert header.split()[0] == "Name" and header.endswith("# of Calls")
    assert len(rule) == len(header)
    assert {"aten::linear", "aten::addmm"} <= {line.split()[0] for line in record.stdout.splitlines() if line}
    assert "profiler_start" not in record.stdout
    assert "log-stamp" in record.normalized and not re.search(r"\d\d:\d\d:\d\d", record.stderr)
    again = project.run("--force")
    assert (again.code, again.untouched) == (0, True)


@case("cmp-device-sample")
def test_a_gpu_result_is_never_compared_with_one_of_the_cpu(case: str, tmp_path: Path) -> None:
    """A seed gives other numbers on a GPU (a faked torch): its own label, its own file, and no mixing under one."""
    gpu = torch_environment(tmp_path / "gpu", GPU_TORCH)
    cpu = torch_environment(tmp_path / "cpu", GPU_TORCH.replace("lambda: True", "lambda: False"))
    project = Project(tmp_path / "book", python=cpu)
    project.snippet("demo/sample", SAMPLE, dependencies=["torch>=2.2"])
    assert project.run("--host", "desk").code == 0
    project.python = gpu
    mixed = project.run("--host", "desk", "--force")
    assert (mixed.code, mixed.untouched) == (2, True)
    assert "accelerators: none -> 1 x NVIDIA H200" in mixed.err and "choose a new label" in mixed.err
    own = project.run("--host", "desk-h200")
    assert (own.code, own.changed) == (0, ())
    outputs = {label: project.record("demo/sample", label).stdout for label in ("desk", "desk-h200")}
    assert outputs == {"desk": "0.399\n", "desk-h200": "0.4963\n"}


@posix
@case("host-smi-hang")
def test_a_wedged_driver_does_not_hold_a_run(case: str, project: Project, tmp_path: Path) -> None:
    """A faked nvidia-smi that never returns is ended with its children, named, and the capture goes on."""
    path = tool(tmp_path / "bin", "nvidia-smi", f"sh -c 'sleep 600; : {tmp_path}/child'\necho never")
    result = project.run(env=path)
    assert result.code == 0
    assert project.records() == ["demo/plain"]
    assert "nvidia-smi: timed out after 5 s" in project.read("docs/captures/local/host.yaml")
    assert processes_with("sh", str(tmp_path / "child")) == []


@posix
@case("host-no-wmic")
@pytest.mark.parametrize(
    ("script", "name"),
    [("printf 'NVIDIA \\220 T4, 551.86, 15109 MiB, 7.5\\n'", "NVIDIA T4"), ("exit 127", None)],
    ids=["code-page", "not-there"],
)
def test_tools_are_optional_and_their_code_page_does_not_count(
    case: str, script: str, name: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What another system's tool prints in its own code page is read as far as it can be; without it nothing fails.

    No Windows here: bytes of code page 850 come from a faked tool, through the reader that all tools share.
    """
    monkeypatch.setenv("PATH", tool(tmp_path / "bin", "nvidia-smi", script)["PATH"])
    found, _, why = accelerators.nvidia_smi()
    assert [one.name for one in found] == ([name] if name else [])
    assert (why is None) == bool(name)


@posix
@case("host-no-passwd")
def test_a_run_under_a_random_uid(case: str, project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A container's uid has no account and no home: faked by an empty user database, the capture completes."""
    for name in ("LOGNAME", "USER", "LNAME", "USERNAME", "HOME"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "fake").mkdir()
    (tmp_path / "fake" / "sitecustomize.py").write_text(
        "import pwd\n"
        "def absent(uid):\n"
        f"    open({str(tmp_path / 'asked')!r}, 'a').close()\n"
        "    raise KeyError('getpwuid(): uid not found')\n"
        "pwd.getpwuid = absent\n"
    )
    result = project.run(env={"PYTHONPATH": str(tmp_path / "fake")})
    assert (result.code, project.records()) == (0, ["demo/plain"])
    assert (tmp_path / "asked").exists()
    assert "Traceback" not in result.text
    assert project.record("demo/plain").stdout == "plain\n"


def raising(error: Exception) -> Callable[..., object]:
    """Return a function that fails."""

    def fail(*_: object, **__: object) -> object:
        raise error

    return fail


@pytest.mark.parametrize(
    ("name", "reads", "lost"),
    [
        pytest.param("cpu_freq", lambda *_, **__: None, set(), id="host-freq-none"),
        pytest.param("cpu_freq", raising(FileNotFoundError("hw.cpufrequency")), set(), id="frequency-raises"),
        pytest.param("virtual_memory", raising(RuntimeError("no MemTotal")), {"memory_gib"}, id="memory-raises"),
        pytest.param("virtual_memory", raising(OSError("/proc")), {"memory_gib"}, id="memory-hidden"),
    ],
)
def test_a_reading_that_fails_loses_no_other(
    name: str, reads: Callable[..., object], lost: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each fact is read alone: what psutil cannot tell is null with its reason, the rest is as before."""
    before = facts.probe_host("here", NOTHING).host
    monkeypatch.setattr(psutil, name, reads)
    after = facts.probe_host("here", NOTHING).host
    assert {field for field in Host.__dataclass_fields__ if getattr(before, field) != getattr(after, field)} <= {
        *lost, "reasons", "fingerprint"
    }  # fmt: skip
    assert lost <= set(after.reasons)
    assert all(getattr(after, field) is None for field in lost)
    assert host.differences(before, after) == ()
