"""The handbook as pages see it: its catalogue, the state of every result, and the settings of mkdocs.yml."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from capture import store
from capture.errors import CaptureError, Problem, suggestion
from capture.host.host import LOCAL
from capture.record.claims import JudgedClaims, Judgement
from capture.record.state import State
from capture.record.verification import Verification
from capture.site.model import reproduced
from capture.store import catalogue
from capture.store.catalogue import Catalogue

_PUBLISH = "CAPTURE_PUBLISH"
_THIS_MACHINE = "this machine"


@dataclass(frozen=True)
class Settings:
    """`extra.capture` of mkdocs.yml. Addresses end in a slash; without `repository` nothing links to one.

    `verification` is a path from the handbook's root; `notebooks` are patterns of pages below docs/.
    """

    default_host: str | None = None
    repository: str | None = None
    edit_uri: str = "edit/main/"
    view_uri: str = "blob/main/"
    report_uri: str = "issues/new"
    verification: str | None = None
    notebooks: tuple[str, ...] = ()


@dataclass(frozen=True)
class Site:
    """A catalogue with what pages need beside it. `order` holds the labels, default host first, `local` last.

    `states` and `judged` are by label and snippet; every page that shows a claim takes its judgement from here.
    """

    catalogue: Catalogue
    states: Mapping[tuple[str, str], State]
    judged: Mapping[tuple[str, str], JudgedClaims]
    settings: Settings
    order: tuple[str, ...]
    titles: Mapping[str, str]
    gates: Mapping[str, Mapping[str, bool]]
    verification: Verification | None = None

    @property
    def default_host(self) -> str | None:
        """The host that prose takes its values from; None before any host has captured."""
        return next((label for label in self.order if label != LOCAL), None)

    def judgements(self, snippet_id: str) -> list[Judgement]:
        """Return every claim of a snippet as judged on every host that has a record."""
        records = self.catalogue.of_snippet(snippet_id)
        return [entry for item in records for _, entry in self.judged[item.host, snippet_id].entries]


def from_catalogue(cat: Catalogue, settings: Settings) -> Site:
    """Return the site over a catalogue; raises CaptureError where the verification that it names cannot be used."""
    preferred = settings.default_host
    order = sorted(cat.hosts, key=lambda label: (label == LOCAL, label != preferred, label))
    gates = {label: cat.gates(label) or {} for label in cat.hosts}
    verified = reproduced.read_verification(cat.book, settings.verification)
    states = cat.states()
    judged = {key: cat.judged_on(item, states) for key, item in cat.records.items()}
    return Site(cat, states, judged, settings, tuple(order), _host_titles(cat), gates, verified)


def _host_titles(cat: Catalogue) -> dict[str, str]:
    """Return a name for each host's tab; hosts of one title show their torch too, or else their labels."""
    plain = {label: _THIS_MACHINE if label == LOCAL else item.title for label, item in cat.hosts.items()}
    names = {}
    for label, title in plain.items():
        namesakes = [other for other, name in plain.items() if name == title]
        versions = [cat.newest(other).torch for other in namesakes] if len(namesakes) > 1 else []
        if len(namesakes) == 1:
            names[label] = title
        elif None not in versions and len(set(versions)) == len(namesakes):
            names[label] = f"{title}, torch {cat.newest(label).torch}"
        else:
            names[label] = f"{title} ({label})"
    return names


def parse_settings(config: Mapping[str, Any]) -> Settings:
    """Return the settings under `extra.capture`; raises CaptureError at mkdocs.yml where one has a wrong type."""
    extra = config.get("extra") or {}
    table = extra.get("capture") if isinstance(extra, Mapping) else None
    if table is None:
        return Settings()
    known = {"default_host": "default_host", "repo_url": "repository", "edit_uri": "edit_uri"}
    known |= {name: name for name in ("view_uri", "report_uri", "verification", "notebooks")}
    if not isinstance(table, Mapping):
        raise CaptureError(Problem(store.CONFIG, 0, f"extra.capture must be a table of {', '.join(known)}", "site"))
    values: dict[str, Any] = {}
    for key, value in table.items():
        if key not in known:
            raise CaptureError(
                Problem(store.CONFIG, 0, f'extra.capture: unknown key "{key}"{suggestion(str(key), known)}', "site")
            )
        if value is None or value == "":
            continue
        if key == "notebooks" and isinstance(value, list) and all(isinstance(part, str) for part in value):
            values[key] = tuple(value)
            continue
        if key == "notebooks":
            message = "extra.capture.notebooks must be a list of pages, such as [instruments/*.md]"
            raise CaptureError(Problem(store.CONFIG, 0, message, "site"))
        if not isinstance(value, str):
            raise CaptureError(Problem(store.CONFIG, 0, f"extra.capture.{key} must be text; quote it", "site"))
        values[known[key]] = value
    for name in ("repository", "edit_uri", "view_uri"):
        if name in values:
            values[name] = values[name].rstrip("/") + "/"
    return Settings(**values)


def default_host_problem(cat: Catalogue, chosen: Settings) -> Problem | None:
    """Return a problem where mkdocs.yml names a default host that is not there, though others are."""
    label = chosen.default_host
    others = [name for name in cat.hosts if name != LOCAL]
    if label is None or not others or label in others:
        return None
    line = store.config_line(cat.book, "default_host")
    message = f'extra.capture.default_host: no host "{label}" under {store.CAPTURES}{suggestion(label, others)}'
    return Problem(store.CONFIG, line, message, "site")


def is_for_publication() -> bool:
    """Tell whether this build is for others, so that the records of this machine stay out of it."""
    return os.environ.get(_PUBLISH, "") not in ("", "0", "false")


def read_site(book: store.Handbook, config: Mapping[str, Any] | None = None, local: bool = True) -> Site:
    """Read the site, with the settings of mkdocs.yml or of its data; raises CaptureError where one has a wrong type."""
    chosen = parse_settings(store.read_site_config(book) if config is None else config)
    return from_catalogue(catalogue.read_handbook(book, local=local), chosen)


def footprint(book: store.Handbook) -> str | None:
    """Return what tells that something that `load` reads was written, added or removed; None where that is unsure."""
    chosen = parse_settings(store.read_site_config(book))
    verified = [book.root / chosen.verification] if chosen.verification else []
    files = store.footprint_of([book.root / "snippets", book.captures, *verified])
    return None if files is None else f"{files} {chosen} {is_for_publication()}"
