"""The command line as a whole: help, errors, where it works; the commands about this machine."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
import typer
from harness.handbooks import REPOSITORY
from harness.project import PATIENCE, Project, environment, rows
from typer.testing import CliRunner

import capture
from capture.cli.app import app, main


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A handbook of one snippet."""
    found = Project(tmp_path / "book")
    found.snippet("demo/case", "print(1)")
    return found


def commands() -> list[str]:
    """Return every command and subcommand that the application has."""

    def below(group: object, prefix: str) -> list[str]:
        found = []
        for name, command in getattr(group, "commands", {}).items():
            found += [f"{prefix}{name}", *below(command, f"{prefix}{name} ")]
        return found

    return below(typer.main.get_command(app), "")


def test_all_commands_are_known() -> None:
    """The list by which the tests below go is not empty, and holds what the design promises."""
    promised = {"run", "verify", "check", "status", "show", "new", "prune", "host show", "host init", "host doctor"}
    assert promised <= set(commands())


@pytest.mark.parametrize("command", ["", *commands()])
def test_help(command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every command explains itself anywhere, each option with it; nothing needs a handbook for that."""
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(app, [*command.split(), "--help"], prog_name="capture")
    assert result.exit_code == 0
    assert f"Usage: capture {command}".rstrip() in result.output
    options = re.findall(r"^  (?:-\w, )?(--[\w-]+)(.*(?:\n {6,}.*)*)", result.output, re.MULTILINE)
    assert options
    assert not [name for name, text in options if not re.search(r"\s{2}\S", text)]


def test_version(project: Project) -> None:
    """--version prints the version and nothing else."""
    result = project.capture("--version")
    assert (result.code, result.out, result.err) == (0, f"{capture.__version__}\n", "")


def test_without_a_command_the_help_is_shown(project: Project) -> None:
    """Somebody who types only the name learns what there is."""
    assert "status" in project.capture().text


@pytest.mark.parametrize("arguments", ["rnu", "run --forec", "run -j 0", "run --runs x", "show", "host init"])
def test_invalid_usage(project: Project, arguments: str) -> None:
    """Mistyped commands, options and numbers are exit 2, with the usage and without a traceback."""
    result = project.capture(*arguments.split())
    assert (result.code, result.untouched) == (2, True)
    assert "Usage:" in result.err and "Traceback" not in result.err


@pytest.mark.parametrize(
    "command",
    [
        "run",
        "verify",
        "status",
        "check",
        "prune",
        "new a/b",
        "schema",
        "show a/b",
        "bundle --host a",
        "import b",
        "export",
    ],
)
def test_no_handbook_here(
    tmp_path: Path, command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Outside a handbook every command says what makes one and how to name one; nothing is written."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["capture", *command.split()])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    said = capsys.readouterr().err
    assert "no handbook here" in said and "--root DIR" in said
    assert list(tmp_path.iterdir()) == []


def test_works_from_below_and_from_outside(project: Project, tmp_path: Path) -> None:
    """The nearest folder upward is the handbook; --root names one from anywhere."""
    assert project.run(cwd=project.root / "snippets" / "demo").code == 0
    outside = project.capture("--root", "book", "status", cwd=tmp_path)
    assert (outside.code, "demo/case" in outside.out) == (0, True)
    missing = project.capture("--root", "nowhere", "status")
    assert (missing.code, missing.err) == (2, "--root nowhere: no such folder\n")


def test_closed_pipe_is_no_crash(project: Project) -> None:
    """`capture schema | head -0` ends without a traceback."""
    with project.start("host", "show", "--python", project.python) as process:
        assert process.stdout is not None and process.stderr is not None
        process.stdout.close()
        said = process.stderr.read()
        process.wait(PATIENCE)
    assert "Traceback" not in said and "Exception ignored" not in said


def test_odd_characters_are_printed_in_any_locale(project: Project) -> None:
    """A title or an error beyond ASCII does not end a command where the locale is C."""
    project.snippet("demo/case", "print('流 → ✓')", title="流")
    result = project.run(env={"LC_ALL": "C", "LANG": "C", "PYTHONIOENCODING": "ascii"})
    assert result.code == 0
    shown = project.capture("show", "demo/case", env={"LC_ALL": "C", "PYTHONIOENCODING": "ascii"})
    assert "流 → ✓" in shown.out


ABSENT = """
import os, signal, sys
import psutil
for name in ("killpg", "getsid", "setsid", "fork", "getpgid", "sched_getaffinity", "getloadavg", "waitid"):
    if hasattr(os, name):
        delattr(os, name)
for name in ("SIGKILL", "SIGHUP", "SIGCHLD", "SIGALRM"):
    if hasattr(signal, name):
        delattr(signal, name)
for name in ("resource", "fcntl", "pwd", "grp", "termios", "tty", "pty", "readline"):
    sys.modules[name] = None
import pkgutil, importlib, capture
for module in pkgutil.walk_packages(capture.__path__, "capture."):
    if module.name not in ("capture.__main__", "capture.run.engine.fork_server") and ".site" not in module.name:
        importlib.import_module(module.name)
"""


def test_imports_without_what_windows_lacks() -> None:
    """Every module can be imported where POSIX processes, signals and modules are missing."""
    result = subprocess.run(
        [sys.executable, "-c", ABSENT],
        env=environment({}), capture_output=True, text=True, timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert result.returncode == 0, result.stderr


def test_schema_is_written_once(tmp_path: Path) -> None:
    """The schemas are generated into the handbook; a second time nothing changes."""
    project = Project(tmp_path)
    assert project.capture("schema").added == tuple(
        f"docs/schema/{name}.json" for name in ("bundle", "dataset", "host", "record", "verification")
    )
    again = project.capture("schema")
    assert (again.code, again.untouched) == (0, True)
    assert json.loads(project.read("docs/schema/record.json"))["properties"]["stdout"] == {"type": "string"}


def test_host_show_gives_sources_and_reasons(tmp_path: Path) -> None:
    """Every fact with where it comes from, every null with why; nothing is written."""
    project = Project(tmp_path)
    result = project.capture("host", "show", "--python", project.python)
    assert (result.code, result.untouched) == (0, True)
    facts = rows(result.out)
    assert {"title", "cpu.vendor", "cpu.count", "memory_gib", "fingerprint", "chip", "gates"} <= set(facts)
    assert facts["torch"] == ["null", "(no value: not installed)"]
    nulls = [name for name, cells in facts.items() if cells[:1] == ["null"]]
    assert all("no value: " in facts[name][1] for name in nulls)
    assert "True" not in result.out and "None" not in result.out


def test_host_doctor_names_problem_and_remedy(tmp_path: Path) -> None:
    """What could not be found out is listed with what would make it known: exit 1."""
    project = Project(tmp_path)
    result = project.capture("host", "doctor", "--python", project.python)
    assert result.code == 1
    assert re.search(r"^torch: not installed; pip install torch", result.out, re.MULTILINE)


def test_host_init_writes_facts_under_a_label(tmp_path: Path) -> None:
    """The file is written once, and the next command is named."""
    project = Project(tmp_path)
    init = ("host", "init", "desk-cpu", "--python", project.python)
    result = project.capture(*init)
    assert (result.code, result.added) == (0, ("docs/captures/desk-cpu/host.yaml",))
    assert "capture run --host desk-cpu" in result.out
    assert project.capture(*init).untouched


@pytest.mark.parametrize("label", ["Desk", "", "-x", "a/b"])
def test_label_has_a_form(tmp_path: Path, label: str) -> None:
    """A label that could not be a folder everywhere is invalid usage, for `init` as for `run`."""
    project = Project(tmp_path)
    project.snippet("demo/case", "print(1)")
    assert project.capture("host", "init", "--python", project.python, "--", label).code == 2
    result = project.run(f"--host={label}")
    assert (result.code, result.untouched) == (2, True)


@pytest.mark.parametrize("command", [name for name in commands() if name != "host"])
def test_every_command_is_in_the_readme(command: str) -> None:
    """The README's table has a row for each command; one that is added without a word there fails here."""
    assert re.search(rf"^\| `capture {command}[ `]", (REPOSITORY / "README.md").read_text("utf-8"), re.MULTILINE)


@pytest.mark.parametrize("command", ["", *commands()])
def test_every_option_is_in_the_readme(command: str) -> None:
    """The README's second table has each option that the help of a command names, and for which command it is."""
    shown = CliRunner().invoke(app, [*command.split(), "--help"], prog_name="capture").output
    rows = [line for line in (REPOSITORY / "README.md").read_text("utf-8").splitlines() if line.startswith("| `-")]
    for option in set(re.findall(r"^  (?:-\w, )?(--[a-z-]+)", shown, re.MULTILINE)) - {"--help"}:
        (row,) = [line for line in rows if re.search(rf"`(?:-\w N`, `)?{option}[ `]", line)]
        assert (f"`{command}`" if command else "`capture`") in row


def test_a_command_imports_itself_alone() -> None:
    """What a check does not use is not imported for it: neither the runner nor the fleet."""
    script = "import sys, capture.cli.commands as found; found.load_command('check'); print(*sys.modules)"
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.split()
    assert "capture.cli.check" in found
    assert not {
        "capture.cli.run",
        "capture.run.runner",
        "capture.run.fleet.fleet_run",
        "capture.check.rules",
        "rich",
        "psutil",
    } & set(found)


@pytest.mark.parametrize("closed", ["2>&-", ">&-", ">&- 2>&-"])
def test_a_stream_that_is_closed_harms_nobody(tmp_path: Path, closed: str) -> None:
    """Whoever closes a stream does not want to hear; the exit code tells, and nothing is said on the other one."""
    project = Project(tmp_path)
    project.snippet("a/one", 'print("1")')
    for command, code in (("check", 0), ("show no/such", 2)):
        script = f"{sys.executable} -m capture {command} {closed}"
        found = subprocess.run(["sh", "-c", script], cwd=project.root, capture_output=True, text=True, check=False)
        assert (found.returncode, "no/such" in found.stdout) == (code, False), found
