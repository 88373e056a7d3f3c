"""`capture run` and the machine it is on: labels, another machine, interpreters, torch absent or broken, gates."""

from __future__ import annotations

import dataclasses
import os
import platform
import re
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from harness.executions import case
from harness.headers import TIMED
from harness.project import Project, bare_interpreter, bare_python

from capture import store
from capture.host import host
from capture.host.host import Accelerator, Host

BROKEN = r'raise OSError("[WinError 126] Error loading C:\\Users\\sam\\env\\torch\\lib\\fbgemm.dll")'


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """One snippet that needs nothing but Python."""
    found = Project(tmp_path / "book")
    found.snippet("demo/plain", 'print("plain")')
    return found


def edit_host(project: Project, label: str, change: Callable[[Host], Host]) -> None:
    """Change the stored facts of a host as its own machine would have written them."""
    known = store.read_host(project.book, label)
    assert known is not None
    store.write_host(project.book, host.identified(change(known)))


def other_processor(known: Host) -> Host:
    """Return a host with another CPU."""
    return dataclasses.replace(known, cpu=dataclasses.replace(known.cpu, model="Example CPU 9000", family=99))


def with_accelerator(known: Host) -> Host:
    """Return a host with the same CPU and a GPU."""
    return dataclasses.replace(known, accelerators=(Accelerator("cuda", "NVIDIA H200", 143771, "9.0", 1),))


def fake_torch(folder: Path, code: str) -> str:
    """Return an interpreter in which `import torch` executes some code; torch's version file is whole."""
    return bare_interpreter(folder, {"torch/__init__.py": code, "torch/version.py": '__version__ = "2.13.0+cpu"\n'})


def test_new_label_writes_the_facts_and_says_so(project: Project) -> None:
    """The first capture under a label adds a folder with the host's facts and changes no other."""
    project.run()
    result = project.run("--host", "desk-cpu")
    assert result.code == 0
    assert "new host desk-cpu: docs/captures/desk-cpu/host.yaml" in result.out
    assert set(result.added) == {"docs/captures/desk-cpu/host.yaml", "docs/captures/desk-cpu/demo/plain.yaml"}
    assert not result.changed
    assert project.record("demo/plain", "desk-cpu").host == "desk-cpu"
    assert project.run("--host", "desk-cpu").untouched


def test_a_new_label_close_to_a_known_one_is_pointed_out(project: Project) -> None:
    """A slip begins another host; whoever made it sees so at once."""
    project.run("--host", "desk-cpu")
    slip = project.run("--host", "desk-cup").out
    assert (
        'host.yaml; the same hardware as desk-cpu, so this is for other software on it; did you mean "desk-cpu"?'
        in slip
    )
    other = project.run("--host", "h200").out
    assert "the same hardware as desk-cpu and desk-cup" in other and "did you mean" not in other
    edit_host(project, "desk-cpu", other_processor)
    edit_host(project, "desk-cup", other_processor)
    assert (
        "wrote docs/captures/rome/host.yaml; the same hardware as h200" in project.capture("host", "init", "rome").out
    )
    edit_host(project, "h200", other_processor)
    edit_host(project, "rome", other_processor)
    assert "the same hardware" not in project.run("--host", "elsewhere").out


def installed(folder: Path, version: str) -> str:
    """Return an interpreter with a torch of some version, which imports."""
    return bare_interpreter(folder, {
        "torch/__init__.py": "from torch.version import __version__",
        "torch/version.py": f'__version__ = "{version}"\n',
        f"torch-{version}.dist-info/METADATA": f"Metadata-Version: 2.1\nName: torch\nVersion: {version}\n",
    })  # fmt: skip


