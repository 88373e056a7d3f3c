"""Two records of one snippet: the class of the change, the words for it, and when they say nothing about each other."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from harness.handbooks import GATES, record, script
from harness.headers import BODY, parse
from harness.properties import EXAMPLES, captured_text, rows
from hypothesis import given

from capture.host.environment import Conditions
from capture.record.record import Record
from capture.review import record_change
from capture.review.record_change import KINDS, QUIET, RecordChange

SPEED = {
    "timing": True,
    "values": {"slowdown": r"slowdown +([\d.]+|nan|inf)x"},
    "compare": {"ratio": {"slowdown": 3.0}},
}
LOSS = {"values": {"loss": r"loss +(\S+)"}, "compare": {"relative": {"loss": 1e-4}}}
AVX512, CUDA = {"cpu_capability": "AVX512"}, {"gates": {**GATES, "cuda": True}}
MACHINE = ("cpu.model: EPYC A -> EPYC B",)


@pytest.fixture(scope="module")
def make(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Return a function from header options to a snippet."""
    return lambda **options: parse(tmp_path_factory.getbasetemp(), script(BODY, **options))


def pair(
    make: Any, old: str, new: str, options: Any = None, before: Any = None, after: Any = None, machine: Any = ()
) -> RecordChange:
    """Return the change between two outputs, with fields of the records."""
    snippet = make(**options or {})
    one, other = record(snippet.id, stdout=old, **before or {}), record(snippet.id, stdout=new, **after or {})
    return record_change.compare_records(snippet, one, other, machine)


CLASSES: dict[str, tuple[str, str, dict[str, Any], dict[str, Any], str]] = {
    "identical": ("a 1\n", "a 1\n", {}, {}, "identical"),
    "status": ("a 1\n", "", {}, {"status": "crashed", "exit_code": -11}, "status changed"),
    "exit-code": ("a 1\n", "a 1\n", {"exit": 3}, {"exit_code": 4}, "status changed"),
    "text": ("a 1\n", "b 1\n", {}, {}, "text changed"),
    "exact-number": ("a 1.5\n", "a 1.6\n", {}, {}, "text changed"),
    "version-like-a-decimal": ("torch 2.13\n", "torch 2.14\n", {}, {"torch": "2.14.0+cpu"}, "text changed"),
    "version-spelled": ("python 3.1\n", "python 3.10\n", {}, {"torch": "2.14.0+cpu"}, "text changed"),
    "thousands": ("rows 1,024\n", "rows 1,025\n", {}, AVX512, "text changed"),
    "chinese": ("損失 0.5 下降\n", "損失 0.5 上升\n", {}, {}, "text changed"),
    "signed-zero": ("0.0\n", "-0.0\n", {}, AVX512, "text changed"),
    "signed-zero-beside-noise": ("0.0 1.00001\n", "-0.0 1.00002\n", {}, AVX512, "text changed"),
    "printed-hex": ("flags 0x7f3a2b\n", "flags 0x7f3a2c\n", {}, AVX512, "text changed"),
    "alignment": ("a   1\n", "a  1\n", {}, AVX512, "text changed"),
    "address": ("<A object at 0x7f3a2b1c>\n", "<A object at 0x7f99aaee>\n", {}, {}, "volatile only"),
    "volatile": ("pid 12\n", "pid 8\n", {"compare": {"volatile": [r"pid \d+"]}}, {}, "volatile only"),
    "relative-within": ("loss 0.4804637\n", "loss 0.4804638\n", LOSS, {}, "number within tolerance"),
    "relative-beyond": ("loss 0.48\n", "loss 0.49\n", LOSS, {}, "number beyond tolerance"),
    "diverged": ("loss 0.48\n", "loss inf\n", LOSS, {}, "number beyond tolerance"),
    "diverged-the-other-way": ("loss -inf\n", "loss inf\n", LOSS, {}, "number beyond tolerance"),
    "no-number-any-more": ("loss 0.48\n", "loss nan\n", LOSS, {}, "number beyond tolerance"),
    "still-no-number": ("loss nan\n", "loss nan\n", LOSS, {}, "identical"),
    "ratio-within": ("slowdown 2x\n", "slowdown 5x\n", SPEED, {}, "number within tolerance"),
    "ratio-beyond": ("slowdown 2x\n", "slowdown 7x\n", SPEED, {}, "number beyond tolerance"),
    "ratio-infinite": ("slowdown 2x\n", "slowdown infx\n", SPEED, {}, "number beyond tolerance"),
    "times-alone": ("a 1 ms\nslowdown 2x\n", "a 9 ms\nslowdown 2x\n", SPEED, {}, "volatile only"),
    "word-of-a-timing": ("a 1 ms\nslowdown 2x\n", "b 1 ms\nslowdown 2x\n", SPEED, {}, "text changed"),
    "cmp-isa": ("0.4804637432098388\n", "0.4804628789424896\n", {}, AVX512, "number within tolerance"),
    "cmp-isa-equal-hosts": ("0.4804637432098388\n", "0.4804628789424896\n", {}, {}, "text changed"),
    "cmp-isa-too-far": ("0.4804\n", "0.4806\n", {}, AVX512, "text changed"),
    "cmp-isa-integers": ("seed 1048576\n", "seed 1048577\n", {}, AVX512, "text changed"),
    "cmp-isa-one-wild-among-many": (
        "0.5001 " * 300 + "0.1\n", "0.50011 " * 300 + "0.2\n", {}, AVX512, "text changed",
    ),
    "cmp-lib-repr": ("[1.5, 2.0]\n", "[np.float64(1.5), np.float64(2.0)]\n", {}, {"packages": {"numpy": "2.4.6"}},
                     "text changed"),
    "last-digits-of-another-library": ("0.48046374\n", "0.48046288\n", {}, {"packages": {"numpy": "2.4.6"}},
                                       "number within tolerance"),
    "last-digits-of-another-torch": ("0.48046374\n", "0.48046288\n", {}, {"torch": "2.14.1+cpu"},
                                     "number within tolerance"),
    "cmp-device-sample": ("tensor([0.4963])\n", "tensor([0.3990])\n", {}, CUDA, "not comparable"),
    "device-and-words": ("cpu 0.49\n", "cuda 0.39\n", {}, CUDA, "not comparable"),
    "device-and-timing": ("slowdown 9x\n", "slowdown 1x\n", SPEED, CUDA, "not comparable"),
    "device-and-the-same": ("a 1\n", "a 1\n", {}, CUDA, "identical"),
}  # fmt: skip


