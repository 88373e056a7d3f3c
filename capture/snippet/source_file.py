"""The text of a snippet file: the source above, the PEP 723 block below, and what the source imports beside it."""

from __future__ import annotations

import ast
import contextlib
import hashlib
import json
import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from capture.errors import CaptureError, Problem
from capture.snippet.bounded_reading import read_regular
from capture.snippet.portable_names import LONGEST, why_not_portable

SOURCE_LIMIT = 1 << 20  # bytes; a longer script is nobody's to read
FILE_LIMIT = 64 << 20  # bytes of a file that a snippet reads
_WORD = r"""(?:[A-Za-z0-9_-]+|"[^"]*"|'[^']*')"""
_KEY = re.compile(rf"\s*({_WORD}(?:\s*\.\s*{_WORD})*)\s*=")
# PEP 723: a comment block of its own, opened and closed by these lines.
_OPENING = re.compile(r"^# /// script[ \t]*$", re.MULTILINE)
_IMPORT = re.compile(r"\b(?:import|from)\b([^\n;\\]*(?:\\\r?\n[^\n;\\]*)*)")  # with the rest of its statement
_IDENTIFIER = re.compile(r"\w+")


def split(text: str, relative: str) -> tuple[str, str, int]:
    """Return (source above the block, TOML of the block, line number of its opening)."""
    openings = list(_OPENING.finditer(text))
    if not openings:
        raise CaptureError(
            Problem(
                relative,
                text.count("\n") + 1,
                'no header; end the file with a "# /// script" block, as `capture new` writes',
            )
        )
    if len(openings) > 1:
        line = text.count("\n", 0, openings[1].start()) + 1
        raise CaptureError(Problem(relative, line, "a second header block; keep one, at the end"))
    start = openings[0].start()
    first = text.count("\n", 0, start) + 1
    lines = text[start:].split("\n")
    closing = next((number for number, line in enumerate(lines[1:], 1) if line.rstrip() == "# ///"), None)
    if closing is None:
        raise CaptureError(Problem(relative, first, 'the header is not closed; end it with a line "# ///"'))
    for number in (0, closing):
        if lines[number] != lines[number].rstrip():
            raise CaptureError(
                Problem(relative, first + number, "blanks after the marker; remove them, or uv does not see the header")
            )
    toml = []
    for number, text_line in enumerate(lines[1:closing], first + 1):
        if text_line.rstrip() != "#" and not text_line.startswith("# "):
            raise CaptureError(Problem(relative, number, 'every header line starts with "# "'))
        toml.append(text_line[2:])
    for number, text_line in enumerate(lines[closing + 1 :], first + closing + 1):
        if text_line.strip():
            raise CaptureError(
                Problem(
                    relative,
                    number,
                    "code below the header; the block stands last, so that line numbers agree everywhere",
                )
            )
    return text[:start].rstrip("\n") + "\n", "\n".join(toml), first


def error_line(message: str, last: int = 1) -> int:
    """Return the line that a TOML error names, `last` where it names the end of the document, 1 where it names none."""
    match = re.search(r"at line (\d+)", message)
    return int(match[1]) if match else last if "at end of document" in message else 1


def key_lines(toml: str, first: int) -> dict[str, int]:
    """Map dotted header keys to their line in the file; inline tables count with their key."""
    line_of: dict[str, int] = {}
    table = ""
    for number, line in enumerate(toml.split("\n"), first + 1):
        if match := re.match(r"\s*\[([^\[\]]+)\]\s*(#.*)?$", line):
            table = _bare(match[1])
            line_of.setdefault(table, number)
        elif match := _KEY.match(line):
            parts = f"{table}.{_bare(match[1])}".lstrip(".").split(".")
            for end in range(1, len(parts) + 1):  # `compare.spread = 2` also opens its table
                line_of.setdefault(".".join(parts[:end]), number)
    return line_of


def _bare(key: str) -> str:
    """Return a dotted key without blanks and quotes."""
    return re.sub(r"[\s\"']", "", key)


def local_imports(root: Path, chapter: str, source: str, words: Iterable[str] | None) -> tuple[str, ...]:
    """Name the files beside the snippet that it imports, directly or through each other.

    `words` are its `imported_words`.
    """
    folder = root / "snippets" / chapter
    imported: dict[str, None] = {}
    pending = [(source, words)]
    while pending:
        text, words = pending.pop()
        # Parsing most sources, which import no file beside them, is saved; thousands of questions, so no Path.
        if words is not None and not any(os.path.isfile(f"{folder}/{word}.py") for word in words):  # noqa: PTH113
            continue
        try:
            tree = ast.parse(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue  # a snippet may be about an error; what it imports then does not matter
        for node in ast.walk(tree):
            names = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                names = [node.module]
            for name in names:
                file = f"{name.split('.')[0]}.py"
                if file not in imported and (folder / file).is_file():
                    imported[file] = None
                    with contextlib.suppress(OSError):  # named when its digest is taken
                        helper = read_regular(folder / file, SOURCE_LIMIT).decode("utf-8-sig", "replace")
                        pending.append((helper, imported_words(helper)))
    return tuple(sorted(imported))


def read_declared(folder: Path, name: str) -> bytes:
    """Return the content of a file that a snippet reads or imports.

    Raises CaptureError, without a place, for one that is not there, lies elsewhere, or has a name that fails somewhere.
    """
    pure = PurePosixPath(name)
    if pure.is_absolute() or ".." in pure.parts or "\\" in name:
        raise CaptureError(f'"{name}" leaves the folder of the snippet')
    if why := why_not_portable(name):
        raise CaptureError(f'"{name[:LONGEST]}" {why}')
    if not (folder / name).is_file():
        raise CaptureError(f'no file "{name}" beside the snippet')
    try:
        return read_regular(folder / name, FILE_LIMIT)
    except OSError as error:
        raise CaptureError(f'"{name}" cannot be read: {error.strerror}') from error


def imported_words(source: str) -> list[str] | None:
    """Return every word that may name an imported module, or None where only parsing can tell.

    An identifier with other than ASCII letters may be spelt in several ways.
    """
    if not source.isascii():
        return None
    return sorted({word for match in _IMPORT.finditer(source) for word in _IDENTIFIER.findall(match[1])})


def read_text(data: bytes) -> str:
    """Return the text of a snippet's file with LF line ends; raises UnicodeDecodeError."""
    return data.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")


def file_digest(data: bytes) -> str:
    """Return SHA-256 of a file that a snippet reads, with LF line ends where it is text."""
    return hashlib.sha256(data.replace(b"\r\n", b"\n")).hexdigest()


def digest(source: str, options: Mapping[str, Any], files: Mapping[str, str]) -> str:
    """Return SHA-256 of the source above the block plus the options that change what runs.

    `files` maps names to their `file_digest`; an option that says nothing takes no part.
    """
    options = {**options, "files": dict(files)}
    canonical = json.dumps(options, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(f"{source}\0{canonical}".encode("utf-8", "surrogatepass")).hexdigest()
