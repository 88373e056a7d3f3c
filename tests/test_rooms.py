"""The house: imports point down only, and each outer thing has one door."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest
from harness.handbooks import REPOSITORY
from harness.missing_packages import ALONE
from harness.rooms import FLOORS, floor_of, room_of

PACKAGE = REPOSITORY / "capture"
# Executed by the interpreter that runs the snippets, in which nothing of ours need be installed.
SCRIPTS = (
    "capture.host.probe.torch_script",
    "capture.host.probe.torch_script_questions",
    "capture.run.engine.fork_server",
)


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


def calls(module: str) -> set[str]:
    """Return the names of the functions that a module calls, as `print` or `sys.exit`."""
    return {ast.unparse(node.func) for node in ast.walk(TREES[module]) if isinstance(node, ast.Call)}


@pytest.mark.parametrize("module", [name for name in TREES if name not in ("capture", "capture.site")])
def test_imports_point_down_only(module: str) -> None:
    """Every module stands in a room, and imports nothing from above it or from beside it."""
    room = room_of(module)
    assert room, f"{module} stands in no room; give it one in tests/harness/rooms.py"
    used = {room_of(name) for name in imports(module) if name.startswith("capture.")} - {room, ""}
    assert {other for other in used if floor_of(other) <= floor_of(room)} == set()


def test_the_package_is_seen_at_a_glance() -> None:
    """Whoever lists the package finds its rooms, and little else."""
    assert len([path for path in PACKAGE.iterdir() if path.name != "__pycache__"]) <= 18


def test_contributors_see_the_same_rooms() -> None:
    """CONTRIBUTING's picture has the floors of the list, from the top, with the same rooms on each."""
    picture = (REPOSITORY / "CONTRIBUTING.md").read_text("utf-8").partition("### Rooms\n")[2].split("```\n")[1]
    rooms = {room for floor in FLOORS for room in floor}
    drawn = [tuple(word for word in re.split(r"  +", line)[: len(FLOORS[number])] if word in rooms)
             for number, line in enumerate(picture.splitlines())]  # fmt: skip
    assert tuple(drawn) == FLOORS


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
        ("yaml", {"capture.store.yaml_text", "capture.store.mkdocs_yml"}),
        ("mkdocs", {"capture.mkdocs_plugin"}),
        (
            "torch",
            {
                "capture.host.probe.torch_script",
                "capture.host.probe.torch_script_questions",
                "capture.run.engine.fork_server",
            },
        ),
        (
            "distributed",
            {
                "capture.run.fleet.dask_cluster",
                "capture.run.fleet.questions",
                "capture.run.fleet.fleet_run",
                "capture.run.fleet.worker_bootstrap",
            },
        ),
        ("dask", {"capture.run.fleet.worker_bootstrap"}),
        ("numpy", set()),
        ("matplotlib", set()),
        ("jsonschema", set()),
        ("packaging", {"capture.version_numbers", "capture.snippet.snippet", "capture.run.plan"}),
        ("filelock", {"capture.store.host_lock"}),
        ("regex", {"capture.snippet.pattern"}),
    ],
)
def test_each_outer_package_has_one_door(package: str, users: set[str]) -> None:
    """Only the store knows YAML, the plugin MkDocs, scripts for the snippets' interpreter torch, the fleet dask."""
    assert {module for module in TREES if package in outside(module)} <= users


@pytest.mark.parametrize("module", [name for name in TREES if name.startswith("capture.site")])
def test_rendering_executes_nothing(module: str) -> None:
    """Pages are made from files: no runner, no engine, no probe."""
    rooms = {room_of(name) for name in imports(module) if name.startswith("capture.")}
    assert not {room for room in rooms if room.split(".")[0] in ("run", "cli") or room == "host.probe"}


@pytest.mark.parametrize(
    "module", [name for name in TREES if not name.startswith("capture.cli") and name not in SCRIPTS]
)
def test_only_the_command_line_prints_and_exits(module: str) -> None:
    """Everything else returns values and raises errors."""
    printing = {"print", "sys.exit", "exit", "quit", "os._exit", "sys.stdout.write", "sys.stderr.write", "typer.echo"}
    assert not calls(module) & printing
    assert "typer" not in outside(module)


@pytest.mark.parametrize("module", [name for name in SCRIPTS if name in TREES])
def test_what_the_snippets_interpreter_executes_needs_nothing_of_ours(module: str) -> None:
    """The standard library and torch only."""
    own = {name.rpartition(".")[2] for name in SCRIPTS}
    assert outside(module) <= {*sys.stdlib_module_names, "torch", "torch_xla", *own}


def test_the_runner_needs_neither_torch_nor_the_site() -> None:
    """`python -m capture run` works from a bare checkout on a cluster node."""
    absent = "torch,numpy,mkdocs,material,markdown,pymdownx,jsonschema,hypothesis,ruamel,selenium,distributed,dask"
    modules = [
        "capture.cli",
        "capture.run.runner",
        "capture.check",
        "capture.cli.report.matrix",
        "capture.cli.report.summary",
    ]
    done = subprocess.run(
        [sys.executable, "-c", ALONE, absent, str(REPOSITORY), *modules],
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout.strip()) == (0, ""), done.stderr
