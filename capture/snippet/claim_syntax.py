"""The language of claims: names, one dot, literals, + - * / on numbers, comparisons, and, or, not.

Strangers' pull requests are evaluated by it, so it is a whitelist over Python's own grammar: no calls, no power,
no subscripts, at most 200 characters; whatever is not listed is an error with its column.
"""

from __future__ import annotations

import ast
import itertools
import warnings
from collections.abc import Iterable
from dataclasses import dataclass

from capture.errors import suggestion

LIMIT = 200
_DEPTH = 20
WORDS = ("and", "or", "not", "true", "false", "True", "False", "None")
# What a scope (`where`) may ask.
FACTS = (
    "cpu.vendor", "cpu.isa", "cpu.bf16", "cpu.amx", "cpu.vnni", "cpu.count", "gpu.name", "gpu.capability",
    "gate.cuda", "gate.rocm", "gate.mps", "gate.xpu", "gate.xla", "gate.compile", "gate.gloo", "gate.two_cpus",
    "torch", "build", "os", "arch",
)  # fmt: skip
_GATE = "gate."
_VERSION_FACTS = ("torch", "gpu.capability")
Scalar = int | float | str | bool
_ARITHMETIC = (ast.Add, ast.Sub, ast.Mult, ast.Div)
_COMPARISONS = (ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE)


def gate_names() -> tuple[str, ...]:
    """Return the gates that a scope may ask about."""
    return tuple(name.removeprefix(_GATE) for name in FACTS if name.startswith(_GATE))


class ExpressionError(ValueError):
    """The expression is not allowed or cannot be evaluated; `column` counts from 1."""

    def __init__(self, column: int, message: str) -> None:
        self.column, self.message = column, message
        super().__init__(f"column {column}: {message}")


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
    odd = next((index for index, character in enumerate(text) if not character.isprintable()), None)
    if odd is not None:
        raise ExpressionError(odd + 1, "an expression is one line of printable text")
    bare = text.strip()
    indent = len(text) - len(text.lstrip())
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # what Python only frowns upon, as `1and x`, is an error here
            tree = ast.parse(bare, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        # Python gives no column where the text ends too early.
        column = indent + ((error.offset or len(bare) + 1) if isinstance(error, SyntaxError) else 1)
        raise ExpressionError(column, f"not an expression ({getattr(error, 'msg', error)})") from error
    _count_characters(tree, bare, indent)
    rest = bare[(tree.end_col_offset or 0) - indent :]
    if "#" in rest:
        raise ExpressionError(len(text.rstrip()) - len(rest) + rest.index("#") + 1, "a comment is not allowed")
    used: dict[str, None] = {}
    _check(tree, known, what, used, 0)
    return Expression(bare, tree, tuple(used))


def _count_characters(tree: ast.expr, text: str, indent: int) -> None:
    """Make the columns of a tree count characters of the text as written; Python counts bytes."""
    data = text.encode("utf-8")
    for node in ast.walk(tree):
        if isinstance(node, ast.expr):
            node.col_offset = len(data[: node.col_offset].decode("utf-8")) + indent
            node.end_col_offset = len(data[: node.end_col_offset].decode("utf-8")) + indent


def _check(node: ast.expr, known: tuple[str, ...], what: str, used: dict[str, None], depth: int) -> None:
    """Walk the tree and raise ExpressionError at the first node outside the whitelist."""
    column = node.col_offset + 1
    if depth > _DEPTH:
        raise ExpressionError(column, "nested too deeply")
    match node:
        case ast.Constant(value=bool() | int() | float() | str()):
            return
        case ast.Name() | ast.Attribute(value=ast.Name()):
            name = dotted(node)
            if name not in known:
                raise ExpressionError(column, f'unknown {what} "{name}"{suggestion(name, known)}')
            used[name] = None
            return
        case ast.BoolOp():
            parts = node.values
        case ast.UnaryOp(op=ast.Not() | ast.USub()):
            parts = [node.operand]
        case ast.BinOp() if isinstance(node.op, _ARITHMETIC):
            parts = [node.left, node.right]
        case ast.Compare() if all(isinstance(op, _COMPARISONS) for op in node.ops):
            parts = [node.left, *node.comparators]
        case _:
            raise ExpressionError(
                column,
                f"{_named(node)} is not allowed; use names, numbers, text, + - * /, comparisons, and, or, not",
            )
    for part in parts:
        _check(part, known, what, used, depth + 1)
    if isinstance(node, ast.Compare):
        _require_quotes(parts)


def _require_quotes(parts: list[ast.expr]) -> None:
    """Refuse a version that is compared with a number: `2.10` would be read as 2.1."""
    for left, right in itertools.pairwise(parts):
        for part, other in ((left, right), (right, left)):
            if is_version_fact(part) and isinstance(other, ast.Constant) and not isinstance(other.value, str):
                raise ExpressionError(other.col_offset + 1, f"put the version in quotes; {dotted(part)} is no number")


def is_version_fact(node: ast.expr) -> bool:
    """Tell whether a node is a name that compares as a version."""
    return isinstance(node, ast.Name | ast.Attribute) and dotted(node) in _VERSION_FACTS


def _named(node: ast.expr) -> str:
    """Name a kind of node in words."""
    match node:
        case ast.Call():
            return "a call"
        case ast.BinOp(op=ast.Pow()):
            return "power"
        case ast.Subscript():
            return "a subscript"
        case ast.Attribute():
            return "a second dot" if isinstance(node.value, ast.Attribute) else "a dot here"
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
