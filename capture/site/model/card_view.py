"""The view model of a card: everything a template shows, in plain words and final order."""

from __future__ import annotations

from dataclasses import dataclass

from capture.site.model.output_text import StreamView


@dataclass(frozen=True)
class Source:
    """The lines of a snippet that are shown, and the number of the first."""

    text: str
    first: int

    @property
    def lines(self) -> int:
        """How many lines are shown."""
        return self.text.count("\n") + 1


@dataclass(frozen=True)
class Gate:
    """What a host could do, as a chip of the badge."""

    name: str
    yes: bool


@dataclass(frozen=True)
class Rerun:
    """Whether CI got the same: `same`, `differs` or `none`, the words of the badge, and the detail."""

    kind: str
    words: str
    detail: str


@dataclass(frozen=True)
class Badge:
    """The head of an output: what it was got on. `state` comes first; `rerun` is None where nothing is said."""

    state: str
    kind: str
    chip: str
    rest: str
    torch: str
    build: str
    gates: tuple[Gate, ...]
    threads: str
    date: str
    day: str
    runs: str
    busy: bool
    same_as: str
    rerun: Rerun | None


@dataclass(frozen=True)
class Failure:
    """How an execution ended, where it did not end well, and what usually mends it."""

    headline: str
    hint: str


@dataclass(frozen=True)
class Verdict:
    """One claim on one host; `more` says why, and what it does on the others."""

    kind: str
    mark: str
    says: str
    more: str


@dataclass(frozen=True)
class Fact:
    """One more fact about the environment."""

    name: str
    value: str


@dataclass(frozen=True)
class ResultView:
    """What a host has for a snippet."""

    badge: Badge
    failure: Failure | None
    note: str
    stdout: StreamView
    stderr: StreamView
    elisions: tuple[str, ...]
    verdicts: tuple[Verdict, ...]
    facts: tuple[Fact, ...]
    record: str | None
    searchable: bool

    @property
    def opens_stderr(self) -> bool:
        """Whether stderr is the answer: nothing else was printed, or the run ended in an error."""
        return bool(self.failure or self.note or not self.stdout)


@dataclass(frozen=True)
class Absence:
    """Why there is no result, and the command that makes one."""

    headline: str
    reasons: tuple[str, ...]
    advice: str
    command: str


@dataclass(frozen=True)
class Panel:
    """One host of a card: a result, or the reason why there is none; `about` leads to all that is known of it."""

    label: str
    title: str
    kind: str
    tab_id: str
    panel_id: str
    chosen: bool
    result: ResultView | None
    absence: Absence | None
    about: str | None = None


@dataclass(frozen=True)
class Actions:
    """Addresses of what a reader can do next; None where there is no address for it."""

    download: str | None
    edit_snippet: str | None
    edit_page: str | None
    report: str | None


@dataclass(frozen=True)
class CardView:
    """One snippet on a page. `pinned` means that the author chose the host, so the reader's choice waits."""

    uid: str
    label: str
    snippet: str
    title: str
    path: str
    source: Source | None
    panels: tuple[Panel, ...]
    nowhere: Absence | None
    pinned: bool
    needs: str
    sets: str
    seed: int | None
    by_hand: str
    by_tool: str
    actions: Actions
