"""What an NVIDIA GPU does beside a timing snippet, as nvidia-smi prints it."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

import pytest

from capture.host.probe import gpu_conditions
from capture.host.probe.gpu_conditions import Gpu, GpuReading, Gpus

# nvidia-smi 550 and later; 535; a slice of an A100.
H200 = "1980 MHz, 1980 MHz, 0 %, 0x0000000000000004, 12 us, 0 us\n"
L4 = "210 MHz, 2040 MHz, 37 %, 0x0000000000000001\n"
SLICE = "[N/A], [N/A], [N/A], [N/A], [N/A], [N/A]\n"


def test_gpus_are_read() -> None:
    """Clocks, use, reasons and counters, whatever of these a driver knows."""
    assert gpu_conditions.parse_gpus(H200) == (Gpu(1980, 1980, 0, 4, 12),)
    assert gpu_conditions.parse_gpus(f"{L4}{L4}") == (Gpu(210, 2040, 37, 1, None),) * 2
    assert gpu_conditions.parse_gpus(SLICE) == (Gpu(None, None, None, 0, None),)
    for text in ("", "No devices were found\n", 'Field "clocks.max.sm" is not a valid field to query.\n', "a, b, c, d"):
        assert gpu_conditions.parse_gpus(text) == ()


@pytest.mark.parametrize(("text", "count"), [("", 0), ("\n\n", 0), ("1234\n987\n1234\n", 2), ("[N/A]\n", 0)])
def test_processes_are_counted(text: str, count: int) -> None:
    """A process on two GPUs is one."""
    assert gpu_conditions.parse_processes(text) == count


@pytest.mark.parametrize(
    ("visible", "arguments"),
    [
        (None, ()), ("3", ("-i", "3")), ("0, 2", ("-i", "0,2")), ("GPU-8932f937-d72c", ("-i", "GPU-8932f937-d72c")),
        ("1,-1,2", ("-i", "1")), ("", None), ("-1", None), ("--help", None), ("MIG-41a7d2c5", ()),
    ],
)  # fmt: skip
def test_only_visible_gpus_are_asked(visible: str | None, arguments: tuple[str, ...] | None) -> None:
    """CUDA_VISIBLE_DEVICES chooses, as CUDA reads it; a neighbour on another GPU is no noise."""
    assert gpu_conditions.selection(visible) == arguments


@pytest.mark.parametrize(
    ("later", "words"),
    [
        (H200, ""), (H200.replace("12 us", "90 us"), "heat or power"), (H200.replace("04,", "44,"), "hardware thermal"),
        (H200.replace("0 us", "5 us"), "heat or power"), (H200.replace("04,", "84,"), "power brake"),
        (H200.replace("04,", "24,"), ""), (L4, ""), (L4.replace("01", "41"), "hardware thermal slowdown"),
    ],
)  # fmt: skip
def test_gpu_that_slowed_itself_down(later: str, words: str) -> None:
    """What the hardware did against heat or power is noise; a power cap or a warm GPU in its usual state is none."""
    noise = gpu_conditions.slowdown(gpu_conditions.parse_gpus(H200), gpu_conditions.parse_gpus(later))
    assert words in noise and bool(words) == bool(noise)


def test_gpu_before_a_run() -> None:
    """Other processes are noise, and so is use by one that a container hides."""
    quiet, used = gpu_conditions.parse_gpus(H200), gpu_conditions.parse_gpus(L4)
    assert gpu_conditions.settled_noise(GpuReading(quiet, 0)) == ""
    assert gpu_conditions.settled_noise(GpuReading(quiet, 2)) == "2 other processes on the GPU (limit 0)"
    assert "37% in use (limit 10%)" in gpu_conditions.settled_noise(GpuReading(used, 0))
    assert gpu_conditions.settled_noise(GpuReading(gpu_conditions.parse_gpus(SLICE), None)) == ""


def test_gpus_in_words() -> None:
    """One line, without what is unknown."""
    one, two = gpu_conditions.parse_gpus(H200), gpu_conditions.parse_gpus(L4 + L4.replace("210", "2025"))
    words = "GPU at 1980 of 1980 MHz, limited by power cap, 0% in use before, 0 other processes"
    assert gpu_conditions.describe(GpuReading(one, 0), 0) == words
    assert gpu_conditions.describe(GpuReading(two, 1), None) == "2 GPUs at 210 to 2025 of 2040 MHz, 1 other process"
    assert gpu_conditions.describe(GpuReading(gpu_conditions.parse_gpus(SLICE), None), None) == "GPU"


def answering(monkeypatch: pytest.MonkeyPatch, answers: Sequence[tuple[str, str | None]]) -> list[str]:
    """Let a GPU be there and nvidia-smi answer so; return what it is asked."""
    monkeypatch.setattr(gpu_conditions, "DEVICES", (os.devnull,))
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    asked: list[str] = []
    left = iter(answers)

    def run_tool(name: str, arguments: Sequence[str], instead: str) -> tuple[str, str | None]:
        asked.append(arguments[0])
        return next(left)

    monkeypatch.setattr(gpu_conditions, "run_tool", run_tool)
    return asked


def test_old_driver_is_asked_for_less(monkeypatch: pytest.MonkeyPatch) -> None:
    """A field that it does not know is asked for once."""
    unknown = ('Field "clocks_event_reasons.active" is not a valid field to query.\n', None)
    asked = answering(monkeypatch, [unknown, unknown, (L4, None), ("", None), (L4, None), ("77\n", None)])
    gpus = Gpus(True)
    before = gpus.read_counters()
    text, noise = gpus.since(before)
    assert before == GpuReading((Gpu(210, 2040, 37, 1, None),), 0)
    assert (text, noise) == ("GPU at 210 of 2040 MHz, 1 other process", "1 other process on the GPU (limit 0)")
    assert [line.endswith("clocks_throttle_reasons.active") for line in asked] == [
        False,
        False,
        True,
        False,
        True,
        False,
    ]


def test_nothing_is_started_in_vain(monkeypatch: pytest.MonkeyPatch) -> None:
    """No nvidia-smi without a GPU that torch uses, nor again once it has failed; nothing is noise then."""
    asked = answering(monkeypatch, [("", "timed out after 5 s")])
    for usable in (False, True):
        gpus = Gpus(usable)
        assert [gpus.noise(), gpus.read_counters(), gpus.since(None)] == ["", None, (None, "")]
        assert len(asked) == usable
    if sys.platform != "win32":
        monkeypatch.setattr(gpu_conditions, "DEVICES", ("/nonexistent",))
        assert Gpus(True).read_counters() is None
        assert len(asked) == 1
