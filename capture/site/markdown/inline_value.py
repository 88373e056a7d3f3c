"""The `captured` code of pymdownx.inlinehilite: a captured number in a sentence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from capture.errors import CaptureError
from capture.host.host import LOCAL
from capture.record import claims
from capture.site.card import absence
from capture.site.card.card import first_uid
from capture.site.markdown import page_in_progress
from capture.site.markdown.page_in_progress import LOG, PageInProgress
from capture.site.model import request, templates
from capture.site.model.output_text import written_day
from capture.site.model.request import ValueRequest
from capture.site.model.site import Site


def formatter(source: str, _language: str, _class: str, md: Any) -> str:
    """Return the value that `ID VALUE[@HOST]` names, with what it was got on as its tooltip."""
    try:
        here = page_in_progress.page_of(md)
    except CaptureError as error:
        LOG.warning("%s", error)
        return templates.value(source, None, str(error), "error")
    line = here.inline_line(source)
    try:
        return _value_html(here, source)
    except CaptureError as error:
        message = request.joined_problems(error.problems)
    # inlinehilite swallows what it does not know and leaves the code as it stands
    except Exception as error:
        message = f"the value cannot be rendered ({type(error).__name__}: {error}); report this fault"
    sign = here.sign()
    here.note(line, message, f'{sign}"')
    return templates.value(source, None, message, f"error {sign}")


@dataclass(frozen=True)
class CapturedValue:
    """A captured value, what it was got on, and whether that is current; `label` is None where nothing is captured."""

    snippet: str
    label: str | None
    text: str
    title: str
    kind: str


def _captured_value(site: Site, asked: ValueRequest) -> CapturedValue:
    """Return what a host's record holds for a value; raises CaptureError where there is no such record."""
    snippet, label = asked.snippet, asked.host or site.default_host
    if label is None or site.default_host is None:
        said = f"no host has captured yet: {absence.run_command(snippet)}"
        return CapturedValue(snippet.id, None, "not captured", said, "none")
    item = site.catalogue.records.get((label, snippet.id))
    if item is None:
        others = [other.host for other in site.catalogue.of_snippet(snippet.id) if other.host != LOCAL]
        also = f"; {others[0]} has one: write {asked.value}@{others[0]}" if others else ""
        command = absence.run_command(snippet, label)
        raise CaptureError(f"no record of {snippet.id} on {label}, so no {asked.value}; capture it: {command}{also}")
    printed = claims.value(snippet, asked.value, item)
    environment, state = item.environment, site.states[label, snippet.id]
    facts = [environment.chip, f"torch {environment.torch}", written_day(item.captured), str(state)]
    if item.status != "ok":
        facts.append(f"ended with {item.status}")
    return CapturedValue(snippet.id, label, printed.text, f"captured on {'; '.join(facts)}", state.kind)


def requested_value(here: PageInProgress, text: str) -> tuple[ValueRequest, CapturedValue]:
    """Return what `ID VALUE[@HOST]` asks for and its value, looked up once a page.

    Raises CaptureError where the words are wrong, or the host has no record that holds the value.
    """
    words = " ".join(text.split())
    if words not in here.values:
        asked = request.parse_inline_value(words, here.site.catalogue)
        here.values[words] = asked, _captured_value(here.site, asked)
    known: tuple[ValueRequest, CapturedValue] = here.values[words]
    return known


def _value_html(here: PageInProgress, text: str) -> str:
    """Return the value's HTML; raises CaptureError where the host has no record that holds it."""
    asked, captured = requested_value(here, text)
    href = _value_link(here, asked, captured.label) if captured.label else None
    return templates.value(captured.text, href, captured.title, captured.kind)


def _value_link(here: PageInProgress, asked: ValueRequest, label: str) -> str | None:
    """Return the card on this page, or the record."""
    uid = first_uid(asked.snippet)
    on_page = here.targets.get(asked.snippet.id, set())
    panel = f"{uid}--{label}"
    if asked.host and panel in on_page:
        return f"#{panel}"
    return f"#{uid}" if uid in on_page else here.links.record(label, asked.snippet.id)
