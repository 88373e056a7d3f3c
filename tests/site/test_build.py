"""The site as MkDocs builds it, strictly, in a process of its own."""

import contextlib
import json
import re
import socket
import subprocess
import sys
import time
import urllib.request
from html.parser import HTMLParser

import pytest
from harness.executions import case
from harness.handbooks import REPOSITORY, host, make_handbook, record, script

from capture import store
from capture.store import read_site_config

SPEED = script('"""Times sourceword."""\n\nprint("ratio 7.3x")\n', title="Speed", values={"ratio": r"ratio ([\d.]+)x"})
HOSTS = [host("epyc", "EPYC"), host("h200", "H200", "cuda"), host("local", "Mine")]
RECORDS = [
    record("x/speed", "epyc", "ratio 7.3x outputword\n", stderr="Traceback errorword\n", os="Badgeword 12"),
    record("x/speed", "h200", "ratio 7.3x outputword\n", stderr="Traceback errorword\n"),
    record("x/speed", "local", "ratio 5x localword\n"),
]
PAGES = {
    "index.md": "# Start\n\nSee [the card](a/page.md#capture-x-speed--h200).\n",
    "a/page.md": "# Page\n\nIt is `#!captured x/speed ratio` times.\n\n```capture\nx/speed\n```\n",
}


def make(folder, **changes):
    return make_handbook(
        folder, **{"snippets": {"x/speed": SPEED}, "hosts": HOSTS, "records": RECORDS, "pages": PAGES} | changes
    )


def test_a_strict_build(tmp_path):
    """Pages, records and scripts are in the site; links from a page to a card's host are known to the link check."""
    book = make(tmp_path)
    done = book.build()
    assert done.returncode == 0, done.stderr
    html = book.html("a/page/index.html")
    assert 'href="../../captures/epyc/x/speed.yaml"' in html
    assert 'href="../../snippets/x/speed.py"' in html
    assert "this machine" in html
    site = tmp_path / "site"
    assert (site / "captures/epyc/x/speed.yaml").read_bytes() == (
        tmp_path / "docs/captures/epyc/x/speed.yaml"
    ).read_bytes()
    assert (site / "snippets/x/speed.py").read_text("utf-8") == SPEED
    assert 'href="https://github.com/captured-handbook/handbook/edit/main/docs/a/page.md"' in html


@pytest.mark.parametrize(
    ("page", "message"),
    [
        (
            "---\ntitle: A\n---\n\n# A\n\n```capture\nx/sped\n```\n",
            'docs/index.md:7: no snippet "x/sped"; did you mean "x/speed"?',
        ),
        ("# A\n\n```capture hots='a'\nx/speed\n```\n", 'docs/index.md:3: unknown option "hots"; did you mean "host"?'),
        ("# A\n\n```capture host=h200\nx/speed\n```\n", "docs/index.md:3: this capture fence is not read"),
        ("# A\n\n`#!captured x/speed rato`\n", 'docs/index.md:3: snippet "x/speed" has no value "rato"'),
        pytest.param(
            "# A\n\n[x](a/page.md#capture-x-speed--h20)\n",
            "does not contain an anchor '#capture-x-speed--h20'",
            id="site-strict-anchor",
        ),
        pytest.param(
            '# A\n\n<p id="b">1</p>\n\n<p id="b">2</p>\n',
            'docs/index.md:5: the id "b" stands on this page twice',
            id="site-dup-id",
        ),
        pytest.param(
            "# A\n\n```capture\nx/new\n```\n",
            "docs/index.md:3: no published host has a record of x/new",
            id="render-not-run",
        ),
    ],
)
def test_a_strict_build_fails_at_page_and_line(tmp_path, page, message):
    """A mistake ends the build, and the log says where, what, and what next."""
    book = make(tmp_path, snippets={"x/speed": SPEED, "x/new": script("print()\n")}, pages=PAGES | {"index.md": page})
    done = book.build()
    assert done.returncode == 1
    assert message in done.stderr


