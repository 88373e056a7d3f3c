"""Two states of a handbook: damaged and private files, snippets and hosts that cannot be read, hosts that changed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from harness.checks import TOKEN, edit
from harness.handbooks import CHIP, CHIPS, record
from harness.handbooks import host as make_host
from harness.properties import rows
from harness.revisions import HOME, OTHER, PLAIN, TIMING, between, compared, damaged, kinds, only, states

from capture.host.host import identified

FILES = {
    "store-formatter": (
        "stdout: |\n  a 1\n",
        "stdout: |\n    a 1\n",
        "invalid",
        "is not written as the tool writes it",
    ),
    "hand-edit": ("  a 1\n", "  a 2\n", "invalid", "was edited by hand"),
    "yaml-conflict": ("  a 1\n", "  a 1\n<<<<<<< ours\n", "invalid", "conflict marker"),
    "yaml-dup-key": ("status: ok\n", "status: ok\nstatus: ok\n", "invalid", 'key "status" is here and on line'),
    "yaml-anchors": ("stderr: ''", "stderr: &a ''", "invalid", "anchors and aliases are not allowed"),
    "yaml-version-float": ("python: 3.11.7", "python: 3.11", "invalid", "expected text, found a number"),
    "yaml-control": ("  a 1\n", "  a 1\x00\n", "invalid", "not valid YAML"),
    "cut": ("stdout: |\n  a 1\nstderr: ''\n", "", "invalid", "missing field"),
    "another-host": ("host: epyc\n", "host: other\n", "invalid", 'says host "other", not "epyc" as its path says'),
    "priv-token": ("  a 1\n", f"  a {TOKEN}\n", "private", "holds a Hugging Face token"),
    "priv-home": ("  a 1\n", f"  a {HOME}\n", "private", "holds a home folder"),
    "priv-meta-secret": ("chip: AMD EPYC", f"chip: {TOKEN} EPYC", "private", "holds a Hugging Face token"),
}


@pytest.mark.parametrize(("old", "new", "kind", "detail"), rows(FILES))
def test_a_damaged_file_is_one_change(tmp_path: Path, old: str, new: str, kind: str, detail: str) -> None:
    """Whatever is wrong with a record's file is told at its line, once, and fails; what is private is not echoed."""
    found = damaged(tmp_path, "docs/captures/epyc/a/one.yaml", old, new)
    change = only(found)
    assert change.kind == kind
    assert detail in change.detail
    assert any(words.startswith("docs/captures/epyc/a/one.yaml") for words in found.failing)
    assert found.private == (kind == "private")
    assert TOKEN not in str(found) and HOME not in str(found)


def test_a_new_file_that_cannot_be_read_is_a_change_too(tmp_path: Path) -> None:
    """Where no other side knows the record, its path says which it is."""
    base, head, _ = states(tmp_path, {"records": []}, {})
    edit(head, "docs/captures/epyc/a/one.yaml", "schema: 1", "schema: one")
    assert kinds(compared(base, head)) == {"a/one on epyc": "invalid"}


def test_a_mended_file_is_read_like_a_new_one(tmp_path: Path) -> None:
    """What could not be read says nothing to compare with; that is told."""
    base, head, _ = states(tmp_path, {}, {})
    edit(base, "docs/captures/epyc/a/one.yaml", "schema: 1", "schema: one")
    change = only(compared(base, head))
    assert (change.kind, change.detail) == ("newly captured", "the old one could not be read")


def test_what_was_wrong_before_is_no_news(tmp_path: Path) -> None:
    """A pull request does not fail for what it did not touch; what is private fails until it is gone."""
    sides = states(tmp_path, {}, {})[:2]
    for book in sides:
        edit(book, "docs/captures/epyc/a/one.yaml", "  a 1\n", "  a 2\n")
        book.write("docs/captures/epyc/notes.txt", "x\n")
    found = compared(*sides)
    assert (found.records, found.failing) == ((), ())
    for book in sides:
        edit(book, "docs/captures/epyc/a/one.yaml", "  a 2\n", f"  a {TOKEN}\n")
    assert compared(*sides).private


@pytest.mark.parametrize("kept", [True, False])
def test_a_secret_of_the_old_side_is_not_shown(tmp_path: Path, kept: bool) -> None:
    """A capture without it replaces or removes the file: neither text stands in the report."""
    private = record("a/one", stdout=f"a {TOKEN}\n", chip=f"{HOME} EPYC")
    head = [record("a/one", stdout="a 1\n", torch="2.14.1+cpu")] if kept else []
    found = between(tmp_path, {"records": [private]}, {"records": head})
    assert kinds(found) == {"a/one on epyc": "text changed" if kept else "removed"}
    assert TOKEN not in str(found) and HOME not in str(found)


