"""`capture run` stores nothing secret or personal: refused with exit code 3, and the value is shown nowhere."""

from __future__ import annotations

import getpass
import platform
from pathlib import Path

import pytest
from harness.project import Project

TOKEN = "hf_" + "Z" * 34  # made up


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """An empty handbook."""
    return Project(tmp_path)


@pytest.mark.parametrize(
    ("body", "place"),
    [
        (f"print('fine')\nprint('using token', 'hf_' + 'Z' * {34})", "stdout:2: holds a Hugging Face token"),
        ("print('prefix', ('hf_' + 'Z' * 34)[:9] + '...')", "stdout:1: holds a Hugging Face token"),
        ("import sys\nprint('hf_' + 'Z' * 34, file=sys.stderr)", "stderr:1: holds a Hugging Face token"),
        ("print('link/ether 52:54:00:12:34:56')", "stdout:1: holds a MAC address"),
        ("print('/ho' + 'me/somebody/data')", "stdout:1: holds a home folder"),
        ("print(repr('C:' + chr(92) + 'Users' + chr(92) + 'somebody'))", "stdout:1: holds a home folder"),
        ("raise RuntimeError('hf_' + 'Z' * 34)", "stderr:"),
    ],
)
def test_secret_in_the_output_is_refused(project: Project, body: str, place: str) -> None:
    """priv-token: nothing is written, rule and line are named, the value is not echoed, the advice is to revoke."""
    project.snippet("demo/case", body)
    project.snippet("demo/plain", "print('plain')")
    result = project.run()
    assert result.code == 3
    assert place in result.out
    assert project.records() == ["demo/plain"]
    stored = b"".join(content for path, (_, content) in project.state().items() if "captures" in path)
    for value in (TOKEN, TOKEN[:9], "52:54", "somebody"):
        assert value not in result.text
        assert value.encode() not in stored


def test_a_disagreement_quotes_nothing_private(project: Project) -> None:
    """What differs between two executions is refused before it is searched: the reason must not show it either."""
    project.snippet("demo/key", "import random\nprint('hf_' + 'Z' * 34, random.random())")
    project.snippet("demo/name", "import random\nprint('by ' + 'zelda' + 'q', random.random())")
    result = project.run("--host", "desk-cpu", env={"LOGNAME": "zeldaq", "USER": "zeldaq"})
    assert "two executions disagree" in result.text
    assert not any(value in result.text for value in (TOKEN[:9], "zeldaq"))


def test_refusal_keeps_the_old_record(project: Project) -> None:
    """A result that may not be stored does not cost the one that is there; nothing else can accept it."""
    project.snippet("demo/case", "print('plain')")
    project.run()
    project.snippet("demo/case", "print('hf_' + 'Z' * 34)")
    result = project.run("--accept-failure", "--accept-noise", "--force")
    assert (result.code, result.untouched) == (3, True)


def test_names_of_user_and_node_are_refused(project: Project) -> None:
    """A user name found as a whole word is refused; it is a fact of this machine, not of the result."""
    project.snippet("demo/case", "print('run by ' + 'zelda' + 'q')")
    result = project.run(env={"LOGNAME": "zeldaq", "USER": "zeldaq"})
    assert result.code == 3
    assert "holds the node or user name of this machine" in result.out
    assert "zeldaq" not in result.text
    project.snippet("demo/case", "print('zelda' + 'quest')")
    assert project.run(env={"LOGNAME": "zeldaq", "USER": "zeldaq"}).code == 0


def test_common_names_are_no_secret(project: Project) -> None:
    """A container's user, `root` or `ubuntu`, may be printed."""
    project.snippet("demo/case", "print('ubuntu root runner')")
    assert project.run(env={"LOGNAME": "ubuntu", "USER": "ubuntu"}).code == 0


def test_what_identifies_the_machine_is_not_stored(project: Project) -> None:
    """priv-node: records and host facts hold no node name, no user of five letters, no path of this machine."""
    project.snippet("demo/case", "import warnings\nwarnings.warn('careful')\nprint(__file__)")
    project.run("--host", "desk-cpu")
    stored = project.read("docs/captures/desk-cpu/host.yaml") + project.read("docs/captures/desk-cpu/demo/case.yaml")
    personal = [platform.node(), getpass.getuser(), str(project.root), str(Path(project.python).parent)]
    assert not [value for value in personal if len(value) > 4 and value != "localhost" and value in stored]
    assert "case.py" in stored and "/tmp" not in stored


HOME_FORMS = """
home = os.environ["REAL_HOME"]
print("cache in", home + "/.cache/demo")
print(repr(home).replace("/", chr(92) * 2))
print("file://" + home + "/a%20b")
print(home.upper() + "/x")
"""


def test_home_folder_is_rewritten_in_every_spelling(project: Project, tmp_path: Path) -> None:
    """priv-home: plain, escaped, in an address, in another case: `~` is stored, and the rule is named."""
    home = tmp_path / "homes" / "somebody"
    home.mkdir(parents=True)
    forms = HOME_FORMS.replace('os.environ["REAL_HOME"]', repr(str(home)))
    project.snippet("demo/case", forms)
    result = project.run(env={"HOME": str(home), "USERPROFILE": str(home)})
    assert result.code == 0, result.text
    item = project.record("demo/case")
    assert item.stdout.splitlines()[0] == "cache in ~/.cache/demo"
    assert "somebody" not in item.stdout.lower()
    assert "home-path" in item.normalized
