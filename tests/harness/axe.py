"""axe-core in a page: what it finds wrong, at a width and in a scheme."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

# What a scheme changes; all other rules say the same in both.
COLOURS = ("color-contrast", "link-in-text-block")
# No colour is on its way to another.
STILL = """
const still = document.createElement("style");
still.textContent = "*, ::before, ::after { transition: none !important; animation: none !important }";
document.head.append(still);
"""
# What a click would open is open; of the hosts' panels those that hold anything which the others do not.
UNFOLD = """
for (const part of document.querySelectorAll("article details")) part.open = true;
document.querySelector("[data-compare]")?.click();
const kinds = (part) => [...part.querySelectorAll("*")].flatMap(({ tagName, classList }) =>
  tagName === "SPAN" ? [] : [tagName, ...classList]);
const panels = [...document.querySelectorAll("article [role=tabpanel]")];
const shown = new Set(panels.filter((panel) => !panel.hidden).flatMap(kinds));
for (const panel of panels.filter((panel) => panel.hidden)) {
  const own = kinds(panel);
  panel.hidden = own.every((kind) => shown.has(kind));
  for (const kind of own) shown.add(kind);
}
"""
# Of the words of code whose colours come from the same classes, up to the page, one each is left: most of the time goes
# into asking for the colours of thousands alike.
THIN = """
const seen = new Set();
for (const word of document.querySelectorAll("article pre span:not(:has(*))")) {
  let kind = "";
  for (let at = word; at.tagName !== "ARTICLE"; at = at.parentElement)
    kind += `${at.tagName} ${at.className} ${at.getAttribute("style")} > `;
  if (seen.has(kind)) word.style.display = "none";
  seen.add(kind);
}
"""
RUN = """
const [rules, others, done] = arguments;
const touched = innerWidth < 600; // where a finger chooses, a target is 24 pixels high or has room around it
const options = { resultTypes: ["violations"], rules: { "target-size": { enabled: touched } } };
for (const rule of others) options.rules[rule] = { enabled: false };
if (rules) options.runOnly = { type: "rule", values: rules };
axe.run(document, options).then(
  ({ violations }) => done(violations.flatMap(({ id, nodes }) => nodes.map(({ target, failureSummary }) =>
    `${id} at ${target.join(" ")}: ${failureSummary.split("\\n").slice(1, 3).join(" ").trim()}`))),
  (fault) => done([String(fault)]));
"""


def axe_source() -> str:
    """Return axe-core; where it is not installed the test fails and says what to install."""
    found = find_spec("axe_playwright_python")
    if found is None or not found.submodule_search_locations:
        pytest.fail("axe-core is missing: pip install --no-deps -c constraints.txt axe-playwright-python")
    return Path(found.submodule_search_locations[0], "axe.min.js").read_text("utf-8")


def scheme(browser: Any, name: str) -> None:
    """Let the reader's system be light or dark."""
    feature = {"name": "prefers-color-scheme", "value": name}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})


def violations(browser: Any, rules: tuple[str, ...] = (), others: tuple[str, ...] = ()) -> list[str]:
    """Return what axe finds wrong with the page as it stands, by all rules or by some, or by all but others."""
    if not browser.execute_script("return 'axe' in window"):
        browser.execute_script(axe_source())
    browser.set_script_timeout(60)
    found: list[str] = browser.execute_async_script(RUN, list(rules) or None, list(others))
    return found