def test_a_damaged_record_fails_the_build(tmp_path):
    """Its page would call it missing, which is not so."""
    book = make(tmp_path)
    path = store.Handbook(tmp_path).record_path("epyc", "x/speed")
    path.write_text(path.read_text("utf-8")[:200], "utf-8")
    done = book.build()
    assert done.returncode == 1
    assert "docs/captures/epyc/x/speed.yaml:" in done.stderr


def test_faulty_settings_end_the_build_in_one_line(tmp_path):
    """No traceback for a misspelt key."""
    book = make(tmp_path)
    book.write("mkdocs.yml", (tmp_path / "mkdocs.yml").read_text("utf-8").replace("default_host:", "defualt_host:"))
    done = book.build()
    assert done.returncode == 1
    assert 'unknown key "defualt_host"; did you mean "default_host"?' in done.stderr
    assert "Traceback" not in done.stderr


def test_a_published_build_leaves_this_machine_out(tmp_path):
    """Neither its tab nor its files are published."""
    book = make(tmp_path)
    assert book.build(env={"CAPTURE_PUBLISH": "1"}).returncode == 0
    assert not (tmp_path / "site/captures/local").exists()
    page = book.html("a/page/index.html")
    assert "this machine" not in page
    assert "localword" not in page
    assert (tmp_path / "site/captures/h200/x/speed.yaml").is_file()


def test_a_handbook_without_captures_builds(tmp_path):
    """A fresh clone of an empty handbook says that nothing is captured yet."""
    book = make(tmp_path, hosts=[], records=[], pages={"a/page.md": PAGES["a/page.md"]})
    assert book.build().returncode == 0
    assert "no host has captured here" in book.html("a/page/index.html")


def test_search_knows_source_and_output_once_and_no_badge(tmp_path):
    """A word of the output is found; what every card repeats is not."""
    book = make(tmp_path)
    assert book.build().returncode == 0
    entries = json.loads((tmp_path / "site/search/search_index.json").read_text("utf-8"))["docs"]
    text = " ".join(entry["text"] for entry in entries if entry["location"].startswith("a/page"))
    for word in ("sourceword", "outputword", "errorword", "Speed", "localword"):
        assert text.count(word) == 1, word
    for word in (
        "Badgeword",
        "captured on",
        "report an issue",
        "CPU build",
        "capture run",
        "this machine",
        "kept apart",
    ):
        assert word not in text, word


@case("site-search-size")
def test_search_index_has_a_budget(case, tmp_path):
    """Of a long output, the first 2,000 characters are indexed, whatever the number of hosts and pages' uses."""
    long = "".join(f"step {step} loss {1 / (step + 1):.6f} lr 0.001\n" for step in range(3000))
    records = [record("x/speed", label, long) for label in ("epyc", "h200", "local")]
    fence = "```capture\nx/speed\n```\n\n"
    book = make(tmp_path, records=records, pages={"index.md": f"# A\n\n{fence * 3}"})
    assert book.build().returncode == 0
    assert (tmp_path / "site/search/search_index.json").stat().st_size < 6_000
    assert len(book.html("index.html")) < 300_000


class Requests(HTMLParser):
    """Collects what a browser fetches by itself."""

    def __init__(self, html):
        super().__init__()
        self.found = []
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        facts = dict(attrs)
        if tag in ("script", "img", "iframe", "source"):
            self.found.append(facts.get("src"))
        if tag == "link" and facts.get("rel") not in ("canonical", "prev", "next", "edit"):
            self.found.append(facts.get("href"))


def test_no_page_asks_another_server(tmp_path):
    """Neither fonts nor scripts nor the repository's API: everything is in the site."""
    book = make(tmp_path)
    assert book.build().returncode == 0
    html = book.html("a/page/index.html")
    addresses = [address for address in Requests(html).found if address]
    assert addresses
    assert [address for address in addresses if "//" in address] == []
    assert 'data-md-component="source"' not in html
    for asset in (tmp_path / "site/assets").glob("capture.*"):
        assert "http" not in asset.read_text("utf-8")


