"""Versions and ranges of them: what a header may ask, and what an installed build satisfies."""

from __future__ import annotations

import itertools

import pytest
from harness.properties import EXAMPLES
from hypothesis import given
from hypothesis import strategies as st
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import InvalidVersion, Version

from capture.version_numbers import is_range, parse_version, public_version, satisfies, without_local

RELEASES = ("1", "1.7", "1.7.0", "1.7.1", "2.13.0", "2.2", "10.0", "0.9", "1!1.7")
SUFFIXES = ("", "a1", "rc2", ".dev3", "rc1.dev2", ".post1", ".post1.dev1", "rc1.post2", "-1", "a")
LOCALS = ("", "+cpu", "+cu130", "+1.2", "+rocm6.4")
OPERATORS = ("==", "!=", "<=", ">=", "<", ">", "~=")
SPELLINGS = (
    "v2.13", "V2.13", " 2.13 ", "2.13.ALPHA-1", "2.13_beta2", "2.13-preview.3", "2.13c1", "2.13.post", "2.13-r4",
    "2.13rev5", "2.13.DEV", "2.13-dev_7", "2.13+CPU", "2.13+cpu_1-x", "2!2.13", "00.007",
)  # fmt: skip
NO_VERSIONS = (
    "", "two", "2.", ".2", "2..3", "2.13+", "2.13+cpu!", "2.13-cpu", "2.13.x", "2,13", "2.13 3", "-1", "2.13+\u212a",
    "\u0662.13", "2.13\n3", "1.0.dev1.post1", "9" * 6000,
)  # fmt: skip


def test_versions_order_as_numbers() -> None:
    """Not as text: 2.13 is newer than 2.2, its pre-releases older than it, a local suffix newer."""
    texts = ["2.2", "2.9.1", "2.13.0.dev3", "2.13.0a1", "2.13.0rc2", "2.13", "2.13+cpu", "2.13.post1", "10.0", "1!1.7"]
    parsed = [version for text in texts if (version := parse_version(text))]
    assert len(parsed) == len(texts)
    assert all(one < other for one, other in itertools.pairwise(parsed))


@pytest.mark.parametrize("operator", OPERATORS)
def test_a_clause_holds_for_installed_versions_of_any_form(operator: str) -> None:
    """Pre-releases count as they are; what cannot be read as a clause is no range."""
    wanted = [a + b for a, b in itertools.product(RELEASES[:6], [*SUFFIXES, ".*", "a1.*", ".post1.*", "+cpu"])]
    installed = [a + b + c for a, b, c in itertools.product(RELEASES[:6], SUFFIXES, LOCALS[:2])]
    for clause in (operator + text for text in wanted):
        try:
            library = SpecifierSet(clause)
        except InvalidSpecifier:
            assert not is_range(clause)
            continue
        assert is_range(clause)
        wrong = [text for text in installed if satisfies(text, clause) != library.contains(text, prereleases=True)]
        assert (clause, wrong) == (clause, [])


@EXAMPLES
@given(st.text("0123456789.!+-_abcdeprtvw \u0661\u212a", max_size=12))
def test_any_text_is_a_version_or_none(text: str) -> None:
    """Near misses (a stray separator, digits of another script) are none, and raise nothing."""
    try:
        expected: Version | None = Version(text)
    except InvalidVersion:
        expected = None
    assert parse_version(text) == expected


@EXAMPLES
@given(st.text(max_size=30) | st.text("0123456789.*+<>=!~, ", max_size=12))
def test_any_text_is_a_range_or_none(text: str) -> None:
    """Whatever stands in a header, the question is answered and nothing raised."""
    assert is_range(text) in (True, False)


@pytest.mark.parametrize("text", SPELLINGS)
def test_every_allowed_spelling_is_the_same_version(text: str) -> None:
    """A spelling that PEP 440 normalises away changes nothing."""
    version = parse_version(text)
    assert version is not None
    assert version == parse_version(str(version))


@pytest.mark.parametrize("text", NO_VERSIONS)
def test_what_is_no_version_is_refused(text: str) -> None:
    """Neither a traceback nor a wrong order: it is none, and satisfies nothing."""
    assert parse_version(text) is None
    assert public_version(text) is None
    assert not satisfies(text, ">=1")


@pytest.mark.parametrize(
    ("specifier", "valid"),
    [
        (">=2.2", True), (">=2.2,<3", True), (" >= 2.2 , < 3 ", True), ("==2.13.*", True), ("==2.13.0+cpu", True),
        ("~=2.2", True), (">=2.2,", True), ("", False), (",", False), ("2.2", False), (">2.2.*", False),
        ("~=2", False), (">=2.13+cpu", False), ("==2.13a1.*", False), ("=2.2", False), ("=>2.2", False),
        (">=2.2 <3", False), (">=latest", False), ("===2.2", False), (">=2.2,===2.2", False),
        (">=2.2; python_version > '3'", False), (">=" + "9" * 6000, False),
    ],
)  # fmt: skip
def test_a_range_is_a_list_of_clauses(specifier: str, valid: bool) -> None:
    """What a pin may ask is what an installer understands, less markers and arbitrary equality."""
    assert is_range(specifier) == valid


@pytest.mark.parametrize(
    ("version", "specifier", "satisfied"),
    [
        ("2.13.0+cpu", ">=2.13", True), ("2.13.0+cpu", "==2.13", True), ("2.13.0+cpu", "==2.13.0+cu130", False),
        ("2.13.0", "==2.13.0+cpu", False), ("2.13.0+cpu", ">2.13", False), ("2.10.0", ">=2.2", True),
        ("2.14.0a0+git1a2b3c4", "<2.14", False), ("2.14.0a0+git1a2b3c4", ">=2.13", True), ("3.11.7", ">=3.11", True),
        ("3.9.18", ">=3.11", False), ("2.3", ">=2.2,<2.3", False), ("2.2.5", "~=2.2.1", True),
        ("2.3", "~=2.2.1", False),
    ],
)  # fmt: skip
def test_installed_builds_satisfy_the_pins_of_their_version(version: str, specifier: str, satisfied: bool) -> None:
    """A wheel's local suffix says how it was built and does not keep it from satisfying a plain pin."""
    assert satisfies(version, specifier) == satisfied


@pytest.mark.parametrize(
    ("text", "public"), [("2.13.0+cpu", "2.13.0"), ("2.13.0", "2.13.0"), ("2.14.0a0+git1", "2.14.0a0")]
)
def test_the_local_suffix_can_be_left_out(text: str, public: str) -> None:
    """What is left is what two builds of one version have in common."""
    assert without_local(text) == public
    assert public_version(text) == parse_version(public)
