"""A record is what the script prints: every engine prints what `python script.py` prints in a pipe."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from harness.executions import PLENTY, prepared, written
from harness.fidelity_scripts import SCRIPTS, WITH_TORCH
from harness.project import stub_torch_python

from capture.host import child_environment
from capture.host.probe.interpreter import read_interpreter
from capture.run import record_assembly
from capture.run.engine import fresh
from capture.run.engine.contract import ExecutionOutcome, ExecutionRequest
from capture.run.engine.selection import Engines

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here, and so no second engine")


class Bench:
    """Runs code by an interpreter of its own, by both engines, and by hand."""

    def __init__(self, python: str) -> None:
        self.python = python
        self.engines = Engines("auto", (), lambda line: None)

    def request(self, root: Path, code: str, **options: Any) -> ExecutionRequest:
        """Return the request for code as a snippet that uses torch, known to the engines."""
        snippet = written(root, code, dependencies=["torch>=2.2"], **options)
        self.engines.add(snippet)
        known = prepared(root, memory=PLENTY, interpreter=read_interpreter(self.python, (), ()))
        return record_assembly.request(known, snippet)

    def outcomes(self, root: Path, code: str, **options: Any) -> tuple[ExecutionOutcome, ExecutionOutcome]:
        """Return what the chosen engine and the fresh one answer."""
        request = self.request(root, code, **options)
        snippet = self.engines.snippets["demo/case"]
        stop = threading.Event()
        return self.engines.execute(snippet, request, stop), fresh.execute(request, stop)


@pytest.fixture(scope="module")
def bench() -> Iterator[Bench]:
    """One bench whose torch is a stand-in, so that everything starts at once."""
    made = Bench(stub_torch_python())
    yield made
    made.engines.close()


@pytest.fixture(scope="module")
def torch_bench() -> Iterator[Bench]:
    """One bench with the real torch."""
    made = Bench(sys.executable)
    yield made
    made.engines.close()


def seen(outcome: ExecutionOutcome) -> tuple[Any, ...]:
    """Return what a reader would see of an outcome, without the random names of folders and addresses."""
    return without(outcome.stdout.head, outcome.work), without(outcome.stderr.head, outcome.work), outcome.code


def without(data: bytes, work: str) -> str:
    """Return text without the working folder, addresses, and the dated stamps of torch's log."""
    text = data.decode("utf-8", "backslashreplace").replace(f"{work}/", "").replace(work, "")
    return re.sub(r"0x[0-9a-f]{8,}|\d{4}-\d\d-\d\d \d\d:\d\d:\d\d \d+:\d+", "…", text)


def by_hand(python: str, code: str) -> tuple[Any, ...]:
    """Return what `python case.py` prints into pipes, in a shell with the environment that snippets get."""
    with tempfile.TemporaryDirectory() as folder:
        home, work, temporary = (Path(folder, name) for name in ("home", "work", "tmp"))
        for made in (home, work, temporary):
            made.mkdir()
        script = work / "case.py"
        script.write_text(code, "utf-8")
        done = subprocess.run(
            [python, "-X", "faulthandler", str(script)], cwd=work, stdin=subprocess.DEVNULL, capture_output=True,
            env=child_environment.of_snippet(os.environ, {}, home, temporary), start_new_session=True, timeout=60,
            preexec_fn=no_core,
        )  # fmt: skip
        return without(done.stdout, str(work)), without(done.stderr, str(work)), done.returncode


# Cases, and what each must print.
CASES = {
    "fork-frames-in-stack": (
        "import traceback\nprint(''.join(traceback.format_stack()), end='')\n",
        '  File "case.py", line 2, in <module>\n'
        "    print(''.join(traceback.format_stack()), end='')\n",
    ),
    "fork-del-globals": (
        "import sys\nclass A:\n    def __del__(self):\n        print('freed', NAME, sys is not None)\n"
        "NAME = 'x'\na = A()\n",
        "freed x True\n",
    ),
    "out-dev-stdout-truncates": (
        "print('a')\nwith open('/dev/stdout', 'w') as out:\n    out.write('b\\n')\nprint('c')\n",
        "a\nb\nc\n",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_no_engine_shows_in_what_is_printed(case: str, bench: Bench, tmp_path: Path) -> None:
    """Neither a frame nor a lost name nor a lost line of output tells who ran the script."""
    code, printed = CASES[case]
    for outcome in bench.outcomes(tmp_path, code):
        assert seen(outcome) == (printed, "", 0)


def test_what_is_set_before_the_import_counts(torch_bench: Bench, tmp_path: Path) -> None:
    """fork-env-before-import: such a script gets an interpreter of its own, and prints what it prints by hand."""
    code = WITH_TORCH["threads set before the import"].lstrip("\n")
    chosen, _ = torch_bench.outcomes(tmp_path, code)
    assert (chosen.stdout.head, chosen.forked) == (b"1\n", False)


def no_core() -> None:
    """Allow no core file, as the engines do."""
    import resource

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def test_the_corpus_is_large() -> None:
    """There are scripts of many kinds."""
    assert len(SCRIPTS) + len(WITH_TORCH) >= 90


@pytest.mark.parametrize("name", SCRIPTS)
def test_every_engine_prints_what_the_script_prints(name: str, bench: Bench, tmp_path: Path) -> None:
    """Forked, fresh and by hand a script prints the same bytes and ends alike."""
    code = SCRIPTS[name].lstrip("\n")
    chosen, plain = bench.outcomes(tmp_path, code)
    assert seen(chosen) == seen(plain)
    assert seen(plain) == by_hand(bench.python, code)


@pytest.mark.parametrize("name", WITH_TORCH)
def test_torch_is_the_same_in_a_forked_process(name: str, torch_bench: Bench, tmp_path: Path) -> None:
    """What torch decides when it is imported, and what it shows of the stack, is that of an interpreter of its own."""
    chosen, plain = torch_bench.outcomes(tmp_path, WITH_TORCH[name].lstrip("\n"))
    assert seen(chosen) == seen(plain)
