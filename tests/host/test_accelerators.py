"""Accelerators: torch's view first, tools that may hang or fail, and nothing that identifies one device."""

from __future__ import annotations

import time

import psutil
import pytest
from harness import hardware_texts as texts
from harness.executions import case
from harness.project import until
from hypothesis import given, settings
from hypothesis import strategies as st

from capture.host.host import Accelerator
from capture.host.probe import accelerators
from capture.host.probe.cpu_names import short_gpu

H200 = Accelerator("cuda", "NVIDIA H200", 143771, "9.0", 1)
NO_GATES = dict.fromkeys(("cuda", "rocm", "mps", "xpu", "xla"), False)


@pytest.fixture
def tool(tmp_path, monkeypatch):
    """Return a function that puts a shell script of a given name first, and alone but for sh's tools, on PATH."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    monkeypatch.setattr(accelerators, "WSL_SMI", str(tmp_path / "absent"))

    def write(name: str, script: str) -> None:
        path = folder / name
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)

    return write


def test_nvidia_smi_lists_equal_gpus_once():
    """Equal devices are counted, others follow in order, and the driver is read."""
    found, driver, why = accelerators.parse_nvidia_smi(texts.NVIDIA_MIXED)
    assert [(one.name, one.count, one.capability) for one in found] == [
        ("NVIDIA A100-SXM4-80GB", 2, "8.0"),
        ("NVIDIA L4", 1, "8.9"),
    ]
    assert (driver, why) == ("535.161.08", None)
    assert accelerators.parse_nvidia_smi(texts.NVIDIA_H200) == ((H200,), "570.86.15", None)


@pytest.mark.parametrize("text", [texts.NVIDIA_MIG, texts.NVIDIA_WSL])
def test_what_a_slice_or_wsl_does_not_tell_is_null(text):
    """`[N/A]` and `[Insufficient Permissions]` give a null memory with its reason."""
    found, _, _ = accelerators.parse_nvidia_smi(text)
    assert found[0].memory_mib is None
    assert "accelerators[0].memory_mib" in accelerators.memory_reasons(found)


def test_a_driver_that_does_not_know_compute_capability():
    """Three columns, as before driver 510, are read with a null capability."""
    found, driver, _ = accelerators.parse_nvidia_smi(texts.NVIDIA_OLD_DRIVER)
    assert (found[0].name, found[0].capability, driver) == ("Tesla T4", None, "470.182.03")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("No devices were found\n", "no devices were found"),
        ("Failed to initialize NVML: Driver/library version mismatch\nNVML library version: 550.54\n",
         "driver/library version mismatch"),
        ("NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.\n",
         "it cannot communicate with the NVIDIA driver"),
        ("NVIDIA-SMI couldn't find libnvidia-ml.so library in your system.", "its library libnvidia-ml is missing"),
        ("Unable to determine the device handle for GPU 0000:C1:00.0: Unknown Error", "a GPU does not answer"),
        ("", "it printed nothing"),
        (texts.BINARY, "it printed nothing that can be read"),
    ],
)  # fmt: skip
def test_each_failure_of_nvidia_smi_is_named_in_our_words(text, why):
    """Known messages are recognised; a bus address in one of them is not repeated."""
    assert accelerators.parse_nvidia_smi(text) == ((), None, why)


def test_rocm_smi_is_read():
    """Name, memory, architecture and driver come from its JSON, also behind warnings; the SKU does not."""
    found, driver, why = accelerators.parse_rocm_smi(
        "WARNING: AMD GPU device(s) is/are in a low-power state\n" + texts.ROCM
    )
    assert found == (Accelerator("rocm", "AMD Instinct MI210", 65520, "gfx90a", 2),)
    assert (driver, why) == ("6.7.0", None)
    assert accelerators.parse_rocm_smi("") == ((), None, "it printed nothing")
    assert accelerators.parse_rocm_smi('{"card0": 3, "system": []}')[2] == "no devices were found"
    assert accelerators.parse_rocm_smi("[" * 100000)[0] == ()
    assert accelerators.parse_rocm_smi('{"a":' * 100000)[0] == ()


@settings(max_examples=100, deadline=None)
@given(st.text())
def test_any_output_is_read(text):
    """No output of a tool makes a parser fail."""
    accelerators.parse_nvidia_smi(text)
    accelerators.parse_nvidia_smi(f"{text}, {text}, {text}, {text}")
    accelerators.parse_rocm_smi(text)
    accelerators.parse_rocm_smi('{"card0": {"GFX Version": "' + text)
    accelerators.parse_nvidia_version(text)


def test_driver_versions_of_both_kernel_modules():
    """The closed and the open kernel module word their line differently."""
    assert accelerators.parse_nvidia_version(texts.NVIDIA_VERSION) == "535.104.05"
    assert accelerators.parse_nvidia_version(texts.NVIDIA_VERSION_OPEN) == "570.86.15"
    assert accelerators.parse_nvidia_version("") is None


def has_ended(process: int) -> bool:
    """Tell whether a process has ended, also where nobody has asked for its exit code yet."""
    try:
        return psutil.Process(process).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


@case("host-smi-hang")
def test_a_tool_that_hangs_is_killed_with_its_children(case, tool, tmp_path, monkeypatch):
    """nvidia-smi that sleeps costs its time limit only, its child is ended, and the reason says so."""
    monkeypatch.setattr(accelerators, "TOOL_TIMEOUT", 0.5)
    tool("nvidia-smi", f"sleep 600 & echo $! > {tmp_path}/child; sleep 600\necho never")
    start = time.monotonic()
    found = accelerators.read_accelerators((), NO_GATES)
    assert time.monotonic() - start < 2.5
    assert found.accelerators == ()
    assert found.reasons == {"accelerators": "nvidia-smi: timed out after 0.5 s"}
    child = int((tmp_path / "child").read_text())
    until(lambda: has_ended(child), "its child has ended")


def test_the_time_limit_is_five_seconds():
    """The limit that the bank's case names."""
    assert accelerators.TOOL_TIMEOUT == 5.0


