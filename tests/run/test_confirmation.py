"""Under a label a result is confirmed by an interpreter of its own, and what is stored is what was executed."""

from __future__ import annotations

from pathlib import Path

import pytest
from harness.project import Project, Run, stub_torch_python

HEADER = {"dependencies": ["torch>=2.2"]}
LABEL = ("--host", "desk-cpu")
PYTHON = "--python"
# Where this process was forked, the server that did it is its parent, and names itself.
FORKED = "open(f'/proc/{os.getppid()}/cmdline').read().count('fork_server') == 1"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A handbook."""
    return Project(tmp_path / "book")


def run(project: Project, *arguments: str) -> Run:
    """Run with an interpreter whose torch is a stand-in."""
    return project.run(*arguments, PYTHON, stub_torch_python())


def executions(witness: Path) -> str:
    """Return a letter for each execution, f where it was forked."""
    return witness.read_text("utf-8") if witness.exists() else ""


def witnessed(witness: Path, code: str) -> str:
    """Return code that also notes how it is executed."""
    return f"import os\nimport torch\nHOW = 'f' if {FORKED} else 'p'\nopen({str(witness)!r}, 'a').write(HOW)\n{code}"


linux = pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="there is no /proc here")


@linux
@pytest.mark.parametrize(
    ("arguments", "how", "runs"),
    [((), "f", (1, None)), (LABEL, "fp", (2, True)), ((*LABEL, "--engine", "fresh"), "pp", (2, True)),
     ((*LABEL, "--runs", "3"), "fpp", (3, True))],
)  # fmt: skip
def test_one_execution_is_forked_and_the_others_are_plain(
    arguments: tuple[str, ...], how: str, runs: tuple[int, bool | None], project: Project, tmp_path: Path
) -> None:
    """`local` executes once; under a label a new interpreter confirms what a forked process printed."""
    witness = tmp_path / "witness"
    project.snippet("demo/case", witnessed(witness, "print('same')"), **HEADER)
    assert run(project, *arguments).code == 0
    record = project.record("demo/case", *(["desk-cpu"] if arguments else []))
    assert (executions(witness), record.runs.count, record.runs.agree) == (how, *runs)


@linux
def test_what_only_a_forked_process_prints_is_not_stored(project: Project, tmp_path: Path) -> None:
    """Where both disagree it is executed plainly twice; what is stored is what these print."""
    witness = tmp_path / "witness"
    project.snippet("demo/case", witnessed(witness, "print('by', HOW)"), **HEADER)
    assert run(project, *LABEL).code == 0
    assert (executions(witness), project.record("demo/case", "desk-cpu").stdout) == ("fpp", "by p\n")


@linux
def test_verify_repeats_a_difference_plainly(project: Project, tmp_path: Path) -> None:
    """fork-verify-false-differs: no right record is accused because a forked process prints something else."""
    witness = tmp_path / "witness"
    project.snippet("demo/case", witnessed(witness, "print('by', HOW)"), **HEADER)
    run(project, *LABEL)
    witness.unlink()
    result = project.capture("verify", "--against", "desk-cpu", PYTHON, stub_torch_python())
    assert (result.code, executions(witness)) == (0, "fp")
    assert "1 reproduced" in result.out


@pytest.mark.parametrize("source", ["random.random()", "os.urandom(2).hex()", "id(object()) * os.getpid()"])
def test_unseeded_randomness_is_refused(source: str, project: Project) -> None:
    """fork-shared-generator: what differs in each process disagrees with itself under a label."""
    project.snippet("demo/case", f"import os, random\nimport torch\nprint({source})", **HEADER)
    result = run(project, *LABEL)
    assert (result.code, project.records()) == (1, [])
    assert "two executions disagree" in result.out


def test_a_record_that_agreed_by_chance_is_named(project: Project, tmp_path: Path) -> None:
    """A refusal says that the record which is there was disproved with it: it stays until somebody removes it."""
    apart = tmp_path / "apart"
    code = f"import os, random\nprint(random.random() if os.path.exists({str(apart)!r}) else 0.5)"
    project.snippet("demo/case", code)
    assert project.run(*LABEL).code == 0
    apart.touch()
    result = project.run(*LABEL, "--force")
    assert (result.code, result.untouched) == (1, True)
    assert (
        "docs/captures/desk-cpu/demo/case.yaml was stored by executions that agreed by chance: remove it" in result.out
    )


FLAKY = """
import os
import torch
if not os.path.exists({once!r}):
    open({once!r}, 'w').close()
    raise SystemExit('Intel oneMKL FATAL ERROR')
