"""The bank of cases: each has a test or a reason, and the table tells the truth about both."""

from __future__ import annotations

from pathlib import Path

import pytest
from cases import table
from cases.table import Case

CASES = table.read_cases()
TESTS = table.read_tests(Path(__file__).parents[1], CASES)


def test_the_table_is_what_the_generator_writes() -> None:
    """The committed table names the tests as they are; write it anew with `python tests/cases/table.py`."""
    assert table.TABLE.read_text("utf-8") == table.generate()


@pytest.mark.parametrize("name", CASES)
def test_a_case_has_a_test_or_a_reason(name: str) -> None:
    """A case that no test carries says why it is left for later."""
    assert TESTS[name] or CASES[name].later


def test_the_bank_is_whole() -> None:
    """106 reported faults of seven kinds, each told in its own words; what is faked is at least tested."""
    assert len(CASES) == 106
    kinds = {"execution", "compare", "storage", "privacy", "host", "render", "site"}
    assert {case.kind for case in CASES.values()} == kinds
    assert len({case.fault for case in CASES.values()}) == len(CASES)
    assert all(TESTS[name] for name, case in CASES.items() if case.faked)


@pytest.mark.parametrize(
    "text",
    [
        '@case("a-b")\ndef test_x(): pass',
        '@pytest.mark.parametrize("n", [pytest.param(1, id="a-b")])\ndef test_x(): pass',
        '@pytest.mark.parametrize("n", [1], ids=["a-b"])\ndef test_x(): pass',
        'ROWS = {"a-b": 1}\n@pytest.mark.parametrize("n", rows(ROWS))\ndef test_x(): pass',
        'ROWS: dict = {"a-b": 1}\n@pytest.mark.parametrize("n", ROWS.values(), ids=ROWS)\ndef test_x(): pass',
        'def test_x():\n    """a-b: it works."""',
    ],
)
def test_an_id_is_found_wherever_a_test_carries_it(tmp_path: Path, text: str) -> None:
    """In a decorator, in a table that the decorator names, or at the start of the docstring."""
    (tmp_path / "test_m.py").write_text(text)
    assert table.read_tests(tmp_path, {"a-b": Case("host", "x")}) == {"a-b": ["test_m.py::test_x"]}


@pytest.mark.parametrize(
    "text",
    [
        '@case("a-b-c")\ndef test_x(): pass',
        'def test_x():\n    assert "a-b"',
        'def test_x():\n    """It works like a-b: well."""',
        '@case("a-b")\ndef helper(): pass',
        'ROWS = {"a-b": 1}\ndef test_x(): pass',
        '# a-b\n@pytest.mark.parametrize("n", [1])\ndef test_x(n): pass',
    ],
)
def test_what_only_mentions_an_id_does_not_count(tmp_path: Path, text: str) -> None:
    """A longer id, a text in the body, a comment, a helper or an unused table proves nothing."""
    (tmp_path / "test_m.py").write_text(text)
    assert table.read_tests(tmp_path, {"a-b": Case("host", "x")}) == {"a-b": []}


def test_the_state_tells_what_is_faked_and_what_is_left() -> None:
    """Each state in words, also of a case that is covered in part."""
    assert Case("host", "x").state(tested=True) == "tested"
    assert Case("host", "x", faked="a script").state(tested=True) == "faked: a script"
    assert Case("site", "x", later="no page moved").state(tested=False) == "later: no page moved"
    assert Case("compare", "x", "", "reasons").state(tested=True) == "tested; later: reasons"
