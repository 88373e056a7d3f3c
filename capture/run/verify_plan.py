"""Which records of a host can be verified with an interpreter: of the same torch, current, and with all they need."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from capture import store
from capture.errors import Problem
from capture.host.probe import facts
from capture.host.probe.interpreter import AskInstalled, Interpreter
from capture.record import state
from capture.record.record import Record, content_digest
from capture.record.verification import Reproduction
from capture.run import plan, preflight
from capture.run.preflight import AskTorch, Prepared
from capture.run.run_request import HostSelection
from capture.snippet.snippet import Snippet

EDITED = "its record was edited by hand"


@dataclass(frozen=True)
class VerifyTask:
    """A snippet to execute again, and the record to compare with."""

    snippet: Snippet
    record: Record


@dataclass(frozen=True)
class VerifyDecision:
    """What to execute and with what, what is skipped and why, and why torch cannot be imported, or nothing."""

    tasks: tuple[VerifyTask, ...]
    skipped: tuple[Reproduction, ...]
    prepared: Prepared
    broken: str


def candidates(selection: HostSelection) -> dict[str, str]:
    """Map each snippet to why its record cannot be verified, as far as files tell, or to nothing."""
    cat, label = selection.cat, selection.label
    states = cat.states()
    unreadable = {item.path for item in cat.problems}
    reasons = {}
    for name in selection.ids:
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
    if _is_edited(item):
        return EDITED
    if snippet.timing:
        return "a timing is not verified"
    if item.status != "ok":
        return f"its capture ended with {item.status}"
    return str(known) if known.kind == "stale" else ""


def _is_edited(item: Record) -> bool:
    """Tell whether a record is not as the tool wrote it."""
    return item.content_sha256 != content_digest(item)


def edited(selection: HostSelection) -> list[Problem]:
    """Return a problem for each record that was edited by hand: nobody knows what its snippet printed."""
    cat, label = selection.cat, selection.label
    advice = "was edited by hand: its digest does not match its content"
    return [
        Problem(
            cat.book.relative(cat.book.record_path(label, name)), 0,
            f"{advice}{store.recapture_advice(label, name)}", "digest",
        )
        for name in selection.ids
        if (item := cat.records.get((label, name))) and _is_edited(item)
    ]  # fmt: skip


def decide(
    selection: HostSelection, reasons: Mapping[str, str], ask: AskInstalled, ask_torch: AskTorch
) -> VerifyDecision:
    """Sort out what the interpreter that `ask` asks cannot reproduce, and gather what executing the rest needs.

    torch is imported, by `ask_torch`, only when something will be executed. Raises HostBroken when the interpreter
    cannot be used.
    """
    cat, label = selection.cat, selection.label
    chosen = [cat.snippets[name] for name in reasons]
    interpreter = ask(
        {name for item in chosen for name in item.packages}, {name for item in chosen for name in item.modules}
    )
    records = {name: item for name in reasons if (item := cat.records.get((label, name)))}
    told = {name: why or _lacking(cat.snippets[name], records[name], interpreter) for name, why in reasons.items()}
    open_ones = [cat.snippets[name] for name, why in told.items() if not why]
    asked = bool(open_ones)
    answers = (
        preflight.torch_answers(interpreter, preflight.question(open_ones), ask_torch)
        if asked
        else preflight.unasked(interpreter)
    )
    here = facts.probe_host(label, answers).host
    again = plan.make(open_ones, {}, interpreter, answers.gates, force=True)
    assert again is not None, "all gates have been asked"
    broken = (answers.torch_error or "") if asked and interpreter.torch else ""
    if broken:
        again = plan.without_torch(again, broken)
    told |= {name: "; ".join(words) for name, words in again.unmet.items()}
    return VerifyDecision(
        tasks=tuple(VerifyTask(step.snippet, records[step.snippet.id]) for step in again.steps),
        skipped=tuple(skipped(name, label, records.get(name), why) for name, why in told.items() if why),
        prepared=preflight.prepared(cat.book, here, answers, interpreter, {}),
        broken=broken,
    )


def skipped(name: str, label: str, item: Record | None, why: str) -> Reproduction:
    """Return the result for a record that is not verified; it may not even be there."""
    return Reproduction(name, label, item.content_sha256 if item else None, "skipped", None, why)


def _lacking(snippet: Snippet, item: Record, interpreter: Interpreter) -> str:
    """Say what the interpreter lacks to reproduce a record, or nothing. torch's full version tells its build too."""
    if item.environment.torch != interpreter.torch:
        there, here = (version or "none" for version in (item.environment.torch, interpreter.torch))
        return f"captured with torch {there}, this interpreter has {here}"
    return "; ".join(plan.unmet_software(snippet, interpreter))