@case("site-strict-anchor")
def test_the_real_configuration_is_strict(case):
    """Every validation warns, anchors included; search and our own plugin; no address that the theme would ask."""
    config = read_site_config(store.Handbook(REPOSITORY))
    assert config["strict"] is True
    assert set(config["validation"]["links"].values()) == {"warn"}
    assert config["validation"]["links"]["anchors"] == "warn"
    assert [next(iter(plugin)) if isinstance(plugin, dict) else plugin for plugin in config["plugins"]] == [
        "search",
        "captured",
    ]
    assert config["theme"]["font"] is False
    assert "repo_url" not in config


def test_rendering_needs_neither_mkdocs_nor_torch_nor_the_runner():
    """The Markdown layer stands alone, so that another site generator can call it."""
    code = (
        "import sys\n"
        "from capture.site.markdown import card_fence, inline_value, page_check\n"
        "from capture.site.plot import plot_fence\n"
        "banned = ('mkdocs', 'torch', 'markdown', 'matplotlib', 'capture.run', 'capture.host.probe')\n"
        "print([name for name in sys.modules if name.startswith(banned)])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=REPOSITORY)
    assert done.stdout.strip() == "[]"


@pytest.fixture
def served(tmp_path):
    """A handbook under `mkdocs serve`, with a function that fetches a page once it holds a text."""
    book = make(tmp_path)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    log = (tmp_path / "log").open("w+")
    command = [sys.executable, "-m", "mkdocs", "serve", "--dev-addr", f"127.0.0.1:{port}"]
    process = subprocess.Popen(command, cwd=tmp_path, stdout=log, stderr=subprocess.STDOUT)

    def fetch(text, path="a/page/"):
        page = ""
        for _ in range(150):
            with contextlib.suppress(OSError):
                page = urllib.request.urlopen(f"http://127.0.0.1:{port}/{path}", timeout=5).read().decode()
            if text in page:
                return page
            time.sleep(0.1)
        log.seek(0)
        raise AssertionError(f"{text!r} never came; the log says:\n{log.read()}")

    yield book, fetch
    process.terminate()
    process.wait(10)
    log.close()


def test_serving_follows_every_edit(served):
    """A record, a snippet, a page and a mistake all show after they are saved; a mistake does not end the server."""
    book, fetch = served
    fetch("ratio 7.3x outputword")
    book.keep(record("x/speed", "epyc", "ratio 8.4x\n"))
    assert re.search(r"It is <span[^>]*><a[^>]*>8.4</a>", fetch("ratio 8.4x"))
    book.write("snippets/x/speed.py", SPEED.replace("sourceword", "newword"))
    assert "stale: source changed since" in fetch("newword")
    book.write("docs/a/page.md", "# Page\n\n```capture\nx/sped\n```\n")
    assert "docs/a/page.md:3" in fetch("did you mean")
    book.write("docs/a/page.md", "# Page\n\nmended\n")
    fetch("mended")


def test_pages_that_are_files_build_and_lead_to_each_other(tmp_path):
    """site-no-directory-urls: without a server a page's address is its file; cards, copies and notebooks follow it."""
    book = make(tmp_path, notebooks=["a/page.md"])
    text = book.read("mkdocs.yml").replace("  moved: {}", "  moved:\n    old.md: a/page.md")
    book.write("mkdocs.yml", text + "use_directory_urls: false\n")
    done = book.build()
    assert done.returncode == 0, done.stderr
    site = tmp_path / "site"
    pages = [path for path in site.rglob("*.html") if path.name != "404.html"]
    assert site / "a/page.html" in pages
    for path in pages:
        for href in re.findall(r'href="([^"#?:]+)[^":]*"', path.read_text("utf-8")):
            assert (path.parent / href).exists(), (path, href)
    assert 'href="page/index.md"' in book.html("a/page.html")
