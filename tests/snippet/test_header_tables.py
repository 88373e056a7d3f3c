"""The tables of a header (values, compare rules, claims): each problem at file:line with what to do."""

from __future__ import annotations

from pathlib import Path

import pytest
from harness.handbooks import script
from harness.headers import BODY, VALUES, line_of, parse, problems, with_line


@pytest.mark.parametrize(
    ("table", "line", "message"),
    [
        ("values", "x = '(a)(b)'", 'value "x": the pattern has 2 groups; give it exactly one'),
        ("values", "x = 'a'", 'value "x": the pattern has 0 groups; give it exactly one'),
        ("values", "x = '(a'", "not a regular expression: missing ), unterminated subpattern at position 0"),
        ("values", "x = 'a{9}{99999999999}'", "not a regular expression: "),
        ("values", "x = 3", "a pattern is text"),
        ("values", "X = '(a)'", 'value "X": use lower-case letters, digits and _, and no word of the language'),
        ("values", "and = '(a)'", 'value "and": use lower-case letters, digits and _, and no word of the language'),
        ("values", "class = '(a)'", 'value "class": use lower-case letters, digits and _, and no word of the language'),
        ("compare", "ratios = {}", 'unknown key "ratios" in [tool.capture.compare]; did you mean "ratio"?'),
        ("compare", "ratio = { slowdwon = 2.0 }", 'no value "slowdwon"; did you mean "slowdown"?'),
        ("compare", "relative = { slowdwon = 0.1 }", 'no value "slowdwon"; did you mean "slowdown"?'),
        ("compare", "ratio = { slowdown = 0.5 }", "ratio must be a table of value names to factors of at least 1"),
        ("compare", "ratio = { slowdown = inf }", "ratio must be a table of value names to factors of at least 1"),
        ("compare", "ratio = 2.0", "ratio must be a table of value names to factors of at least 1"),
        ("compare", "relative = { slowdown = -1 }", "relative must be a table of value names to tolerances"),
        ("compare", "absolute = { slowdwon = 0.1 }", 'no value "slowdwon"; did you mean "slowdown"?'),
        ("compare", "absolute = { slowdown = -1 }", "absolute must be a table of value names to differences"),
        ("compare", "relative = { slowdown = 1e400 }", "relative must be a table of value names to"),
        ("compare", "volatile = ['[[:digit:]]']", "ambiguous: Possible nested set at position 1; write a backslash"),
        ("values", "x = '((?:a{1000}){1000})'", "too large: with its repetitions written out it has more than 10,000"),
        ("compare", "volatile = 'a'", "volatile must be a list of patterns"),
        ("compare", "volatile = ['(']", "not a regular expression: missing ), unterminated subpattern at position 0"),
    ],
)
def test_a_wrong_value_or_rule_is_named_at_its_line(tmp_path: Path, table: str, line: str, message: str) -> None:
    """Patterns have one group; rules are about declared values."""
    text = with_line(line, f"[tool.capture.{table}]")
    (found,) = problems(tmp_path, text)
    assert found.startswith(f"{line_of(text, '# ' + line)}: {message}")


@pytest.mark.parametrize("spread", ["0.9", "inf", "nan", "true", "'2'"])
def test_a_spread_is_a_factor(tmp_path: Path, spread: str) -> None:
    """Repetitions agree within a finite factor of at least 1."""
    text = with_line("").replace("# spread = 1.5", f"# spread = {spread}")
    assert problems(tmp_path, text) == [f"{line_of(text, '# spread')}: spread must be a factor of at least 1"]


CLAIM = 'says = "a"\nholds = "slowdown > 5"\n'


@pytest.mark.parametrize(
    ("claim", "key", "message"),
    [
        ('holds = "slowdown > 5"', "", 'claim "fast" lacks says'),
        ('says = "a"', "", 'claim "fast" lacks holds'),
        ('says = ""\nholds = "slowdown > 5"', "says", "says must be one sentence"),
        ('says = "a"\nholds = 5', "holds", "an expression is text"),
        ('says = "a"\nholds = "slowdown >"', "holds", "holds, column 11: not an expression (invalid syntax)"),
        ('says = "a"\nholds = "slowdwon > 5"', "holds", 'holds, column 1: unknown value "slowdwon"; did you mean'),
        ('says = "a"\nholds = "slowdown > 5 and cpu.bf16"', "holds", 'holds, column 18: unknown value "cpu.bf16"'),
        ('says = "a"\nholds = "open(\'x\') == 1"', "holds", "holds, column 1: a call is not allowed"),
        (CLAIM + 'where = "slowdown > 1"', "where", 'where, column 1: unknown fact "slowdown"'),
        (CLAIM + 'where = "cpu.bf17"', "where", 'where, column 1: unknown fact "cpu.bf17"; did you mean "cpu.bf16"?'),
        (CLAIM + 'where = "torch > 2.10"', "where", "where, column 9: put the version in quotes; torch is no number"),
        (CLAIM + 'were = "True"', "were", 'unknown key "were" in claim fast; did you mean "where"?'),
    ],
)
def test_a_wrong_claim_is_named_at_its_line(tmp_path: Path, claim: str, key: str, message: str) -> None:
    """What is missing at the claim, what is wrong at its key, with the column of the expression."""
    lines = ["[tool.capture.claims.fast]", *claim.split("\n")]
    end = "".join(f"# {line}\n" for line in lines) + "# ///\n"
    text = script(BODY, values=VALUES).removesuffix("# ///\n") + end
    (found,) = problems(tmp_path, text)
    assert found.startswith(f"{line_of(text, f'# {key} =' if key else '# [tool.capture.claims.fast]')}: {message}")


@pytest.mark.parametrize("name", ["Fast", "2-fast", "a b", "a_b", ""])
def test_a_claim_has_an_id_that_can_be_linked(tmp_path: Path, name: str) -> None:
    """Kebab-case, since it becomes part of an address."""
    text = script(BODY, values=VALUES)
    text = text.removesuffix("# ///\n") + f'# [tool.capture.claims."{name}"]\n# says = "a"\n# holds = "True"\n# ///\n'
    (found,) = problems(tmp_path, text)
    assert f'claim "{name}": use lower-case letters, digits and -' in found


def test_a_ratio_of_what_may_be_negative_is_refused(tmp_path: Path) -> None:
    """ratio-zero-negative: at the line of the rule, with its reason and the rules to take instead."""
    text = script(BODY, values={"overhead": r"overhead +(-?[\d.]+) us"}, compare={"ratio": {"overhead": 2.0}})
    (found,) = problems(tmp_path, text)
    assert found == (
        f'{line_of(text, "# ratio =")}: ratio of "overhead": the group of its pattern admits a minus sign, and no '
        "factor leads from a number below zero to one above; bound it under absolute or relative"
    )
    assert parse(tmp_path, text.replace("ratio =", "absolute =")).compare.absolute == {"overhead": 2.0}


@pytest.mark.parametrize("rules", [{}, {"spread": 2.0}, {"volatile": [r"\d+ ms"]}, {"ratio": {}}])
def test_a_timing_that_checks_nothing_is_refused(tmp_path: Path, rules: dict[str, object]) -> None:
    """Since every number of a timing may differ, one value at least has to be bounded."""
    text = script(BODY, timing=True, values=VALUES, compare=rules)
    (found,) = problems(tmp_path, text)
    assert found.startswith(f"{line_of(text, '# timing')}: timing = true lets every number differ, so nothing would be")
    for kind in ("ratio", "relative", "absolute"):
        assert parse(tmp_path, script(BODY, timing=True, values=VALUES, compare={kind: {"slowdown": 1.5}})).timing