def test_a_tool_that_prints_without_end_is_stopped(tool):
    """Endless output is cut off instead of filling the disk."""
    tool("nvidia-smi", "yes")
    assert accelerators.nvidia_smi() == ((), None, "printed without end")


def test_a_tool_that_cannot_be_executed_is_a_reason(tool, tmp_path):
    """A broken file of that name is no error of ours."""
    tool("nvidia-smi", "")
    (tmp_path / "bin" / "nvidia-smi").write_bytes(b"\x7fELF broken")
    assert "cannot be executed" in (accelerators.nvidia_smi()[2] or "")


def test_an_old_nvidia_smi_is_asked_again_without_the_field_it_does_not_know(tool):
    """The first question fails on compute_cap; the second leaves it out."""
    tool(
        "nvidia-smi",
        'case "$1" in *compute_cap*) echo \'Field "compute_cap" is not a valid field to query.\'; exit 2;; esac\n'
        f"echo '{texts.NVIDIA_OLD_DRIVER.strip()}'",
    )
    assert accelerators.nvidia_smi()[:2] == ((Accelerator("cuda", "Tesla T4", 15109, None, 1),), "470.182.03")


def test_only_harmless_fields_are_asked(tool, tmp_path):
    """The question holds neither UUID nor serial number nor bus address."""
    tool("nvidia-smi", f'echo "$@" > {tmp_path}/asked; echo "{texts.NVIDIA_H200.strip()}"')
    accelerators.nvidia_smi()
    asked = (tmp_path / "asked").read_text()
    assert asked.strip() == "--query-gpu=name,driver_version,memory.total,compute_cap --format=csv,noheader"


@case("host-mig")
def test_what_torch_sees_wins(case):
    """A MIG slice keeps the name and the memory that torch gives, and no tool is asked."""
    slice_ = Accelerator("cuda", "NVIDIA H200 MIG 1g.18gb", 16384, "9.0", 1)
    found = accelerators.read_accelerators((slice_,), {**NO_GATES, "cuda": True})
    assert found.accelerators == (slice_,)
    assert found.reasons == {}


def test_a_gpu_that_torch_cannot_use_is_a_reason_and_no_accelerator(tool):
    """Beside a CPU build, nvidia-smi's list is explained, not recorded as what results were computed on."""
    tool("nvidia-smi", f"echo '{texts.NVIDIA_H200.strip()}'")
    found = accelerators.read_accelerators((), NO_GATES)
    assert found.accelerators == ()
    assert found.reasons == {"accelerators": "nvidia-smi lists 1 x NVIDIA H200, which this torch cannot use"}


def test_the_tool_stands_in_where_torch_could_not_name_its_device(tool):
    """The gate holds, the properties failed: nvidia-smi names the device."""
    tool("nvidia-smi", f"echo '{texts.NVIDIA_H200.strip()}'")
    found = accelerators.read_accelerators((), {**NO_GATES, "cuda": True})
    assert found.accelerators == (H200,)
    assert found.sources == {"accelerators": "nvidia-smi"}


def test_the_driver_comes_from_the_kernel_before_the_tool(tool, tmp_path, monkeypatch):
    """/proc cannot hang; without it nvidia-smi answers; without both there is a reason; without GPU nothing."""
    version = tmp_path / "version"
    monkeypatch.setattr(accelerators, "NVIDIA_VERSION", version)
    assert accelerators.read_driver(()) == (None, None)
    assert accelerators.read_driver((H200,)) == (None, "nvidia-smi is not on PATH")
    tool("nvidia-smi", f"echo '{texts.NVIDIA_H200.strip()}'")
    assert accelerators.read_driver((H200,)) == ("570.86.15", None)
    version.write_text(texts.NVIDIA_VERSION)
    assert accelerators.read_driver((H200,)) == ("535.104.05", None)


