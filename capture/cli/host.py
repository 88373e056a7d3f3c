"""`capture host show`, `init` and `doctor`: what is known about this machine."""

from __future__ import annotations

import dataclasses
from typing import Annotated

import typer

from capture import plain_data, store
from capture.check.plausibility import LONGEST_NAME
from capture.cli.context import complain, handbook, say
from capture.cli.run_outcome import twins
from capture.errors import EXIT_ATTENTION, CaptureError
from capture.host.host import Host, check_label, identified, same_machine
from capture.host.probe import facts
from capture.host.probe.interpreter import this_interpreter
from capture.host.probe.torch_probe import TorchFacts, TorchRequest, probe_torch
from capture.run import preflight

app = typer.Typer(
    no_args_is_help=True,
    help="What would be recorded about this machine.",
    rich_markup_mode=None,
    add_completion=False,
)
Python = Annotated[str, typer.Option(metavar="PATH", help="Interpreter whose torch is asked; this one by default.")]


def report(label: str, python: str) -> tuple[facts.HostReport, TorchFacts]:
    """Probe this machine with an interpreter."""
    answers = probe_torch(python or this_interpreter(), TorchRequest())
    return facts.probe_host(label, answers), answers


@app.command("show")
def show(python: Python = "") -> None:
    """Print what would be recorded about this host.

    Each fact with its source, each null with its reason.
    """
    probed, answers = report("this-host", python)
    for name, value in flat(probed.host).items():
        if name in ("schema", "label"):
            continue
        source = probed.sources.get(name) or ("derived" if value is not None else "")
        reason = probed.host.reasons.get(name, "")
        shown = "null" if value is None else as_text(value)
        origin = f"no value: {reason}" if value is None and reason else source
        say(f"{name:24} {shown}    ({origin})" if origin else f"{name:24} {shown}")
    say("\nin each record, since it may move:")
    environment = plain_data.encode(facts.environment(probed.host, answers, ()))
    for name, value in environment.items():
        reason = null_reason(name, probed, answers) if value is None else ""
        shown = f"null    (no value: {reason})" if reason else as_text(value)
        say(f"{name:24} {shown}")


def null_reason(name: str, probed: facts.HostReport, answers: TorchFacts) -> str:
    """Say why a field of a record's environment is null."""
    if name == "torch":
        return answers.torch_error or "not installed"
    if name == "cuda_build":
        return "torch was not built for CUDA"
    if name == "driver" and not probed.host.accelerators:
        return "no accelerator that torch can use"
    known = probed.host.reasons.get(name) or answers.errors.get(name) or answers.errors.get(f"torch.{name}")
    return known or "this host tells nothing"


def as_text(value: object) -> str:
    """Return a value as a record shows it, on one line."""
    if isinstance(value, dict):
        return ", ".join(f"{key} {as_text(part)}" for key, part in value.items()) or "none"
    return str(value).lower() if isinstance(value, bool) else str(value)


def flat(host: Host) -> dict[str, object]:
    """Return the facts of a host by dotted name."""
    result: dict[str, object] = {}
    for name, value in plain_data.encode(host).items():
        if name == "reasons":
            continue
        if name == "cpu":
            result |= {f"cpu.{key}": part for key, part in value.items()}
        elif name == "accelerators":
            result[name] = (
                "; ".join(f"{a.count} x {a.name}, {a.memory_mib} MiB, {a.capability}" for a in host.accelerators)
                or "none"
            )
        else:
            result[name] = value
    return result


@app.command("init")
def init(
    context: typer.Context,
    label: Annotated[str, typer.Argument(help="Names the hardware, such as epyc-avx2; never a node or a person.")],
    python: Python = "",
    title: Annotated[str, typer.Option(metavar="TEXT", help="Short name for tabs; from the hardware by default.")] = "",
) -> None:
    """Write this host's facts under a label.

    Another machine under the same label is refused, and an interpreter whose torch fails to import.
    """
    book = handbook(context)
    check_label(label)
    if len(title) > LONGEST_NAME:
        raise CaptureError(f"--title has {len(title)} characters, where {LONGEST_NAME} are the most; it names a tab")
    try:
        known = store.read_host(book, label)
    except CaptureError as error:
        complain(error.problems)
        known = None  # damaged; the remedy is to write it again
    probed, answers = report(label, python)
    preflight.require_torch_imports(answers)
    here = probed.host
    if known is not None:  # an edited fingerprint says nothing; the facts do
        known = identified(known)
    if known is not None and not same_machine(known, here):
        preflight.refuse(known, label, here)
    here = dataclasses.replace(here, title=title or (known.title if known else here.title))
    changed = preflight.keep_host(book, here)
    path = book.relative(book.host_path(label))
    also = twins(book, here) if changed else ""
    say(f"{'wrote' if changed else 'unchanged:'} {path}{also}; now capture: capture run --host {label}")


@app.command("doctor")
def doctor(python: Python = "") -> None:
    """Name each probe that failed, why, and what would make it work."""
    probed, answers = report("this-host", python)
    problems = facts.diagnose(probed, answers)
    for name, reason, remedy in problems:
        say(f"{name}: {reason}; {remedy}")
    if problems:
        raise typer.Exit(EXIT_ATTENTION)
    say("every probe that applies to this host works")
