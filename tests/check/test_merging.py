"""Branches merged by git with this repository's attributes: what merges, what conflicts, and what check says of it."""

from __future__ import annotations

from collections.abc import Callable
from io import StringIO
from pathlib import Path

import pytest
from harness.checks import HOST, RECORD, clean_handbook, found
from harness.handbooks import CHIP, REPOSITORY, Handbook, record
from harness.handbooks import host as make_host
from harness.properties import rows
from harness.repositories import Repository, repository
from ruamel.yaml import YAML

from capture import store
from capture.check.findings import Findings

NOTHING = Findings((), ())


@pytest.fixture
def shared(tmp_path: Path) -> Repository:
    """A repository of one snippet with one record."""
    return repository(clean_handbook(tmp_path))


def add_host(label: str) -> Callable[[Handbook], object]:
    """Return the work of somebody who adds a host."""

    def work(book: Handbook) -> None:
        store.write_host(book.book, make_host(label, title=label.upper()))
        book.keep(record("a/speed", label, stdout="slowdown 12.5x\n", chip=CHIP))

    return work


def recapture(stdout: str, **changes: object) -> Callable[[Handbook], object]:
    """Return the work of somebody who captures the same record again."""
    return lambda book: book.keep(record("a/speed", stdout=stdout, **changes))


def rename(title: str) -> Callable[[Handbook], object]:
    """Return the work of somebody who gives the host another title."""
    return lambda book: store.write_host(book.book, make_host(title=title))


def test_two_people_who_each_add_a_host(shared: Repository) -> None:
    """Neither sees the other: no conflict, nothing to resolve, nothing to find, and no file of another host changes."""
    shared.branch("h200", add_host("h200"))
    shared.branch("m3", add_host("m3-macbook"))
    for name in ("h200", "m3"):
        changed = shared.git("diff", "--name-only", "main", name).split()
        assert len({path.split("/")[2] for path in changed}) == 1 and len(changed) == 2
    before = shared.git("rev-parse", "HEAD").strip()
    shared.git("merge", "--quiet", "--no-edit", "h200")
    shared.git("merge", "--quiet", "--no-edit", "m3")
    assert found(shared) == NOTHING
    assert sorted(shared.catalogue().hosts) == ["epyc", "h200", "m3-macbook"]
    assert {line[0] for line in shared.git("diff", "--name-status", before, "HEAD").splitlines()} == {"A"}


def test_two_people_who_capture_the_same_record_again(shared: Repository) -> None:
    """A conflict over the whole file: one side's stays in place, readable, and check names it until it is resolved."""
    shared.branch("one", recapture("slowdown 41.0x\n", python="3.11.8"))
    shared.branch("other", recapture("slowdown 43.5x\n", captured="2026-12-01"))
    shared.git("merge", "--quiet", "--no-edit", "one")
    ours = (shared.root / RECORD).read_bytes()
    merging = shared.tried("merge", "--no-edit", "other")
    assert merging.returncode != 0 and RECORD in merging.stdout
    assert (shared.root / RECORD).read_bytes() == ours
    (problem,) = found(shared).problems
    assert (problem.path, problem.line, problem.rule) == (RECORD, 0, "conflict")
    assert problem.message == (
        "two branches changed it and the merge is not finished; keep one side whole: "
        f"git checkout --ours {RECORD} (or --theirs), then git add {RECORD}; "
        "or capture it again: capture run a/speed --force --host epyc"
    )


@pytest.mark.parametrize(("side", "python", "day"), [("--ours", "3.11.8", "29"), ("--theirs", "3.11.7", "01")])
def test_what_check_says_resolves_the_conflict(shared: Repository, side: str, python: str, day: str) -> None:
    """Either side comes back whole, never a mixture."""
    shared.branch("one", recapture("slowdown 41.0x\n", python="3.11.8"))
    shared.branch("other", recapture("slowdown 43.5x\n", captured="2026-12-01"))
    shared.git("merge", "--quiet", "--no-edit", "one")
    assert shared.tried("merge", "--no-edit", "other").returncode != 0
    shared.git("checkout", side, RECORD)
    assert [problem.rule for problem in found(shared).problems] == ["conflict"]
    shared.git("add", RECORD)
    assert found(shared) == NOTHING
    item = shared.catalogue().records["epyc", "a/speed"]
    assert (item.environment.python, item.captured[-2:]) == (python, day)