@pytest.mark.parametrize(
    ("before", "after", "refused"),
    [
        ("2.14.1+cu130", "2.13.0+cpu", True),
        ("2.13.0+cpu", "2.13.0+cu130", True),
        ("2.14.1", "2.13.0", True),
        ("2.13.0+cpu", "2.14.1+cpu", False),
        ("2.13.0+cu126", "2.13.0+cu130", False),
        ("2.13.0+cpu", "2.13.0+cpu", False),
    ],
)
def test_other_software_under_a_label_is_refused(tmp_path: Path, before: str, after: str, refused: bool) -> None:
    """A forgotten --python replaces no record of another build or a newer torch; an upgrade is welcome."""
    project = Project(tmp_path / "book")
    project.snippet("demo/plain", 'print("plain")', dependencies=["torch>=2.2"])
    first = project.capture("run", "--host", "desk", "--python", installed(tmp_path / "one", before))
    assert first.code == 0 and project.record("demo/plain", "desk").environment.torch == before
    second = project.capture("run", "--host", "desk", "--python", installed(tmp_path / "other", after), "--force")
    if not refused:
        assert second.code == 0, second.text
        return
    assert (second.code, second.untouched) == (2, True)
    assert f'label "desk" has results of torch {before}, and this interpreter has {after}' in second.err
    assert "name that of the label with --python PATH, or take a label for this one" in second.err
    assert project.capture("run", "--python", installed(tmp_path / "third", after)).code == 0


def test_an_edited_fingerprint_is_written_again(project: Project) -> None:
    """The facts say which machine it is; the remedy that check names works."""
    project.run("--host", "desk-cpu")
    path = project.root / "docs/captures/desk-cpu/host.yaml"
    before = path.read_text("utf-8")
    path.write_text(re.sub(r"(fingerprint: )\w{8}", r"\g<1>00000000", before), "utf-8")
    assert "its fingerprint does not match" in project.capture("check", "--records-only").err
    assert project.capture("host", "init", "desk-cpu", "--python", project.python).code == 0
    assert path.read_text("utf-8") == before


@pytest.mark.parametrize(
    ("change", "differs"),
    [
        (other_processor, "cpu.model: Example CPU 9000"),
        pytest.param(with_accelerator, "accelerators: 1 x", id="cmp-device-sample"),
    ],
)
def test_another_machine_under_a_label_is_refused(
    project: Project, change: Callable[[Host], Host], differs: str
) -> None:
    """A label names one machine: on another the run is refused before it writes, and names what differs."""
    project.run("--host", "h200")
    edit_host(project, "h200", change)
    project.snippet("demo/plain", 'print("changed")')
    result = project.run("--host", "h200")
    assert result.code == 2
    assert differs in result.err and "choose a new label" in result.err
    assert result.untouched


def test_local_follows_the_machine(project: Project) -> None:
    """The folder `local` is of whoever works here: results of another machine are captured anew, and its facts."""
    project.run()
    edit_host(project, "local", other_processor)
    result = project.run()
    assert result.code == 0
    assert set(result.changed) >= {"docs/captures/local/host.yaml"}
    assert "Example" not in project.read("docs/captures/local/host.yaml")
    assert "nothing to execute" in project.run().out


@pytest.mark.parametrize("damage", ["damaged", "lost"])
def test_label_without_readable_facts_is_refused(project: Project, damage: str) -> None:
    """Nobody can tell whether records without their host's facts are of this machine: refused until written again."""
    project.run("--host", "desk-cpu")
    path = project.root / "docs/captures/desk-cpu/host.yaml"
    if damage == "lost":
        path.unlink()
    else:
        path.write_text(path.read_text("utf-8") + "<<<<<<< ours\n", "utf-8")
    project.snippet("demo/plain", 'print("changed")')
    result = project.run("--host", "desk-cpu")
    assert (result.code, result.untouched) == (2, True)
    assert "docs/captures/desk-cpu/host.yaml" in result.err
    assert "capture host init" in result.err
    assert project.capture("host", "init", "desk-cpu", "--python", project.python).code == 0
    assert project.run("--host", "desk-cpu").code == 1  # its text has changed
    assert project.record("demo/plain", "desk-cpu").stdout == "changed\n"


def test_title_of_a_host_is_kept(project: Project) -> None:
    """A title that was chosen survives further captures and another init."""
    init = ("host", "init", "desk-cpu", "--python", project.python)
    assert project.capture(*init, "--title", "My desk").code == 0
    assert project.run("--host", "desk-cpu").code == 0
    assert project.capture(*init).untouched
    assert "title: My desk" in project.read("docs/captures/desk-cpu/host.yaml")


def test_copied_records_are_not_trusted(project: Project) -> None:
    """A folder copied under another label holds results of the other label; once it has facts, a run replaces them."""
    project.run()
    shutil.copytree(project.root / "docs/captures/local", project.root / "docs/captures/desk-cpu")
    assert project.run("--host", "desk-cpu").code == 2
    assert project.capture("host", "init", "desk-cpu", "--python", project.python).code == 0
    assert project.run("--host", "desk-cpu").code == 0
    assert project.record("demo/plain", "desk-cpu").host == "desk-cpu"
    assert "label: desk-cpu" in project.read("docs/captures/desk-cpu/host.yaml")


