"""Captured text on a page: bounded, searchable in part, and never able to act."""

import pytest

from capture.errors import plural
from capture.site.model import output_text
from capture.site.model.output_text import PAGE_LIMIT, SEARCH_LIMIT


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("\x02wzxhzdk:0\x03", "\\x02wzxhzdk:0\\x03"),
        ("\x1b[31mred", "\\x1b[31mred"),
        ("a\u202eb\u2066c", "a\\u202eb\\u2066c"),
        ("half \ud83d", "half \\ud83d"),
        ("\u2028", "\\u2028"),
        ("tab\tand\nline", "tab\tand\nline"),
        ("半精度 ✅ שלום", "半精度 ✅ שלום"),
    ],
)
def test_control_characters_show_and_other_text_stays(raw, shown):
    """What could act, or stop the page from being written, becomes an escape; everything else is untouched."""
    assert output_text.printable(raw) == shown
    output_text.printable(raw).encode("utf-8")


def test_short_output_is_whole():
    """Nothing is left out below the limits."""
    stream = output_text.bounded_stream("one\ntwo\n")
    assert (stream.indexed, stream.rest, stream.cut, stream.tail, stream.lines) == ("one\ntwo", "", "", "", 2)


def test_no_output_is_false():
    """A panel can ask whether there is anything to show; blank lines alone are nothing."""
    assert not output_text.bounded_stream("\n\n")


def test_only_the_beginning_is_indexed():
    """Beyond the search limit, at a line end, text shows and is not searched."""
    stream = output_text.bounded_stream("".join(f"step {number}\n" for number in range(1000)))
    assert len(stream.indexed) <= SEARCH_LIMIT
    assert stream.indexed.endswith("\n")
    assert not stream.cut
    assert (stream.indexed + stream.rest).count("\n") == 999


def test_long_output_keeps_head_and_tail_with_a_count():
    """Head, what is left out, and tail make up the whole; both ends stand at line ends."""
    whole = "".join(f"step {number} loss {number / 7:.6f}\n" for number in range(3000))
    stream = output_text.bounded_stream(whole)
    head = stream.indexed + stream.rest
    assert len(head) + len(stream.tail) <= PAGE_LIMIT
    assert head.startswith("step 0 ")
    assert stream.tail.endswith("step 2999 loss 428.428571")
    shown = len(head.splitlines()) + len(stream.tail.splitlines())
    assert stream.cut.startswith(f"{3000 - shown:,} lines, ")
    assert stream.lines == 3000


def test_one_endless_line_is_cut_too():
    """A line longer than a page is cut within."""
    stream = output_text.bounded_stream("x" * 100_000)
    assert stream.cut == "1 line, 80,000 characters, left out here"


def test_words():
    """Dates, counts and lists read as English on every machine."""
    assert output_text.written_day("2026-11-09") == "9 Nov 2026"
    assert output_text.written_day("2026-13-09") == "2026-13-09"
    assert [plural(1, "line"), plural(2500, "line")] == ["1 line", "2,500 lines"]
    assert [
        output_text.joined_with_and([]),
        output_text.joined_with_and("a"),
        output_text.joined_with_and("ab"),
        output_text.joined_with_and("abc"),
    ] == [
        "",
        "a",
        "a and b",
        "a, b and c",
    ]
