"""`capture review`: show what differs from HEAD, capture by capture, and have each accepted or rejected."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Annotated

import typer

from capture import store
from capture.check import rules
from capture.cli.context import complain, handbook, say, stdout, tell, visible
from capture.cli.report import review_text
from capture.errors import (
    EXIT_ATTENTION,
    EXIT_INVALID,
    EXIT_OK,
    EXIT_PRIVACY,
    CaptureError,
    plural,
    suggestion,
)
from capture.host.host import LOCAL
from capture.record.privacy import PRIVACY_RULES
from capture.review import carry_out, handbook_changes, waiting
from capture.review.carry_out import REJECTED, DecisionOutcome
from capture.review.revision import WORKING_TREE, handbook_at
from capture.review.waiting import ReviewItem, Uncommitted
from capture.run import plan
from capture.store import catalogue

_HELP = {
    "ids": "Ids, globs or chapters; all that differ by default.",
    "host": "Only captures of this host.",
    "accept": "Accept without asking: git add.",
    "reject": "Reject without asking: HEAD's version comes back, what is rejected is kept.",
    "all": "With --accept or --reject: everything that differs.",
}
_KEYS = {
    "a": "accept it: git add, with its host.yaml where that is new or changed",
    "r": f"reject it: HEAD's version comes back, and what is rejected is kept in {REJECTED}/",
    "s": "skip it: leave it for later",
    "A": "accept it and all that follow of this host",
    "R": "reject it and all that follow of this host",
    "q": "quit: leave it and all that follow",
    "?": "show this help",
}
_HOW_WITHOUT_TERMINAL = """\
decide without a terminal:
  capture review ID… --accept      or --reject; --host LABEL takes all of one host
  capture review --accept --all    everything that differs"""


@dataclass
class ReviewSession:
    """One review under way.

    `commit` is the HEAD it compares with, `items` are those that the person asked for, and `stamp` names the folder in
    which rejected captures are kept. `refused` holds by path the exit code of what could not be accepted.
    """

    book: store.Handbook
    commit: str
    items: list[ReviewItem]
    stamp: str
    refused: dict[str, int] = field(default_factory=dict)

    def decide(self, accepting: bool, items: Sequence[ReviewItem]) -> list[ReviewItem]:
        """Accept or reject items, print what became of each, and return those that still wait."""
        try:
            if accepting:
                outcomes = carry_out.accept(self.book, self.commit, items, tell)
            else:
                outcomes = carry_out.reject(self.book, self.commit, items, self.stamp, tell)
        except CaptureError as error:
            complain(error.problems)
            self.refused |= {item.entry.path: error.exit_code for item in items}
            return list(items)
        for outcome in outcomes:
            (say if outcome.done else tell)(outcome.words)
        return [item for item in items if not self._is_decided(item, outcomes)]

    def _is_decided(self, item: ReviewItem, outcomes: Iterable[DecisionOutcome]) -> bool:
        """Tell whether an item was accepted or rejected; of one that cannot be accepted, remember the exit code."""
        done = any(outcome.done for outcome in outcomes if outcome.path == item.entry.path)
        if not done and item.why_not:
            self.refused[item.entry.path] = EXIT_PRIVACY if item.why_not.rule in PRIVACY_RULES else EXIT_INVALID
        return done


def review(
    context: typer.Context,
    ids: Annotated[list[str] | None, typer.Argument(metavar="ID", help=_HELP["ids"])] = None,
    host: Annotated[str, typer.Option(metavar="LABEL", help=_HELP["host"])] = "",
    accept: Annotated[bool, typer.Option("--accept", help=_HELP["accept"])] = False,
    reject: Annotated[bool, typer.Option("--reject", help=_HELP["reject"])] = False,
    everything: Annotated[bool, typer.Option("--all", help=_HELP["all"])] = False,
) -> None:
    """Walk the captures that differ from HEAD, worst first, and accept or reject each; execute nothing.

    Accepting stages a record, and it is not asked for again while it stays as it is. Rejecting brings HEAD's version
    back; what is rejected is kept in .cache/rejected/. Without a terminal it lists what waits and how to decide.

    Exit code 0: nothing left to decide. 1: something skipped or left. 2: invalid usage, or what is invalid cannot be
    accepted. 3: what is personal or secret cannot be accepted.
    """
    _require_usage(ids or [], host, accept, reject, everything)
    session = begin_review(handbook(context), ids or [], host)
    if not session.items:
        return
    if accept or reject:
        session.decide(accept, session.items)
    elif sys.stdin.isatty() and sys.stdout.isatty():
        _walk(session)
    else:
        for item in session.items:
            _show(item)
        say(_HOW_WITHOUT_TERMINAL)
    _finish(session)


def _require_usage(ids: Sequence[str], host: str, accept: bool, reject: bool, everything: bool) -> None:
    """Raise CaptureError for options that do not go together, or that would decide more than was named."""
    if accept and reject:
        raise CaptureError("--accept and --reject: choose one")
    if everything and not (accept or reject):
        raise CaptureError("--all goes with --accept or --reject; without them everything is walked anyway")
    if everything and ids:
        raise CaptureError("--all is everything that differs; leave it out, or the ids")
    if (accept or reject) and not (ids or host or everything):
        option = "--accept" if accept else "--reject"
        raise CaptureError(f"{option} without ids or --host decides everything; if that is meant, add --all")
    if host == LOCAL:
        raise CaptureError(f"--host {LOCAL}: git ignores that folder, so there is nothing to review in it")


def begin_review(book: store.Handbook, ids: Sequence[str], host: str) -> ReviewSession:
    """Read HEAD and the working tree, print what else there is to know, and return a review of what was asked for.

    Raises CaptureError for an unknown host or id, and where git has no HEAD or a conflict to tell of.
    """
    git = waiting.take_snapshot(book)
    with handbook_at(book, git.commit) as (old, old_name):
        new = catalogue.read_handbook(book, local=False)
        problems = rules.check(new, (), ()).problems
        changes = handbook_changes.compare_handbooks(old, new, (old_name, WORKING_TREE), problems)
        uncommitted = Uncommitted(git, old, new, changes)
        waiting_items = waiting.items_to_decide(uncommitted, problems)
        notes = waiting.other_differences(uncommitted)
    items = _items_asked_for(uncommitted, waiting_items, ids, host)
    for each in changes.hosts:
        if any(item.change.host == each.host for item in items):
            say(f"host {each.host}  {'; '.join(each.words)}")
    for note in notes:
        say(f"note: {note}")
    if not items:
        accepted = sum(entry.settled for entry in git.entries.values())
        others = f"; waiting, but not asked for: {len(waiting_items)}" if waiting_items else ""
        staged = f"; accepted, staged for the next commit: {accepted}" if accepted else ""
        say(f"nothing to decide{others}{staged}")
    return ReviewSession(book, git.commit, items, time.strftime("%Y-%m-%dT%H-%M-%S"))


def _items_asked_for(
    uncommitted: Uncommitted, items: Iterable[ReviewItem], ids: Sequence[str], host: str
) -> list[ReviewItem]:
    """Return the items with these ids and of this host; without ids, or a host, all.

    Raises CaptureError for an id or a host that neither state holds.
    """
    entries, old, new = uncommitted.git.entries, uncommitted.old, uncommitted.new
    names = {name for _, name in entries} - {waiting.HOST_FILE}
    names |= {*new.snippets, *(name for _, name in [*old.records, *new.records])}
    labels = {label for label, _ in entries} | {*old.hosts, *new.hosts}
    if host and host not in labels:
        raise CaptureError(f'no host "{host}"{suggestion(host, labels)}')
    chosen = set(plan.select(ids, names)) if ids else names | {waiting.HOST_FILE}
    return [item for item in items if item.change.snippet in chosen and host in ("", item.change.host)]


def _walk(session: ReviewSession) -> None:
    """Ask about one item after another, until all are decided or skipped or the person quits."""
    queue, total = list(session.items), len(session.items)
    while queue:
        number = total - len(queue) + 1
        item = queue[0]
        _show(item)
        while queue and queue[0] is item:
            answer = _ask(f"{number}/{total} {item.change.snippet} on {item.change.host}")
            if answer == "q":
                return
            if answer == "s":
                queue.pop(0)
            elif answer in ("a", "r"):
                if not session.decide(answer == "a", [item]):
                    queue.pop(0)
            elif answer in ("A", "R"):
                group = [other for other in queue if other.change.host == item.change.host]
                left = session.decide(answer == "A", group)
                queue = [other for other in queue if other not in group or other in left]
            else:
                for key, words in _KEYS.items():
                    say(f"  {key}  {words}")


def _ask(about: str) -> str:
    """Return the key that the person at the terminal chose; leaving the prompt by Ctrl-C or Ctrl-D quits."""
    try:
        answer: str = typer.prompt(f"{visible(about)} [{','.join(_KEYS)}]", default="?", show_default=False)
    except typer.Abort:
        say("")
        return "q"
    return answer.strip()


def _show(item: ReviewItem) -> None:
    """Print what differs in an item."""
    for line in review_text.lines(item):
        stdout().print(line)


def _finish(session: ReviewSession) -> None:
    """Print how much of what was asked for is left to decide, and end with the exit code for it."""
    asked = {(item.change.host, item.change.snippet) for item in session.items}
    faulty = {item.entry.path for item in session.items if item.why_not}
    entries = waiting.take_snapshot(session.book).entries
    undecided = {key: entry for key, entry in entries.items() if not entry.settled or entry.path in faulty}
    with_records = {label for label, name in undecided if name != waiting.HOST_FILE}
    facts_alone = {(label, waiting.HOST_FILE) for label, _ in asked if label not in with_records}
    left = [entry.path for key, entry in undecided.items() if key in asked | facts_alone]
    if not left:
        is_staged = any(entry.settled for entry in entries.values())
        say(f"nothing left to decide{'; what is accepted is staged: git commit' if is_staged else ''}")
        raise typer.Exit(EXIT_OK)
    say(f"{plural(len(left), 'capture')} left to decide")
    raise typer.Exit(max((session.refused.get(path, EXIT_ATTENTION) for path in left), default=EXIT_ATTENTION))
