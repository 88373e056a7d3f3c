"""Asking another interpreter about torch: whatever it does, facts or a clear reason come back in bounded time."""

from __future__ import annotations

import json
import os
import platform
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest
from harness.project import bare_python

from capture.errors import HostBroken
from capture.host.host import Accelerator
from capture.host.probe import torch_probe, torch_script_questions
from capture.host.probe.torch_probe import TorchRequest, parse, probe_torch
from capture.snippet import snippet

REAL = os.environ.get("CAPTURE_TEST_TORCH", "")  # an interpreter that has torch
FAKE_TORCH = """
import sys
print("noise on import"); sys.__stdout__.write("more noise without a newline")
__version__ = "2.13.0+cu130"
class version: cuda = "13.0"; hip = None
class Properties:
    def __init__(self, name, memory, major=9, minor=0):
        self.name, self.total_memory, self.major, self.minor = name, memory, major, minor
        self.gcnArchName = "gfx90a:sramecc+:xnack-"; self.driver_version = "1.6.3"
        self.uuid = "GPU-secret"; self.pci_bus_id = 7
class cuda:
    is_available = staticmethod(lambda: True)
    device_count = staticmethod(lambda: 3)
    def get_device_properties(index):
        return Properties("NVIDIA L4", 23 << 30, 8, 9) if index == 1 else Properties("NVIDIA H200", 139 << 30)
class xpu:
    is_available = staticmethod(lambda: False)
class mps:
    is_available = staticmethod(lambda: False)
class cpu:
    get_cpu_capability = staticmethod(lambda: "AVX512")
class backends: pass
backends.mps = mps; backends.cpu = cpu
class distributed:
    is_available = staticmethod(lambda: True)
get_num_threads = lambda: 4
get_num_interop_threads = lambda: 2
def relu(x):
    return max(x, 0)
"""


@pytest.fixture
def interpreter(tmp_path):
    """Return a function that makes an interpreter whose `torch` is the given text."""

    def make(torch: str | None = FAKE_TORCH, **modules: str) -> str:
        library = tmp_path / "sam" / "library"
        for name, text in {"torch": torch, **modules}.items():
            if text is not None:
                (library / name).mkdir(parents=True)
                (library / name / "__init__.py").write_text(text)
        # The interpreter of the tests may have a torch of its own, which must not be found where none is faked.
        python = bare_python() if torch is None else sys.executable
        return script(tmp_path / "python", f'PYTHONPATH={library} exec {python} "$@"')

    return make


def script(path: Path, text: str) -> str:
    """Write an executable shell script and return its path."""
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path)


def test_facts_of_a_cuda_build(interpreter):
    """Properties, gates, threads and grouped devices are reported; noise, UUID and bus address are not."""
    facts = probe_torch(interpreter(), TorchRequest())
    assert (facts.torch, facts.torch_error, facts.cuda_build) == ("2.13.0+cu130", None, "13.0")
    assert facts.cpu_capability == "AVX512"
    assert facts.threads == {"intra": 4, "inter": 2}
    assert set(facts.gates) == set(snippet.GATES)
    assert (facts.gates["cuda"], facts.gates["rocm"], facts.gates["gloo"]) == (True, False, True)
    assert facts.accelerators == (
        Accelerator("cuda", "NVIDIA H200", 139 << 10, "9.0", 2),
        Accelerator("cuda", "NVIDIA L4", 23 << 10, "8.9", 1),
    )
    assert "secret" not in repr(facts)


def test_facts_of_a_rocm_build(interpreter):
    """ROCm answers through torch.cuda but is another gate, named by its gfx architecture."""
    facts = probe_torch(interpreter(FAKE_TORCH.replace("hip = None", 'hip = "6.4"')), TorchRequest())
    assert (facts.gates["cuda"], facts.gates["rocm"], facts.hip_build) == (False, True, "6.4")
    assert {one.capability for one in facts.accelerators} == {"gfx90a"}
    assert {one.kind for one in facts.accelerators} == {"rocm"}


