"""The house: imports point down only, and each outer thing has one door."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest
from handbooks import REPOSITORY

PACKAGE = REPOSITORY / "capture"
# From the bottom up; a module imports from its own floor and from those below.
FLOORS: tuple[tuple[str, ...], ...] = (
    ("errors", "versions", "normalize", "redact", "environment"),
    ("shape", "expression", "evaluation", "snippet", "host", "record", "block", "forms", "validation", "header"),
    ("engine", "probe", "store"),
    ("state", "claims", "compare", "prose", "verification", "bundle", "dataset", "schemas", "edits", "alignment"),
    ("catalogue", "extract", "pairs", "sides", "changes", "across"),
    ("shard", "plan", "preparation", "assemble", "measure", "engines", "runner", "fleet"),
    ("verifiable", "verifier", "review", "decisions"),
    ("check", "report", "render"),
    ("incoming",),
    ("cli",),
    ("__main__",),
)
# Executed by the interpreter that runs the snippets, in which nothing of ours need be installed.
SCRIPTS = ("capture.probe.torch_facts", "capture.probe.torch_questions", "capture.engine.fork_server")


def name_of(path: Path) -> str:
    """Return the dotted name of a module."""
    return ".".join(path.relative_to(REPOSITORY).with_suffix("").parts).removesuffix(".__init__")


TREES = {name_of(path): ast.parse(path.read_text("utf-8")) for path in sorted(PACKAGE.rglob("*.py"))}


def imports(module: str) -> set[str]:
    """Return the dotted names of all that a module imports, wherever in it."""
    found = set()
    for node in ast.walk(TREES[module]):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module} imports relatively"
            full = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= {name if name in TREES else str(node.module) for name in full}
    return found


def outside(module: str) -> set[str]:
    """Return the top-level packages that a module imports."""
    return {name.partition(".")[0] for name in imports(module)}


def floor(module: str) -> int:
    """Return the floor on which a module stands."""
    part = module.split(".")[1] if "." in module else ""
    return next((number for number, names in enumerate(FLOORS) if part in names), -1)


def calls(module: str) -> set[str]:
    """Return the names of the functions that a module calls, as `print` or `sys.exit`."""
    return {ast.unparse(node.func) for node in ast.walk(TREES[module]) if isinstance(node, ast.Call)}


@pytest.mark.parametrize("module", [name for name in TREES if name != "capture"])
def test_imports_point_down_only(module: str) -> None:
    """Every module has a floor, and imports nothing from above it."""
    assert floor(module) >= 0, f"{module} has no floor; give it one in FLOORS"
    ours = {name for name in imports(module) if name.startswith("capture.")}
    assert {name for name in ours if floor(name) > floor(module)} == set()


@pytest.mark.parametrize("rooms", [("engine", "probe", "store"), ("check", "report", "render")])
def test_rooms_of_one_floor_do_not_know_each_other(rooms: tuple[str, ...]) -> None:
    """Executing, asking and storing are apart, and so are checking, reporting and rendering."""
    for module in TREES:
        room = module.split(".")[1] if "." in module else ""
        others = {name for name in imports(module) for other in rooms if name.startswith(f"capture.{other}")}
        if room in rooms:
            assert {name for name in others if not name.startswith(f"capture.{room}")} == set(), module


def test_no_two_modules_import_each_other() -> None:
    """Also on one floor there is an order."""
    pending = {module: {name for name in imports(module) if name in TREES} - {module} for module in TREES}
    while free := [module for module, needs in pending.items() if not needs & pending.keys()]:
        for module in free:
            del pending[module]
    assert pending == {}


@pytest.mark.parametrize(
    ("package", "users"),
    [
        ("yaml", {"capture.store.text", "capture.store.site"}),
        ("mkdocs", set()),
        ("torch", {"capture.probe.torch_facts", "capture.probe.torch_questions", "capture.engine.fork_server"}),
        ("distributed", {"capture.fleet.cluster", "capture.fleet.probing", "capture.fleet.run", "capture.fleet.seed"}),
        ("dask", {"capture.fleet.seed"}),
        ("numpy", set()),
        ("matplotlib", {"capture.render.svg", "capture.render.charts"}),
        ("jsonschema", set()),
        ("packaging", set()),
    ],
)
def test_each_outer_package_has_one_door(package: str, users: set[str]) -> None:
    """Only the store knows YAML, the hooks file MkDocs, scripts for the snippets' interpreter torch, the fleet dask."""
    assert {module for module in TREES if package in outside(module)} <= users


def test_only_the_hooks_file_imports_mkdocs() -> None:
    """Zensical runs Markdown extensions and no hooks: what is MkDocs' own stays in one file."""
    text = (REPOSITORY / "hooks" / "mkdocs_hooks.py").read_text("utf-8")
    assert "from mkdocs" in text


@pytest.mark.parametrize("module", [name for name in TREES if name.startswith("capture.render")])
def test_rendering_executes_nothing(module: str) -> None:
    """Pages are made from files: no runner, no engine, no probe."""
    parts = {name.split(".")[1] for name in imports(module) if name.startswith("capture.")}
    assert not parts & {"runner", "engine", "probe", "preparation", "assemble", "plan", "cli"}


@pytest.mark.parametrize(
    "module", [name for name in TREES if not name.startswith("capture.cli") and name not in SCRIPTS]
)
def test_only_the_command_line_prints_and_exits(module: str) -> None:
    """Everything else returns values and raises errors."""
    printing = {"print", "sys.exit", "exit", "quit", "os._exit", "sys.stdout.write", "sys.stderr.write", "typer.echo"}
    if module == "capture.render.helper":
        printing.remove("os._exit")  # of the copy that it forks
    assert not calls(module) & printing
    assert "typer" not in outside(module)


@pytest.mark.parametrize("module", [name for name in SCRIPTS if name in TREES])
def test_what_the_snippets_interpreter_executes_needs_nothing_of_ours(module: str) -> None:
    """The standard library and torch only."""
    own = {name.rpartition(".")[2] for name in SCRIPTS}
    assert outside(module) <= {*sys.stdlib_module_names, "torch", "torch_xla", *own}


ALONE = """
import builtins, sys
absent = set(sys.argv[1].split(","))
original = builtins.__import__
def guarded(name, globals=None, locals=None, fromlist=(), level=0):
    if level == 0 and name.partition(".")[0] in absent:
        raise ModuleNotFoundError(f"{name} is not installed here")
    return original(name, globals, locals, fromlist, level)
builtins.__import__ = guarded
sys.path.insert(0, sys.argv[2])
import importlib
for module in sys.argv[3:]:
    importlib.import_module(module)
print(*sorted(absent & sys.modules.keys()))
"""


def test_the_runner_needs_neither_torch_nor_the_site() -> None:
    """`python -m capture run` works from a bare checkout on a cluster node."""
    absent = (
        "torch,numpy,mkdocs,material,markdown,pymdownx,jsonschema,packaging,hypothesis,ruamel,selenium,distributed,dask"
    )
    modules = ["capture.cli", "capture.runner", "capture.check", "capture.report.matrix", "capture.report.summary"]
    done = subprocess.run(
        [sys.executable, "-c", ALONE, absent, str(REPOSITORY), *modules],
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout.strip()) == (0, ""), done.stderr
