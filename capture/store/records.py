"""Reading and writing the handbook's files whole."""

from __future__ import annotations

import contextlib
import errno
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from capture import plain_data
from capture.errors import CaptureError, Problem, suggestion
from capture.host import host
from capture.host.host import Host
from capture.record import record
from capture.record.record import Record
from capture.snippet import header
from capture.snippet.bounded_reading import NOT_REGULAR, read_regular
from capture.snippet.pattern import Allowance
from capture.snippet.snippet import Snippet
from capture.store.cache import Cache, digest
from capture.store.paths import Handbook
from capture.store.yaml_text import host_text, load, record_text

SIZE_LIMIT = 4 * 1024 * 1024  # a record is at most some 200 KB; a larger file is a mistake or an attack
UNFORESEEN = (ValueError, OverflowError, RecursionError)  # what strange content has raised from a reader
_TEMPORARY = re.compile(r"\.[^/]+\.tmp-\d+")


def read_snippets(book: Handbook) -> tuple[dict[str, Snippet], list[Problem]]:
    """Return every valid snippet by id, and the problems of the others.

    A file without a header that a snippet beside it imports is a helper, not a faulty snippet.
    """
    snippets: dict[str, Snippet] = {}
    problems: dict[str, list[Problem]] = {}
    allowance = Allowance()
    with Cache(book.cached_for, "headers") as cache:
        for path in book.snippet_paths():
            try:
                snippet = header.parse(book.root, path, cache.recall, allowance)
                snippets[snippet.id] = snippet
            except CaptureError as error:
                problems[book.relative(path)] = error.located
            except UNFORESEEN as error:
                problems[book.relative(path)] = [unforeseen(book.relative(path), error)]
    helpers = {
        f"snippets/{snippet.id.split('/')[0]}/{name}"
        for snippet in snippets.values()
        for name in (*snippet.imports, *snippet.files)
    }
    return snippets, [item for path, items in sorted(problems.items()) if path not in helpers for item in items]


def unforeseen(name: str, error: Exception) -> Problem:
    """Return the problem for a file over which a reader stumbles, so that it hides nothing about the others."""
    return Problem(name, 0, f"cannot be read ({type(error).__name__}); write it as the others are", "unreadable")


def resolve(snippet_id: str, known: Mapping[str, Any]) -> str:
    """Return the id if it is known; raises CaptureError with the nearest one."""
    if snippet_id not in known:
        raise CaptureError(f'no snippet "{snippet_id}"{suggestion(snippet_id, known)}')
    return snippet_id


def read_bytes(path: Path, name: str, limit: int = SIZE_LIMIT) -> bytes:
    """Read a data file; raises CaptureError when it is unreadable or oversized."""
    try:
        return read_regular(path, limit)
    except OSError as error:
        if error.strerror == NOT_REGULAR:
            raise CaptureError(Problem(name, 0, NOT_REGULAR, "unreadable")) from error
        if error.errno == errno.EFBIG:
            kind = "record" if limit == SIZE_LIMIT else "such file"
            raise CaptureError(Problem(name, 0, f"larger than {limit // 2**20} MiB; no {kind} is", "size")) from error
        raise CaptureError(Problem(name, 0, f"cannot be read: {error.strerror}", "unreadable")) from error


def _text_of(data: bytes, name: str) -> str:
    """Return the text of a data file; raises CaptureError when it is not UTF-8."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise CaptureError(Problem(name, 0, f"is not UTF-8 (byte {error.start})", "yaml")) from error


def read_text(path: Path, name: str, limit: int = SIZE_LIMIT) -> str:
    """Read a data file as text; raises CaptureError when it is unreadable, oversized or not UTF-8."""
    return _text_of(read_bytes(path, name, limit), name)


def parse_record(text: str, name: str, advice: str = "") -> tuple[Record, dict[str, int]]:
    """Return a record and the lines of its fields; raises CaptureError at path:line."""
    data, lines = load(text, name, advice)
    try:
        return record.decode(data), lines
    except plain_data.ShapeError as error:
        raise CaptureError(Problem(name, nearest_line(lines, error.field), f"{error}{advice}", "shape")) from error
    except CaptureError as error:
        raise CaptureError(Problem(name, lines.get("schema", 1), str(error), "schema")) from error


def recapture_advice(label: str, snippet_id: str) -> str:
    """Return what to do about a damaged record."""
    target = host.run_option(label)
    return f"; restore it with git, or capture it again: capture run {snippet_id} --force{target}"


def read_record(book: Handbook, label: str, snippet_id: str, cache: Cache | None = None) -> Record | None:
    """Return the record, or None where there is no file; raises CaptureError when it is damaged.

    What a cache knows of this very content is taken from there; whatever is wrong is found by parsing it again.
    """
    path = book.record_path(label, snippet_id)
    if not path.exists():
        return None
    name, advice = book.record_name(label, snippet_id), recapture_advice(label, snippet_id)
    data = read_bytes(path, name)
    if cache is not None:
        with contextlib.suppress(CaptureError, plain_data.ShapeError):
            item = record.decode(cache.recall(digest(data), lambda: load(_text_of(data, name), name)[0]))
            if (item.host, item.snippet) == (label, snippet_id):
                return item
    item, lines = parse_record(_text_of(data, name), name, advice)
    for field, says, due in (("host", item.host, label), ("snippet", item.snippet, snippet_id)):
        if says != due:
            message = f'says {field} "{says}", not "{due}" as its path says{advice}'
            raise CaptureError(Problem(name, lines[field], message, "path"))
    return item


def parse_host(text: str, name: str) -> tuple[Host, dict[str, int]]:
    """Return a host and the lines of its fields; raises CaptureError at path:line."""
    advice = "; write it again on that machine: capture host init LABEL"
    data, lines = load(text, name, advice)
    try:
        return host.decode(data), lines
    except plain_data.ShapeError as error:
        raise CaptureError(Problem(name, nearest_line(lines, error.field), f"{error}{advice}", "shape")) from error
    except CaptureError as error:
        raise CaptureError(Problem(name, 1, str(error), "schema")) from error


def read_host(book: Handbook, label: str) -> Host | None:
    """Return the host's facts, or None where there is no file; raises CaptureError when it is damaged."""
    path = book.host_path(label)
    if not path.exists():
        return None
    name = book.relative(path)
    item, lines = parse_host(read_text(path, name), name)
    if item.label != label:
        message = f'says label "{item.label}" in the folder of "{label}"; restore it with git, or write it again there'
        raise CaptureError(Problem(name, lines["label"], f"{message}: capture host init {label}", "path"))
    return item


