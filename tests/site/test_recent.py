"""What changed lately and what is out of date, told by records alone."""

from __future__ import annotations

from pathlib import Path

import pytest
from harness.handbooks import STALE, Handbook, host, make_handbook, record, script
from harness.tables import rows

SNIPPETS = {f"x/{name}": script(f"print('{name}')") for name in ("a", "b", "c", "d", "e")}


@pytest.fixture
def book(tmp_path: Path) -> Handbook:
    """Three hosts over some days: beginnings, a new torch, scripts that were new and scripts seen elsewhere."""
    results = [
        record("x/a", "zen", captured="2026-11-01"),
        record("x/b", "zen", captured="2026-11-01", source_sha256=STALE),
        record("x/c", "zen", captured="2026-11-09"),
        record("x/a", "new", captured="2026-11-02", torch="2.12.0+cpu"),
        record("x/e", "new", captured="2026-11-03", torch="2.12.0+cpu"),
        record("x/b", "new", captured="2026-11-05", torch="2.13.0+cpu"),
        record("x/d", "new", captured="2026-11-05", torch="2.13.0+cpu"),
        record("x/e", "zen", captured="2026-11-09"),
        record("x/d", "local", captured="2026-11-29"),
        record("x/b", "late", captured="2026-11-01"),
        record("x/a", "late", captured="2026-11-09"),
    ]
    hosts = [host(label, label.title()) for label in ("zen", "new", "late", "local")]
    return make_handbook(tmp_path, SNIPPETS, hosts, results, default_host="zen")


def test_captures_by_day_host_and_cause(book: Handbook) -> None:
    """The newest day first, the default host first in it; this machine takes no part."""
    assert rows(book, "lately") == [
        ["day", "host", "why", "captured"],
        ["9 Nov 2026", "Zen", "no host had these before", "1 script x/c"],
        ["9 Nov 2026", "Zen", "other hosts had these before, or captured again", "1 script x/e"],
        ["9 Nov 2026", "Late", "other hosts had these before, or captured again", "1 script x/a"],
        ["5 Nov 2026", "New", "torch 2.13.0+cpu is new on this host", "2 scripts x/b x/d"],
        ["3 Nov 2026", "New", "no host had these before", "1 script x/e"],
        ["2 Nov 2026", "New", "the first captures of this host", "1 script x/a"],
        ["1 Nov 2026", "Zen", "the first captures of this host", "2 scripts x/a x/b"],
        ["1 Nov 2026", "Late", "the first captures of this host", "1 script x/b"],
    ]


def test_a_capture_of_a_changed_script_says_so(book: Handbook) -> None:
    """Where every earlier capture of it is of another source."""
    for label in ("zen", "late"):
        (book.book.record_path(label, "x/b")).unlink()
    book.keep(record("x/b", "zen", captured="2026-11-01", source_sha256=STALE))
    book.keep(record("x/e", "new", captured="2026-11-02", torch="2.13.0+cpu"))
    book.keep(record("x/b", "new", captured="2026-11-07", torch="2.13.0+cpu"))
    assert ["7 Nov 2026", "New", "the scripts have changed", "1 script x/b"] in rows(book, "lately")


def test_what_is_out_of_date_has_its_reason(book: Handbook) -> None:
    """In the words of the badge, the largest group first; without any the page says so."""
    assert rows(book, "outdated") == [
        ["host", "why", "results"],
        ["New", "this host has captures with torch 2.13.0+cpu", "2 scripts x/a x/e"],
        ["Zen", "source changed since", "1 script x/b"],
    ]
    book.keep(record("x/b", "zen"))
    for key in ("x/a", "x/e"):
        book.keep(record(key, "new"))
    html, _ = book.page("# A\n\n```capture-table\noutdated\n```\n")
    assert "Nothing: every result is of its script as it is" in html


def test_the_same_records_make_the_same_page(book: Handbook) -> None:
    """Neither the clock nor the order of files takes part."""
    again = make_handbook(
        book.root / "again", SNIPPETS, reversed(list(book.catalogue().hosts.values())),
        reversed(list(book.catalogue().records.values())), default_host="zen",
    )  # fmt: skip
    assert rows(again, "lately") == rows(book, "lately")
