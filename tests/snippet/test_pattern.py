"""Patterns of headers: they mean what they mean in `re`, and none takes longer than it may."""

from __future__ import annotations

import pickle
import re
import time

import pytest
from harness.properties import EXAMPLES, rows
from hypothesis import given
from hypothesis import strategies as st

from capture.snippet import pattern
from capture.snippet.pattern import Allowance, Pattern, PatternError, PatternTooSlow, groups_of

ENDLESS = {
    "value-regex-hang": (r"^((?:a|aa)+)$", "a" * 60 + "!"),
    "words": (r"^((?:\d|\d\d|x)+)[;.]$", "1" * 60),
    "nested": (r"((x+x+)+y)", "x" * 5000),
    "polynomial": (r"(\d*\d*\d*\d*\d*)[yz]", "1" * 20_000),
}


@pytest.mark.parametrize(("text", "output"), rows(ENDLESS))
def test_a_pattern_that_never_ends_is_given_up(monkeypatch: pytest.MonkeyPatch, text: str, output: str) -> None:
    """In every way of searching, with what to do about it."""
    monkeypatch.setattr(pattern, "LIMIT", 0.05)
    for search in (Pattern.matches, Pattern.is_in, lambda each, where: each.replaced(where, lambda match: "")):
        with pytest.raises(PatternTooSlow, match=r"takes longer than 0\.05 s; make it simpler"):
            search(Pattern(text, 1), output)


def test_what_was_given_up_is_not_tried_again() -> None:
    """A slow pattern costs its time once, whichever of many records are searched after."""
    calls: list[float] = []

    def search(seconds: float) -> str:
        calls.append(seconds)
        raise TimeoutError

    allowance = Allowance()
    for _ in range(3):
        with pytest.raises(PatternTooSlow):
            allowance.take("(a)", search)
    assert calls == [pattern.LIMIT]


def test_many_slow_patterns_share_their_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Once it is used up each is given up as soon as it is slow, and says so; quick ones still find what they seek."""
    clock = iter(range(1000))
    monkeypatch.setattr(time, "thread_time", lambda: float(next(clock)))
    limits: list[float] = []
    allowance = Allowance(2.0)

    def search(seconds: float) -> str:
        limits.append(seconds)
        raise TimeoutError

    for number in range(4):
        with pytest.raises(PatternTooSlow) as error:
            allowance.take(f"({number})", search)
    assert limits == [pattern.LIMIT, pattern.LIMIT, pattern.QUICK, pattern.QUICK]
    assert "and slow patterns have used up" in str(error.value)
    assert allowance.take("(quick)", lambda seconds: "found") == "found"


ATOMS = (
    "a", "b", "1", ".", r"\d", r"\w", r"\s", r"\S", "^", "$", r"\b", "[ab]", "[^a]", "[a-]", "[]a]", " ", "-", "{", "}",
    "{e}", "{e<=1}", "{1}", "{}", "]", r"\.", "(?:a|b)", "(?=a)", "(?!a)", "(?<=a)", "(?i:A)", "(?>a|ab)", "a++", "(a)",
    "(a|b)*", r"\x61", r"\N{DIGIT ONE}", "[[", "[a--b]", "a{,2}", "(?#x)", r"\Z", "|",
)  # fmt: skip
REPEATS = ("", "", "", "*", "+", "?", "{2}", "{0,1}", "*?", "+?")


@EXAMPLES
@given(
    st.lists(st.tuples(st.sampled_from(ATOMS), st.sampled_from(REPEATS)), min_size=1, max_size=4),
    st.text(st.sampled_from("ab1 \n-{e}[]."), min_size=1, max_size=12),
)
def test_a_pattern_finds_what_re_finds(parts: list[tuple[str, str]], output: str) -> None:
    """The same spans of the same groups, and the same text after replacing; or it is refused."""
    text = "".join(atom + repeat for atom, repeat in parts)
    try:
        groups = groups_of(text)
    except PatternError:
        return
    found, known = Pattern(text, groups), re.compile(text, re.MULTILINE)
    spans = [[match.span(group) for group in range(groups + 1)] for match in known.finditer(output)]
    assert [[match.span(group) for group in range(groups + 1)] for match in found.matches(output)] == spans
    assert found.replaced(output, lambda match: "<>") == known.sub("<>", output)
    assert found.is_in(output) == bool(spans)


REFUSED = {
    "nested-set": ("([[:alpha:]]+)", "ambiguous: Possible nested set"),
    "set-difference": ("([a-z--b])", "ambiguous: Possible set difference"),
    "verbose": ("(?x) (a) # one", "the flag x is not supported"),
    "verbose-in-part": ("(?i-s:(?x:a))", "the flag x is not supported"),
    "repeated-repetition": ("((?:a{1000}){1000})", "too large: with its repetitions written out"),
    "endless-memory": ("(a{4294967294})", "too large: with its repetitions written out"),
    "doubled": ("(?:" * 30 + "(a)" + ")+" * 30, "too large: with its repetitions written out"),
    "long": ("a" * 10_001, "too large: it has more than 10,000 characters"),
    "deep": ("(?:" * 60 + "a" + ")" * 60, "nested too deeply"),
    "class-of-another-library": (r"(\p{Lu})", "not a regular expression: bad escape"),
    "long-count": ("a{" + "9" * 5000 + "}", "not a regular expression: "),
}


@pytest.mark.parametrize(("text", "message"), rows(REFUSED))
def test_what_means_something_else_or_takes_memory_is_refused(text: str, message: str) -> None:
    """With its reason, before anything is compiled for searching."""
    with pytest.raises(PatternError) as error:
        groups_of(text)
    assert str(error.value).startswith(message)


@pytest.mark.parametrize(
    "text", [r"sha ([0-9a-f]{40}) ([0-9a-f]{40})", "(?:(?:[\\d.]+ +){3}x+)+", "(a{0,900000})", "[+]" * 100, r"\++" * 9]
)
def test_ordinary_repetitions_are_no_large_pattern(text: str) -> None:
    """Only what is written out when compiled counts."""
    assert groups_of(text) <= 2
    Pattern(text, 1).matches("x")


SIGNS = {
    "optional": (r"overhead +(-?[\d.]+)", True),
    "either": (r"([+-]?\d+\.\d+) us", True),
    "required": (r"(-\d+)", True),
    "escaped": (r"(\-?\d)", True),
    "named": (r"(?P<gain>-?\d)", True),
    "set": (r"([\d.-]+)", True),
    "inner": (r"((?:-|\+)?\d)", True),
    "none": (r"([\d.]+)x", False),
    "before-the-group": (r"x-(\d+)", False),
    "between": (r"(\d+-\d+)", False),
    "exponent": (r"([\d.e+-]+)", False),
    "anything": (r"(\S+)", False),
    "range": (r"([0-9.]+)", False),
    "words": (r"([\w.-]+)", False),
    "bracket": (r"\(-(\d)", False),
}


@pytest.mark.parametrize(("text", "admits"), rows(SIGNS))
def test_a_group_that_spells_a_minus_admits_one(text: str, admits: bool) -> None:
    """One that may hold anything, or an exponent, says nothing about the sign."""
    assert Pattern(text, 1).admits_minus is admits


def test_equal_patterns_are_equal_wherever_they_go() -> None:
    """They are compared by their text, and survive the way to another process."""
    one = Pattern("(a)", 1, Allowance())
    assert one.is_in("a")
    assert pickle.loads(pickle.dumps(one)) == one == Pattern("(a)", 1)