def test_a_host_whose_file_two_branches_changed(shared: Repository) -> None:
    """The way out is to write it again on that machine."""
    for name in ("first", "second"):
        shared.branch(name, rename(f"EPYC, the {name}"))
    shared.git("merge", "--quiet", "--no-edit", "first")
    assert shared.tried("merge", "--no-edit", "second").returncode != 0
    (problem,) = found(shared).problems
    assert problem.path == HOST
    assert problem.message.endswith("or write it again on that machine: capture host init epyc")


def test_one_removes_what_the_other_captures_again(shared: Repository) -> None:
    """Also a removal against a change is an open merge that check names."""
    shared.branch("gone", lambda book: (book.root / RECORD).unlink())
    shared.branch("again", recapture("slowdown 41.0x\n"))
    shared.git("merge", "--quiet", "--no-edit", "gone")
    assert shared.tried("merge", "--no-edit", "again").returncode != 0
    assert [(problem.path, problem.rule) for problem in found(shared).problems] == [(RECORD, "conflict")]


def test_a_rebase_conflicts_alike(shared: Repository) -> None:
    """Whatever brings two branches together."""
    shared.branch("one", recapture("slowdown 41.0x\n"))
    shared.branch("other", recapture("slowdown 43.5x\n"))
    shared.git("switch", "--quiet", "other")
    assert shared.tried("rebase", "one").returncode != 0
    assert [problem.rule for problem in found(shared).problems] == ["conflict"]


def test_the_same_capture_on_both_sides_is_no_conflict(shared: Repository) -> None:
    """A record that came in by two ways, as after a cherry-pick."""
    for name in ("one", "other"):
        shared.branch(name, recapture("slowdown 41.0x\n"))
        shared.git("merge", "--quiet", "--no-edit", name)
    assert found(shared) == NOTHING


def test_without_the_attributes_no_mixture_passes(tmp_path: Path) -> None:
    """Merged line by line, a record whose conflict somebody resolves by taking one side of each part is found out."""
    shared = repository(clean_handbook(tmp_path), attributes=False)
    shared.branch("one", recapture("slowdown 41.0x\n", chip="One chip"))
    shared.branch("other", recapture("slowdown 41.0x\n", captured="2026-12-01"))
    shared.git("merge", "--quiet", "--no-edit", "one")
    assert shared.tried("merge", "--no-edit", "other").returncode != 0
    (marked,) = found(shared).problems
    assert (marked.rule, marked.line > 0) == ("conflict", True)
    stages = [shared.git("show", f":{number}:{RECORD}") for number in (1, 2, 3)]
    for name, text in zip(("base", "ours", "theirs"), stages, strict=True):
        shared.write(name, text)
    mixed = shared.tried("merge-file", "-p", "--ours", "ours", "base", "theirs").stdout
    for name in ("base", "ours", "theirs"):
        (shared.root / name).unlink()
    shared.write(RECORD, mixed)
    shared.git("add", RECORD)
    assert "One chip" in mixed and "2026-12-01" in mixed
    assert [problem.rule for problem in found(shared).problems] == ["digest"]