print('fine')
"""


@pytest.mark.parametrize("arguments", [(), LABEL])
def test_a_failure_that_another_execution_does_not_show_is_flaky(
    arguments: tuple[str, ...], project: Project, tmp_path: Path
) -> None:
    """It is told as such and not stored, under a label and without."""
    project.snippet("demo/case", FLAKY.format(once=str(tmp_path / "once")), **HEADER)
    result = run(project, "--engine", "fresh", *arguments)
    assert (result.code, project.records()) == (1, [])
    assert "flaky: one execution ended with error: exit 1; Intel oneMKL FATAL ERROR" in result.out


@pytest.mark.parametrize("arguments", [(), LABEL])
def test_a_failure_of_a_forked_process_alone_is_none(
    arguments: tuple[str, ...], project: Project, tmp_path: Path
) -> None:
    """Two new interpreters decide; what they print is stored."""
    project.snippet("demo/case", FLAKY.format(once=str(tmp_path / "once")), **HEADER)
    assert run(project, *arguments).code == 0
    record = project.record("demo/case", *(["desk-cpu"] if arguments else []))
    assert (record.stdout, record.runs.count, record.runs.agree) == ("fine\n", 2, True)


def test_a_failure_that_comes_again_is_stored(project: Project) -> None:
    """Both executions fail: that is the result."""
    project.snippet("demo/case", "import torch\n1 / 0", **HEADER)
    assert run(project, *LABEL).code == 1
    assert project.record("demo/case", "desk-cpu").status == "error"


CHANGES = """
import torch
path = {path!r}
text = open(path).read()
open(path, "w").write(text.replace({old!r}, {new!r}))
print("ran")
"""


@pytest.mark.parametrize(
    ("arguments", "old", "new"),
    [((), "'ran'", "'other'"), ((), 'print("ran")', 'print("other")'), (LABEL, 'print("ran")', 'print("other")')],
)
def test_a_source_that_changes_while_it_runs_is_not_stored(
    arguments: tuple[str, ...], old: str, new: str, project: Project
) -> None:
    """exec-source-changed: what is hashed is what is executed; an edit is told and nothing stored."""
    path = project.root / "snippets/demo/case.py"
    project.snippet("demo/case", CHANGES.format(path=str(path), old=old, new=new), **HEADER)
    changed = old in path.read_text("utf-8").replace(f"{old!r}", "")
    result = run(project, *arguments)
    if changed:
        assert (result.code, project.records()) == (1, [])
        assert "changed while running" in result.out


def test_a_helper_that_changes_while_it_runs_is_noticed_too(project: Project) -> None:
    """The files that a snippet reads or imports count as its source."""
    helper = project.root / "snippets/demo/helper.py"
    project.snippet("demo/case", f"import helper\nopen({str(helper)!r}, 'a').write('y = 2\\n')\nprint(helper.x)")
    helper.write_text("x = 1\n", "utf-8")
    result = project.run()
    assert (result.code, project.records()) == (1, [])
    assert "changed while running" in result.out


@pytest.mark.parametrize("engine", ["fresh", "auto"])
def test_a_seed_is_given_before_the_script_starts(engine: str, project: Project) -> None:
    """The header's seed seeds Python alike under both engines, and leaves no trace that a script could see."""
    code = "import os, random, sys\nimport torch\n"
    code += "print(random.random(), 'CAPTURE_SEED' in os.environ, 'PYTHONPATH' in os.environ)\n"
    code += "print(any('seeding' in entry for entry in sys.path))"
    project.snippet("demo/case", code, seed=7, **HEADER)
    torch = "__version__ = '2.13.0'\ndef manual_seed(seed): pass\n"
    python = Path(stub_torch_python()).parent.parent
    stub = next(python.rglob("torch/__init__.py"))
    before = stub.read_text("utf-8")
    stub.write_text(torch, "utf-8")
    try:
        assert run(project, *LABEL, "--engine", engine).code == 0
    finally:
        stub.write_text(before, "utf-8")
    record = project.record("demo/case", "desk-cpu")
    assert (record.stdout, record.stderr) == ("0.32383276483316237 False False\nFalse\n", "")


