"""What moved: old addresses lead to the page and to the section, and none that was published is lost."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from harness.browsers import chromium, serve, wait
from harness.executions import case
from harness.handbooks import Handbook, make_handbook

from capture.errors import CaptureError
from capture.site.page import moved_addresses

PAGES = {
    "index.md": "# Start\n",
    "mixed/autocast.md": "# Autocast\n\n## Inference\n\nHere.\n\n## Training\n\nThere.\n",
    "mixed/casts.md": "# Casts\n\n## One cast\n\nHere.\n",
}
ANCHORS = {"/": ["start"], "/mixed/autocast/": ["inference", "training"], "/mixed/casts/": ["one-cast"]}
PUBLISHED = ("/", "/precision/autocast/", "/precision/autocast/#training", "/precision/autocast/#all-casts")
PAGE_MOVES = "precision/autocast.md: mixed/autocast.md#inference"
SECTION_MOVES = "precision/autocast.md#all-casts: mixed/casts.md#one-cast"


def moves(pages: str = PAGE_MOVES, sections: str = SECTION_MOVES) -> moved_addresses.MovedAddresses:
    """Return moves as mkdocs.yml writes them, one a line."""
    return moved_addresses.parse_moves(dict(line.split(": ") for line in f"{pages}\n{sections}".splitlines() if line))


def make(
    folder: Path, pages: str = PAGE_MOVES, sections: str = SECTION_MOVES, listed: tuple[str, ...] = ()
) -> Handbook:
    """Write a handbook in which something moved."""
    book = make_handbook(folder, pages=PAGES)
    text = (folder / "mkdocs.yml").read_text("utf-8")
    entries = "".join(f"    {entry}\n" for lines in (pages, sections) for entry in lines.splitlines())
    assert "  moved: {}\n" in text
    book.write("mkdocs.yml", text.replace("  moved: {}\n", f"  moved:\n{entries}") if entries else text)
    if listed:
        book.write("published.txt", "".join(f"{place}\n" for place in listed))
    return book


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("/mixed/casts/", "/mixed/casts/"),
        ("/mixed/casts/#one-cast", "/mixed/casts/#one-cast"),
        ("/mixed/casts/#gone", None),
        ("/precision/autocast/", "/mixed/autocast/#inference"),
        ("/precision/autocast/#training", "/mixed/autocast/#training"),
        ("/precision/autocast/#all-casts", "/mixed/casts/#one-cast"),
        # A page that became a section: what had no name of its own there is in that section.
        ("/precision/autocast/#other", "/mixed/autocast/#inference"),
        ("/never/", None),
    ],
)
def test_where_an_old_address_leads(old: str, new: str | None) -> None:
    """To itself, to the section of the same name, to the one that is named, or nowhere."""
    assert moved_addresses.destination(old, moves(), ANCHORS) == new


def test_a_section_that_the_new_page_lacks_is_lost() -> None:
    """The top of a page is not the section."""
    assert moved_addresses.destination("/a/#gone", moves("a.md: mixed/casts.md", ""), ANCHORS) is None


@pytest.mark.parametrize(
    ("start", "place", "seen"),
    [
        ("/", "/a/b/", "a/b/"),
        ("/a/b/", "/", "../../"),
        ("/a/b/", "/a/c/#d", "../c/#d"),
        ("/a/", "/a/#d", "./#d"),
        ("/a/", "https://example.org/x#y", "https://example.org/x#y"),
    ],
)
def test_addresses_are_relative(start: str, place: str, seen: str) -> None:
    """A site works in any folder of a server."""
    assert moved_addresses.relative_address(start, place) == seen


@pytest.mark.parametrize(
    ("pages", "sections", "listed", "message"),
    [
        (
            "",
            "",
            ("/", "/old/"),
            "published.txt:2: /old/ was published and leads nowhere now; name its new place under",
        ),
        ("", "", ("/mixed/casts/#two",), "published.txt:1: /mixed/casts/#two was published and leads nowhere now"),
        (PAGE_MOVES, "mixed/casts.md#one-cast: mixed/autocast.md#training", (), "#one-cast still stands on its page"),
        (PAGE_MOVES, "gone.md#a: mixed/autocast.md#training", (), "the page of /gone/#a is gone"),
        (PAGE_MOVES, "precision/autocast.md#a: mixed/casts.md#no", (), "leads to /mixed/casts/#no, which is not there"),
        ("mixed/casts.md: mixed/autocast.md", "", (), "extra.moved: /mixed/casts/ still stands"),
        ("", "mixed/casts: mixed/autocast.md", (), "extra.moved: write each line as"),
        ("old.md: gone.md", "", (), "extra.moved: /old/ leads to /gone/, which is not there"),
    ],
)
def test_a_lost_address_fails_a_strict_build(
    tmp_path: Path, pages: str, sections: str, listed: tuple[str, ...], message: str
) -> None:
    """The log says which address, and where its new place is to be named."""
    done = make(tmp_path, pages, sections, listed).build()
    assert done.returncode == 1
    assert message in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "old",
    ["../evil.md", "a/../../evil.md", "/evil.md", "a//evil.md", "./evil.md", "..\\evil.md", "evil.mdx", ".md/x", 7],
)
def test_an_old_address_lies_within_the_site(old: object) -> None:
    """What leads on is written at the old address, so none may be outside of the site's folder, or no page."""
    with pytest.raises(CaptureError, match=r"extra\.moved: write each line as"):
        moved_addresses.parse_moves({old: "index.md"})


