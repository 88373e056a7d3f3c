"""Head and tail of a captured stream: exact at every boundary, never half a character, nothing lost uncounted."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from capture.run import record_assembly
from capture.run.engine import streams
from capture.run.engine.contract import KEPT, CapturedStream


def stored(folder: Path, data: bytes) -> CapturedStream:
    """Write bytes as a captured stream and read it."""
    path = folder / "stream"
    path.write_bytes(data)
    with path.open("rb") as file:
        return streams.read_stream(file)


@pytest.mark.parametrize("size", [0, 1, KEPT - 1, KEPT])
def test_what_fits_is_kept_whole(tmp_path: Path, size: int) -> None:
    """Up to the limit nothing is left out, and no line is added."""
    data = b"x" * size
    found = stored(tmp_path, data)
    assert (found.head + found.tail, found.total, found.left_out) == (data, size, 0)
    assert record_assembly.joined(found) == data


@pytest.mark.parametrize(
    "data",
    [
        b"x" * (KEPT + 1),
        b"line\n" * KEPT,
        b"\n" * (KEPT + 1),
        b"x" * KEPT * 2 + b"\n",
        b"\n" + b"x" * KEPT * 2,
        b"\x80" * (KEPT + 7),
        bytes(range(256)) * KEPT,
        *("é".encode() * (KEPT + shift) + b"x" * shift for shift in range(3)),
        *(b"x" * shift + "流".encode() * KEPT for shift in range(4)),
        *(b"x" * shift + "🚀".encode() * KEPT for shift in range(5)),
    ],
)
def test_what_does_not_fit_is_cut_in_the_middle(tmp_path: Path, data: bytes) -> None:
    """Head and tail are the true ends; what lies between is counted to the byte; the gap is told on its own line."""
    found = stored(tmp_path, data)
    assert data.startswith(found.head) and data.endswith(found.tail)
    assert found.total == len(data)
    assert len(found.head) + found.left_out + len(found.tail) == len(data)
    assert KEPT - 2 * streams.EDGE <= len(found.head + found.tail) <= KEPT
    assert f"\n… {found.left_out:,} of {len(data):,} bytes left out …\n".encode() in b"\n" + record_assembly.joined(
        found
    )


@settings(max_examples=40, deadline=None)
@given(st.text(st.sampled_from("aé流🚀\n"), min_size=200, max_size=400), st.integers(0, 3))
def test_no_character_is_cut_in_two(tmp_path_factory: pytest.TempPathFactory, text: str, shift: int) -> None:
    """Whatever valid text is cut, both parts are valid text."""
    data = b"x" * shift + text.encode() * 1000
    found = stored(tmp_path_factory.mktemp("stream"), data)
    assert found.head.decode() + found.tail.decode()


def test_lines_are_not_cut_where_they_are_short(tmp_path: Path) -> None:
    """The head ends and the tail starts with a whole line."""
    found = stored(tmp_path, b"".join(b"row %06d\n" % number for number in range(20000)))
    assert found.head.endswith(b"\n") and found.head.startswith(b"row 000000\n")
    assert found.tail.startswith(b"row ") and found.tail.endswith(b"row 019999\n")


@pytest.mark.parametrize("before", [b"", b"own words\n", b"half a line"])
def test_report_of_a_crash_is_cut_off(tmp_path: Path, before: bytes) -> None:
    """The interpreter's report leaves the stream, wherever the snippet's own text ended."""
    path = tmp_path / "stderr"
    path.write_bytes(before + b'Fatal Python error: Aborted\n\nCurrent thread:\n  File "case.py", line 5\n')
    with path.open("rb") as file:
        own, report = streams.split_report(file, 0)
    assert own.head == before
    assert report.startswith("Fatal Python error: Aborted\n") and report.endswith("line 5\n")


def test_report_after_much_output_is_found(tmp_path: Path) -> None:
    """A long stream and a long report are no obstacle; the report is bounded."""
    path = tmp_path / "stderr"
    own = b"warning\n" * 100_000
    path.write_bytes(own + b"Fatal Python error: Segmentation fault\n" + b"  File x, line 1\n" * 9000)
    with path.open("rb") as file:
        found, report = streams.split_report(file, 0)
    assert found.total == len(own)
    assert 0 < len(report) <= streams.REPORT_KEPT


def test_text_before_the_limit_is_no_report(tmp_path: Path) -> None:
    """What a snippet printed before its time was over is its own, whatever it says."""
    own = b"Fatal Python error: a quotation\n"
    path = tmp_path / "stderr"
    path.write_bytes(own + b"Fatal Python error: Aborted\nstack\n")
    with path.open("rb") as file:
        found, report = streams.split_report(file, len(own))
    assert (found.head, report) == (own, "Fatal Python error: Aborted\nstack\n")
