"""Executing a snippet: how it may end, and that nothing of it stays.

Faults that people have reported of tools that run examples, each under its case id; every test executes for real.
"""

from __future__ import annotations

import threading
import time
from pathlib import Path

import psutil
import pytest
from harness.executions import case, execute, posix, prepared, record, waits, written
from harness.project import processes_with

from capture.run import record_assembly
from capture.run.engine import contract, fresh


@case("exec-input")
def test_standard_input_is_closed(case: str, tmp_path: Path) -> None:
    """A question to the reader ends at once with an error that is kept, and so is the prompt."""
    found = execute(tmp_path, 'name = input("dtype? ")\nprint("using", name)')
    assert (contract.status(found, 0), found.code, found.stdout.head) == ("error", 1, b"dtype? ")
    assert b"EOFError" in found.stderr.head


@case("exec-child-holds-pipe")
def test_background_child_does_not_hold_the_run(case: str, tmp_path: Path) -> None:
    """The snippet is over when its main process is; a child left behind is ended and counted."""
    since = time.monotonic()
    found = execute(tmp_path, waits() + 'print("main finished")')
    assert time.monotonic() - since < 10
    assert (contract.status(found, 0), found.stdout.head) == ("ok", b"main finished\n")
    assert found.left_processes == 1
    assert processes_with(str(tmp_path)) == processes_with(found.work) == []


@case("exec-timeout-grandchild")
def test_time_limit_bounds_the_whole_family(case: str, tmp_path: Path) -> None:
    """At the limit everything ends, children included; what was printed is kept."""
    since = time.monotonic()
    code = 'import time\nprint("epoch 1")\n' + waits() + "while True:\n    time.sleep(0.1)"
    found = execute(tmp_path, code, timeout=1)
    assert time.monotonic() - since < 10
    assert (contract.status(found, 0), found.stdout.head) == ("timeout", b"epoch 1\n")
    assert processes_with(found.work) == []


