"""`capture bundle` and `import` from the outside: what goes from one machine to another, by the store's rules."""

from __future__ import annotations

import re
import shutil
import signal
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from harness.bundles import HOST, LABEL, RECORD, TOKEN, keep, made, packed, take, two_snippets
from harness.handbooks import record
from harness.project import Project, until
from harness.properties import rows

from capture import store
from capture.errors import CaptureError
from capture.exchange import bundle
from capture.record import privacy
from capture.record.record import Runs
from capture.review import bundle_import
from capture.store import catalogue


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A handbook with two snippets and nothing captured."""
    (tmp_path / "book").mkdir()
    return two_snippets(tmp_path / "book")


def test_there_and_back(project: Project, tmp_path: Path) -> None:
    """Captured on one machine, bundled, imported on another: the files are the same, byte for byte."""
    captured = project.run("demo/one", "--host", "desk")
    assert captured.code == 0
    done = project.capture("bundle", "--host", "desk")
    assert (done.code, done.added) == (0, ("captures-desk.tar.gz",))
    assert "wrote captures-desk.tar.gz: 1 record of desk, 1 KiB; where the handbook is: capture import FILE" in done.out
    shutil.copytree(project.root / "snippets", tmp_path / "other/snippets")
    other = Project(tmp_path / "other")
    came = other.capture("import", str(project.root / "captures-desk.tar.gz"))
    assert (came.code, came.out) == (0, "captures-desk.tar.gz: desk: 1 stored; new host\n")
    assert came.added == ("docs/captures/desk/demo/one.yaml", "docs/captures/desk/host.yaml")
    for path in came.added:
        assert other.read(path) == project.read(path)
    assert other.capture("check", "--records-only").code == 0
    again = other.capture("import", str(project.root / "captures-desk.tar.gz"))
    assert (again.code, again.untouched, again.out) == (0, True, "captures-desk.tar.gz: desk: 1 unchanged\n")


def test_a_bundle_holds_what_is_selected(project: Project, tmp_path: Path) -> None:
    """By id or by share; all shares together hold every record once."""
    for key in ("demo/one", "demo/two"):
        keep(project, made(project, key, stdout="gain 3.0x\n"))
    held: list[str] = []
    for number in (1, 2):
        path = tmp_path / f"{number}.tar.gz"
        done = project.capture("bundle", "--host", LABEL, "--shard", f"{number}/2", "--output", str(path))
        if done.code == 0:
            held += [key for key in bundle.unpack(path.read_bytes(), "b")[1] if key != "host"]
    assert sorted(held) == ["demo/one", "demo/two"]
    project.capture("bundle", "demo/two", "--host", LABEL, "--output", str(tmp_path / "b"))
    assert list(bundle.unpack((tmp_path / "b").read_bytes(), "b")[1]) == ["host", "demo/two"]


@pytest.mark.parametrize(
    ("arguments", "says"),
    rows({
        "local": ((), "name the host to pack: --host LABEL"),
        "unknown-host": (("--host", "h201"), "h201 has no record of what is selected; capture it first: capture run"),
        "bad-label": (("--host", "No Label"), 'host label "No Label"'),
        "unknown-id": (("demo/on", "--host", LABEL), 'no snippet "demo/on"; did you mean "demo/one"?'),
        "root": (("--host", LABEL, "--output", "/"), "--output /: is a folder; name a file in it"),
        "folder": (("--host", LABEL, "--output", "docs"), "--output docs: is a folder; name a file in it"),
        "no-folder": (("--host", LABEL, "--output", "/proc/none/b"), "cannot be written"),
    }),
)  # fmt: skip
def test_what_cannot_be_bundled(project: Project, arguments: tuple[str, ...], says: str) -> None:
    """Exit 2 and no file."""
    keep(project, made(project))
    done = project.capture("bundle", *arguments)
    assert (done.code, done.untouched) == (2, True)
    assert says in done.err


@pytest.mark.parametrize(
    ("old", "new", "code", "says"),
    rows({
        "edited": ("  out", "  in", 2, f"{RECORD}:22: was edited by hand"),
        "token": ("  out", f"  {TOKEN}", 3, "holds a Hugging Face token"),
        "broken": ("status: ok", "status: [", 2, "not valid YAML"),
        "newer": ("schema: 1", "schema: 2", 2, "schema 2 is newer than this tool knows (1); update with"),
    }),
)  # fmt: skip
def test_what_must_not_leave_this_machine(project: Project, old: str, new: str, code: int, says: str) -> None:
    """What would be refused elsewhere is refused before it is carried there, and nothing secret leaves."""
    keep(project, made(project))
    project.write(RECORD, project.read(RECORD).replace(old, new))
    done = project.capture("bundle", "--host", LABEL)
    assert (done.code, done.untouched) == (code, True)
    assert says in done.err and TOKEN not in done.text


FAILED: dict[str, Any] = {"status": "error", "exit_code": 1, "stderr": "no\n", "runs": Runs(1)}
OTHER = {"source_sha256": "0" * 64}  # of another version of the script
EARLY = {"captured": "2026-01-02"}


def gain(factor: float) -> dict[str, Any]:
    """Return the output of a timing."""
    return {"stdout": f"gain {factor}x\n"}


@pytest.mark.parametrize(
    ("key", "here", "came", "options", "code", "said", "stored"),
    rows({
        "says-the-same": ("demo/two", gain(3.0), gain(3.2), (), 0, "1 unchanged", False),
        "another-text": ("demo/one", {}, {"stdout": "in\n"}, (), 1, "changed    demo/one: text changed: ", True),
        "beyond": ("demo/two", gain(3.0), gain(9.0), (), 1, "number beyond tolerance", True),
        "newer-torch": ("demo/one", {}, {"torch": "2.14.1+cpu"}, (), 0, "1 stored", True),
        "older": ("demo/one", {}, {"stdout": "in\n", **EARLY}, (), 1, "captured on 2026-01-02; the record here", False),
        "failure-for-good": ("demo/one", {}, FAILED, (), 1, "stays (--accept-failure replaces it)", False),
        "failure-accepted": ("demo/one", {}, FAILED, ("--accept-failure",), 1, "1 failures stored", True),
        "failure-alone": ("demo/one", None, FAILED, (), 1, "1 failures stored", True),
        "good-for-failure": ("demo/one", FAILED, {}, (), 1, "status changed", True),
        "stale-alone": ("demo/one", None, OTHER, (), 1, "1 stored, but stale", True),
        "stale-for-current": ("demo/one", {}, OTHER, (), 1, "the record here is of this one", False),
        "current-for-stale": ("demo/one", OTHER, EARLY, (), 0, "1 stored", True),
        "failure-for-stale": ("demo/one", OTHER, FAILED, (), 1, "the good record stays", False),
        "dry": ("demo/one", None, {}, ("--dry-run",), 0, "would be: h200: 1 stored; new host", False),
    }),
)  # fmt: skip
def test_the_stores_rules(
    project: Project, key: str, here: dict[str, Any] | None, came: dict[str, Any], options: tuple[str, ...], code: int,
    said: str, stored: bool,
) -> None:  # fmt: skip
    """As when it had been captured here: what says the same leaves its file, and good records stay."""
    if here is not None:
        keep(project, made(project, key, **here))
    item = made(project, key, **came)
    done = take(project, item, options=options)
    assert (done.code, said in done.out) == (code, True), done.text
    assert done.untouched is not stored
    if stored:
        assert project.record(key, LABEL) == item


def test_a_record_of_an_unknown_snippet_is_left_out(project: Project) -> None:
    """`check` would call it an orphan; the others are taken, and the nearest name is told."""
    done = take(project, made(project), record("demo/ones", LABEL, source_sha256="1" * 64))
    assert done.code == 1
    assert "left out   demo/ones: no such snippet here; update this handbook, then import again" in done.out
    assert '; did you mean "demo/one"?' in done.out
    assert done.added == (RECORD, f"docs/captures/{LABEL}/host.yaml")


def test_a_faulty_snippet_here(project: Project) -> None:
    """It is not called unknown."""
    item = made(project)
    project.write("snippets/demo/one.py", "print(1)\n")
    assert "the snippet here is faulty; mend it" in take(project, item).out


def test_the_facts_here_stay(project: Project) -> None:
    """A title that was chosen here, and memory that a container limits, are no other machine."""
    store.write_host(project.book, replace(HOST, title="Ours", memory_gib=4))
    done = take(project, made(project))
    assert (done.code, done.added, done.changed) == (0, (RECORD,), ())


def test_a_damaged_record_here_is_made_whole(project: Project) -> None:
    """As by a run."""
    keep(project, made(project))
    project.write(RECORD, "<<<<<<< ours\n")
    done = take(project, made(project))
    assert (done.code, done.changed) == (0, (RECORD,))


def test_a_bundle_waits_for_a_run(project: Project) -> None:
    """One at a time in a host's folder."""
    (project.root.parent / "b.tar.gz").write_bytes(packed(made(project)))
    path = str(project.root.parent / "b.tar.gz")
    with store.held(project.book, LABEL, lambda _: None), project.start("import", path) as process:
        assert process.stderr is not None
        assert process.stderr.readline().startswith("waiting up to 30 s for another run that captures h200")
        assert store.record_ids(project.book, LABEL) == []


