"""The HTML that mkdocs-jupyter makes of a notebook, without what a page of this site has already, or must not have.

It inlines into each page 580 KB of JupyterLab's style sheets and the scripts of MathJax, Mermaid and a copy button, two
of them from other servers. The site's own style, one shared file, and Material's copy button take their place.
"""

from __future__ import annotations

import html
from html.parser import HTMLParser

_DROPPED_ELEMENTS = (
    "style",
    "script",
    "svg",
    "clipboard-copy",
    "a.anchor-link",
    "div.clipboard-copy-txt",
    "div.celltoolbar",
)
_VOID_ELEMENTS = ("br", "hr", "img", "input", "wbr")
# By the first letter of the highlighter's class. A page has thousands: elements without a class keep it small.
_COLOUR_ELEMENTS = {"k": "b", "s": "i", "c": "u"}
_STREAM_LABELS = {
    "text/plain": "Output",
    "application/vnd.jupyter.stdout": "Output",
    "application/vnd.jupyter.stderr": "stderr",
}
_Attributes = list[tuple[str, str | None]]


class JupyterHtmlReader(HTMLParser):
    """Reads HTML and keeps what is worth keeping in `parts`; `headings` holds level, id and text of each heading."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self.headings: list[tuple[int, str, str]] = []
        self.stack: list[tuple[str, str]] = []  # each open tag, and what ends it
        self.dropping = 0
        self.heading: list[str] | None = None
        self.stream = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: _Attributes) -> None:
        """Open what is kept; what is dropped is counted until it ends."""
        facts = {name: value or "" for name, value in attrs}
        classes = facts.get("class", "").split()
        if tag in _VOID_ELEMENTS:
            if not self.dropping:
                self.parts.append(_start_tag(tag, facts))
            return
        if self.dropping or tag in _DROPPED_ELEMENTS or any(f"{tag}.{name}" in _DROPPED_ELEMENTS for name in classes):
            self.dropping += 1
            self.stack.append((tag, ""))
            return
        before, after = self.kept(tag, facts, classes)
        self.parts.append(before)
        self.stack.append((tag, after))

    def kept(self, tag: str, facts: dict[str, str], classes: list[str]) -> tuple[str, str]:
        """Return what opens and what ends an element; nothing where only what is in it counts."""
        if tag == "div":
            return self.division(facts, classes)
        if tag == "span":
            letter = _COLOUR_ELEMENTS.get(classes[0][:1]) if classes else None
            return (f"<{letter}>", f"</{letter}>") if letter else ("", "")
        if tag == "pre":
            label = self.stream
            if not label:
                return "<pre><code>", "</code></pre>"
            name = "stderr" if label == "stderr" else "stdout"
            return f'<pre class="notebook__{name}" tabindex="0" role="group" aria-label="{label}">', "</pre>"
        if tag == "code" and self.stack and self.stack[-1][0] == "pre":
            return "", ""
        if tag[0] == "h" and tag[1:].isdigit():
            self.heading = []
            own = facts.get("id", "")
            self.headings.append((int(tag[1]), own, ""))
            link = f'<a class="headerlink" href="#{html.escape(own)}" title="Permanent link">¶</a>' if own else ""
            return _start_tag(tag, facts), f"{link}</{tag}>"
        return _start_tag(tag, facts), f"</{tag}>"

    def division(self, facts: dict[str, str], classes: list[str]) -> tuple[str, str]:
        """Return the few frames that the style sheet knows."""
        kind = facts.get("data-mime-type", "")
        self.stream = _STREAM_LABELS.get(kind, "") if "jp-OutputArea-output" in classes else ""
        if "jp-OutputArea-output" in classes and not self.stream:
            return '<div class="notebook__said">', "</div>"
        if "jp-Cell-outputArea" in classes:
            return '<div class="notebook__outputs">', "</div>"
        if any(name.startswith("highlight") for name in classes):
            return '<div class="highlight">', "</div>"
        return "", ""

    def handle_endtag(self, tag: str) -> None:
        """End the element, and those inside that were left open."""
        if not any(name == tag for name, _ in self.stack):
            return
        name = ""
        while name != tag:
            name, after = self.stack.pop()
            if self.dropping:
                self.dropping -= 1
                continue
            self.parts.append(after)
            if self.heading is not None and name[0] == "h" and name[1:].isdigit():
                level, own, _ = self.headings[-1]
                self.headings[-1] = (level, own, " ".join("".join(self.heading).split()))
                self.heading = None

    def handle_data(self, data: str) -> None:
        """Keep text as text."""
        if self.dropping:
            return
        if self.heading is not None:
            self.heading.append(data)
        if data.strip() or (self.parts and any(name in ("pre", "p", "li") for name, _ in self.stack)):
            self.parts.append(html.escape(data, quote=False))


def _start_tag(tag: str, facts: dict[str, str]) -> str:
    """Return a start tag; of Jupyter's attributes none is needed."""
    kept = [(name, value) for name, value in facts.items() if name in ("href", "id", "open", "src", "alt", "start")]
    attributes = "".join(f' {name}="{html.escape(value)}"' for name, value in kept)
    return f"<{tag}{attributes}>"