@pytest.mark.parametrize("seed", [-1, 1 << 32, True, "0", 1.5])
def test_a_seed_is_a_number_that_all_three_take(seed: object, project: Project) -> None:
    """NumPy takes 32 bits; anything else is named at its line."""
    project.snippet("demo/case", "print(1)", seed=seed)
    result = project.run()
    assert result.code == 2
    assert "seed must be a whole number, 0 to 4294967295" in result.err


def test_masks_are_applied_to_what_is_stored(project: Project) -> None:
    """An address and an id differ in each process: masked, they are the same, and the record names the rules."""
    code = "x = object()\nprint(hex(id(x)), id(x))\nprint(x)\nprint(12345678901 + 1, 3.14159265358979)"
    project.snippet("demo/case", code, mask=["address", "id"])
    assert project.run(*LABEL).code == 0
    record = project.record("demo/case", "desk-cpu")
    assert record.stdout == "0x… <id>\n<object object at 0x…>\n12345678902 3.14159265358979\n"
    assert record.normalized == ("mask-address", "mask-id")


@pytest.mark.parametrize(("options", "files"), [({}, "00"), ({"share_compiled": True}, "01")])
def test_what_is_compiled_is_shared_where_the_header_says_so(
    options: dict[str, bool], files: str, project: Project, tmp_path: Path
) -> None:
    """The second execution finds what the first one compiled, and nothing is left of it; without it both begin anew."""
    witness = tmp_path / "witness"
    code = (
        "import os\nfolder = os.environ['TORCHINDUCTOR_CACHE_DIR']\nos.makedirs(folder, exist_ok=True)\n"
        f"open({str(witness)!r}, 'a').write(str(len(os.listdir(folder))))\nopen(f'{{folder}}/kernel', 'w').close()\n"
        "print('compiled')"
    )
    project.snippet("demo/case", code, **options)
    assert project.run(*LABEL).code == 0
    assert executions(witness) == files


@pytest.mark.parametrize("name", ["random", "json", "torch", "numpy"])
def test_a_snippet_does_not_bear_the_name_of_a_module(name: str, project: Project) -> None:
    """fork-shadowed-module: Python would import it in place of the module, also for what stands beside it."""
    project.snippet(f"demo/{name}", "print(1)", dependencies=["torch>=2.2", "numpy"])
    result = project.capture("check")
    assert result.code == 2
    assert f'"{name}.py" is the name of a module, which Python would then import from here; rename it' in result.text


def test_no_snippet_of_such_a_name_is_begun(project: Project) -> None:
    """`capture new` says so before anything is written."""
    result = project.capture("new", "demo/random")
    assert (result.code, result.added) == (2, ())
    assert '"random.py" is the name of a module' in result.err


@pytest.mark.parametrize("engine", ["fresh", "auto"])
def test_a_name_that_only_the_server_knows_shadows_nothing(engine: str, project: Project) -> None:
    """A file named as a module that torch imports is the module for the script, as in a new interpreter."""
    project.snippet("demo/case", "import torch\nimport part\nprint(part.__name__, part.x)", **HEADER)
    (project.root / "snippets/demo/part.py").write_text("x = 5\n", "utf-8")
    assert run(project, *LABEL, "--engine", engine).code == 0
    assert project.record("demo/case", "desk-cpu").stdout == "part 5\n"
