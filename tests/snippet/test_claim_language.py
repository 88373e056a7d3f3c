"""The language of claims: a whitelist that strangers' pull requests are evaluated by."""

from __future__ import annotations

import ast

import pytest
from harness.properties import EXAMPLES, captured_text
from hypothesis import given
from hypothesis import strategies as st

from capture.snippet import claim_syntax
from capture.snippet.claim_evaluation import Scalar, UnknownFact, evaluate
from capture.snippet.claim_syntax import FACTS, Expression, ExpressionError

VALUES: dict[str, Scalar | None] = {"slowdown": 42.7, "low": 0.5, "dtype": "bfloat16", "kept": "True", "zero": 0.0}
HOST: dict[str, Scalar | None] = {
    "cpu.vendor": "AMD", "cpu.isa": "AVX2", "cpu.bf16": False, "cpu.amx": None, "cpu.vnni": True, "cpu.count": 2,
    "gpu.name": None, "gpu.capability": None, "gate.cuda": False, "gate.gloo": True, "torch": "2.13.0+cpu",
    "build": "cpu", "os": "linux", "arch": "x86_64",
}  # fmt: skip


def refused(text: str, names: tuple[str, ...] = (*VALUES, *FACTS)) -> ExpressionError:
    """Return the error of an expression that must not be accepted."""
    with pytest.raises(ExpressionError) as error:
        claim_syntax.parse(text, names)
    return error.value


def truth(text: str, facts: dict[str, Scalar | None]) -> bool:
    """Parse and evaluate."""
    return evaluate(claim_syntax.parse(text, facts), facts)


def failure(text: str, facts: dict[str, Scalar | None]) -> ExpressionError:
    """Return the error of an expression that is accepted and cannot be evaluated."""
    parsed: Expression = claim_syntax.parse(text, facts)
    with pytest.raises(ExpressionError) as error:
        evaluate(parsed, facts)
    return error.value


@pytest.mark.parametrize(
    ("text", "held"),
    [
        ("slowdown > 5", True), ("slowdown > 5 and low < 1", True), ("not slowdown > 5", False),
        ("slowdown / low > 85", True), ("slowdown - 2 * low == 41.7", True), ("-low < 0", True),
        ("slowdown > 5 or low / 0 > 1", True), ("1 < slowdown < 100", True), ("1 < slowdown < 10", False),
        ("low < 1 < slowdown != low", True), ('dtype == "bfloat16"', True), ("dtype != 'float32'", True),
        ('"b" < dtype < "c"', True), ('kept == "True"', True), ("(slowdown > 5)", True), ("True", True),
        ("True == (low < 1)", True), ("  slowdown > 5  ", True), ("slowdown > 4.27e1 - 1e-9", True),
        ("0x10 == 16", True),
    ],
)  # fmt: skip
def test_names_numbers_text_and_comparisons_are_the_language(text: str, held: bool) -> None:
    """Arithmetic, chained comparisons, and, or, not: with Python's meaning."""
    assert truth(text, VALUES) is held


@pytest.mark.parametrize(
    "attack",
    [
        "__import__('os').system('id')", "print(1)", "slowdown()", "(lambda: 1)()", "slowdown.__class__",
        "cpu.__class__", "cpu.bf16.real", "cpu.bf16.__class__.__mro__", "'a'.join", "(1).real", "''.__class__",
        "slowdown[0]", "'abc'[0]", "[1][0]", "2 ** 9", "9 ** 9 ** 9", "7 // 2 > 1", "7 % 2 == 1", "1 << 60 > 0",
        "slowdown & 1", "slowdown | 1", "~slowdown", "+slowdown > 0", "dtype @ dtype", "dtype in 'bfloat16'",
        "dtype not in 'x'", "dtype is None", "slowdown if low else 1", "[1, 2]", "(1, 2)", "{1}", "{1: 2}", "()",
        "[x for x in dtype]", "any(x for x in dtype)", "(low := 3) > 1", "f'{slowdown}'", "f'x' == dtype",
        "b'x' == dtype", "None", "dtype == None", "...", "1j > 0", "lambda: 1", "yield", "await low", "*dtype",
        "low; low", "low = 3", "import os", "del low", "assert low", "low\nlow", "low,", "x" * 201, "low" + " " * 200,
        "low > 1 # so", "exec('1')", "globals", "__builtins__", "slowdown.real > 1", "eval", "cpu", "gate", "gate.x",
        "low > \\\n1", "low\x00", "", "   ", "not " * 40 + "low", "-" * 60 + "1",
        "low\u2028> 1", "\ufefflow > 1", "low > 1\r", "low >\t1", "'\u202e' == dtype", "low > \u0662", "<low>",
        "1 <> 2", "1and low", "'\\=' == dtype", "cpu.bf17 == 1", "1 == cpu.bf17.x", "cpu.bf16(1) == 2",
    ],
)  # fmt: skip
def test_everything_else_is_an_error_with_its_position(attack: str) -> None:
    """Calls, attributes, subscripts, power, tricks with characters: refused when the header is read, at a column."""
    error = refused(attack)
    assert 1 <= error.column <= len(attack) + 1
    assert error.message