def test_relative_interpreter(project: Project) -> None:
    """--python takes a path relative to where the command is given."""
    relative = os.path.relpath(project.python, project.root)
    result = project.capture("run", "--python", relative)
    assert (result.code, project.records()) == (0, ["demo/plain"])


@pytest.mark.parametrize("kind", ["missing", "folder", "no program"])
def test_unusable_interpreter(project: Project, kind: str) -> None:
    """An interpreter that cannot be used is invalid usage and says what to pass; nothing is written."""
    path = project.root.parent / "python9"
    if kind == "folder":
        path.mkdir()
    if kind == "no program":
        path.write_text("#!/bin/sh\necho nothing\n", "utf-8")
        path.chmod(0o755)
    result = project.capture("run", "--python", str(path))
    assert (result.code, result.untouched) == (2, True)
    assert "--python" in result.err
    assert "Traceback" not in result.err


@case("host-no-torch")
def test_without_torch(case: str, project: Project) -> None:
    """Where torch is not installed, the rest is captured, and exit 1 says that somebody should install it."""
    project.snippet("demo/tensor", "import torch", dependencies=["torch>=2.2"])
    result = project.run()
    assert result.code == 1
    assert project.records() == ["demo/plain"]
    assert project.record("demo/plain").environment.torch is None
    assert "torch>=2.2 is not installed: demo/tensor" in result.out
    assert "--python PATH" in result.out


@pytest.mark.parametrize(
    ("code", "says"),
    [
        (BROKEN, "fbgemm.dll"),
        ("import os; os.abort()", "SIGABRT"),
        ("raise SystemExit('libcudart.so is missing')", "libcudart.so"),
    ],
    ids=["host-broken-torch", "abort", "exit"],
)
def test_torch_that_fails_to_import(project: Project, tmp_path: Path, code: str, says: str) -> None:
    """A broken torch is a broken host (exit 2), told without personal paths; what needs no torch is captured."""
    project.python = fake_torch(tmp_path / "env", code)
    project.snippet("demo/tensor", "import torch", dependencies=["torch>=2.2"])
    result = project.run()
    assert result.code == 2
    assert project.records() == ["demo/plain"]
    assert "torch fails to import" in result.err and says in result.err
    assert "demo/tensor" in result.out
    assert "sam" not in result.text


def test_torch_is_not_imported_without_need(project: Project, tmp_path: Path) -> None:
    """Planning reads versions from files: when all is current, torch is not imported at all."""
    witness = tmp_path / "imports"
    code = f'open({str(witness)!r}, "a").write("x")\nfrom torch.version import __version__\n'
    project.python = fake_torch(tmp_path / "env", code)
    assert project.run().code == 0
    imports = witness.read_text("utf-8")
    assert imports
    assert "nothing to execute" in project.run().out
    assert witness.read_text("utf-8") == imports


def test_new_torch_captures_again(project: Project, tmp_path: Path) -> None:
    """Another version of torch is a reason to execute; it is named, and told from the old one by its full text."""
    project.run()
    project.python = fake_torch(tmp_path / "env", "from torch.version import __version__")
    assert "would execute demo/plain: torch none -> 2.13.0+cpu" in project.run("--dry-run").out
    result = project.run()
    assert result.code == 0
    assert project.record("demo/plain").environment.torch == "2.13.0+cpu"


def test_unmet_gates_are_nothing_to_act_on(project: Project) -> None:
    """What this host cannot run is named with the reason, has no record, and is no failure."""
    project.snippet("gate/cuda", "print(1)", needs=["cuda"])
    project.snippet("gate/cuda_too", "print(1)", needs=["cuda"])
    project.snippet("gate/module", "print(1)", needs=["cuda", "module:no_such_module"])
    project.snippet("gate/absence", "print(1)", needs=["!module:json"])
    project.snippet("gate/with_numpy", "print(1)", dependencies=["numpy>=2"])
    project.snippet("gate/with_torchao", "print(1)", dependencies=["torchao"])
    result = project.run()
    assert (result.code, project.records()) == (0, ["demo/plain"])
    assert "1 captured, 6 not for this host" in result.out
    for words in (
        "  needs cuda: gate/cuda, gate/cuda_too\n",
        "  needs the module no_such_module: gate/module\n",
        "  needs a host without the module json: gate/absence\n",
        "  numpy>=2 is not installed: gate/with_numpy\n",
        "  torchao is not installed: gate/with_torchao\n",
    ):
        assert words in result.out