@pytest.mark.parametrize(("old", "new", "options", "after", "kind"), rows(CLASSES))
def test_each_pair_has_one_class(
    make: Any, old: str, new: str, options: dict[str, Any], after: dict[str, Any], kind: str
) -> None:
    """By the policy in the header; the second record was got on what the row says."""
    found = pair(make, old, new, options, after=after)
    assert found.kind == kind
    assert found.quiet == (kind in QUIET)


REASONS = {
    "cmp-isa": (AVX512, "differs by less than 0.0001: cpu_capability differs"),
    "library": ({"packages": {"numpy": "2.4.6"}}, "differs by less than 0.0001: numpy differs"),
    "both": (
        {**AVX512, "torch": "2.14.1+cpu"},
        "differs by less than 0.0001: cpu_capability differs and torch differs",
    ),
}


@pytest.mark.parametrize(("after", "detail"), rows(REASONS))
def test_noise_has_its_reason(make: Any, after: dict[str, Any], detail: str) -> None:
    """Why last digits may differ is said in words."""
    assert pair(make, "x 1.00001\n", "x 1.00002\n", after=after).detail == detail


def test_noise_hides_no_warning(make: Any) -> None:
    """A new warning beside last digits is a change; carets, which Python versions draw differently, are none."""
    error = "Traceback:\n    f(a)\n    ^^^^\nValueError: x\n"
    carets = {**AVX512, "stderr": error.replace("^^^^", "~^^^")}
    assert (
        pair(make, "1.00001\n", "1.00002\n", before={"stderr": error}, after=carets).kind == "number within tolerance"
    )
    warning = {**AVX512, "stderr": f"{error}Warning: y\n"}
    assert pair(make, "1.00001\n", "1.00002\n", before={"stderr": error}, after=warning).kind == "text changed"


