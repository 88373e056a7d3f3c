"""Version numbers and ranges of them as the `packaging` library reads them; what is none is None and raises nothing."""

from __future__ import annotations

import functools

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import InvalidVersion, Version

_LONGEST = 100  # characters; Python refuses to read numbers of some thousand digits


@functools.lru_cache(maxsize=1024)  # the same few versions stand in every record
def parse_version(text: str) -> Version | None:
    """Return the version that a text names, or None."""
    try:
        return Version(text) if len(text) <= _LONGEST else None
    except InvalidVersion:
        return None


@functools.lru_cache(maxsize=1024)
def public_version(text: str) -> Version | None:
    """Return the version that a text names, what its build adds left out (2.13.0 of `2.13.0+cpu`), or None."""
    version = parse_version(text)
    return Version(version.public) if version else None


def without_local(text: str) -> str:
    """Return the text of a version without its local suffix (`2.13.0` of `2.13.0+cpu`)."""
    return text.partition("+")[0]


@functools.lru_cache(maxsize=1024)
def is_range(text: str) -> bool:
    """Tell whether a text is a list of clauses such as `>=2.2,<3`; equality of text (`===`) is no clause here."""
    try:
        clauses = list(SpecifierSet(text))
    except InvalidSpecifier:
        return False
    return bool(clauses) and all(
        clause.operator != "===" and parse_version(clause.version.removesuffix(".*")) for clause in clauses
    )


def satisfies(text: str, wanted: str) -> bool:
    """Tell whether an installed version lies in a range, pre-releases included; what names no version lies in none.

    A local suffix of the version counts only where the clause has one itself (PEP 440).
    """
    version = parse_version(text)
    return version is not None and SpecifierSet(wanted).contains(version, prereleases=True)
