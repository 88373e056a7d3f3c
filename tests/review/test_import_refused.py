"""What `capture import` refuses from the outside: nothing is stored, the place is named, nothing private is echoed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from harness.bundles import HOST, LABEL, TOKEN, keep, listed, made, named, packed, take, tarred, two_snippets
from harness.handbooks import host
from harness.project import Project
from harness.properties import EXAMPLES, captured_text, rows
from hypothesis import given
from hypothesis import strategies as st

from capture import store
from capture.errors import CaptureError
from capture.exchange import bundle
from capture.host.host import chip
from capture.record import privacy
from capture.record.record import sealed
from capture.review import bundle_import

NEWER = "schema 2 is newer than this tool knows (1); update with: git pull && make site"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A handbook with two snippets and nothing captured."""
    (tmp_path / "book").mkdir()
    return two_snippets(tmp_path / "book")


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
        "tomorrow": (
            "demo/one",
            lambda text: store.record_text(sealed(replace(store.parse_record(text, "r")[0], captured="9999-12-31"))),
            2,
            "demo/one.yaml: says it was captured on 9999-12-31, which has not come yet",
        ),
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
    done = take(project, data=packed(made(project, stdout="in\n", chip=chip(other)), facts=other))
    assert (done.code, done.untouched) == (2, True)
    assert 'label "h200" names another machine here (cpu.isa: AVX2 -> AVX512)' in done.err
    assert "capture host init NEW-LABEL" in done.err


def test_two_machines_in_two_bundles(project: Project, tmp_path: Path) -> None:
    """Before the first is stored the second is looked at."""
    for name, facts in (("a", HOST), ("b", host(LABEL, "H200", "cuda", isa="AVX512"))):
        (tmp_path / name).write_bytes(packed(made(project, chip=chip(facts)), facts=facts))
    done = project.capture("import", str(tmp_path / "a"), str(tmp_path / "b"))
    assert (done.code, done.untouched) == (2, True)
    assert 'b: label "h200" names another machine' in done.err


def test_damaged_facts_here(project: Project) -> None:
    """Nobody can tell then whether it is the same machine."""
    project.write(f"docs/captures/{LABEL}/host.yaml", "schema: [\n")
    done = take(project, made(project))
    assert (done.code, done.untouched) == (2, True)
    assert f"docs/captures/{LABEL}/host.yaml:" in done.err


def test_a_folder_that_is_a_link(project: Project, tmp_path: Path) -> None:
    """Nothing is written where it leads."""
    (tmp_path / "elsewhere").mkdir()
    (project.root / "docs/captures").mkdir(parents=True)
    (project.root / f"docs/captures/{LABEL}").symlink_to(tmp_path / "elsewhere")
    done = take(project, made(project))
    assert (done.code, list((tmp_path / "elsewhere").iterdir())) == (2, [])
    assert "its folder is a link" in done.err


def test_names_of_this_machine(project: Project) -> None:
    """Who carries his own captures has the same name on both sides; it is looked for here as well."""
    path = project.root.parent / "b.tar.gz"
    path.write_bytes(packed(made(project, stdout="hello marguerite\n")))
    assert bundle_import.open_bundle(project.book, path, privacy.Identity()).records
    with pytest.raises(CaptureError, match="holds the node or user name of this machine") as error:
        bundle_import.open_bundle(project.book, path, privacy.Identity(("marguerite",)))
    assert error.value.exit_code == 3


@EXAMPLES
@given(st.sampled_from(["host", "demo/one"]), captured_text())
def test_any_file_is_refused_in_words(tmp_path_factory: pytest.TempPathFactory, key: str, text: str) -> None:
    """A bundle that is whole, with a file in it that is anything: it is named, and nothing else happens."""
    root = tmp_path_factory.getbasetemp() / "refused-in-words"
    root.mkdir(exist_ok=True)
    texts = {"host": store.host_text(HOST), key: text.encode("utf-8", "replace").decode()}
    (root / "b.tar.gz").write_bytes(bundle.pack(LABEL, texts))
    with pytest.raises(CaptureError) as error:
        bundle_import.open_bundle(store.Handbook(root), root / "b.tar.gz", privacy.Identity())
    assert all(str(problem).startswith("b.tar.gz: docs/captures/h200/") for problem in error.value.problems)
    assert [path.name for path in root.iterdir()] == ["b.tar.gz"]
