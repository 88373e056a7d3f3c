"""A host: what does not change about the machine that captured, and its fingerprint."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from capture import plain_data
from capture.errors import CaptureError
from capture.plain_data import about
from capture.snippet.portable_names import why_not_portable

SCHEMA = 1
LABEL = re.compile(r"[a-z0-9][a-z0-9.-]{0,40}")
LOCAL = "local"
Kind = Literal["cpu", "cuda", "rocm", "mps", "xpu", "xla"]


@dataclass(frozen=True)
class Cpu:
    """The processor, as the system reports it; a null has its reason in `Host.reasons`."""

    vendor: str | None = field(metadata=about("vendor, such as AMD, Intel, Apple, Arm"))
    model: str | None = field(metadata=about("model name as reported; a hypervisor may shorten it"))
    family: int | None = field(metadata=about("x86 family number"))
    model_number: int | None = field(metadata=about("x86 model number"))
    stepping: int | None = field(metadata=about("x86 stepping"))
    part: str | None = field(metadata=about("ARM implementer/part, such as 0x41/0xd0c"))
    isa: str | None = field(metadata=about("widest vector ISA: SSE4.2, AVX, AVX2, AVX512, NEON, SVE, SVE2"))
    bf16: bool | None = field(metadata=about("has instructions for bfloat16 arithmetic"))
    amx: bool | None = field(metadata=about("has AMX tiles (x86)"))
    vnni: bool | None = field(metadata=about("has int8 dot-product instructions (VNNI, or ARM dotprod)"))
    count: int | None = field(metadata=about("CPUs visible to the system"))
    core_types: str | None = field(
        default=None, metadata=about("only where cores differ, such as 8 x performance + 4 x efficiency")
    )


@dataclass(frozen=True)
class Accelerator:
    """One device that torch could compute on, without serial, UUID or bus address."""

    kind: Kind
    name: str
    memory_mib: int | None
    capability: str | None = field(metadata=about("CUDA compute capability such as 9.0, or gfx name"))
    count: int = field(metadata=about("how many equal ones"))


@dataclass(frozen=True)
class Host:
    """Identity of a host. `reasons` maps the dotted name of each null to why it is null."""

    schema: int
    label: str
    title: str = field(metadata=about("short name for tabs"))
    kind: Kind
    arch: str = field(metadata=about("x86_64 or arm64 or as reported"))
    cpu: Cpu
    accelerators: tuple[Accelerator, ...]
    memory_gib: int | None = field(metadata=about("installed or visible memory, rounded to GiB"))
    virtualization: str | None = field(metadata=about("hypervisor or container kind; null on bare metal"))
    reasons: Mapping[str, str]
    fingerprint: str = field(metadata=about("SHA-256 over the hardware facts above"))
    emulated_on: str | None = field(
        default=None, metadata=about("processor and architecture beneath, where that of the interpreter is emulated")
    )


def also_known(here: Host, others: Iterable[Host]) -> str:
    """Return a clause that names the other labels of the same hardware, or nothing."""
    same = sorted(item.label for item in others if item.label not in (here.label, LOCAL) and same_machine(item, here))
    return f"; the same hardware as {' and '.join(same)}, so this is for other software on it" if same else ""


def same_machine(known: Host, here: Host) -> bool:
    """Tell whether two hosts are one machine by their fingerprint; a machine that tells nothing equals nothing."""
    told = here.cpu.model or here.cpu.part or here.accelerators or here.emulated_on
    return bool(told) and known.fingerprint == fingerprint(here)


def fingerprint(host: Host) -> str:
    """Return 64 hex digits over the facts that identify the hardware.

    Label, title, reasons and memory (a container's limit moves it) are left out. A null takes part as null, and
    `same_machine` treats it as equal to nothing.
    """
    identity = {
        "arch": host.arch,
        "cpu": plain_data.encode(host.cpu),
        "accelerators": plain_data.encode(host.accelerators),
        "virtualization": host.virtualization,
    }
    if host.emulated_on is not None:
        identity["emulated_on"] = host.emulated_on
    canonical = json.dumps(identity, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()


def identified(host: Host) -> Host:
    """Return the host with its fingerprint filled in."""
    return dataclasses.replace(host, fingerprint=fingerprint(host))


def differences(old: Host, new: Host) -> tuple[str, ...]:
    """Name the hardware facts in which two hosts differ, as `cpu.isa: AVX2 -> AVX512`."""

    def flat(host: Host) -> dict[str, object]:
        facts: dict[str, object] = {"arch": host.arch, "virtualization": host.virtualization}
        facts["emulated_on"] = host.emulated_on
        facts |= {f"cpu.{name}": value for name, value in plain_data.encode(host.cpu).items()}
        facts["accelerators"] = ", ".join(f"{a.count} x {a.name}" for a in host.accelerators) or "none"
        facts["accelerators.kind"] = ", ".join(a.kind for a in host.accelerators)
        facts["accelerators.memory"] = ", ".join(str(a.memory_mib) for a in host.accelerators)
        facts["accelerators.capability"] = ", ".join(str(a.capability) for a in host.accelerators)
        return facts

    before, after = flat(old), flat(new)
    return tuple(
        f"{name}: {before.get(name)} -> {after.get(name)}"
        for name in dict.fromkeys([*before, *after])
        if before.get(name) != after.get(name)
    )


def other_differences(old: Host, new: Host) -> tuple[str, ...]:
    """Name what else differs in two descriptions of one machine, as `memory_gib: 24 -> 48`, the title first."""
    before, after = ({"title": host.title, "kind": host.kind, "memory_gib": host.memory_gib} for host in (old, new))
    before |= {f"reasons.{name}": why for name, why in old.reasons.items()}
    after |= {f"reasons.{name}": why for name, why in new.reasons.items()}
    return tuple(
        f"{name}: {before.get(name)} -> {after.get(name)}"
        for name in dict.fromkeys([*before, *after])
        if before.get(name) != after.get(name)
    )


def kind_of(accelerators: tuple[Accelerator, ...]) -> Kind | None:
    """Return the kind of a host with these accelerators, which is that of the first; None where there are none."""
    return accelerators[0].kind if accelerators else None


def decode(data: object) -> Host:
    """Build a Host from plain data; raises ShapeError, or CaptureError for a newer schema."""
    host = plain_data.decode_versioned(Host, data, SCHEMA)
    try:
        check_label(host.label)
    except CaptureError as error:
        raise plain_data.ShapeError("label", str(error)) from error
    return host


def run_option(label: str) -> str:
    """Return what to add to `capture run` for a label: ` --host LABEL`, or nothing for `local`."""
    return "" if label == LOCAL else f" --host {label}"


def check_label(label: str) -> str:
    """Return the label, or raise CaptureError when it is not `[a-z0-9][a-z0-9.-]{0,40}` or no name everywhere."""
    if not LABEL.fullmatch(label) or ".." in label:
        raise CaptureError(
            f'host label "{label}": use lower-case letters, digits, "." and "-", at most 41 characters, '
            'such as "epyc-avx2" or "m3-macbook"; name the hardware, never a node or a person'
        )
    if why := why_not_portable(label):
        raise CaptureError(f'host label "{label}" {why}')
    return label


def chip(host: Host) -> str:
    """Return the one-line description for badges: accelerators first, then CPU, ISA and visible CPUs."""
    cpu = host.cpu
    name = cpu.model or cpu.part or f"{host.arch} CPU"
    unit = "vCPU" if host.virtualization else "CPU" if cpu.count == 1 else "CPUs"
    parts = [name, *([cpu.isa] if cpu.isa else []), *([f"{cpu.count} {unit}"] if cpu.count else [])]
    line = ", ".join(parts)
    if host.virtualization:
        line += " (container)" if host.virtualization == "container" else " (virtual machine)"
    if host.emulated_on:
        line += f" (emulated on {host.emulated_on})"
    devices = [f"{a.count} x {a.name}" if a.count > 1 else a.name for a in host.accelerators]
    return " + ".join([*devices, line])