def test_facts_of_mps_and_xpu(interpreter):
    """An Apple GPU has no memory of its own; an Intel GPU brings its driver's version."""
    fake = FAKE_TORCH.replace("lambda: False", "lambda: True").replace(
        "class xpu:",
        "class xpu:\n    device_count = cuda.device_count; get_device_properties = cuda.get_device_properties",
    )
    facts = probe_torch(interpreter(fake), TorchRequest())
    assert {one.kind for one in facts.accelerators} == {"cuda", "xpu", "mps"}
    assert facts.driver == "1.6.3"


def test_each_probe_fails_alone(interpreter):
    """A failing property, gate and name leave every other fact in place, each with its reason."""
    fake = FAKE_TORCH.replace("get_num_threads = lambda: 4", "get_num_threads = lambda: 1 / 0").replace(
        "is_available = staticmethod(lambda: True)\n    device_count", "is_available = sys.exit\n    device_count"
    )
    facts = probe_torch(interpreter(fake), TorchRequest(upstream=("torch.relu", "torch.gone", "torch.threads")))
    assert facts.torch == "2.13.0+cu130"
    assert facts.errors["threads"] == "ZeroDivisionError: division by zero"
    assert facts.errors["gates.cuda"] == "SystemExit"
    assert facts.gates["gloo"] is True
    assert facts.upstream["torch.relu"]
    assert facts.upstream["torch.gone"] is None


def test_a_driver_that_hangs_costs_its_own_probe(interpreter):
    """What was known before the hang is kept, and the probe that hung is named."""
    fake = FAKE_TORCH.replace("device_count = staticmethod(lambda: 3)", "device_count = lambda: time.sleep(60)")
    start = time.monotonic()
    facts = probe_torch(interpreter("import time\n" + fake), TorchRequest(), timeout=2)
    assert time.monotonic() - start < 10
    assert facts.gates["cuda"] is True
    assert facts.errors["accelerators.cuda"] == "did not answer within 2 s"


def test_a_driver_that_crashes_costs_its_own_probe(interpreter):
    """A segmentation fault in a device library is named like a failure."""
    fake = FAKE_TORCH.replace("staticmethod(lambda: 3)", "lambda: __import__('os').kill(__import__('os').getpid(), 11)")
    facts = probe_torch(interpreter(fake), TorchRequest())
    assert facts.threads == {"intra": 4, "inter": 2}
    assert facts.errors["accelerators.cuda"] == "was ended by SIGSEGV"


@pytest.mark.parametrize(
    ("text", "error"),
    [
        (r'raise OSError("[WinError 126] Error loading C:\\Users\\sam\\env\\torch\\lib\\fbgemm.dll")',
         "OSError: [WinError 126] Error loading fbgemm.dll"),
        ('raise OSError("/home/sam/env/torch/lib/libtorch.so: undefined symbol: cuX")',
         "OSError: libtorch.so: undefined symbol: cuX"),
        ('raise ImportError("cannot open " + repr(__file__))', "ImportError: cannot open '__init__.py'"),
        ('import nothing_of_that_name', "ModuleNotFoundError: No module named 'nothing_of_that_name'"),
        ('import torch.nothing', "ModuleNotFoundError: No module named 'torch.nothing'"),
        ('raise SystemExit("no GPU, no torch")', "SystemExit: no GPU, no torch"),
        ('raise KeyboardInterrupt', "KeyboardInterrupt"),
        ('x = 1', "not installed; a folder named torch was found in its place"),
    ],
)  # fmt: skip
def test_a_broken_torch_is_one_line_without_paths(interpreter, text, error):
    """Any exception of the import is caught; the library's name stays, the user's path goes."""
    facts = probe_torch(interpreter(text), TorchRequest(upstream=("torch.relu",)))
    assert (facts.torch, facts.torch_error) == (None, error)
    assert facts.upstream == {"torch.relu": None}
    assert facts.gates["compile"] is False
    assert "sam" not in repr(facts)


