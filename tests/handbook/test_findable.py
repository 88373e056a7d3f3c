"""What leads to a page of the real site: its address, its description, search, and copies for other readers."""

from __future__ import annotations

import functools
import json
import re
import subprocess
import sys
from html import unescape
from pathlib import Path

import pytest
from harness.browsers import CONTRAST, Quiet, chromium, find, hits, serve
from harness.executions import case
from harness.handbooks import REPOSITORY
from harness.project import environment

from capture import store
from capture.site.markdown.fence_positions import fences
from capture.site.markdown.handbook_pages import page_paths
from capture.site.page.moved_addresses import address as address_of
from capture.store import catalogue

PUBLISHED = catalogue.read_handbook(store.Handbook(REPOSITORY), local=False)
ADDRESS = "https://reader.example/handbook/"
FORK = "https://github.com/someone/fork"
HOST_PAGE = re.compile(r"hosts/[^/]+/")


def build(folder: Path, **variables: str) -> Path:
    """Build the real site as it is published and return its folder."""
    ours = {"NO_MKDOCS_2_WARNING": "1", "CAPTURE_PUBLISH": "1", "HANDBOOK_SITE_URL": "", "HANDBOOK_REPO_URL": FORK}
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", folder],
        cwd=REPOSITORY, env=environment(ours | variables), capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site of a fork, at an address."""
    return build(tmp_path_factory.mktemp("addressed") / "site", HANDBOOK_SITE_URL=ADDRESS)


@pytest.fixture(scope="module")
def homeless(published: Path) -> Path:
    """The site where nobody has said at what address it will stand."""
    return published


def pages(site: Path) -> dict[str, str]:
    """Return the HTML of every page, by its address from the site's root; not what only leads on, nor notebooks."""
    found = {
        f"{path.parent.relative_to(site).as_posix()}/".removeprefix("./"): path.read_text("utf-8")
        for path in site.rglob("index.html")
    }
    return {
        address: html
        for address, html in found.items()
        if "This page has moved" not in html and not address.endswith("/notebook/")
    }


@case("site-moved")
def test_every_address_is_listed(case: str, site: Path) -> None:
    """Every page and heading that somebody wrote stands in the list, which the build compares with the site."""
    listed = (REPOSITORY / "published.txt").read_text("utf-8").splitlines()
    assert listed == sorted(set(listed))
    written = {address: html for address, html in pages(site).items() if not HOST_PAGE.fullmatch(address)}
    here = {f"/{address}" for address in written}
    for address, html in written.items():
        here |= {f"/{address}#{name}" for name in re.findall(r'<h[1-6] id="([^"]+)"', html)}
    assert len(here) > 300
    assert here - set(listed) == set(), "run: make published"


def test_a_missing_page_helps(site: Path, homeless: Path) -> None:
    """It links every symptom and every page, from the root of the server, since it is shown at any depth."""
    for folder, root in ((site, "/handbook/"), (homeless, "/")):
        html = (folder / "404.html").read_text("utf-8")
        addresses = re.findall(r'(?:href|src)="([^"]*)"', html)
        own = [address for address in addresses if not address.startswith(("#", "https:", "mailto:"))]
        assert [address for address in own if not address.startswith(root)] == []
        article = html[html.index("<article") : html.index("</article")]
        linked = {address.removeprefix(root).removeprefix(".") for address in re.findall(r'href="([^"]*)"', article)}
        assert set(pages(folder)) - linked == set()
        start = pages(folder)[""]
        symptoms = re.findall(r'<h3 id="([^"]+)"', start[start.index('id="find-your-symptom"') :])
        assert len(symptoms) > 4
        assert {f"#{name}" for name in symptoms} <= linked


def head(html: str, pattern: str) -> list[str]:
    """Return what a pattern finds in the head of a page."""
    return re.findall(pattern, html[: html.index("</head>")])


def test_every_page_says_what_it_is_about(site: Path) -> None:
    """One sentence for search engines, of which no two are the same."""
    said = {
        address: head(html, r'<meta name="description" content="([^"]+)">') for address, html in pages(site).items()
    }
    assert {
        address: texts for address, texts in said.items() if len(texts) != 1 or not 40 <= len(texts[0]) <= 170
    } == {}
    assert len({texts[0] for texts in said.values()}) == len(said)


