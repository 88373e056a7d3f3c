"""`capture run` from the outside: what it executes, stores, says and returns."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from harness.executions import case
from harness.project import Project

from capture.errors import CaptureError
from capture.run import plan


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A handbook of three snippets, nothing captured."""
    found = Project(tmp_path)
    found.snippet("demo/one", 'print("one", 1)')
    found.snippet("demo/two", 'print("two", 2)')
    found.snippet("other/one", 'print("three", 3)')
    return found


@pytest.fixture(scope="module")
def once_captured(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """The same, captured; shared, so nobody changes it."""
    found = Project(tmp_path_factory.mktemp("captured"))
    for name, body in (("demo/one", 'print("one", 1)'), ("demo/two", 'print("two", 2)'), ("other/one", "print(3)")):
        found.snippet(name, body)
    assert found.run().code == 0
    return found


@pytest.fixture
def captured(tmp_path: Path, once_captured: Project) -> Project:
    """A copy of the captured handbook."""
    shutil.copytree(once_captured.root, tmp_path, dirs_exist_ok=True)
    return Project(tmp_path)


def stored(*snippets: str, label: str = "local") -> set[str]:
    """Return the paths of the records of these snippets."""
    return {f"docs/captures/{label}/{snippet}.yaml" for snippet in snippets}


def test_first_run_stores_a_record_of_each_snippet(project: Project) -> None:
    """A fresh handbook: every snippet is captured, nothing but the records and the host's facts is written."""
    result = project.run()
    assert result.code == 0
    assert "local: 3 captured" in result.out
    assert set(result.added) == {"docs/captures/local/host.yaml", *stored("demo/one", "demo/two", "other/one")}
    assert not (result.changed or result.removed)
    record = project.record("demo/two")
    assert (record.stdout, record.stderr, record.status, record.exit_code) == ("two 2\n", "", "ok", 0)
    assert (record.host, record.snippet, record.runs.count, record.runs.agree) == ("local", "demo/two", 1, None)


def test_second_run_executes_nothing_and_says_so(project: Project, tmp_path_factory: pytest.TempPathFactory) -> None:
    """What is current is not executed again; no file is touched."""
    witness = tmp_path_factory.mktemp("witness") / "executions"
    project.snippet("demo/one", f'print("one", 1)\nopen({str(witness)!r}, "a").write("x")')
    assert project.run().code == 0
    assert witness.read_text() == "x"
    result = project.run()
    assert result.code == 0
    assert "nothing to execute" in result.out
    assert "3 current" in result.out
    assert result.untouched
    assert witness.read_text() == "x"


def test_forced_run_that_says_the_same_leaves_the_file_alone(captured: Project) -> None:
    """--force executes what is current; an equal result keeps time and bytes of the file."""
    result = captured.run("demo/one", "--force")
    assert result.code == 0
    assert "1 unchanged" in result.out
    assert result.untouched


def test_changed_source_is_captured_again_and_said(captured: Project) -> None:
    """An edited snippet is stale, is captured, and a new text is something to read: exit 1."""
    captured.snippet("demo/one", 'print("one", 10)')
    assert "stale" in captured.capture("status").out
    result = captured.run()
    assert result.code == 1
    assert set(result.changed) == stored("demo/one")
    assert "1 changed, 2 current" in result.out
    assert "demo/one" in result.out and '"one 1" -> "one 10"' in result.out
    assert captured.run().code == 0


def test_edit_that_prints_the_same_is_no_change(captured: Project) -> None:
    """A new source with the same output renews the record and is nothing to read."""
    captured.snippet("demo/one", '# a comment\nprint("one", 1)')
    result = captured.run()
    assert result.code == 0
    assert set(result.changed) == stored("demo/one")
    assert captured.run().untouched


def test_new_title_or_claim_makes_nothing_stale(captured: Project) -> None:
    """What does not change the execution does not cause one."""
    captured.snippet("demo/one", 'print("one", 1)', title="Another title", values={"number": "one (.+)"})
    result = captured.run()
    assert "nothing to execute" in result.out
    assert result.untouched


@pytest.mark.parametrize(
    ("patterns", "expected"),
    [
        ([], ["demo/one", "demo/two", "other/one"]),
        (["demo/one"], ["demo/one"]),
        (["snippets/demo/one.py"], ["demo/one"]),
        (["demo"], ["demo/one", "demo/two"]),
        (["demo/"], ["demo/one", "demo/two"]),
        (["*/one"], ["demo/one", "other/one"]),
        (["other", "demo/t*"], ["demo/two", "other/one"]),
        (["demo/one", "demo"], ["demo/one", "demo/two"]),
    ],
)
def test_selection(patterns: list[str], expected: list[str]) -> None:
    """Ids, paths, chapters and globs select, each snippet once; no pattern selects all."""
    assert sorted(plan.select(patterns, ["demo/one", "demo/two", "other/one"])) == expected


@pytest.mark.parametrize(
    ("wrong", "advice"),
    [
        ("demo/onne", 'did you mean "demo/one"?'),
        ("dmo", 'did you mean "demo"?'),
        ("snippets/other/won.py", 'did you mean "other/one"?'),
        ("x*", "known: demo, demo/one, demo/two"),
    ],
)
def test_unknown_selection_names_the_nearest(wrong: str, advice: str) -> None:
    """A mistyped id or chapter names what was meant, or what there is."""
    with pytest.raises(CaptureError) as refused:
        plan.select([wrong], ["demo/one", "demo/two"] if wrong == "x*" else ["demo/one", "demo/two", "other/one"])
    assert f'no snippet "{wrong}"' in str(refused.value)
    assert advice in str(refused.value)


def test_selection_on_the_command_line(project: Project) -> None:
    """Chapters and globs reach the plan; an unknown id is invalid usage and executes nothing."""
    assert project.run("other", "demo/t*").code == 0
    assert project.records() == ["demo/two", "other/one"]
    result = project.run("demo/one", "demo/onne")
    assert (result.code, result.untouched) == (2, True)
    assert 'did you mean "demo/one"?' in result.err


def test_dry_run_writes_nothing(project: Project) -> None:
    """--dry-run says what would be executed and why, and does not."""
    result = project.run("--dry-run")
    assert result.code == 0
    assert "would execute demo/one: not captured yet" in result.out
    assert "3 to execute" in result.out
    assert result.untouched


def test_dry_run_tells_why(captured: Project) -> None:
    """The reason of each execution stands in the plan."""
    captured.snippet("demo/one", "print(0)")
    result = captured.run("--dry-run")
    assert "would execute demo/one: source changed" in result.out
    assert "1 to execute, 2 current" in result.out


@case("store-subset-delete")
def test_subset_touches_nothing_else(case: str, captured: Project) -> None:
    """A run of one snippet changes that snippet's record at most, whatever else is stale or orphaned."""
    captured.snippet("demo/one", "print(10)")
    captured.snippet("demo/two", "print(20)")
    (captured.root / "snippets/other/one.py").unlink()
    result = captured.run("demo/one")
    assert set(result.changed) == stored("demo/one")
    assert not (result.added or result.removed)


@pytest.mark.parametrize("jobs", ["1", "4"])
def test_side_by_side_gives_the_same_records(project: Project, jobs: str) -> None:
    """-j decides how many run at once and nothing else."""
    for number in range(6):
        project.snippet(f"many/s{number}", f"print({number})")
    assert project.run("-j", jobs, "many").code == 0
    assert [project.record(f"many/s{number}").stdout for number in range(6)] == [f"{n}\n" for n in range(6)]


def test_number_of_executions(project: Project) -> None:
    """--runs N executes N times, and the record says so."""
    project.run("demo/one", "--runs", "4")
    assert project.record("demo/one").runs.count == 4


def test_snippet_that_disagrees_with_itself_is_refused(project: Project) -> None:
    """Under a label two executions that differ are not stored; the message says in what, and how to declare it."""
    project.snippet("demo/one", "import secrets\nprint('key', f'x{secrets.token_hex(9)}x')")
    result = project.run("demo/one", "--host", "desk-cpu")
    assert result.code == 1
    assert "two executions disagree" in result.out
    assert "volatile" in result.out
    assert project.records() == []


def test_varying_stderr_is_a_disagreement_too(project: Project) -> None:
    """A warning that differs between executions is not stored silently."""
    project.snippet("demo/one", "import secrets, sys\nprint('ok')\nprint(secrets.token_hex(4), file=sys.stderr)")
    result = project.run("demo/one", "--host", "desk-cpu")
    assert result.code == 1
    assert "stderr" in result.out
    assert project.records() == []


def test_declared_variation_is_stored_once(project: Project) -> None:
    """What the header calls volatile may vary: captured, and unchanged when captured again."""
    body = "import secrets\nprint('took', secrets.randbelow(10**6), 'us')"
    project.snippet("demo/one", body, compare={"volatile": [r"took \d+ us"]})
    assert project.run("demo/one").code == 0
    result = project.run("demo/one", "--force")
    assert (result.code, result.untouched) == (0, True)


def test_snippet_that_prints_nothing(project: Project) -> None:
    """Silence is a result."""
    project.snippet("demo/one", "x = 1")
    assert project.run("demo/one").code == 0
    assert project.record("demo/one").stdout == ""
    assert project.run("demo/one").untouched


def test_plain_lines_where_there_is_no_terminal(project: Project) -> None:
    """Piped output has no control sequences; one line a snippet as it ends, and a summary."""
    result = project.run()
    assert "\x1b" not in result.text and "\r" not in result.text
    assert sorted(line.split()[1] for line in result.err.splitlines()) == ["demo/one", "demo/two", "other/one"]
