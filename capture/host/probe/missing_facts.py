"""Why a fact about this host is missing, and what would make it known: for `capture host doctor`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from capture.host.probe.cpu_fields import NOT_APPLICABLE
from capture.host.probe.system import NONE_DETECTED
from capture.host.probe.torch_probe import TorchFacts

INSTALL = "install it into the interpreter that runs the snippets"
# (pattern of the field, pattern of the problem, remedy); the first that matches both counts.
DEVICES = r"(driver|accelerators|gates\.(cuda|rocm|mps|xpu))\b"
REMEDIES = (
    (r"torch$", r"a folder", "remove the folder named torch, or pass another interpreter with --python"),
    (r"torch$", r"not installed", "pip install torch, or pass another interpreter with --python"),
    (r"torch$", r"No module", "reinstall torch with its dependencies: pip install --force-reinstall torch"),
    (r"torch$", r"", "reinstall torch for this system and Python; the error names what is missing"),
    (r"gates\.compile", r"compiler", "install a C++ compiler (g++, Xcode's tools, MSVC) or set CXX"),
    (r"gates\.compile", r"Python\.h", "install python3-dev, or use a Python from uv, conda or python.org"),
    (r"gates\.compile", r"stub", "run xcode-select --install"),
    (r"gates\.compile", r"needs torch", "update torch"),
    (r"gates\.two_cpus", r"", "give the container or job at least two CPUs"),
    (
        r"gates\.cuda",
        r"built for",
        "check CUDA_VISIBLE_DEVICES, and that the driver is new enough for that CUDA",
    ),
    (r"gates\.xla", r"", "set PJRT_DEVICE (TPU, CUDA or CPU), and end what else holds the TPU"),
    (DEVICES, r"timed out|did not", "try nvidia-smi or rocm-smi by hand; restart the driver or the machine"),
    (DEVICES, r"version mismatch", "reboot, or reload the kernel module: the driver was updated under it"),
    (DEVICES, r"cannot communicate", "load the NVIDIA kernel module, or reinstall the driver"),
    (DEVICES, r"cannot use", "install a torch build for that GPU (see pytorch.org), if you mean to use it"),
    (DEVICES, r"not on PATH", "add nvidia-smi to PATH; a container needs the driver capability `utility`"),
    (DEVICES, r"permission", "ask for access to the device, or use the whole GPU instead of a slice"),
    (DEVICES, r"no devices", "remove the tool, or pass the GPU to this container or job"),
    (DEVICES, r"", "try the vendor's tool (nvidia-smi, rocm-smi) by hand"),
    (r"(modules|packages)\.", r"", "install it into the interpreter that runs the snippets"),
    (r"upstream\.", r"", "correct the name under `upstream`, or leave it out: changes cannot be followed"),
    (r"cpu\.", r"empty or unreadable|printed nothing", "mount /proc into the container"),
    (r"cpu\.vendor", r"implementer", "add the implementer to capture/host/probe/cpu_names.py"),
    (r"cpu\.|virtualization", r"", "none here: this system or its hypervisor does not tell"),
    (r"memory_gib", r"", "mount /proc into the container"),
    (r"threads|cpu_capability|\w+_build|gates\.", r"", "update torch; this version does not answer that"),
)


def problems(reasons: Mapping[str, str], facts: TorchFacts) -> list[tuple[str, str, str]]:
    """Return (field, problem, remedy) for each missing fact: of torch, the host, then what was asked for."""
    return [(field, problem, remedy(field, problem)) for field, problem in found(reasons, facts)]


def found(reasons: Mapping[str, str], facts: TorchFacts) -> Iterable[tuple[str, str]]:
    """Yield (field, problem); what does not apply to this machine is none."""
    if facts.torch is None:
        yield "torch", facts.torch_error or "not installed"
    if facts.cuda_build and not facts.gates.get("cuda") and "gates.cuda" not in facts.errors:
        yield "gates.cuda", f"torch is built for CUDA {facts.cuda_build}, but sees no GPU"
    for field, why in (*facts.errors.items(), *reasons.items()):
        if not why.startswith(NOT_APPLICABLE) and why != NONE_DETECTED:
            yield field, why
    for name, version in facts.packages.items():
        if version is None and f"packages.{name}" not in facts.errors:
            yield f"packages.{name}", "not installed"
    for name, present in facts.modules.items():
        if not present and f"modules.{name}" not in facts.errors:
            yield f"modules.{name}", "not installed"
    for name, digest in facts.upstream.items():
        if digest is None and facts.torch is not None and f"upstream.{name}" not in facts.errors:
            yield f"upstream.{name}", f"torch {facts.torch} has no such name"


def remedy(field: str, problem: str) -> str:
    """Return what usually mends a problem."""
    for place, sign, advice in REMEDIES:
        if re.match(place, field) and re.search(sign, problem):
            return advice
    return "nothing is known to mend it"