def test_canonical_links_and_the_sitemap_where_the_address_is_known(site: Path, homeless: Path) -> None:
    """They name every page at the site's address; without one there is neither."""
    known = {f"{ADDRESS}{address}" for address in pages(site)}
    for address, html in pages(site).items():
        assert head(html, r'<link rel="canonical" href="([^"]+)"') == [ADDRESS + address]
    assert set(re.findall(r"<loc>([^<]+)</loc>", (site / "sitemap.xml").read_text("utf-8"))) == known
    assert (site / "sitemap.xml.gz").is_file()
    assert list(homeless.glob("sitemap.xml*")) == []
    assert [address for address, html in pages(homeless).items() if 'rel="canonical"' in html] == []


def test_a_fork_edits_and_reports_in_its_own_repository(site: Path) -> None:
    """The address comes from the environment: every page's edit link, and every card's links."""
    for address, html in pages(site).items():
        (edit,) = re.findall(r'<a href="([^"]+)"[^>]*class="md-content__button', html) or ["none"]
        if HOST_PAGE.fullmatch(address):
            assert edit == "none"  # nobody wrote it
            continue
        assert edit.startswith(f"{FORK}/edit/main/docs/{address}"[:-1]), address
    lesson = pages(site)["timing/"]
    assert f'href="{FORK}/edit/main/snippets/timing/' in lesson
    assert f'href="{FORK}/issues/new?title=timing%2F' in lesson
    # What prose says about the handbook's own repository is its author's.
    assert "captured-handbook/handbook" not in lesson


def test_every_link_of_a_table_leads_to_a_card_or_a_page(site: Path) -> None:
    """The link check of the build sees no link that is drawn: file and anchor are there."""
    parts = (
        r'<div class="capture-table".*?</div>',
        r'<footer class="capture-about">.*?</footer>',
        r"<dd><a href.*?</dd>",
    )
    checked = 0
    for address, html in pages(site).items():
        drawn = " ".join(part for pattern in parts for part in re.findall(pattern, html, re.DOTALL))
        for link in map(unescape, set(re.findall(r'href="([^"]+)"', drawn))):
            path, _, anchor = link.partition("#")
            target = (site / address / path).resolve()
            target = target / "index.html" if target.is_dir() else target
            assert target.is_file(), f"{address}: {link}"
            assert not anchor or f'id="{anchor}"' in read(target), f"{address}: {link}"
            checked += 1
    assert checked > 500


@functools.cache
def read(path: Path) -> str:
    """Return a built file."""
    return path.read_text("utf-8")


def test_every_page_has_a_copy_in_markdown(site: Path) -> None:
    """Nothing is left to fill in, every link of it leads to a file, and the page names it."""
    for address, html in pages(site).items():
        copy = site / address / "index.md"
        text = copy.read_text("utf-8")
        assert head(html, r'<link rel="alternate describedby" type="text/markdown" href="([^"]+)"') == ["index.md"]
        if not address.startswith("contributing/"):
            assert "#!captured" not in text
        assert re.findall(r"^[> ]*`{3,}capture", text, re.MULTILINE) == []
        prose = re.sub(r"^[> ]*(`{3,}).*?^[> ]*\1$", "", text, flags=re.MULTILINE | re.DOTALL)
        for link in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"`[^`]+`", "code", prose)):
            if not re.match(r"[a-z]+:|#", link):
                assert (copy.parent / link.partition("#")[0]).exists(), f"{address}: {link}"


def test_a_copy_has_the_numbers_and_what_they_were_got_on(site: Path) -> None:
    """Every output of the default host stands under a line with chip, torch and date, as its record holds it."""
    text = (site / "instruments/autocast/index.md").read_text("utf-8")
    item = PUBLISHED.records["epyc-avx512", "instruments/bf16_linear"]
    (before, _, after) = text.partition(f"```text\n{item.stdout.rstrip()}\n```")
    assert after
    badge = before.rstrip().rpartition("\n")[2]
    for fact in (item.environment.chip, f"torch {item.environment.torch}", "2026", "current"):
        assert fact in badge
    assert re.search(r"takes \d+\.\d+\[\^captured-\d+\] times as long", text)
    notes = set(re.findall(r"\[\^(captured-\d+)\](?!:)", text))
    assert notes == set(re.findall(r"^\[\^(captured-\d+)\]: .+ torch \d", text, re.MULTILINE))


