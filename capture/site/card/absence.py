"""Why there is no result: which gate is not met, what the host says about it, and what to run."""

from __future__ import annotations

from collections.abc import Mapping

from capture.host.host import LOCAL
from capture.record.state import State, gate_words
from capture.site.model.card_view import Absence
from capture.site.model.output_text import joined_host_titles, joined_with_and
from capture.site.model.site import Site
from capture.snippet.snippet import Snippet, unmet_gates

# The question behind a gate, where it is one call that a reader can make.
GATE_CALLS = {
    "cuda": "torch.cuda.is_available()",
    "mps": "torch.backends.mps.is_available()",
    "xpu": "torch.xpu.is_available()",
    "gloo": "torch.distributed.is_gloo_available()",
}


def run_command(snippet: Snippet, label: str | None = None) -> str:
    """Return the command that captures a snippet on a host."""
    target = "" if label in (None, LOCAL) else f" --host {label}"
    return f"capture run {snippet.id}{target}"


def unrecorded(snippet: Snippet, label: str) -> str:
    """Say that a page shows what nobody has published, and how to make it on a host that can."""
    return f"no published host has a record of {snippet.id}; capture it: {run_command(snippet, label)}"


def on_host(site: Site, snippet: Snippet, label: str, state: State) -> Absence:
    """Say why one host has no result."""
    where = site.titles[label]
    if state.kind == "gate unmet":
        return Absence(
            headline=f"Not captured on {where}: {joined_with_and(state.reasons)}.",
            reasons=_gate_answers(site, snippet, label),
            advice=f"On a host that {_needed_of_a_host(snippet)}:",
            command=run_command(snippet),
        )
    return Absence(f"Not captured on {where} yet.", (), "On that host:", run_command(snippet, label))


def nowhere(site: Site, snippet: Snippet) -> Absence:
    """Say why no host has a result."""
    states = {label: site.states[label, snippet.id] for label in site.order}
    unmet = [label for label, state in states.items() if state.kind == "gate unmet"]
    if not states:
        return Absence("Not captured yet: no host has captured here.", (), "On your machine:", run_command(snippet))
    reasons = _gate_answers(site, snippet, *unmet)
    if len(unmet) == len(states):
        lacking = joined_with_and(dict.fromkeys(words for label in unmet for words in states[label].reasons))
        headline = f"Not captured on any host here: {lacking}."
        return Absence(headline, reasons, f"On a host that {_needed_of_a_host(snippet)}:", run_command(snippet))
    able = next(label for label in states if label not in unmet)
    return Absence(
        "Not captured on any host here yet.", reasons, f"On {site.titles[able]}:", run_command(snippet, able)
    )


def _gate_answers(site: Site, snippet: Snippet, *labels: str) -> tuple[str, ...]:
    """Say what hosts answer to the gates that they do not meet, each answer once."""
    said: dict[str, list[str]] = {}
    for label in labels:
        gates = site.gates[label]
        for gate in unmet_gates(snippet, gates):
            said.setdefault(_gate_answer(gate, gates), []).append(site.titles[label])
    return tuple(f"{words} on {joined_host_titles(names)}" for words, names in said.items())


def _gate_answer(gate: str, gates: Mapping[str, bool]) -> str:
    """Say what a host answers to one gate that it does not meet."""
    bare = gate.removeprefix("!")
    if bare.startswith("module:"):
        return f"{bare.removeprefix('module:')} can{'' if gate.startswith('!') else 'not'} be imported"
    if bare in GATE_CALLS and not gate.startswith("!") and not gates.get("rocm"):
        return f"{GATE_CALLS[bare]} is False"
    return f"{bare} is {'yes' if gate.startswith('!') else 'no'}"


def _needed_of_a_host(snippet: Snippet) -> str:
    """Say what a host must have, as `has cuda` or `has no rocm`."""
    asks = [gate_words(gate) for gate in snippet.needs]
    return joined_with_and(ask.replace("needs a host without", "has no").replace("needs", "has") for ask in asks)