def nearest_line(lines: Mapping[str, int], field: str) -> int:
    """Return the line of a dotted field or of its nearest known parent."""
    while field:
        if field in lines:
            return lines[field]
        field = field[: max(field.rfind("."), field.rfind("["), 0)]
    return 1


def write_record(book: Handbook, item: Record) -> bool:
    """Write a record atomically and tell whether the file changed.

    The text is read again and compared before it replaces the old file. Raises CaptureError when the folder cannot
    be written; the old file is then as it was.
    """
    text = record_text(item)
    path = book.record_path(item.host, item.snippet)
    _require_same(book, path, parse_record(text, book.relative(path))[0], item)
    return write_text(book, path, text)


def write_host(book: Handbook, item: Host) -> bool:
    """Write a host's facts as `write_record` does, and tell whether the file changed."""
    text = host_text(item)
    path = book.host_path(item.label)
    _require_same(book, path, parse_host(text, book.relative(path))[0], item)
    return write_text(book, path, text)


def _require_same(book: Handbook, path: Path, read: object, written: object) -> None:
    """Raise CaptureError where what was read again differs from what is to be written."""
    if read != written:
        raise CaptureError(
            Problem(book.relative(path), 0, "does not survive YAML; this is a fault of the tool", "round-trip")
        )


def write_text(book: Handbook, path: Path, text: str) -> bool:
    """Replace a file by a whole new one, or leave it where it says the same; tell whether it changed."""
    data = text.encode("utf-8")
    require_no_link(book, path)
    try:
        if path.is_file() and path.read_bytes() == data:
            return False
    except OSError as error:
        raise unwritable(book, path, error) from error
    write_bytes(book, path, data)
    return True


def write_bytes(book: Handbook, path: Path, data: bytes, executable: bool = False) -> None:
    """Replace a file by a whole new one; readers see the old or the new, never a part."""
    require_no_link(book, path)
    temporary = path.with_name(f".{path.name}.tmp-{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with temporary.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if executable:
            temporary.chmod(0o755)
        temporary.replace(path)
    except BaseException as error:
        with contextlib.suppress(OSError):
            temporary.unlink()
        if not isinstance(error, OSError):
            raise
        raise unwritable(book, path, error) from error


def require_no_link(book: Handbook, path: Path) -> None:
    """Raise CaptureError where a folder between the handbook's root and one of its files is a link to another."""
    for folder in path.parents:
        if folder == book.root or book.root not in folder.parents:
            return
        if folder.is_symlink():
            message = "is a link, and nothing is written through it; put the folder itself there"
            raise CaptureError(Problem(book.relative(folder), 0, message, "unreadable"))


def unwritable(book: Handbook, path: Path, error: OSError) -> CaptureError:
    """Return the error for a file that cannot be written."""
    reason = error.strerror or type(error).__name__
    message = f"cannot be written: {reason}; free space or mend permissions, then run again"
    return CaptureError(Problem(book.relative(path), 0, message, "write"))


def sweep(book: Handbook, label: str) -> int:
    """Remove temporary files that a killed run left in a host's folder; return how many."""
    import psutil  # here, since few commands need it and all would wait for it

    removed = 0
    folder = book.captures / label
    require_no_link(book, folder / "host.yaml")
    for path in folder.rglob(".*.tmp-*") if folder.is_dir() else ():
        if _TEMPORARY.fullmatch(path.name) and not psutil.pid_exists(int(path.name.rsplit("-", 1)[1])):
            with contextlib.suppress(OSError):
                path.unlink()
                removed += 1
    return removed