def test_without_torch_the_rest_is_told(interpreter):
    """torch is null with `not installed`; packages and modules are still answered."""
    request = TorchRequest(packages=("left-over", "no-such"), modules=("json", "no_such", "no_such.part", "left_over"))
    python = interpreter(None, left_over="")
    library = Path(python).parent / "sam" / "library"
    (library / "left_over" / "__init__.py").unlink()
    (library / "left_over-1.2.dist-info").mkdir()
    (library / "left_over-1.2.dist-info" / "METADATA").write_text("Name: left-over\nVersion: 1.2\n")
    facts = probe_torch(python, request)
    assert (facts.torch, facts.torch_error) == (None, "not installed")
    assert facts.packages == {"left-over": "1.2", "no-such": None}
    assert facts.modules == {"json": True, "no_such": False, "no_such.part": False, "left_over": False}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("import os; os.abort()", "was ended by SIGABRT while importing torch"),
        ("import os; os._exit(0)", "printed no report while importing torch"),
        ("import time; time.sleep(60)", "did not answer within 1 s while importing torch"),
    ],
)
def test_a_crash_while_torch_is_imported_is_a_broken_host(interpreter, text, message):
    """Without torch's own answers nothing can be said about it."""
    with pytest.raises(HostBroken, match=message):
        probe_torch(interpreter(text), TorchRequest(), timeout=1)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("exit 0", "printed no report"),
        ("echo hello", "printed no report"),
        ("echo '{\"pending\": null'", "printed no report"),
        ('echo "cannot open $HOME/secret/x.so" >&2; exit 3', "stopped with exit code 3: cannot open x.so"),
        ("kill -9 $$", "was ended by SIGKILL"),
        ("yes", "printed without end"),
        ("sleep 60", "did not answer within 1 s"),
    ],
)
def test_what_is_no_interpreter_is_a_broken_host(tmp_path, text, message):
    """Silence, garbage, a crash, a hang: each has its own words, and none echoes a path."""
    with pytest.raises(HostBroken) as caught:
        probe_torch(script(tmp_path / "python", text), TorchRequest(), timeout=1)
    assert message in str(caught.value)
    assert "secret" not in str(caught.value)


def test_what_cannot_be_started_is_a_broken_host(tmp_path, monkeypatch):
    """Absent, a folder, not executable, not a program; the home folder is written as ~."""
    monkeypatch.setenv("HOME", str(tmp_path))
    plain = tmp_path / "plain"
    plain.write_text("text")
    with pytest.raises(HostBroken, match=r"^~/no/python: no such interpreter"):
        probe_torch(str(tmp_path / "no" / "python"), TorchRequest())
    with pytest.raises(HostBroken, match=r"^~/no/python: no such interpreter"):
        probe_torch("~/no/python", TorchRequest())
    with pytest.raises(HostBroken, match=r"^~/plain is not executable"):
        probe_torch(str(plain), TorchRequest())
    plain.chmod(plain.stat().st_mode | stat.S_IXUSR)
    plain.write_bytes(b"\x7fELF")
    with pytest.raises(HostBroken, match=r"^~/plain cannot be executed: Exec format error"):
        probe_torch(str(plain), TorchRequest())
    with pytest.raises(HostBroken, match=r"^~ is a folder"):
        probe_torch(str(tmp_path), TorchRequest())
    with pytest.raises(HostBroken, match=r"^no-such-python: no such interpreter on PATH"):
        probe_torch("no-such-python", TorchRequest())
    with pytest.raises(HostBroken, match=r"^~/env/bin/python: no such"):
        probe_torch("/home/sam/env/bin/python", TorchRequest())


def test_a_relative_interpreter_and_one_on_path(interpreter, tmp_path, monkeypatch):
    """Both forms work although the script runs in a folder of its own."""
    interpreter(None)
    monkeypatch.chdir(tmp_path)
    assert probe_torch("./python", TorchRequest()).torch_error == "not installed"
    (tmp_path / "torch.py").write_text("raise SystemError('the current folder was searched')")
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    assert probe_torch("python", TorchRequest()).torch_error == "not installed"


def test_the_environment_is_an_allow_list():
    """Tokens, user names and PYTHONPATH are not passed; paths, devices and thread counts are."""
    kept = torch_probe.script_environment(
        {"PATH": "/bin", "HOME": "/home/x", "HF_TOKEN": "x", "USER": "sam", "PYTHONPATH": "/p", "OMP_NUM_THREADS": "3",
         "CUDA_VISIBLE_DEVICES": "0", "HOSTNAME": "node"}
    )  # fmt: skip
    assert kept == {
        "PATH": "/bin", "HOME": "/home/x", "OMP_NUM_THREADS": "3", "CUDA_VISIBLE_DEVICES": "0",
        "PYTHONUTF8": "1", "PYTHONNOUSERSITE": "1",
    }  # fmt: skip


