"""Which workers make up which host, and what each host has to do; every refusal comes before anything is executed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from capture.errors import CaptureError, HostBroken, HostRefused, plural
from capture.host import host
from capture.host.host import LOCAL
from capture.run import preflight
from capture.run.fleet.answers import Probe
from capture.run.preflight import RunDecision
from capture.run.run_request import HostSelection

NAME_IT = "start it with the label of its hardware, CAPTURE_HOST=LABEL dask worker ADDRESS, or give --host LABEL"


@dataclass(frozen=True)
class Member:
    """A worker that takes part, by the label of its host."""

    address: str
    label: str
    threads: int
    probe: Probe


def label_of(probe: Probe, chosen: str) -> str:
    """Return the label of a worker's host: what it names, else the chosen one, else nothing.

    Raises CaptureError for a label that cannot be one, or is not to be committed.
    """
    label = probe.label or chosen
    if label == LOCAL:
        raise CaptureError(f'a worker calls its host "{LOCAL}", which is whoever works here; {NAME_IT}')
    return host.check_label(label) if label else ""


def gathered(members: Iterable[Member], chosen: str) -> dict[str, list[Member]]:
    """Return the members by label; with a chosen label only that one.

    Raises CaptureError where a worker has no label, or two of one label are not the same machine and software.
    """
    groups: dict[str, list[Member]] = {}
    unnamed = []
    for member in sorted(members, key=lambda member: member.address):
        if not member.label:
            unnamed.append(member.address)
        elif not chosen or member.label == chosen:
            groups.setdefault(member.label, []).append(member)
    if unnamed:
        raise CaptureError(f"{plural(len(unnamed), 'worker')} without a label ({', '.join(unnamed[:3])}); {NAME_IT}")
    if not groups:
        raise CaptureError(f"no worker of this fleet is {chosen}; its label is what CAPTURE_HOST says there")
    for label, group in groups.items():
        for other in group[1:]:
            if why := apart(group[0], other):
                raise HostRefused(
                    f'label "{label}" names two hosts, {group[0].address} and {other.address} ({why}); give each its '
                    "own label: CAPTURE_HOST=LABEL dask worker ADDRESS"
                )
    return dict(sorted(groups.items()))


def apart(one: Member, other: Member) -> str:
    """Say in what two workers of one label differ, machine or software, or nothing."""
    mine, its = one.probe, other.probe
    if mine.machine != its.machine and not host.same_machine(mine.host, its.host):
        return "; ".join(host.differences(mine.host, its.host)[:4]) or "neither tells what it is"
    if mine.host.fingerprint != its.host.fingerprint:
        return "; ".join(host.differences(mine.host, its.host)[:4])
    if mine.software != its.software:
        versions = [
            f"Python {item.interpreter.version}, torch {item.interpreter.torch or 'none'}" for item in (mine, its)
        ]
        return " and ".join(dict.fromkeys(versions)) if versions[0] != versions[1] else "other packages or gates"
    return ""


def decide(selection: HostSelection, member: Member, force: bool) -> RunDecision:
    """Plan what a host has to do, as `preflight.decide` does for this one.

    Raises HostRefused where its label names another machine, HostBroken where torch fails to import there.
    """
    label, probe = member.label, member.probe
    records = preflight.own_records(selection)
    preflight.require_same_software(label, records, probe.interpreter)
    here = replace(probe.host, label=label)
    try:
        return preflight.decided(selection, here, probe.facts, probe.interpreter, records, force)
    except HostBroken as error:
        raise HostBroken(f"{label}: {error}") from error


def answering(probes: Mapping[str, Probe | CaptureError]) -> dict[str, Probe]:
    """Return what every worker told; raises CaptureError naming each that could not."""
    lost = [f"worker {address}: {error}" for address, error in probes.items() if isinstance(error, CaptureError)]
    if lost:
        raise CaptureError(*lost)
    return {address: found for address, found in probes.items() if isinstance(found, Probe)}
