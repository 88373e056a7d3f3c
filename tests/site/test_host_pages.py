"""The page about a host: all that is recorded, drawn from records, and made by nobody."""

from __future__ import annotations

import re
from dataclasses import replace
from html import unescape
from pathlib import Path

import pytest
from harness.handbooks import GATES, Handbook, host, make_handbook, record, script

from capture import store
from capture.host.host import identified
from capture.site.markdown import page_check
from capture.site.model import site
from capture.site.page import host_page

GAIN = script(
    'print("gain 2.0x")', values={"gain": r"gain ([\d.]+)x"},
    claims={"much": {"says": "it is much faster", "holds": "gain > 10", "where": "cpu.bf16"}},
)  # fmt: skip
SNIPPETS = {"demo/gain": GAIN, "demo/device": script("print(1)", needs=["cuda"]), "demo/new": script("print(3)")}
LESSON = "# Lesson\n\n```capture\ndemo/gain\n```\n\n```capture\ndemo/device\n```\n"
INDEX = "# Hosts\n\n```capture-table\nhosts\n```\n"
WILD = 'A <b>"title"</b> & *stars* `code` [link](x) {#id}'
PAGES = {"index.md": "# Start\n\nHello.\n", "lesson/index.md": LESSON, "hosts/index.md": INDEX}


def book(folder: Path) -> Handbook:
    """Two hosts and this machine; a claim fails on the second one, which has two environments."""
    hosts = [host("zen", "Zen"), host("h200", WILD, "cuda", bf16=True), host("local", "Mine")]
    cuda = {"gates": GATES | {"cuda": True}}
    records = [
        record("demo/gain", "zen", "gain 2.0x\n"),
        record("demo/gain", "h200", "gain 2.0x\n", torch="2.14.1+cu130", **cuda),
        record("demo/device", "h200", "1\n", torch="2.13.0+cu130", captured="2026-11-28", limits={"cpus": "2"}, **cuda),
        record("demo/gain", "local", "gain 2.0x\n"),
    ]
    return make_handbook(folder, SNIPPETS, hosts, records, PAGES)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Handbook:
    """The handbook as it is published."""
    made = book(tmp_path_factory.mktemp("hosts"))
    done = made.build({"CAPTURE_PUBLISH": "1"})
    assert done.returncode == 0, done.stderr
    return made


def text_of(html: str) -> str:
    """Return the words of a page's article."""
    article = html[html.index("<article") : html.index("</article")]
    return " ".join(unescape(re.sub(r"<wbr>|<[^>]+>", lambda tag: "" if tag[0] == "<wbr>" else " ", article)).split())


def test_every_published_host_has_a_page(built: Handbook) -> None:
    """Hardware with its nulls, software, gates, results and failing claims; this machine has none."""
    assert not (built.root / "site/hosts/local").exists()
    words = text_of(built.html("hosts/zen/index.html"))
    for fact in (
        "1 result, captured on 29 Nov 2026", "cpu.isa AVX2 widest vector ISA", "cpu.part only ARM has it",
        "torch 2.13.0+cpu", "system Debian 12, Linux 6.18, x86_64", "threads intra 2, inter 2",
        "cuda no 1 script demo/device torch.cuda.is_available()", "demo/gain current 2.13.0+cpu 29 Nov 2026 record",
        "demo/device needs cuda", "demo/new missing", "None: every claim that is judged on this host holds.",
    ):  # fmt: skip
        assert fact in words
    assert 'href="../../lesson/#capture-demo-gain--zen"' in built.html("hosts/zen/index.html")
    assert 'href="../../captures/zen/demo/gain.yaml"' in built.html("hosts/zen/index.html")


def test_a_claim_that_fails_says_how(built: Handbook) -> None:
    """With the script, the scope and the number."""
    words = text_of(built.html("hosts/h200/index.html"))
    assert "it is much faster demo/gain cpu.bf16 gain > 10, but gain is 2" in words


def test_each_environment_has_a_column(built: Handbook) -> None:
    """Newest torch first, with the days and results that were captured in it."""
    words = text_of(built.html("hosts/h200/index.html"))
    for fact in (
        "torch 2.14.1+cu130 2.13.0+cu130", "limits none cpus 2", "captured 29 Nov 2026 28 Nov 2026",
        "accelerators[0].capability 9.0", "2 results, 28 Nov 2026 to 29 Nov 2026",
    ):  # fmt: skip
        assert fact in words


def test_cards_and_the_list_lead_to_it(built: Handbook) -> None:
    """From under a badge, from where a result is missing, from the list of hosts, and from the nav."""
    card = built.html("lesson/index.html")
    assert '<dt>host</dt>\n<dd><a href="../hosts/zen/">Zen</a></dd>' in card
    absent = card[card.index('id="capture-demo-device--zen"') :]
    assert '<a href="../hosts/zen/">About this host</a>' in absent[: absent.index("</p>\n</div>") + 4]
    assert '<a href="../hosts/zen/">Zen</a>' in built.html("hosts/index.html")
    nav = card[card.index("md-nav--primary") : card.index("<article")]
    assert 'href="../hosts/zen/"' in nav


