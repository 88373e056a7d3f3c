"""`capture run --fleet`: the same on the hosts of a dask cluster; only this process writes."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePath, PureWindowsPath

from capture import store
from capture.cli.context import complain, say, tell
from capture.cli.progress import follow
from capture.cli.report import judged_claims, summary
from capture.cli.run_outcome import exit_code, interrupted, prepare_host, show_plan
from capture.errors import EXIT_ATTENTION, EXIT_INVALID, EXIT_OK, EXIT_PRIVACY, CaptureError
from capture.host.host import LOCAL, check_label
from capture.run import preflight
from capture.run.engine.selection import Choice
from capture.run.fleet import dask_cluster as clusters
from capture.run.fleet import members
from capture.run.fleet.fleet_run import Run, Told
from capture.run.fleet.members import Member
from capture.run.fleet.questions import Request, probe
from capture.run.measure import Options
from capture.run.preflight import Decision, read_for
from capture.run.shard import Shard
from capture.store import Handbook
from capture.store.catalogue import Catalogue


@dataclass(frozen=True)
class Asked:
    """What the command line selects: ids or all, and a share of them or the whole."""

    book: Handbook
    ids: Sequence[str]
    share: Shard | None

    def read(self, label: str) -> tuple[Catalogue, list[str]]:
        """Return a host's records and what is selected; raises CaptureError as `preparation.read_for` does."""
        return read_for(self.book, label, self.ids, self.share)


@dataclass(frozen=True)
class Planned:
    """What there is to do on one host."""

    cat: Catalogue
    ids: list[str]
    decision: Decision


def run_fleet(
    asked: Asked,
    address: str,
    host: str,
    python: str,
    engine: Choice,
    force: bool,
    dry_run: bool,
    options: Options,
) -> int:
    """Capture on the hosts of a fleet and return the exit code."""
    chosen = "" if host == LOCAL else check_label(host)
    if is_relative(python):
        raise CaptureError(
            f"--python {python}: with --fleet it is a path on the workers; give an absolute one, or a name"
        )
    cat, names = asked.read(host)
    if asked.share:
        say(summary.share_line(asked.share, len(names)))
    sources = [problem for problem in cat.problems if preflight.is_source(problem.path)]
    complain(sources)
    request = Request(python, engine, options, preflight.question(cat.snippets[name] for name in names), chosen)
    results: list[Told] = []
    with clusters.connected(address) as cluster, contextlib.ExitStack() as stack:
        everyone = probe(cluster, request, tell)
        groups = members.gathered(everyone, chosen)
        plans = planned(asked, groups, force)
        complain(problem for item in plans.values() for problem in item.cat.problems if problem not in sources)
        if dry_run:
            for label, item in plans.items():
                show_plan(item.decision, label)
            return EXIT_INVALID if any(item.cat.problems for item in plans.values()) else EXIT_OK
        busy = [label for label, item in plans.items() if item.decision.plan.steps]
        waited = [stack.enter_context(store.held(asked.book, label, tell)) for label in busy]
        if any(waited):
            plans = planned(asked, groups, force)  # what the other run captured is current now
        for label in busy:
            prepare_host(plans[label].decision, plans[label].cat, label)
        if any(item.decision.plan.steps for item in plans.values()):
            decisions = {label: item.decision for label, item in plans.items()}
            others = [member.address for member in everyone if member.label not in groups]
            results = execute(Run(cluster, request, groups, decisions, others, tell), decisions)
        else:
            say("nothing to execute: every record that these hosts can make is current")
        return max((ended(asked, label, item, results, force) for label, item in plans.items()), key=worst)


def planned(asked: Asked, groups: dict[str, list[Member]], force: bool) -> dict[str, Planned]:
    """Plan every host; raises CaptureError for the first that cannot be, before anything is executed."""
    plans = {}
    for label, group in groups.items():
        cat, names = asked.read(label)
        plans[label] = Planned(cat, names, members.decide(cat, names, group[0], force))
    return plans


def execute(run: Run, decisions: dict[str, Decision]) -> list[Told]:
    """Run the plans and return what became of them; Ctrl-C ends them cleanly, on the workers too."""
    total = sum(len(decision.plan.steps) for decision in decisions.values())
    results, whole = follow(run.results, total, "capturing", line)
    if not whole:
        interrupted(len(results), total)
    return results


def ended(asked: Asked, label: str, item: Planned, results: list[Told], force: bool) -> int:
    """Print what became of a host and return its exit code."""
    cat, names = asked.read(label)
    found, decision = [told.result for told in results if told.label == label], item.decision
    judged = judged_claims.on_host(cat, label, names)
    for text in summary.run_summary(decision.plan, found, label, judged.failing):
        say(text)
    complain(judged.problems)
    if decision.broken:
        complain([f"{label}: torch fails to import there: {decision.broken}; mend the installation"])
        return EXIT_INVALID
    return exit_code(decision.plan, found, judged, bool(force and asked.ids), bool(cat.problems))


def worst(code: int) -> int:
    """Order exit codes: what is refused for privacy is told above all."""
    return (EXIT_OK, EXIT_ATTENTION, EXIT_INVALID, EXIT_PRIVACY).index(code)


def line(told: Told) -> str:
    """Return the line that tells of a result as it comes."""
    return f"{told.label}: {summary.passing_line(told.result)}"


def is_relative(path: str) -> bool:
    """Tell whether a path would depend on the folder that a worker happens to be in."""
    return (
        len(PurePath(path).parts) > 1 and not PurePath(path).is_absolute() and not PureWindowsPath(path).is_absolute()
    )
