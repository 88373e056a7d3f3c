"""Values derived from captured text, and claims judged on each host with their reason."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from harness.handbooks import host as make_host
from harness.handbooks import record, script
from harness.headers import BODY, parse
from harness.properties import EXAMPLES, rows
from hypothesis import given
from hypothesis import strategies as st

from capture.errors import CaptureError
from capture.host.host import Accelerator, Host
from capture.record import claims
from capture.record.claims import Judgement, Value
from capture.record.record import Record
from capture.snippet import pattern
from capture.snippet.claim_syntax import FACTS
from capture.snippet.snippet import Snippet

H200 = Accelerator("cuda", "NVIDIA H200", 143771, "9.0", 1)
MI300 = Accelerator("rocm", "AMD Instinct MI300X", 196592, "gfx942", 1)
VALUES = {"slowdown": r"slowdown +([\d.]+)x", "dtype": r"^dtype (\S+)$", "maybe": "maybe(?: (x))?"}


def snippet(root: Path, holds: str = "slowdown > 5", where: str | None = None, **values: str) -> Snippet:
    """Return a snippet with one claim."""
    claim = {"says": "it is slower", "holds": holds} | ({"where": where} if where else {})
    return parse(root, script(BODY, values=VALUES | values, claims={"slower": claim}))


def judged(item: Snippet, host: Host | None = None, why_not: str = "", **changes: Any) -> Judgement:
    """Judge the claim of a snippet on a record."""
    text = {"stdout": "slowdown  42.7x\ndtype bfloat16\n"} | changes
    return claims.judge(item, item.claims[0], record(item.id, **text), host or make_host(), why_not)


def refusal(root: Path, name: str, stdout: str) -> str:
    """Return why a value cannot be derived."""
    with pytest.raises(CaptureError) as error:
        claims.find(snippet(root), name, stdout, "epyc")
    return str(error.value)


def test_a_value_is_the_one_match_of_its_pattern(tmp_path: Path) -> None:
    """With the line it stands on; patterns are multi-line."""
    item = record("chapter/snippet", stdout="a\nslowdown  42.7x\ndtype bfloat16\nmaybe x\n")
    found = claims.values(snippet(tmp_path), item)
    assert found == {
        "slowdown": Value("slowdown", "42.7", 2), "dtype": Value("dtype", "bfloat16", 3),
        "maybe": Value("maybe", "x", 4),
    }  # fmt: skip


def test_a_value_that_is_not_exactly_once_there_is_an_error(tmp_path: Path) -> None:
    """It names the lines, and what to mend."""
    where = "of chapter/snippet on epyc"
    assert refusal(tmp_path, "slowdown", "a\n") == (
        f'value "slowdown" {where}: its pattern matches nothing in the captured output; mend the pattern or the snippet'
    )
    assert refusal(tmp_path, "slowdown", "slowdown 1x\n\nslowdown 2x\n" * 5) == (
        f'value "slowdown" {where}: its pattern matches 10 times, on output lines 1, 3, 4, 6, 7, 9; make it match once'
    )
    assert "matches 2 times, on output lines 1, 2;" in refusal(tmp_path, "slowdown", "slowdown 1x\nslowdown 1x\n")
    assert refusal(tmp_path, "maybe", "maybe\n") == (
        f'value "maybe" {where}: its group took no part in the match; mend the pattern'
    )
    assert refusal(tmp_path, "slowdwon", "") == (
        'snippet "chapter/snippet" has no value "slowdwon"; did you mean "slowdown"?'
    )


SCALARS: dict[str, float | str] = {
    "42.7": 42.7, "-3": -3, "+.5": 0.5, "5.": 5.0, "1e-5": 1e-5, "1E+5": 1e5, "1,024": 1024,
    "-12,345,678.9": -12345678.9, "1,5": "1,5",
    "inf": float("inf"), "-Infinity": float("-inf"), " 7 ": 7, "bfloat16": "bfloat16", "True": "True", "": "",
    "1,2,3": "1,2,3", "0,1": "0,1", "1_000": "1_000", "12:30": "12:30", "2.13.0": "2.13.0", "0x10": "0x10", "٣": "٣",
    "1 2": "1 2", "--1": "--1", "1e": "1e", ",": ",", "1,0240": "1,0240", "nan's": "nan's",
}  # fmt: skip


@pytest.mark.parametrize(("text", "scalar"), list(SCALARS.items()))
def test_a_value_is_a_number_where_it_reads_as_one(text: str, scalar: float | str) -> None:
    """As Python prints numbers, or with commas between thousands; a whole one is an int, a list is text."""
    found = Value("x", text, 1).scalar
    assert (found, type(found)) == (scalar, type(scalar))


@EXAMPLES
@given(st.floats() | st.integers(-(10**30), 10**30))
def test_every_number_that_python_prints_is_read_back(number: float) -> None:
    """Plain, and with commas between thousands."""
    for text in (repr(number), f"{number:,}"):
        found = Value("x", text, 1).scalar
        assert (found == number and type(found) is type(number)) or str(found) == str(number) == "nan"


def test_a_claim_holds_or_fails_with_its_numbers(tmp_path: Path) -> None:
    """The reason repeats the claim, and a failure what was found."""
    held = judged(snippet(tmp_path))
    assert (held.verdict, held.reason, held.host) == ("holds", "slowdown > 5", "epyc")
    failed = judged(snippet(tmp_path), stdout="slowdown 0.8x\n")
    assert (failed.verdict, failed.reason) == ("fails", "slowdown > 5, but slowdown is 0.8")
    text = judged(snippet(tmp_path, 'dtype == "float32" and slowdown > 1'))
    assert text.reason == "dtype == \"float32\" and slowdown > 1, but dtype is 'bfloat16', slowdown is 42.7"
    assert judged(snippet(tmp_path, "False")).reason == "False is false"


WHERE = {
    "in-scope": ("not cpu.bf16", {}, {}, "holds", "slowdown > 5"),
    "out-of-scope": ("cpu.bf16", {}, {}, "not claimed", "claimed only where cpu.bf16"),
    "gate": ("gate.cuda", {}, {}, "not claimed", "claimed only where gate.cuda"),
    "gate-holds": ("gate.cuda", {}, {"gates": {"cuda": True}}, "holds", "slowdown > 5"),
    "gate-not-asked": ("gate.gloo", {}, {}, "not claimed", "gate.gloo is not known"),
    "null-with-reason": ("cpu.amx", {"cpu": {"amx": None}}, {}, "not claimed", "cpu.amx is not known (no flags)"),
    "null-without-reason": ("cpu.vnni", {"cpu": {"vnni": None}}, {}, "not claimed", "cpu.vnni is not known"),
    "null-that-does-not-decide": ("cpu.amx or cpu.count == 2", {"cpu": {"amx": None}}, {}, "holds", "slowdown > 5"),
    "no-accelerator": (
        'gpu.capability >= "9.0"', {}, {}, "not claimed", "gpu.capability is not known (this host has no accelerator)",
    ),
    "capability": ('gpu.capability >= "9.0"', {"accelerators": (H200,)}, {}, "holds", "slowdown > 5"),
    "capability-unknown": (
        'gpu.capability >= "9.0"', {"accelerators": (replace(H200, capability=None),)}, {}, "not claimed",
        "gpu.capability is not known (driver too old)",
    ),
    "capability-of-amd": (
        'gpu.capability >= "9.0"', {"accelerators": (MI300,)}, {}, "not claimed", "gpu.capability gfx942 has no order",
    ),
    "gpu-name": ('gpu.name == "NVIDIA H200"', {"accelerators": (H200,)}, {}, "holds", "slowdown > 5"),
    "torch": ('torch >= "2.14"', {}, {}, "not claimed", 'claimed only where torch >= "2.14"'),
    "torch-absent": ('torch >= "2.14"', {}, {"torch": None}, "not claimed", "torch is not known"),
    "build": ('build == "cuda"', {}, {"cuda_build": "13.0"}, "holds", "slowdown > 5"),
    "arch": ('arch == "arm64"', {"arch": "arm64"}, {}, "holds", "slowdown > 5"),
    "isa": ('cpu.isa == "NEON"', {"cpu": {"isa": "NEON"}}, {}, "holds", "slowdown > 5"),
}  # fmt: skip


@pytest.mark.parametrize(("where", "facts", "changes", "verdict", "reason"), rows(WHERE))
def test_a_scope_says_where_a_claim_is_made(
    tmp_path: Path, where: str, facts: dict[str, Any], changes: dict[str, Any], verdict: str, reason: str
) -> None:
    """Elsewhere it is not claimed, and a fact that nobody knows puts it out of scope with its reason."""
    reasons = {"cpu.amx": "no flags", "accelerators[0].capability": "driver too old"}
    item = replace(make_host(), **{"reasons": reasons} | {name: part for name, part in facts.items() if name != "cpu"})
    item = replace(item, cpu=replace(item.cpu, **facts.get("cpu", {})))
    found = judged(snippet(tmp_path, where=where), item, **changes)
    assert (found.verdict, found.reason) == (verdict, reason)


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("Debian 12, Linux 6.18, x86_64", "linux"), ("macOS 15.1, Darwin 24.1, arm64", "macos"),
        ("Windows 11, 10.0.26100, x86_64", "windows"), ("Ubuntu 22.04, Linux 5.15 (WSL2), x86_64", "linux"),
    ],
)  # fmt: skip
def test_the_system_is_one_of_three(tmp_path: Path, line: str, name: str) -> None:
    """A scope asks for linux, macos or windows, whatever the version."""
    assert judged(snippet(tmp_path, where=f'os == "{name}"'), os=line).verdict == "holds"


def test_every_fact_has_a_value_or_null() -> None:
    """What a scope may ask, and nothing else; CUDA's gate is false on a host without it."""
    found = claims.facts(record("a/b"), make_host())
    assert tuple(found) == FACTS
    assert (found["cpu.isa"], found["gate.cuda"], found["gate.gloo"], found["gpu.name"]) == ("AVX2", False, None, None)


