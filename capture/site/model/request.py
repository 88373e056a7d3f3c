"""What an author asked for in a fence or in a captured value."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from capture.errors import CaptureError, Problem, suggestion
from capture.host.host import LOCAL
from capture.snippet.snippet import Snippet
from capture.store.catalogue import Catalogue

_FENCE_OPTIONS = ("host", "show", "lines")
_SHOWN_PARTS = ("source", "output", "both")
_LINE_RANGE = re.compile(r"(\d+)(?:-(\d+))?")


@dataclass(frozen=True)
class FenceRequest:
    """A fence, read: which snippet, which host first, which parts, which lines."""

    snippet: Snippet
    host: str | None
    show: str
    lines: tuple[int, int] | None


@dataclass(frozen=True)
class ValueRequest:
    """An inline value, read; `host` is None for the handbook's default host."""

    snippet: Snippet
    value: str
    host: str | None


def parse_fence(body: str, options: Mapping[str, object], catalogue: Catalogue) -> FenceRequest:
    """Read a fence; raises CaptureError with every fault found."""
    faults: list[str] = []
    faults += [
        f'unknown option "{name}"{suggestion(str(name), _FENCE_OPTIONS)}'
        for name in options
        if name not in _FENCE_OPTIONS
    ]
    show = str(options.get("show", "both"))
    if show not in _SHOWN_PARTS:
        faults.append(f'show="{show}"{suggestion(show, _SHOWN_PARTS)}')
    label = options.get("host")
    host = None
    try:
        host = _existing_host(str(label), catalogue) if label is not None else None
    except CaptureError as error:
        faults += map(str, error.problems)
    names = [line.strip() for line in body.splitlines() if line.strip()]
    if len(names) != 1:
        faults.append(f"a capture fence holds one snippet id, such as instruments/bf16_linear; found {len(names)}")
        raise CaptureError(*faults)
    try:
        snippet = _existing_snippet(names[0], catalogue)
    except CaptureError as error:
        raise CaptureError(*faults, *error.problems) from error
    lines = None
    if "lines" in options:
        try:
            lines = _parse_line_range(str(options["lines"]), snippet)
        except CaptureError as error:
            faults += map(str, error.problems)
    if faults:
        raise CaptureError(*faults)
    return FenceRequest(snippet, host, show, lines)


def parse_inline_value(text: str, catalogue: Catalogue) -> ValueRequest:
    """Read `ID VALUE[@HOST]`; raises CaptureError."""
    words = text.split()
    if len(words) != 2:
        raise CaptureError(f'write a captured value as "#!captured ID VALUE" or "… VALUE@HOST"; found "{text}"')
    value, at, label = words[1].partition("@")
    snippet = _existing_snippet(words[0], catalogue)
    if value not in snippet.values:
        known = suggestion(value, snippet.values) or "; its header declares none"
        raise CaptureError(f'snippet "{snippet.id}" has no value "{value}"{known}')
    return ValueRequest(snippet, value, _existing_host(label, catalogue) if at else None)


def _existing_snippet(name: str, catalogue: Catalogue) -> Snippet:
    """Return the snippet; raises CaptureError with the nearest id, or with what is wrong in its header."""
    if name in catalogue.snippets:
        return catalogue.snippets[name]
    faulty = [item for item in catalogue.problems if item.path == f"snippets/{name}.py"]
    if faulty:
        raise CaptureError(f'snippet "{name}" cannot be read: {faulty[0]}')
    raise CaptureError(f'no snippet "{name}"{suggestion(name, catalogue.snippets)}')


def _existing_host(label: str, catalogue: Catalogue) -> str:
    """Return the label; raises CaptureError with the nearest one. A page may not name `local`.

    Before any host has captured there is nothing to compare with, and a fresh handbook builds.
    """
    if label == LOCAL:
        raise CaptureError(
            'host "local" is whatever machine a reader is on, and never published; name a host under docs/captures/'
        )
    others = [name for name in catalogue.hosts if name != LOCAL]
    if others and label not in others:
        raise CaptureError(f'no host "{label}"{suggestion(label, others)}')
    return label


def _parse_line_range(text: str, snippet: Snippet) -> tuple[int, int]:
    """Return first and last line; raises CaptureError where they leave the source."""
    match = _LINE_RANGE.fullmatch(text.strip())
    if not match:
        raise CaptureError(f'lines="{text}": write one range, such as lines="3-12"')
    first, last = int(match[1]), int(match[2] or match[1])
    count = snippet.source.rstrip("\n").count("\n") + 1
    if not 1 <= first <= last <= count:
        raise CaptureError(f'lines="{text}": {snippet.path} has lines 1 to {count} above its header')
    return first, last


def joined_problems(problems: Iterable[Problem | str]) -> str:
    """Return problems as one line, in the author's order."""
    return "; ".join(str(problem) for problem in problems)
