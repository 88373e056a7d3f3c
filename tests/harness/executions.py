"""One execution of one snippet without the command line: code in, outcome or record out."""

from __future__ import annotations

import os
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from capture.host.probe.interpreter import read_interpreter
from capture.host.probe.torch_probe import TorchFacts
from capture.record import privacy
from capture.record.record import Record
from capture.run import record_assembly
from capture.run.engine import fresh
from capture.run.engine.contract import ExecutionOutcome, ExecutionRequest
from capture.run.preflight import Prepared
from capture.snippet.snippet import Snippet
from harness.handbooks import host
from harness.project import Project, bare_python

PLENTY = 8 << 30  # bytes of memory
NOTHING = TorchFacts(
    python="3.11.7", torch=None, torch_error=None, cuda_build=None, hip_build=None, cpu_capability=None, driver=None,
    threads={}, gates={}, modules={}, packages={}, upstream={}, accelerators=(), errors={},
)  # fmt: skip
posix = pytest.mark.skipif(os.name != "posix", reason="POSIX only")


def case(name: str) -> pytest.MarkDecorator:
    """Return the parameter that gives a test the id of its case."""
    return pytest.mark.parametrize("case", [name], ids=[name])


def waits(seconds: int = 45) -> str:
    """Return code that starts a child which waits; its command line names the script."""
    child = f'"import time; time.sleep({seconds})", __file__'
    return f"import subprocess, sys\nsubprocess.Popen([sys.executable, '-c', {child}])\n"


def prepared(root: Path, **changes: Any) -> Prepared:
    """Return what a run knows before it executes, about a made-up host without torch."""
    known = Prepared(
        book=Project(root).book, host=host("local"), facts=NOTHING, interpreter=read_interpreter(bare_python(), (), ()),
        records={}, identity=privacy.Identity(), homes=(), user=None, memory=PLENTY,
    )  # fmt: skip
    return replace(known, **changes)


def written(root: Path, code: str, **options: Any) -> Snippet:
    """Write the snippet `demo/case` and return it; options are those of its header."""
    project = Project(root)
    project.snippet("demo/case", code, **options)
    return project.parsed("demo/case")


def execute(
    root: Path, code: str, memory: int = PLENTY, stop: threading.Event | None = None, **options: Any
) -> ExecutionOutcome:
    """Execute code as a snippet, once."""
    return fresh.execute(request(root, code, memory, **options), stop or threading.Event())


def request(root: Path, code: str, memory: int = PLENTY, **options: Any) -> ExecutionRequest:
    """Return what the engine is asked for."""
    return record_assembly.request(prepared(root, memory=memory), written(root, code, **options))


def record(root: Path, code: str, known: Prepared | None = None, **options: Any) -> Record:
    """Execute code as a snippet, once, and return what would be stored."""
    known, snippet = known or prepared(root), written(root, code, **options)
    return record_assembly.record(
        known, snippet, fresh.execute(record_assembly.request(known, snippet), threading.Event())
    )