def report(**changes: object) -> str:
    """Return a complete line of the script with some fields changed."""
    plain = {
        "pending": None, "python": "3.11.7", "torch": "2.13.0", "torch_error": None, "cuda_build": None,
        "hip_build": None, "cpu_capability": None, "driver": None, "threads": {}, "gates": {}, "modules": {},
        "packages": {}, "upstream": {}, "accelerators": [], "errors": {},
    }  # fmt: skip
    return json.dumps(plain | changes)


def test_the_last_whole_report_counts():
    """Noise and broken lines around reports are skipped."""
    text = "\n".join(["noise", report(torch="1"), report(torch="2.13.0+cpu"), '{"pending": nu', "[1]", "{}", "bye"])
    assert parse(text).torch == "2.13.0+cpu"
    assert parse(report(pending="gates.cuda")).errors == {"gates.cuda": "did not finish"}
    assert parse(report(pending="torch", torch=None)).torch_error == "importing it did not finish"


@pytest.mark.parametrize(
    "text", ["", "\x00\xff", "{", "{}", "[]", report(gates={"cuda": "yes"}), report(more=1), "[" * 9999]
)
def test_no_report_is_a_broken_host(text):
    """Nothing, garbage, or a report of another version raises with a reason."""
    with pytest.raises(HostBroken):
        parse(text)


def test_a_quota_below_two_cpus_closes_the_gate():
    """Two visible CPUs of which a container may use 1.5 are no two CPUs."""
    facts = parse(report(gates={"two_cpus": True}))
    assert torch_probe.with_quota(facts, 1.5).gates == {"two_cpus": False}
    assert "1.5" in torch_probe.with_quota(facts, 1.5).errors["gates.two_cpus"]
    assert torch_probe.with_quota(facts, 2.0) == torch_probe.with_quota(facts, None) == facts


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("cannot open /home/sam/x", "cannot open x"),
        ("in /home/sam", "in ~"),
        ("/Users/Sam Smith/env/lib/a.dylib (no such file)", "a.dylib (no such file)"),
        ("C:\\Users\\Sam Smith\\env\\a.dll not found", "a.dll not found"),
        ("C:/Users/sam/env/a.dll", "a.dll"),
        ("'D:\\\\work\\\\sam\\\\a.dll'", "'a.dll'"),
        ("\\\\server\\share\\sam\\a.dll", "a.dll"),
        ("ImportError:/opt/acme/sam/x.so: bad", "ImportError:x.so: bad"),
        ("file:///home/sam/x.so", "file:x.so"),
        ("see https://pytorch.org/get-started for and/or more", "see https://pytorch.org/get-started for and/or more"),
        ("two\nlines\tand \x1b[31mcolour", "two lines and [31mcolour"),
        ("CUDA driver 12.4 is too old", "CUDA driver 12.4 is too old"),
        ("x" * 999, "x" * 300),
        ("", ""),
    ],
)
def test_paths_are_cut_to_their_last_part(text, shown):
    """Errors keep the name of a file and lose where it lies, also with spaces, backslashes and doubled ones."""
    assert torch_script_questions.without_paths(text) == shown


def test_the_home_folder_is_recognised_where_it_lies(monkeypatch):
    """A home outside /home is recognised; no account is no failure."""
    monkeypatch.setenv("HOME", "/srv/people/sam")
    assert torch_script_questions.without_paths("no /srv/people/sam/lib/x.so, no /srv/people/sam") == "no x.so, no ~"
    assert torch_probe.shown_path("/srv/people/sam/bin/python") == "~/bin/python"
    assert torch_probe.shown_path("/srv/people/samuel/python") == "/srv/people/samuel/python"


def test_gates_are_those_of_snippets():
    """The script cannot import the package, so its own list must agree."""
    assert torch_script_questions.GATES == snippet.GATES


