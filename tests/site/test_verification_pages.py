"""Badges from a verification: what a page says about each record, and when a build refuses the file."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from harness.handbooks import Handbook, host, make_handbook, record, script
from harness.verifications import result, verified

from capture import store
from capture.errors import CaptureError
from capture.record import verification
from capture.record.record import Record
from capture.record.verification import Verification
from capture.site.model import site

VARIABLE = "HANDBOOK_VERIFICATION"
SNIPPET = script('"""Proves it."""\n\nprint("out")\n', title="Speed")
PAGE = "# Page\n\n```capture\nx/speed\n```\n"


@pytest.fixture
def book(tmp_path: Path) -> Handbook:
    """One snippet with a record on one host and on this machine."""
    hosts = [host("epyc", "EPYC"), host("local", "Mine")]
    records = [record("x/speed", "epyc"), record("x/speed", "local")]
    return make_handbook(tmp_path, {"x/speed": SNIPPET}, hosts, records, {"index.md": PAGE})


def stored(book: Handbook, label: str = "epyc") -> Record:
    """Return the record as it is on disk."""
    return book.catalogue().records[label, "x/speed"]


def said(book: Handbook, found: Verification | None, monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """Return each badge's words about the verification, with the detail among the facts."""
    if found is not None:
        book.write("verified.json", verification.text(found))
        monkeypatch.setenv(VARIABLE, "verified.json")
    html, problems = book.page(PAGE)
    assert problems == []
    words = re.findall(r'<span class="capture__rerun capture__rerun--\w+">(.*?)</span>', html)
    return list(zip(words, re.findall(r"<dt>re-run by CI</dt>\s*<dd>(.*?)</dd>", html), strict=True))


def test_without_a_verification_nothing_is_said(book: Handbook, monkeypatch: pytest.MonkeyPatch) -> None:
    """A build at home makes no statement about CI."""
    assert said(book, None, monkeypatch) == []
    monkeypatch.setenv(VARIABLE, "")
    assert said(book, None, monkeypatch) == []


def test_a_reproduced_record(book: Handbook, monkeypatch: pytest.MonkeyPatch) -> None:
    """The badge says so once, of the host that was verified; where and when is among the facts."""
    ((words, detail),) = said(book, verified(result(stored(book))), monkeypatch)
    assert words == "re-run by CI"
    assert detail.startswith("the same result, on 30 Nov 2026 with Intel Xeon, AVX2, 4 vCPU (virtual machine)")
    assert detail.endswith("Python 3.13.1, torch 2.13.0+cpu")


def test_a_record_that_differs(book: Handbook, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first difference is told, and is text: a stranger's output makes no HTML."""
    told = result(stored(book), outcome="differs", class_="text changed", detail='line 1: "a" -> "<b>\x02b</b>"')
    ((words, detail),) = said(book, verified(told), monkeypatch)
    assert words == "differs when re-run by CI"
    assert detail.startswith("text changed: line 1: ")
    assert "&lt;b&gt;" in detail and "<b>" not in detail and "\x02" not in detail


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"outcome": "skipped", "class_": None, "detail": "a timing is not verified"}, "a timing is not verified"),
        ({"content_sha256": "a" * 64}, "another version of this record took part"),
        ({"outcome": "differs", "content_sha256": "a" * 64}, "another version of this record took part"),
        ({"outcome": "skipped", "content_sha256": None}, "another version of this record took part"),
        ({"snippet": "x/other"}, "this record took no part"),
    ],
    ids=["skipped", "foreign digest", "foreign digest that differed", "not there then", "not among them"],
)
def test_run_by_its_contributor_only(
    book: Handbook, monkeypatch: pytest.MonkeyPatch, changes: dict[str, object], reason: str
) -> None:
    """What was not executed again, or in another version, is nobody's word but the contributor's."""
    assert said(book, verified(result(stored(book), **changes)), monkeypatch) == [
        ("run by its contributor only", f"no: {reason}")
    ]


def test_a_record_edited_since_does_not_inherit_the_badge(book: Handbook, monkeypatch: pytest.MonkeyPatch) -> None:
    """The digest is that of what is shown, not the one that the file says of itself."""
    found = verified(result(stored(book)))
    store.write_record(book.book, replace(stored(book), stdout="forged\n"))
    assert [words for words, _ in said(book, found, monkeypatch)] == ["run by its contributor only"]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (None, "verified.json: cannot be read: No such file"),
        ("{", "verified.json:1: is no JSON"),
        ('{"schema": 7}', "verified.json: schema 7 is newer than this tool knows (1)"),
        (
            verification.text(verified(against="epcy")),
            'verified.json: is of another handbook: no host "epcy" here; did you mean "epyc"?',
        ),
        (verification.text(verified(result(record("x/speed", "h200")), against="epyc")), 'no host "h200" here'),
    ],
    ids=["missing", "damaged", "newer", "foreign", "foreign results"],
)
def test_a_file_that_cannot_be_used_is_an_error(
    book: Handbook, monkeypatch: pytest.MonkeyPatch, text: str | None, says: str
) -> None:
    """A damaged or foreign file stops the build and names itself and the remedy."""
    if text is not None:
        book.write("verified.json", text)
    monkeypatch.setenv(VARIABLE, "verified.json")
    with pytest.raises(CaptureError) as refused:
        book.page(PAGE)
    assert says in str(refused.value)
    assert "capture verify --json > verified.json" in str(refused.value)


def test_a_verification_of_this_machine_is_no_error(book: Handbook, monkeypatch: pytest.MonkeyPatch) -> None:
    """`--against local` may be asked for; its results say nothing to others."""
    assert said(book, verified(result(stored(book, "local"))), monkeypatch) == [
        ("run by its contributor only", "no: this record took no part")
    ]


def test_a_new_file_is_read(book: Handbook) -> None:
    """While the site is served, a verification that was written again shows."""
    settings = {"extra": {"capture": {"default_host": "epyc", "verification": "verified.json"}}}
    for day in ("2026-11-30", "2026-12-01"):
        book.write("verified.json", verification.text(verified(result(stored(book)), date=day)))
        known = site.read_site(book.book, settings)
        assert known.verification is not None and known.verification.date == day


def test_a_build_with_and_without(book: Handbook) -> None:
    """MkDocs takes the file from the environment, by any path; one that cannot be used ends the build."""
    path = book.write("../verified.json", verification.text(verified(result(stored(book)))))
    done = book.build({VARIABLE: str(path)})
    assert done.returncode == 0, done.stderr
    assert ">re-run by CI</span>" in book.html("index.html")
    path.write_text("{}", "utf-8")
    done = book.build({VARIABLE: str(path)})
    assert done.returncode == 1
    assert "verified.json: is no verification" in done.stderr and "Traceback" not in done.stderr