def test_a_timing_of_another_machine_says_nothing(make: Any) -> None:
    """cmp-mixed-pool: a label whose processor changed gives no gain and no loss, and the reason is in words."""
    found = pair(make, "slowdown 3.45x\n", "slowdown 40x\n", SPEED, machine=MACHINE)
    assert (found.kind, found.detail) == ("not comparable", "cpu.model: EPYC A -> EPYC B")
    assert [(number.old, number.new) for number in found.numbers] == [("3.45", "40")]
    many = pair(make, "slowdown 3.45x\n", "slowdown 40x\n", SPEED, machine=("a", "b", "c", "d", "e"))
    assert many.detail == "a, b, c and 2 more"
    assert pair(make, "x 3.45\n", "x 4.36\n", machine=MACHINE).kind == "text changed"
    chip = pair(make, "slowdown 3.45x\n", "slowdown 40x\n", SPEED, after={"chip": "EPYC B"})
    assert chip.kind == "not comparable" and chip.detail.endswith("-> EPYC B")


def conditions(**fields: Any) -> Conditions:
    """Return quiet conditions with some fields."""
    return replace(Conditions(0.1, 0.0, None, None), **fields)


POWER: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    "cmp-governor": (
        {"governor": "performance", "on_battery": False}, {"governor": "powersave", "on_battery": True},
        "governor: performance -> powersave, battery: no -> yes",
    ),
    "battery": ({"on_battery": True}, {"on_battery": False}, "battery: yes -> no"),
    "turbo": ({"cpu_max_mhz": 4500}, {"cpu_max_mhz": 2500}, "highest frequency: 4500 -> 2500"),
    "heat": ({"throttled": 0}, {"throttled": 17}, "slowed down by heat: no -> yes"),
    "busy": ({}, {"busy": True}, "busy host: no -> yes"),
    "unknown-before": ({}, {"governor": "powersave", "on_battery": False, "cpu_max_mhz": 4500, "throttled": 0}, ""),
    "what-moves-anyway": ({"load_before": 0.1, "cpu_mhz": 3000}, {"load_before": 0.9, "cpu_mhz": 2990}, ""),
}  # fmt: skip


@pytest.mark.parametrize(("before", "after", "why_not"), rows(POWER))
def test_timings_in_another_power_state_say_nothing(
    make: Any, before: dict[str, Any], after: dict[str, Any], why_not: str
) -> None:
    """Governor, battery, heat or company decide about a timing; the text of the same capture is still compared."""
    old, new = {"conditions": conditions(**before)}, {"conditions": conditions(**after)}
    number = pair(make, "slowdown 2.1x\n", "slowdown 40x\n", SPEED, old, new)
    assert number.kind == ("not comparable" if why_not else "number beyond tolerance")
    assert not why_not or number.detail == why_not
    text = pair(make, "fast, slowdown 2.1x\n", "slow, slowdown 2.1x\n", SPEED, old, new)
    assert text.kind == "text changed"
    assert pair(make, "x 1\n", "x 2\n", {}, old, new).kind == "text changed"


def test_numbers_are_told_worst_first(make: Any) -> None:
    """What left its tolerance stands before what is named, and that before the rest; a table has an end."""
    found = pair(make, "a 1 ms\nslowdown 2x\n", "a 5 ms\nslowdown 7x\n", SPEED)
    assert [number.name for number in found.numbers] == ["slowdown", "line 1, a"]
    assert found.edit == "slowdown: 2 -> 7; line 1, a: 1 -> 5"
    many = pair(make, "1.5 " * 500, "1.6 " * 500)
    assert len(many.numbers) == record_change.MOST_NUMBERS


def test_the_edit_is_told_in_words_and_lines(make: Any) -> None:
    """What became what, and the lines around it; stderr says that it is stderr."""
    found = pair(make, "keep\nold word\n", "keep\nnew word\n")
    assert (found.lines, found.edit) == (("- old word", "+ new word"), '"old" -> "new"')
    warned = pair(make, "a\n", "a\n", after={"stderr": "Warning: x\n"})
    assert warned.lines == ("stderr:", "+ Warning: x")
    assert warned.edit == 'stderr: nothing -> "Warning: x"'


def test_an_edit_of_blanks_alone_is_shown(make: Any) -> None:
    """Blanks align a result; where nothing else differs they are what is shown."""
    found = pair(make, "a   1\n", "a  1\n")
    assert found.lines == ("- a   1", "+ a  1")
    assert found.edit == '"   " -> "  "'


