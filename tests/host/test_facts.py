"""A host put together: what is stored about this machine, what moves, and what the doctor says."""

from __future__ import annotations

import contextlib
import dataclasses
import getpass
import json
import os
import platform
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest
from harness import hardware_texts as texts
from harness.executions import case

from capture import plain_data
from capture.errors import CaptureError
from capture.exchange import json_schemas
from capture.host import environment, host
from capture.host.host import Accelerator
from capture.host.probe import accelerators, cpu, emulation, facts, system
from capture.host.probe.torch_probe import GATES, TorchFacts

H200 = Accelerator("cuda", "NVIDIA H200", 143156, "9.0", 1)


def torch(**changes: object) -> TorchFacts:
    """Return the facts of a CPU build with some changed."""
    plain = TorchFacts(
        python="3.11.7", torch="2.13.0+cpu", torch_error=None, cuda_build=None, hip_build=None, cpu_capability="AVX2",
        driver=None, threads={"intra": 2, "inter": 2}, gates=dict.fromkeys(GATES, False), modules={}, packages={},
        upstream={}, accelerators=(), errors={},
    )  # fmt: skip
    return dataclasses.replace(plain, **changes)


@pytest.fixture
def machine(monkeypatch):
    """Return a function that replaces what this machine's processor and system report."""
    monkeypatch.setattr(accelerators, "nvidia_smi", lambda: ((), None, None))
    monkeypatch.setattr(accelerators, "rocm_smi", lambda: ((), None, None))

    def use(text: str = texts.AMD_VM, arch: str = "x86_64", virtual: str | None = "kvm") -> None:
        monkeypatch.setattr(platform, "machine", lambda: arch)
        monkeypatch.setattr(facts, "read_cpu", lambda: cpu.parse_cpuinfo(text, arch))
        monkeypatch.setattr(emulation, "read_cpu", lambda: cpu.parse_cpuinfo(text, arch))
        monkeypatch.setattr(emulation, "system_text", lambda: text)
        monkeypatch.setattr(system, "read_virtualization", lambda: (virtual, "clock" if virtual else "none detected"))

    return use


def test_a_virtual_machine(machine):
    """The title is short, the badge names the virtual machine, every null has a reason."""
    machine()
    report = facts.probe_host("epyc-avx2", torch())
    assert report.host.title == "EPYC, AVX2"
    assert report.host.kind == "cpu"
    assert host.chip(report.host) == "AMD EPYC, AVX2, 2 vCPU (virtual machine)"
    assert report.host.fingerprint == host.fingerprint(report.host)
    assert report.sources["virtualization"] == "clock"


def test_bare_metal_says_that_none_was_detected(machine):
    """A null virtualisation carries its reason and is no problem for the doctor."""
    machine(texts.SAPPHIRE_RAPIDS, virtual=None)
    report = facts.probe_host("spr", torch())
    assert report.host.virtualization is None
    assert report.host.reasons["virtualization"] == "none detected"
    assert facts.diagnose(report, torch()) == []


@pytest.mark.parametrize(
    ("text", "arch", "found", "title", "kind"),
    [
        (texts.SAPPHIRE_RAPIDS, "x86_64", (H200,), "H200", "cuda"),
        (texts.SAPPHIRE_RAPIDS, "x86_64", (dataclasses.replace(H200, count=8),), "8 x H200", "cuda"),
        (texts.SAPPHIRE_RAPIDS, "x86_64", (), "Xeon Platinum 8480+, AVX512", "cpu"),
        (texts.NEOVERSE_N1, "aarch64", (), "Neoverse-N1, NEON", "cpu"),
        (texts.UNKNOWN_ARM, "aarch64", (), "0x99/0x123", "cpu"),
        ("", "riscv64", (), "riscv64 CPU", "cpu"),
    ],
)
def test_titles_and_kinds(machine, text, arch, found, title, kind):
    """An accelerator gives title and kind; else the processor's name or code and its ISA."""
    machine(text, arch)
    report = facts.probe_host("x", torch(accelerators=found))
    assert (report.host.title, report.host.kind) == (title, kind)


def test_kind_without_a_named_device():
    """A gate that holds gives the kind; torch_xla's does not, since the CPU alone opens it."""
    assert facts.kind((), {"xpu": True}) == "xpu"
    assert facts.kind((), {"xla": True, "compile": True}) == "cpu"


def test_an_apple_gpu_is_named_after_its_chip(monkeypatch, machine):
    """MPS names no device; the chip does."""
    machine()
    monkeypatch.setattr(facts, "read_cpu", lambda: cpu.parse_sysctl(texts.APPLE_M3))
    report = facts.probe_host("m3", torch(accelerators=(Accelerator("mps", "Apple GPU", None, None, 1),)))
    assert (report.host.title, report.host.kind) == ("Apple M3 Pro GPU", "mps")
    assert "accelerators[0].memory_mib" in report.host.reasons
    assert report.host.cpu.core_types == "6 x performance + 6 x efficiency"