def test_unified_memory_is_no_failure():
    """An Apple GPU has no memory of its own, and says so as not applicable."""
    reasons = accelerators.memory_reasons((Accelerator("mps", "Apple M3 GPU", None, None, 1),))
    assert all(why.startswith("not applicable") for why in reasons.values())
    assert len(reasons) == 2


@pytest.mark.parametrize(
    ("name", "short"),
    [
        ("NVIDIA H200", "H200"),
        ("NVIDIA GeForce RTX 4090", "RTX 4090"),
        ("Tesla T4", "Tesla T4"),
        ("AMD Instinct MI300X", "MI300X"),
        ("NVIDIA H200 MIG 1g.18gb", "H200 MIG 1g.18gb"),
        ("Intel(R) Data Center GPU Max 1550", "Data Center GPU Max 1550"),
        ("NVIDIA", "NVIDIA"),
    ],
)
def test_short_names_of_gpus(name, short):
    """The maker is left out of a title."""
    assert short_gpu(name) == short


def test_warnings_are_no_answer(tool):
    """Tools warn on standard error, in words that read like a table or open a brace; the list is what it was."""
    warning = "printf '%s\\n' 'Tesla T4, 470.182.03, 15109 MiB' '{\"card7\": {}}' 'WARNING: {power} is low' >&2"
    tool("nvidia-smi", f"{warning}; echo '{texts.NVIDIA_H200.strip()}'; {warning}; exit 14")
    assert accelerators.nvidia_smi() == ((H200,), "570.86.15", None)
    tool("rocm-smi", f"{warning}; echo '{texts.ROCM}'; {warning}")
    found, driver, why = accelerators.rocm_smi()
    assert ([(one.name, one.count) for one in found], driver, why) == ([("AMD Instinct MI210", 2)], "6.7.0", None)


@pytest.mark.parametrize("banner", [texts.NVIDIA_INFOROM, texts.NVIDIA_BANNER])
def test_banners_are_no_devices(banner):
    """Lines of a login or of a wrapper around a list are skipped, also where commas part them."""
    text = f"{banner}{texts.NVIDIA_H200}{banner}"
    assert accelerators.parse_nvidia_smi(text) == ((H200,), "570.86.15", None)
    around = accelerators.parse_rocm_smi(f"{{note}} {banner}{texts.ROCM}{banner} {{}}")
    assert around == accelerators.parse_rocm_smi(texts.ROCM)


def test_half_answers():
    """What a tool cannot tell of one device is null; a device that is lost is none, and the others stay."""
    found, driver, why = accelerators.parse_nvidia_smi(texts.NVIDIA_HALF)
    assert found == (
        Accelerator("cuda", "NVIDIA L4", 23034, "8.9", 1),
        Accelerator("cuda", "NVIDIA L4", None, None, 1),
    )
    assert (driver, why) == ("550.54.15", None)
    found, driver, why = accelerators.parse_rocm_smi(texts.ROCM_HALF)
    assert (found, driver, why) == ((Accelerator("rocm", "0x74a1", None, "gfx942", 1),), None, None)


@pytest.mark.parametrize("stream", ["", " >&2"])
def test_failures_are_told_from_either_stream(tool, stream):
    """A tool that lists nothing and fails gives its reason, wherever it prints it, and no device."""
    for text, why in (
        (texts.NVIDIA_MISMATCH, "driver/library version mismatch"),
        ("Failed to initialize NVML: Unknown Error\n", "it cannot initialize the driver's library NVML"),
    ):
        tool("nvidia-smi", f"echo '{text.strip()}'{stream}; exit 18")
        assert accelerators.nvidia_smi() == ((), None, why)


def test_unknown_field_on_standard_error(tool):
    """It is asked again without the field, as where the answer stands in the list."""
    refusal = 'case "$1" in *compute_cap*) echo "compute_cap is not a valid field to query." >&2; exit 2;; esac'
    tool("nvidia-smi", f"{refusal}\necho '{texts.NVIDIA_OLD_DRIVER.strip()}'")
    assert accelerators.nvidia_smi()[:2] == ((Accelerator("cuda", "Tesla T4", 15109, None, 1),), "470.182.03")


def test_long_answers_are_cut(tool):
    """A driver or a name of some megabytes, as a broken tool gives it, is not kept."""
    tool("nvidia-smi", f"echo 'NVIDIA {'X' * 5000}, {'1.2' * 90000}, 15109 MiB, 7.5'; echo '{'Y' * 9000}, 1.2, 8 MiB'")
    found, driver, _ = accelerators.nvidia_smi()
    assert ([len(one.name) for one in found], driver) == ([100], "1.2")
