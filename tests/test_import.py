"""`capture bundle` and `import` from the outside: what goes from one machine to another, by the store's rules."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from bundles import HOST, LABEL, listed, named, packed, tarred
from handbooks import host, record
from project import Project, Run
from properties import rows

from capture import bundle, catalogue, incoming, redact, store
from capture.errors import CaptureError
from capture.record import Record, Runs

TOKEN = "hf_" + "Q" * 34
RECORD = f"docs/captures/{LABEL}/demo/one.yaml"


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A handbook with two snippets and nothing captured; shared, so nobody changes it."""
    found = Project(tmp_path_factory.mktemp("written") / "book")
    found.snippet("demo/one", "print('out')")
    found.snippet("demo/two", "print('gain 3.0x')", timing=True, values={"gain": r"gain ([\d.]+)x"},
                  compare={"ratio": {"gain": 1.5}})  # fmt: skip
    return found


@pytest.fixture
def project(tmp_path: Path, written: Project) -> Project:
    """A copy of it."""
    shutil.copytree(written.root, tmp_path / "book")
    return Project(tmp_path / "book")


def made(project: Project, key: str = "demo/one", **changes: Any) -> Record:
    """Return a record of a snippet as it is here."""
    return record(key, LABEL, **{"source_sha256": project.parsed(key).digest} | changes)


def keep(project: Project, item: Record) -> None:
    """Store a record here, with its host."""
    store.write_host(project.book, HOST)
    store.write_record(project.book, item)


def take(project: Project, *items: Record, options: tuple[str, ...] = (), data: bytes | None = None) -> Run:
    """Import a bundle of records, or of these bytes; the file lies outside the handbook."""
    path = project.root.parent / "captures-h200.tar.gz"
    path.write_bytes(packed(*items) if data is None else data)
    return project.capture("import", str(path), *options)


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
NEWER = "schema 2 is newer than this tool knows (1); update with: git pull && make site"


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
    assert 'left out   demo/ones: no such snippet here; did you mean "demo/one"?; update this handbook' in done.out
    assert done.added == (RECORD, f"docs/captures/{LABEL}/host.yaml")


def test_a_faulty_snippet_here(project: Project) -> None:
    """It is not called unknown."""
    item = made(project)
    project.write("snippets/demo/one.py", "print(1)\n")
    assert "the snippet here is faulty; mend it" in take(project, item).out


def spoiled(project: Project, change: Callable[[str], str], key: str = "demo/one") -> bytes:
    """Return a bundle in which one file was edited, listed as it is."""
    texts = {"host": store.host_text(HOST), "demo/one": store.record_text(made(project))}
    texts[key] = change(texts[key])
    return bundle.pack(LABEL, texts)


@pytest.mark.parametrize(
    ("key", "change", "code", "says"),
    rows({
        "edited": ("demo/one", lambda text: text.replace("  out", "  in"), 2, ":22: was edited by hand: its digest"),
        "formatted": ("demo/one", lambda text: text + "\n", 2, "is not written as the tool writes it"),
        "newer": ("demo/one", lambda text: text.replace("schema: 1", "schema: 2\nmore: 1"), 2, f":1: {NEWER}"),
        "other-snippet": ("demo/one", lambda text: text.replace("demo/one", "demo/two"), 2, 'says snippet "demo/two"'),
        "other-host": ("demo/one", lambda text: text.replace("host: h200", "host: h100"), 2, 'says host "h100"'),
        "no-yaml": ("demo/one", lambda text: "\x00", 2, "not valid YAML"),
        "alias": ("demo/one", lambda text: "a: &a [*a]\n", 2, "anchors and aliases are not allowed"),
        "token": ("demo/one", lambda text: text.replace("  out", f"  {TOKEN}"), 3, "holds a Hugging Face token"),
        "home": ("demo/one", lambda text: text.replace("  out", "  /home/someone"), 3, "holds a home folder"),
        "facts-edited": ("host", lambda text: text.replace("AVX2", "AVX9"), 2, "its fingerprint does not match"),
        "facts-newer": ("host", lambda text: text.replace("schema: 1", "schema: 3"), 2, "schema 3 is newer than this"),
        "facts-other": ("host", lambda text: text.replace("label: h200", "label: h100"), 2, 'says label "h100"'),
        "facts-token": ("host", lambda text: text.replace("title: H200", f"title: {TOKEN}"), 3, "Hugging Face token"),
    }),
)  # fmt: skip
def test_a_spoiled_file_refuses_the_bundle(
    project: Project, key: str, change: Callable[[str], str], code: int, says: str
) -> None:
    """Whatever `check` would refuse: with file and line, nothing stored, and what is private not echoed."""
    done = take(project, data=spoiled(project, change, key))
    assert (done.code, done.untouched) == (code, True), done.text
    assert says in done.err and done.err.startswith("captures-h200.tar.gz: docs/captures/h200/")
    assert TOKEN not in done.text and "Traceback" not in done.text


