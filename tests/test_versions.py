"""Versions order and specifiers hold as the `packaging` library says, which the runner does without."""

from __future__ import annotations

import itertools

import pytest
from harness.properties import EXAMPLES
from hypothesis import given
from hypothesis import strategies as st
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import InvalidVersion, Version

from capture import versions

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

digits = st.integers(0, 30).map(str)


@st.composite
def version_texts(draw: st.DrawFn, local: bool = True) -> str:
    """A version number of any form, in any letter case."""
    text = draw(st.sampled_from(["", "v", "1!"])) + ".".join(draw(st.lists(digits, min_size=1, max_size=4)))
    separator = st.sampled_from(["", ".", "-", "_"])
    for words in (["a", "alpha", "b", "beta", "c", "rc", "pre", "preview"], ["post", "rev", "r"], ["dev"]):
        if draw(st.booleans()):
            text += draw(separator) + draw(st.sampled_from(words)) + draw(st.just("") | digits)
    if local and draw(st.booleans()):
        text += "+" + ".".join(draw(st.lists(st.sampled_from(["cpu", "cu130", "7", "0"]), min_size=1, max_size=3)))
    return text.upper() if draw(st.booleans()) else text


@st.composite
def clause_texts(draw: st.DrawFn) -> str:
    """A clause, valid or not."""
    text = draw(st.sampled_from(OPERATORS)) + draw(st.sampled_from(["", " "])) + draw(version_texts())
    return text + draw(st.sampled_from(["", "", ".*"]))


def holds(version: str, specifier: str) -> bool:
    """Ask the library; pre-releases count as installed versions do."""
    return SpecifierSet(specifier).contains(version, prereleases=True)


def is_valid(specifier: str) -> bool:
    """Ask the library whether a specifier can be read."""
    try:
        SpecifierSet(specifier)
    except InvalidSpecifier:
        return False
    return True


def order(left: str, right: str) -> int:
    """Return -1, 0 or 1, as this module orders two versions."""
    one, other = versions.key(left), versions.key(right)
    return (one > other) - (one < other)


def order_of_library(left: str, right: str) -> int:
    """Return -1, 0 or 1, as the library orders two versions."""
    one, other = Version(left), Version(right)
    return (one > other) - (one < other)


@pytest.mark.parametrize("release", RELEASES)
def test_versions_order_as_pep_440_says(release: str) -> None:
    """Epochs, pre-, post- and dev-releases and local suffixes of a release order among all others."""
    every = [a + b + c for a, b, c in itertools.product(RELEASES, SUFFIXES, LOCALS)]
    mine = [release + b + c for b, c in itertools.product(SUFFIXES, LOCALS)]
    assert [(a, b) for a in mine for b in every if order(a, b) != order_of_library(a, b)] == []


@pytest.mark.parametrize("operator", OPERATORS)
def test_a_clause_holds_where_the_library_says_so(operator: str) -> None:
    """Every operator over every form of wanted and installed version; unreadable clauses are unreadable to both."""
    wanted = [a + b for a, b in itertools.product(RELEASES[:6], [*SUFFIXES, ".*", "a1.*", ".post1.*", "+cpu"])]
    installed = [a + b + c for a, b, c in itertools.product(RELEASES[:6], SUFFIXES, LOCALS[:2])]
    clauses = [operator + text for text in wanted]
    assert [text for text in clauses if versions.is_specifier(text) != is_valid(text)] == []
    wrong = [
        (version, text)
        for text in filter(is_valid, clauses)
        for version in installed
        if versions.satisfies(version, text) != holds(version, text)
    ]
    assert wrong == []


@EXAMPLES
@given(version_texts(), version_texts())
def test_any_two_versions_order_as_the_library_orders_them(left: str, right: str) -> None:
    """The order does not depend on how a version is spelled."""
    assert order(left, right) == order_of_library(left, right)


@EXAMPLES
@given(version_texts(), clause_texts())
def test_any_clause_is_read_as_the_library_reads_it(version: str, clause: str) -> None:
    """What one cannot read neither can the other, and what both can read holds for both."""
    assert versions.is_specifier(clause) == is_valid(clause)
    if is_valid(clause):
        assert versions.satisfies(version, clause) == holds(version, clause)


@EXAMPLES
@given(st.text("0123456789.!+-_abcdeprtvw \u0661\u212a", max_size=12))
def test_any_text_is_a_version_to_both_or_to_neither(text: str) -> None:
    """Near misses (a stray separator, digits of another script) are refused where the library refuses them."""
    try:
        Version(text)
        expected = True
    except InvalidVersion:
        expected = False
    assert versions.is_version(text) == expected


@pytest.mark.parametrize("text", SPELLINGS)
def test_every_allowed_spelling_is_the_same_version(text: str) -> None:
    """A spelling that PEP 440 normalises away changes nothing."""
    assert versions.is_version(text)
    assert versions.key(text) == versions.key(str(Version(text)))


@pytest.mark.parametrize("text", NO_VERSIONS)
def test_what_is_no_version_is_refused(text: str) -> None:
    """Neither a traceback nor a wrong order: the question is answered with no, the key with ValueError."""
    assert not versions.is_version(text)
    assert not versions.satisfies(text, ">=1")
    with pytest.raises(ValueError, match="not a version number"):
        versions.key(text)


@pytest.mark.parametrize(
    ("specifier", "valid"),
    [
        (">=2.2", True), (">=2.2,<3", True), (" >= 2.2 , < 3 ", True), ("==2.13.*", True), ("==2.13.0+cpu", True),
        ("~=2.2", True), (">=2.2,", True), ("", False), (",", False), ("2.2", False), (">2.2.*", False),
        ("~=2", False), (">=2.13+cpu", False), ("==2.13a1.*", False), ("=2.2", False), ("=>2.2", False),
        (">=2.2 <3", False), (">=latest", False), ("===2.2", False), (">=2.2; python_version > '3'", False),
    ],
)  # fmt: skip
def test_a_specifier_is_a_list_of_clauses(specifier: str, valid: bool) -> None:
    """What a pin may ask is what an installer understands, less markers and arbitrary equality."""
    assert versions.is_specifier(specifier) == valid


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
    assert versions.satisfies(version, specifier) == satisfied


def test_public_leaves_the_local_suffix_out() -> None:
    """`public` is what two builds of one version have in common."""
    assert [versions.public(text) for text in ("2.13.0+cpu", "2.13.0", "2.14.0a0+git1")] == [
        "2.13.0",
        "2.13.0",
        "2.14.0a0",
    ]
