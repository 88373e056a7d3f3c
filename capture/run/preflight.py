"""What a run needs to know before it executes anything: the plan, the host, the software, whose names to hide."""

from __future__ import annotations

import contextlib
import getpass
import os
import platform
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from capture import store
from capture.errors import CaptureError, HostBroken, HostRefused, Problem
from capture.host import host
from capture.host.host import LOCAL, Host, same_machine
from capture.host.probe import facts, system, torch_probe
from capture.host.probe.interpreter import Interpreter, Reader
from capture.host.probe.torch_probe import TorchFacts, TorchRequest
from capture.record import privacy
from capture.record.record import Record
from capture.run import plan, shard
from capture.run.plan import Plan
from capture.run.shard import Shard
from capture.snippet.snippet import Snippet
from capture.store import catalogue
from capture.store.catalogue import Catalogue

# Asks an interpreter, given by its path, about torch.
Ask = Callable[[str, TorchRequest], TorchFacts]
MEMORY_SHARE = 0.75  # of this host's memory, for one snippet and all it starts
# What appears when a device or its driver does; with one of these, gates recorded as closed are asked again.
DEVICE_SIGNS = ("/dev/nvidiactl", "/dev/kfd", "/dev/dri/renderD128", "/dev/accel0", "/dev/accel/accel0")
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
class Decision:
    """The plan of a run and, where something is to be executed, what it needs."""

    plan: Plan
    prepared: Prepared | None
    broken: str


def decide(
    cat: Catalogue, ids: Sequence[str], label: str, read: Reader, force: bool, ask: Ask = torch_probe.probe_torch
) -> Decision:
    """Plan a run on this host with the interpreter that `read` asks what it has installed.

    torch is imported, by `ask`, only when something may have to be executed.

    Raises HostRefused when the label names another machine, HostBroken when the interpreter cannot be used.
    """
    chosen = [cat.snippets[snippet_id] for snippet_id in ids]
    interpreter = read(
        {name for item in chosen for name in item.packages},
        {name for item in chosen for name in item.modules},
    )
    known = cat.hosts.get(label)
    records = own_records(cat, label)
    moved = known is not None and not facts.same_processor(known)
    if moved and label != LOCAL:
        refuse(known, label)
    if label != LOCAL and (other := plan.other_software(label, records.values(), interpreter.torch)):
        raise HostRefused(other)
    if moved:  # the folder of whoever works here; results of another machine are no longer of this one
        records = {}
    gates = None if force else recorded_gates(records.values(), interpreter)
    found = plan.make(chosen, records, interpreter, gates, force)
    if found is not None and not found.steps:
        return Decision(found, None, "")
    answers = ask_torch(interpreter, question(chosen), ask)
    broken = (answers.torch_error or "") if interpreter.torch else ""
    here = facts.probe_host(label, answers).host
    if label != LOCAL:
        here = settled(known, here, broken)
    found = plan.make(chosen, records, interpreter, answers.gates, force)
    assert found is not None, "all gates have been asked"
    if broken:
        found = without_torch(found, broken)
    return Decision(found, prepared(cat.book, here, answers, interpreter, records), broken)


def own_records(cat: Catalogue, label: str) -> dict[str, Record]:
    """Return a host's records by snippet; one copied from another host's folder is no result of this one."""
    return {key: item for (owner, key), item in cat.records.items() if owner == item.host == label}


def settled(known: Host | None, here: Host, broken: str) -> Host:
    """Return a machine's facts as they stand under its label, where that is the machine which the label names.

    Raises HostRefused where it is another, HostBroken where nobody can tell since torch fails to import.
    """
    if broken and ("accelerators" in here.reasons if known is None else not same_machine(known, here)):
        raise HostBroken(f"torch fails to import, so this host's accelerators are unknown: {broken}; mend it first")
    if known is None:
        return here
    if not same_machine(known, here):
        refuse(known, here.label, here)
    return replace(here, title=known.title, memory_gib=known.memory_gib, reasons=known.reasons)


def question(snippets: Iterable[Snippet]) -> TorchRequest:
    """Return what to ask the interpreter for these snippets."""
    chosen = list(snippets)
    return TorchRequest(
        packages=tuple(sorted({name for item in chosen for name in item.packages if name != "torch"})),
        modules=tuple(sorted({name for item in chosen for name in item.modules})),
        upstream=tuple(sorted({name for item in chosen for name in item.upstream})),
    )


def ask_torch(interpreter: Interpreter, request: TorchRequest, ask: Ask) -> TorchFacts:
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
    user = user_name()
    return Prepared(
        book=book, host=here, facts=answers, interpreter=interpreter, records=records,
        identity=own_names(), homes=home_folders(), user=user,
        memory=int(system.memory_bytes() * MEMORY_SHARE),
    )  # fmt: skip


def keep_host(book: store.Handbook, here: Host) -> bool:
    """Store a host's facts and tell whether the file changed; raises PrivacyRefused for a telling title."""
    path = book.relative(book.host_path(here.label))
    privacy.require_clean(store.host_text(here), path, own_names())
    return store.write_host(book, here)


def own_names() -> privacy.Identity:
    """Return the names of this machine and its user, which no file may hold."""
    return privacy.identity(platform.node(), user_name())


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


def read_for(
    book: store.Handbook, label: str, patterns: Sequence[str], share: Shard | None = None
) -> tuple[Catalogue, list[str]]:
    """Read snippets and one host's records, and the ids that the patterns select, or a share of them.

    The problems of the catalogue are those of the selection; what is not selected does no harm. Raises CaptureError
    when nothing is left to run, or when the facts of a named host are damaged or lost: nobody could tell then
    whether its records are of this machine.
    """
    host.check_label(label)
    cat = catalogue.read(book, labels=[label])
    facts_path = book.relative(book.host_path(label))
    if label != LOCAL and (lost := [problem for problem in cat.problems if problem.path == facts_path]):
        raise CaptureError(*lost)
    faulty = {problem.path: snippet_of(problem, book, label) for problem in cat.problems}
    ids = plan.select(patterns, {*cat.snippets, *(found for path, found in faulty.items() if is_source(path))})
    valid = [snippet_id for snippet_id in ids if snippet_id in cat.snippets]
    problems = tuple(problem for problem in cat.problems if faulty[problem.path] in ids)
    if not valid and problems:
        raise CaptureError(*problems)
    if not ids:
        raise CaptureError("no snippets here; add one with: capture new CHAPTER/NAME")
    own = shard.part(share, (cat.snippets[snippet_id] for snippet_id in valid))
    # A damaged record is mended by the share that captures it; whose a snippet is that cannot be read, nobody knows.
    problems = tuple(item for item in problems if is_source(item.path) or faulty[item.path] in own)
    return replace(cat, problems=problems), [snippet_id for snippet_id in valid if snippet_id in own]


def is_source(path: str) -> bool:
    """Tell whether a problem is about a snippet's own file."""
    return path.startswith("snippets/")


def snippet_of(problem: Problem, book: store.Handbook, label: str) -> str:
    """Return the id of the snippet that a problem is about, whether its source or its record is faulty."""
    folder = "snippets" if is_source(problem.path) else book.relative(book.captures / label)
    return problem.path.removeprefix(f"{folder}/").rpartition(".")[0]
