"""The numbers of two outputs beside each other: which moved, how they are named, and what is no number at all."""

from __future__ import annotations

import math
from typing import Any

import pytest
from harness.handbooks import script
from harness.headers import BODY, TIMED, parse
from harness.properties import EXAMPLES, captured_text, rows
from hypothesis import given

from capture.review import number_alignment
from capture.review.number_alignment import MovedNumber
from capture.snippet.snippet import Snippet

NAMED = {
    "values": {"loss": r"loss +(\S+)", "speed": r"(\S+) tokens"},
    "compare": {"relative": {"loss": 1e-3}, "ratio": {"speed": 2.0}},
}


@pytest.fixture(scope="module")
def make(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Return a function from header options to a snippet."""
    return lambda **options: parse(tmp_path_factory.getbasetemp(), script(BODY, **options))


def moved(snippet: Snippet, old: str, new: str) -> dict[str, tuple[str, str]] | None:
    """Return what became of each number by its name, or None where the words differ."""
    found = number_alignment.moved_numbers(snippet, old, new)
    return None if found is None else {number.name: (number.old, number.new) for number in found}


MOVED: dict[str, tuple[str, str, dict[str, tuple[str, str]]]] = {
    "nothing": ("a 1\n", "a 1\n", {}),
    "words-before": ("warm up\nfloat32 took 0.19 ms\n", "warm up\nfloat32 took 8 ms\n",
                     {"line 2, float32 took": ("0.19", "8")}),
    "no-words": ("1\n", "2\n", {"line 1": ("1", "2")}),
    "columns-stand-apart": ("a    9 ms\n", "a   10 ms\n", {"line 1, a": ("9", "10")}),
    "thousands": ("rows 1,024\n", "rows 2,311,000.5\n", {"line 1, rows": ("1,024", "2,311,000.5")}),
    "list-of-integers": ("[1,2,3]\n", "[1,2,4]\n", {"line 1": ("3", "4")}),
    "exponent": ("1.5e-05\n", "2e+06\n", {"line 1": ("1.5e-05", "2e+06")}),
    "signed": ("x -1.5\n", "x +2\n", {"line 1, x": ("-1.5", "+2")}),
    "zero-of-another-sign": ("x 0.0\n", "x -0.0\n", {"line 1, x": ("0.0", "-0.0")}),
    "not-finite": ("x nan\n", "x 0.5\n", {"line 1, x": ("nan", "0.5")}),
    "infinite": ("x inf\n", "x -inf\n", {"line 1, x": ("inf", "-inf")}),
    "spelled-otherwise": ("x 1.0\n", "x 1.00\n", {"line 1, x": ("1.0", "1.00")}),
    "attached-unit": ("7.3x and 12us\n", "7.4x and 13us\n", {"line 1": ("7.3", "7.4"), "line 1, and": ("12", "13")}),
    "chinese": ("损失 0.50,速度 3 倍\n", "损失 0.05,速度 4 倍\n",
                {"line 1, 损失": ("0.50", "0.05"), "line 1, 速度": ("3", "4")}),
    "beyond-what-a-float-holds": ("x 1e999\n", f"x {'9' * 400}\n", {"line 1, x": ("1e999", "9" * 400)}),
    "address-beside-it": ("<A object at 0x7f3a2b1c> 1\n", "<A object at 0x7f99aaee> 2\n",
                          {"line 1, at": ("1", "2")}),
}  # fmt: skip


@pytest.mark.parametrize(("old", "new", "found"), rows(MOVED))
def test_numbers_are_set_against_each_other(make: Any, old: str, new: str, found: dict[str, tuple[str, str]]) -> None:
    """Each that is printed differently, as it is printed, named by its line and the words before it."""
    assert moved(make(), old, new) == found


WORDS = {
    "word": ("fast 1\n", "slow 1\n"),
    "more-numbers": ("1 2\n", "1 2 3\n"),
    "unit": ("0.9 ms\n", "900 us\n"),
    "digits-of-a-name": ("conv2d 1\n", "conv3d 1\n"),
    "printed-hex": ("flags 0x1f\n", "flags 0x2f\n"),
    "printed-address-alone": ("at 0x7f3a2b1c\n", "at 0x7f99aaee\n"),
    "version": ("torch 2.13.0+cpu\n", "torch 2.14.0+cpu\n"),
    "version-of-four-parts": ("driver 570.1.2.3\n", "driver 570.1.2.4\n"),
    "date": ("on 2026-11-29\n", "on 2026-11-30\n"),
    "time-of-day": ("at 12:30:45\n", "at 12:30:46\n"),
    "nan-to-text": ("x nan\n", "x none\n"),
    "word-with-inf": ("inference 1\n", "infinity 1\n"),
}


@pytest.mark.parametrize(("old", "new"), rows(WORDS))
def test_what_only_looks_like_a_number_is_text(make: Any, old: str, new: str) -> None:
    """Where words differ there is nothing to set in a table: names, versions, dates and a printed `hex()` are words."""
    assert moved(make(), old, new) is None


def test_a_value_gives_its_name_and_its_tolerance(make: Any) -> None:
    """Named numbers are judged by the header, whatever stands behind them; of the others none may move."""
    old, new = "loss 0.5000\n3.0tokens, step 7\n", "loss 0.5001\n7.0tokens, step 8\n"
    snippet = make(values={"loss": r"loss +(\S+)", "speed": r"([\d.]+)tokens"}, compare=NAMED["compare"])
    found = number_alignment.moved_numbers(snippet, old, new)
    assert found == (
        MovedNumber("loss", "0.5000", "0.5001", "share 0.001", within=True, time=False),
        MovedNumber("speed", "3.0", "7.0", "factor 2", within=False, time=False),
        MovedNumber("line 2, step", "7", "8", "none", within=False, time=False),
    )


@pytest.mark.parametrize(("value", "within"), [("nan", True), ("inf", False), ("0", False), ("-0.5", False)])
def test_a_value_that_is_not_finite_is_judged_too(make: Any, value: str, within: bool) -> None:
    """What was no number and still is none is the same; all else is beyond any tolerance."""
    old = "loss nan\n" if value == "nan" else "loss 0.5\n"
    found = number_alignment.moved_numbers(make(**NAMED), f"{old}1\n", f"loss {value}\n2\n")
    assert found is not None
    assert [number.within for number in found if number.name == "loss"] == ([] if value == "nan" else [within])
    assert number_alignment.allowed_tolerance(make(**NAMED), "loss", "nan", "nan")[1]


def test_what_the_header_lets_vary_is_not_told(make: Any) -> None:
    """Numbers inside volatile text say nothing, and do not keep the others from being aligned."""
    snippet = make(compare={"volatile": [r"pid \d+ on \w+"]})
    assert moved(snippet, "pid 17 on a\nx 1\n", "pid 4 on b\nx 2\n") == {"line 2, x": ("1", "2")}


def test_any_number_of_a_timing_may_move(make: Any) -> None:
    """Only the values that its header names are held to a tolerance."""
    found = number_alignment.moved_numbers(make(**TIMED), "a 1 ms\n", "a 900 ms\n")
    assert found == (MovedNumber("line 1, a", "1", "900", "any", within=True, time=True),)


@pytest.mark.parametrize(
    ("unit", "time"),
    [("ms", True), (" us", True), ("µs", True), ("μs", True), (" s", True), ("ns", True), (" GB/s", False),
     (" rows/s", False), ("x", False), (" MiB", False), (" steps", False), ("%", False)],
)  # fmt: skip
def test_a_time_is_told_by_its_unit(make: Any, unit: str, time: bool) -> None:
    """Seconds and their parts are times; rates and sizes are not."""
    found = number_alignment.moved_numbers(make(**TIMED), f"a 1{unit}\n", f"a 2{unit}\n")
    assert found is not None
    assert [number.time for number in found] == [time]


RATIOS = {
    "twice": ("1", "2", 2.0), "half": ("2,000", "1e3", 0.5), "both-negative": ("-1", "-2", 2.0),
    "from-zero": ("0", "2", None), "to-zero": ("2", "0", None), "sign": ("1", "-1", None), "nan": ("nan", "1", None),
    "infinite": ("1", "inf", None), "overflow": ("1e-300", "1e300", None), "underflow": ("1e300", "1e-300", None),
}  # fmt: skip


@pytest.mark.parametrize(("old", "new", "ratio"), rows(RATIOS))
def test_a_ratio_says_something_or_is_left_out(old: str, new: str, ratio: float | None) -> None:
    """New over old, where both have a size and the same sign."""
    number = MovedNumber("x", old, new, "any", within=True, time=True)
    assert number.ratio == ratio
    assert number_alignment.percent_moved(number) == (None if ratio is None else (ratio - 1) * 100)


NOISE = {
    "last-digits": ("0.4804637432098388", "0.4804628789424896", True),
    "exponent": ("1.00001e-05", "1.00002e-05", True),
    "too-far": ("0.4804", "0.4806", False),
    "integer": ("1048576", "1048577", False),
    "one-is-an-integer": ("10000", "10000.1", False),
    "spelling": ("1.0", "1.00", False),
    "signed-zero": ("0.0", "-0.0", False),
    "sign": ("1e-30", "-1e-30", False),
    "nan": ("nan", "0.5", False),
    "version": ("2.13", "2.14", False),
}


@pytest.mark.parametrize(("old", "new", "noise"), rows(NOISE))
def test_only_the_last_digits_of_a_computed_number_are_noise(old: str, new: str, noise: bool) -> None:
    """No instruction set changes an integer, a spelling or the sign of a zero."""
    assert MovedNumber("x", old, new, "none", within=False, time=False).noise is noise


SPEEDS = {
    "faster": ("a 3.1 ms\n", "a 1 ms\n", "3.1 times faster"),
    "slower": ("a 1 ms\n", "a 2.5 ms\n", "2.5 times slower"),
    "equal": ("a 1.00 ms\n", "a 1.01 ms\n", "equally fast"),
    "one-of-two": ("a 4 ms\nb 4 ms\n", "a 1 ms\nb 4 ms\n", "2.0 times faster"),
    "there-and-back": ("a 1 ms\nb 2 ms\n", "a 2 ms\nb 1 ms\n", "equally fast"),
    "no-times": ("a 1 MiB\n", "a 2 MiB\n", ""),
    "other-words": ("a 1 ms\n", "b 2 ms\n", ""),
    "zero": ("a 0.00 ms\n", "a 0.01 ms\n", ""),
    "hostile": ("a 1e-300 s\n" * 3, "a 1e8 s\n" * 3, f"{1e308:.1f} times slower"),
}


@pytest.mark.parametrize(("old", "new", "said"), rows(SPEEDS))
def test_speed_is_the_mean_of_all_times(make: Any, old: str, new: str, said: str) -> None:
    """Times that did not move count as well; the word regression is never said."""
    found = number_alignment.relative_speed(make(**TIMED), old, new)
    if said.startswith("1000"):
        assert found.endswith(" times slower") and "inf" not in found
    else:
        assert found == said


def test_long_outputs_take_no_time(make: Any) -> None:
    """A line of 100,000 numbers is aligned while one looks: a name costs no second reading of the text."""
    old = " ".join(f"{number}.5" for number in range(100_000))
    found = number_alignment.moved_numbers(make(), old, old.replace(".5", ".25"))
    assert found is not None and len(found) == 100_000


@EXAMPLES
@given(captured_text(), captured_text())
def test_aligning_is_total(make: Any, one: str, other: str) -> None:
    """Any two texts can be aligned or not; a text has moved nothing against itself."""
    snippet = make(**NAMED)
    assert number_alignment.moved_numbers(snippet, one, one) == ()
    for number in number_alignment.moved_numbers(snippet, one, other) or ():
        assert number.ratio is None or math.isfinite(number.ratio)
        assert number.old != number.new