def test_this_machine_is_stored_and_read_again():
    """The host of the machine that runs the tests fits its schema, and holds neither node nor user name."""
    report = facts.probe_host("here", torch())
    plain = plain_data.encode(report.host)
    jsonschema.validate(json.loads(json.dumps(plain)), json_schemas.json_schema(host.Host, "host"))
    assert host.decode(plain) == report.host
    words = json.dumps([plain, dict(report.sources)]).lower()
    names = [platform.node()]
    with contextlib.suppress(OSError, KeyError):
        names.append(getpass.getuser())
    for name in names:
        assert len(name) < 5 or name.lower() not in words
    assert "unknown" not in words
    assert facts.same_processor(report.host)


def test_another_processor_is_told_apart(machine):
    """Without importing torch, a label's machine is recognised by its processor."""
    machine()
    known = facts.probe_host("epyc", torch()).host
    machine(texts.SAPPHIRE_RAPIDS)
    assert not facts.same_processor(known)
    assert "cpu.isa: AVX2 -> AVX512" in facts.processor_differences(known)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="needs root to become another user")
@case("host-no-passwd")
def test_a_user_without_account_or_home(case):
    """In a container under a random uid, without HOME, everything is still read."""
    code = """
import os, sys
sys.path[:0] = sys.argv[1:]
import test_facts as tests
from capture.host.probe import facts, torch_probe
for name in ("LOGNAME", "USER", "LNAME", "USERNAME", "HOME"):
    os.environ.pop(name, None)
os.setuid(54321)
host = facts.probe_host("x", tests.torch()).host
print(facts.environment(host, tests.torch(), []).chip)
print(torch_probe.shown_path("~/python"))
"""
    folders = [str(Path(__file__).parent), str(Path(__file__).parents[1]), str(Path(facts.__file__).parents[2])]
    done = subprocess.run([sys.executable, "-c", code, *folders], capture_output=True, text=True, check=False)
    assert done.stderr == ""
    assert done.stdout.splitlines()[1] == "~/python"


def test_a_label_that_names_a_path_is_refused():
    """The label is checked before anything is read."""
    with pytest.raises(CaptureError):
        facts.probe_host("../x", torch())


def test_the_environment_of_a_record(machine):
    """All gates, the declared packages that are installed, the chip and the limits; torch has its own field."""
    machine()
    here = facts.probe_host("epyc-avx2", torch()).host
    answers = torch(packages={"numpy": "2.4.6", "ruamel.yaml": "0.19", "gone": None, "other": "1"})
    found = facts.environment(here, answers, ["torch>=2.2", "numpy >= 2", "ruamel.yaml", "gone", "Torch"])
    assert found.packages == {"numpy": "2.4.6", "ruamel.yaml": "0.19"}
    assert list(found.gates) == list(GATES)
    assert (found.torch, found.python, found.driver) == ("2.13.0+cpu", "3.11.7", None)
    assert found.os.endswith("x86_64")
    assert plain_data.decode(environment.Environment, plain_data.encode(found)) == found


def test_the_environment_without_torch(machine):
    """A snippet that needs no torch is captured with nulls."""
    machine()
    answers = torch(torch=None, torch_error="not installed", threads={}, gates={}, cpu_capability=None)
    found = facts.environment(facts.probe_host("x", answers).host, answers, [])
    assert (found.torch, found.cuda_build, dict(found.threads)) == (None, None, {})
    assert set(found.gates.values()) == {False}


@pytest.mark.parametrize(
    ("answers", "field", "problem", "remedy"),
    [
        (torch(torch=None, torch_error="not installed"), "torch", "not installed", "pip install torch"),
        (torch(torch=None, torch_error="OSError: libc10.so"), "torch", "OSError: libc10.so", "reinstall torch"),
        (torch(cuda_build="13.0"), "gates.cuda", "torch is built for CUDA 13.0, but sees no GPU", "CUDA_VISIBLE"),
        (torch(errors={"gates.compile": "no C++ compiler on PATH: looked for g++"}), "gates.compile",
         "no C++ compiler on PATH: looked for g++", "install a C++ compiler"),
        (torch(errors={"gates.cuda": "did not answer within 120 s"}), "gates.cuda", "did not answer within 120 s",
         "nvidia-smi"),
        (torch(errors={"driver": "driver/library version mismatch"}), "driver", "driver/library version mismatch",
         "reboot"),
        (torch(errors={"new.probe": "x"}), "new.probe", "x", "nothing is known"),
        (torch(modules={"numpy": False}), "modules.numpy", "not installed", "install it"),
        (torch(packages={"numpy": None}), "packages.numpy", "not installed", "install it"),
        (torch(upstream={"torch.no": None}), "upstream.torch.no", "torch 2.13.0+cpu has no such name", "correct"),
    ],
)  # fmt: skip
def test_the_doctor_names_field_problem_and_remedy(machine, answers, field, problem, remedy):
    """Each failed probe is listed once with what would make it work."""
    machine()
    found = facts.diagnose(facts.probe_host("x", answers), answers)
    assert [(row[0], row[1]) for row in found] == [(field, problem)]
    assert remedy in found[0][2]


