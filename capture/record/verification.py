"""A verification: which records of a host were reproduced when their snippets were executed again elsewhere.

It is a build artifact, from which pages say "re-run by CI"; it is never committed.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from capture import plain_data
from capture.errors import CaptureError, Problem
from capture.host.host import LABEL
from capture.plain_data import ShapeError, about
from capture.record.record import HEX64, require_date
from capture.snippet.snippet import SNIPPET_ID

SCHEMA = 1
Outcome = Literal["reproduced", "differs", "skipped"]


@dataclass(frozen=True)
class VerificationEnvironment:
    """Where the snippets were executed again."""

    chip: str = field(metadata=about("the processors in one line"))
    os: str = field(metadata=about("distribution, kernel, architecture"))
    python: str
    torch: str | None = field(metadata=about("full version with local suffix; null when not importable"))


@dataclass(frozen=True)
class Reproduction:
    """What became of one record."""

    snippet: str
    host: str
    content_sha256: str | None = field(metadata=about("of the record compared with; null where there is none to read"))
    outcome: Outcome
    class_: str | None = field(metadata=about("class of the change; null where nothing was compared"))
    detail: str = field(metadata=about("what differs, or why it was skipped"))


@dataclass(frozen=True)
class Verification:
    """One verification of the records of one host."""

    schema: int
    against: str = field(metadata=about("label of the host whose records were compared with"))
    tool: str = field(metadata=about("version of the tool"))
    date: str = field(metadata=about("date of the execution, YYYY-MM-DD"))
    environment: VerificationEnvironment
    results: tuple[Reproduction, ...]

    @functools.cached_property
    def by_record(self) -> Mapping[tuple[str, str], Reproduction]:
        """The results by (label, snippet id)."""
        return {(item.host, item.snippet): item for item in self.results}


def text(item: Verification) -> str:
    """Return a verification as it is written."""
    return json.dumps(plain_data.encode(item), indent=1, ensure_ascii=False)


def parse(written: str, name: str, remedy: str) -> Verification:
    """Return a verification from its text; raises CaptureError that names the file, what is wrong, and the remedy."""
    try:
        return decode(json.loads(written))
    except ShapeError as error:
        raise unreadable(name, 0, f"is no verification: {error}", remedy) from error
    except CaptureError as error:
        raise unreadable(name, 0, str(error), remedy) from error
    except json.JSONDecodeError as error:
        raise unreadable(name, error.lineno, f"is no JSON ({error.msg})", remedy) from error
    except (ValueError, RecursionError) as error:
        raise unreadable(name, 0, f"is no JSON that can be read ({type(error).__name__})", remedy) from error


def unreadable(name: str, line: int, message: str, remedy: str) -> CaptureError:
    """Return the error for a file that cannot be used."""
    return CaptureError(Problem(name, line, f"{message}; {remedy}", "verification"))


def decode(data: object) -> Verification:
    """Build a Verification from plain data.

    Raises ShapeError naming the field, or CaptureError for a schema newer than this tool.
    """
    verification = plain_data.decode_versioned(Verification, data, SCHEMA)
    if not LABEL.fullmatch(verification.against):
        raise ShapeError("against", "expected a host label")
    require_date("date", verification.date)
    for number, item in enumerate(verification.results):
        compared = item.outcome != "skipped"
        for name, value, pattern, form, needed in (
            ("snippet", item.snippet, SNIPPET_ID, "chapter/name", True),
            ("host", item.host, LABEL, "a host label", True),
            ("content_sha256", item.content_sha256, HEX64, "64 hex digits", compared),
        ):
            if (needed or value is not None) and not pattern.fullmatch(value or ""):
                raise ShapeError(f"results[{number}].{name}", f"expected {form}")
    if len(verification.by_record) < len(verification.results):
        raise ShapeError("results", "one record stands there twice")
    return verification
