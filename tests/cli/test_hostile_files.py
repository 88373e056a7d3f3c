"""Whatever lies where a file should: every command ends in bounded time with 2, names the file, and hides no other."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from harness.bundles import GOOD as GOOD_BUNDLE
from harness.bundles import LABEL, listed, members, named, tarred
from harness.handbooks import REPOSITORY, host, record
from harness.project import Project, environment

from capture.cli import app as application
from capture.exchange import bundle

PATIENCE = 60.0  # seconds after which a command counts as hanging
BAD = "docs/captures/epyc/demo/bad.yaml"
DIGITS = "7" * 10_000


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """Two snippets with their records on one host, and a third one that is plainly wrong."""
    found = Project(tmp_path / "book")
    for name in ("good", "bad"):
        found.snippet(f"demo/{name}", "print(1)")
    found.write("snippets/demo/wrong.py", "print(1)\n")
    found.keep(host())
    for name in ("good", "bad"):
        found.keep(record(f"demo/{name}", stdout="1\n"))
    return found


def check(project: Project, cache: Path | None = None, command: str = "check") -> tuple[int, str]:
    """Run a command in a process of its own, which is ended where it hangs, and return its exit code and words."""
    folder = {"CAPTURE_CACHE_DIR": str(cache)} if cache else {}
    done = subprocess.run(
        [sys.executable, "-m", "capture", "--root", str(project.root), command], cwd=REPOSITORY,
        env=environment({"PYTHONPATH": str(REPOSITORY), **folder}), capture_output=True, text=True, timeout=PATIENCE,
        stdin=subprocess.DEVNULL, check=False,
    )  # fmt: skip
    return done.returncode, done.stdout + done.stderr


NUMBERS = {
    "hex": f"0x{'f' * 10_000}",
    "decimal": DIGITS,
    "sexagesimal": "1" + ":59" * 4_000,
    "binary": "0b" + "1" * 20_000,
    "octal": "0" + "7" * 10_000,
    "underscores": "1_0" * 5_000,
    "float": f"{DIGITS}.5e{DIGITS}",
    "just too large": str(2**64),
    "negative": f"-{2**70}",
    "date": "2026-11-29 25:61:61",
}


@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.parametrize(("path", "key"), [(BAD, "exit_code: "), ("docs/captures/epyc/host.yaml", "memory_gib: ")])
def test_numbers_of_any_length(project: Project, number: str, path: str, key: str) -> None:
    """In a record and in a host: refused at the line, and what else is wrong is told beside it."""
    text = project.read(path)
    line = next(line for line in text.splitlines() if line.startswith(key))
    project.write(path, text.replace(line, key + NUMBERS[number]))
    result = project.capture("check", "--records-only")
    assert result.code == 2
    assert f"{path}:" in result.text and "snippets/demo/wrong.py:2: no header" in result.text
    assert DIGITS not in result.text and "Traceback" not in result.text


@pytest.mark.parametrize("key", ["timeout", "exit", "timing", "title"])
@pytest.mark.parametrize("number", ["0x" + "f" * 10_000, DIGITS, "0b" + "1" * 20_000, "0o" + "7" * 9_000, str(2**64)])
def test_numbers_in_a_header(project: Project, key: str, number: str) -> None:
    """TOML knows 64 bits; a longer number is a problem of the header, and of no other file."""
    text = project.read("snippets/demo/bad.py").replace("# [tool.capture]\n", f"# [tool.capture]\n# {key} = {number}\n")
    text = text.replace('# title = "bad"\n', "") if key == "title" else text
    project.write("snippets/demo/bad.py", text)
    result = project.capture("check", "--records-only")
    assert result.code == 2 and "Traceback" not in result.text
    assert "snippets/demo/bad.py:" in result.text and "snippets/demo/wrong.py:2: no header" in result.text


ODD = {
    "deep lists": "x = " + "[" * 3_000,
    "deep tables": "x" + ".x" * 3_000 + " = 1",
    "infinite": "timeout = inf",
    "no number": "timeout = nan",
    "a day": "timeout = 1979-05-27",
    "a table": "timeout = { a = 1 }",
    "needs": "needs = [[[]]]",
    "env": 'env = { A = "\\u0000" }',
    "files": 'files = ["a\\u0000b"]',
    "preload": "preload = [{}]",
    "values": "values = [1]",
    "compare": "compare = { ratio = { a = 1e400 } }",
    "claims": "claims = { a = { says = 1, holds = [], where = inf } }",
    "upstream": "upstream = [1.5]",
}


@pytest.mark.parametrize("line", ODD)
def test_odd_headers(project: Project, line: str) -> None:
    """What TOML can say and no header means is a problem at its line."""
    text = project.read("snippets/demo/bad.py").replace("# [tool.capture]\n", f"# [tool.capture]\n# {ODD[line]}\n")
    project.write("snippets/demo/bad.py", text)
    result = project.capture("check", "--records-only")
    assert result.code == 2 and "Traceback" not in result.text
    assert "snippets/demo/bad.py:" in result.text and "snippets/demo/wrong.py:2: no header" in result.text


def hole(path: Path) -> None:
    """Make a file of a terabyte that takes no room."""
    with path.open("wb") as file:
        file.truncate(1 << 40)


def listening(path: Path) -> None:
    """Leave a socket behind; its path may be short only."""
    here = Path.cwd()
    os.chdir(path.parent)
    try:
        with contextlib.closing(socket.socket(socket.AF_UNIX)) as made:
            made.bind(path.name)
    finally:
        os.chdir(here)


THINGS: dict[str, Callable[[Path], object]] = {
    "pipe": os.mkfifo if os.name == "posix" else hole,
    "socket": listening,
    "zeros": lambda path: path.symlink_to("/dev/zero"),
    "hole": hole,
}
PLACES = (
    BAD, "docs/captures/epyc/host.yaml", "snippets/demo/bad.py", "docs/schema/record.json",
)  # fmt: skip


@pytest.mark.skipif(os.name != "posix", reason="pipes, sockets and devices")
@pytest.mark.parametrize("thing", THINGS)
@pytest.mark.parametrize("place", PLACES)
def test_what_is_no_file(project: Project, place: str, thing: str) -> None:
    """A pipe, a socket, a device or a hole of a terabyte in the place of a file is told, and nothing waits for it."""
    path = project.root / place
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    THINGS[thing](path)
    code, said = check(project, command="check")
    assert code == 2 and "Traceback" not in said
    assert f"{place}: " in said and "snippets/demo/wrong.py:2: no header" in said
    assert check(project, command="status")[0] in (0, 1, 2)


@pytest.mark.skipif(os.name != "posix", reason="pipes, sockets and devices")
@pytest.mark.parametrize("thing", [*THINGS, "noise", "folder"])
def test_what_is_no_cache(project: Project, tmp_path: Path, thing: str) -> None:
    """Whatever stands in the place of a cache's file, commands find what they find without one."""
    (project.root / "snippets/demo/wrong.py").unlink()
    cache = tmp_path / "cache"
    code, said = check(project, cache)
    files = [path for path in cache.rglob("*") if path.is_file()]
    assert code == 0 and files
    for path in files:
        path.unlink()
        if thing == "noise":
            path.write_bytes(os.urandom(5_000))
        elif thing == "folder":
            path.mkdir()
        else:
            THINGS[thing](path)
    assert check(project, cache) == (code, said)


