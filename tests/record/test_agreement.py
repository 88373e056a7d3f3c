"""Whether two captures of one host say the same, under the policy that the snippet's header declares."""

from __future__ import annotations

import re
import typing
from typing import Any

import pytest
from harness.handbooks import record, script
from harness.headers import BODY, parse
from harness.properties import EXAMPLES, captured_text, rows
from hypothesis import given
from hypothesis import strategies as st

from capture.host.environment import Conditions
from capture.record import agreement
from capture.record.agreement import Agreement
from capture.snippet import pattern
from capture.snippet.snippet import Snippet

SPEED = {
    "timing": True,
    "values": {"slowdown": r"slowdown +([\d.]+|nan|inf|-)x", "dtype": r"dtype (\w+)"},
    "compare": {"ratio": {"slowdown": 3.0}},
}
LOSS = {"values": {"loss": r"loss +(\S+)"}, "compare": {"relative": {"loss": 1e-4}}}


@pytest.fixture(scope="module")
def make(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Return a function from header options to a snippet."""
    return lambda **options: parse(tmp_path_factory.getbasetemp(), script(BODY, **options))


def change(snippet: Snippet, old: str, new: str) -> Agreement:
    """Return the change between two outputs of a snippet."""
    return agreement.classify(snippet, record(snippet.id, stdout=old), record(snippet.id, stdout=new))


EXACT = {
    "identical": ("a  1\n", "a  1\n", "identical", ""),
    "empty": ("", "", "identical", ""),
    "cmp-lib-repr": (
        "[1.5, 2.0]\n", "[np.float64(1.5), np.float64(2.0)]\n", "text changed",
        'line 1: "[1.5, 2.0]" -> "[np.float64(1.5), np.float64(2.0)]"',
    ),
    "cmp-isa": (
        "0.4804637432098388\n", "0.4804628789424896\n", "text changed",
        'line 1: "0.4804637432098388" -> "0.4804628789424896"',
    ),
    "second-line": ("a\nb\n", "a\nc\n", "text changed", 'line 2: "b" -> "c"'),
    "added-line": ("a\n", "a\nb\n", "text changed", 'line 2: "" -> "b"'),
    "lost-output": ("a\n", "", "text changed", 'line 1: "a" -> ""'),
    "alignment": ("a   1\nbb  2\n", "a  1\nbb 2\n", "text changed", 'line 1: "a   1" -> "a  1"'),
    "indentation": ("a\n  b\n", "a\n b\n", "text changed", 'line 2: "  b" -> " b"'),
    "letter-case": ("True\n", "true\n", "text changed", 'line 1: "True" -> "true"'),
    "long-line": ("x" * 80 + "\n", "y" * 80 + "\n", "text changed", f'line 1: "{"x" * 60}…" -> "{"y" * 60}…"'),
    "exec-repr-address": (
        "<generator object f at 0x7f3a2b1c4d60>\n", "<generator object f at 0x7fffdeadbeef>\n", "volatile only", "",
    ),
    "nested-repr": ("<bound method A.f of <A object at 0x7f3a2b>>\n", "<bound method A.f of <A object at 0x7f99aa>>\n",
                    "volatile only", ""),
    "code-object": ('<code object f at 0x7f3a2b, file "x">\n', '<code object f at 0x7f99aa, file "x">\n',
                    "volatile only", ""),
    "cell": ("<cell at 0x7f3a2b: int object at 0x7f3a2c>\n", "<cell at 0x7f99aa: int object at 0x7f99ab>\n",
             "volatile only", ""),
    "weak-reference": ("<weakref at 0x7f3a2b; to 'A' at 0x7f3a2c>\n", "<weakref at 0x7f99aa; to 'A' at 0x7f99ab>\n",
                       "volatile only", ""),
    "future": ("<Future at 0x7f3a2b state=pending>\n", "<Future at 0x7f99aa state=pending>\n", "volatile only", ""),
    "printed-hex-in-brackets": ("<flags 0x7f3a2b>\n", "<flags 0x7f99aa>\n", "text changed",
                                'line 1: "<flags 0x7f3a2b>"'),
    "printed-hex": ("flags 0x7f3a2b\n", "flags 0x7f99aa\n", "text changed", 'line 1: "flags 0x7f3a2b" ->'),
    "class-changed": ("<A object at 0x7f3a2b>\n", "<B object at 0x7f3a2b>\n", "text changed",
                      'line 1: "<A object at <address>>" -> "<B object at <address>>"'),
}  # fmt: skip


@pytest.mark.parametrize(("old", "new", "kind", "detail"), rows(EXACT))
def test_text_is_compared_exactly_by_default(make: Any, old: str, new: str, kind: str, detail: str) -> None:
    """Digits, blanks and lines; only the addresses in a default repr may differ."""
    found = change(make(), old, new)
    assert found.kind == kind
    assert found.detail.startswith(detail)
    assert found.same == (kind in ("identical", "volatile only"))


RATIOS = {
    "within": ("slowdown 42.7x\n", "slowdown 20.1x\n", "number within tolerance", "slowdown: 42.7 -> 20.1"),
    "at-the-limit": ("slowdown 1x\n", "slowdown 3x\n", "number within tolerance", "slowdown: 1 -> 3"),
    "beyond": ("slowdown 42.7x\n", "slowdown 9.9x\n", "number beyond tolerance", "slowdown: 42.7 -> 9.9"),
    "to-zero": ("slowdown 1x\n", "slowdown 0x\n", "number beyond tolerance", "slowdown: 1 -> 0"),
    "infinite": ("slowdown infx\n", "slowdown 2x\n", "number beyond tolerance", "slowdown: inf -> 2"),
    "no-number": ("slowdown 1x\n", "slowdown nanx\n", "number beyond tolerance", "slowdown: 1 -> nan"),
    "still-no-number": ("slowdown nanx 1 ms\n", "slowdown nanx 2 ms\n", "volatile only", ""),
    "number-to-text": ("slowdown 1x\n", "slowdown -x\n", "text changed", "slowdown: 1 -> -"),
    "lost": ("slowdown 1x\n", "faster\n", "text changed", "matches nothing"),
    "twice": ("slowdown 1x\n", "slowdown 1x\nslowdown 1x\n", "text changed", "matches 2 times"),
    "column-width": ("a   9.99 ms\nslowdown  2.0x\n", "a  10.01 ms\nslowdown  2.1x\n", "number within tolerance", ""),
    "header-width": ("n  time\nx  1 ms\n slowdown 2x\n", "n   time\nx   10 ms\n slowdown 2x\n", "volatile only", ""),
    "attached-unit": ("0.19ms 61.2% 12us 3x\nslowdown 2x\n", "0.21ms 58.0% 9us 4x\nslowdown 2x\n", "volatile only", ""),
    "thousands": ("1,024 rows/s\nslowdown 2x\n", "2,311 rows/s\nslowdown 2x\n", "volatile only", ""),
    "exponent": ("1.5e-05 s\nslowdown 2x\n", "2.5e-06 s\nslowdown 2x\n", "volatile only", ""),
    "dtype": ("dtype bf16\nslowdown 2x\n", "dtype fp32\nslowdown 2x\n", "text changed", 'line 1: "dtype bf16" ->'),
    "digits-of-a-name": ("conv2d 1 ms\nslowdown 2x\n", "conv3d 1 ms\nslowdown 2x\n", "text changed", 'line 1: "conv2d'),
    "version": ("torch 2.13.0 slowdown 2x\n", "torch 2.14.0 slowdown 2x\n", "text changed", 'line 1: "torch 2.13.0'),
    "word": ("fast 1 ms\nslowdown 2x\n", "slow 1 ms\nslowdown 2x\n", "text changed", 'line 1: "fast <number> ms"'),
}  # fmt: skip


@pytest.mark.parametrize(("old", "new", "kind", "detail"), rows(RATIOS))
def test_a_timing_says_the_same_within_its_factor(make: Any, old: str, new: str, kind: str, detail: str) -> None:
    """The named value decides; other numbers and column widths of a timing vary, its words do not."""
    found = change(make(**SPEED), old, new)
    assert found.kind == kind
    assert detail in found.detail


TOLERANCES = {
    "cmp-isa-declared": ("loss 0.4804637\n", "loss 0.4804628\n", "number within tolerance"),
    "beyond": ("loss 0.4804\n", "loss 0.4806\n", "number beyond tolerance"),
    "negative": ("loss -0.4804637\n", "loss -0.4804628\n", "number within tolerance"),
    "sign": ("loss 0.0001\n", "loss -0.0001\n", "number beyond tolerance"),
    "from-zero": ("loss 0\n", "loss 1e-30\n", "number beyond tolerance"),
    "diverged": ("loss 0.5\n", "loss inf\n", "number beyond tolerance"),
    "diverged-the-other-way": ("loss -inf\n", "loss inf\n", "number beyond tolerance"),
    "overflow": ("loss 1e300\n", "loss -1.7e308\n", "number beyond tolerance"),
    "spelling": ("loss 1.0\n", "loss 1.00\n", "volatile only"),
    "another-number": ("loss 1.0\nstep 3\n", "loss 1.0\nstep 4\n", "text changed"),
    "another-text": ("loss 1.0\n", "loss 1.00001 up\n", "text changed"),
}


@pytest.mark.parametrize(("old", "new", "kind"), rows(TOLERANCES))
def test_a_number_says_the_same_within_its_relative_tolerance(make: Any, old: str, new: str, kind: str) -> None:
    """Only the named value may move; a snippet that is no timing keeps every other digit."""
    assert change(make(**LOSS), old, new).kind == kind


def test_a_mask_shows_what_is_compared(make: Any) -> None:
    """Only the group of a value is replaced, and a group that took no part in the match replaces nothing."""
    snippet = make(values={"x": r"took (\d+) of", "y": r"maybe(?: (\d+))?"}, compare={"ratio": {"x": 2.0, "y": 2.0}})
    assert (
        agreement.mask(snippet, "it took 12 of 12\nmaybe\nmaybe 3\n")
        == "it took <number> of 12\nmaybe\nmaybe <number>\n"
    )


def test_volatile_text_may_differ(make: Any) -> None:
    """What the header says varies is masked, with the blanks that align it; nothing else is."""
    snippet = make(compare={"volatile": [r"\d+ ms", r"pid \d+"]})
    assert change(snippet, "took 12 ms, pid 7\n", "took   9 ms, pid 18\n").kind == "volatile only"
    assert change(snippet, "took 12 ms, pid 7\n", "took 12 s, pid 7\n").kind == "text changed"


@pytest.mark.parametrize(
    ("old", "new", "detail"),
    [
        ({"status": "ok"}, {"status": "error", "exit_code": 1}, "ok (exit 0) -> error (exit 1)"),
        ({"exit_code": 3}, {"exit_code": 4}, "ok (exit 3) -> ok (exit 4)"),
        ({"status": "ok"}, {"status": "timeout", "exit_code": None}, "ok (exit 0) -> timeout"),
    ],
)
def test_another_end_is_the_worst_change(make: Any, old: dict[str, Any], new: dict[str, Any], detail: str) -> None:
    """It is told before any difference of the text."""
    found = agreement.classify(make(), record("a/b", **old), record("a/b", stdout="other\n", **new))
    assert (found, found.same) == (Agreement("status changed", detail), False)


def test_error_output_counts_but_for_carets_and_addresses(make: Any) -> None:
    """exec-traceback-version: Python versions underline differently; a new warning is a change."""
    old = 'Traceback:\n  File "x.py", line 3\n    f(a, b)\n    ^^^^^^^\nValueError: <A object at 0x7f3a2b>\n'
    new = 'Traceback:\n  File "x.py", line 3\n    f(a, b)\n    ~^^^^^^\nValueError: <A object at 0x7f99aa>\n'

    def of(one: str, other: str) -> Agreement:
        return agreement.classify(make(), record("a/b", stderr=one), record("a/b", stderr=other))

    assert of(old, new) == Agreement("volatile only", "stderr")
    assert of(old, new.replace("line 3", "line 4")).kind == "text changed"
    assert of("same\n", "same\n") == Agreement("identical")
    both = agreement.classify(
        make(), record("a/b", stdout="x\n", stderr="w\n"), record("a/b", stdout="y\n", stderr="v\n")
    )
    assert both == Agreement("text changed", 'line 1: "x" -> "y"')
    assert of("", "Warning: x\n") == Agreement("text changed", 'stderr: line 1: "" -> "Warning: x"')


def test_a_difference_beyond_tolerance_hides_no_other(make: Any) -> None:
    """A number that moved, within its tolerance or beyond, beside changed text is changed text, which is worse."""
    for number in ("2.1", "9"):
        assert change(make(**SPEED), "a\nslowdown 2x\n", f"b\nslowdown {number}x\n").kind == "text changed"


def test_the_classes_are_ordered_worst_first() -> None:
    """As a reviewer reads them; only the last three say the same."""
    kinds = typing.get_args(agreement.ChangeKind)
    assert [kind for kind in kinds if Agreement(kind).same] == list(kinds[3:])


@pytest.mark.parametrize(
    ("before", "place", "after"), [(90, "x", 0), (90, "x", 40), (0, "x", 90), (200, "xy", 200), (59, "x", 0)]
)
def test_both_halves_show_the_first_difference(make: Any, before: int, place: str, after: int) -> None:
    """Of long lines the part around it, wherever it stands, with a mark where something is left out."""
    old, new = (f"{'a' * before}{middle}{'b' * after}\n" for middle in (place, "other"))
    detail = change(make(), old, new).detail
    one, other = detail.removeprefix("line 1: ").split(" -> ")
    assert place in one and "other" in other
    assert len(one) <= 64 and len(other) <= 64
    assert one.startswith('"…') == (len(old) > 61 and before > 30)
    assert one.endswith('…"') == (after > 30)


def test_a_difference_of_errors_is_the_one_that_counts(make: Any) -> None:
    """Not an address or a caret that differs before it."""
    old = "at <A object at 0x7f3a2b>\nValueError: 3\n"
    new = "at <A object at 0x7f99aa>\nValueError: 4\n"
    found = agreement.classify(make(), record("a/b", stderr=old), record("a/b", stderr=new))
    assert found.detail == 'stderr: line 2: "ValueError: 3" -> "ValueError: 4"'


def test_integers_are_told_and_compared_in_full(make: Any) -> None:
    """The last of twenty digits is a difference, and stands in the message."""
    snippet = make(values={"n": r"n (\S+)"}, compare={"absolute": {"n": 1}})
    found = change(snippet, f"n {2**64}\n", f"n {2**64 + 2}\n")
    assert found == Agreement("number beyond tolerance", "n: 18446744073709551616 -> 18446744073709551618")
    assert change(snippet, f"n {2**64}\n", f"n {2**64 + 1}\n").kind == "number within tolerance"
    assert change(snippet, "n 1234567.25\n", "n 1234567.5\n").detail == "n: 1234567.25 -> 1234567.5"


def test_a_ratio_that_says_nothing_is_told(make: Any) -> None:
    """ratio-zero-negative: equal zeros agree; a zero beside another number is beyond tolerance, with the reason."""
    snippet = make(values={"n": r"n (\S+)"}, compare={"ratio": {"n": 2.0}})
    assert change(snippet, "n 0.0\n", "n 0.00\n").same
    assert change(snippet, "n -1\n", "n 0\n").detail == (
        "n: -1 -> 0 (what is not above 0 has no ratio: bound it under absolute or relative)"
    )


def test_a_pattern_that_takes_too_long_leaves_the_outputs_different(make: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """value-regex-hang: whether it is a value or volatile; the reason names the line of the header."""
    monkeypatch.setattr(pattern, "LIMIT", 0.05)
    endless = r"^((?:a|aa)+)$"
    old, new = ("a" * 60 + f"!\n{word}\n" for word in ("one", "two"))
    found = change(make(compare={"volatile": [endless]}), old, new)
    assert found.kind == "text changed"
    assert re.match(r"snippets/chapter/snippet\.py:\d+: a pattern takes longer than 0\.05 s; make it", found.detail)
    found = change(make(values={"word": endless}, compare={"relative": {"word": 0.1}}), old, new)
    assert found.kind == "text changed"
    assert 'value "word" of chapter/snippet: its pattern takes longer than 0.05 s' in found.detail


@EXAMPLES
@given(captured_text(), captured_text(), st.sampled_from([{}, SPEED, LOSS]))
def test_comparing_is_total_and_symmetric(make: Any, one: str, other: str, options: dict[str, Any]) -> None:
    """Any two texts have a class; the same text is identical; turning them round keeps whether they say the same."""
    snippet = make(**options)
    assert change(snippet, one, one).kind == "identical"
    assert change(snippet, one, other).same == change(snippet, other, one).same
    if not change(snippet, one, other).same:
        assert change(snippet, one, other).detail


CONDITIONS = {
    "cmp-governor": (Conditions(0.1, 0.0, None, "performance"), Conditions(0.1, 0.0, None, "powersave")),
    "load": (Conditions(0.1, 0.0, None, None), Conditions(9.0, 0.9, 0.2, None, busy=True)),
    "gpu-clocks": (None, Conditions(0.1, 0.0, None, None, gpu="1980 MHz")),
}


@pytest.mark.parametrize(("before", "after"), rows(CONDITIONS))
def test_the_text_is_compared_whatever_the_conditions(make: Any, before: Conditions, after: Conditions) -> None:
    """A power state explains a number; it is no difference of the text."""
    old, new = record("a/b", conditions=before), record("a/b", conditions=after)
    assert agreement.classify(make(), old, new) == Agreement("identical")