def test_the_compile_gate_names_what_is_missing(monkeypatch, tmp_path):
    """Compiler, header and version each have their own words."""

    class Torch:
        __version__ = "2.13.0"

    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("CXX", "/home/sam/bin/clang++ -v")
    with pytest.raises(torch_script_questions.UnmetError, match=r"looked for .*clang\+\+"):
        torch_script_questions.compiles(Torch)
    monkeypatch.setenv("CXX", "cc1 --fast")
    script(tmp_path / "cc1", "exit 0")
    monkeypatch.setattr(torch_script_questions.sysconfig, "get_path", lambda name: str(tmp_path))
    with pytest.raises(torch_script_questions.UnmetError, match=r"Python\.h"):
        torch_script_questions.compiles(Torch)
    (tmp_path / "Python.h").touch()
    assert torch_script_questions.compiles(Torch) or sys.platform == "darwin"
    Torch.__version__ = "1.13.1"
    with pytest.raises(torch_script_questions.UnmetError, match="needs torch 2"):
        torch_script_questions.compiles(Torch)


def test_the_script_needs_neither_the_package_nor_its_folder():
    """Isolated mode, another folder, no request: the last line is the report."""
    done = subprocess.run(
        [sys.executable, "-I", str(torch_probe.SCRIPT)], input="", capture_output=True, text=True, cwd="/", check=True
    )
    last = json.loads(done.stdout.splitlines()[-1])
    assert last["pending"] is None
    assert done.stderr == ""


@pytest.mark.skipif(not REAL, reason="CAPTURE_TEST_TORCH names no interpreter with torch")
def test_a_real_torch():
    """A real torch answers every question, and built-in functions have a digest too."""
    names = ("torch.nn.functional.linear", "torch.nn.Linear", "torch.compile", "torch.nn.functional.no_such")
    facts = probe_torch(REAL, TorchRequest(upstream=names))
    assert facts.torch
    assert facts.cpu_capability
    assert all(len(facts.upstream[name] or "") == 64 for name in names[:3])
    assert facts.upstream[names[3]] is None
    assert facts.errors.keys() <= {"gates.compile", "gates.two_cpus"}


def test_the_interpreters_own_architecture(interpreter):
    """The script reports what its interpreter sees, which is not what the tool sees under an emulator."""
    assert probe_torch(interpreter(), TorchRequest()).machine == platform.machine()
    assert parse(report(machine="riscv64")).machine == "riscv64"
    assert parse(report()).machine is None  # of an older script


XLA_RUNTIME = "import os\ndef global_runtime_device_count(): return int(os.environ.get('CPU_NUM_DEVICES', 1))"
XLA_MODEL = "def xla_device(): return 'xla:0'\ndef xla_device_hw(device): return 'CPU'"


def test_what_pjrt_drives(interpreter, tmp_path, monkeypatch):
    """Version, device and number of devices are told, and the variables that decide them reach torch_xla."""
    monkeypatch.setenv("CPU_NUM_DEVICES", "3")
    python = interpreter(torch_xla="__version__ = '2.9.0'")
    folder = tmp_path / "sam" / "library" / "torch_xla"
    (folder / "runtime.py").write_text(XLA_RUNTIME)
    (folder / "core").mkdir()
    (folder / "core" / "xla_model.py").write_text(XLA_MODEL)
    told = probe_torch(python, TorchRequest())
    assert (told.gates["xla"], told.xla) == (True, {"torch_xla": "2.9.0", "device": "CPU", "devices": "3"})
    assert probe_torch(python, TorchRequest()).accelerators == told.accelerators  # PJRT's CPU accelerates nothing
    (folder / "runtime.py").write_text("raise RuntimeError('no PJRT')")
    told = probe_torch(python, TorchRequest())
    assert (told.xla, told.errors["xla"]) == ({}, "RuntimeError: no PJRT")


def test_long_properties_are_cut(interpreter):
    """A driver or a device whose name has no end costs its end only."""
    fake = FAKE_TORCH.replace('"NVIDIA H200"', '"H" * 3_000_000').replace('"AVX512"', '"A" * 3_000_000')
    told = probe_torch(interpreter(fake), TorchRequest())
    assert [len(one.name) for one in told.accelerators] == [100, 9]
    assert len(told.cpu_capability) == 200