def test_the_doctor_names_a_gpu_that_torch_cannot_use(machine, monkeypatch):
    """A CPU build beside a GPU is explained with the way out."""
    machine()
    monkeypatch.setattr(accelerators, "nvidia_smi", lambda: ((H200,), "570.86.15", None))
    rows = facts.diagnose(facts.probe_host("x", torch()), torch())
    assert rows[0][0] == "accelerators"
    assert "pytorch.org" in rows[0][2]


def test_an_unreadable_machine_has_only_reasons(machine):
    """With /proc hidden, everything is null, explained and listed; nothing fails."""
    machine("", "x86_64", None)
    report = facts.probe_host("x", torch())
    rows = facts.diagnose(report, torch())
    assert {row[0] for row in rows} >= {"cpu.model", "cpu.isa", "cpu.count"}
    assert all(all(row) for row in rows)


@pytest.mark.parametrize(
    ("text", "arch", "machine_of_python", "beneath", "chip"),
    [
        (texts.AMD_VM, "x86_64", "aarch64", "AMD EPYC, x86_64", "arm64 CPU"),
        (texts.NEOVERSE_N1, "aarch64", "x86_64", "Neoverse-N1, arm64", "x86_64 CPU"),
        (texts.AMD_VM, "x86_64", "riscv64", "AMD EPYC, x86_64", "riscv64 CPU"),
        # The tool itself is emulated as well: the system's text gives the machine beneath away.
        (texts.AMD_VM, "aarch64", "aarch64", "AMD EPYC, x86_64", "arm64 CPU"),
        (texts.ROSETTA_LINUX, "x86_64", "x86_64", "VirtualApple @ 2.50GHz, arm64", "x86_64 CPU"),
    ],
)
def test_an_emulated_interpreter(
    machine, monkeypatch, text: str, arch: str, machine_of_python: str, beneath: str, chip: str
) -> None:
    """The badge shows what the interpreter sees, the machine beneath is told, and nothing of it passes for a fact."""
    machine(text, arch, virtual=None)
    monkeypatch.setattr(os, "cpu_count", lambda: 4)
    answers = torch(machine=machine_of_python)
    item = facts.probe_host("arm-emulated", answers).host
    assert (item.emulated_on, item.title) == (beneath, f"{chip}, emulated")
    assert host.chip(item) == f"{chip}, 4 CPUs (emulated on {beneath})"
    assert all(why == emulation.EMULATED for name, why in item.reasons.items() if name.startswith("cpu."))
    assert facts.environment(item, answers, ()).os.endswith(f", {item.arch}")
    assert facts.processor_differences(item) == ()
    assert host.same_machine(item, item)
    native = facts.probe_host("native", torch(machine=arch)).host
    if native.emulated_on is None:
        assert not host.same_machine(native, item)
        assert f"emulated_on: None -> {beneath}" in host.differences(native, item)


@pytest.mark.parametrize("python", ["AMD64", "i686", "x86_64", None])
def test_one_family_is_not_emulated(machine, python: str | None) -> None:
    """A 32-bit interpreter runs on its own processor, and so does one that nobody asked."""
    machine()
    assert facts.probe_host("epyc", torch(machine=python)).host.emulated_on is None


def test_another_machine_beneath_is_told_apart(machine) -> None:
    """Emulated twice, on two machines: two hosts."""
    machine()
    answers = torch(machine="arm64")
    known = facts.probe_host("arm-emulated", answers).host
    machine(texts.SAPPHIRE_RAPIDS)
    assert not host.same_machine(known, facts.probe_host("arm-emulated", answers).host)
    assert facts.processor_differences(known)[0].startswith("emulated_on: AMD EPYC, x86_64 -> Intel")


def test_hosts_written_before_stay_the_machines_they_were() -> None:
    """A host that is not emulated has the fingerprint and the file that it always had."""
    item = facts.probe_host("here", torch()).host
    assert "emulated_on" not in plain_data.encode(item)
    assert host.fingerprint(item) == host.fingerprint(dataclasses.replace(item, emulated_on=None))


def test_what_pjrt_drives_is_recorded(machine, monkeypatch) -> None:
    """Where torch_xla works: its version, device and number of devices, and the variables that decide them."""
    machine()
    for name, value in (("CPU_NUM_DEVICES", "4"), ("PJRT_DEVICE", "CPU"), ("XLA_FLAGS", ""), ("TPU_WORKER_ID", "3")):
        monkeypatch.setenv(name, value)
    item = facts.probe_host("here", torch()).host
    answers = torch(xla={"torch_xla": "2.9.0", "device": "CPU", "devices": "4"})
    assert facts.environment(item, answers, ()).xla == {**answers.xla, "CPU_NUM_DEVICES": "4", "PJRT_DEVICE": "CPU"}
    assert facts.environment(item, torch(), ()).xla == {}
