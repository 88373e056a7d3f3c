"""What a run needs to know before it executes anything: the plan, the host, the software, whose names to hide."""

from __future__ import annotations

import contextlib
import getpass
import os
import platform
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from capture import store
from capture.errors import HostBroken, HostRefused
from capture.host import host
from capture.host.host import LOCAL, Host, same_machine
from capture.host.probe import facts, system, torch_probe
from capture.host.probe.interpreter import AskInstalled, Interpreter
from capture.host.probe.torch_probe import TorchFacts, TorchRequest
from capture.record import privacy
from capture.record.record import Record
from capture.run import plan
from capture.run.plan import Plan
from capture.run.run_request import HostSelection
from capture.snippet.snippet import Snippet

# Asks an interpreter, given by its path, about torch.
AskTorch = Callable[[str, TorchRequest], TorchFacts]
MEMORY_SHARE = 0.75  # of this host's memory, for one snippet and all it starts
# What appears when a device or its driver does; with one of these, gates recorded as closed are asked again.
DEVICE_SIGNS = ("/dev/nvidiactl", "/dev/kfd", "/dev/dri/renderD128", "/dev/accel0", "/dev/accel/accel0")
_UNKNOWN_DEVICES = "torch fails to import, so this host's accelerators are unknown"
# What an installation may open on the same machine; recorded as closed, these are asked again.
SOFTWARE_GATES = ("compile", "gloo", "two_cpus")


@dataclass(frozen=True)
class Prepared:
    """All that executing needs. `memory` is in bytes; `homes` are real home folders, to be hidden."""

    book: store.Handbook
    host: Host
    facts: TorchFacts
    interpreter: Interpreter
    records: Mapping[str, Record]
    identity: privacy.Identity
    homes: tuple[str, ...]
    user: str | None
    memory: int


@dataclass(frozen=True)
class RunDecision:
    """The plan of a run and, where something is to be executed, what it needs."""

    plan: Plan
    prepared: Prepared | None
    broken: str


def decide(selection: HostSelection, ask: AskInstalled, force: bool, ask_torch: AskTorch) -> RunDecision:
    """Plan a run on this machine with the interpreter that `ask` asks what it has installed.

    torch is imported, by `ask_torch`, only when something may have to be executed.

    Raises HostRefused when the label names another machine, HostBroken when the interpreter cannot be used.
    """
    label, chosen = selection.label, selection.snippets
    interpreter = ask(
        {name for item in chosen for name in item.packages},
        {name for item in chosen for name in item.modules},
    )
    known = selection.cat.hosts.get(label)
    records = own_records(selection)
    moved = known is not None and not facts.same_processor(known)
    if moved and label != LOCAL:
        refuse(known, label)
    require_same_software(label, records, interpreter)
    if moved:  # the folder of whoever works here; results of another machine are no longer of this one
        records = {}
    gates = None if force else _recorded_gates(records.values(), interpreter)
    early = plan.make(chosen, records, interpreter, gates, force)
    if early is not None and not early.steps:
        return RunDecision(early, None, "")
    answers = torch_answers(interpreter, question(chosen), ask_torch)
    here = facts.probe_host(label, answers).host
    return decided(selection, here, answers, interpreter, records, force)


def decided(
    selection: HostSelection,
    here: Host,
    answers: TorchFacts,
    interpreter: Interpreter,
    records: Mapping[str, Record],
    force: bool,
) -> RunDecision:
    """Plan a host of which all is known, this machine or a fleet's.

    Raises HostRefused where its label names another machine, HostBroken where nobody can tell.
    """
    broken = (answers.torch_error or "") if interpreter.torch else ""
    if here.label != LOCAL:
        here = settled(selection.cat.hosts.get(here.label), here, broken)
    planned = plan.make(selection.snippets, records, interpreter, answers.gates, force)
    assert planned is not None, "all gates have been asked"
    if broken:
        planned = plan.without_torch(planned, broken)
    if here.emulated_on:
        planned = plan.without_timings(planned, here.emulated_on)
    return RunDecision(planned, prepared(selection.cat.book, here, answers, interpreter, records), broken)


