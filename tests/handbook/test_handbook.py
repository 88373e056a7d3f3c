"""This handbook itself: its snippets keep the house's rules, its lessons their form, its records their promises."""

from __future__ import annotations

import ast
import contextlib
import importlib
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from harness.handbooks import REPOSITORY
from harness.project import bare_python, environment

from capture import store
from capture.record import text_rules
from capture.run import record_assembly
from capture.run.engine import forkable, forked, fresh
from capture.run.engine.contract import ExecutionOutcome, ExecutionRequest
from capture.site.markdown import typed_figures
from capture.site.markdown.handbook_pages import HandbookPages
from capture.snippet.snippet import Snippet
from capture.store import catalogue

BOOK = store.Handbook(REPOSITORY)
SNIPPETS, PROBLEMS = store.read_snippets(BOOK)
PUBLISHED = catalogue.read_handbook(BOOK, local=False)
PAGES = HandbookPages(BOOK).summaries
# A page to look things up in has no self-test and no exercises.
NO_LESSON = (
    *(f"reference/{name}.md" for name in ("versions", "matrix", "claims", "recent", "tags", "glossary", "data")),
    "hosts/*.md", "contributing/*.md",
)  # fmt: skip
LESSONS = sorted(path for path in (REPOSITORY / "docs").glob("*/*.md") if not any(map(path.match, NO_LESSON)))
FOUNDING = ("instruments", "debugging")
DEVICE = sorted(key for key, snippet in SNIPPETS.items() if "cuda" in snippet.needs)
LONGEST = {"debugging/debug_tour": 90, "instruments/autocast_both_tables": 61}


@pytest.mark.parametrize("snippet", SNIPPETS.values(), ids=list(SNIPPETS))
def test_a_snippet_stands_alone(snippet: Snippet) -> None:
    """It is short, says in one sentence what it proves, imports nothing of ours, and no other file."""
    lines = snippet.source.rstrip("\n").split("\n")
    assert len(lines) <= LONGEST.get(snippet.id, 60)
    assert max(map(len, lines)) <= 100
    tree = ast.parse(snippet.source)
    said = ast.get_docstring(tree)
    assert said and "\n" not in said and said.endswith(".")
    names = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert not [name for name in names if name.split(".")[0] == "capture"]
    assert not snippet.imports


def test_every_snippet_has_a_valid_header_and_a_page() -> None:
    """No header is faulty; each snippet is shown on some page."""
    assert PROBLEMS == []
    assert set(SNIPPETS) == {snippet_id for page in PAGES for snippet_id in page.snippets}


def test_every_snippet_is_captured_on_two_builds_or_says_what_it_needs() -> None:
    """The default host and the second build have every result that their gates allow; all current claims hold."""
    states = PUBLISHED.states()
    # What is about the pipeline itself is captured on one host, where the pipeline is installed.
    own = {key for key, snippet in SNIPPETS.items() if "module:capture" in snippet.needs}
    for label in ("epyc-avx512", "epyc-avx512-cuda-build"):
        kinds = {key: states[label, key].kind for key in SNIPPETS}
        assert {key for key, kind in kinds.items() if kind == "gate unmet"} == set(DEVICE)
        assert {key for key, kind in kinds.items() if kind not in ("current", "stale", "gate unmet")} <= own
    assert {key for key in own if all(states[label, key].kind != "current" for label in PUBLISHED.hosts)} == set()
    judged = [entry for key in SNIPPETS for entry in PUBLISHED.judgements(key, states)]
    assert [f"{entry.claim.id} on {entry.host}" for entry in judged if entry.verdict == "fails"] == []


def test_the_two_builds_answer_differently() -> None:
    """The same calls on one machine: what the landing page shows is in the records."""
    answers = {
        label: PUBLISHED.records[label, "instruments/instrument_census"].stdout
        for label in ("epyc-avx512", "epyc-avx512-cuda-build")
    }
    assert answers["epyc-avx512"] != answers["epyc-avx512-cuda-build"]


def test_one_snippet_prints_chinese() -> None:
    """Wide characters go all the way from a script to a record."""
    assert any(re.search(r"[一-鿿]", item.stdout) for item in PUBLISHED.records.values())


@pytest.mark.parametrize("path", LESSONS, ids=[path.relative_to(REPOSITORY / "docs").as_posix() for path in LESSONS])
def test_a_lesson_has_its_form(path: Path) -> None:
    """Promise and description, self-test, exercises with a folded approach, interview, summary, what transfers."""
    text = path.read_text("utf-8")
    assert re.match(r"---\ntitle: .+\ndescription: .{40,170}\ntags: \[.+\]\n---\n\n# ", text)
    headings = re.findall(r"^## (.+)$", text, re.MULTILINE)
    for wanted in ("Test yourself", "Exercises", "In an interview", "Summary", "What transfers"):
        assert wanted in headings
    assert len(re.findall(r'^\?\?\? question "', text, re.MULTILINE)) >= 3
    assert len(re.findall(r'^\?\?\? tip "Approach', text, re.MULTILINE)) >= 3
    prose = re.sub(r"```.*?```", "", text.split("---\n", 2)[2], flags=re.DOTALL)
    words = len(re.sub(r"`#![^`]*`", "value", prose).split())
    assert 900 <= words <= 2000


