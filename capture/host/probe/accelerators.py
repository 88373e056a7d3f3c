"""Accelerators: what torch can compute on, and the vendors' tools for what it does not tell.

A GPU that this torch cannot use (a CPU build, a driver too old) is no accelerator of the host, or a claim
about it would be judged on results of the CPU; the reason for having none names it. What torch sees also is
the truth about a MIG slice, which nvidia-smi shows as the whole GPU. A tool is given five seconds and is
killed with its process group: it hangs where a driver is wedged. UUID, serial and bus address are never asked.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from capture.host import child_environment
from capture.host.host import Accelerator
from capture.host.probe.command import bounded
from capture.host.probe.cpu_fields import NOT_APPLICABLE, clean

TOOL_TIMEOUT = 5.0  # seconds
SMI_FIELDS = ("name", "driver_version", "memory.total", "compute_cap")
NVIDIA_VERSION = Path("/proc/driver/nvidia/version")
AMD_VERSION = Path("/sys/module/amdgpu/version")
UNTOLD = "neither torch nor the vendor's tool tells"
WSL_SMI = "/usr/lib/wsl/lib/nvidia-smi"
UNKNOWN_FIELD = "it does not know a field that was asked for"
_BRACES = 50  # places where a table may begin that are tried
_NOT_TOLD = re.compile(r"\[.*\]|N/A|Not (Supported|Available)|ERR!|Unknown Error|None", re.IGNORECASE)
_TABLE_LINE = re.compile(r"(?:[0-9]{1,4}(?:\.[0-9]{1,4}){1,5}|\[[^,]*\]|N/A),(?:[0-9]{1,9} MiB|\[[^,]*\]|N/A)")
ROCM_QUERY = ("--showproductname", "--showmeminfo", "vram", "--showdriverversion", "--json")


@dataclass(frozen=True)
class AcceleratorReading:
    """Accelerators, why a null is null or there are none, and where each comes from.

    Keys are dotted fields: `accelerators`, `accelerators[0].memory_mib`.
    """

    accelerators: tuple[Accelerator, ...]
    reasons: Mapping[str, str]
    sources: Mapping[str, str]


def parse_nvidia_smi(text: str) -> tuple[tuple[Accelerator, ...], str | None, str | None]:
    """Read `--query-gpu=name,driver_version,memory.total,compute_cap --format=csv,noheader`.

    Returns equal devices counted, the driver version, and why there are none. `compute_cap` may be missing:
    drivers before 510 do not know it. `[N/A]` and the like, as on a MIG slice, are null; other lines are banners.
    """
    devices: list[Accelerator] = []
    driver = None
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.split(",")]
        if len(cells) not in (3, 4) or not _TABLE_LINE.fullmatch(f"{cells[1]},{cells[2]}"):
            continue
        name = told(cells[0])
        if name is None:
            continue
        driver = told(cells[1]) or driver
        memory = re.fullmatch(r"([0-9]{1,9}) MiB", cells[2])
        capability = cells[3] if len(cells) > 3 and re.fullmatch(r"[0-9]{1,2}\.[0-9]", cells[3]) else None
        devices.append(Accelerator("cuda", name, int(memory[1]) if memory else None, capability, 1))
    return _grouped(devices), driver, None if devices else _smi_problem(text)


def _smi_problem(text: str) -> str:
    """Return in a few words of ours why nvidia-smi listed nothing."""
    lower = text.lower()
    for sign, words in (
        ("no devices were found", "no devices were found"),
        ("no device was found", "no devices were found"),
        ("version mismatch", "driver/library version mismatch"),
        ("couldn't communicate with the nvidia driver", "it cannot communicate with the NVIDIA driver"),
        ("failed to initialize nvml", "it cannot initialize the driver's library NVML"),
        ("not a valid field", UNKNOWN_FIELD),
        ("insufficient permissions", "insufficient permissions"),
        ("no permission", "insufficient permissions"),
        ("unable to determine the device handle", "a GPU does not answer"),
        ("libnvidia-ml", "its library libnvidia-ml is missing"),
    ):
        if sign in lower:
            return words
    return "it printed nothing" if not text.strip() else "it printed nothing that can be read"


def parse_rocm_smi(text: str) -> tuple[tuple[Accelerator, ...], str | None, str | None]:
    """Read `rocm-smi` with `ROCM_QUERY`; returns what parse_nvidia_smi returns."""
    data = _json_table(text)
    if data is None:
        return (), None, "it printed nothing that can be read" if text.strip() else "it printed nothing"
    devices = []
    for key, card in data.items():
        if not re.fullmatch(r"card\d+", str(key)) or not isinstance(card, dict):
            continue
        facts = {str(name).lower(): str(value) for name, value in card.items()}
        gfx = facts.get("gfx version", "")
        total = re.fullmatch(r"[0-9]{1,15}", facts.get("vram total memory (b)", ""))
        memory = int(total[0]) >> 20 if total else None
        name = told(facts.get("card series")) or told(facts.get("card model")) or "AMD GPU"
        capability = gfx if re.fullmatch(r"gfx[0-9a-f]+", gfx) else None
        devices.append(Accelerator("rocm", name, memory, capability, 1))
    system = data.get("system")
    driver = told(str(system.get("Driver version", ""))) if isinstance(system, dict) else None
    return _grouped(devices), driver, None if devices else "no devices were found"


def _json_table(text: str) -> dict[str, object] | None:
    """Return the JSON object that a tool printed, whatever banners stand before and behind it, or None.

    One that lists a card counts before any other; braces of banners are tried in vain.
    """
    found: list[dict[str, object]] = []
    reader, start = json.JSONDecoder(), text.find("{")
    for _ in range(_BRACES):
        if start < 0:
            break
        end = start + 1
        with contextlib.suppress(ValueError, RecursionError):
            data, end = reader.raw_decode(text, start)
            found.append(data)
        start = text.find("{", end)
    return next((data for data in found if any(name.startswith("card") for name in data)), found[0] if found else None)


def told(text: str | None) -> str | None:
    """Return what a tool says in one cell, as `clean` does; `[N/A]`, `[Unknown Error]` and their like are null."""
    return None if _NOT_TOLD.fullmatch((text or "").strip()) else clean(text)


def _grouped(devices: Sequence[Accelerator]) -> tuple[Accelerator, ...]:
    """Return equal devices once, with their count, in the order of the first of each."""
    return tuple(replace(one, count=devices.count(one)) for one in dict.fromkeys(devices))


def read_accelerators(seen: tuple[Accelerator, ...], gates: Mapping[str, bool]) -> AcceleratorReading:
    """Return what torch has `seen`; the tools speak where a gate holds and torch could not name its devices.

    Where torch sees nothing, the reason names what a tool lists or why it failed. Never raises.
    """
    if seen:
        return AcceleratorReading(seen, memory_reasons(seen), {"accelerators": "torch"})
    problems = []
    for tool, ask in (("nvidia-smi", nvidia_smi), ("rocm-smi", rocm_smi)):
        listed, _, problem = ask()
        if listed and gates.get(listed[0].kind):
            return AcceleratorReading(listed, memory_reasons(listed), {"accelerators": tool})
        if listed:
            problems.append(f"{tool} lists {_in_words(listed)}, which this torch cannot use")
        elif problem:
            problems.append(f"{tool}: {problem}")
    reasons = {"accelerators": "; ".join(problems)} if problems else {}
    return AcceleratorReading((), reasons, {"accelerators": "torch"})


def read_driver(accelerators: tuple[Accelerator, ...]) -> tuple[str | None, str | None]:
    """Return the version of the driver behind the accelerators, and why there is none; null without any."""
    kinds = {one.kind for one in accelerators}
    if "cuda" in kinds:
        version = parse_nvidia_version(text_of(NVIDIA_VERSION))
        if version is not None:  # the kernel's own file cannot hang
            return version, None
        _, version, problem = nvidia_smi()
        return version, None if version else problem or "nvidia-smi is not on PATH"
    if "rocm" in kinds:
        version = clean(text_of(AMD_VERSION))
        return version, None if version else f"{NOT_APPLICABLE}: amdgpu is the kernel's own"
    return None, None


def parse_nvidia_version(text: str) -> str | None:
    """Return the driver version in /proc/driver/nvidia/version, or None."""
    match = re.search(r"Kernel Module\b.*?\s([0-9]{3,4}(?:\.[0-9]{1,4})+)(?:\s|$)", text)
    return match[1] if match else None


def nvidia_smi() -> tuple[tuple[Accelerator, ...], str | None, str | None]:
    """Return devices, driver version and what went wrong; all empty where there is no nvidia-smi."""
    for fields in (SMI_FIELDS, SMI_FIELDS[:-1]):
        query = (f"--query-gpu={','.join(fields)}", "--format=csv,noheader")
        text, problem = run_tool("nvidia-smi", query, instead=WSL_SMI)
        answer = parse_nvidia_smi(text) if text and not problem else ((), None, problem)
        if answer[2] != UNKNOWN_FIELD:
            break
    return answer


def rocm_smi() -> tuple[tuple[Accelerator, ...], str | None, str | None]:
    """Return devices, driver version and what went wrong; all empty where there is no rocm-smi."""
    text, problem = run_tool("rocm-smi", ROCM_QUERY)
    return ((), None, problem) if problem or not text else parse_rocm_smi(text)


def run_tool(name: str, arguments: Sequence[str], instead: str = "") -> tuple[str, str | None]:
    """Return what a tool on PATH printed and why it could not; both empty where there is no such tool.

    Its standard output alone is returned, a line end where it is blank. Warnings on standard error are left out: they
    give the reason only where a tool printed nothing and failed.
    """
    path = shutil.which(name) or (instead if Path(instead).is_file() else None)
    if path is None:
        return "", None
    env = child_environment.inherited(os.environ) | {"LC_ALL": "C"}
    try:
        outcome = bounded([path, *arguments], timeout=TOOL_TIMEOUT, env=env)
    except OSError as error:
        return "", f"cannot be executed: {error.strerror or type(error).__name__}"
    if outcome.ended == "timeout":
        return "", f"timed out after {TOOL_TIMEOUT:g} s"
    if outcome.ended == "output":
        return "", "printed without end"
    if outcome.exit_code and not outcome.stdout.strip():
        return "", _smi_problem(outcome.stderr)
    return outcome.stdout or "\n", None


def memory_reasons(accelerators: tuple[Accelerator, ...]) -> dict[str, str]:
    """Return why the nulls of accelerators are null."""
    reasons = {}
    for index, one in enumerate(accelerators):
        if one.memory_mib is None:
            shared = one.kind == "mps"
            why = f"{NOT_APPLICABLE}: it shares the CPU's memory" if shared else UNTOLD
            reasons[f"accelerators[{index}].memory_mib"] = why
        if one.capability is None:
            known = one.kind in ("cuda", "rocm")
            why = UNTOLD if known else f"{NOT_APPLICABLE}: only CUDA and ROCm have it"
            reasons[f"accelerators[{index}].capability"] = why
    return reasons


def _in_words(accelerators: tuple[Accelerator, ...]) -> str:
    """Return `1 x NVIDIA H200, 2 x NVIDIA L4`."""
    return ", ".join(f"{one.count} x {one.name}" for one in accelerators)


def text_of(path: Path) -> str:
    """Return the start of a system file, or nothing."""
    try:
        with path.open("rb") as file:
            return file.read(4096).decode("utf-8", "replace")
    except OSError:
        return ""
