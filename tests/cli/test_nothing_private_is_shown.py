"""What must not be stored is shown by no command either, wherever it got to: the rule is named, and never the value."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from harness.handbooks import host as make_host
from harness.handbooks import record, script
from harness.revisions import Compared, copy

KEY = "nvapi-" + "q1W2e3R4t5Y6u7I8"  # made up, as all of these
BODY = "MIIEvQIBADANBgkq"
SECRETS = {
    "token": f"using {KEY}\n",
    "token-broken-up": f"using {KEY[:9]}\u200b{KEY[9:]}\n",
    "token-cut-by-an-excerpt": f"{'x' * 50} {KEY}\n",
    "private-key": f"-----BEGIN PRIVATE KEY-----\n{BODY}\n{KEY[6:]}\n-----END PRIVATE KEY-----\n",
    "password": f"postgres://m:{KEY[6:]}@db.dev/x\n",
    "address": "listening on 10.9.8.7:29500\n",
}
PARTS = (KEY[6:14], KEY[12:], BODY, "10.9.8")


@pytest.fixture
def book(tmp_path: Path) -> Compared:
    """A repository with one commit: one snippet, one host, one record."""
    return copy(tmp_path / "book")


def holds_none(text: str) -> bool:
    """Tell whether no part of a secret stands in a text."""
    return not any(part in text for part in PARTS)


@pytest.mark.parametrize("stdout", SECRETS.values(), ids=SECRETS)
def test_a_value_that_is_being_removed_is_not_shown(book: Compared, stdout: str) -> None:
    """The older of two records holds it: every report names the change, none the value."""
    book.keep(record("a/one", stdout=stdout))
    book.commit()
    book.keep(record("a/one", stdout="a 1\n"))
    for style in ("text", "markdown", "json"):
        result = book.diff("--format", style)
        assert "a/one" in result.text
        assert holds_none(result.text)
    assert holds_none(book.capture("review").text)


@pytest.mark.parametrize("stdout", SECRETS.values(), ids=SECRETS)
def test_a_value_that_is_stored_is_not_shown(book: Compared, stdout: str) -> None:
    """By check, show, review, status and a comparison of hosts, nor by an error about the file."""
    book.keep(record("a/one", stdout=stdout))
    book.keep(make_host("h200"))
    book.keep(record("a/one", "h200", stdout="a 1\n"))
    commands = (
        ["check"], ["check", "--format", "github"], ["show", "a/one"], ["review"], ["status"], ["status", "--json"],
        ["diff", "--hosts", "epyc", "h200"], ["diff", "--hosts", "epyc", "h200", "--format", "json"],
    )  # fmt: skip
    for arguments in commands:
        result = book.capture(*arguments)
        assert "Traceback" not in result.text
        assert holds_none(result.text), arguments
    assert "<" in book.capture("show", "a/one").out


def test_a_value_of_a_claim_is_not_shown(book: Compared) -> None:
    """A claim that compares a text quotes it, in check, show and JSON."""
    claim = {"same": {"says": "it is x", "holds": "a == 'x'"}}
    book.write("snippets/a/one.py", script('print("a 1")', values={"a": r"using (\S+)"}, claims=claim))
    book.keep(record("a/one", stdout=f"using {KEY}\n"))
    for arguments in (["check"], ["show", "a/one"], ["diff"], ["diff", "--format", "json"]):
        assert holds_none(book.capture(*arguments).text), arguments


def test_json_stays_json(book: Compared) -> None:
    """A mark in a text changes no other part of a document."""
    book.keep(record("a/one", stdout=f'{{"password": "{KEY[6:]}"}}\n'))
    book.keep(make_host("h200"))
    book.keep(record("a/one", "h200", stdout="a 1\n"))
    document = json.loads(book.diff("--hosts", "epyc", "h200", "--format", "json").out)
    assert '"password": "<secret given by name>"' in " ".join(document["records"][0]["lines"])
    assert document["schema"] == 1
