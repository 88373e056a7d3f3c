"""Version numbers ordered as PEP 440 orders them, with the specifiers that snippets use.

The `packaging` library does this in full, but the runner must work from a bare checkout on a cluster node where
it may be absent; a test compares this module with it.
"""

from __future__ import annotations

import functools
import re
from typing import Any

# Sorted after every segment that compares with it, or before (PEP 440, "Summary of permitted suffixes").
AFTER: tuple[int, int] = (1, 0)
PRE = {"a": 0, "alpha": 0, "b": 1, "beta": 1, "rc": 2, "c": 2, "pre": 2, "preview": 2}
VERSION = re.compile(
    r"""v?(?:(?P<epoch>\d+)!)?(?P<release>\d+(?:\.\d+)*)
    (?:[-_.]?(?P<pre>alpha|a|beta|b|preview|pre|c|rc)[-_.]?(?P<pre_n>\d*))?
    (?P<post>-(?P<post_bare>\d+)|[-_.]?(?:post|rev|r)[-_.]?(?P<post_n>\d*))?
    (?P<dev>[-_.]?dev[-_.]?(?P<dev_n>\d*))?
    (?:\+(?P<local>[a-z0-9]+(?:[-_.][a-z0-9]+)*))?""",
    re.VERBOSE | re.IGNORECASE | re.ASCII,
)
LIMIT = 100  # characters; Python refuses to read numbers of some thousand digits
CLAUSE = re.compile(r"\s*(~=|==|!=|<=|>=|<|>)\s*([^\s,]+?)(\.\*)?\s*")
RELEASE = re.compile(r"v?(?:\d+!)?\d+(?:\.\d+)*", re.IGNORECASE | re.ASCII)


@functools.lru_cache(maxsize=1024)  # the same few versions stand in every record
def is_version(text: str) -> bool:
    """Tell whether the text is a version number."""
    return read(text) is not None


def read(text: str) -> re.Match[str] | None:
    """Return the parts of a version number, or None."""
    return VERSION.fullmatch(text.strip()) if len(text) <= LIMIT else None


@functools.lru_cache(maxsize=1024)
def key(text: str) -> tuple[Any, ...]:
    """Return a sort key of a version; raises ValueError when it is none."""
    match = read(text)
    if not match:
        raise ValueError(f"{text[:LIMIT]!r} is not a version number")
    release = tuple(int(part) for part in match["release"].split("."))
    while len(release) > 1 and release[-1] == 0:
        release = release[:-1]
    pre: tuple[int, ...]
    if match["pre"]:
        pre = (0, PRE[match["pre"].lower()], int(match["pre_n"] or 0))
    elif match["dev"] and not match["post"]:
        pre = (-1,)  # 1.0.dev1 stands before 1.0a1
    else:
        pre = AFTER
    post = (1, int(match["post_bare"] or match["post_n"] or 0)) if match["post"] else (0, 0)
    dev = (0, int(match["dev_n"] or 0)) if match["dev"] else AFTER
    local = tuple(
        (1, int(part), "") if part.isdigit() else (0, 0, part)
        for part in re.split(r"[-_.]", (match["local"] or "").lower())
        if part
    )
    return int(match["epoch"] or 0), release, pre, post, dev, local


def public(text: str) -> str:
    """Return the version without its local suffix (`2.13.0` of `2.13.0+cpu`)."""
    return text.partition("+")[0]


def is_specifier(text: str) -> bool:
    """Tell whether the text is a list of clauses such as `>=2.2,<3`."""
    clauses = [clause for clause in text.split(",") if clause.strip()]
    return bool(clauses) and all(map(is_clause, clauses))


def is_clause(text: str) -> bool:
    """Tell whether the text is one clause; which forms of a version an operator takes is PEP 440's choice."""
    match = CLAUSE.fullmatch(text)
    if not match or not is_version(match[2]):
        return False
    operator, wanted, wildcard = match.groups()
    if operator in ("==", "!="):
        return not wildcard or bool(RELEASE.fullmatch(wanted))
    return not wildcard and "+" not in wanted and (operator != "~=" or len(key_release(wanted)) > 1)


def satisfies(version: str, specifier: str) -> bool:
    """Tell whether an installed version satisfies every clause; pre-releases are taken as they are.

    A local suffix of the version counts only where the clause has one itself (PEP 440).
    """
    if not is_version(version):
        return False
    return all(clause_holds(version, clause) for clause in specifier.split(",") if clause.strip())


def clause_holds(version: str, clause: str) -> bool:
    """Tell whether one clause holds."""
    match = CLAUSE.fullmatch(clause)
    if not match:
        raise ValueError(f"{clause!r} is not a version clause")
    operator, wanted, wildcard = match.groups()
    have = key(version if "+" in wanted else public(version))
    want = key(wanted)
    if wildcard:
        same = padded(have[1], len(key_release(wanted))) == key_release(wanted) and have[0] == want[0]
        return same if operator == "==" else not same
    if operator == "~=":
        prefix = key_release(wanted)[:-1]
        return have >= want and padded(have[1], len(prefix)) == prefix and have[0] == want[0]
    if operator == ">":
        # "1.7.post1" is not greater than "1.7"; only a clause that names a post or dev release means them.
        return have > want and not (have[:3] == want[:3] and want[3:5] == ((0, 0), AFTER) and have[3] != (0, 0))
    if operator == "<" and want[2] == AFTER and want[4] == AFTER:
        # "1.7rc1" is not less than "1.7", nor "1.7.post1.dev2" than "1.7.post1", unless the clause names one itself.
        earliest = (-1,) if want[3] == (0, 0) else AFTER
        return have < (*want[:2], earliest, want[3], (0, 0), ())
    if operator == "<":
        return have < want
    return {"==": have == want, "!=": have != want, "<=": have <= want, ">=": have >= want}[operator]


def key_release(text: str) -> tuple[int, ...]:
    """Return the release numbers as written, trailing zeros kept."""
    match = read(text)
    assert match, "checked before"
    return tuple(int(part) for part in match["release"].split("."))


def padded(release: tuple[int, ...], length: int) -> tuple[int, ...]:
    """Return exactly `length` release numbers, missing ones being zero."""
    return (release + (0,) * length)[:length]
