"""Which records of a host can be verified with an interpreter: of the same torch, current, and with all they need."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from capture import store
from capture.errors import Problem
from capture.host.probe import facts, torch_probe
from capture.host.probe.interpreter import Interpreter, Reader
from capture.record import state
from capture.record.record import Record, content_digest
from capture.record.verification import Result
from capture.run import plan, preflight
from capture.run.preflight import Ask, Prepared
from capture.snippet.snippet import Snippet
from capture.store.catalogue import Catalogue

EDITED = "its record was edited by hand"


@dataclass(frozen=True)
class Task:
    """A snippet to execute again, and the record to compare with."""

    snippet: Snippet
    record: Record


@dataclass(frozen=True)
class Decision:
    """What to execute and with what, what is skipped and why, and why torch cannot be imported, or nothing."""

    tasks: tuple[Task, ...]
    skipped: tuple[Result, ...]
    prepared: Prepared
    broken: str


def candidates(cat: Catalogue, label: str, ids: Iterable[str]) -> dict[str, str]:
    """Map each snippet to why its record cannot be verified, as far as files tell, or to nothing."""
    states = cat.states()
    unreadable = {item.path for item in cat.problems}
    reasons = {}
    for name in ids:
        item = cat.records.get((label, name))
        if item is None:
            damaged = cat.book.relative(cat.book.record_path(label, name)) in unreadable
            unmet = "".join(f" ({reason})" for reason in states[label, name].reasons[:1])
            reasons[name] = "its record is damaged" if damaged else f"{label} has no record of it{unmet}"
        else:
            reasons[name] = why_not(cat.snippets[name], item, states[label, name])
    return reasons


def why_not(snippet: Snippet, item: Record, known: state.State) -> str:
    """Say why a record cannot be verified by anybody, or nothing."""
    if is_edited(item):
        return EDITED
    if snippet.timing:
        return "a timing is not verified"
    if item.status != "ok":
        return f"its capture ended with {item.status}"
    return str(known) if known.kind == "stale" else ""


def is_edited(item: Record) -> bool:
    """Tell whether a record is not as the tool wrote it."""
    return item.content_sha256 != content_digest(item)


def edited(cat: Catalogue, label: str, ids: Iterable[str]) -> list[Problem]:
    """Return a problem for each record that was edited by hand: nobody knows what its snippet printed."""
    advice = "was edited by hand: its digest does not match its content"
    return [
        Problem(
            cat.book.relative(cat.book.record_path(label, name)), 0,
            f"{advice}{store.recapture_advice(label, name)}", "digest",
        )
        for name in ids
        if (item := cat.records.get((label, name))) and is_edited(item)
    ]  # fmt: skip


def decide(
    cat: Catalogue, label: str, reasons: Mapping[str, str], read: Reader, ask: Ask = torch_probe.probe_torch
) -> Decision:
    """Sort out what the interpreter that `read` asks cannot reproduce, and gather what executing the rest needs.

    torch is imported, by `ask`, only when something will be executed. Raises HostBroken when the interpreter cannot
    be used.
    """
    chosen = [cat.snippets[name] for name in reasons]
    interpreter = read(
        {name for item in chosen for name in item.packages}, {name for item in chosen for name in item.modules}
    )
    records = {name: item for name in reasons if (item := cat.records.get((label, name)))}
    told = {name: why or lacking(cat.snippets[name], records[name], interpreter) for name, why in reasons.items()}
    open_ones = [cat.snippets[name] for name, why in told.items() if not why]
    asked = bool(open_ones)
    answers = (
        preflight.ask_torch(interpreter, preflight.question(open_ones), ask)
        if asked
        else preflight.unasked(interpreter)
    )
    here = facts.probe_host(label, answers).host
    found = plan.make(open_ones, {}, interpreter, answers.gates, force=True)
    assert found is not None, "all gates have been asked"
    broken = (answers.torch_error or "") if asked and interpreter.torch else ""
    if broken:
        found = preflight.without_torch(found, broken)
    told |= {name: "; ".join(words) for name, words in found.unmet.items()}
    return Decision(
        tasks=tuple(Task(step.snippet, records[step.snippet.id]) for step in found.steps),
        skipped=tuple(skipped(name, label, records.get(name), why) for name, why in told.items() if why),
        prepared=preflight.prepared(cat.book, here, answers, interpreter, {}),
        broken=broken,
    )


def skipped(name: str, label: str, item: Record | None, why: str) -> Result:
    """Return the result for a record that is not verified; it may not even be there."""
    return Result(name, label, item.content_sha256 if item else None, "skipped", None, why)


def lacking(snippet: Snippet, item: Record, interpreter: Interpreter) -> str:
    """Say what the interpreter lacks to reproduce a record, or nothing. torch's full version tells its build too."""
    if item.environment.torch != interpreter.torch:
        there, here = (version or "none" for version in (item.environment.torch, interpreter.torch))
        return f"captured with torch {there}, this interpreter has {here}"
    return "; ".join(plan.unmet_software(snippet, interpreter))