def test_notebooks_are_light_and_lead_on(site: Path) -> None:
    """Each page of a notebook is below 80 KB, its links lead to files, and those of the download to the site."""
    found = sorted(site.rglob("notebook/index.html"))
    assert len(found) > 3
    for path in found:
        html = path.read_text("utf-8")
        assert len(html.encode()) < 80_000, path
        article = html[html.index("<article") : html.index("</article>")]
        for link in re.findall(r'href="([^"#]+)', article):
            if not re.match(r"[a-z]+:", link):
                assert (path.parent / link).exists(), f"{path}: {link}"
        (file,) = path.parent.glob("*.ipynb")
        text = file.read_text("utf-8")
        assert f"]({ADDRESS}captures/epyc-avx512/" in text
        assert "](.." not in text


def test_llms_txt_lists_every_page(site: Path, homeless: Path) -> None:
    """Each with its description, by section; from the site's address where it has one."""
    for folder, root in ((site, ADDRESS), (homeless, "")):
        text = (folder / "llms.txt").read_text("utf-8")
        assert re.match(r"# .+\n\n> .+\n", text)
        linked = re.findall(r"^- \[[^\]]+\]\(([^)]+)\): .{40,}$", text, re.MULTILINE)
        assert set(linked) == {f"{root}{address}index.md" for address in pages(folder)}
        assert len(re.findall("^## ", text, re.MULTILINE)) > 5


def test_search_finds_captured_text_once_under_its_heading(site: Path) -> None:
    """Source and output are whole in one section of each page that shows them, without line numbers or badges."""
    entries = json.loads((site / "search/search_index.json").read_text("utf-8"))["docs"]
    sections = {
        entry["location"]: " ".join(unescape(re.sub("<[^>]+>", "", entry["text"])).split())
        for entry in entries
        if "#" in entry["location"]
    }
    checked = 0
    for path in page_paths(store.Handbook(REPOSITORY)):
        for place in fences(path.read_text("utf-8")):
            item, show = PUBLISHED.records.get(("epyc-avx512", place.body)), place.options.get("show", "both")
            source = PUBLISHED.snippets[place.body].source if show != "output" and "lines" not in place.options else ""
            for part in (source, item.stdout if item and show != "source" else ""):
                if 80 < len(part) < 2_000:
                    checked += 1
                    address = address_of(path.relative_to(REPOSITORY / "docs").as_posix()).lstrip("/")
                    text = " ".join(part.split())
                    counts = [
                        words.count(text) for location, words in sections.items() if location.startswith(f"{address}#")
                    ]
                    assert sorted(counts)[-2:] in ([1], [0, 1]), place.body
    assert checked > 100
    everything = " ".join(sections.values())
    for word in (
        "starts with 2 threads 2 runs",
        "agree 29 Nov",
        "report an issue",
        "__codelineno",
        "capture it: capture run",
    ):
        assert word not in everything


class Missing(Quiet):
    """A server that shows the site's own page where there is none, as GitHub Pages does."""

    def send_error(self, code: int, *_: object) -> None:
        body = Path(self.directory, "handbook/404.html").read_bytes()
        self.send_response(code)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.end_headers()
        self.wfile.write(body)


@pytest.mark.browser
def test_a_missing_page_searches_for_what_was_meant(site: Path, tmp_path: Path) -> None:
    """Deep below the site, it has its style, and one click searches for the last word of the address."""
    (tmp_path / "handbook").symlink_to(site)
    server = serve(tmp_path, Missing)
    browser = chromium(tmp_path / "profile")
    try:
        browser.get(f"http://127.0.0.1:{server.server_port}/handbook/old/lessons/autocast.html")
        assert "There is no page at this address" in find(browser, "h1").text
        assert browser.execute_script("return getComputedStyle(document.querySelector('h1')).fontWeight") == "300"
        assert browser.execute_script(CONTRAST) == {}
        find(browser, "[data-missing-link]").click()
        assert hits(browser, "/handbook/instruments/autocast/")
    finally:
        browser.quit()
        server.shutdown()
