"""Names that not every platform can check out are refused wherever a name is given."""

from __future__ import annotations

from pathlib import Path

import pytest
from harness.headers import problems, with_line
from harness.project import Project

from capture.snippet.portable_names import LONGEST, why_not_portable

DEVICES = ("aux", "CON", "nul.tar.gz", "Com1.csv", "lpt9", "prn .txt", "com²", "CONIN$", "sub/aux.d/data.csv")
ORDINARY = ("data.csv", "auxiliary", "console.py", "com10", "com", "nully.txt", "a.aux", "lpt", ".hidden", "a b.txt")


@pytest.mark.parametrize("name", DEVICES)
def test_devices_of_windows(name: str) -> None:
    """name-not-portable: a device's name is refused in any spelling, with any extension, as any part of a path."""
    assert "is a device" in why_not_portable(name)


@pytest.mark.parametrize("name", ["data.", "data ", "folder./data.csv", "a:b", "what?", "x\0y", "tab\t", 'quo"te'])
def test_ends_and_characters(name: str) -> None:
    """name-not-portable: neither a dot nor a blank ends a name, and no character is one that Windows forbids."""
    assert why_not_portable(name).startswith("cannot be checked out on Windows")


@pytest.mark.parametrize("name", [*ORDINARY, "x" * LONGEST])
def test_ordinary_names_stay(name: str) -> None:
    """What only resembles a device's name is a good name."""
    assert why_not_portable(name) == ""


@pytest.mark.parametrize("label", ["aux", "con", "nul", "com1", "lpt3.x", "h200."])
def test_labels(tmp_path: Path, label: str) -> None:
    """name-not-portable: no host is written, and the reason is given."""
    result = Project(tmp_path).capture("host", "init", label)
    assert (result.code, result.untouched) == (2, True)
    assert f'host label "{label}" cannot be checked out on Windows' in result.err


@pytest.mark.parametrize("name", ["io/aux", "nul/case", "demo/com7"])
def test_new_snippets(tmp_path: Path, name: str) -> None:
    """name-not-portable: neither a chapter nor a snippet gets a device's name."""
    result = Project(tmp_path).capture("new", name)
    assert (result.code, result.untouched) == (2, True)
    assert "is a device; choose another name" in result.err


def test_long_names(tmp_path: Path) -> None:
    """The reason is the length, not the disk, and the name is not printed whole."""
    result = Project(tmp_path).capture("new", f"demo/{'a' * 240}")
    assert (result.code, result.untouched) == (2, True)
    assert f"is too long: 240 characters, where {LONGEST} are the most" in result.err
    assert "a" * (LONGEST + 1) not in result.err


def test_snippets_that_are_there(tmp_path: Path) -> None:
    """name-not-portable: a snippet that somebody else added under such a name is a problem of check."""
    project = Project(tmp_path)
    project.snippet("demo/aux", "print(1)")
    result = project.capture("check")
    assert result.code == 2
    assert 'snippets/demo/aux.py: cannot be checked out on Windows, where "aux" is a device' in result.text


@pytest.mark.parametrize("name", ["NUL.csv", "data.", r"x\u0000y", "b" * 240])
def test_declared_files(tmp_path: Path, name: str) -> None:
    """name-not-portable: a declared file is refused before it is looked for."""
    (found,) = problems(tmp_path, with_line(f'files = ["{name}"]'))
    assert "Windows" in found or "is too long: 240 characters" in found
    assert "no file" not in found