def test_a_long_line_is_cut_to_what_differs(make: Any) -> None:
    """render-longline: a character in 50 kB is shown with what stands around it, not with 50 kB."""
    old = "[" + ", ".join(str(number) for number in range(12_000)) + "]\n"
    found = pair(make, old, old.replace(" 11111,", " 11x11,"))
    assert found.edit == '"11111" -> "11x11"'
    assert all("11" in line and len(line) < 200 for line in found.lines)
    assert found.lines[1].endswith(f"({len(old) - 1:,} characters)")


def test_a_long_word_is_cut_around_its_first_difference(make: Any) -> None:
    """So both halves of the edit show in what they differ; what is cut is marked with a digest."""
    old, new = (f"{'a' * 200}{middle}{'b' * 200}\n" for middle in ("x", "y"))
    edit = pair(make, old, new).edit
    assert "ax" in edit.partition(" -> ")[0] and "ay" in edit.partition(" -> ")[2]
    assert len(edit.partition(" (edit ")[0]) < 100


def test_edits_that_are_cut_are_the_same_only_if_all_of_them_are(make: Any) -> None:
    """A long edit is marked, so that two that begin alike are not called the same."""
    old = "\n".join(f"word{number}" for number in range(30))
    new = old.replace("word", "other")
    same, twice, another = (pair(make, old, text).edit for text in (new, new, new.replace("other29", "third29")))
    assert same == twice != another
    assert "and 22 more" in same


def test_hostile_texts_are_compared_in_time(make: Any) -> None:
    """Many equal short lines, which are the worst for a diff, and megabytes end at once."""
    assert pair(make, "0\n" * 32_000, "1\n" + "0\n" * 31_000).kind == "text changed"
    assert pair(make, "a b " * 16_000, "b a " * 15_000).kind == "text changed"
    assert pair(make, "ab\n" * 1_000_000, "ac\n" * 1_000_000).kind == "text changed"


def causes(old: Record, new: Record, make: Any, machine: tuple[str, ...] = (), **options: Any) -> tuple[str, ...]:
    """Return the causes of a change; `options` are those of the new header."""
    return record_change.causes_of(old, new, make(), make(**options), machine)


def test_causes_name_what_changed(make: Any) -> None:
    """The source, the policy, the machine, and each part of the software, old and new."""
    old = record("a/b", threads={"intra": 2}, packages={"numpy": "1.26.4"}, limits={"cpus": "2"})
    assert causes(old, replace(old, captured="2026-12-01", stdout="x\n"), make) == ()
    assert causes(old, replace(old, source_sha256="5" * 64), make) == ("snippet changed",)
    assert causes(old, old, make, compare={"volatile": ["x"]}) == ("compare policy changed",)
    assert causes(old, old, make, MACHINE) == ("host: cpu.model: EPYC A -> EPYC B",)
    new = record(
        "a/b", torch="2.14.1+cpu", python="3.12.1", driver="570.1", threads={"intra": 4}, packages={"numpy": "2.4.6"},
        **CUDA,
    )  # fmt: skip
    assert causes(old, new, make) == (
        "torch 2.13.0+cpu -> 2.14.1+cpu", "python 3.11.7 -> 3.12.1", "driver none -> 570.1",
        "numpy 1.26.4 -> 2.4.6", "gate cuda False -> True", "thread intra 2 -> 4", "limit cpus 2 -> none",
    )  # fmt: skip


def test_the_classes_are_ordered_worst_first() -> None:
    """As a reviewer reads them; the last three nobody need read."""
    assert KINDS[:4] == ("private", "invalid", "status changed", "claim broken")
    assert KINDS[-3:] == QUIET


@EXAMPLES
@given(captured_text(), captured_text())
def test_any_two_texts_have_a_class(make: Any, one: str, other: str) -> None:
    """Whatever was printed, and a difference that somebody should read is shown."""
    for options in ({}, SPEED, LOSS):
        found = pair(make, one, other, options)
        assert found.kind in KINDS
        assert found.quiet or found.numbers or found.lines
        assert pair(make, one, one, options).kind == "identical"
