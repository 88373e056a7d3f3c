"""Errors say where, what and what to do; a misspelled name is answered with the nearest one."""

from __future__ import annotations

import pytest

from capture.errors import CaptureError, HostBroken, HostRefused, PrivacyRefused, Problem, suggestion


@pytest.mark.parametrize(
    ("name", "known", "said"),
    [
        ("bf16_liner", ["bf16_linear", "other"], '; did you mean "bf16_linear"?'),
        ("zzz", ["b", "a", "a"], "; known: a, b"),
        ("zzz", [f"name{number:02}" for number in range(15)], None),
        ("zzz", [], ""),
    ],
)
def test_the_nearest_name_is_suggested(name: str, known: list[str], said: str | None) -> None:
    """Or a few known ones, or nothing where there are none."""
    found = suggestion(name, known)
    assert found == (f"; known: {', '.join(known[:12])} and 3 more" if said is None else said)


def test_a_problem_reads_as_path_and_line() -> None:
    """Editors and CI make a link of it; where no line applies none is shown."""
    assert str(Problem("a.yaml", 3, "is wrong")) == "a.yaml:3: is wrong"
    assert str(Problem("a.yaml", 0, "is wrong")) == "a.yaml: is wrong"


def test_problems_are_sorted_by_place() -> None:
    """Line 10 comes after line 9."""
    found = [Problem("b", 1, "x"), Problem("a", 10, "x"), Problem("a", 9, "y")]
    assert [(item.path, item.line) for item in sorted(found)] == [("a", 9), ("a", 10), ("b", 1)]


def test_an_error_carries_its_problems_and_its_exit_code() -> None:
    """2 for invalid usage or data, 3 refused for privacy; the text has one problem a line."""
    error = CaptureError(Problem("a", 1, "x"), "y")
    assert (str(error), error.exit_code) == ("a:1: x\ny", 2)
    assert PrivacyRefused("x").exit_code == 3
    assert HostRefused("x").exit_code == HostBroken("x").exit_code == 2