def test_outside_of_git_nothing_is_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An unpacked archive, and a machine without git, are checked like any other."""
    book = clean_handbook(tmp_path)
    assert found(book) == NOTHING
    (tmp_path / ".git").mkdir()
    assert found(book) == NOTHING
    monkeypatch.setenv("PATH", str(tmp_path))
    assert found(book) == NOTHING


@pytest.mark.parametrize("attributes", [True, False])
def test_a_checkout_with_windows_line_ends(tmp_path: Path, attributes: bool) -> None:
    """inv-crlf-hash: with the attributes files keep their bytes; without them nothing is found either, nor stale."""
    origin = repository(clean_handbook(tmp_path / "origin"), attributes)
    text = "first\nslowdown 42.7x\n"
    origin.keep(record("a/speed", stdout=text))
    origin.commit()
    chosen = ["--config", "core.autocrlf=true", "--config", "core.safecrlf=false"]
    origin.git("clone", "--quiet", *chosen, str(origin.root), str(tmp_path / "windows"))
    windows = Repository(tmp_path / "windows")
    for path in (RECORD, HOST, "snippets/a/speed.py"):
        assert (b"\r\n" in (windows.root / path).read_bytes()) is not attributes
    assert found(windows) == NOTHING
    item = windows.catalogue().records["epyc", "a/speed"]
    assert item.stdout == text
    store.write_record(windows.book, item)
    assert windows.commit("nothing changes what git holds")
    assert windows.git("diff", "HEAD~1", "HEAD") == ""


def prettier(text: str) -> str:
    """Return a record as prettier leaves it."""
    text = text.replace("captured: '2026-11-29'", 'captured: "2026-11-29"').replace("stderr: ''", 'stderr: ""')
    return text.replace("{intra: 2, inter: 2}", "{ intra: 2, inter: 2 }")


def yaml_library(text: str) -> str:
    """Return a record as a tool that loads and dumps it leaves it."""
    yaml, result = YAML(), StringIO()
    yaml.explicit_start = True
    yaml.dump(yaml.load(text), result)
    return result.getvalue()


FORMATTERS: dict[str, Callable[[str], str]] = {
    "prettier": prettier,
    "yaml-library": yaml_library,
    "document-start": lambda text: f"---\n{text}",
    "no-final-newline": lambda text: text.rstrip("\n"),
    "deeper-indent": lambda text: text.replace("\n  ", "\n    "),
}


@pytest.mark.parametrize("formatter", rows(FORMATTERS))
def test_a_formatter_run_is_reported_with_what_to_do(shared: Repository, formatter: Callable[[str], str]) -> None:
    """store-formatter: each touched file is named, and git brings it back; the text it holds was never in doubt."""
    for path in (RECORD, HOST):
        shared.write(path, formatter((shared.root / path).read_text("utf-8")))
    touched = shared.git("diff", "--name-only").split()
    assert RECORD in touched
    problems = found(shared).problems
    assert [(problem.path, problem.rule) for problem in problems] == [(path, "format") for path in touched]
    assert all("restore it with git" in problem.message for problem in problems)
    shared.git("restore", RECORD, HOST)
    assert found(shared) == NOTHING


def test_git_tidies_no_record(shared: Repository) -> None:
    """A patch or a rebase with --whitespace=fix leaves what a snippet printed as it is, here a blank before a tab."""
    shared.branch("odd", recapture("columns\n        \tbelow\nslowdown 42.7x\n"))
    shared.git("apply", "--whitespace=fix", data=shared.git("diff", "main", "odd"))
    assert found(shared) == NOTHING
    assert shared.git("diff", "odd") == shared.git("diff", "--check") == ""


def test_a_reviewer_sees_records(shared: Repository) -> None:
    """They show as text in a diff, and GitHub does not fold them away as generated."""
    recapture("slowdown 41.0x\n")(shared)
    assert "-  slowdown 42.7x\n+  slowdown 41.0x" in shared.git("diff")
    known = shared.git("check-attr", "diff", "linguist-generated", "merge", "eol", "--", RECORD)
    assert [line.rsplit(": ", 1)[1] for line in known.splitlines()] == ["unspecified", "false", "unset", "lf"]


def test_formatters_are_kept_off_records() -> None:
    """What each common tool reads names the folder of the records."""
    for name in (".prettierignore", ".yamlfmt.yml", ".editorconfig", ".gitattributes"):
        assert "docs/captures" in (REPOSITORY / name).read_text("utf-8"), name
