"""The file llms.txt: every page of the site for language models, each leading to its copy in Markdown."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from capture.site.model.output_text import as_markdown_text


@dataclass(frozen=True)
class ListedPage:
    """A page in the list of all: the section it stands in, its title, address and description."""

    section: str
    title: str
    address: str
    description: str


def text(name: str, description: str, entries: Iterable[ListedPage], root: str = "") -> str:
    """Return llms.txt: every page with its description, by section, each leading to its copy.

    `root` is the site's address, where it has one.
    """
    lines = [f"# {as_markdown_text(name)}", ""]
    lines += [f"> {as_markdown_text(description)}", ""] if description else []
    lines += [
        "Every result was printed by a script on a machine. The line above an output, and the footnote of a number, "
        "name chip, torch and date: without them a number cannot be read.",
    ]
    section = None
    for entry in entries:
        if entry.section != section:
            section = entry.section
            lines += ["", f"## {as_markdown_text(section)}", ""]
        said = f": {as_markdown_text(entry.description)}" if entry.description else ""
        lines.append(f"- [{as_markdown_text(entry.title)}]({root}{entry.address.lstrip('/')}index.md){said}")
    return "\n".join(lines) + "\n"
