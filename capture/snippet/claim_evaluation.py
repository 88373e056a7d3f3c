"""Evaluates checked expressions over facts and values; a fact may be null."""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Mapping
from typing import Any

from capture.snippet.claim_syntax import Expression, ExpressionError, Scalar, dotted, is_version_fact
from capture.version_numbers import parse_version, without_local


def _divided(left: float, right: float) -> float:
    """Return the quotient; of whole numbers that divide evenly a whole one, since a float may lose its last digits."""
    even = isinstance(left, int) and isinstance(right, int) and left % right == 0
    return left // right if even else left / right


_ARITHMETIC: dict[type, Callable[[float, float], float]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: _divided,
}  # fmt: skip
_COMPARISONS: dict[type, Callable[[Any, Any], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}


class UnknownFact(ExpressionError):
    """A fact that the expression needs is null on this host, or cannot be ordered; `name` is the fact."""

    def __init__(self, column: int, name: str, message: str) -> None:
        self.name = name
        super().__init__(column, message)


def evaluate(expression: Expression, facts: Mapping[str, Scalar | None]) -> bool:
    """Return the truth of an expression over the facts.

    Raises UnknownFact where a null is needed to decide, ExpressionError for a type clash or a division by zero.
    """
    result = _value(expression.tree, facts)
    if not isinstance(result, bool):
        raise ExpressionError(1, "the result is not true or false; compare it with something")
    return result


def _value(node: ast.expr, facts: Mapping[str, Scalar | None]) -> Scalar:
    """Evaluate one checked node."""
    column = node.col_offset + 1
    match node:
        case ast.Constant(value=bool() | int() | float() | str() as constant):
            return constant
        case ast.Name() | ast.Attribute():
            fact = facts.get(dotted(node))
            if fact is None:
                raise UnknownFact(column, dotted(node), f"{dotted(node)} is not known")
            return fact
        case ast.BoolOp():
            return _combined(node, facts)
        case ast.UnaryOp(op=ast.Not()):
            return not _truth(node.operand, facts)
        case ast.UnaryOp():
            return -_number(node.operand, facts)
        case ast.BinOp():
            left, right = _number(node.left, facts), _number(node.right, facts)
            try:
                result = _ARITHMETIC[type(node.op)](left, right)
            except ZeroDivisionError as error:
                raise ExpressionError(column, "division by zero") from error
            except OverflowError as error:
                raise ExpressionError(column, "the result is not finite") from error
            if isinstance(result, float) and not math.isfinite(result):
                raise ExpressionError(column, "the result is not finite")
            return result
        case ast.Compare():
            return _chain(node, facts)
    raise AssertionError("checked before")


def _combined(node: ast.BoolOp, facts: Mapping[str, Scalar | None]) -> bool:
    """Evaluate `and` or `or`, in whose parts a null matters only where the others do not decide."""
    decisive = isinstance(node.op, ast.Or)
    unknown: UnknownFact | None = None
    for part in node.values:
        try:
            if _truth(part, facts) == decisive:
                return decisive
        except UnknownFact as error:
            unknown = unknown or error
    if unknown is not None:
        raise unknown
    return not decisive


def _chain(node: ast.Compare, facts: Mapping[str, Scalar | None]) -> bool:
    """Evaluate `a < b < c`; versions compare as PEP 440 orders them."""
    left_node = node.left
    for op, right_node in zip(node.ops, node.comparators, strict=True):
        left, right = _value(left_node, facts), _value(right_node, facts)
        held = _compared(op, left_node, right_node, left, right)
        if not held:
            return False
        left_node = right_node
    return True


def _compared(op: ast.cmpop, left_node: ast.expr, right_node: ast.expr, left: Scalar, right: Scalar) -> bool:
    """Compare two values of one type, or a version with a version."""
    column = right_node.col_offset + 1
    if is_version_fact(left_node) or is_version_fact(right_node):
        return _compared_versions(op, left_node, right_node, str(left), str(right))
    if _kind(left) != _kind(right):
        raise ExpressionError(column, f"{_kind(left)} is compared with {_kind(right)}")
    return _COMPARISONS[type(op)](left, right)


def _compared_versions(op: ast.cmpop, left_node: ast.expr, right_node: ast.expr, left: str, right: str) -> bool:
    """Compare versions as PEP 440 orders them; the local suffix counts only where both have one.

    A fact such as the capability `gfx942` is no version: it can be equal to a text, and has no order.
    """
    if not ("+" in left and "+" in right):
        left, right = without_local(left), without_local(right)
    one, other = parse_version(left), parse_version(right)
    if one and other:
        return _COMPARISONS[type(op)](one, other)
    if isinstance(op, ast.Eq | ast.NotEq):
        return _COMPARISONS[type(op)](left, right)
    for node, text, version in ((left_node, left, one), (right_node, right, other)):
        if version is None:
            if is_version_fact(node):
                raise UnknownFact(node.col_offset + 1, dotted(node), f"{dotted(node)} {text} has no order")
            raise ExpressionError(node.col_offset + 1, f"{text!r} is not a version number")
    raise AssertionError("one of them is no version")


def _kind(value: Scalar) -> str:
    """Name the type of a value."""
    if isinstance(value, bool):
        return "true or false"
    return "text" if isinstance(value, str) else "a number"


def _truth(node: ast.expr, facts: Mapping[str, Scalar | None]) -> bool:
    """Evaluate a node that must be true or false."""
    result = _value(node, facts)
    if not isinstance(result, bool):
        raise ExpressionError(node.col_offset + 1, "expected true or false")
    return result


def _number(node: ast.expr, facts: Mapping[str, Scalar | None]) -> float:
    """Evaluate a node that must be a number."""
    result = _value(node, facts)
    if isinstance(result, bool) or not isinstance(result, int | float):
        raise ExpressionError(node.col_offset + 1, "expected a number")
    return result