def test_unmet_python(project: Project) -> None:
    """A snippet for a newer Python than the interpreter is not for this host."""
    text = project.read("snippets/demo/plain.py").replace(">=3.11", ">=9.1")
    project.write("snippets/demo/plain.py", text)
    result = project.run()
    assert result.code == 0
    assert "needs Python >=9.1, found " in result.out


def test_met_gates_are_captured(project: Project) -> None:
    """A gate that must not hold, and a module that is there, let a snippet run."""
    project.snippet("demo/special", "print(1)", needs=["!cuda", "module:json", "!module:no_such_module"])
    assert project.run().code == 0
    assert project.records() == ["demo/plain", "demo/special"]


def test_environment_of_the_caller_stays_out(project: Project) -> None:
    """A token or colour setting in the caller's shell reaches neither snippet nor record."""
    project.snippet(
        "demo/plain", "import os\nprint(sorted(name for name in os.environ if 'TOKEN' in name or 'COLOR' in name))"
    )
    result = project.run(env={"HF_TOKEN": "hf_" + "Q" * 34, "FORCE_COLOR": "1", "CLICOLOR_FORCE": "1"})
    assert result.code == 0
    assert project.record("demo/plain").stdout == "['NO_COLOR', 'PYTHON_COLORS']\n"
    assert "hf_" not in project.read("docs/captures/local/demo/plain.yaml")


def test_interpreter_of_the_tool_is_the_default(project: Project) -> None:
    """Without --python the interpreter that runs the tool executes the snippets."""
    project.snippet("demo/plain", "import sys\nprint(sys.version_info[:2])")
    assert project.capture("run").code == 0
    assert project.record("demo/plain").stdout == f"{sys.version_info[:2]}\n"
    assert bare_python() != sys.executable


def test_emulated_interpreter(tmp_path: Path) -> None:
    """Its own architecture is on the badge, timings are refused with the reason, and a native host is another one."""
    foreign = "aarch64" if platform.machine().lower() in ("x86_64", "amd64") else "x86_64"
    code = f"import platform\nplatform.machine = lambda: {foreign!r}\n"
    project = Project(tmp_path / "book", bare_interpreter(tmp_path / "foreign", {"sitecustomize.py": code}))
    project.snippet("demo/plain", 'print("plain")')
    project.snippet("demo/fast", 'print("ratio 2.0")', **TIMED)
    for _ in range(2):  # the second run knows the machine again
        result = project.run("--host", "emulated")
        assert result.code == 0
        assert re.search(r"no timing is taken on a processor that is emulated \(on .+\); .*: demo/fast", result.out)
    chip = project.record("demo/plain", "emulated").environment.chip
    assert chip.startswith("arm64 CPU" if foreign == "aarch64" else "x86_64 CPU")
    assert "(emulated on " in chip
    assert project.records("emulated") == ["demo/plain"]
    assert project.capture("check").code == 0
    native = project.run("--host", "emulated", "--force", "--python", bare_python())
    assert native.code == 2
    assert 'label "emulated" names another machine (arch: ' in native.err


@pytest.mark.parametrize("command", [("run", "--host"), ("host", "init")])
@pytest.mark.parametrize("code", ["raise ImportError('undefined symbol: cudaGetDevice')", "import nothing_of_the_kind"])
def test_broken_torch_makes_no_host(project: Project, tmp_path: Path, code: str, command: tuple[str, ...]) -> None:
    """Under a label, new or known, no facts are written while a torch that is there cannot say what it computes on."""
    broken = fake_torch(tmp_path / "env", code)
    for label in ("new-desk", "desk-cpu"):
        result = project.capture(*command, label, "--python", broken)
        assert (result.code, result.changed, result.removed) == (2, (), ())
        assert "docs/captures/new-desk/host.yaml" not in result.added
        assert "torch fails to import" in result.err and code.split()[-1].strip("')") in result.err
        if label == "new-desk":
            assert result.untouched
            assert project.run("demo/plain", "--host", "desk-cpu").code == 0