@pytest.mark.parametrize(
    ("text", "column", "said"),
    [
        ("slowdwon > 5", 1, 'unknown name "slowdwon"; did you mean "slowdown"?'),
        ("slowdown > 5 and lwo < 1", 18, 'unknown name "lwo"; did you mean "low"?'),
        ("   lwo < 1", 4, 'unknown name "lwo"; did you mean "low"?'),
        ('dtype == "Größe" and lwo < 1', 22, 'unknown name "lwo"; did you mean "low"?'),
        ('dtype == "速い🚀" and low < abs(1)', 26, "a call is not allowed"),
        ("slowdown > 2 ** 9", 12, "power is not allowed"),
        ("slowdown > low[0]", 12, "a subscript is not allowed"),
        ("cpu.bf16.x", 1, "a second dot is not allowed"),
        ("low < 'a'.x", 7, "a dot here is not allowed"),
        ("low < 1  # fast", 10, "a comment is not allowed"),
        ('("#" == dtype) # x', 16, "a comment is not allowed"),
        ("low < 1 +", 10, "not an expression"),
        ("low < > 1", 7, "not an expression"),
        ("  low < > 1", 9, "not an expression"),
        ("low > 1\u00a0", 8, "one line of printable text"),
        ("x" * 500, 201, "longer than 200 characters"),
        ("low < 1 and torch > 2.10", 21, "put the version in quotes"),
        ("low < 1 and 2.10 < torch", 13, "put the version in quotes"),
        ("not " * 21 + "low < 1", 85, "nested too deeply"),
    ],
)
def test_the_column_is_that_of_the_text_as_written(text: str, column: int, said: str) -> None:
    """Counted in characters from 1, blanks in front included, whatever the text holds before it."""
    error = refused(text)
    assert (error.column, said in error.message) == (column, True), error


def test_a_hash_within_text_is_no_comment() -> None:
    """Only what follows the expression can be a comment."""
    assert truth('dtype != "#" and (kept != "a#b")', VALUES)


def test_the_names_of_an_expression_are_known() -> None:
    """Each once, in order; the words of the language are none."""
    assert claim_syntax.parse("low < 1 and (slowdown > low or not cpu.bf16)", (*VALUES, *FACTS)).names == (
        "low", "slowdown", "cpu.bf16",
    )  # fmt: skip


@pytest.mark.parametrize("fact", FACTS)
def test_every_fact_can_be_asked(fact: str) -> None:
    """Each documented fact parses in a scope; a null one says that it is not known."""
    parsed = claim_syntax.parse(f'{fact} == "x"', FACTS, "fact")
    assert parsed.names == (fact,)
    with pytest.raises(UnknownFact, match=f"{fact} is not known"):
        evaluate(parsed, dict.fromkeys(FACTS))


@pytest.mark.parametrize(
    ("text", "held"),
    [
        ("not cpu.bf16", True), ('cpu.isa == "AVX2" and not gate.cuda', True), ("gate.cuda and cpu.amx", False),
        ("cpu.amx and gate.cuda", False), ("cpu.vnni or cpu.amx", True), ("cpu.amx or cpu.vnni", True),
        ("not (cpu.amx and gate.cuda)", True), ("gate.cuda or (cpu.amx or gate.gloo)", True),
    ],
)  # fmt: skip
def test_a_null_matters_only_where_it_decides(text: str, held: bool) -> None:
    """`and` is false and `or` is true by one part alone, on whichever side of it the unknown fact stands."""
    assert truth(text, HOST) is held


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("cpu.amx", "cpu.amx"), ("not cpu.amx", "cpu.amx"), ("cpu.amx == False", "cpu.amx"),
        ("gate.gloo and cpu.amx", "cpu.amx"), ("cpu.amx or gate.cuda", "cpu.amx"), ('gpu.name != "H200"', "gpu.name"),
        ('gpu.capability >= "9.0"', "gpu.capability"), ("gpu.name == gpu.name", "gpu.name"), ("gate.mps", "gate.mps"),
    ],
)  # fmt: skip
def test_a_null_that_decides_is_reported_by_name(text: str, fact: str) -> None:
    """Null equals nothing, not even itself, and is never taken for false."""
    parsed = claim_syntax.parse(text, FACTS)
    with pytest.raises(UnknownFact) as error:
        evaluate(parsed, HOST)
    assert error.value.name == fact


@pytest.mark.parametrize(
    ("torch", "text", "held"),
    [
        ("2.13.0+cpu", 'torch >= "2.2"', True), ("2.13.0+cpu", 'torch == "2.13"', True),
        ("2.13.0+cpu", 'torch > "2.13"', False), ("2.13.0+cpu", 'torch == "2.13.0+cu130"', False),
        ("2.13.0+cpu", 'torch == "2.13.0+cpu"', True), ("2.9.1", 'torch < "2.10"', True),
        ("2.14.0a0", 'torch < "2.14"', True),
        ("2.13.0", '"2.2" <= torch < "2.14"', True), ("2.13.0", '"2.2" <= torch < "2.13"', False),
        ("2.13.0", 'torch != "2.13.1"', True), ("2.13.0", 'torch == "nightly"', False),
        ("2.13.0", 'torch != "nightly"', True),
    ],
)  # fmt: skip
def test_torch_compares_as_a_version(torch: str, text: str, held: bool) -> None:
    """2.10 is newer than 2.9, and the local suffix counts only where both have one."""
    assert truth(text, {"torch": torch}) is held


