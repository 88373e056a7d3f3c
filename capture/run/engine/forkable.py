"""Which snippets a forked process serves as well as a new interpreter."""

from __future__ import annotations

import ast
import os
import re
import sys

from capture.snippet.snippet import Snippet

# What starts processes of its own or compiles gets an interpreter of its own.
OWN_PROCESS = re.compile(
    r"\b(?:multiprocessing|subprocess|torch\.distributed|num_workers|os\.(?:fork|spawn|exec|posix_spawn)"
    r"|torch\.compile|torch\._dynamo)\b"
)


def why_not(snippet: Snippet) -> str:
    """Say why a snippet needs a fresh interpreter, or nothing when a forked one serves as well."""
    if not hasattr(os, "fork") or sys.platform == "darwin":
        return "forking after imports is not safe on this platform"
    if snippet.timing:
        return "it times"
    if snippet.env:
        return "it sets its environment, which torch may read when imported"
    if devices := [gate for gate in snippet.needs if not gate.startswith(("!", "module:", "two_cpus"))]:
        return f"it needs {', '.join(devices)}"
    if "torch" not in snippet.packages:
        return "it does not use torch"
    if match := OWN_PROCESS.search(snippet.source):
        return f"it uses {match[0]}"
    if not imports_first(snippet.source):
        return "it does something before it imports torch"
    return ""


def imports_first(source: str) -> bool:
    """Tell whether a script imports torch, where it does, before it does anything else.

    What it sets before, such as an environment variable, would come too late in a process that has imported torch.
    """
    try:
        body = ast.parse(source).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return True
    for statement in body:
        if isinstance(statement, ast.Import | ast.ImportFrom):
            if any(name.partition(".")[0] == "torch" for name in _modules(statement)):
                return True
        elif not (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)):
            break  # anything but an import or a docstring
    inner = (node for node in ast.walk(ast.Module(body, [])) if isinstance(node, ast.Import | ast.ImportFrom))
    return not any(name.partition(".")[0] == "torch" for node in inner for name in _modules(node))


def _modules(statement: ast.Import | ast.ImportFrom) -> list[str]:
    """Name what an import statement imports."""
    if isinstance(statement, ast.Import):
        return [alias.name for alias in statement.names]
    return [statement.module or ""]
