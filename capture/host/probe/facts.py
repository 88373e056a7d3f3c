"""All facts about this host, put together: what identifies it, and what moves from capture to capture."""

from __future__ import annotations

import dataclasses
import os
import platform
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import get_args

from capture.host import child_environment
from capture.host import host as hosts
from capture.host.environment import Environment
from capture.host.host import Accelerator, Cpu, Host, Kind
from capture.host.probe import cpu_names, missing_facts, system
from capture.host.probe.accelerators import read_accelerators
from capture.host.probe.cpu import read_cpu
from capture.host.probe.emulation import emulated_processor, machine_beneath
from capture.host.probe.torch_probe import GATES, TorchFacts


@dataclass(frozen=True)
class HostReport:
    """A host, and for each dotted field that is known the source in words."""

    host: Host
    sources: Mapping[str, str]


def probe_host(label: str, torch: TorchFacts) -> HostReport:
    """Read what identifies this machine, as torch and the system see it; takes up to ten seconds.

    Raises CaptureError for a label that is not allowed. What cannot be read is null with a reason.
    """
    hosts.check_label(label)
    beneath = machine_beneath(torch.machine)
    cpu = read_cpu() if beneath is None else emulated_processor(os.cpu_count())
    found = read_accelerators(torch.accelerators, torch.gates)
    virtual, virtual_source = system.read_virtualization()
    memory = system.gibibytes(system.read_memory())
    arch = cpu_names.architecture(torch.machine or platform.machine())
    reasons = {**cpu.reasons, **found.reasons}
    sources = {"arch": "platform.machine()", **cpu.sources, **found.sources, "kind": "gates and accelerators"}
    if virtual is None:
        reasons["virtualization"] = virtual_source
    else:
        sources["virtualization"] = virtual_source
    if memory is None:
        reasons["memory_gib"] = "psutil cannot read it"
    else:
        sources["memory_gib"] = "psutil.virtual_memory()"
    accelerators = _named_by_chip(found.accelerators, cpu.cpu)
    own_kind = kind(accelerators, torch.gates)
    if not accelerators and own_kind != "cpu":
        reasons.setdefault("accelerators", f"the gate {own_kind} holds, and neither torch nor a tool names the device")
    host = Host(
        schema=hosts.SCHEMA,
        label=label,
        title=title(cpu.cpu, arch, accelerators) + (", emulated" if beneath else ""),
        kind=own_kind,
        arch=arch,
        cpu=cpu.cpu,
        accelerators=accelerators,
        memory_gib=memory,
        virtualization=virtual,
        reasons=reasons,
        fingerprint="",
        emulated_on=beneath,
    )
    return HostReport(hosts.identified(host), sources)


def kind(accelerators: tuple[Accelerator, ...], gates: Mapping[str, bool]) -> Kind:
    """Return the kind of the first accelerator, else of the first device gate that holds, else cpu.

    torch_xla also answers with the CPU alone, so its gate by itself makes no kind.
    """
    if accelerators:
        return accelerators[0].kind
    return next((name for name in get_args(Kind) if name != "xla" and gates.get(name)), "cpu")


def _named_by_chip(accelerators: tuple[Accelerator, ...], cpu: Cpu) -> tuple[Accelerator, ...]:
    """Return the accelerators, an Apple GPU named after the chip it is part of."""
    chip = cpu.model if cpu.model and cpu.model.startswith("Apple") else "Apple"
    return tuple(
        Accelerator(one.kind, f"{chip} GPU", one.memory_mib, one.capability, one.count) if one.kind == "mps" else one
        for one in accelerators
    )


def title(cpu: Cpu, arch: str, accelerators: tuple[Accelerator, ...]) -> str:
    """Return a short name for tabs, such as `H200`, `8 x H200` or `EPYC, AVX512`."""
    if accelerators:
        first = accelerators[0]
        return (
            f"{first.count} x {cpu_names.short_gpu(first.name)}" if first.count > 1 else cpu_names.short_gpu(first.name)
        )
    name = cpu_names.short_cpu(cpu.model) if cpu.model else cpu_names.arm_names(cpu.part) or cpu.part or f"{arch} CPU"
    return f"{name}, {cpu.isa}" if cpu.isa else name


def environment(host: Host, facts: TorchFacts, packages: Iterable[str]) -> Environment:
    """Return what makes a result on this host interpretable; reads the system's name and limits anew.

    `packages` are the declared dependencies (names or requirements such as `numpy>=2`); torch has its own
    field, and one that is not installed is left out.
    """
    known = {canonical(name): version for name, version in facts.packages.items()}
    declared = {re.split(r"[^A-Za-z0-9._-]", name.strip())[0] for name in packages}
    versions = {name: known.get(canonical(name)) for name in sorted(declared) if canonical(name) != "torch"}
    return Environment(
        chip=hosts.chip(host),
        os=system.read_os(facts.machine),
        python=facts.python,
        torch=facts.torch,
        cuda_build=facts.cuda_build,
        cpu_capability=facts.cpu_capability,
        driver=facts.driver,
        gates={name: facts.gates.get(name, False) for name in GATES},
        threads=dict(facts.threads),
        packages={name: version for name, version in versions.items() if version is not None},
        limits=system.read_limits(),
        xla={**facts.xla, **child_environment.xla_settings(os.environ)} if facts.xla else {},
    )


def diagnose(report: HostReport, facts: TorchFacts) -> list[tuple[str, str, str]]:
    """Return (field, problem, remedy) for everything that could not be found out and could be."""
    return missing_facts.problems(report.host.reasons, facts)


def same_processor(known: Host) -> bool:
    """Say whether a stored host may be this machine, by its processor alone; does not import torch."""
    return not processor_differences(known)


def processor_differences(known: Host) -> tuple[str, ...]:
    """Name what differs between a stored host's processor and this machine's, as `cpu.isa: AVX -> AVX2`.

    Of a processor that was emulated only the one beneath is compared.
    """
    if known.emulated_on is not None:
        beneath = machine_beneath(known.arch)
        return hosts.differences(known, dataclasses.replace(known, emulated_on=beneath))
    here = dataclasses.replace(
        known,
        arch=cpu_names.architecture(platform.machine()),
        cpu=read_cpu().cpu,
        virtualization=system.read_virtualization()[0],
    )
    return hosts.differences(known, here)


def canonical(name: str) -> str:
    """Return a distribution's name as PEP 503 writes it."""
    return re.sub(r"[-_.]+", "-", name).lower()