@case("exec-infinite-output")
def test_endless_output_is_ended_by_its_size(case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Printing in an endless loop ends at the byte limit, long before the time limit; little is kept in memory."""
    monkeypatch.setattr(fresh, "OUTPUT_LIMIT", 2 << 20)
    before = psutil.Process().memory_info().rss
    found = execute(tmp_path, 'n = 0\nwhile True:\n    n += 1\n    print("iteration", n)', timeout=50)
    assert contract.status(found, 0) == "output_limit"
    assert found.stdout.total > 2 << 20
    assert found.seconds < 40
    assert len(found.stdout.head + found.stdout.tail) <= contract.KEPT
    assert found.stdout.head.startswith(b"iteration 1\niteration 2\n")
    assert psutil.Process().memory_info().rss - before < 64 << 20


@case("exec-os-exit")
def test_hard_exit_loses_nothing(case: str, tmp_path: Path) -> None:
    """What was printed before os._exit is stored."""
    found = execute(tmp_path, 'import os\nprint("speedup 1.31x")\nos._exit(0)')
    assert (contract.status(found, 0), found.stdout.head) == ("ok", b"speedup 1.31x\n")


@case("exec-spawn-main")
def test_spawned_workers_find_the_script(case: str, tmp_path: Path) -> None:
    """The snippet is a real file run as __main__, so that its functions can be sent to spawned workers."""
    code = """
import multiprocessing as mp

def square(n):
    return n * n

if __name__ == "__main__":
    with mp.get_context("spawn").Pool(2) as pool:
        print(pool.map(square, [1, 2, 3]))
"""
    item = record(tmp_path, code)
    assert (item.status, item.stdout, item.left_processes) == ("ok", "[1, 4, 9]\n", None)


@case("exec-spawn-unguarded")
def test_missing_main_guard_is_bounded_and_hinted(case: str, tmp_path: Path) -> None:
    """Workers that start the script again and again are ended, and the record says what is missing."""
    code = """
import multiprocessing as mp

def square(n):
    return n * n

pool = mp.get_context("spawn").Pool(2)
print(pool.map(square, [1, 2]))
"""
    known, snippet = prepared(tmp_path), written(tmp_path, code, timeout=2)
    found = fresh.execute(record_assembly.request(known, snippet), threading.Event())
    item = record_assembly.record(known, snippet, found)
    assert item.status in ("error", "timeout")
    assert item.hint and "missing __main__ guard" in item.hint
    assert [process for process in processes_with("multiprocessing") if process.cwd().startswith(found.work)] == []


@posix
@case("exec-orphans")
def test_workers_do_not_outlive_a_killed_parent(case: str, tmp_path: Path) -> None:
    """A snippet ended by SIGKILL is a crash; its workers are ended before anything else starts, and counted."""
    code = """
import multiprocessing as mp, os, signal, time

if __name__ == "__main__":
    for _ in range(2):
        mp.get_context("fork").Process(target=time.sleep, args=(45,)).start()
    print("workers up")
    os.kill(os.getpid(), signal.SIGKILL)
"""
    item = record(tmp_path, code)
    assert (item.status, item.signal, item.exit_code, item.left_processes) == ("crashed", "SIGKILL", None, 2)
    assert item.stdout == "workers up\n"


@case("exec-daemon-shutdown")
def test_daemon_thread_at_shutdown_never_hangs(case: str, tmp_path: Path) -> None:
    """A thread that prints while the interpreter ends gives some end in time, and a crash is not called success."""
    code = """
import threading

def chatter():
    while True:
        print("tick")

threading.Thread(target=chatter, daemon=True).start()
print("main ends")
"""
    found = execute(tmp_path, code, timeout=20)
    assert found.stopped is None
    assert contract.status(found, 0) == ("ok" if found.code == 0 else "crashed" if found.code < 0 else "error")


@posix
@case("exec-deadlock")
def test_deadlock_names_its_line(case: str, tmp_path: Path) -> None:
    """At the time limit the diagnostics say on which line the snippet stood; the page's streams stay clean."""
    code = """
import threading
lock = threading.Lock()
lock.acquire()
print("waiting for the lock")
lock.acquire()
"""
    item = record(tmp_path, code.lstrip(), timeout=1)
    assert (item.status, item.stdout, item.stderr) == ("timeout", "waiting for the lock\n", "")
    assert item.diagnostics and 'File "case.py", line 5 in <module>' in item.diagnostics


@case("exec-oom")
def test_memory_is_bounded(case: str, tmp_path: Path) -> None:
    """A snippet that takes more memory than it may is ended, and that is what the status says."""
    code = "blocks = []\nwhile True:\n    blocks.append(bytearray(64 * 1024 * 1024))"
    found = execute(tmp_path, code, memory=300 << 20)
    assert contract.status(found, 0) == "out_of_memory"


@case("exec-sys-exit")
def test_exit_code_is_an_error_unless_declared(case: str, tmp_path: Path) -> None:
    """sys.exit ends the snippet alone; its message is kept; a declared exit code is a good result."""
    code = 'import sys\nprint("checks done")\nsys.exit("bf16 is not supported here")'
    item = record(tmp_path, code)
    assert (item.status, item.exit_code, item.stdout) == ("error", 1, "checks done\n")
    assert item.stderr == "bf16 is not supported here\n"
    assert record(tmp_path, code, exit=1).status == "ok"


@case("exec-cwd-files")
def test_working_folder_is_fresh(case: str, tmp_path: Path) -> None:
    """Files that a snippet leaves are gone before the next execution, and the folder's name is not stored."""
    code = """
from pathlib import Path
assert not Path("scratch.txt").exists(), "left over from an earlier run"
Path("scratch.txt").write_text("x" * 10)
print(Path.cwd().name, sorted(p.name for p in Path(".").iterdir()))
"""
    first, second = record(tmp_path, code), record(tmp_path, code)
    assert first.status == "ok"
    assert first.stdout == second.stdout
    assert sorted(path.name for path in (tmp_path / "snippets/demo").iterdir()) == ["case.py"]
