"""The way out of Material: Zensical builds the same lessons, and what does not carry over is listed for contributors.

Zensical reads mkdocs.yml and runs its Markdown extensions, but no plugin of ours; rendering lives in the extensions.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from harness.built import pages
from harness.handbooks import REPOSITORY
from harness.project import environment

CARD = re.compile(r'<section class="capture .*?</section>|<div class="capture-table.*?</table>\s*</div>', re.DOTALL)
VALUE = re.compile(r'<span class="cap-value[^>]*>.*?</span>', re.DOTALL)
REPOSITORY_URL = "https://github.com/captured-handbook/handbook"


@pytest.fixture(scope="module")
def zensical(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the lessons with Zensical, as they stand, with an old address and a record of this machine."""
    tool = shutil.which("zensical", path=str(Path(sys.executable).parent)) or shutil.which("zensical")
    if not tool:
        pytest.fail('Zensical is missing: pip install -c constraints.txt -e ".[test]"')
    folder = tmp_path_factory.mktemp("zensical")
    for name in ("docs", "snippets"):
        shutil.copytree(REPOSITORY / name, folder / name, ignore=shutil.ignore_patterns("local", "__pycache__"))
    text = (REPOSITORY / "mkdocs.yml").read_text("utf-8")
    text = text.replace("\n  moved:\n", "\n  moved:\n    'timing/index.md#left': 'timing/device.md'\n")
    assert "#left" in text
    (folder / "mkdocs.yml").write_text(text, "utf-8")
    (folder / "docs/captures/local").mkdir()
    (folder / "docs/captures/local/note.yaml").write_text("mine: 1\n", "utf-8")
    done = subprocess.run(
        [tool, "build"], cwd=folder, env=environment({"CAPTURE_PUBLISH": "1", "NO_MKDOCS_2_WARNING": "1"}),
        capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "site"


def alike(html: str) -> str:
    """Return cards of either build without what is known to differ, each of it named in the list for contributors."""
    html = html.replace(" data-search-exclude", "")  # Zensical reads the mark and takes it out
    # Scripts to download, and links within the site: without the plugin a card does not know where its page stands.
    html = re.sub(rf'href="{REPOSITORY_URL}/blob/main/(?:docs/)?', 'href="', html)
    html = re.sub(r'href="([\w/.-]+?)(?:/index)?\.md(?=[#"])', r'href="\1/', html)
    html = re.sub(r'href="(?:\.{1,2}/)+', 'href="', html).replace('href="index/"', 'href=""')
    # Generated pages: what would lead to a host's page leads to its facts.
    html = re.sub(r'href="captures/([\w.-]+)/host.yaml"', r'href="hosts/\1/"', html)
    # Links of a card to its page: nor which page it is.
    html = re.sub(r'<a href="[^"]*">edit page</a>\n', "", html)
    return re.sub(r'(issues/new\?title=[^"+]*)\+on\+[^"]*"', r'\1"', html)


def test_cards_are_the_same(published: Path, zensical: Path) -> None:
    """Byte by byte, but for links that need to know the page: every card, every table and every captured number."""
    ours, theirs = pages(published), pages(zensical)
    counted = 0
    for address in ours.keys() & theirs.keys():
        for kind in (CARD, VALUE):
            cards = [[alike(card) for card in kind.findall(html[address])] for html in (ours, theirs)]
            assert cards[0] == cards[1], address
            counted += len(cards[0])
    assert counted > 300


# What does not carry over, by the words of CONTRIBUTING.md, and how the two sites show it: in ours, and not in theirs.
LOST: dict[str, Callable[[Path], bool]] = {
    "Scripts to download": lambda site: (site / "snippets").is_dir(),
    "Links within the site": lambda site: 'href="../captures/' in text(site, "timing/index.html"),
    "Links of a card to its page": lambda site: ">edit page</a>" in text(site, "timing/index.html"),
    "Edit links of pages": lambda site: "md-content__button" in text(site, "timing/index.html"),
    "Copies in Markdown": lambda site: (site / "llms.txt").is_file() and (site / "timing/index.md").is_file(),
    "Pages and sections that moved": lambda site: (
        site.parent.name.startswith("published") or 'id="left"' in text(site, "timing/index.html")
    ),
    "Styles and scripts": lambda site: "assets/capture.css" in text(site, "timing/index.html"),
    "The list of hosts": lambda site: 'id="capture-hosts"' in text(site, "timing/index.html"),
    "Results of this machine": lambda site: not (site / "captures/local").exists(),
    "Generated pages": lambda site: (
        (site / "hosts/epyc-avx512/index.html").exists() and (site / "debugging/notebook/index.html").exists()
    ),
    "The dataset": lambda site: (site / "handbook.json").exists(),
    "The end of a page": lambda site: 'class="capture-about"' in text(site, "timing/index.html"),
    "No sitemap without an address": lambda site: not (site / "sitemap.xml").exists(),
}


def text(site: Path, page: str) -> str:
    return (site / page).read_text("utf-8")


@pytest.mark.parametrize("name", LOST)
def test_what_does_not_carry_over_is_so(published: Path, zensical: Path, name: str) -> None:
    """Each entry of the list is true of both builds; what Zensical learns meanwhile is to be taken off the list."""
    assert LOST[name](published)
    assert not LOST[name](zensical), f"{name} carries over by now: take it off the list"


def test_the_list_is_complete(published: Path, zensical: Path) -> None:
    """Contributors read the same list, and every page of docs/ is in both sites."""
    part = (REPOSITORY / "CONTRIBUTING.md").read_text("utf-8").partition("### The way out of Material")[2]
    listed = re.findall(r"^- \*\*(.+?)\*\*", part.partition("\n### ")[0], re.MULTILINE)
    missing = pages(published).keys() - pages(zensical).keys()
    sources = {
        path.relative_to(REPOSITORY / "docs").with_suffix("").as_posix() for path in (REPOSITORY / "docs").rglob("*.md")
    }
    assert {page for page in missing if page.rstrip("/") in sources or f"{page}index" in sources} == set()
    assert set(listed) == {*LOST, "Faults by page and line"}
