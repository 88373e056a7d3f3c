"""What a run needs to know before it executes anything: the plan, the host, the software, whose names to hide."""

from __future__ import annotations

import contextlib
import getpass
import os
import platform
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from capture import catalogue, host, plan, redact, store
from capture.catalogue import Catalogue
from capture.errors import CaptureError, HostBroken, HostRefused
from capture.host import LOCAL, Host
from capture.plan import Plan
from capture.probe import facts, system, torch_probe
from capture.probe.interpreter import Interpreter, read_interpreter
from capture.probe.torch_probe import TorchFacts, TorchRequest
from capture.record import Record
from capture.snippet import Snippet

MEMORY_SHARE = 0.75  # of this host's memory, for one snippet and all it starts
# What appears when a device or its driver does; with one of these, gates recorded as closed are asked again.
DEVICE_SIGNS = ("/dev/nvidiactl", "/dev/kfd", "/dev/dri/renderD128", "/dev/accel0", "/dev/accel/accel0")


@dataclass(frozen=True)
class Prepared:
    """All that executing needs. `memory` is in bytes; `homes` are real home folders, to be hidden."""

    book: store.Handbook
    host: Host
    facts: TorchFacts
    interpreter: Interpreter
    records: Mapping[str, Record]
    identity: redact.Identity
    homes: tuple[str, ...]
    user: str | None
    memory: int


@dataclass(frozen=True)
class Decision:
    """The plan of a run and, where something is to be executed, what it needs."""

    plan: Plan
    prepared: Prepared | None
    broken: str


def decide(cat: Catalogue, ids: Sequence[str], label: str, python: str, force: bool) -> Decision:
    """Plan a run on this host; torch is imported only when something may have to be executed.

    Raises HostRefused when the label names another machine, HostBroken when the interpreter cannot be used.
    """
    chosen = [cat.snippets[snippet_id] for snippet_id in ids]
    interpreter = read_interpreter(
        python,
        {name for item in chosen for name in item.packages},
        {name for item in chosen for name in item.modules},
    )
    known = cat.hosts.get(label)
    records = {item.snippet: item for item in cat.of_host(label)}
    moved = known is not None and not facts.same_processor(known)
    if moved and label != LOCAL:
        refuse(known, label)
    if moved:  # the folder of whoever works here; results of another machine are no longer of this one
        records = {}
    gates = recorded_gates(records.values(), interpreter)
    found = plan.make(chosen, records, interpreter, gates, force)
    if found is not None and not found.steps:
        return Decision(found, None, "")
    answers = torch_probe.probe_torch(python, question(chosen))
    report = facts.probe_host(label, answers)
    here = report.host
    if known is not None and label != LOCAL and not same_machine(known, here):
        refuse(known, label, here)
    if known is not None and label != LOCAL:
        here = replace(here, title=known.title, memory_gib=known.memory_gib, reasons=known.reasons)
    found = plan.make(chosen, records, interpreter, answers.gates, force)
    assert found is not None, "all gates have been asked"
    broken = ""
    if answers.torch_error and interpreter.torch:
        broken = answers.torch_error
        found = without_torch(found, broken)
    return Decision(found, prepared(cat.book, here, answers, interpreter, records), broken)


def question(snippets: Iterable[Snippet]) -> TorchRequest:
    """Return what to ask the interpreter for these snippets."""
    chosen = list(snippets)
    return TorchRequest(
        packages=tuple(sorted({name for item in chosen for name in item.packages if name != "torch"})),
        modules=tuple(sorted({name for item in chosen for name in item.modules})),
        upstream=tuple(sorted({name for item in chosen for name in item.upstream})),
    )


def without_torch(found: Plan, error: str) -> Plan:
    """Return the plan without what needs torch, where torch is installed and fails to import."""
    steps = tuple(step for step in found.steps if "torch" not in step.snippet.packages)
    lost = {step.snippet.id: (f"torch fails to import: {error}",) for step in found.steps if step not in steps}
    return Plan(steps, found.current, {**found.unmet, **lost})


def recorded_gates(records: Iterable[Record], interpreter: Interpreter) -> Mapping[str, bool] | None:
    """Return the gates that records of this very software show, unless a device has appeared since."""
    same = [
        item
        for item in records
        if (item.environment.torch, item.environment.python) == (interpreter.torch, interpreter.version)
    ]
    if not same:
        return None
    gates = max(same, key=lambda item: item.captured).environment.gates
    if not any(gates.get(name) for name in ("cuda", "rocm", "xpu", "xla")) and any(map(os.path.exists, DEVICE_SIGNS)):
        return None
    return gates


def same_machine(known: Host, here: Host) -> bool:
    """Tell whether two hosts are one machine by their fingerprint; a machine that tells nothing equals nothing."""
    told = here.cpu.model or here.cpu.part or here.accelerators
    return bool(told) and known.fingerprint == host.fingerprint(here)


def refuse(known: Host | None, label: str, here: Host | None = None) -> None:
    """Raise HostRefused, saying in what the machines differ."""
    differ = host.differences(known, here) if known and here else facts.processor_differences(known) if known else ()
    raise HostRefused(
        f'label "{label}" names another machine ({"; ".join(differ) or "neither tells what it is"}); '
        "choose a new label: capture host init NEW-LABEL"
    )


def prepared(
    book: store.Handbook,
    here: Host,
    answers: TorchFacts,
    interpreter: Interpreter,
    records: Mapping[str, Record],
) -> Prepared:
    """Gather what executing needs on this machine."""
    user = user_name()
    return Prepared(
        book=book, host=here, facts=answers, interpreter=interpreter, records=records,
        identity=redact.identity(platform.node(), user), homes=home_folders(), user=user,
        memory=int(system.memory_bytes() * MEMORY_SHARE),
    )  # fmt: skip


def user_name() -> str | None:
    """Return the user's name, or None in a container without one."""
    with contextlib.suppress(Exception):  # OSError, KeyError or ImportError, by platform and version
        return getpass.getuser()
    return None


def home_folders() -> tuple[str, ...]:
    """Return the user's home folder, or nothing where there is none."""
    with contextlib.suppress(RuntimeError, KeyError):
        return (str(Path.home()),)
    return ()


def read_for(book: store.Handbook, label: str, patterns: Sequence[str]) -> tuple[Catalogue, list[str]]:
    """Read snippets and one host's records, and the ids that the patterns select.

    Raises CaptureError with every problem of a selected snippet; a faulty one that is not selected does no harm.
    """
    host.check_label(label)
    cat = catalogue.read(book, labels=[label])
    faulty = {
        problem.path.removeprefix("snippets/").removesuffix(".py")
        for problem in cat.problems
        if problem.path.startswith("snippets/")
    }
    ids = plan.select(patterns, {*cat.snippets, *faulty})
    broken = [problem for problem in cat.problems if problem.path.removeprefix("snippets/").removesuffix(".py") in ids]
    if broken and patterns:
        raise CaptureError(*broken)
    if not ids:
        raise CaptureError("no snippets here; add one with: capture new CHAPTER/NAME")
    return cat, [snippet_id for snippet_id in ids if snippet_id in cat.snippets]


__all__ = ["Decision", "HostBroken", "Prepared", "decide", "read_for"]