def own_records(selection: HostSelection) -> dict[str, Record]:
    """Return a host's records by snippet; one copied from another host's folder is no result of this one."""
    label = selection.label
    return {key: item for (owner, key), item in selection.cat.records.items() if owner == item.host == label}


def require_same_software(label: str, records: Mapping[str, Record], interpreter: Interpreter) -> None:
    """Raise HostRefused where an interpreter's torch cannot be that of the label, which is one machine's software."""
    if label != LOCAL and (other := plan.other_software(label, records.values(), interpreter.torch)):
        raise HostRefused(other)


def settled(known: Host | None, here: Host, broken: str) -> Host:
    """Return a machine's facts as they stand under its label, where that is the machine which the label names.

    Raises HostRefused where it is another, HostBroken where nobody can tell since torch fails to import: no label is
    taken for hardware that only a working torch would show.
    """
    if broken and (known is None or not same_machine(known, here)):
        raise HostBroken(f"{_UNKNOWN_DEVICES}: {broken}; mend it first")
    if known is None:
        return here
    if not same_machine(known, here):
        refuse(known, here.label, here)
    return replace(here, title=known.title, memory_gib=known.memory_gib, reasons=known.reasons)


def require_torch_imports(answers: TorchFacts) -> None:
    """Raise HostBroken where torch is installed and fails to import, so that nobody can tell what it computes on."""
    if answers.torch is None and answers.torch_error and not answers.torch_error.startswith("not installed"):
        raise HostBroken(f"{_UNKNOWN_DEVICES}: {answers.torch_error}; mend it, or pass another with --python")


def question(snippets: Iterable[Snippet]) -> TorchRequest:
    """Return what to ask the interpreter for these snippets."""
    chosen = list(snippets)
    return TorchRequest(
        packages=tuple(sorted({name for item in chosen for name in item.packages if name != "torch"})),
        modules=tuple(sorted({name for item in chosen for name in item.modules})),
        upstream=tuple(sorted({name for item in chosen for name in item.upstream})),
    )


def torch_answers(interpreter: Interpreter, request: TorchRequest, ask: AskTorch) -> TorchFacts:
    """Return the interpreter's answers; where importing torch ends it, those of an interpreter without torch."""
    try:
        return ask(interpreter.path, request)
    except HostBroken as error:
        if interpreter.torch is None:
            raise
        return unasked(interpreter, str(error))


def unasked(interpreter: Interpreter, error: str | None = None) -> TorchFacts:
    """Return the answers of an interpreter that cannot be asked about torch, or need not be."""
    return TorchFacts(
        python=interpreter.version, torch=None, torch_error=error, cuda_build=None, hip_build=None,
        cpu_capability=None, driver=None, threads={},
        gates=dict.fromkeys(torch_probe.GATES, False) | {"two_cpus": (os.cpu_count() or 1) > 1},
        modules=interpreter.modules, packages=interpreter.packages, upstream={}, accelerators=(), errors={},
    )  # fmt: skip


def _recorded_gates(records: Iterable[Record], interpreter: Interpreter) -> Mapping[str, bool] | None:
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
    return {name: holds for name, holds in gates.items() if holds or name not in SOFTWARE_GATES}


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
    user = _user_name()
    return Prepared(
        book=book, host=here, facts=answers, interpreter=interpreter, records=records,
        identity=own_names(), homes=_home_folders(), user=user,
        memory=int(system.memory_bytes() * MEMORY_SHARE),
    )  # fmt: skip


def keep_host(book: store.Handbook, here: Host) -> bool:
    """Store a host's facts and tell whether the file changed; raises PrivacyRefused for a telling title."""
    path = book.relative(book.host_path(here.label))
    privacy.require_clean(store.host_text(here), path, own_names())
    return store.write_host(book, here)


def own_names() -> privacy.Identity:
    """Return the names of this machine and its user, which no file may hold."""
    return privacy.identity(platform.node(), _user_name())


def _user_name() -> str | None:
    """Return the user's name, or None in a container without one."""
    with contextlib.suppress(Exception):  # OSError, KeyError or ImportError, by platform and version
        return getpass.getuser()
    return None


def _home_folders() -> tuple[str, ...]:
    """Return the user's home folder, or nothing where there is none."""
    with contextlib.suppress(RuntimeError, KeyError):
        return (str(Path.home()),)
    return ()
