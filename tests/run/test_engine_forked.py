"""The forked engine: the same contract and the same bytes as the fresh one, and no run lost with its server."""

from __future__ import annotations

import os
import signal
import socket
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil
import pytest
from harness.executions import PLENTY, prepared, waits, written
from harness.headers import TIMED
from harness.project import bare_interpreter, processes_with, stub_torch_python, until

from capture.host.probe.interpreter import read_interpreter
from capture.host.probe.torch_probe import TorchRequest, probe_torch
from capture.run import record_assembly
from capture.run.engine import forkable, forked, fresh
from capture.run.engine.contract import ExecutionOutcome, ExecutionRequest
from capture.run.engine.selection import Engines

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here, and so no such engine")


@pytest.fixture(scope="module")
def server() -> Iterator[forked.Server]:
    """One server for all executions, as in a run."""
    running = forked.Server(stub_torch_python(), [])
    yield running
    running.close()


def asked(root: Path, code: str, memory: int = PLENTY, **options: Any) -> ExecutionRequest:
    """Return the request for code as a snippet that uses torch."""
    known = prepared(root, memory=memory, interpreter=read_interpreter(stub_torch_python(), (), ()))
    return record_assembly.request(known, written(root, code, dependencies=["torch>=2.2"], **options))


def seen(found: ExecutionOutcome) -> tuple[Any, ...]:
    """Return what a record would be made of, without the random names of the folders."""

    def plain(data: bytes) -> bytes:
        for folder in (found.work, found.home, found.temporary):
            data = data.replace(folder.encode(), b"")
        return data

    streams = [(plain(stream.head), plain(stream.tail)) for stream in (found.stdout, found.stderr)]
    return (*streams, found.code, found.stopped, found.left_processes)


CHAINED = """
def f():
    raise ValueError("x")
try:
    f()
except ValueError as error:
    raise KeyError("y") from error
"""
SIGNALS = """
import faulthandler, signal
print(faulthandler.is_enabled(), signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGCHLD))
"""
ENDS = """
class Last:
    def __del__(self):
        print("dropped")

import atexit, threading, time
last = Last()
atexit.register(print, "at exit")
threading.Thread(target=lambda: (time.sleep(0.1), print("thread ends"))).start()
print("main ends")
"""
MAIN = """
import os, pickle, sys, warnings
class Thing: pass
print(__name__, os.path.basename(__file__), sys.argv == [__file__], os.path.basename(os.getcwd()))
print(pickle.loads(pickle.dumps(Thing())).__class__.__module__, sys.modules["__main__"].Thing is Thing)
print(sorted(os.listdir(".")), os.path.basename(sys.path[0]), repr(sys.stdin.read()), __builtins__ is not None)
warnings.warn("once")
print(sorted(name for name in os.environ if name.startswith(("PYTHON", "TORCH", "CAPTURE", "HOME", "TMP"))))
"""


@pytest.mark.parametrize(
    "code",
    [
        pytest.param("print('plain')", id="plain"),
        pytest.param("import torch; print(torch.__version__)", id="torch"),
        pytest.param("print('no newline', end='')", id="no-newline"),
        pytest.param("import os, sys; os.write(1, b'bytes \\xff\\n'); sys.stderr.write('err\\n')", id="descriptors"),
        pytest.param("input('dtype? ')", id="input"),
        pytest.param("import sys; sys.exit('words')", id="exit-words"),
        pytest.param("raise SystemExit(3)", id="exit-code"),
        pytest.param("raise SystemExit(None)", id="exit-none"),
        pytest.param("raise SystemExit(300)", id="exit-beyond-a-byte"),
        pytest.param(CHAINED, id="chained"),
        pytest.param("raise ExceptionGroup('g', [ValueError(1), KeyError(2)])", id="group"),
        pytest.param("x = (1,\ny = 2", id="syntax-error"),
        pytest.param("import threading\nthreading.Thread(target=lambda: 1 / 0, name='t').start()", id="thread-error"),
        pytest.param("import os; print('x'); os._exit(7)", id="hard-exit"),
        pytest.param("import os; print('x'); os.abort()", id="abort"),
        pytest.param("import os, signal; os.kill(os.getpid(), signal.SIGTERM)", id="sigterm"),
        pytest.param("import os, shutil; shutil.rmtree(os.getcwd()); print('gone')", id="folder-removed"),
        pytest.param("import sys; sys.stdout.close()", id="stdout-closed"),
        pytest.param("print({'fp16', 'bf16', 'fp32', 'fp64'}, hash('a') % 1000)", id="hash-seed"),
        pytest.param("import time, locale; print(time.tzname, locale.getpreferredencoding(), '→ 半')", id="locale"),
        pytest.param(SIGNALS, id="signals"),
        pytest.param(ENDS, id="how-it-ends"),
        pytest.param(MAIN, id="what-it-is"),
        pytest.param("import weakref\nclass T: pass\nt = T()\nweakref.finalize(t, print, 'final')", id="finalizer"),
        pytest.param("import gc; print(gc.isenabled(), gc.get_threshold())", id="collector"),
    ],
)  # fmt: skip
def test_forked_and_fresh_print_the_same_bytes(code: str, server: forked.Server, tmp_path: Path) -> None:
    """Whatever a snippet prints and however it ends, the engine that ran it cannot be told from the result."""
    request = asked(tmp_path, code)
    assert seen(server.execute(request, threading.Event())) == seen(fresh.execute(request, threading.Event()))