@pytest.mark.parametrize("field", ["tool", "files", "host"])
@pytest.mark.parametrize("half", ["\\ud800", "\\udfff"])
def test_half_a_character_in_a_bundle(project: Project, tmp_path: Path, field: str, half: str) -> None:
    """JSON can write it and no file can: the bundle is refused, and nothing is stored."""
    value = {"files": {json.loads(f'"{half}"'): "0" * 64}}.get(field, json.loads(f'"{half}"'))
    parts = listed(members(GOOD_BUNDLE))
    manifest = {"schema": 1, "tool": "0.1.0", "host": LABEL, "files": {}} | {field: value}
    data = json.dumps(manifest).encode()
    file = project.write("bundle.tar.gz", "")
    file.write_bytes(tarred([(named(bundle.MANIFEST, data), data), *parts[1:]]))
    result = project.capture("import", str(file))
    assert (result.code, result.untouched) == (2, True)
    assert "bundle.tar.gz: " in result.err and "Traceback" not in result.err


def test_half_a_character_in_a_record(project: Project) -> None:
    """A record cannot hold what no file can."""
    project.write(BAD, project.read(BAD).replace("signal", "").replace("stdout: |\n  1\n", 'stdout: "\\uD800"\n'))
    result = project.capture("check", "--records-only")
    assert result.code == 2 and f"{BAD}:" in result.text and "Traceback" not in result.text


def test_nested_without_end(project: Project) -> None:
    """It is refused before it takes the memory."""
    project.write(BAD, "[" * 500_000)
    result = project.capture("check", "--records-only")
    assert result.code == 2 and f"{BAD}:" in result.text and "wrong.py:2: no header" in result.text


@pytest.mark.skipif(os.name != "posix", reason="names of Linux and macOS")
def test_names_that_begin_a_line(project: Project) -> None:
    """A name with a line end begins no line of its own, in which a reader of logs would see a command."""
    project.write("docs/captures/epyc/demo/x\n::error::y.txt", "")
    result = project.capture("check", "--records-only")
    assert result.code == 2
    assert not [line for line in result.text.splitlines() if line.startswith("::")]
    assert r"docs/captures/epyc/demo/x\n::error::y.txt: is no record" in result.text


@pytest.mark.parametrize("error", [ZeroDivisionError, RecursionError, MemoryError, AssertionError, UnicodeError])
def test_what_nobody_foresaw(
    project: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], error: type[Exception]
) -> None:
    """Exit 2 and one line: what happened, where, and how to report it; never what it was about, nor a traceback."""

    def fail() -> None:
        raise error("hf_secret")

    monkeypatch.setattr(application, "app", fail)
    monkeypatch.setattr(application.signal, "signal", lambda *_: None)  # the handlers of the tests stay
    for shown in ("", "1"):
        monkeypatch.setenv(application.TRACEBACK, shown)
        with pytest.raises(SystemExit) as end:
            application.main()
        said = capsys.readouterr().err
        assert end.value.code == 2
        assert said.splitlines()[-1].startswith(f"{error.__name__} in app.py, line ")
        assert "a fault of this tool" in said and f"set {application.TRACEBACK}=1" in said
        assert ("Traceback" in said, "hf_secret" in said) == (bool(shown), bool(shown))
        assert shown or said.count("\n") == 1
