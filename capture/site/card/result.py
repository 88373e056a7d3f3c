"""What a host has for a snippet, in words: badge, outcome, output, claims, environment."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from capture.errors import plural
from capture.record import claims, record
from capture.record.record import Record
from capture.record.state import State
from capture.site.model import reproduced
from capture.site.model.card_view import Badge, Fact, Failure, Gate, Rerun, ResultView, Verdict
from capture.site.model.links import Links
from capture.site.model.output_text import bounded_stream, joined_host_titles, written_day
from capture.site.model.site import Site
from capture.snippet.snippet import Snippet
from capture.store.catalogue import unjudged

_NAMED_HOSTS = 3  # hosts on which a claim holds too that are named; of more the ledger of claims tells
_OTHER_DEVICES = ("rocm", "mps", "xpu", "xla")
_ENDINGS = {
    "timeout": "Stopped at its time limit",
    "crashed": "Crashed",
    "output_limit": "Stopped: it printed too much",
    "out_of_memory": "Stopped: it took too much memory",
}
JudgementsByHost = Mapping[tuple[str, str], claims.Judgement]
"""Verdicts by (claim id, label)."""
_CLAIM_MARKS: dict[str, tuple[str, str]] = {
    "holds": ("holds", "holds here"),
    "fails": ("fails", "fails here"),
    "not claimed": ("scope", "not claimed"),
    "not judged": ("scope", "not judged"),
}


def result(
    site: Site, snippet: Snippet, item: Record, links: Links, judged: JudgementsByHost, same_as: str, searchable: bool
) -> ResultView:
    """Return all that a panel shows of a record.

    `same_as` names a host whose output is the same; `searchable` says whether this output goes to the search index.
    """
    known = site.states[item.host, snippet.id]
    again = reproduced.rerun_of(site.verification, item)
    return ResultView(
        badge=_badge(snippet, item, known, same_as, again),
        failure=_failure(item),
        note=f"ends with exit code {item.exit_code}, as it should" if item.status == "ok" and item.exit_code else "",
        stdout=bounded_stream(item.stdout),
        stderr=bounded_stream(item.stderr),
        elisions=tuple(_elisions(item)),
        verdicts=_verdicts(site, snippet, item, judged),
        facts=tuple(facts(item, known, again)),
        record=links.record(item.host, snippet.id),
        searchable=searchable,
    )


def _badge(snippet: Snippet, item: Record, known: State, same_as: str, again: Rerun | None) -> Badge:
    """Return the head of the output; the chip's first part is its name."""
    environment = item.environment
    chip, comma, rest = environment.chip.partition(", ")
    capability = environment.cpu_capability
    if capability and capability.lower() not in environment.chip.lower():
        rest = f"{rest}, torch kernels for {capability}" if comma else f"torch kernels for {capability}"
    intra, inter = environment.threads.get("intra"), environment.threads.get("inter")
    # A snippet may set its own number; this is what the interpreter started with.
    threads = f"starts with {plural(intra, 'thread')}" if intra is not None else ""
    if threads and inter is not None and inter != intra:
        threads += f" ({inter} inter-op)"
    return Badge(
        state=str(known),
        kind=known.kind,
        chip=chip,
        rest=rest,
        torch=f"torch {environment.torch}" if environment.torch else "torch not importable",
        build=torch_build(item),
        gates=tuple(_badge_gates(snippet, environment.gates)),
        threads=threads,
        date=item.captured,
        day=written_day(item.captured),
        runs=runs(item),
        busy=bool(item.conditions and item.conditions.busy),
        same_as=same_as,
        rerun=again,
    )


def torch_build(item: Record) -> str:
    """Say what torch was built for, and the driver it found."""
    environment = item.environment
    kind = record.build(environment.torch, environment.cuda_build)
    words = {"cuda": f"built for CUDA {environment.cuda_build}", "rocm": "built for ROCm", "xpu": "built for XPU"}
    text = words.get(kind or "", "CPU build" if kind else "")
    if environment.driver:
        text += f", driver {environment.driver}"
    return text


def _badge_gates(snippet: Snippet, answers: Mapping[str, bool]) -> Iterable[Gate]:
    """Return the gates that decide about the numbers: cuda always, other devices where there, and what it needs."""
    needed = [gate.removeprefix("!") for gate in snippet.needs]
    for name, yes in answers.items():
        if name == "cuda" or (name in _OTHER_DEVICES and yes) or name in needed:
            yield Gate(name.removeprefix("module:"), yes)