def test_a_secret_in_the_facts_of_a_host_is_not_shown(tmp_path: Path) -> None:
    """The host line and the causes say nothing of a file that holds one."""
    found = between(tmp_path, {"hosts": [make_host(title="x", model=f"{HOME}")]}, {"hosts": [make_host(model="B")]})
    assert HOME not in str(found)
    assert found.hosts[0].words == ("one of both files holds something private; neither is shown",)


def test_a_snippet_that_cannot_be_read(tmp_path: Path) -> None:
    """Its header fails; a record of it that changed cannot be compared, and none is called an orphan."""
    broken = {"a/one": PLAIN.replace("# title =", "# pinned = true\n# title =")}
    base, head, _ = states(tmp_path / "1", {}, {})
    head.write("snippets/a/one.py", broken["a/one"])
    found = compared(base, head)
    assert found.records == ()
    assert len(found.failing) == 1 and found.failing[0].startswith("snippets/a/one.py:")
    found = between(tmp_path / "2", {}, {"snippets": broken, "records": [record("a/one", stdout="a 2\n")]})
    assert only(found).detail == "its snippet cannot be read, so nothing says how to compare"
    assert len(found.failing) == 2
    found = between(tmp_path / "3", {}, {"snippets": broken, "records": []})
    assert only(found).detail == "the snippet stays"


def test_a_removed_host(tmp_path: Path) -> None:
    """Its records are removed, and the host line comes first and says so."""
    found = between(tmp_path, {}, {"hosts": [], "records": []})
    assert only(found).detail == "the snippet stays; the whole host is gone"
    assert [(item.host, item.words) for item in found.hosts] == [("epyc", ("removed, with 1 record",))]


def test_a_host_that_cannot_be_read_loses_no_record(tmp_path: Path) -> None:
    """A damaged or lost host.yaml is one failure; its records are not called removed."""
    for number, damage in enumerate(["schema: x\n", None]):
        base, head, _ = states(tmp_path / str(number), {}, {})
        if damage:
            head.write("docs/captures/epyc/host.yaml", damage)
        else:
            (head.root / "docs/captures/epyc/host.yaml").unlink()
        found = compared(base, head)
        assert found.records == ()
        assert found.hosts[0].words == ("its host.yaml cannot be read: 1 record not compared",)
        assert len(found.failing) == 1 and found.failing[0].startswith("docs/captures/epyc/host.yaml")
        assert kinds(compared(head, base)) == {"a/one on epyc": "newly captured"}


def test_a_new_host_is_introduced(tmp_path: Path) -> None:
    """With its title and chip; its records name it as their cause."""
    new = {"hosts": [make_host(), make_host("h200", "NVIDIA H200", "cuda")]}
    found = between(
        tmp_path,
        {},
        {**new, "records": [record("a/one", stdout="a 1\n"), record("a/one", "h200", chip=f"NVIDIA {CHIPS['h200']}")]},
    )
    assert found.hosts[0].words == (
        "new: NVIDIA H200 (NVIDIA H200 + AMD EPYC, AVX2, 2 vCPU (virtual machine)), 1 record",
    )
    assert (only(found).kind, only(found).causes) == ("newly captured", ("new host h200",))


def test_a_host_whose_machine_changed(tmp_path: Path) -> None:
    """cmp-mixed-pool: the host line names what differs; its timings are not compared, its texts are."""
    snippets = {"a/one": PLAIN, "a/speed": TIMING}

    def of(model: str, number: str, torch: str) -> dict[str, Any]:
        changes = {"torch": torch, "chip": CHIP.replace("AMD EPYC", model)}
        records = [record("a/one", stdout=f"a {number}\n", **changes),
                   record("a/speed", stdout=f"slowdown {number}x\n", **changes)]  # fmt: skip
        return {"snippets": snippets, "hosts": [make_host(model=model)], "records": records}

    found = between(tmp_path, of("EPYC A", "3.45", "2.13.0"), of("EPYC B", "4.36", "2.13.0"))
    assert found.hosts[0].words == ("another machine (cpu.model: EPYC A -> EPYC B): its timings are not compared",)
    assert kinds(found) == {"a/one on epyc": "text changed", "a/speed on epyc": "not comparable"}
    text, timing = found.records
    assert text.causes == ("host: cpu.model: EPYC A -> EPYC B",)
    assert timing.detail == "cpu.model: EPYC A -> EPYC B"
    assert "regression" not in str(found) and found.failing == ()