def test_what_cannot_be_judged_says_why(tmp_path: Path) -> None:
    """Before its scope or its values are looked at."""
    found = judged(snippet(tmp_path, "slowdown / 0 > 1", "cpu.bf16"), why_not="stale: source changed since", stdout="")
    assert (found.verdict, found.reason) == ("not judged", "stale: source changed since")


@pytest.mark.parametrize(
    ("holds", "where", "said"),
    [
        ("slowdown / 0 > 1", None, "claim slower, holds, on epyc: column 1: division by zero"),
        ("dtype > 5", None, "claim slower, holds, on epyc: column 9: text is compared with a number"),
        ("slowdown", None, "claim slower, holds, on epyc: column 1: the result is not true or false"),
        ("maybe == 'x'", None, 'value "maybe" of chapter/snippet on epyc: its pattern matches nothing'),
        ("slowdown > 5", "cpu.isa > 5", "claim slower, where, on epyc: column 11: text is compared with a number"),
        ("slowdown > 5", 'torch >= "nightly"', "claim slower, where, on epyc: column 10: 'nightly' is not a version"),
    ],
)  # fmt: skip
def test_what_cannot_be_evaluated_is_an_error_of_the_header(
    tmp_path: Path, holds: str, where: str | None, said: str
) -> None:
    """It names the claim, the side and the column; it is never taken for false."""
    with pytest.raises(CaptureError) as error:
        judged(snippet(tmp_path, holds, where))
    assert str(error.value).startswith(said)