def test_a_hostile_file_on_the_command_line(project: Project) -> None:
    """A path that leads elsewhere: exit 2, in words, nothing written inside the handbook or beside it."""
    before = sorted(project.root.parent.rglob("*"))
    name = "docs/captures/h200/../../../../evil.yaml"
    done = take(project, data=tarred(listed([(named(name), b"")])))
    assert (done.code, done.untouched) == (2, True)
    assert "lies outside docs/captures/" in done.err
    assert {path.name for path in set(project.root.parent.rglob("*")) - set(before)} == {"captures-h200.tar.gz"}


def test_no_such_file(project: Project) -> None:
    """It is named, and so is a folder."""
    assert project.capture("import", "none.tar.gz").err == "none.tar.gz: cannot be read: No such file or directory\n"
    assert project.capture("import", "snippets").err == "snippets: is no regular file; remove it\n"


def test_another_machine_under_the_same_label(project: Project) -> None:
    """Results of two machines are never mixed: the differing fact is named, and what to do."""
    keep(project, made(project))
    other = host(LABEL, "H200", "cuda", isa="AVX512")
    done = take(project, data=packed(made(project, stdout="in\n"), facts=other))
    assert (done.code, done.untouched) == (2, True)
    assert 'label "h200" names another machine here (cpu.isa: AVX2 -> AVX512)' in done.err
    assert "capture host init NEW-LABEL" in done.err


def test_two_machines_in_two_bundles(project: Project, tmp_path: Path) -> None:
    """Before the first is stored the second is looked at."""
    for name, facts in (("a", HOST), ("b", host(LABEL, "H200", "cuda", isa="AVX512"))):
        (tmp_path / name).write_bytes(packed(made(project), facts=facts))
    done = project.capture("import", str(tmp_path / "a"), str(tmp_path / "b"))
    assert (done.code, done.untouched) == (2, True)
    assert 'b: label "h200" names another machine' in done.err


def test_the_facts_here_stay(project: Project) -> None:
    """A title that was chosen here, and memory that a container limits, are no other machine."""
    store.write_host(project.book, replace(HOST, title="Ours", memory_gib=4))
    done = take(project, made(project))
    assert (done.code, done.added, done.changed) == (0, (RECORD,), ())


def test_damaged_facts_here(project: Project) -> None:
    """Nobody can tell then whether it is the same machine."""
    project.write(f"docs/captures/{LABEL}/host.yaml", "schema: [\n")
    done = take(project, made(project))
    assert (done.code, done.untouched) == (2, True)
    assert f"docs/captures/{LABEL}/host.yaml:" in done.err


def test_a_damaged_record_here_is_made_whole(project: Project) -> None:
    """As by a run."""
    keep(project, made(project))
    project.write(RECORD, "<<<<<<< ours\n")
    done = take(project, made(project))
    assert (done.code, done.changed) == (0, (RECORD,))


def test_a_folder_that_is_a_link(project: Project, tmp_path: Path) -> None:
    """Nothing is written where it leads."""
    (tmp_path / "elsewhere").mkdir()
    (project.root / "docs/captures").mkdir(parents=True)
    (project.root / f"docs/captures/{LABEL}").symlink_to(tmp_path / "elsewhere")
    done = take(project, made(project))
    assert (done.code, list((tmp_path / "elsewhere").iterdir())) == (2, [])
    assert "its folder is a link" in done.err


def test_a_bundle_waits_for_a_run(project: Project) -> None:
    """One at a time in a host's folder."""
    (project.root.parent / "b.tar.gz").write_bytes(packed(made(project)))
    path = str(project.root.parent / "b.tar.gz")
    with store.held(project.book, LABEL, lambda _: None), project.start("import", path) as process:
        assert process.stderr is not None
        assert process.stderr.readline().startswith("waiting up to 30 s for another run that captures h200")
        assert store.record_ids(project.book, LABEL) == []


def test_names_of_this_machine(project: Project) -> None:
    """Who carries his own captures has the same name on both sides; it is looked for here as well."""
    path = project.root.parent / "b.tar.gz"
    path.write_bytes(packed(made(project, stdout="hello marguerite\n")))
    assert incoming.read(project.book, path, redact.Identity()).records
    with pytest.raises(CaptureError, match="holds the node or user name of this machine") as error:
        incoming.read(project.book, path, redact.Identity(("marguerite",)))
    assert error.value.exit_code == 3


def test_a_full_disk_leaves_whole_records(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was stored before it stays, what was not is as it was; no part of a file is left."""
    keep(project, made(project))
    path = project.root.parent / "b.tar.gz"
    items = [made(project, stdout="in\n"), made(project, "demo/two", stdout="gain 3.0x\n")]
    path.write_bytes(packed(*items))
    came = incoming.read(project.book, path, redact.Identity())
    cat = catalogue.read(project.book)
    steps = incoming.settle(came, cat, accept_failure=False, write=True)
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
