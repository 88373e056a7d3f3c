"""What an author is told about an execution: what of it is not kept, and which line of a header mends a failure."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from capture.record.record import Record
from capture.snippet.snippet import Snippet

_TOLD = 3  # files, or lines, that a note names
_FIGURES = re.compile(r"^\s*(?:from|import)\s+(?:matplotlib|seaborn|plotly)\b", re.MULTILINE)
_VALUES = (
    ast.Name, ast.Attribute, ast.Subscript, ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.IfExp, ast.Tuple,
    ast.List, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp, ast.JoinedStr,
)  # fmt: skip
# Last words of what needs a device, or a tool, that is not there; and the line of the header that says so.
_NEEDS = (
    ("cuda", re.compile(r"not compiled with CUDA|Found no NVIDIA driver|No CUDA GPUs|CUDA driver version is insuff")),
    ("rocm", re.compile(r"No HIP GPUs|not compiled with ROCm")),
    ("mps", re.compile(r"not linked with support for mps|MPS backend is (?:not|only)|not compiled with MPS")),
    ("xpu", re.compile(r"without XPU support|not compiled with XPU|No XPU devices")),
    ("compile", re.compile(r"InvalidCxxCompiler|No working C\+\+ compiler|Cannot find a working triton|TritonMissing")),
    ("gloo", re.compile(r"doesn't have Gloo|Gloo is not available|not built with GLOO", re.IGNORECASE)),
)
_SHADOWED = re.compile(r"partially initialized module '([\w.]+)'")
_NO_MODULE = re.compile(r"ModuleNotFoundError: No module named '([\w.]+)'")
# Of a group of exceptions the group itself; those that it holds stand further in.
_LAST_TRACEBACK = re.compile(r"^(?:  \+ Exception Group )?Traceback \(most recent call last\):$", re.MULTILINE)


def notes(snippet: Snippet, item: Record, written: Sequence[str]) -> tuple[str, ...]:
    """Say what of a successful execution nobody will see: it is stored as if it had not been there."""
    if item.status != "ok":
        return ()
    return tuple(_notes(snippet, item, written))


def _notes(snippet: Snippet, item: Record, written: Sequence[str]) -> Iterator[str]:
    """Yield the notes."""
    if not item.stdout and not item.stderr:
        yield "it prints nothing; a record shows what is printed"
    if written:
        yield f"files that it writes are not kept: {_listed(written)}; print what counts in them"
    elif _FIGURES.search(snippet.source):
        yield "figures that it draws are not kept; print the numbers, or name values and plot them on a page"
    if lines := _bare_values(snippet.source):
        yield f"values that stand alone are not printed, at line {_listed([str(line) for line in lines])}"


def _listed(words: Sequence[str]) -> str:
    """Return a few words and the count of the others."""
    more = f" and {len(words) - _TOLD} more" if len(words) > _TOLD else ""
    return f"{', '.join(words[:_TOLD])}{more}"


def _bare_values(source: str) -> list[int]:
    """Return the lines of expressions that a notebook would show: top-level ones that are no call."""
    try:
        body = ast.parse(source).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    alone = [node.value for node in body if isinstance(node, ast.Expr)]
    return [value.lineno for value in alone if isinstance(value, _VALUES) and not _are_calls(value)]


def _are_calls(value: ast.expr) -> bool:
    """Tell whether this is a row of calls on one line, separated by commas."""
    return isinstance(value, ast.Tuple) and all(isinstance(part, ast.Call) for part in value.elts)


def last_words(stderr: str, limit: int = 160) -> str:
    """Return the line of an error output that names the exception, else its last line, cut after a whole word."""
    lines = stderr.strip().splitlines()
    starts = [match.end() for match in _LAST_TRACEBACK.finditer(stderr)]
    if starts:
        below = [line.removeprefix("  | ") for line in stderr[starts[-1] :].splitlines()[1:]]
        lines = [line for line in below if line and not line.startswith(" ")][:1] or lines[-1:]
    line = lines[-1].strip() if lines else "no error output"
    return line if len(line) <= limit else f"{line[:limit].rsplit(' ', 1)[0]} …"


def mending(stderr: str) -> str:
    """Return the line of a header that would mend a failure, or nothing where none is known to."""
    for gate, pattern in _NEEDS:
        if pattern.search(stderr):
            return f'where that is not at hand, let its header say needs = ["{gate}"]'
    if match := _SHADOWED.search(stderr):
        return (
            f"is a file here named as the module {match[1].partition('.')[0]}? Python imports it from here; rename it"
        )
    if match := _NO_MODULE.search(stderr):
        return f'install it, and let the header say dependencies = ["{match[1].partition(".")[0]}"]'
    return ""
