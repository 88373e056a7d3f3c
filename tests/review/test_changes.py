"""Two states of a handbook: what became of each record, what is news, and what must not be merged."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from harness.handbooks import GATES, STALE, record, script
from harness.handbooks import host as make_host
from harness.properties import rows
from harness.revisions import OTHER, PLAIN, SPEED, TIMING, between, claiming, kinds, only


def test_nothing_changed(tmp_path: Path) -> None:
    """Equal states have no change, no host line, and nothing that fails."""
    found = between(tmp_path, {}, {})
    assert (found.records, found.hosts, found.failing, found.to_read, found.private) == ((), (), (), (), False)


HEADS: dict[str, tuple[dict[str, Any], dict[str, Any], str, str, str]] = {
    "causeless": ({}, {"records": [record("a/one", stdout="a 2\n")]}, "text changed", "",
                  "a/one on epyc: text changed, though neither snippet, host nor environment did"),
    "new-torch": ({}, {"records": [record("a/one", stdout="a 2\n", torch="2.14.1+cpu")]}, "text changed", "", ""),
    "new-source": ({}, {"snippets": {"a/one": OTHER}, "records": [record("a/one", stdout="a 2\n")]}, "text changed",
                   "", ""),
    "another-policy-is-no-cause": (
        {}, {"snippets": {"a/one": script('print("a 1")', compare={"volatile": ["b"]})},
             "records": [record("a/one", stdout="a 2\n")]}, "text changed", "",
        "a/one on epyc: text changed, though neither snippet, host nor environment did",
    ),
    "ok-to-error": ({}, {"records": [record("a/one", status="error", exit_code=1)]}, "status changed",
                    "ok (exit 0) -> error (exit 1)", "a/one on epyc: ok (exit 0) -> error (exit 1)"),
    "error-to-ok": ({"records": [record("a/one", status="error", exit_code=1)]}, {}, "status changed",
                    "error (exit 1) -> ok (exit 0)", ""),
    "new-failure": ({"records": []}, {"records": [record("a/one", status="timeout", exit_code=None)]},
                    "status changed", "new, and ended as timeout", ""),
    "new": ({"records": []}, {}, "newly captured", "", ""),
    "removed": ({}, {"records": []}, "removed", "the snippet stays", ""),
    "removed-with-its-snippet": ({}, {"records": [], "snippets": {}}, "removed", "with its snippet", ""),
    "source-changed": ({}, {"snippets": {"a/one": OTHER},
                            "records": [record("a/one", stdout="a 1\n", source_sha256=STALE)]}, "stale",
                       "source changed since", ""),
    "orphan": ({}, {"snippets": {}, "records": [record("a/one", stdout="a 1\n")]}, "invalid",
               'line 2: orphan: no snippet "a/one"; remove it with: capture prune',
               'docs/captures/epyc/a/one.yaml:2: orphan: no snippet "a/one"; remove it with: capture prune'),
    "captured-again": ({}, {"records": [record("a/one", stdout="a 1\n", captured="2026-12-01")]}, "identical", "", ""),
    "broken-at-once": ({"records": [], "snippets": {}}, {"snippets": {"a/one": claiming("a > 5")}}, "claim broken",
                       "claim small (it is small): a > 5, but a is 1",
                       "a/one on epyc: claim small (it is small): a > 5, but a is 1"),
    "broken-by-the-output": (
        {"snippets": {"a/one": claiming("a < 5")}},
        {"snippets": {"a/one": claiming("a < 5")}, "records": [record("a/one", stdout="a 7\n", torch="2.14.1")]},
        "claim broken", "claim small (it is small): a < 5, but a is 7",
        "a/one on epyc: claim small (it is small): a < 5, but a is 7",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("base", "head", "kind", "detail", "failing"), rows(HEADS))
def test_a_record_has_one_class(
    tmp_path: Path, base: dict[str, Any], head: dict[str, Any], kind: str, detail: str, failing: str
) -> None:
    """What became of it, and why it must not be merged, or nothing."""
    found = between(tmp_path, base, head)
    change = only(found)
    assert change.kind == kind
    assert not detail or change.detail.startswith(detail)
    assert found.failing == ((failing,) if failing else ())


def test_a_claim_may_be_broken_by_the_header_alone(tmp_path: Path) -> None:
    """Another threshold, another scope or another pattern of a value: the record is the same, its claim fails."""
    for number, head in enumerate([
        claiming("a > 5"),
        claiming("a < 5", values={"a": r"(1)"}).replace("a < 5", "a > 1"),
        claiming("a < 5", values={"a": r"b (\d+)"}),
    ]):  # fmt: skip
        found = between(
            tmp_path / str(number), {"snippets": {"a/one": claiming("a < 5")}}, {"snippets": {"a/one": head}}
        )
        assert only(found).kind == "claim broken", head
        assert found.failing


def test_a_claim_may_be_broken_by_the_host_alone(tmp_path: Path) -> None:
    """Its scope asks for facts of the host: where they change it may come to hold there, and fail."""
    claim = {"small": {"says": "s", "holds": "a > 5", "where": "cpu.bf16"}}
    snippets = {"a/one": script('print("a 1")', values={"a": r"a (\d+)"}, claims=claim)}
    found = between(
        tmp_path, {"snippets": snippets}, {"snippets": snippets, "hosts": [make_host(bf16=True)]}
    )  # fmt: skip
    assert only(found).kind == "claim broken"


def test_a_claim_that_failed_before_is_no_news(tmp_path: Path) -> None:
    """Not with another number either, nor with another sentence; a second claim that fails is."""
    base = {"snippets": {"a/one": claiming("a > 5")}}
    assert between(tmp_path / "1", base, base).failing == ()
    again = {**base, "records": [record("a/one", stdout="a 3\n", torch="2.14.1+cpu")]}
    found = between(tmp_path / "2", base, again)
    assert (only(found).kind, found.failing) == ("text changed", ())
    reworded = {"snippets": {"a/one": claiming("a > 4")}}
    assert between(tmp_path / "3", base, reworded).records == ()
    assert (
        only(between(tmp_path / "4", base, {"snippets": {"a/one": claiming("a > 5", "tiny")}})).kind == "claim broken"
    )


def test_a_claim_about_a_stale_record_is_not_judged(tmp_path: Path) -> None:
    """It says nothing about this source; the record is stale, and that is all."""
    stale = record("a/one", stdout="a 1\n", source_sha256=STALE)
    head = {"snippets": {"a/one": claiming("a > 5", env={"X": "1"})}, "records": [stale]}
    found = between(tmp_path, {}, head)
    assert (only(found).kind, found.failing) == ("stale", ())


def test_stale_is_news_once(tmp_path: Path) -> None:
    """A record that was stale for the same reason before is as it was; becoming current again is no news either."""
    stale = {"records": [record("a/one", stdout="a 1\n", source_sha256=STALE)]}
    assert between(tmp_path / "1", stale, stale).records == ()
    assert between(tmp_path / "2", stale, {"records": [record("a/one", stdout="a 1\n")]}).to_read == ()
    two = {"snippets": {"a/one": PLAIN, "a/two": OTHER}}
    newer = [record("a/one", stdout="a 1\n"), record("a/two", torch="2.14.1+cpu")]
    found = between(tmp_path / "3", {**two, "records": newer[:1]}, {**two, "records": newer})
    assert kinds(found) == {"a/one on epyc": "stale", "a/two on epyc": "newly captured"}
    assert found.records[1].detail == "this host has captures with torch 2.14.1+cpu"


def test_a_renamed_snippet_keeps_its_history(tmp_path: Path) -> None:
    """The same source under another name: its record is compared with the one under the old name."""
    renamed = {"a/new_name": PLAIN}
    found = between(tmp_path / "1", {}, {"snippets": renamed, "records": [record("a/new_name", stdout="a 1\n")]})
    assert kinds(found) == {"a/new_name on epyc": "newly captured", "a/one on epyc": "removed"}
    new, old = found.records
    assert (new.causes, new.detail) == (("renamed from a/one",), "and says the same")
    assert old.detail == "renamed to a/new_name"
    found = between(tmp_path / "2", {}, {"snippets": renamed, "records": [record("a/new_name", stdout="a 2\n")]})
    assert kinds(found) == {"a/new_name on epyc": "text changed", "a/one on epyc": "removed"}
    assert len(found.failing) == 1
    found = between(tmp_path / "3", {}, {"snippets": renamed})
    assert kinds(found) == {"a/one on epyc": "invalid"}


def test_a_value_that_is_lost_must_not_be_merged(tmp_path: Path) -> None:
    """A new torch explains other words, but not a figure that prose takes from them and no longer finds."""
    snippet = script('print("a 1")', values={"a": r"a (\d+)"})
    after = record("a/one", stdout="the letter a: 1\n", torch="2.14.1+cpu")
    found = between(tmp_path, {"snippets": {"a/one": snippet}}, {"snippets": {"a/one": snippet}, "records": [after]})
    (change,) = found.records
    assert change.kind == "text changed"
    assert "its pattern matches nothing" in change.failing
    assert len(found.failing) == 1  # the rule about the header says the same


def test_what_never_fails_is_a_timing(tmp_path: Path) -> None:
    """Beyond its factor, with nothing to explain it, a timing is to be read and no more."""
    snippets = {"a/speed": TIMING}
    old, new = (record("a/speed", stdout=f"slowdown {number}x\n") for number in (2, 90))
    found = between(tmp_path, {"snippets": snippets, "records": [old]}, {"snippets": snippets, "records": [new]})
    assert (only(found).kind, found.failing) == ("number beyond tolerance", ())


def test_changes_are_ordered_worst_first(tmp_path: Path) -> None:
    """Whatever the names of the snippets are."""
    keys = ["a/a", "a/b", "a/c", "a/d", "a/e"]
    snippets = dict.fromkeys(keys, PLAIN) | {"a/b": script('print("a 1")', **SPEED)}
    base = [record(key, stdout="a 1\nslowdown 2x\n") for key in keys[:4]]
    head = [
        record("a/a", stdout="a 1\nslowdown 2x\n", captured="2026-12-01"), record("a/b", stdout="a 1\nslowdown 9x\n"),
        record("a/d", status="error", exit_code=1), record("a/e"),
    ]  # fmt: skip
    found = between(tmp_path, {"snippets": snippets, "records": base}, {"snippets": snippets, "records": head})
    assert [(item.snippet, item.kind) for item in found.records] == [
        ("a/d", "status changed"), ("a/b", "number beyond tolerance"), ("a/e", "newly captured"), ("a/c", "removed"),
        ("a/a", "identical"),
    ]  # fmt: skip
    assert len(found.to_read) == 4


def test_another_device_under_a_label_is_no_change_of_text(tmp_path: Path) -> None:
    """cmp-device-sample: what a seed gives on a GPU is not compared with what it gives on the CPU, and why is said."""
    cuda = record("a/one", stdout="a 2\n", gates={**GATES, "cuda": True})
    change = only(between(tmp_path, {}, {"records": [cuda]}))
    assert (change.kind, change.detail) == ("not comparable", "gate cuda: False -> True")
