"""The header of a snippet: a PEP 723 block at the end of the file, read from its text."""

from __future__ import annotations

import errno
import hashlib
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from capture.errors import CaptureError, Problem
from capture.snippet.bounded_reading import NOT_REGULAR, read_regular
from capture.snippet.header_validation import Header
from capture.snippet.pattern import Allowance, PatternError, groups_of
from capture.snippet.portable_names import why_not_portable
from capture.snippet.snippet import SNIPPET_ID, Snippet
from capture.snippet.source_file import (
    SOURCE_LIMIT,
    digest,
    error_line,
    file_digest,
    imported_words,
    key_lines,
    read_text,
    split,
)

# Returns what was kept under a key, or what the function makes.
Recall = Callable[[str, Callable[[], Any]], Any]


def parse(
    root: Path, path: Path, recall: Recall = lambda key, make: make(), allowance: Allowance | None = None
) -> Snippet:
    """Read `snippets/<chapter>/<name>.py`; `recall` may know what its TOML says from an earlier reading.

    `allowance` is the time that its patterns may take, together with those of other snippets. Raises CaptureError with
    every problem found, each at its line.
    """
    relative = path.relative_to(root).as_posix()
    snippet_id = relative.removeprefix("snippets/").rpartition(".")[0]
    try:
        text = read_text(read_regular(path, SOURCE_LIMIT))
    except UnicodeDecodeError as error:
        raise CaptureError(Problem(relative, 0, f"is not UTF-8 ({error.reason} at byte {error.start})")) from error
    except OSError as error:
        why = f"larger than {SOURCE_LIMIT // 2**20} MiB; no snippet is" if error.errno == errno.EFBIG else ""
        why = why or (NOT_REGULAR if error.strerror == NOT_REGULAR else f"cannot be read: {error.strerror}")
        raise CaptureError(Problem(relative, 0, why)) from error
    if not SNIPPET_ID.fullmatch(snippet_id):
        raise CaptureError(
            Problem(relative, 0, "name it snippets/<chapter>/<name>.py, with lower-case letters, digits and _")
        )
    if why := why_not_portable(snippet_id):
        raise CaptureError(Problem(relative, 0, why))
    key = hashlib.sha256(text.encode("utf-8")).hexdigest()
    length, first, data, lines, words, patterns = recall(key, lambda: _parts(text, relative))
    source = f"{text[:length]}\n"
    header = Header(root, relative, snippet_id, source, first, data, lines, words, patterns, allowance or Allowance())
    return header.snippet()


def digest_of(data: bytes, files: Mapping[str, bytes], snippet: Snippet) -> str:
    """Return the digest that a snippet has with other bytes in its file and in those that it reads."""
    try:
        source, _, _ = split(read_text(data), snippet.path)
    except (UnicodeDecodeError, CaptureError):
        return ""
    return digest(source, snippet.runs_with, {name: file_digest(content) for name, content in files.items()})


def _parts(
    text: str, relative: str
) -> tuple[int, int, dict[str, Any], dict[str, int], list[str] | None, dict[str, int | str]]:
    """Return what only the text decides: length of the source without its line end, line of the block, and its tables.

    Then the line of each key, the words that the source may import, and how many groups each pattern has, or what is
    wrong with it. Raises CaptureError at its line.
    """
    source, toml, first = split(text, relative)
    data = tables(toml, relative, first)
    patterns = {pattern: _groups_or_fault(pattern) for pattern in _patterns(data)}
    return len(source) - 1, first, data, key_lines(toml, first), imported_words(source), patterns


def _patterns(data: Mapping[str, Any]) -> Iterator[str]:
    """Yield every text that stands where a pattern does, whatever else the tables say."""
    options = _table(_table(data, "tool"), "capture")
    volatile = _table(options, "compare").get("volatile")
    for item in (*_table(options, "values").values(), *(volatile if isinstance(volatile, list) else ())):
        if isinstance(item, str):
            yield item


def _table(parent: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    """Return a table below another, empty where there is none."""
    found = parent.get(key)
    return found if isinstance(found, dict) else {}


def _groups_or_fault(pattern: str) -> int | str:
    """Return how many groups a pattern has, or what is wrong with it."""
    try:
        return groups_of(pattern)
    except PatternError as error:
        return str(error)


def _require_64_bits(value: object) -> None:
    """Raise ValueError for a whole number that TOML does not know, since it can be read and not written again."""
    if isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            _require_64_bits(part)
    elif isinstance(value, int) and value.bit_length() > 64:
        raise ValueError("a whole number of more than 64 bits")


def tables(toml: str, relative: str, first: int) -> dict[str, Any]:
    """Return what the block says; raises CaptureError at the line that is no TOML."""
    try:
        found = tomllib.loads(toml)
        _require_64_bits(found)
        return found
    except (ValueError, RecursionError) as error:  # a number too long to read, tables too deep
        line = error_line(str(error), toml.count("\n") + 1)
        raise CaptureError(
            Problem(
                relative,
                first + line,
                f"the header is not valid TOML: {re.sub(r' [(]at .*', '', str(error))[:100]}",
            )
        ) from error
