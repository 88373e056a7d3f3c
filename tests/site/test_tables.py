"""The tables over all records: hosts, matrix, claims, and what is typed on purpose."""

from __future__ import annotations

from html import unescape
from pathlib import Path

import pytest
from harness.handbooks import Handbook, host, make_handbook, record, script
from harness.tables import rows

FIRST = script(
    'print("gain 2.0x")', values={"gain": r"gain ([\d.]+)x"},
    claims={"faster": {"says": "it is <b>faster</b>", "holds": "gain > 1"},
            "much": {"says": "it is much faster", "holds": "gain > 10", "where": "cpu.bf16"}},
)  # fmt: skip
DEVICE = script("print(1)", needs=["cuda"])
PAGES = {
    "lesson/index.md": "# Lesson\n\n```capture\ndemo/first\n```\n\nOnce 3 ms. <!-- typed: the old page said so -->\n",
    "index.md": "# All\n\n```capture-table\nTABLE\n```\n",
}


@pytest.fixture
def book(tmp_path: Path) -> Handbook:
    """Two snippets on two hosts and on this machine; one claim fails on the second host, one result is stale."""
    hosts = [host("zen", "Zen"), host("new", "New & shiny", bf16=True), host("local", "here")]
    results = [record("demo/first", label, "gain 2.0x\n") for label in ("zen", "new", "local")]
    results.append(record("demo/other", "new", source_sha256="5" * 64))
    snippets = {"demo/first": FIRST, "demo/device": DEVICE, "demo/other": script("print(2)")}
    return make_handbook(tmp_path, snippets, hosts, results, PAGES, default_host="zen")


def test_every_host_is_listed_but_this_machine(book: Handbook) -> None:
    """Title, chip, torch, open gates, how many results, the day of the newest, and label; the default host first."""
    head, *lines = rows(book, "hosts")
    assert head == ["host", "chip", "torch", "gates open", "results", "newest", "label"]
    assert lines == [
        ["Zen", "AMD EPYC, AVX2, 2 vCPU (virtual machine)", "2.13.0+cpu", "none", "1", "29 Nov 2026", "zen"],
        ["New & shiny", "AMD EPYC, AVX2, 2 vCPU (virtual machine)", "2.13.0+cpu", "none", "2", "29 Nov 2026", "new"],
    ]


def test_the_matrix_says_the_state_in_words(book: Handbook) -> None:
    """A row a snippet, a column a host; what a host cannot run says what it needs."""
    assert rows(book, "matrix") == [
        ["snippet", "Zen", "New & shiny"],
        ["demo/device", "needs cuda", "needs cuda"],
        ["demo/first", "current", "current"],
        ["demo/other", "missing", "stale"],
    ]


def test_the_ledger_says_where_each_claim_holds(book: Handbook) -> None:
    """Its scope, and the hosts on which it holds and fails; a claim is text and no HTML."""
    assert rows(book, "claims") == [
        ["claim", "snippet", "scope", "holds on", "fails on", "not judged on"],
        ["it is <b>faster</b>", "demo/first", "everywhere", "Zen; New & shiny", "", ""],
        ["it is much faster", "demo/first", "cpu.bf16", "nowhere yet", "New & shiny", ""],
    ]


def test_what_is_typed_on_purpose_is_in_the_ledger(book: Handbook) -> None:
    """With the reason that its author gave."""
    assert rows(book, "typed")[1:] == [["docs/lesson/index.md:7", "the old page said so"]]


def test_a_snippet_leads_to_its_card(book: Handbook) -> None:
    """On the page that shows it, as seen from this page; a host leads to its page."""
    matrix, _ = book.page(PAGES["index.md"].replace("TABLE", "matrix"))
    assert '<a href="../lesson/#capture-demo-first">demo/first</a>' in matrix
    hosts, _ = book.page(PAGES["index.md"].replace("TABLE", "hosts"))
    assert '<a href="../hosts/zen/">Zen</a>' in hosts


def test_a_slip_names_the_nearest_table(book: Handbook) -> None:
    """At page:line; the page shows it too, and the build fails."""
    html, problems = book.page(PAGES["index.md"].replace("TABLE", "matrx"))
    (problem,) = problems
    assert str(problem) == 'docs/index.md:3: no table "matrx"; did you mean "matrix"?'
    assert "did you mean" in unescape(html)


def test_the_site_builds_with_them(book: Handbook) -> None:
    """Each table in a page of its own, without a warning."""
    for name in ("hosts", "matrix", "claims", "typed"):
        book.write("docs/index.md", PAGES["index.md"].replace("TABLE", name))
        done = book.build()
        assert done.returncode == 0, done.stderr
        assert 'class="capture-table"' in book.html("index.html")