def test_an_interruption_says_how_far_it_came(project: Project) -> None:
    """Each file is whole, no part and no lock stays, and the same command stores the rest."""
    names = [f"many/one_{number}" for number in range(300)]
    for name in names:
        project.snippet(name, "print(1)")
    path = project.root.parent / "b.tar.gz"
    digest = project.parsed(names[0]).digest  # all of them say the same
    path.write_bytes(packed(*(record(name, LABEL, source_sha256=digest) for name in names)))
    folder = project.root / f"docs/captures/{LABEL}/many"
    with project.start("import", str(path)) as process:
        until(lambda: folder.is_dir() and len(list(folder.glob("*.yaml"))) > 3, "some are stored")
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    stored = len(project.records(LABEL))
    assert (process.returncode, out) == (130, "")
    said = re.fullmatch(r"b.tar.gz: interrupted: (\d+) of 300 records of h200 done; the same command goes on .*\n", err)
    assert said and stored - 1 <= int(said[1]) <= stored < 300
    assert not list(folder.parent.rglob(".*"))
    again = project.capture("import", str(path))
    assert again.out == f"b.tar.gz: h200: {300 - stored} stored, {stored} unchanged\n"


def test_a_full_disk_leaves_whole_records(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was stored before it stays, what was not is as it was; no part of a file is left."""
    keep(project, made(project))
    path = project.root.parent / "b.tar.gz"
    items = [made(project, stdout="in\n"), made(project, "demo/two", stdout="gain 3.0x\n")]
    path.write_bytes(packed(*items))
    came = bundle_import.open_bundle(project.book, path, privacy.Identity())
    cat = catalogue.read_handbook(project.book)
    steps = bundle_import.import_records(came, cat, accept_failure=False, write=True)
    assert next(steps).kind == "changed"

    def full(*_: object, **__: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(CaptureError, match="No space left on device"):
        next(steps)
    assert project.record("demo/one", LABEL) == items[0]
    assert sorted(item.name for item in (project.root / f"docs/captures/{LABEL}").rglob("*")) == [
        "demo", "host.yaml", "one.yaml",
    ]  # fmt: skip
