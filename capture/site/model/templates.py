"""Templates to HTML. Everything is escaped but what a highlighter returns, and control characters show."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from capture.site.model.card_view import CardView
from capture.site.model.output_text import printable, written_day

Highlight = Callable[[str, int, str], str]
"""Takes source, the number of its first line and an id for the block; returns safe HTML."""

_BREAKING_POINT = re.compile(r"(?<=[/_])(?=.)")
_LONGEST_WORD = 14  # letters of a word that a column of a table on a telephone has room for


@functools.cache
def _template_environment() -> jinja2.Environment:
    """Return the one environment; a name that a template misspells is an error."""
    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parents[1] / "templates"),
        undefined=jinja2.StrictUndefined,
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    made.filters |= {"day": written_day, "breakable": _breakable}
    return made


def _breakable(text: str) -> str:
    """Return text whose words may break behind a slash or an underscore where one is too long for a narrow column."""
    if len(text) <= _LONGEST_WORD or not _BREAKING_POINT.search(text):
        return text  # the template escapes it
    parts = (_BREAKING_POINT.split(part) if len(part) > _LONGEST_WORD else [part] for part in re.split(r"(\s+)", text))
    return Markup("").join(Markup("<wbr>").join(part) for part in parts)


def card(view: CardView, highlight: Highlight) -> str:
    """Return the HTML of a card."""
    source = Markup(highlight(view.source.text, view.source.first, f"{view.uid}-source")) if view.source else ""
    return rendered("card.html.j2", card=view, source=source)


def error(messages: list[str], sign: str, place: str) -> str:
    """Return the card that stands where one could not be rendered."""
    return rendered("error.html.j2", messages=messages, sign=sign, place=place)


def table(view: object, name: str) -> str:
    """Return the HTML of a table over all records; by its name a script and an address know it."""
    return rendered("table.html.j2", table=view, name=name)


def plot(view: Any) -> str:
    """Return the HTML of a plot."""
    return rendered("plot.html.j2", plot=view, table=Markup(table(view.table, "plot")))


def value(text: str, href: str | None, title: str, kind: str) -> str:
    """Return a captured value in a sentence."""
    return rendered("value.html.j2", text=text, href=href, title=title, kind=kind)


def rendered(template: str, **context: object) -> str:
    """Return a template's HTML with every control character made visible."""
    return printable(_template_environment().get_template(template).render(**context)).strip()
