"""A handbook with results worth a picture, and what a picture says."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path
from xml.etree import ElementTree

from capture.host.environment import Conditions
from harness.handbooks import STALE, Handbook, host, make_handbook, record, script

VALUES = {"low": r"low ([\w.+-]+)", "high": r"high ([\w.+-]+)"}
SPEED = script("print(1)", values=VALUES, timing=True, compare={"relative": {"high": 0.5}})
ORDER = script("print(1)", values={"free": "^free: (.+)", "verdict": "^verdict: (.+)"})
DEVICE = script("print(1)", values={"gain": r"gain ([\d.]+)"}, needs=["cuda"])
BARS = "kind: bars\ntitle: Low & high\nunit: x\nvalue: x/speed low = low <b>\nvalue: x/speed high = high"
LANES = (
    "kind: lanes\ntitle: An order\nlanes: A = producer, B = consumer\nmark: * = reads too early\n"
    "value: x/order free = no wait\nresult: x/order verdict = verdict"
)
STEPS = "free: A load > B waits A > B read x* > free x > A write\nverdict: race 竞态\n"
HOSTS = [
    host("zen", "Zen"), host("twin", "Twin"), host("old", "Old"), host("busy", "Busy"), host("ill", "Ill"),
    host("none", "None yet"), host("local", "Mine"),
]  # fmt: skip
NOISY = Conditions(load_before=3.0, foreign_cpu=0.9, steal=None, governor=None, busy=True)
RECORDS = [
    record("x/speed", "zen", "low 0.5\nhigh 20\n"),
    record("x/speed", "twin", "low 0.5\nhigh 20\n", torch="2.14.1+cpu"),
    record("x/speed", "old", "low 0.25\nhigh 3\n", source_sha256=STALE),
    record("x/speed", "busy", "low 0.75\nhigh n/a\n", conditions=NOISY),
    record("x/speed", "ill", "low 9\nhigh 9\n", status="error", exit_code=1),
    record("x/speed", "local", "low 77\nhigh 77\n"),
    record("x/order", "zen", STEPS),
    record("x/order", "twin", STEPS, torch="2.14.1+cpu"),
    record("x/order", "old", STEPS.replace("*", "")),
]


def fence(body: str) -> str:
    """Return a page with one plot, whose fence opens on line 3."""
    return f"# Page\n\n```capture-plot\n{body}\n```\n"


def make(folder: Path, body: str = BARS) -> Handbook:
    """Return a handbook: two hosts that agree, one stale, one busy, one failed, one without a record, this machine."""
    snippets = {"x/speed": SPEED, "x/order": ORDER, "x/device": DEVICE}
    return make_handbook(folder, snippets, HOSTS, RECORDS, {"index.md": fence(body)}, default_host="zen")


def source(html: str) -> str:
    """Return the HTML of the one picture of a page."""
    (picture,) = re.findall(
        r'(<div class="capture-plot__picture".*?</div>)\s*<p class="capture-plot__sources"', html, re.DOTALL
    )
    return str(picture)


def tree(html: str) -> ElementTree.Element:
    """Return the one picture of a page: XML but for an element without an end and an attribute without a value."""
    return ElementTree.fromstring(source(html).replace("<wbr>", "").replace(" data-search-exclude>", ">", 1))


def svgs(html: str) -> list[ElementTree.Element]:
    """Return the marks of the one picture of a page: each SVG that stands in no other."""
    picture = tree(html)
    inner = {id(svg) for outer in picture.iter("svg") for svg in outer.iter("svg") if svg is not outer}
    return [svg for svg in picture.iter("svg") if id(svg) not in inner]


def texts(html: str) -> list[str]:
    """Return what can be seen of the picture's words, from the first to the last."""
    items = (item for item in tree(html).iter() if item.get("hidden") is None and item.tag != "svg")
    words = (" ".join(f"{item.text or ''} {' '.join(child.tail or '' for child in item)}".split()) for item in items)
    return [word for word in words if word]


def rows(html: str) -> list[list[str]]:
    """Return the cells of the table behind a picture."""
    found = re.findall(r"<tr>(.*?)</tr>", html, re.DOTALL)
    cells = [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.DOTALL) for row in found]
    return [[unescape(re.sub(r"<[^>]+>", "", cell)).strip() for cell in row] for row in cells]