def test_the_host_line_counts_software(tmp_path: Path) -> None:
    """What changed on a host, and in how many of its records."""
    snippets = {"a/one": PLAIN, "a/two": OTHER}
    base = [record("a/one"), record("a/two", packages={"numpy": "1.26.4"})]
    head = [record("a/one", torch="2.14.1"), record("a/two", torch="2.14.1", packages={"numpy": "2.4.6"})]
    found = between(tmp_path, {"snippets": snippets, "records": base}, {"snippets": snippets, "records": head})
    assert found.hosts[0].words == ("torch 2.13.0+cpu -> 2.14.1 in 2 records", "numpy 1.26.4 -> 2.4.6 in 1 record")


def test_records_of_local_are_never_shown(tmp_path: Path) -> None:
    """What this machine captured for itself is nobody's to review, whatever is wrong with it."""
    hosts = {"hosts": [make_host(), make_host("local")]}
    head = [record("a/one", stdout="a 1\n"), record("a/one", "local", stdout="a 9\n", status="crashed", exit_code=-11)]
    base, new, _ = states(tmp_path, {}, {**hosts, "records": head})
    cat, before = new.catalogue(), base.catalogue()
    assert ("local", "a/one") in cat.records and ("local", "a/one") not in before.records
    new.write("docs/captures/local/a/one.yaml", "<<<<<<< ours\n")
    from capture.check import rules
    from capture.review import handbook_changes
    from capture.store import catalogue

    seen = catalogue.read_handbook(new.book, local=False)
    found = handbook_changes.compare_handbooks(before, seen, ("base", "head"), rules.check(seen, (), ()).problems)
    assert (found.records, found.hosts, found.failing) == ((), (), ())


def test_facts_of_a_host_that_do_not_identify_it_change_no_record(tmp_path: Path) -> None:
    """A title or a memory limit makes no other machine of it; each changed field is told."""
    renamed = identified(replace(make_host(), title="Another title", memory_gib=12))
    found = between(tmp_path, {}, {"hosts": [renamed]})
    assert found.records == ()
    assert [item.words for item in found.hosts] == [("title: EPYC, AVX2 -> Another title", "memory_gib: 24 -> 12")]


HOST_EDITS = {
    "title": ({"title": "NVIDIA B300"}, "title: EPYC, AVX2 -> NVIDIA B300", ""),
    "memory": ({"memory_gib": 1024}, "memory_gib: 24 -> 1024", "memory_gib: 24 -> 1024"),
    "kind": ({"kind": "cuda"}, "kind: cpu -> cuda", "kind: cpu -> cuda"),
    "reason": ({"reasons": {"cpu.part": "none"}}, "reasons.cpu.part: only ARM has it -> none", "reasons.cpu.part"),
    "more reasons": (
        {"reasons": {"cpu.part": "only ARM has it", "accelerators": "lost"}},
        "reasons.accelerators: None -> lost", "lost",
    ),
    "chip": ({"arch": "arm64"}, "another machine (arch: x86_64 -> arm64): its timings", "arch: x86_64 -> arm64"),
}  # fmt: skip


@pytest.mark.parametrize("field", HOST_EDITS)
def test_every_changed_field_of_a_host_is_told(tmp_path: Path, field: str) -> None:
    """store-host-edited: facts that change though nothing was captured must not be merged; a title is only read."""
    changes, says, fails = HOST_EDITS[field]
    edited = identified(replace(make_host(), **changes))
    found = between(tmp_path, {}, {"hosts": [edited]})
    (item,) = found.hosts
    assert any(words.startswith(says) for words in item.words)
    assert found.edited_hosts == (field != "chip")
    path = "docs/captures/epyc/host.yaml: changed though nothing was captured there"
    about_host = [words for words in found.failing if words.startswith(path)]
    assert [fails in words for words in about_host] == ([True] if fails else [])


def test_facts_that_a_capture_brings_are_its_own(tmp_path: Path) -> None:
    """Written by the tool with new records they are shown, and hinder nothing."""
    more = identified(replace(make_host(), memory_gib=48))
    found = between(tmp_path, {}, {"hosts": [more], "records": [record("a/one", captured="2026-11-30")]})
    assert [item.words for item in found.hosts] == [("memory_gib: 24 -> 48",)]
    assert [item.failing for item in found.hosts] == [""]
