"""Two hosts beside each other: what agrees, what differs with the chip, and no verdict on either."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from harness.handbooks import GATES, STALE, make_handbook, record, script
from harness.handbooks import host as make_host
from harness.properties import rows
from harness.revisions import PLAIN, SPEED, TIMING, only

from capture.cli.report import change_json, change_markdown, change_text
from capture.host.host import Host
from capture.record.record import Record
from capture.review import host_comparison
from capture.review.handbook_changes import HandbookChanges

CUDA = {"gates": {**GATES, "cuda": True}}
TIMES = "float32 3.10 ms\nslowdown 2.0x\n"


def against(
    folder: Path, snippets: dict[str, str], one: list[Record], other: list[Record], second: Host | None = None
) -> HandbookChanges:
    """Compare the hosts `epyc` and `other`, which is another chip unless said otherwise."""
    hosts = [make_host(), second or make_host("other", "EPYC B", model="EPYC B")]
    book = make_handbook(folder, snippets, hosts, [*one, *other], site=False)
    return host_comparison.compare_hosts(book.catalogue(), "epyc", "other")


def pair_of(key: str, old: str, new: str, **fields: Any) -> tuple[list[Record], list[Record]]:
    """Return the records of one snippet on both hosts; fields are those of the second."""
    return [record(key, "epyc", old)], [record(key, "other", new, **fields)]


def everything(found: HandbookChanges) -> str:
    """Return all that any report says."""
    lines = "\n".join(line.plain for line in change_text.lines(found))
    return f"{lines}\n{change_markdown.text(found)}\n{change_json.document(found)}"


SPEEDS = {
    "faster": ("float32 1.00 ms\nslowdown 2.0x\n", "values equal, 3.1 times faster"),
    "slower": ("float32 6.20 ms\nslowdown 2.0x\n", "values equal, 2.0 times slower"),
    "equal": ("float32 3.11 ms\nslowdown 2.0x\n", "values equal, equally fast"),
    "value-within": ("float32 1.00 ms\nslowdown 2.5x\n", "values equal, 3.1 times faster"),
    "value-beyond": ("float32 1.00 ms\nslowdown 9.0x\n", "values differ, 3.1 times faster"),
}


@pytest.mark.parametrize(("new", "said"), rows(SPEEDS))
def test_a_timing_says_how_both_compare(tmp_path: Path, new: str, said: str) -> None:
    """On another chip a timing is not judged: the values, and by how much it is faster or slower."""
    found = against(tmp_path, {"a/speed": TIMING}, *pair_of("a/speed", TIMES, new))
    change = only(found)
    assert (change.kind, change.detail, change.speed) == ("not comparable", "another machine", said)
    assert said in change_text.lines(found)[4].plain
    assert said in change_markdown.text(found)
    assert "regress" not in everything(found).lower()


def test_the_host_line_says_what_differs(tmp_path: Path) -> None:
    """Chip and software in words, and what is therefore not judged; it stands first."""
    found = against(tmp_path, {"a/speed": TIMING}, *pair_of("a/speed", TIMES, TIMES, torch="2.14.1", chip="EPYC B"))
    assert found.hosts[0].host == "epyc -> other"
    assert found.hosts[0].words == (
        "EPYC, AVX2 -> EPYC B",
        "another machine (cpu.model: AMD EPYC -> EPYC B): its timings are shown, not judged",
        "torch 2.13.0+cpu -> 2.14.1",
    )
    assert found.across_hosts and found.failing == ()


def test_software_that_only_some_records_share_is_counted(tmp_path: Path) -> None:
    """One record of another torch does not hide the others, nor do hosts pass for the same software."""
    snippets = {f"a/s{number}": PLAIN for number in range(3)}
    one = [record(key) for key in snippets]
    other = [record(key, "other", torch="2.14.1" if key != "a/s0" else "2.13.0+cpu") for key in snippets]
    found = against(tmp_path, snippets, one, other)
    assert "torch 2.13.0+cpu -> 2.14.1 in 2 records" in found.hosts[0].words
    same = against(tmp_path / "same", snippets, one, [record(key, "other") for key in snippets])
    assert same.hosts[0].words[-1] == "the same software"


def test_two_builds_on_one_machine_are_compared(tmp_path: Path) -> None:
    """The same chip under a second label: timings count, within their tolerance or beyond."""
    build = make_host("other", "CUDA build")
    for number, (new, kind) in enumerate([("3.0", "number within tolerance"), ("9.0", "number beyond tolerance")]):
        pair = pair_of("a/speed", TIMES, f"float32 3.10 ms\nslowdown {new}x\n", torch="2.14.1+cu130")
        found = against(tmp_path / str(number), {"a/speed": TIMING}, *pair, build)
        assert only(found).kind == kind
        assert only(found).speed.endswith("equally fast")
        assert only(found).speed in change_markdown.text(found)


def test_what_only_one_host_has(tmp_path: Path) -> None:
    """Its absence on the other is named with its reason: not captured, or a gate that is not met there."""
    snippets = {"a/both": PLAIN, "a/gpu": script("print(1)", needs=["cuda"]), "a/here": PLAIN, "a/nowhere": PLAIN}
    one = [record("a/both"), record("a/here")]
    other = [record("a/both", "other", **CUDA), record("a/gpu", "other", **CUDA)]
    found = against(tmp_path, snippets, one, other)
    assert {item.snippet: (item.kind, item.detail) for item in found.records} == {
        "a/both": ("identical", ""),
        "a/gpu": ("not comparable", "not on epyc: gate unmet: needs cuda"),
        "a/here": ("not comparable", "not on other: missing"),
    }


@pytest.mark.parametrize(
    ("old", "new", "stale"),
    [("c", STALE, "other"), (STALE, "c", "epyc"), (STALE, "6" * 64, "epyc and other")],
)
def test_two_sources_are_not_compared(tmp_path: Path, old: str, new: str, stale: str) -> None:
    """Where one host captured another version of the snippet, that is all that is said."""
    one, other = (record("a/one", label, f"{digest}\n", source_sha256=digest if len(digest) > 1 else "c" * 64)
                  for label, digest in (("epyc", old), ("other", new)))  # fmt: skip
    change = only(against(tmp_path, {"a/one": PLAIN}, [one], [other]))
    assert change.kind == "not comparable"
    assert change.detail == f"captured from two versions of the snippet; stale on {stale}"
    assert not change.lines and not change.numbers


def test_gates_that_differ_are_named(tmp_path: Path) -> None:
    """cmp-device-sample: a result of a GPU is not set against one of the CPU, and why is said."""
    pair = pair_of("a/one", "cpu tensor([0.4963])\n", "cuda tensor([0.3990])\n", **CUDA)
    found = against(tmp_path, {"a/one": PLAIN}, *pair, make_host("other", "NVIDIA H200", "cuda"))
    change = only(found)
    assert (change.kind, change.detail) == ("not comparable", "gate cuda: False -> True")
    assert "gate cuda: False -> True" in change_text.lines(found)[4].plain


def test_another_variant_of_a_device_is_shown_beside_the_first(tmp_path: Path) -> None:
    """cmp-gpu-variant: a warning and both numbers, never a refusal and never a difference without a word."""
    one = [record("a/speed", "epyc", TIMES, **CUDA), record("a/one", "epyc", **CUDA)]
    other = [record("a/speed", "other", "float32 1.55 ms\nslowdown 2.2x\n", **CUDA), record("a/one", "other", **CUDA)]
    hosts = [make_host("epyc", "A100-PCIE-80GB", "cuda"), make_host("other", "A100-SXM4-80GB", "cuda")]
    book = make_handbook(tmp_path, {"a/speed": TIMING, "a/one": PLAIN}, hosts, [*one, *other], site=False)
    found = host_comparison.compare_hosts(book.catalogue(), "epyc", "other")
    assert "accelerators: 1 x A100-PCIE-80GB -> 1 x A100-SXM4-80GB" in found.hosts[0].words[1]
    assert {item.snippet: item.kind for item in found.records} == {"a/speed": "not comparable", "a/one": "identical"}
    assert len(found.to_read) == 1
    markdown = change_markdown.text(found)
    assert "| float32 | 3.10 | 1.55 | 0.5 | any |" in markdown.replace("line 1, ", "")
    assert "values equal, 2.0 times faster" in markdown


def test_last_digits_of_another_instruction_set(tmp_path: Path) -> None:
    """cmp-isa: they are within tolerance, and the reason is in the report."""
    pair = pair_of("a/one", "0.4804637432098388\n", "0.4804628789424896\n", cpu_capability="AVX512")
    found = against(tmp_path, {"a/one": PLAIN}, *pair)
    assert only(found).kind == "number within tolerance"
    for said in ("\n".join(line.plain for line in change_text.lines(found)), change_markdown.text(found)):
        assert "differs by less than 0.0001: cpu" in said and "capability differs" in said


def test_text_is_compared_whatever_the_machine(tmp_path: Path) -> None:
    """Another chip explains no other words, of a timing neither."""
    for number, snippet in enumerate((PLAIN, TIMING)):
        found = against(tmp_path / str(number), {"a/one": snippet}, *pair_of("a/one", "fast 1 ms\n", "slow 9 ms\n"))
        assert only(found).kind == "text changed"
        assert only(found).causes == ("another machine",)
        assert "regress" not in everything(found).lower()


def test_a_failure_on_one_host(tmp_path: Path) -> None:
    """Another end is told; nothing about two hosts keeps anything from being merged."""
    found = against(tmp_path, {"a/one": PLAIN}, *pair_of("a/one", "a\n", "", status="crashed", exit_code=-11))
    assert (only(found).kind, only(found).detail) == ("status changed", "ok (exit 0) -> crashed (exit -11)")
    assert found.failing == ()


def many(folder: Path, ratios: list[float]) -> HandbookChanges:
    """Compare as many timings, each with its ratio."""
    keys = [f"a/s{number:02}" for number in range(len(ratios))]
    snippet = script("print(1)", **SPEED)
    one = [record(key, "epyc", "step 100 ms\nslowdown 2x\n") for key in keys]
    other = [
        record(key, "other", f"step {ratio * 100:.0f} ms\nslowdown 2x\n")
        for key, ratio in zip(keys, ratios, strict=True)
    ]  # fmt: skip
    return against(folder, dict.fromkeys(keys, snippet), one, other)


def test_the_largest_gains_and_losses_are_named(tmp_path: Path) -> None:
    """Of many timings the five that gained most and the five that lost most, in percent, largest first."""
    found = many(tmp_path, [0.1 * number for number in range(3, 23)])
    gains, losses = host_comparison.largest_time_changes(found)
    assert [(name.split()[0], round(change)) for name, change in gains] == [
        ("a/s00", -70), ("a/s01", -60), ("a/s02", -50), ("a/s03", -40), ("a/s04", -30),
    ]  # fmt: skip
    assert [(name.split()[0], round(change)) for name, change in losses] == [
        ("a/s19", 120), ("a/s18", 110), ("a/s17", 100), ("a/s16", 90), ("a/s15", 80),
    ]  # fmt: skip
    said = [line.plain for line in change_text.lines(found)]
    assert "least time on other, against epyc:" in said and "      -70 %  a/s00 line 1, step" in said
    assert "| a/s19 line 1, step | +120 % |" in change_markdown.text(found)
    assert "regress" not in everything(found).lower()
    assert len(said) <= change_text.SCREEN_LINES


def test_few_timings_have_no_ranking(tmp_path: Path) -> None:
    """Five are seen at once; what nobody feels does not count, and a list of gains holds no loss."""
    assert host_comparison.largest_time_changes(many(tmp_path / "1", [0.5] * 5)) == ([], [])
    assert host_comparison.largest_time_changes(many(tmp_path / "2", [0.5] * 5 + [1.04])) == ([], [])
    gains, losses = host_comparison.largest_time_changes(many(tmp_path / "3", [2.0] * 7))
    assert (gains, len(losses)) == ([], 5)


def test_many_timings_are_one_row(tmp_path: Path) -> None:
    """Another machine is one cause: each timing says its speed in a line, the last ones are counted."""
    found = many(tmp_path, [0.5, 0.6, 0.7, 0.8, 1.5, 1.6, 1.7, 1.8])
    said = "\n".join(line.plain for line in change_text.lines(found))
    assert said.count("not comparable") == 1
    assert "8 captures: another machine" in said
    assert "a/s00: values equal, 2.0 times faster" in said
    assert "and 2 more" in said
