"""What programs draw on a terminal ends as the terminal shows it; pyte, another terminal, is asked as well."""

from __future__ import annotations

import time
import unicodedata

import pyte
import pytest
from harness.properties import EXAMPLES
from hypothesis import given
from hypothesis import strategies as st

from capture.record import terminal, text_rules
from capture.record.text_rules import Places

LETTERS = ("a", "Z9", "words here", "█▌", "é", "-", "  ")
COUNTED = "ABCDEFGXPLMade@"
PLAIN = (
    "\n", "\r", "\b", "\t", "\r\n", "\x1b7up\x1b[A\x1b8", "\x1bD", "\x1bE", "\x1bM", "\x1b[J", "\x1b[0J", "\x1b[1J",
    "\x1b[2J", "\x1b[K", "\x1b[0K", "\x1b[1K", "\x1b[2K", "\x1b[H", "\x1b[3;9H", "\x1b[2;4f", "\x1b[31m", "\x1b[0m",
    "\x1b[1;38;5;208m", "\x1b[?25l", "\x1b[?25h", "\x1b]0;title\x07", "\x1b(B",
)  # fmt: skip
WIDE, HIGH = 160, 100


def shown_by_pyte(text: str) -> list[str]:
    """Return the lines that pyte shows, on a screen that nothing here leaves, without the blank end of each."""
    screen = pyte.Screen(WIDE, HIGH)
    for row in range(HIGH):
        _ = screen.buffer[row]  # pyte deletes no line that it has not yet looked at
    screen.set_mode(pyte.modes.LNM)  # a line end returns the carriage, as a terminal's driver does it
    pyte.Stream(screen).feed(text)
    return bare("\n".join(screen.display))


def bare(text: str) -> list[str]:
    """Return lines without blank ends and without empty lines at the end, tabs written as blanks."""
    lines = [line.expandtabs().rstrip() for line in text.split("\n")]
    while lines and not lines[-1]:
        lines.pop()
    return lines


def drawn() -> st.SearchStrategy[str]:
    """Text as programs draw it.

    Left out is what pyte leaves out or does otherwise: REP, back tabs, the alternate screen, positions saved by CSI or
    restored twice, and CSI `.
    """
    counted = st.builds("\x1b[{}{}".format, st.sampled_from(("", "0", "1", "2", "7")), st.sampled_from(COUNTED))
    return st.lists(st.sampled_from(LETTERS) | st.sampled_from(PLAIN) | counted, max_size=12).map("".join)


@EXAMPLES
@given(drawn())
def test_another_terminal_shows_the_same(text: str) -> None:
    """Movement, erasing, inserting, deleting, tabs and saved positions, in any order."""
    assert bare(terminal.replay(text)[0]) == shown_by_pyte(text)


@EXAMPLES
@given(
    st.lists(
        st.sampled_from(("漢字", "🚀", "e\u0301", "ab", "\r\x1b[K", "\n", "\x1b[4C", "\x1b[4Gx", "ｱ")), max_size=15
    )
)
def test_wide_and_combining_characters_take_the_columns_that_a_terminal_gives_them(pieces: list[str]) -> None:
    """Two for Chinese letters and emoji, none for an accent; pyte cannot say what becomes of half a letter."""
    text = "".join(pieces).replace("\x1b[4Gx", "\r\x1b[K\x1b[4Gx")
    shown = unicodedata.normalize("NFC", terminal.replay(text)[0])
    assert bare(shown) == shown_by_pyte(text)


