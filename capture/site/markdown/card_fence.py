"""The `capture` fence of pymdownx.superfences: a validator that sorts options and a formatter that renders."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from capture.errors import CaptureError
from capture.site.card import card
from capture.site.markdown import page_in_progress
from capture.site.markdown.page_in_progress import LOG, PageInProgress
from capture.site.model import request, templates

# Names, constants, blanks and prefixes of strings have the colour of all code; marks of these would be a third of a
# page's elements.
_UNCOLOURED_SPAN = re.compile(r'<span class="(?:fm|kc|n|sa|vm|w)">([^<]*)</span>')


def validator(_language: str, inputs: Mapping[str, str], options: dict[str, Any], _attrs: Any, _md: Any) -> bool:
    """Accept every option: what superfences refuses it shows as text, and nobody learns why."""
    options.update(inputs)
    return True


def formatter(source: str, _language: str, _class: str, options: dict[str, Any], md: Any, **_: Any) -> str:
    """Return the card of the snippet whose id the fence holds, or one that says what is wrong with the fence."""
    return fence_html(
        md,
        lambda here: here.fence_line(source, options),
        lambda here, line: _card_html(here, source, options, line, md),
        "the card cannot be rendered",
    )


def fence_html(
    md: Any, line_of: Callable[[PageInProgress], int], draw: Callable[[PageInProgress, int], str], failure: str
) -> str:
    """Return what a fence draws, or a card that says what is wrong; `failure` begins the words for a fault of ours."""
    try:
        here = page_in_progress.page_of(md)
    except CaptureError as error:
        LOG.warning("%s", error)
        return templates.error([str(error)], "capture-problem", "")
    line = line_of(here)
    try:
        return draw(here, line)
    except CaptureError as error:
        return _error_card(here, line, [str(problem) for problem in error.problems])
    # superfences swallows what it does not know, leaves raw text and lets the build succeed
    except Exception as error:
        return _error_card(here, line, [f"{failure} ({type(error).__name__}: {error}); report this fault"])


def _card_html(here: PageInProgress, body: str, options: Mapping[str, Any], line: int, md: Any) -> str:
    """Return the card's HTML."""
    asked = request.parse_fence(body, options, here.site.catalogue)
    known = here.targets.setdefault(asked.snippet.id, set())
    uid = here.uid(asked.snippet)
    view = here.cards[uid] = card.card(here.site, asked, here.links, uid, indexed=not known)

    def highlight(text: str, first: int, block_id: str) -> str:
        def make() -> str:
            page_highlighter = md.preprocessors["fenced_code_block"].highlight
            html: str = page_highlighter(
                src=text, language="python", options={"linenums": str(first)}, md=md,
                classes=[], id_value=block_id, attrs={},
            )  # fmt: skip
            return _UNCOLOURED_SPAN.sub(r"\1", html)

        return here.highlighted.html(text, first, block_id, make) if here.highlighted else make()

    html = templates.card(view, highlight)
    known |= {uid, *(panel.panel_id for panel in view.panels if panel.result)}
    broken = card.broken_promise(here.site, asked)
    if broken:
        here.note(line, broken, f'id="{uid}"', "missing")
    return html


def _error_card(here: PageInProgress, line: int, messages: list[str]) -> str:
    """Note every fault of a fence and return the card that shows them."""
    sign = here.sign()
    for message in messages:
        here.note(line, message, f'id="{sign}"')
    place = f"{here.page.path}:{line}" if here.page and line else ""
    return templates.error(messages, sign, place)
