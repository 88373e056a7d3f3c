"""`capture review` in whatever state a repository, its files and its options can be."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from harness.handbooks import record
from harness.repositories import FACTS, GONE, NEW, ONE, TWO, Repository, reviewed, with_changes

posix = pytest.mark.skipif(os.name != "posix", reason="links and signals as POSIX has them")


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    """Made once."""
    return with_changes(tmp_path_factory.mktemp("repository"))


@pytest.fixture
def project(tmp_path: Path, shared: Repository) -> Repository:
    """A copy of it."""
    return shared.copied(tmp_path / "copy")


USAGE = {
    "--accept": "--accept without ids or --host decides everything; if that is meant, add --all",
    "--reject": "--reject without ids or --host decides everything",
    "--accept --reject --all": "choose one",
    "--all": "--all goes with --accept or --reject",
    "--accept --all demo": "leave it out, or the ids",
    "--host local": "git ignores that folder",
    "--host h20": 'no host "h20"; did you mean "h200"?',
    "demo/oen": 'no snippet "demo/oen"; did you mean "demo/one"?',
}


@pytest.mark.parametrize("arguments", USAGE)
def test_invalid_usage(project: Repository, arguments: str) -> None:
    """Nothing is decided by an option that is missing or mistyped; what to do is said."""
    before = project.state()
    code, said = reviewed(project, *arguments.split())
    assert (code, USAGE[arguments] in said, project.state()) == (2, True, before), said


def test_outside_git_and_before_the_first_commit(project: Repository) -> None:
    """Without two sides there is nothing to review, and it says which is missing."""
    shutil.rmtree(project.top / ".git")
    assert reviewed(project) == (2, "git rev-parse: not a git repository; what is compared comes from git: work in a "
                                    "clone of the handbook")  # fmt: skip
    project.git("init", "--quiet")
    code, said = reviewed(project)
    assert (code, "nothing is committed yet" in said) == (2, True)


def test_nothing_to_decide(project: Repository) -> None:
    """A handbook as in HEAD: exit 0, also with ids, flags and a detached HEAD."""
    project.commit()
    project.git("checkout", "--quiet", "--detach")
    for arguments in ((), ("demo/one",), ("--accept", "--all"), ("--reject", "--host", "epyc")):
        assert reviewed(project, *arguments) == (0, "nothing to decide\n")


def test_a_detached_head_is_a_side_like_any_other(project: Repository) -> None:
    """What a checkout by commit gives is reviewed as well."""
    project.git("checkout", "--quiet", "--detach")
    assert reviewed(project, "--reject", "--host", "h200")[0] == 0
    assert reviewed(project, "--accept", "--all")[0] == 0
    assert project.status() == [f"M  {ONE}", f"D  {GONE}"]


def test_conflicts_are_settled_first(project: Repository) -> None:
    """While a merge has left conflicts in the captures nothing is decided; it names them."""
    project.commit("here")
    project.git("checkout", "--quiet", "-b", "other", "HEAD~")
    project.keep(record("demo/one", stdout="otherwise\n"))
    project.commit("there")
    project.git("merge", "--quiet", "-", fails=True)
    before = project.status()
    code, said = reviewed(project, "--reject", "--all")
    assert (code, f"conflicts in {ONE}; choose one side" in said, project.status()) == (2, True, before)


def test_another_git_command_at_work(project: Repository) -> None:
    """While another command holds the index nothing is decided or lost: exit 2, and what to do."""
    texts = {path: project.read(path) for path in (ONE, NEW)}
    held = project.top / ".git" / "index.lock"
    held.touch()
    for option in ("--accept", "--reject"):
        code, said = reviewed(project, option, "--all")
        assert (code, "another git command works here" in said) == (2, True)
        assert {path: project.read(path) for path in texts} == texts
    held.unlink()
    assert project.status() == [f" M {ONE}", f" D {GONE}", f"?? {NEW}", f"?? {FACTS}"]


def test_where_nothing_can_be_kept_nothing_is_rejected(project: Repository) -> None:
    """A rejected text that cannot be kept stays where it is."""
    project.write(".cache", "a file")
    text = project.read(ONE)
    code, said = reviewed(project, "demo/one", "--reject")
    assert (code, "cannot be written" in said, project.read(ONE)) == (2, True, text)


def test_read_only_files(project: Repository) -> None:
    """A file without permission to write is replaced like any other; the folder decides."""
    for path in (ONE, NEW):
        (project.root / path).chmod(0o444)
    assert reviewed(project, "--reject", "--all")[0] == 0
    assert project.status() == []


def test_what_git_ignores_is_told(project: Repository) -> None:
    """A capture that git ignores cannot be accepted; that it is there is said."""
    project.write(".git/info/exclude", "")  # a folder of the handbook that is no repository
    project.write("../.git/info/exclude", "docs/captures/h200/\nbook/.git/\nh200/\n")
    code, said = reviewed(project, "--accept", "--all")
    assert (code, f"git ignores 1 capture, such as {NEW}" in said) == (0, True)
    assert project.status("docs/captures") == [f"M  {ONE}", f"D  {GONE}"]


@posix
def test_a_link_is_no_record(project: Repository, tmp_path: Path) -> None:
    """What a link names is neither staged nor touched; rejecting puts the file back."""
    outside = tmp_path / "outside.yaml"
    outside.write_text(project.read(ONE))
    text = outside.read_text()
    (project.root / ONE).unlink()
    (project.root / ONE).symlink_to(outside)
    code, said = reviewed(project, "demo/one", "--host", "epyc", "--accept")
    assert (code, f"{ONE}: is a link" in said, project.status(ONE)) == (2, True, [f" T {ONE}"])
    assert reviewed(project, "demo/one", "--host", "epyc", "--reject")[0] == 0
    assert (project.status(ONE), outside.read_text()) == ([], text)
    assert project.rejected()["epyc/demo/one.yaml"] == str(outside)


@posix
def test_a_linked_folder_leads_nowhere(project: Repository, tmp_path: Path) -> None:
    """Nothing is written through a link in place of a folder."""
    (project.book.captures / "epyc" / "demo").rename(tmp_path / "demo")
    (project.book.captures / "epyc" / "demo").symlink_to(tmp_path / "demo")
    text = (tmp_path / "demo" / "one.yaml").read_text()
    code, said = reviewed(project, "demo/one", "--host", "epyc", "--reject")
    assert (code, "its folder is a link" in said) == (2, True)
    assert (tmp_path / "demo" / "one.yaml").read_text() == text


def test_line_ends_and_modes_are_git_s(project: Repository) -> None:
    """A record comes back as git checks it out here; a mode alone waits too, among the quiet ones."""
    project.write(".gitattributes", "docs/captures/** text eol=crlf\n")
    project.commit()
    project.git("rm", "-r", "--quiet", "--cached", ".")
    project.git("reset", "--quiet", "--hard")
    as_checked_out = (project.root / ONE).read_bytes()
    project.keep(record("demo/one", stdout="changed again\n"))
    (project.root / TWO).chmod(0o755)
    said = reviewed(project)[1]
    assert "identical                demo/two on epyc: only line ends or the mode of the file differ" in said
    assert said.index("demo/one on epyc") < said.index("demo/two on epyc")
    assert reviewed(project, "--reject", "--all")[0] == 0
    assert (project.status(), (project.root / ONE).read_bytes()) == ([], as_checked_out)
    assert b"\r\n" in as_checked_out


def test_a_staged_version_that_is_no_longer_there_waits(project: Repository) -> None:
    """A file that is as in HEAD again while something else is staged would be committed otherwise: it waits."""
    staged = project.read(ONE)
    project.git("add", ONE)
    project.write(ONE, project.git("show", f"HEAD:./{ONE}"))
    assert "demo/one on epyc: another version is staged" in reviewed(project, "--host", "epyc", "demo")[1]
    assert reviewed(project, "--host", "epyc", "demo", "--reject")[0] == 0
    assert (project.status(ONE), project.rejected()) == ([], {"epyc/demo/one.staged.yaml": staged})


def test_strangers_text_cannot_drive_the_terminal(project: Repository) -> None:
    """Control characters in a new record are made visible."""
    project.keep(record("demo/one", "h200", stdout="\x1b]0;owned\x07\x1b[2J\u202eflipped\n", gates={"cuda": True}))
    said = reviewed(project)[1]
    assert not set("\x1b\x07\u202e") & set(said) and "\\x1b[2J\\u202eflipped" in said