def test_a_title_is_text(built: Handbook) -> None:
    """It is a stranger's: no tag, attribute or Markdown of it acts, in the page, its head or the nav."""
    shown = 'A ‹b›"title"‹/b› & *stars* `code` [link](x) {#id}'
    for page in ("hosts/h200/index.html", "index.html"):
        html = built.html(page)
        assert "<b>&quot;title" not in html and '<b>"title' not in html and "<em>stars" not in html
    html = built.html("hosts/h200/index.html")
    heading = re.search(r"<h1[^>]*>(.*?)<a class", html)
    assert heading and unescape(heading[1]) == shown
    title = re.search(r"<title>(.*?)</title>", html)
    assert title and unescape(title[1]).startswith(shown)
    said = re.search(r'<meta name="description" content="([^"]*)">', html)
    assert said and 40 <= len(unescape(said[1])) <= 170


@pytest.mark.parametrize(
    "title", ["</title><script>x</script>", "&lt;/title&gt;&lt;script&gt;x", "# a\n\n- b", "{% x %}"]
)
def test_no_title_ends_the_heads_title(title: str) -> None:
    """The theme turns entities back into characters there, once; nothing then is a tag."""
    text = host_page.escaped_title(title)
    assert "<" not in text + unescape(text)
    assert '"' not in text and "\n" not in text


def test_no_title_turns_the_text_round() -> None:
    """A control that writes from right to left is shown, not obeyed, as everywhere; letters of such scripts stay."""
    assert unescape(host_page.escaped_title("\u202eevil\u2066 \x1b[1m مضيف")) == "\\u202eevil\\u2066 \\x1b[1m مضيف"


def test_this_machine_has_a_page_where_nothing_is_published(tmp_path: Path) -> None:
    """A newcomer sees all that would be recorded, and that it stays here."""
    made = book(tmp_path)
    assert made.build().returncode == 0
    words = text_of(made.html("hosts/local/index.html"))
    assert "this machine" in words
    assert "nothing of them is published" in words


def test_a_host_adds_files_in_its_folder_only(tmp_path: Path) -> None:
    """No line of a shared file changes: its page, its place in the nav and in llms.txt come by themselves."""
    made = book(tmp_path)
    assert made.build({"CAPTURE_PUBLISH": "1", "CAPTURE_ADDRESSES": "add"}).returncode == 0
    before = (tmp_path / "published.txt").read_text("utf-8")
    store.write_host(made.book, identified(replace(host("m3", "M3"), kind="mps")))
    made.keep(record("demo/gain", "m3", "gain 2.0x\n"))
    assert made.build({"CAPTURE_PUBLISH": "1", "CAPTURE_ADDRESSES": "add"}).returncode == 0
    assert (tmp_path / "published.txt").read_text("utf-8") == before
    assert "(hosts/m3/index.md)" in (tmp_path / "site/llms.txt").read_text("utf-8")


def test_a_page_that_somebody_wrote_goes_first(tmp_path: Path) -> None:
    """A host with a story has a page of its own in docs/hosts."""
    made = book(tmp_path)
    made.write("docs/hosts/zen/index.md", "# Our Zen\n\nIts story.\n\n```capture-table\nresults zen\n```\n")
    done = made.build({"CAPTURE_PUBLISH": "1"})
    assert done.returncode == 0, done.stderr
    assert "Its story." in made.html("hosts/zen/index.html")


def test_without_a_list_of_hosts_the_pages_stand_outside_the_nav(tmp_path: Path) -> None:
    """A handbook with no docs/hosts builds as before, strictly, and its cards' links lead somewhere."""
    hosts = [host("zen", "Zen"), host("new", "New")]
    made = make_handbook(tmp_path, SNIPPETS, hosts, [record("demo/gain", "zen", "gain 2.0x\n")], {"index.md": LESSON})
    done = made.build()
    assert done.returncode == 0, done.stderr
    assert "No result has been captured here yet." in made.html("hosts/new/index.html")


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ("gates", "gates is a table about one host: write its label behind it"),
        ("gates zne", 'no host "zne"; did you mean "zen"?'),
        ("gate zen", 'no table "gate zen"; did you mean "gates"?'),
        ("matrix zen", 'no table "matrix zen"'),
    ],
)
def test_a_slip_in_a_tables_name_is_named(tmp_path: Path, table: str, message: str) -> None:
    """At page:line, with the nearest name."""
    _, (problem,) = book(tmp_path).page(f"# A\n\n```capture-table\n{table}\n```\n")
    assert str(problem).startswith(f"docs/index.md:3: {message}")


def test_the_page_passes_the_check_of_pages(tmp_path: Path) -> None:
    """Its Markdown is rendered by the site's own extensions, with no problem."""
    made = book(tmp_path)
    known = site.from_catalogue(page_check.without_local(made.catalogue()), site.Settings(default_host="zen"))
    text = host_page.page_markdown(known, "h200", listed=False)
    html, problems = made.page(text, f"docs/{host_page.page_path('h200')}")
    assert problems == []
    assert html.count('class="capture-table"') == 5
