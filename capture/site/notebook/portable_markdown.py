"""Markdown that any notebook shows: without the site's own blocks, and with text in it that cannot act."""

from __future__ import annotations

import html
import re

from capture.site.markdown import fence_positions

_ACTIVE_CHARACTER = re.compile(r"[\\`*_\[\](){}<>&$|~#!^=@]")
_SITE_BLOCK = re.compile(r'(?P<mark>\?\?\?\+?|!!!|===[!+]?) *(?P<kind>[\w-]+(?: [\w-]+)*)? *(?:"(?P<title>.*)")? *')
_CODE_SPAN = re.compile(r"(`+)(.+?)\1")


def escaped_markdown(words: str) -> str:
    """Return text as Markdown in which no character can act; entities do not, in any renderer, mathematics included."""
    return _ACTIVE_CHARACTER.sub(lambda match: f"&#{ord(match[0])};", " ".join(words.split()))


def portable_lines(lines: list[str]) -> list[str]:
    """Return Markdown without the site's own blocks: notebooks know `details` and quotes."""
    fences = {start: end for start, end, _ in fence_positions.fenced_blocks(lines) if end is not None}
    portable: list[str] = []
    number = 0
    while number < len(lines):
        match = _SITE_BLOCK.fullmatch(lines[number])
        end = fences.get(number, number) + 1
        if number in fences or not match:
            portable += lines[number:end]
        else:
            while end < len(lines) and (not lines[end].strip() or lines[end].startswith("    ")):
                end += 1
            inner = "\n".join(portable_lines([line[4:] for line in lines[number + 1 : end]])).strip("\n").split("\n")
            title = (match["kind"] or "").capitalize() if match["title"] is None else match["title"]
            portable += [*_portable_block(match["mark"], title, inner), ""]
        number = end
    return portable


def _portable_block(mark: str, title: str, inner: list[str]) -> list[str]:
    """Return one block of the site: folded, quoted, or a tab below the other."""
    if mark.startswith("???"):
        opened = " open" if mark.endswith("+") else ""
        return [f"<details{opened}>", f"<summary>{_summary_html(title)}</summary>", "", *inner, "", "</details>"]
    if mark.startswith("==="):
        return [f"**{title}**", "", *inner]
    head = [f"> **{title}**", ">"] if title else []
    return [*head, *(f"> {line}".rstrip() for line in inner)]


def _summary_html(title: str) -> str:
    """Return the title of a folded block as HTML, which Markdown inside is not read in."""
    parts, at = [], 0
    for span in _CODE_SPAN.finditer(title):
        parts += [title[at : span.start()].replace("<", "&lt;"), f"<code>{html.escape(span[2].strip(), False)}</code>"]
        at = span.end()
    return "".join([*parts, title[at:].replace("<", "&lt;")])