def test_a_claim_reads_only_the_values_it_names(tmp_path: Path) -> None:
    """A value that a host does not print harms no claim about another."""
    item: Record = record("chapter/snippet", stdout="slowdown 42.7x\n")
    found = snippet(tmp_path)
    assert claims.judge(found, found.claims[0], item, make_host()).verdict == "holds"


BIG = {"exact": 2**53 + 1, "float64": 2**53, "big": 2**63 - 1, "less": 2**63 - 2}
EXACT = {
    "claim-big-integers": ("float64 != exact", True),
    "less-by-one": ("big == less", False),
    "literal": ("exact == 9007199254740993", True),
    "literal-beside": ("exact == 9007199254740992", False),
    "sum": ("less + 1 == big", True),
    "product": ("big * big > big * less", True),
    "quotient": ("big * 3 / 3 == big", True),
    "float": ("exact > 9007199254740992.0", True),
    "overflow": ("big / 0.5 > big", True),
}


@pytest.mark.parametrize(("holds", "true"), rows(EXACT))
def test_claims_about_integers_are_exact(tmp_path: Path, holds: str, true: bool) -> None:
    """Beyond what floats can hold, in values and literals, in sums, products and even quotients."""
    values = {name: rf"^{name} +(\d+)$" for name in BIG}
    header = parse(tmp_path, script(BODY, values=values, claims={"c": {"says": "it is", "holds": holds}}))
    item = record(header.id, stdout="".join(f"{name} {number}\n" for name, number in BIG.items()))
    found = claims.judge(header, header.claims[0], item, make_host())
    assert found.verdict == ("holds" if true else "fails")
    if not true and "less" in holds:
        assert found.reason == f"{holds}, but big is 9223372036854775807, less is 9223372036854775806"


def test_integers_have_a_bound(tmp_path: Path) -> None:
    """What Python reads is a number; longer ones are a problem of the value, at its line, and no traceback."""
    claim = {"c": {"says": "it is", "holds": "n * n / n > 1.5"}}
    header = parse(tmp_path, script(BODY, values={"n": r"n (\d+)"}, claims=claim))
    at_most = record(header.id, stdout=f"n {'9' * 4300}\n")
    assert claims.judge_record(header, at_most, make_host()).entries[0][1].verdict == "holds"
    (problem,) = claims.judge_record(header, record(header.id, stdout=f"n {'9' * 4301}\n"), make_host()).problems
    assert problem.line == header.place("tool", "capture", "values", "n")
    assert "its number has 4,301 characters, more than Python reads; print it shorter" in problem.message
    fraction = parse(
        tmp_path, script(BODY, values={"n": r"n (\d+)"}, claims={"c": claim["c"] | {"holds": "n / 7 > 1"}})
    )
    (told,) = claims.judge_record(fraction, at_most, make_host()).problems
    assert "the result is not finite" in told.message


def test_a_pattern_that_takes_too_long_is_told_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """value-regex-hang: at the line of the value, in the same words on every host."""
    monkeypatch.setattr(pattern, "LIMIT", 0.05)
    claim = {"c": {"says": "it is", "holds": 'word == "a"'}}
    header = parse(tmp_path, script(BODY, values={"word": r"^((?:a|aa)+)$"}, claims=claim))
    judged = [
        claims.judge_record(header, record(header.id, label, stdout="a" * 60 + "!\n"), make_host(label))
        for label in ("epyc", "xeon")
    ]
    (problem,) = claims.together(judged).problems
    assert (problem.line, problem.rule) == (header.place("tool", "capture", "values", "word"), "value")
    assert "its pattern takes longer than 0.05 s; make it simpler" in problem.message