def runs(item: Record) -> str:
    """Say how often it ran and how well the runs agree."""
    count = item.runs.count
    cores = f", {item.conditions.cores}" if item.conditions and item.conditions.cores else ""
    if item.runs.spread is not None:
        return f"{plural(count, 'run')}, spread {item.runs.spread:g}×{cores}"
    if item.runs.agree is not None and count > 1:
        return f"{plural(count, 'run')} agree" if item.runs.agree else f"{plural(count, 'run')} disagree"
    return f"{plural(count, 'run')}{cores}"


def _failure(item: Record) -> Failure | None:
    """Say how a failed execution ended, or return None."""
    if item.status == "ok":
        return None
    headline = "Did not compile" if item.phase == "compile" else _ENDINGS.get(item.status, "Failed")
    details = []
    if item.signal:
        details.append(f"signal {item.signal}")
    if item.exit_code is not None:
        details.append(f"exit code {item.exit_code}")
    if item.left_processes:
        details.append(f"{plural(item.left_processes, 'process', 'processes')} left behind, ended")
    return Failure(f"{headline}: {', '.join(details)}" if details else headline, item.hint or "")


def _elisions(item: Record) -> Iterable[str]:
    """Say what the record itself leaves out."""
    for name, part in item.elided.items():
        yield f"{name}: {part.bytes:,} bytes were printed; the record keeps head and tail, without {part.left_out:,}"


def judgements(site: Site, snippet: Snippet) -> JudgementsByHost:
    """Judge every claim on every host; one that cannot be evaluated is `capture check`'s to report, and not judged."""
    return {(entry.claim.id, entry.host): entry for entry in site.judgements(snippet.id)}


def _verdicts(site: Site, snippet: Snippet, item: Record, judged: JudgementsByHost) -> tuple[Verdict, ...]:
    """Return every claim as it stands on this host, the judged ones first, and what it does on the others.

    Why it holds its own words say, and why none is judged the badge says.
    """
    rows = []
    why_not = unjudged(item, site.states[item.host, snippet.id])
    for claim in snippet.claims:
        here = judged[claim.id, item.host]
        more = [] if here.verdict == "holds" or here.reason == why_not else [here.reason]
        for verdict in ("holds", "fails"):
            others = [one for (name, label), one in judged.items() if name == claim.id and label != item.host]
            names = [site.titles[one.host] for one in others if one.verdict == verdict]
            also = "also " if verdict == here.verdict else ""
            many = verdict == "holds" and len(names) > _NAMED_HOSTS  # where it fails is always said in full
            who = f"{len(names)} other hosts" if many else joined_host_titles(names)
            more += [f"{also}{verdict} on {who}"] if names else []
        kind, mark = _CLAIM_MARKS[here.verdict]
        rows.append(Verdict(kind, mark, claim.says, "; ".join(more)))
    return tuple(sorted(rows, key=lambda row: row.kind == "scope"))


def facts(item: Record, known: State, again: Rerun | None = None) -> Iterable[Fact]:
    """Return what the badge has no room for; where threads stood at a timeout is for authors, in the record."""
    environment, conditions = item.environment, item.conditions
    if again:
        yield Fact("re-run by CI", again.detail)
    yield Fact("system", environment.os)
    yield Fact("Python", environment.python)
    if environment.cpu_capability:
        yield Fact("torch kernels", environment.cpu_capability)
    if environment.packages:
        yield Fact("packages", ", ".join(f"{name} {version}" for name, version in environment.packages.items()))
    if environment.gates:
        yield Fact("gates", ", ".join(f"{name} {'yes' if yes else 'no'}" for name, yes in environment.gates.items()))
    if environment.limits:
        yield Fact("limits", ", ".join(f"{name} {value}" for name, value in environment.limits.items()))
    if environment.xla:
        yield Fact("XLA", ", ".join(f"{name} {value}" for name, value in environment.xla.items()))
    if conditions:
        load = f"{conditions.load_before:g}" if conditions.load_before is not None else "unknown"
        text = f"load before {load}, other processes {conditions.foreign_cpu:g} CPUs"
        text += f", steal {conditions.steal:.1%}" if conditions.steal is not None else ""
        text += f", governor {conditions.governor}" if conditions.governor else ""
        if conditions.cpu_mhz:
            text += f", CPU at {conditions.cpu_mhz}"
            text += f" of {conditions.cpu_max_mhz} MHz" if conditions.cpu_max_mhz else " MHz"
        text += f", slowed down by heat {plural(conditions.throttled, 'time')}" if conditions.throttled else ""
        text += ", on battery" if conditions.on_battery else ""
        yield Fact("conditions", text + (f", {conditions.gpu}" if conditions.gpu else ""))
    for note in known.notes:
        yield Fact("upstream", note)
    if item.normalized:
        yield Fact("text rules applied", ", ".join(item.normalized))
    yield Fact("source digest", item.source_sha256[:12])
