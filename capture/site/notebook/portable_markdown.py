"""Markdown that any notebook shows: without the site's own blocks, and with text in it that cannot act."""

from __future__ import annotations

import html
import re

from capture.site.markdown import fence_positions

ACTIVE = re.compile(r"[\\`*_\[\](){}<>&$|~#!^=@]")
BLOCK = re.compile(r'(?P<mark>\?\?\?\+?|!!!|===[!+]?) *(?P<kind>[\w-]+(?: [\w-]+)*)? *(?:"(?P<title>.*)")? *')
CODE = re.compile(r"(`+)(.+?)\1")


def marked(words: str) -> str:
    """Return text as Markdown in which no character can act; entities do not, in any renderer, mathematics included."""
    return ACTIVE.sub(lambda match: f"&#{ord(match[0])};", " ".join(words.split()))


def unfolded(lines: list[str]) -> list[str]:
    """Return Markdown without the site's own blocks: notebooks know `details` and quotes."""
    fences = {start: end for start, end, _ in fence_positions.blocks(lines) if end is not None}
    found: list[str] = []
    number = 0
    while number < len(lines):
        match = BLOCK.fullmatch(lines[number])
        end = fences.get(number, number) + 1
        if number in fences or not match:
            found += lines[number:end]
        else:
            while end < len(lines) and (not lines[end].strip() or lines[end].startswith("    ")):
                end += 1
            inner = "\n".join(unfolded([line[4:] for line in lines[number + 1 : end]])).strip("\n").split("\n")
            title = (match["kind"] or "").capitalize() if match["title"] is None else match["title"]
            found += [*block(match["mark"], title, inner), ""]
        number = end
    return found


def block(mark: str, title: str, inner: list[str]) -> list[str]:
    """Return one block of the site: folded, quoted, or a tab below the other."""
    if mark.startswith("???"):
        opened = " open" if mark.endswith("+") else ""
        return [f"<details{opened}>", f"<summary>{summary(title)}</summary>", "", *inner, "", "</details>"]
    if mark.startswith("==="):
        return [f"**{title}**", "", *inner]
    head = [f"> **{title}**", ">"] if title else []
    return [*head, *(f"> {line}".rstrip() for line in inner)]


def summary(title: str) -> str:
    """Return the title of a folded block as HTML, which Markdown inside is not read in."""
    parts, at = [], 0
    for span in CODE.finditer(title):
        parts += [title[at : span.start()].replace("<", "&lt;"), f"<code>{html.escape(span[2].strip(), False)}</code>"]
        at = span.end()
    return "".join([*parts, title[at:].replace("<", "&lt;")])
