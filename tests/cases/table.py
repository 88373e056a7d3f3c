"""Write README.md: every case of cases.toml with the tests that carry its id. `python tests/cases/table.py`."""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
CASES, TABLE = HERE / "cases.toml", HERE / "README.md"
HEAD = """\
# Cases

Faults that people reported of tools which execute, store, compare or publish output. Each is shown to be absent by the
tests that carry its id: `pytest -k ID` runs those whose id is a parameter; the others name it in their docstring.
*Faked* says what stands for hardware or a platform that the tests do not have, *later* what is still to come.

Written by `python tests/cases/table.py` from `cases.toml` and the tests; a test holds that it is up to date.

| case | kind | fault | tests | state |
| --- | --- | --- | --- | --- |
"""


@dataclass(frozen=True)
class Case:
    """One fault, what stands for a missing platform, and what is not there yet."""

    kind: str
    fault: str
    faked: str = ""
    later: str = ""

    def state(self, tested: bool) -> str:
        """Say how the case is covered."""
        parts = [f"faked: {self.faked}" if self.faked else "tested"] if tested else []
        return "; ".join(parts + ([f"later: {self.later}"] if self.later else []))


def read_cases() -> dict[str, Case]:
    """Return the cases by their ids, in order."""
    return {name: Case(**fields) for name, fields in tomllib.loads(CASES.read_text("utf-8")).items()}


def words(nodes: list[ast.expr]) -> Iterator[str]:
    """Return the texts and the names of variables in some expressions."""
    for node in nodes:
        for part in ast.walk(node):
            if isinstance(part, ast.Constant) and isinstance(part.value, str):
                yield part.value
            elif isinstance(part, ast.Name):
                yield f"${part.id}"


def carried(text: str) -> Iterator[tuple[str, set[str]]]:
    """Return each test function of a module with what may be an id.

    That is any text in its decorators or in a table of the module that they name, and the word that its docstring
    starts with before a colon.
    """
    body = ast.parse(text).body
    tables: dict[str, set[str]] = {}
    for node in body:
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            tables |= {target.id: set(words([node.value])) for target in targets if isinstance(target, ast.Name)}
    for node in body:
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
            found = set(words(node.decorator_list))
            for name in tuple(found):
                found |= tables.get(name.removeprefix("$"), set()) if name.startswith("$") else set()
            found.add((ast.get_docstring(node) or "").partition(":")[0])
            yield node.name, found


def read_tests(folder: Path, ids: Mapping[str, Case]) -> dict[str, list[str]]:
    """Return the tests, as `file::function`, that carry each id."""
    tests: dict[str, list[str]] = {name: [] for name in ids}
    for path in sorted(folder.rglob("test_*.py")):
        for function, found in carried(path.read_text("utf-8")):
            for name in found & tests.keys():
                tests[name].append(f"{path.relative_to(folder).as_posix()}::{function}")
    return tests


def table(cases: Mapping[str, Case], tests: Mapping[str, list[str]]) -> str:
    """Return the text of README.md."""
    rows = (
        f"| {name} | {case.kind} | {case.fault} | {'<br>'.join(f'`{test}`' for test in tests[name])} "
        f"| {case.state(bool(tests[name]))} |\n"
        for name, case in cases.items()
    )
    return HEAD + "".join(rows)


def generate() -> str:
    """Return the table of this repository."""
    cases = read_cases()
    return table(cases, read_tests(HERE.parent, cases))


if __name__ == "__main__":
    TABLE.write_text(generate(), "utf-8", newline="\n")
