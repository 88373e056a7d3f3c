"""The page about one host, as Markdown whose fences the Markdown layer fills in: nobody writes or commits it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any

from capture.errors import plural
from capture.host.host import LOCAL, chip
from capture.site.model.links import HOSTS
from capture.site.model.output_text import printable, written_day
from capture.site.model.site import Site

HOSTS_INDEX = f"{HOSTS}/index.md"  # the page that lists them all
_SPECIAL_CHARACTER = re.compile(r"[^\w\s,.()/+-]|_")
_SECTIONS = (
    (
        "Hardware",
        "hardware",
        "All that is recorded about the machine. Scopes of claims ask for some of it by these names.",
    ),
    ("Software", "software", "Each column is an environment in which results were captured, newest torch first."),
    ("Gates", "gates", "A gate is a yes or no that decides what a script can do, as the newest record shows it."),
    ("Results", "results", "Every script, with the state of its result here. A script leads to its card."),
    ("Claims that fail here", "failing", "A claim that fails stays: its scope is too wide, or the page is wrong."),
)


def page_path(label: str) -> str:
    """Return where MkDocs takes the page to lie; a folder of its own, since `index` is a label too."""
    return f"{HOSTS}/{label}/index.md"


def page_texts(site: Site, listed: bool) -> dict[str, str]:
    """Return the page of each host by where it is taken to lie."""
    return {page_path(label): page_markdown(site, label, listed) for label in site.order}


def add_to_nav(nav: Any, paths: Iterable[str]) -> bool:
    """Put pages into the innermost list of the nav that has the page of all hosts; tell whether there is one."""
    if isinstance(nav, list) and HOSTS_INDEX in nav:
        nav += [item for item in paths if item not in nav]
        return True
    entries = nav.values() if isinstance(nav, dict) else nav if isinstance(nav, list) else ()
    return any(add_to_nav(entry, paths) for entry in entries)


def page_markdown(site: Site, label: str, listed: bool) -> str:
    """Return the page, with a way back where a page has all hosts `listed`.

    A title is a stranger's text, and goes through as text: MkDocs puts it into HTML as it is.
    """
    title, records = escaped_title(site.titles[label]), site.catalogue.of_host(label)
    days = sorted(item.captured for item in records)
    counted = plural(len(records), "result")
    long = f"{site.titles[label]}, label {label}: {counted}, every recorded fact, gates, software, and failing claims."
    said = long if len(long) <= 170 else f"{label}: {counted}, and all that is recorded about this host."
    when = ""
    if days:
        when = (
            f", captured on {written_day(days[0])}"
            if days[0] == days[-1]
            else f", {written_day(days[0])} to {written_day(days[-1])}"
        )
    facts = f"captures/{label}/host.yaml"
    lines = [
        "---",
        f"title: {json.dumps(title)}",
        f"description: {json.dumps(escaped_title(said))}",
        "---",
        "",
        f"# {title}",
        "",
        f"{escaped_title(chip(site.catalogue.hosts[label]))}. {counted}{when}. Label: `{label}`.",
        "",
    ]
    if label == LOCAL:
        lines += ["This page and these results are on this machine only; nothing of them is published.", ""]
    for heading, table, words in _SECTIONS:
        lines += [f"## {heading}", "", words, "", "```capture-table", f"{table} {label}", "```", ""]
    ways = ["[All hosts](../index.md)"] if listed else []
    lines += [" · ".join([*ways, f"[The facts as a file](../../{facts})"]), ""]
    return "\n".join(lines)


def escaped_title(text: str) -> str:
    """Return text that Markdown, an attribute and an element's text show as it is; brackets of tags become others.

    The theme turns entities back into characters in one place, so that a `<` would be one again.
    """
    plain = " ".join(printable(text).replace("<", "‹").replace(">", "›").split())
    return _SPECIAL_CHARACTER.sub(lambda match: f"&#{ord(match[0])};" if match[0] not in "‹›" else match[0], plain)
