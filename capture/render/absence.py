"""Why there is no result: which gate is not met, what the host says about it, and what to run."""

from __future__ import annotations

from collections.abc import Iterable

from capture.host import LOCAL
from capture.render.model import Absence
from capture.render.site import Site
from capture.render.text import listed
from capture.snippet import Snippet, unmet_gates
from capture.state import State, gate_words

# The question behind a gate, where it is one call that a reader can make.
ASKS = {
    "cuda": "torch.cuda.is_available()",
    "mps": "torch.backends.mps.is_available()",
    "xpu": "torch.xpu.is_available()",
    "gloo": "torch.distributed.is_gloo_available()",
}


def command(snippet: Snippet, label: str | None = None) -> str:
    """Return the command that captures a snippet on a host."""
    target = "" if label in (None, LOCAL) else f" --host {label}"
    return f"capture run {snippet.id}{target}"


def on_host(site: Site, snippet: Snippet, label: str, state: State) -> Absence:
    """Say why one host has no result."""
    where = site.titles[label]
    if state.kind == "gate unmet":
        return Absence(
            headline=f"Not captured on {where}: {listed(state.reasons)}.",
            reasons=tuple(answers(site, snippet, label)),
            advice=f"On a host that {having(snippet)}:",
            command=command(snippet),
        )
    return Absence(f"Not captured on {where} yet.", (), "On that host:", command(snippet, label))


def nowhere(site: Site, snippet: Snippet) -> Absence:
    """Say why no host has a result."""
    states = {label: site.states[label, snippet.id] for label in site.order}
    unmet = [label for label, state in states.items() if state.kind == "gate unmet"]
    if not states:
        return Absence("Not captured yet: no host has captured anything here.", (), "On your machine:", command(snippet))
    if len(unmet) == len(states):
        reasons = tuple(reason for label in unmet for reason in answers(site, snippet, label))
        lacking = listed(dict.fromkeys(words for label in unmet for words in states[label].reasons))
        return Absence(
            f"Not captured on any host here: {lacking}.", reasons, f"On a host that {having(snippet)}:", command(snippet)
        )
    missing = [label for label in states if label not in unmet]
    reasons = tuple(reason for label in unmet for reason in answers(site, snippet, label))
    target = missing[0]
    return Absence(
        "Not captured on any host here yet.", reasons, f"On {site.titles[target]}:", command(snippet, target)
    )


def answers(site: Site, snippet: Snippet, label: str) -> Iterable[str]:
    """Say what a host answers to the gates that are not met."""
    gates = site.catalogue.gates(label) or {}
    where = "this machine" if label == LOCAL else site.titles[label]
    for gate in unmet_gates(snippet, gates):
        bare = gate.removeprefix("!")
        if bare in ASKS and not gate.startswith("!") and not gates.get("rocm"):
            yield f"{ASKS[bare]} is False on {where}"
        elif bare.startswith("module:"):
            verb = "imports" if gate.startswith("!") else "cannot import"
            yield f"{where} {verb} {bare.removeprefix('module:')}"
        else:
            yield f"{where} says {bare}: {'yes' if gate.startswith('!') else 'no'}"


def having(snippet: Snippet) -> str:
    """Say what a host must have, as `has cuda` or `has no rocm`."""
    asks = [gate_words(gate) for gate in snippet.needs]
    return listed(ask.replace("needs a host without", "has no").replace("needs", "has") for ask in asks)