BARS = {
    "tqdm-nested": (
        "\router:   0%|          | 0/2 [00:00<?]\n\rinner:  50%|#####     | 1/2\x1b[A\r"
        "outer:  50%|#####     | 1/2 [00:01<?]\n\rinner: 100%|##########| 2/2\x1b[A\r"
        "outer: 100%|##########| 2/2 [00:02<?]\n\n\n",
        "outer: 100%|##########| 2/2 [00:02<?]\ninner: 100%|##########| 2/2\n\n",
    ),
    "tqdm-inner-cleared": (
        "\rout: 0/1\n\rin: 1/2\x1b[A\n\r       \r\x1b[A\rout: 1/1\ndone\n", "out: 1/1\ndone\n",
    ),
    "rich-progress": (
        "\x1b[?25lload \x1b[38;5;237m━━━━\x1b[0m  0%\nsave ━━━━  0%\r\x1b[2K\x1b[1A\x1b[2Kload \x1b[31m━━━━\x1b[0m"
        " 100%\nsave ━━━━  50%\r\x1b[2K\x1b[1A\x1b[2Kload ━━━━ 100%\nsave ━━━━ 100%\n\x1b[?25h",
        "load ━━━━ 100%\nsave ━━━━ 100%\n",
    ),
    "click": (
        "\r\x1b[?25l  [------]    0%\x1b[K\r  [###---]   50%  00:00:01\x1b[K\r  [######]  100%\x1b[K\n\x1b[?25h",
        "  [######]  100%\n",
    ),
    "pip": (
        "Collecting x\n\x1b[?25l   ━━━━ 0.0/2.1 MB ? eta -:--:--\r\x1b[2K   ━━━━ 2.1/2.1 MB 9.1 MB/s eta 0:00:00\n"
        "\x1b[?25hInstalled\n",
        "Collecting x\n   ━━━━ 2.1/2.1 MB 9.1 MB/s eta 0:00:00\nInstalled\n",
    ),
    "keras": (
        "\x1b[1m1/3\x1b[0m \x1b[32m━━\x1b[0m\x1b[37m━━━━\x1b[0m \x1b[1m2s\x1b[0m 1s/step - loss: 0.5121" + "\b" * 36
        + "\x1b[1m3/3\x1b[0m ━━━━━━ 0s 9ms/step - loss: 0.25\x1b[K\n",
        "3/3 ━━━━━━ 0s 9ms/step - loss: 0.25\n",
    ),
    "alive": ("\r\x1b[Kwork |> | 1\r\x1b[Kok\x1b[J\nwork |=>| 2\x1b[1G\x1b[0Kend\n", "ok\nend\n"),
    "watch": ("\x1b[H\x1b[2J\x1b[3Jone\n\x1b[H\x1b[2Jtwo\n", "two\n"),
    "pager": ("$ less\n\x1b[?1049h\x1b[Hpage 1\n~\n\x1b[?1049lback\n", "$ less\nback\n"),
    "pager-ended-by-the-limit": ("before\n\x1b[?1049h\x1b[Hpage 1\n", "before\n\npage 1\n"),
    "position-saved": ("a\x1b[sbc\x1b[uX\x1b7Y\x1b8Z\n", "aXZ\n"),
    "box": ("\x1b(0lqk\x1b(B q\n", "┌─┐ q\n"),
    "repeated": ("=\x1b[4b|\n", "=====|\n"),
    "half-a-wide-letter": ("漢字\r\x1b[Cx\n", " x字\n"),
    "tab-written-over": ("a\tb\r12\tB\n", "12      B\n"),
    "tab-kept": ("old\r\x1b[2Kname\tsize\n", "name\tsize\n"),
    "erased-to-end": ("\rcase 12 of 40: warming the cache\rcase 40: ok\x1b[K\n", "case 40: ok\n"),
}  # fmt: skip


@pytest.mark.parametrize(("text", "shown"), BARS.values(), ids=BARS)
def test_a_drawing_ends_as_a_person_sees_it(text: str, shown: str) -> None:
    """term-erase-to-end: progress bars of five kinds, screens that are drawn anew, tables and boxes."""
    assert text_rules.apply(text, Places())[0] == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\x1b[4hb\n", r"a\x1b[4hb"), ("\x1b[2;5rx\n", r"\x1b[2;5rx"), ("a\x1b[3Sb\n", r"a\x1b[3Sb"),
        ("\x1bHa\n", r"\x1bHa"),
        ("\x1b#8\n", r"\x1b#8"), ("old\r\x1bNx\n", r"\x1bNxd"), ("\x1b[1\n", r"\x1b[1"), ("a\r\x07b\n", r"\x07b"),
        ("\x9b31mred\r\n", r"\x9b31mred"), ("\x1b[5Kx\n", r"\x1b[5Kx"), ("\x1b[?Jx\n", r"\x1b[?Jx"),
    ],
)  # fmt: skip
def test_what_is_not_understood_is_shown(text: str, shown: str) -> None:
    """Insert mode, scrolling regions, tab stops, half a code: a reader sees that something stood there."""
    assert text_rules.apply(text, Places())[0] == f"{shown}\n"


@pytest.mark.parametrize("text", ["", "a\tb\x0cc  \n\n", "e\u0301 漢\u200b\x00", "no end", "\x07\x85\n"])
def test_text_without_codes_is_no_drawing(text: str) -> None:
    """It is returned as it is, and no rule is named."""
    assert terminal.replay(text) == (text, ())


def test_what_follows_a_gap_writes_neither_over_it_nor_over_what_stands_before() -> None:
    """Of a flood of two bars only head and tail are kept; the tail moves up to lines that are not there."""
    gap = text_rules.elision_line(90_000, 155_536)
    text, _ = text_rules.apply(f"title\nbar 1%\n\x1b[A\rbar 2%\n{gap}9%\x1b[5A\rbar 100%\n", Places())
    assert text == f"title\nbar 2%\n{gap}bar 100%\n"


UNITS = (
    "\x1b[999999999Cx\n", "\x1b[99999999Bx", "\x1b[99999999;99999999Hx", "\x1b[999999999@", "\x1b[99999999L", "\x1b[b",
    "\x1b[2J\n", "\x1b[1Jx\n", "\x1b[999999999b", "\x1bM", "\t\x1b[@", "漢\x1b[P", "\u0301\r", "\x00\r", "x\x1b[80C\r",
    "\x1b[?1049hx", "\n\x1b[1J", "\x1b[M\n\n", "\x1b7\x1b8\n", "\x1b[" + "9" * 5000 + "C",
)  # fmt: skip


@pytest.mark.parametrize("unit", UNITS)
def test_no_drawing_takes_long_or_grows_beyond_use(unit: str) -> None:
    """64 KiB of any one code end in seconds at the very most, in at most four times the text, and without a code."""
    before = time.process_time()
    for start in ("", "x" * 9000 + "\r", "\n" * 9000 + "\t" * 999 + "\r"):
        shown, _ = text_rules.apply(start + unit * ((65536 - len(start)) // len(unit)), Places())
        assert len(shown) <= 2**18 + 8
        assert "\x1b" not in shown
    assert time.process_time() - before < 10
