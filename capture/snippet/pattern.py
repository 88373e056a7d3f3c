"""Patterns that headers declare: with the syntax of `re`, and bounded in time, since those of strangers are searched.

The library `regex` searches, as it can be given a time. What it reads in another way than `re` is refused or escaped;
so is what it would take much memory to compile.
"""

from __future__ import annotations

import functools
import re
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias, TypeVar

import regex

LIMIT = 1.0  # seconds of CPU time that one search may take
TOTAL = 10.0  # seconds that the slow searches of one allowance may take together; then each may take QUICK
QUICK = 0.05  # seconds; a search that takes no longer is not slow
LARGEST = 10_000  # characters of a pattern, its counted repetitions written out
DEEPEST = 50  # groups within groups
_ADVICE = "make it simpler: repeat nothing that repeats already, as (a+)+ does"
# One item of a pattern, and what may follow to repeat it. Verbose patterns are refused, so nothing else is a comment.
_ITEM = re.compile(
    r"(?P<comment>\(\?#[^)]*\))|(?P<verbose>\(\?[a-zA-Z-]*x[a-zA-Z-]*[:)])|(?P<open>\()|(?P<close>\))"
    r"|(?P<repeat>\{(?!\})(?P<least>\d*)(?P<to>,?)(?P<most>\d*)\}|\+)|(?P<brace>\{)"
    r"|\\N\{[^}]*\}|\\.|\[\^?\]?(?:\\.|[^\\\]])*\]|.",
    re.DOTALL,
)
# A group that begins with a minus, or with a set of digits and signs of which it is one; letters may be an exponent's.
_SIGNED_GROUP = re.compile(
    r"(?<![\\\[])\((?:\?P<\w+>)?(?:\(\?:)*(?:\\?-|\[(?![^\]]*(?:(?<!\\)[a-zA-Z]|\\[^d\W]))(?:-|[^\]]*\\-|[^\]]*-\]))",
)
Found = TypeVar("Found")
Match: TypeAlias = "regex.Match[str]"


class PatternError(ValueError):
    """A text is no pattern, or one that is refused; the message says why."""


class PatternTooSlow(Exception):
    """A search was given up; the message says after how long, and what to do."""


class Allowance:
    """The time that patterns may take together: one for each reading of a handbook.

    What was given up once is not tried again, so that a slow pattern costs a command its time once and not a record.
    """

    def __init__(self, seconds: float = TOTAL) -> None:
        self.left = seconds
        self.given_up: dict[str, str] = {}

    def take(self, pattern: str, search: Callable[[float], Found]) -> Found:
        """Return what a search finds within the seconds that it is called with; raises PatternTooSlow."""
        if pattern in self.given_up:
            raise PatternTooSlow(self.given_up[pattern])
        limit = min(LIMIT, max(QUICK, self.left))
        start = time.thread_time()
        try:
            return search(limit)
        except (TimeoutError, MemoryError, RecursionError, regex.error) as error:
            spent = f", and slow patterns have used up {TOTAL:g} s" if limit < LIMIT else ""
            self.given_up[pattern] = f"takes longer than {limit:.2g} s{spent}; {_ADVICE}"
            raise PatternTooSlow(self.given_up[pattern]) from error
        finally:
            elapsed = time.thread_time() - start
            if elapsed > QUICK:
                self.left -= elapsed


@dataclass(frozen=True)
class Pattern:
    """A checked pattern, multi-line, with the number of its groups, and the allowance that its searches share."""

    pattern: str
    groups: int
    allowance: Allowance = field(default_factory=Allowance, compare=False, repr=False)

    @functools.cached_property
    def _compiled(self) -> regex.Pattern[str]:
        """The pattern as `regex` takes it: no brace that counts nothing is a fuzzy match, as there it could be."""
        escaped = _ITEM.sub(lambda item: r"\{" if item["brace"] else item[0], self.pattern)
        return regex.compile(escaped, regex.MULTILINE | regex.VERSION0)

    def matches(self, text: str) -> list[Match]:
        """Return all matches in a text; raises PatternTooSlow."""
        return self.allowance.take(self.pattern, lambda seconds: list(self._compiled.finditer(text, timeout=seconds)))

    def is_in(self, text: str) -> bool:
        """Tell whether anything in a text matches; raises PatternTooSlow."""
        return self.allowance.take(
            self.pattern, lambda seconds: self._compiled.search(text, timeout=seconds) is not None
        )

    def replaced(self, text: str, replace: Callable[[Match], str]) -> str:
        """Return a text with each match replaced by what the function returns; raises PatternTooSlow."""
        return self.allowance.take(self.pattern, lambda seconds: self._compiled.sub(replace, text, timeout=seconds))

    @property
    def admits_minus(self) -> bool:
        """Whether the group's own text begins with a minus, or with characters of which it is one.

        One that may also hold an exponent, as `[\\d.e-]+`, or anything, as `\\S+`, says nothing about the sign.
        """
        return _SIGNED_GROUP.search(self.pattern) is not None


def groups_of(text: str) -> int:
    """Return how many groups a pattern has, checked as `re` does; raises PatternError for what is none, or is refused.

    Refused is what `regex` would take in another way, or in much memory.
    """
    if len(text) > LARGEST:
        raise PatternError(f"too large: it has more than {LARGEST:,} characters")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", FutureWarning)
            groups = re.compile(text, re.MULTILINE).groups
    except FutureWarning as error:
        raise PatternError(f"ambiguous: {error}; write a backslash before it") from error
    except (re.error, ValueError, OverflowError, RecursionError) as error:
        raise PatternError(f"not a regular expression: {error}") from error
    if _size(text) > LARGEST:
        raise PatternError(f"too large: with its repetitions written out it has more than {LARGEST:,} characters")
    return groups


def _size(text: str) -> int:
    """Return how many characters a pattern has with its repetitions written out, at least where it is too large.

    A repetition without an end counts twice, since it is compiled so where one is the least. Raises PatternError for a
    verbose pattern and for one that is nested too deeply.
    """
    outer: list[int] = []
    total = last = 0
    for item in _ITEM.finditer(text):
        if item["verbose"]:
            raise PatternError("the flag x is not supported; write the pattern without blanks and comments")
        if item["open"]:
            outer.append(total)
            total = last = 0
        elif item["close"]:
            last = total + 1
            total = outer.pop() + last
        elif item["repeat"]:
            times = 2 if item[0] == "+" else int(item["least"] or 0) + (item["to"] == ",")
            total += last * (times - 1)
            last *= times
        elif not item["comment"]:
            last = 1
            total += 1
        if total > LARGEST:
            return total
        if len(outer) > DEEPEST:
            raise PatternError(f"nested too deeply: more than {DEEPEST} groups stand within each other")
    return total
