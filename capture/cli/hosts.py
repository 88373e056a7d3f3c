"""`capture host show`, `init` and `doctor`: what is known about this machine."""

from __future__ import annotations

from typing import Annotated

import typer

from capture import shape, store
from capture.cli.context import handbook, stdout
from capture.errors import EXIT_ATTENTION, HostRefused
from capture.host import Host, check_label, differences, fingerprint
from capture.probe import facts
from capture.probe.interpreter import this_interpreter
from capture.probe.torch_probe import TorchFacts, TorchRequest, probe_torch

app = typer.Typer(no_args_is_help=True, help="What would be recorded about this machine.", rich_markup_mode=None)
Python = Annotated[str, typer.Option(help="Interpreter whose torch is asked.")]


def report(label: str, python: str) -> tuple[facts.HostReport, TorchFacts]:
    """Probe this machine with an interpreter."""
    answers = probe_torch(python or this_interpreter(), TorchRequest())
    return facts.probe_host(label, answers), answers


@app.command("show")
def show(python: Python = "") -> None:
    """Print what would be recorded about this host, from which source, with a reason for each null."""
    found, answers = report("this-host", python)
    console = stdout()
    for name, value in flat(found.host).items():
        if name in ("schema", "label"):
            continue
        source = found.sources.get(name) or ("derived" if value is not None else "")
        reason = found.host.reasons.get(name, "")
        shown = "null" if value is None else value
        origin = f"no value: {reason}" if value is None and reason else source
        console.print(f"{name:24} {shown}    ({origin})" if origin else f"{name:24} {shown}", markup=False)
    console.print("\nin each record, since it may move:", markup=False)
    environment = shape.encode(facts.environment(found.host, answers, ()))
    for name, value in environment.items():
        reason = null_reason(name, found, answers) if value is None else ""
        shown = f"null    (no value: {reason})" if reason else as_text(value)
        console.print(f"{name:24} {shown}", markup=False)


def null_reason(name: str, found: facts.HostReport, answers: TorchFacts) -> str:
    """Say why a field of a record's environment is null."""
    if name == "torch":
        return answers.torch_error or "not installed"
    if name == "cuda_build":
        return "torch was not built for CUDA"
    known = found.host.reasons.get(name) or answers.errors.get(name) or answers.errors.get(f"torch.{name}")
    return known or "this host tells nothing"


def as_text(value: object) -> str:
    """Return a value as a record shows it, on one line."""
    if isinstance(value, dict):
        return ", ".join(f"{key} {as_text(part)}" for key, part in value.items()) or "none"
    return str(value).lower() if isinstance(value, bool) else str(value)


def flat(host: Host) -> dict[str, object]:
    """Return the facts of a host by dotted name."""
    result: dict[str, object] = {}
    for name, value in shape.encode(host).items():
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
    title: Annotated[str, typer.Option(help="Short name for tabs; from the hardware by default.")] = "",
) -> None:
    """Write this host's facts under a label; another machine under the same label is refused."""
    import dataclasses

    book = handbook(context)
    check_label(label)
    found, _ = report(label, python)
    here = dataclasses.replace(found.host, title=title) if title else found.host
    known = store.read_host(book, label)
    if known is not None and known.fingerprint != fingerprint(here):
        raise HostRefused(
            f'label "{label}" names another machine ({"; ".join(differences(known, here))}); choose a new label'
        )
    changed = store.write_host(book, here)
    path = book.relative(book.host_path(label))
    stdout().print(
        f"{'wrote' if changed else 'unchanged:'} {path}; now capture: capture run --host {label}",
        markup=False,
    )


@app.command("doctor")
def doctor(python: Python = "") -> None:
    """Name each probe that failed, why, and what would make it work."""
    found, answers = report("this-host", python)
    problems = facts.diagnose(found, answers)
    for name, reason, remedy in problems:
        stdout().print(f"{name}: {reason}; {remedy}", markup=False)
    if problems:
        raise typer.Exit(EXIT_ATTENTION)
    stdout().print("every probe that applies to this host works", markup=False)