def test_random_numbers_are_not_shared_between_executions(server: forked.Server, tmp_path: Path) -> None:
    """An unseeded snippet disagrees with itself, as it does in two interpreters."""
    request = asked(tmp_path, "import random; print(random.random())")
    first, second = (server.execute(request, threading.Event()).stdout.head for _ in range(2))
    assert first != second


def test_a_time_limit_holds_and_says_where_it_stood(server: forked.Server, tmp_path: Path) -> None:
    """At the limit the child ends, its partial output is kept, and the report names the line."""
    request = asked(tmp_path, "import time\nprint('start')\ntime.sleep(60)", timeout=1)
    found = server.execute(request, threading.Event())
    assert (found.stopped, found.stdout.head) == ("timeout", b"start\n")
    assert "line 3" in found.diagnostics
    assert found.stderr.head == b""


def test_limits_on_memory_and_output_hold(
    server: forked.Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Memory is that of the child alone; endless output is ended by its size."""
    greedy = asked(tmp_path, "blocks = []\nwhile True:\n    blocks.append(b'x' * (16 << 20))", memory=300 << 20)
    assert server.execute(greedy, threading.Event()).stopped == "out_of_memory"
    monkeypatch.setattr(fresh, "OUTPUT_LIMIT", 1 << 20)
    endless = asked(tmp_path, "while True:\n    print('x' * 1000)")
    assert server.execute(endless, threading.Event()).stopped == "output_limit"


def test_processes_that_a_forked_snippet_leaves_are_ended(server: forked.Server, tmp_path: Path) -> None:
    """A child process that outlives the snippet is ended and counted."""
    code = waits() + "print('done')"
    found = server.execute(asked(tmp_path, code), threading.Event())
    assert (found.code, found.stdout.head, found.left_processes) == (0, b"done\n", 1)
    assert processes_with(found.work) == []


def test_many_at_once(server: forked.Server, tmp_path: Path) -> None:
    """Executions side by side get their own output."""
    requests = [asked(tmp_path / str(number), f"print({number})") for number in range(8)]
    results: dict[int, bytes] = {}

    def one(number: int) -> None:
        results[number] = server.execute(requests[number], threading.Event()).stdout.head

    threads = [threading.Thread(target=one, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert results == {number: f"{number}\n".encode() for number in range(8)}


def engines(
    root: Path, code: str, choice: Any = "auto", interpreter: str = "", **options: Any
) -> tuple[Engines, Any, ExecutionRequest, list[str]]:
    """Return engines, a snippet, its request, and the list that gets what is told."""
    snippet = written(root, code, **{"dependencies": ["torch>=2.2"], **options})
    told: list[str] = []
    path = interpreter or stub_torch_python()
    known = prepared(root, interpreter=read_interpreter(path, (), ()))
    return Engines(choice, [snippet], told.append), snippet, record_assembly.request(known, snippet), told


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (TIMED, "it times"),
        ({"env": {"OMP_NUM_THREADS": "1"}}, "it sets its environment"),
        ({"needs": ["cuda"]}, "it needs cuda"),
        ({"needs": ["compile"]}, "it needs compile"),
        ({"dependencies": []}, "it does not use torch"),
    ],
)
def test_what_is_not_safe_runs_fresh(options: dict[str, Any], why: str, tmp_path: Path) -> None:
    """Timing, own environment, devices and compilers need an interpreter of their own; the reason is in words."""
    assert forkable.why_not(written(tmp_path, "print(1)", **{"dependencies": ["torch"], **options})).startswith(why)


@pytest.mark.parametrize(
    "code", ["import multiprocessing", "import os\nos.fork()", "import torch.distributed as d", "torch.compile(f)"]
)
def test_what_starts_processes_or_compiles_runs_fresh(code: str, tmp_path: Path) -> None:
    """A source that names such things is not forked."""
    assert "it uses" in forkable.why_not(written(tmp_path, code, dependencies=["torch"]))


def test_a_server_that_dies_loses_no_execution(tmp_path: Path) -> None:
    """The execution that it ran is repeated in a fresh interpreter; one line says why."""
    chosen, snippet, request, told = engines(tmp_path, "import time\nprint('up')\ntime.sleep(1)\nprint('ran')")
    server = chosen.running(stub_torch_python())
    threading.Thread(target=lambda: (until(lambda: started(server), "it runs"), server.process.kill())).start()
    found = chosen.execute(snippet, request, threading.Event())
    chosen.close()
    assert (found.code, found.stdout.head) == (0, b"up\nran\n")
    assert len(told) == 1
    assert processes_with(found.work) == []


def test_a_torch_that_does_not_import_falls_back(tmp_path: Path) -> None:
    """Without a server every snippet runs in a fresh interpreter, and the reason is told once."""
    broken = bare_interpreter(
        tmp_path / "env",
        {"torch/__init__.py": "raise OSError('no fbgemm')\n", "torch/version.py": "__version__ = '2.13.0'\n"},
    )
    chosen, snippet, request, told = engines(tmp_path / "book", "print('fresh')", interpreter=broken)
    assert chosen.execute(snippet, request, threading.Event()).stdout.head == b"fresh\n"
    assert chosen.execute(snippet, request, threading.Event()).stdout.head == b"fresh\n"
    chosen.close()
    assert len(told) == 1
    assert "OSError: no fbgemm" in told[0]


def test_a_server_that_hangs_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that does not answer is left behind, and the run goes on."""
    monkeypatch.setattr(forked, "ANSWER_LIMIT", 0.5)
    monkeypatch.setattr(forked.Server, "wake", lambda server: None)  # a stopped one stands for one that hangs
    chosen, snippet, request, told = engines(tmp_path, "print('ran')")
    server = chosen.running(stub_torch_python())
    assert server.ready.wait(30)
    os.kill(server.process.pid, signal.SIGSTOP)
    assert chosen.execute(snippet, request, threading.Event()).stdout.head == b"ran\n"
    chosen.close()
    assert len(told) == 1
    assert server.process.poll() is not None


def test_an_interrupted_run_does_not_wait_for_its_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever stops a run while torch is still being imported need not wait for that; nothing is told about it."""
    slow = bare_interpreter(
        tmp_path / "env",
        {"torch/__init__.py": "import time\ntime.sleep(60)\n", "torch/version.py": "__version__ = '2.13.0'\n"},
    )
    chosen, snippet, request, told = engines(tmp_path / "book", "import time\ntime.sleep(30)", interpreter=slow)
    stop = threading.Event()
    threading.Timer(0.5, stop.set).start()
    assert chosen.execute(snippet, request, stop).stopped == "interrupted"
    server = chosen.server
    chosen.close()
    assert server is not None and server.process.poll() is not None
    assert told == []


def test_forked_children_end_with_their_server(tmp_path: Path) -> None:
    """When the tool is killed its server sees that, and ends what it has forked."""
    server = forked.Server(stub_torch_python(), [])
    request = replace(asked(tmp_path, "import time\nprint('up')\ntime.sleep(60)"), timeout=50)
    failures: list[BaseException] = []

    def run() -> None:
        try:
            server.execute(request, threading.Event())
        except forked.ServerLost as error:
            failures.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    until(lambda: started(server), "it runs")
    pids = started(server)
    server.socket.shutdown(socket.SHUT_RDWR)
    until(lambda: not any(psutil.pid_exists(pid) for pid in pids), "the child is gone")
    thread.join(30)
    assert not thread.is_alive()
    assert len(failures) == 1
    server.close()


def started(server: forked.Server) -> list[int]:
    """Return the process numbers of what a server has forked."""
    return [child.pid for child in server.children.values() if child.pid]


def test_facts_come_from_the_server(tmp_path: Path) -> None:
    """What a fresh probe tells about torch, the first child of the server tells too."""
    chosen, _, _, told = engines(tmp_path, "print(1)")
    request = TorchRequest(packages=("pip",), modules=("json",), upstream=("torch.relu",))
    assert chosen.facts(stub_torch_python(), request) == probe_torch(stub_torch_python(), request)
    chosen.close()
    assert told == []


def test_the_server_starts_while_the_run_is_planned(tmp_path: Path) -> None:
    """It imports torch meanwhile where something due will be forked, and is not started in vain otherwise."""
    chosen, snippet, request, told = engines(tmp_path, "print('ran')")
    chosen.warm(stub_torch_python(), [])
    chosen.warm("python3", [snippet.id])
    assert chosen.server is None
    chosen.warm(stub_torch_python(), [snippet.id])
    early = chosen.server
    assert early is not None
    assert chosen.execute(snippet, request, threading.Event()).stdout.head == b"ran\n"
    assert chosen.server is early
    chosen.close()
    assert told == []