@pytest.mark.parametrize("table", [False, 0, 7, ["a.md"], {"a.md": ["b.md"]}, {"a.md": ""}, {"a.md": None}])
def test_moves_are_a_table_of_texts(table: object) -> None:
    """Whatever else stands there is refused in the same words."""
    with pytest.raises(CaptureError, match=r"extra\.moved: write each line as"):
        moved_addresses.parse_moves(table)


def test_addresses_are_added_and_never_taken_out(tmp_path: Path) -> None:
    """What make published writes holds every page and section beside all that was there."""
    book = make(tmp_path, listed=PUBLISHED)
    done = book.build(env={"CAPTURE_ADDRESSES": "add"})
    assert done.returncode == 0, done.stderr
    lines = (tmp_path / "published.txt").read_text("utf-8").splitlines()
    assert lines == sorted({*lines, *PUBLISHED})
    assert {"/mixed/casts/", "/mixed/casts/#one-cast", "/mixed/autocast/#training"} <= set(lines)


def test_an_address_cannot_leave_the_script_of_a_redirect() -> None:
    """What mkdocs.yml names is text there too."""
    moves = moved_addresses.parse_moves({"old.md": "https://example.org/</script><b>"})
    html = moved_addresses.stub_page("/old/", moves, (), {})
    assert html.count("</script>") == 1
    assert "<b>" not in html


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """One Chromium for all addresses."""
    driver = chromium(tmp_path_factory.mktemp("profile"))
    yield driver
    driver.quit()


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A site in a folder of its server, in which a page moved and a section left a page that still stands."""
    folder = tmp_path_factory.mktemp("server")
    book = make(folder / "book", sections=f"{SECTION_MOVES}\nmixed/autocast.md#export: mixed/casts.md#one-cast")
    assert book.build().returncode == 0
    (folder / "www").mkdir()
    (folder / "book/site").rename(folder / "www/handbook")
    server = serve(folder / "www")
    yield f"http://127.0.0.1:{server.server_port}/handbook/"
    server.shutdown()


@pytest.mark.browser
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("precision/autocast/", "mixed/autocast/#inference"),
        ("precision/autocast/#training", "mixed/autocast/#training"),
        ("precision/autocast/#all-casts", "mixed/casts/#one-cast"),
        ("precision/autocast/index.html#all-casts", "mixed/casts/#one-cast"),
        ("mixed/autocast/#export", "mixed/casts/#one-cast"),
    ],
)
@case("site-moved")
def test_an_old_address_reaches_its_section(browser: Any, address: str, case: str, old: str, new: str) -> None:
    """With and without a section, from a page that is gone and from one that still stands."""
    browser.get("about:blank")
    browser.get(address + old)
    wait(lambda: browser.current_url == address + new)
    assert browser.execute_script("return document.querySelector(location.hash).matches('h2')")
