"""The language of claims: names, one dot, literals, + - * / on numbers, comparisons, and, or, not.

Strangers' pull requests are evaluated by it, so it is a whitelist over Python's own grammar: no calls, no power,
no subscripts, at most 200 characters; whatever is not listed is an error with its column.
"""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from capture import versions
from capture.errors import suggestion

LIMIT = 200
DEPTH = 20
WORDS = ("and", "or", "not", "true", "false", "True", "False", "None")
# What a scope (`where`) may ask.
FACTS = (
    "cpu.vendor", "cpu.isa", "cpu.bf16", "cpu.amx", "cpu.vnni", "cpu.count", "gpu.name", "gpu.capability",
    "gate.cuda", "gate.rocm", "gate.mps", "gate.xpu", "gate.xla", "gate.compile", "gate.gloo", "gate.two_cpus",
    "torch", "build", "os", "arch",
)  # fmt: skip
GATE = "gate."
VERSION_FACTS = ("torch", "gpu.capability")
Scalar = float | str | bool
ARITHMETIC: dict[type, Callable[[float, float], float]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
}  # fmt: skip
COMPARISONS: dict[type, Callable[[Any, Any], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}


def gate_names() -> tuple[str, ...]:
    """Return the gates that a scope may ask about."""
    return tuple(name.removeprefix(GATE) for name in FACTS if name.startswith(GATE))


class ExpressionError(ValueError):
    """The expression is not allowed or cannot be evaluated; `column` counts from 1."""

    def __init__(self, column: int, message: str) -> None:
        self.column, self.message = column, message
        super().__init__(f"column {column}: {message}")


class UnknownFact(ExpressionError):
    """A fact that the expression needs is null on this host."""


@dataclass(frozen=True)
class Expression:
    """A checked expression: its text, syntax tree and the names it uses."""

    text: str
    tree: ast.expr
    names: tuple[str, ...]


def parse(text: str, names: Iterable[str], what: str = "name") -> Expression:
    """Check an expression against the whitelist and the known names.

    Raises ExpressionError with the column of the first thing that is not allowed.
    """
    known = tuple(names)
    if len(text) > LIMIT:
        raise ExpressionError(LIMIT + 1, f"longer than {LIMIT} characters")
    if "\n" in text or "\0" in text:
        raise ExpressionError(1, "an expression is one line")
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        column = error.offset or 1 if isinstance(error, SyntaxError) else 1
        raise ExpressionError(column, f"not an expression ({getattr(error, 'msg', error)})") from error
    found: dict[str, None] = {}
    check(tree, known, what, found, 0)
    return Expression(text.strip(), tree, tuple(found))


def check(node: ast.expr, known: tuple[str, ...], what: str, found: dict[str, None], depth: int) -> None:
    """Walk the tree and raise ExpressionError at the first node outside the whitelist."""
    column = node.col_offset + 1
    if depth > DEPTH:
        raise ExpressionError(column, "nested too deeply")
    match node:
        case ast.Constant(value=bool() | int() | float() | str()):
            return
        case ast.Name() | ast.Attribute(value=ast.Name()):
            name = dotted(node)
            if name not in known:
                raise ExpressionError(column, f'unknown {what} "{name}"{suggestion(name, known)}')
            found[name] = None
            return
        case ast.BoolOp():
            parts = node.values
        case ast.UnaryOp(op=ast.Not() | ast.USub()):
            parts = [node.operand]
        case ast.BinOp() if type(node.op) in ARITHMETIC:
            parts = [node.left, node.right]
        case ast.Compare() if all(type(op) in COMPARISONS for op in node.ops):
            parts = [node.left, *node.comparators]
        case _:
            raise ExpressionError(
                column,
                f"{named(node)} is not allowed; use names, numbers, text, + - * /, comparisons, and, or, not",
            )
    for part in parts:
        check(part, known, what, found, depth + 1)


def named(node: ast.expr) -> str:
    """Name a kind of node in words."""
    match node:
        case ast.Call():
            return "a call"
        case ast.BinOp(op=ast.Pow()):
            return "power"
        case ast.Subscript():
            return "a subscript"
        case ast.Attribute():
            return "a second dot"
        case _:
            return f"this ({type(node).__name__.lower()})"


def dotted(node: ast.expr) -> str:
    """Return `name` or `name.attribute`."""
    match node:
        case ast.Attribute(value=ast.Name(id=base), attr=attribute):
            return f"{base}.{attribute}"
        case ast.Name(id=base):
            return base
    raise AssertionError("checked before")


def evaluate(expression: Expression, facts: Mapping[str, Scalar | None]) -> bool:
    """Return the truth of an expression over the facts.

    Raises UnknownFact where a null is needed to decide, ExpressionError for a type clash or a division by zero.
    """
    result = value(expression.tree, facts)
    if not isinstance(result, bool):
        raise ExpressionError(1, "the result is not true or false; compare it with something")
    return result


def value(node: ast.expr, facts: Mapping[str, Scalar | None]) -> Scalar:
    """Evaluate one checked node."""
    column = node.col_offset + 1
    match node:
        case ast.Constant(value=bool() | int() | float() | str() as constant):
            return constant
        case ast.Name() | ast.Attribute():
            fact = facts.get(dotted(node))
            if fact is None:
                raise UnknownFact(column, f"{dotted(node)} is not known")
            return fact
        case ast.BoolOp(op=ast.And()):
            return all(truth(part, facts) for part in node.values)
        case ast.BoolOp():
            return any(truth(part, facts) for part in node.values)
        case ast.UnaryOp(op=ast.Not()):
            return not truth(node.operand, facts)
        case ast.UnaryOp():
            return -number(node.operand, facts)
        case ast.BinOp():
            left, right = number(node.left, facts), number(node.right, facts)
            try:
                result = ARITHMETIC[type(node.op)](left, right)
            except (ZeroDivisionError, OverflowError) as error:
                raise ExpressionError(column, str(error)) from error
            if not math.isfinite(result):
                raise ExpressionError(column, "the result is not finite")
            return result
        case ast.Compare():
            return chain(node, facts)
    raise AssertionError("checked before")


def chain(node: ast.Compare, facts: Mapping[str, Scalar | None]) -> bool:
    """Evaluate `a < b < c`; versions compare as PEP 440 orders them."""
    left_node = node.left
    for op, right_node in zip(node.ops, node.comparators, strict=True):
        left, right = value(left_node, facts), value(right_node, facts)
        column = right_node.col_offset + 1
        is_version = any(
            isinstance(part, ast.Name | ast.Attribute) and dotted(part) in VERSION_FACTS
            for part in (left_node, right_node)
        )
        try:
            if is_version:
                held = COMPARISONS[type(op)](*version_keys(left, right))
            elif isinstance(left, str) != isinstance(right, str):
                raise ExpressionError(column, "text is compared with a number")
            else:
                held = COMPARISONS[type(op)](left, right)
        except (ValueError, TypeError) as error:
            if isinstance(error, ExpressionError):
                raise
            raise ExpressionError(column, str(error)) from error
        if not held:
            return False
        left_node = right_node
    return True


def version_keys(left: Scalar, right: Scalar) -> tuple[object, object]:
    """Return sort keys of two versions; the local suffix counts only where both have one."""
    texts = [str(part) for part in (left, right)]
    if not all("+" in text for text in texts):
        texts = [versions.public(text) for text in texts]
    return versions.key(texts[0]), versions.key(texts[1])


def truth(node: ast.expr, facts: Mapping[str, Scalar | None]) -> bool:
    """Evaluate a node that must be true or false."""
    result = value(node, facts)
    if not isinstance(result, bool):
        raise ExpressionError(node.col_offset + 1, "expected true or false")
    return result


def number(node: ast.expr, facts: Mapping[str, Scalar | None]) -> float:
    """Evaluate a node that must be a number."""
    result = value(node, facts)
    if isinstance(result, bool) or not isinstance(result, int | float):
        raise ExpressionError(node.col_offset + 1, "expected a number")
    return result
