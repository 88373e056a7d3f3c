"""`capture run` and the files it works on: faulty headers, damaged records, line ends, helpers beside a snippet."""

from __future__ import annotations

from pathlib import Path

import pytest
from harness.project import Project


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A handbook of two snippets, nothing captured."""
    found = Project(tmp_path)
    found.snippet("demo/one", 'print("one", 1)')
    found.snippet("demo/two", 'print("two", 2)')
    return found


def test_faulty_header_stops_only_itself(project: Project) -> None:
    """One snippet without a header: its place is named, the exit code is 2, the others are captured."""
    project.write("snippets/demo/two.py", 'print("two")\n')
    result = project.run("demo")
    assert result.code == 2
    assert "snippets/demo/two.py:2: no header" in result.err
    assert project.records() == ["demo/one"]
    assert project.run("demo/two").code == 2


def test_faulty_header_elsewhere_does_no_harm(project: Project) -> None:
    """What was not asked for is not complained about."""
    project.write("snippets/demo/two.py", 'print("two")\n')
    result = project.run("demo/one")
    assert (result.code, "demo/two" in result.text) == (0, False)


def test_damaged_record_is_named_and_mended(project: Project) -> None:
    """A conflict marker in a record is named with its line, and a run replaces the record."""
    project.run("demo/one")
    path = "docs/captures/local/demo/one.yaml"
    project.write(path, project.read(path).replace("stdout: |\n", "stdout: |\n<<<<<<< ours\n"))
    result = project.run("demo/one")
    assert f"{path}:" in result.err and "conflict marker" in result.err
    assert result.code == 0
    assert project.record("demo/one").stdout == "one 1\n"


def test_source_is_read_with_any_line_ends(project: Project) -> None:
    """A checkout with CRLF line ends has the same digest: nothing is stale."""
    project.run()
    path = "snippets/demo/one.py"
    project.write(path, project.read(path).replace("\n", "\r\n"))
    assert "nothing to execute" in project.run().out


def test_helper_beside_the_snippet_counts(project: Project) -> None:
    """A file that the snippet imports is there when it runs, and makes the record stale when it changes."""
    project.write("snippets/demo/helper.py", "def size():\n    return 4\n")
    project.snippet("demo/one", "from helper import size\nprint(size())")
    assert project.run("demo/one").code == 0
    project.write("snippets/demo/helper.py", "def size():\n    return 5\n")
    result = project.run("demo/one")
    assert '"4" -> "5"' in result.out
    assert project.records() == ["demo/one"]
