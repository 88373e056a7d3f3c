"""What NVIDIA GPUs are doing beside a timing snippet: clocks, what slows them down, other processes on them.

It is read before and after an execution, never meanwhile, since reading takes the driver's time; what the hardware
did meanwhile the driver's own counters tell, where it has them. Of other processes only the number is kept.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from capture.errors import plural
from capture.host.probe.accelerators import UNKNOWN_FIELD, WSL_SMI, run_tool

DEVICES = ("/dev/nvidiactl", "/dev/dxg")  # the second is WSL's; without either nvidia-smi is not started
USED_LIMIT = 10  # percent that a GPU may be used before anything of ours runs on it
IDLE = 0x1
SLOWED = 0x40 | 0x80  # by the hardware itself, to half the clock or less
REASONS = {
    0x2: "application clocks", 0x4: "power cap", 0x8: "hardware slowdown", 0x10: "sync boost",
    0x20: "software thermal slowdown", 0x40: "hardware thermal slowdown", 0x80: "power brake",
    0x100: "display clocks",
}  # fmt: skip
BASE = ("clocks.current.sm", "clocks.max.sm", "utilization.gpu")
COUNTERS = tuple(f"clocks_event_reasons_counters.{name}_slowdown" for name in ("hw_thermal", "hw_power_brake"))
QUERIES = (  # what newer, older and old drivers know
    (*BASE, "clocks_event_reasons.active", *COUNTERS),
    (*BASE, "clocks_event_reasons.active"),
    (*BASE, "clocks_throttle_reasons.active"),
)


@dataclass(frozen=True)
class Gpu:
    """One GPU at one moment: clocks in MHz, percent in use, reasons as bits, microseconds slowed down so far."""

    clock: int | None
    highest: int | None
    used: int | None
    reasons: int
    slowed: int | None


@dataclass(frozen=True)
class GpuReading:
    """The GPUs and how many processes compute on them; None where that is not told."""

    gpus: tuple[Gpu, ...]
    processes: int | None


def parse_gpus(text: str) -> tuple[Gpu, ...]:
    """Read one of `QUERIES` with `--format=csv,noheader`; a cell such as `[N/A]` is None."""
    found = []
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.split(",")]
        if len(cells) not in map(len, QUERIES) or not re.fullmatch(r"[0-9]+ MHz|\[[\w /]+\]|N/A", cells[0]):
            continue
        clock, highest, used, _, *counters = (number(cell) for cell in cells)
        known = [counter for counter in counters if counter is not None]
        bits = int(cells[3], 16) if re.fullmatch(r"0x[0-9a-fA-F]{1,16}", cells[3]) else 0
        found.append(Gpu(clock, highest, used, bits, sum(known) if known else None))
    return tuple(found)


def number(cell: str) -> int | None:
    """Return the number in `1980 MHz`, `0 %` or `12 us`, or None."""
    found = re.fullmatch(r"([0-9]{1,18}) (?:MHz|%|us)", cell)
    return int(found[1]) if found else None


def parse_processes(text: str) -> int:
    """Count `--query-compute-apps=pid --format=csv,noheader`."""
    return len({line.strip() for line in text.splitlines() if line.strip().isdigit()})


def selection(visible: str | None) -> tuple[str, ...] | None:
    """Return the arguments that choose what CUDA_VISIBLE_DEVICES leaves visible, or None where that is nothing.

    A neighbour on another GPU of the node is no noise. CUDA ignores what follows an invalid entry.
    """
    if visible is None:
        return ()
    names = []
    for name in visible.split(","):
        if not re.fullmatch(r"[0-9]{1,3}|GPU-[0-9a-fA-F-]{4,40}|MIG-[\w/-]{4,80}", name.strip()):
            break
        names.append(name.strip())
    if any(name.startswith("MIG-") for name in names):
        return ()  # nvidia-smi cannot choose a slice
    return ("-i", ",".join(names)) if names else None


def settled_noise(reading: GpuReading) -> str:
    """Say why GPUs on which nothing of ours runs are not quiet, or nothing."""
    noise = [_crowd(reading.processes), slowdown(reading.gpus, reading.gpus)]
    used = most(gpu.used for gpu in reading.gpus)
    if not reading.processes and used is not None and used > USED_LIMIT:  # whose process a container does not show
        noise.append(f"the GPU is {used}% in use (limit {USED_LIMIT}%)")
    return " and ".join(filter(None, noise))


def _crowd(processes: int | None) -> str:
    """Say how many other processes compute on the GPU, where there are any."""
    return f"{plural(processes, 'other process', 'other processes')} on the GPU (limit 0)" if processes else ""


def slowdown(before: Sequence[Gpu], after: Sequence[Gpu]) -> str:
    """Say that the hardware slowed a GPU down between two readings, or nothing; counters tell more than one look."""
    for earlier, later in zip(before, after, strict=False):
        counted = None if earlier.slowed is None or later.slowed is None else later.slowed - earlier.slowed
        bits = later.reasons if counted is not None else earlier.reasons | later.reasons
        if bits & SLOWED or (counted or 0) > 0:
            return f"the GPU slowed itself down ({_in_words(bits & SLOWED) or 'heat or power'})"
    return ""


def describe(reading: GpuReading, used_before: int | None) -> str:
    """Return what a record keeps, in one line: clocks right after, what limits them, how busy it was before."""
    clocks = [gpu.clock for gpu in reading.gpus if gpu.clock is not None]
    highest = most(gpu.highest for gpu in reading.gpus)
    count = len(reading.gpus)
    parts = ["GPU" if count == 1 else f"{count} GPUs"]
    if clocks:
        span = f"{min(clocks)}" if min(clocks) == max(clocks) else f"{min(clocks)} to {max(clocks)}"
        parts[0] += f" at {span}{f' of {highest}' if highest else ''} MHz"
    bits = 0
    for gpu in reading.gpus:
        bits |= gpu.reasons
    if words := _in_words(bits):
        parts.append(f"limited by {words}")
    if used_before is not None:
        parts.append(f"{used_before}% in use before")
    if reading.processes is not None:
        parts.append(plural(reading.processes, "other process", "other processes"))
    return ", ".join(parts)


def _in_words(bits: int) -> str:
    """Return the names of reasons that limit a clock; being idle is none."""
    names = [name for bit, name in REASONS.items() if bits & bit]
    return " and ".join(names + ["another reason"] * bool(bits & ~IDLE & ~sum(REASONS)))


def most(numbers: Iterable[int | None]) -> int | None:
    """Return the largest of the numbers that are known."""
    return max((one for one in numbers if one is not None), default=None)


class Gpus:
    """The GPUs that a snippet may use. Nothing is started where there are none, nor again once it has failed."""

    def __init__(self, usable: bool) -> None:
        self.asked = usable and (sys.platform == "win32" or any(map(os.path.exists, DEVICES)))
        self.chosen = selection(os.environ.get("CUDA_VISIBLE_DEVICES")) if self.asked else None
        self.sliced = "MIG-" in os.environ.get("CUDA_VISIBLE_DEVICES", "")
        self.queries = list(QUERIES)
        self.used: int | None = None

    def read_counters(self) -> GpuReading | None:
        """Return what the GPUs are doing, or None where nobody tells."""
        while self.asked and self.chosen is not None and self.queries:
            text, problem = _smi(f"--query-gpu={','.join(self.queries[0])}", *self.chosen)
            gpus = () if problem else parse_gpus(text)
            if gpus:
                return GpuReading(gpus, self.processes())
            if "not a valid field" not in text and problem != UNKNOWN_FIELD:
                break
            self.queries.pop(0)
        self.asked = False
        return None

    def processes(self) -> int | None:
        """Return how many processes compute on the GPUs.

        Not where the list holds others' that do no harm: the desktop's, as on Windows, or those of other slices.
        """
        if sys.platform == "win32" or self.sliced:
            return None
        text, problem = _smi("--query-compute-apps=pid", *(self.chosen or ()))
        return None if problem else parse_processes(text)

    def noise(self) -> str:
        """Say why the GPUs are not quiet while nothing of ours runs, or nothing."""
        reading = self.read_counters()
        if reading is None:
            return ""
        self.used = most(gpu.used for gpu in reading.gpus)
        return settled_noise(reading)

    def since(self, before: GpuReading | None) -> tuple[str | None, str]:
        """Return what a record keeps of an execution that has just ended, and why it was disturbed, or nothing."""
        after = self.read_counters() if before else None
        if before is None or after is None:
            return None, ""
        processes = most((before.processes, after.processes))
        noise = " and ".join(filter(None, (_crowd(processes), slowdown(before.gpus, after.gpus))))
        return describe(GpuReading(after.gpus, processes), self.used), noise


def _smi(*arguments: str) -> tuple[str, str | None]:
    """Return what nvidia-smi prints as a table, and why it does not; both empty where there is none."""
    return run_tool("nvidia-smi", (*arguments, "--format=csv,noheader"), instead=WSL_SMI)
