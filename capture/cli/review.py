"""`capture review`: walk what differs from HEAD, and accept or reject it."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Annotated

import typer

from capture import store
from capture.characters import bidi_controls, control_characters
from capture.check import rules
from capture.cli.context import complain, handbook, say, stdout, tell
from capture.cli.diff import WORKING, at_revision
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
from capture.review.carry_out import REJECTED, Told
from capture.review.waiting import Item
from capture.run import plan
from capture.store import catalogue

HELP = {
    "ids": "Ids, globs or chapters; all that differ by default.",
    "host": "Only captures of this host.",
    "accept": "Accept without asking: git add.",
    "reject": "Reject without asking: HEAD's version comes back, what is rejected is kept.",
    "all": "With --accept or --reject: everything that differs.",
}
KEYS = {
    "a": "accept it: git add, with its host.yaml where that is new or changed",
    "r": f"reject it: HEAD's version comes back, and what is rejected is kept in {REJECTED}/",
    "s": "skip it: leave it for later",
    "A": "accept it and all that follow of this host",
    "R": "reject it and all that follow of this host",
    "q": "quit: leave it and all that follow",
    "?": "show this help",
}
HOW = """\
decide without a terminal:
  capture review ID… --accept      or --reject; --host LABEL takes all of one host
  capture review --accept --all    everything that differs"""


@dataclass
class Session:
    """One review under way: what it works on, what waits, and why some of it could not be accepted."""

    book: store.Handbook
    commit: str
    items: list[Item]
    stamp: str
    refused: dict[str, int] = field(default_factory=dict)

    def decide(self, accepting: bool, items: Sequence[Item]) -> list[Item]:
        """Accept or reject items, say what became of each, and return those that still wait."""
        try:
            if accepting:
                told = carry_out.accept(self.book, self.commit, items, tell)
            else:
                told = carry_out.reject(self.book, self.commit, items, self.stamp, tell)
        except CaptureError as error:
            complain(error.problems)
            self.refused |= {item.entry.path: error.exit_code for item in items}
            return list(items)
        for each in told:
            (say if each.done else tell)(each.words)
        return [item for item in items if not self.settled(item, told)]

    def settled(self, item: Item, told: Iterable[Told]) -> bool:
        """Tell whether an item was decided; remember with which exit code one ends that cannot be accepted."""
        done = any(each.done for each in told if each.path == item.entry.path)
        if not done and item.why_not:
            self.refused[item.entry.path] = EXIT_PRIVACY if item.why_not.rule in PRIVACY_RULES else EXIT_INVALID
        return done


def review_command(
    context: typer.Context,
    ids: Annotated[list[str] | None, typer.Argument(metavar="ID", help=HELP["ids"])] = None,
    host: Annotated[str, typer.Option(metavar="LABEL", help=HELP["host"])] = "",
    accept: Annotated[bool, typer.Option("--accept", help=HELP["accept"])] = False,
    reject: Annotated[bool, typer.Option("--reject", help=HELP["reject"])] = False,
    everything: Annotated[bool, typer.Option("--all", help=HELP["all"])] = False,
) -> None:
    """Walk the captures that differ from HEAD, worst first, and accept or reject each; execute nothing.

    Accepting stages a record, and it is not asked for again while it stays as it is. Rejecting brings HEAD's version
    back; what is rejected is kept in .cache/rejected/. Without a terminal it lists what waits and how to decide.

    Exit code 0: nothing left to decide. 1: something skipped or left. 2: invalid usage, or what is invalid cannot be
    accepted. 3: what is personal or secret cannot be accepted.
    """
    require_usage(ids or [], host, accept, reject, everything)
    session = begin(handbook(context), ids or [], host)
    if not session.items:
        return
    if accept or reject:
        session.decide(accept, session.items)
    elif sys.stdin.isatty() and sys.stdout.isatty():
        walk(session)
    else:
        for item in session.items:
            show(item)
        say(HOW)
    finish(session)


def require_usage(ids: Sequence[str], host: str, accept: bool, reject: bool, everything: bool) -> None:
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


def begin(book: store.Handbook, ids: Sequence[str], host: str) -> Session:
    """Read both sides and return what waits of what was asked for; say what else there is to know."""
    taken = waiting.snapshot(book)
    with at_revision(book, taken.commit) as (old, base):
        new = catalogue.read(book, local=False)
        problems = rules.check(new, (), ()).problems
        found = handbook_changes.between(old, new, (base, WORKING), problems)
        items = waiting.waiting(taken, old, new, found, problems)
        beside = waiting.notes(taken, old, new, found)
        names = {name for _, name in taken.entries} - {waiting.HOST_FILE}
        names |= {*new.snippets, *(name for _, name in [*old.records, *new.records])}
        labels = {label for label, _ in taken.entries} | {*old.hosts, *new.hosts}
    if host and host not in labels:
        raise CaptureError(f'no host "{host}"{suggestion(host, labels)}')
    chosen = set(plan.select(ids, names)) if ids else names | {waiting.HOST_FILE}
    asked = [item for item in items if item.change.snippet in chosen and host in ("", item.change.host)]
    for each in found.hosts:
        if any(item.change.host == each.host for item in asked):
            say(f"host {each.host}  {'; '.join(each.words)}")
    for line in beside:
        say(f"note: {line}")
    if not asked:
        accepted = sum(entry.settled for entry in taken.entries.values())
        others = f"; waiting, but not asked for: {len(items)}" if items else ""
        staged = f"; accepted, staged for the next commit: {accepted}" if accepted else ""
        say(f"nothing to decide{others}{staged}")
    return Session(book, taken.commit, asked, time.strftime("%Y-%m-%dT%H-%M-%S"))


def walk(session: Session) -> None:
    """Ask about one item after another until all are decided, skipped or left."""
    queue, number, total = list(session.items), 0, len(session.items)
    while queue:
        number = total - len(queue) + 1
        item = queue[0]
        show(item)
        while queue and queue[0] is item:
            answer = ask(f"{number}/{total} {item.change.snippet} on {item.change.host}")
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
                for key, words in KEYS.items():
                    say(f"  {key}  {words}")


def ask(about: str) -> str:
    """Return the answer of the person at the terminal; whoever leaves the prompt quits."""
    try:
        answer: str = typer.prompt(
            f"{bidi_controls(control_characters(about))} [{','.join(KEYS)}]", default="?", show_default=False
        )
    except typer.Abort:
        say("")
        return "q"
    return answer.strip()


def show(item: Item) -> None:
    """Print what an item says differently."""
    for line in review_text.lines(item):
        stdout().print(line)


def finish(session: Session) -> None:
    """Say what is left of what was asked for and end with the exit code for it."""
    asked = {(item.change.host, item.change.snippet) for item in session.items}
    faulty = {item.entry.path for item in session.items if item.why_not}
    entries = waiting.snapshot(session.book).entries
    open_ones = {key: entry for key, entry in entries.items() if not entry.settled or entry.path in faulty}
    with_records = {label for label, name in open_ones if name != waiting.HOST_FILE}
    alone = {(label, waiting.HOST_FILE) for label, _ in asked if label not in with_records}
    left = [entry.path for key, entry in open_ones.items() if key in asked | alone]
    if not left:
        staged = "; what is accepted is staged: git commit" if any(one.settled for one in entries.values()) else ""
        say(f"nothing left to decide{staged}")
        raise typer.Exit(EXIT_OK)
    say(f"{plural(len(left), 'capture')} left to decide")
    raise typer.Exit(max((session.refused.get(path, EXIT_ATTENTION) for path in left), default=EXIT_ATTENTION))