def test_no_result_is_typed_by_hand() -> None:
    """A number with a unit, or beside a comparison, is an inline value; what is typed on purpose says why."""
    assert typed_figures.problems(BOOK) == []
    assert all(len(item.reason) > 20 for item in typed_figures.opt_outs(BOOK))


@pytest.fixture(scope="module")
def dry_run() -> str:
    """Return what a run of all snippets for a device would do."""
    done = subprocess.run(
        [sys.executable, "-m", "capture", "run", *DEVICE, "--dry-run"],
        cwd=REPOSITORY, env=environment({}), capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


@pytest.mark.parametrize("key", DEVICE)
def test_a_snippet_for_a_device_goes_as_far_as_it_can(key: str, dry_run: str) -> None:
    """It compiles, asks torch for nothing that this version lacks, and where no device is its gate says so."""
    snippet = SNIPPETS[key]
    tree = ast.parse(snippet.source)
    compile(tree, snippet.path, "exec")
    unknown = [name for name in torch_names(tree) if not exists(name)]
    assert unknown == []
    if not torch.cuda.is_available():
        (lacking,) = re.findall(r"needs cuda: (.*)", dry_run)
        assert key in re.split(r",? ", lacking)
        states = PUBLISHED.states()
        assert all(states[label, key].reasons[0] == "needs cuda" for label in ("epyc-avx512", "epyc-avx512-cuda-build"))


def torch_names(tree: ast.AST) -> set[str]:
    """Return the dotted names below torch that a program uses."""
    aliases = {
        alias.asname or alias.name.split(".")[0]: alias.name if alias.asname else alias.name.split(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.Import)
        for alias in node.names
    }
    found = {
        f"{node.module}.{alias.name}"
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module
        for alias in node.names
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            first, _, rest = ast.unparse(node).partition(".")
            if first in aliases and rest.replace(".", "").replace("_", "").isalnum():
                found.add(f"{aliases[first]}.{rest}")
    return {name for name in found if name.startswith("torch.")}


def exists(name: str) -> bool:
    """Tell whether a dotted name can be had from torch; what hangs on an object rather than a module may."""
    parts = name.split(".")
    found: object = torch
    for number, part in enumerate(parts[1:], 2):
        if not hasattr(found, part):
            with contextlib.suppress(ImportError):
                importlib.import_module(".".join(parts[:number]))
        if not hasattr(found, part):
            return False
        found = getattr(found, part)
    return True


@pytest.mark.parametrize("key", DEVICE)
def test_a_snippet_for_a_device_names_what_to_record(key: str) -> None:
    """Where no host here has the device, an exercise beside the card names the values to record on the first one."""
    (page,) = [page.path for page in PAGES if key in page.snippets]
    text = (REPOSITORY / page).read_text("utf-8")
    exercises = text[text.index("## Exercises") :]
    assert f"capture run {key}" in exercises
    assert sum(f"`{name}`" in exercises for name in SNIPPETS[key].values) >= 3


def test_a_snippet_runs_with_python_alone(tmp_path: Path) -> None:
    """`python snippets/x/y.py` needs nothing of ours; it prints what its record holds."""
    key = "instruments/stream_order_model"
    done = subprocess.run(
        [bare_python(), REPOSITORY / SNIPPETS[key].path],
        cwd=tmp_path, env=environment({"PYTHONUTF8": "1"}), capture_output=True, text=True, encoding="utf-8",
        check=True, timeout=60,
    )  # fmt: skip
    assert done.stdout == PUBLISHED.records["epyc-avx512", key].stdout


@pytest.fixture(scope="module")
def server() -> Iterator[forked.Server]:
    """A server that has imported the real torch."""
    running = forked.Server(sys.executable, ["profiler"])
    yield running
    running.close()


def text_of(found: ExecutionOutcome) -> tuple[str, str, int]:
    """Return what a record would hold, without the random names of the folders."""
    places = text_rules.Places(work=(found.work,), home=(found.home,), temporary=(found.temporary,))
    streams = (text_rules.clean(record_assembly.joined(stream), places)[0] for stream in (found.stdout, found.stderr))
    return next(streams), next(streams), found.code


@pytest.mark.parametrize(
    "key",
    [
        key if key.split("/")[0] in FOUNDING else pytest.param(key, marks=pytest.mark.slow)
        for key, snippet in SNIPPETS.items()
        if not forkable.why_not(snippet)
    ],
)
def test_both_engines_print_the_same(key: str, server: forked.Server) -> None:
    """Every deterministic snippet that may be forked gives the same bytes in a fresh interpreter."""
    path = REPOSITORY / SNIPPETS[key].path
    request = ExecutionRequest(sys.executable, path.name, {path.name: path.read_bytes()}, {}, 120, 8 << 30)
    stop = threading.Event()
    assert text_of(server.execute(request, stop)) == text_of(fresh.execute(request, stop))


def test_the_real_site_builds_strictly(published: Path) -> None:
    """The committed pages and records make a site without a warning, and leave this machine's own results out."""
    assert (published / "captures/epyc-avx512/instruments/bf16_linear.yaml").is_file()
    assert (published / "snippets/instruments/bf16_linear.py").is_file()
    assert not (published / "captures/local").exists()
