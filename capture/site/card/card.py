"""A card: one snippet on a page, with the panel of each host."""

from __future__ import annotations

import shlex

from capture.host.host import LOCAL
from capture.record.record import Record
from capture.record.state import gate_words
from capture.site.card import absence
from capture.site.card.result import judgements, result
from capture.site.model.card_view import CardView, Panel, Source
from capture.site.model.links import Links
from capture.site.model.request import FenceRequest
from capture.site.model.site import Site
from capture.snippet.snippet import Snippet


def card(site: Site, request: FenceRequest, links: Links, uid: str, indexed: bool = True) -> CardView:
    """Return the view model; `indexed` is false for a second use on a page, whose text search knows already."""
    snippet = request.snippet
    has_source, has_output = request.show != "output", request.show != "source"
    records = site.catalogue.of_snippet(snippet.id)
    return CardView(
        uid=uid,
        label=_landmark_name(snippet, uid),
        snippet=snippet.id,
        title=snippet.title,
        path=snippet.path,
        source=_shown_source(snippet, request.lines) if has_source else None,
        panels=_panels(site, request, links, uid, indexed) if has_output and records else (),
        nowhere=absence.nowhere(site, snippet) if has_output and not records else None,
        pinned=request.host is not None,
        needs=", ".join(gate_words(gate).removeprefix("needs ") for gate in snippet.needs),
        sets=" ".join(f"{name}={shlex.quote(value)}" for name, value in snippet.env.items()),
        seed=snippet.seed,
        by_hand=_plain_command(snippet),
        by_tool=absence.run_command(snippet),
        actions=links.actions(snippet),
    )


def first_uid(snippet: Snippet) -> str:
    """Return the id of the first card of a snippet on a page; no other snippet's, since none holds a hyphen."""
    return f"capture-{snippet.id.replace('/', '-')}"


def _landmark_name(snippet: Snippet, uid: str) -> str:
    """Return the card's name for those who hear the page; names of landmarks differ."""
    number = uid.removeprefix(first_uid(snippet)).lstrip("-")
    return f"Result of {snippet.id}{f', card {number}' if number else ''}"


def _plain_command(snippet: Snippet) -> str:
    """Return the command that needs nothing of ours, with the environment that the snippet asks for.

    What a snippet reads lies beside it, so that one which reads something is run from its folder.
    """
    folder, _, name = snippet.path.rpartition("/")
    goes = ["cd", folder, "&&"] if snippet.files else []
    sets = (f"{key}={shlex.quote(value)}" for key, value in snippet.env.items())
    return " ".join([*goes, *sets, "python", name if goes else snippet.path])


def _shown_source(snippet: Snippet, lines: tuple[int, int] | None) -> Source:
    """Return the lines to show, without blank ones at the ends, which a highlighter would drop uncounted."""
    rows = snippet.source.rstrip("\n").split("\n")
    first, last = lines or (1, len(rows))
    while first < last and not rows[first - 1].strip():
        first += 1
    while last > first and not rows[last - 1].strip():
        last -= 1
    return Source("\n".join(rows[first - 1 : last]), first)


def _panels(site: Site, request: FenceRequest, links: Links, uid: str, indexed: bool) -> tuple[Panel, ...]:
    """Return a panel for each host: the chosen one first, results before absences, this machine last."""
    snippet, records = request.snippet, site.catalogue.records
    rank = {label: number for number, label in enumerate(site.order)}

    def place(label: str) -> tuple[bool, bool, bool, int]:
        return (label != request.host, label == LOCAL, (label, snippet.id) not in records, rank[label])

    order = sorted(site.order, key=place)
    chosen = next(label for label in order if label == request.host or (label, snippet.id) in records)
    judged = judgements(site, snippet)
    seen: dict[str, str] = {}
    shown = []
    for label in order:
        item = records.get((label, snippet.id))
        same_as = seen.get(_compared_output(item), "") if item else ""
        if item and not same_as:
            seen[_compared_output(item)] = site.titles[label]
        panel_id = f"{uid}--{label}"
        shown.append(
            Panel(
                label=label,
                title=site.titles[label],
                kind=site.catalogue.hosts[label].kind if item else "none",
                tab_id=f"{panel_id}-tab",
                panel_id=panel_id,
                chosen=label == chosen,
                result=result(site, snippet, item, links, judged, same_as, indexed and not same_as) if item else None,
                absence=None if item else absence.on_host(site, snippet, label, site.states[label, snippet.id]),
                about=links.host(label),
            )
        )
    return tuple(shown)


def _compared_output(item: Record) -> str:
    """Return what two hosts are compared by."""
    return f"{item.status}\0{item.stdout}\0{item.stderr}"


def broken_promise(site: Site, request: FenceRequest) -> str:
    """Say which promise of a page no record keeps, or return nothing.

    A page may show a snippet that no host here can run; it may not show one that nobody has run.
    """
    snippet, host, default = request.snippet, request.host, site.default_host
    if request.show == "source" or default is None:
        return ""
    if host is not None and (host, snippet.id) not in site.catalogue.records:
        return f"no record of {snippet.id} on {host}; capture it there: {absence.run_command(snippet, host)}"
    if site.catalogue.of_snippet(snippet.id):
        return ""
    state = site.states[default, snippet.id]
    if state.kind == "missing":
        return absence.unrecorded(snippet, default)
    return ""