@pytest.mark.parametrize("text", ["torch >= 2.10", "2.10 <= torch", "1 < torch", "torch == 2", "torch == True"])
def test_a_version_without_quotes_is_refused(text: str) -> None:
    """2.10 would be read as the number 2.1."""
    assert "quotes" in refused(text).message


@pytest.mark.parametrize(
    ("capability", "text", "held"),
    [
        ("9.0", 'gpu.capability >= "9.0"', True), ("10.0", 'gpu.capability >= "9.0"', True),
        ("8.6", 'gpu.capability >= "9.0"', False), ("gfx942", 'gpu.capability == "gfx942"', True),
        ("9.0", 'gpu.capability == "gfx942"', False), ("gfx90a", 'gpu.capability != "gfx942"', True),
    ],
)  # fmt: skip
def test_a_capability_compares_as_a_version_or_a_name(capability: str, text: str, held: bool) -> None:
    """CUDA capabilities are ordered; those of AMD are names."""
    assert truth(text, {"gpu.capability": capability}) is held


def test_a_capability_without_order_is_an_unknown_fact() -> None:
    """A scope written for CUDA is no error on an AMD device: it does not apply there."""
    assert isinstance(failure('gpu.capability >= "9.0"', {"gpu.capability": "gfx942"}), UnknownFact)
    assert not isinstance(failure('torch >= "nightly"', {"torch": "2.13.0"}), UnknownFact)


@pytest.mark.parametrize(
    ("text", "column", "said"),
    [
        ("dtype > 5", 9, "text is compared with a number"), ("low == 'x'", 8, "a number is compared with text"),
        ("slowdown > 5 == True", 17, "a number is compared with true or false"),
        ("(low < 1) == 1", 14, "true or false is compared with a number"), ("dtype + 1 > 2", 1, "expected a number"),
        ("1 + dtype > 2", 5, "expected a number"), ("(low < 1) + 1 > 0", 2, "expected a number"),
        ("-dtype > 0", 2, "expected a number"), ("low / zero > 1", 1, "division by zero"),
        ("low", 1, "not true or false"),
        ("low and True", 1, "expected true or false"), ("not dtype", 5, "expected true or false"),
        ("1e308 * 10 > 1", 1, "not finite"), ("low < 1 and 'ä' != dtype and dtype > 5", 38, "text is compared"),
    ],
)  # fmt: skip
def test_what_cannot_be_evaluated_says_where(text: str, column: int, said: str) -> None:
    """A clash of types or a division by zero is an error of the header, never a silent false."""
    error = failure(text, VALUES)
    assert (error.column, said in error.message) == (column, True), error
    assert not isinstance(error, UnknownFact)


def test_a_number_that_is_not_a_number_holds_no_comparison() -> None:
    """nan is neither above nor below anything, and unequal even to itself."""
    facts: dict[str, Scalar | None] = {"loss": float("nan")}
    assert not truth("loss > 0 or loss <= 0 or loss == loss", facts)


@EXAMPLES
@given(captured_text() | st.text("lowslowdown<>=!+-*/()'\"., \\#[]{}:0123456789notandor", max_size=40))
def test_any_text_is_an_expression_or_an_error_with_a_column(text: str) -> None:
    """Reading never fails in another way, and what it accepts is true, false or an error."""
    try:
        parsed = claim_syntax.parse(text, VALUES)
    except ExpressionError as error:
        assert error.column >= 1
        return
    try:
        assert evaluate(parsed, VALUES) in (True, False)
    except ExpressionError as error:
        assert 1 <= error.column <= len(text) + 1


@st.composite
def trees(draw: st.DrawFn, depth: int = 0) -> str:
    """An expression over numbers and truth values that Python can evaluate too."""
    if depth > 3:
        return draw(st.sampled_from(["slowdown > 5", "low == 0.5", "low + slowdown < 40", "1 < slowdown < 9", "True"]))
    inner = [draw(trees(depth + 1)) for _ in range(draw(st.integers(1, 3)))]
    word = draw(st.sampled_from([" and ", " or "]))
    return draw(st.sampled_from(["({})", "not ({})"])).format(word.join(inner))


@EXAMPLES
@given(trees())
def test_truth_is_that_of_python(text: str) -> None:
    """On known facts the language is a part of Python, with Python's precedence."""
    if len(text) <= claim_syntax.LIMIT:
        numbers = {name: value for name, value in VALUES.items() if isinstance(value, float)}
        expected = eval(compile(ast.parse(text, mode="eval"), "<claim>", "eval"), {}, numbers)
        assert truth(text, VALUES) is expected
