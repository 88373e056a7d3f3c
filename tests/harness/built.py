"""The real site as it is published: built once for all modules, its pages, and those that show every kind of thing."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterable, Mapping
from html.parser import HTMLParser
from pathlib import Path

from harness.handbooks import REPOSITORY
from harness.project import environment

# Pages that are read whatever they hold: where readers start, and where they land by mistake.
ALWAYS = ("", "404.html")


def publish(folder: Path) -> Path:
    """Build the real site into a folder, strictly, and return it."""
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", folder],
        cwd=REPOSITORY, env=environment({"NO_MKDOCS_2_WARNING": "1", "CAPTURE_PUBLISH": "1"}), capture_output=True,
        text=True, check=False, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return folder


def pages(site: Path) -> dict[str, str]:
    """Return the HTML of every page by its address, that of the missing page too; not what only leads on."""
    found = {path.relative_to(site).as_posix().removesuffix("index.html"): path for path in site.rglob("index.html")}
    found["404.html"] = site / "404.html"
    texts = {address: path.read_text("utf-8") for address, path in sorted(found.items())}
    return {address: html for address, html in texts.items() if "This page has moved" not in html}


def lessons() -> list[str]:
    """Return the addresses of the lessons: pages with a self-test."""
    found = []
    for path in sorted((REPOSITORY / "docs").glob("*/*.md")):
        if "\n## Test yourself\n" in path.read_text("utf-8"):
            address = path.relative_to(REPOSITORY / "docs").with_suffix("").as_posix()
            found.append(f"{address}/".replace("/index/", "/"))
    return found


class Kinds(HTMLParser):
    """Collects the kinds of elements that a page holds: tags, classes and roles, but not the colours of code.

    To stand there again is a kind of its own: some faults need two of a kind.
    """

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: set[str] = set()
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        facts = dict(attrs)
        if tag == "span" and len(facts.get("class") or "") <= 2:
            return
        names = {tag, *(f"{tag}.{name}" for name in (facts.get("class") or "").split())}
        if role := facts.get("role"):
            names.add(f"{tag}[role={role}]")
        self.found |= {f"{name} again" for name in names & self.found} | names


def cover(html: Mapping[str, str], first: Iterable[str] = ALWAYS) -> list[str]:
    """Return a few pages that together hold every kind of element of the site; a new kind of page joins by itself.

    Of pages that add something, the one that adds most for its length comes next.
    """
    kinds = {address: Kinds(text).found for address, text in html.items()}
    chosen = list(first)
    left = set().union(*kinds.values()).difference(*(kinds[address] for address in chosen))
    while left:
        best = max(kinds, key=lambda address: len(kinds[address] & left) / (20_000 + len(html[address])))
        chosen.append(best)
        left -= kinds[best]
    return chosen


def loads(html: str) -> list[str]:
    """Return every address that a browser fetches for a page by itself, as the page writes it.

    The theme's settings name the script that searches; it is fetched as well.
    """
    found = []
    for tag in re.findall(r"<(?:script|link|img|source|iframe|video|audio|embed|object|input|use|image)\b[^>]*>", html):
        facts = {name: value for name, value, *_ in re.findall(r"""([\w-]+)=["']?([^"'\s>]+)""", tag)}
        if tag.startswith("<link") and not re.search(r"rel=[\"']?(?:stylesheet|icon|preload|prefetch|manifest)", tag):
            continue
        names = ("src", "srcset", "data", "href", "poster")
        found += [facts[name] for name in names if name in facts]
    styles = " ".join(re.findall(r"<style.*?</style>|\bstyle=\"[^\"]*\"", html, re.DOTALL))
    found += asked_by_css(styles) + re.findall(r'"search": ?"([^"]+\.js)"', html)
    return [address for address in found if not address.startswith(("data:", "#"))]


def asked_by_css(text: str) -> list[str]:
    """Return every address that a style sheet fetches."""
    found = re.findall(r"""url\(\s*(?:"([^"]+)"|'([^']+)'|([^"')\s][^)]*))\s*\)|@import\s+["']([^"']+)""", text)
    addresses = ["".join(parts) for parts in found]
    return [address for address in addresses if not address.startswith(("data:", "#"))]
