"""Executing a snippet that does its worst: whatever it is, it ends in time and leaves nothing that runs."""

from __future__ import annotations

import contextlib
import errno
import os
import sys
import tempfile
import threading
import time
import uuid
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from harness.executions import execute, posix, prepared, record, request, waits, written
from harness.project import processes_with, stub_torch_python

from capture.errors import CaptureError, HostBroken
from capture.host.probe.interpreter import read_interpreter
from capture.run import record_assembly
from capture.run.engine import contract, fresh
from capture.run.engine.selection import Engines

PROPORTIONS = Path("/proc/self/smaps_rollup")  # where Linux tells how many processes share a page
WAIT = "import time\ntime.sleep(45)"
# Each leaves at least one process behind, which names the script in its command line.
ESCAPES = {
    "child": waits(),
    "own session": waits().replace("__file__])", "__file__], start_new_session=True)"),
    "own group": waits().replace("__file__])", "__file__], process_group=0)"),
    "deaf to SIGTERM": waits().replace('"import time', '"import signal, time; signal.signal(15, signal.SIG_IGN)'),
    "daemon": "import os\nif os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n"
    "        import time; time.sleep(45)\n    os._exit(0)\nos.wait()",
    "no environment, slow parent": waits().replace("__file__])", "__file__], env={}, start_new_session=True)")
    + "import time\ntime.sleep(0.5)",
    "many": "import os, time\nfor _ in range(4):\n    os.fork()\ntime.sleep(0.3)\nif os.getpid() != os.getsid(0):\n"
    "    time.sleep(45)",
    "relay": "import os, time\nend = time.time() + 20\nif os.fork() == 0:\n    while time.time() < end:\n"
    "        if os.fork():\n            os._exit(0)\n        time.sleep(0.001)",
}  # fmt: skip


@posix
@pytest.mark.parametrize(
    ("name", "ending"),
    [*((name, "") for name in ESCAPES), *((name, "timeout") for name in ("own session", "daemon", "relay"))],
)
def test_nothing_outlives_the_execution(tmp_path: Path, name: str, ending: str) -> None:
    """Children, daemons, those in sessions of their own, many and fleeting ones: all are ended, none is waited for."""
    since = time.monotonic()
    found = execute(tmp_path, f"{ESCAPES[name]}\n{WAIT if ending else ''}\nprint('end')", timeout=0.5 if ending else 30)
    assert time.monotonic() - since < 15
    assert contract.status(found, 0) == (ending or "ok")
    assert found.left_processes > 0 or ending or name == "relay"  # too fleeting to be counted
    assert processes_with(found.work) == []
    assert not Path(found.temporary).exists()


FLOODS = {
    "stdout": "while True: os.write(1, b'x' * 79 + b'\\n')",
    "stderr": "while True: os.write(2, b'x' * 65536 + b'\\n')",
    "both": "while True: os.write(1, b'x\\n' * 30000); os.write(2, b'y\\n' * 30000)",
    "no newline": "while True: os.write(1, b'x' * 65536)",
    "garbage": "while True: os.write(1, os.urandom(65536))",
    "half characters": "while True: os.write(1, b'\\x80' * 65536)",
    "one write between two looks": "os.write(1, b'x' * 100_000_000)",
    "from a child": "if os.fork() == 0:\n    while True: os.write(1, b'x' * 65536)\nos.wait()",
}


@posix
@pytest.mark.parametrize("code", FLOODS.values(), ids=FLOODS)
def test_flood_is_ended_at_its_size(tmp_path: Path, code: str) -> None:
    """64 MiB on either stream end the execution, whatever they hold and however they are written."""
    item = record(tmp_path, f"import os\n{code}", timeout=60)
    assert item.status == "output_limit"
    elided = item.elided["stderr" if "stderr" in code or ("write(2" in code and "write(1" not in code) else "stdout"]
    assert elided.bytes > contract.OUTPUT_LIMIT
    assert len(item.stdout) + len(item.stderr) < 8 * contract.KEPT


ENDS = {
    "abort": ("import os\nos.abort()", "crashed", "SIGABRT"),
    "segfault": ("import ctypes\nctypes.string_at(0)", "crashed", "SIGSEGV"),
    "segfault after half a line": (
        "import ctypes, sys\nsys.stderr.write('half'); sys.stderr.flush(); ctypes.string_at(0)", "crashed", "SIGSEGV"),
    "kills its own group": ("import os\nos.killpg(0, 9)", "crashed", "SIGKILL"),
    "exit in a thread": ("import sys, threading\nthreading.Thread(target=sys.exit, args=(3,)).start()", "ok", None),
    "exit code": ("raise SystemExit(7)", "error", None),
    "one huge block": ("bytearray(1 << 60)", "out_of_memory", None),
    "an error of that kind": ("class _ArrayMemoryError(MemoryError): pass\nraise _ArrayMemoryError('1 TiB')",
                              "out_of_memory", None),
    "stops itself": ("import os, signal\nos.kill(os.getpid(), signal.SIGSTOP)", "timeout", None),
    "deaf to everything": ("import signal, time\nfor n in (signal.SIGABRT, signal.SIGTERM, signal.SIGINT):\n"
                           "    signal.signal(n, signal.SIG_IGN)\nwhile True: time.sleep(1)", "timeout", None),
    "closes its streams": ("import os\nos.close(1); os.close(2)", "ok", None),
    "removes its folder": ("import os, shutil\nshutil.rmtree(os.getcwd())", "ok", None),
    "goes away and removes all": ("import os, shutil\nhere = os.getcwd(); os.chdir('/')\n"
                                  "shutil.rmtree(os.path.dirname(here))", "ok", None),
    "locks its folders": ("import os\nos.mkdir('a'); open('a/b', 'w').close(); os.chmod('a', 0)", "ok", None),
}  # fmt: skip


@posix
@pytest.mark.parametrize(("code", "status", "name"), ENDS.values(), ids=ENDS)
def test_every_end_has_its_name(tmp_path: Path, code: str, status: str, name: str | None) -> None:
    """Crash, error, silence: each is told apart, and what was printed before is kept."""
    item = record(tmp_path, f"print('before')\n{code}", timeout=0.7)
    assert (item.status, item.signal, item.stdout) == (status, name, "before\n")
    assert "Fatal Python error" not in item.stderr


@posix
def test_crash_names_its_line_outside_the_streams(tmp_path: Path) -> None:
    """A segmentation fault is reported with the snippet's line in the diagnostics; stderr keeps the snippet's own."""
    code = "import ctypes, sys\nprint('own words', file=sys.stderr)\nctypes.string_at(0)"
    item = record(tmp_path, code)
    assert item.stderr == "own words\n"
    assert item.diagnostics and 'File "case.py", line 3 in <module>' in item.diagnostics
    assert record_assembly.failure_words(item) == "crashed at case.py:3: ended by SIGSEGV; own words"


@posix
def test_stack_dump_is_cut_from_a_busy_stderr(tmp_path: Path) -> None:
    """A snippet that goes on writing to stderr at its limit gets no report into the stored text."""
    code = "import sys, time\nwhile True:\n    print('words', file=sys.stderr)\n    time.sleep(0.001)"
    item = record(tmp_path, code, timeout=1)
    assert item.status == "timeout"
    assert "Fatal Python error" not in item.stderr and "most recent call" not in item.stderr
    assert item.diagnostics and "case.py" in item.diagnostics


def test_report_of_a_child_stays_in_the_text(tmp_path: Path) -> None:
    """What a snippet prints about another process's crash belongs to its output."""
    code = "import sys\nprint('Fatal Python error: Aborted', file=sys.stderr)"
    assert record(tmp_path, code).stderr == "Fatal Python error: Aborted\n"


STDIN = {
    "read": ("import sys\nprint(repr(sys.stdin.read()))", "''\n"),
    "lines": ("import sys\nprint(list(sys.stdin))", "[]\n"),
    "descriptor": ("import os\nprint(os.read(0, 10))", "b''\n"),
    "child": ("import subprocess\nprint(subprocess.run(['cat'], capture_output=True).stdout)", "b''\n"),
    "terminal": ("try:\n    open('/dev/tty')\nexcept OSError:\n    print('no terminal')", "no terminal\n"),
    "isatty": ("import sys\nprint(sys.stdin.isatty(), sys.stdout.isatty())", "False False\n"),
    "password": ("import getpass\ntry:\n    getpass.getpass()\nexcept EOFError:\n    print('no one')", "no one\n"),
}


@posix
@pytest.mark.parametrize(("code", "expected"), STDIN.values(), ids=STDIN)
def test_nothing_can_be_asked(tmp_path: Path, code: str, expected: str) -> None:
    """Every way to read finds the end at once; there is no terminal."""
    item = record(tmp_path, code, timeout=10)
    assert (item.status, item.stdout) == ("ok", expected)


@pytest.mark.skipif(not PROPORTIONS.exists(), reason="the system does not tell what is shared")
def test_shared_memory_is_counted_once(tmp_path: Path) -> None:
    """Forked workers share the pages of their parent; together they are no larger than it."""
    forks = "for _ in range(4):\n    if os.fork() == 0:\n        break\ntime.sleep(0.5)"
    code = f"import os, time\nblock = bytearray(200 << 20)\n{forks}"
    assert contract.status(execute(tmp_path, code, memory=500 << 20), 0) == "ok"


@posix
def test_memory_of_children_counts(tmp_path: Path) -> None:
    """The limit holds for all that a snippet starts."""
    child = "import time; block = bytearray(400 << 20); time.sleep(30)"
    code = f"import subprocess, sys\nsubprocess.run([sys.executable, '-c', {child!r}])"
    found = execute(tmp_path, code, memory=300 << 20)
    assert contract.status(found, 0) == "out_of_memory"


@posix
def test_kernel_kill_for_memory_is_told_from_other_kills(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """SIGKILL while the kernel counts a kill for lack of memory is out_of_memory, otherwise a crash."""
    counts = iter([3, 4])
    monkeypatch.setattr(fresh.process_family, "kernel_memory_kills", lambda: next(counts))
    code = "import os\nos.kill(os.getpid(), 9)"
    assert contract.status(execute(tmp_path, code), 0) == "out_of_memory"
    monkeypatch.setattr(fresh.process_family, "kernel_memory_kills", lambda: 4)
    assert contract.status(execute(tmp_path, code), 0) == "crashed"


@posix
def test_output_opened_anew_is_appended(tmp_path: Path) -> None:
    """A process that opens its own output by name writes behind what is there, without a gap."""
    code = "print('a')\nwith open('/dev/stdout', 'a') as again:\n    again.write('b\\n')\nprint('c')"
    assert record(tmp_path, code).stdout == "a\nb\nc\n"


def test_own_source_is_a_copy(tmp_path: Path) -> None:
    """A snippet may overwrite itself; the handbook's file stays."""
    item = record(tmp_path, "import pathlib\npathlib.Path(__file__).write_text('gone')\nprint('done')")
    assert item.status == "ok"
    assert "gone')" in (tmp_path / "snippets/demo/case.py").read_text("utf-8")


def test_null_bytes_are_visible(tmp_path: Path) -> None:
    """A NUL is stored as a mark that YAML and people can read."""
    assert record(tmp_path, "print('a\\0b')").stdout == "a\\x00b\n"


def test_stop_ends_an_execution(tmp_path: Path) -> None:
    """A set stop ends what runs at once, with all it started; there is no result."""
    stop = threading.Event()
    threading.Timer(0.3, stop.set).start()
    since = time.monotonic()
    found = fresh.execute(request(tmp_path, waits() + WAIT, timeout=40), stop)
    assert (found.stopped, time.monotonic() - since < 15) == ("interrupted", True)
    assert processes_with(found.work) == []


# It ends once the one that escapes has become another program, which closes its end of the pipe.
ESCAPE = """
import os, sys, time
reader, writer = os.pipe()
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.chdir({folder!r})
        for stream in (0, 1, 2):
            os.dup2(os.open(os.devnull, os.O_RDWR), stream)
        os.execve(sys.executable, [sys.executable, "-c", "import time; time.sleep(60)", {name!r}], {{}})
    os._exit(0)
os.wait()
os.close(writer)
os.read(reader, 1)
print("done")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="orphans come to the runner on Linux alone")
@pytest.mark.parametrize("folder", [".", "/"])
@pytest.mark.parametrize("choice", ["fresh", "auto"])
def test_a_process_that_leaves_everything_behind_is_ended(choice: Any, folder: str, tmp_path: Path) -> None:
    """Of another session, without parent and environment, in another folder even: nothing outlives the run."""
    name = f"escaped-{uuid.uuid4().hex}"
    snippet = written(tmp_path, ESCAPE.format(folder=folder, name=name), dependencies=["torch"])
    known = prepared(tmp_path, interpreter=read_interpreter(stub_torch_python(), (), ()))
    told: list[str] = []
    with contextlib.closing(Engines(choice, [snippet], told.append)) as engines:
        engines.reasons.setdefault(snippet.id, "") if choice == "auto" else None  # though it forks
        found = engines.execute(snippet, record_assembly.request(known, snippet), threading.Event())
    assert found.stdout.head == b"done\n"
    assert processes_with(name) == []
    if folder == ".":
        assert (found.left_processes, told) == (1, [])
    else:
        assert told == ["ended 1 process that a snippet had left behind"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_snippet_that_stops_its_parent_holds_nobody_up(tmp_path: Path) -> None:
    """The server that all others wait for goes on; the result is the one that was printed."""
    code = "import os, signal\nos.kill(os.getppid(), signal.SIGSTOP)\nprint('went on')"
    snippet = written(tmp_path, code, dependencies=["torch"], timeout=30)
    known = prepared(tmp_path, interpreter=read_interpreter(stub_torch_python(), (), ()))
    told: list[str] = []
    with contextlib.closing(Engines("auto", [snippet], told.append)) as engines:
        found = engines.execute(snippet, record_assembly.request(known, snippet), threading.Event())
    assert (found.stdout.head, found.stopped, found.forked, told) == (b"went on\n", None, True, [])


def test_lost_interpreter_is_a_broken_host(tmp_path: Path) -> None:
    """An interpreter that is gone meanwhile is named by its name alone, with what to pass."""
    asked = replace(request(tmp_path, "print(1)"), python="/nowhere/bin/python9")
    with pytest.raises(HostBroken, match="cannot start python9: No such file or directory; pass --python"):
        fresh.execute(asked, threading.Event())


@pytest.mark.parametrize(("module", "function"), [(tempfile, "mkdtemp"), (Path, "write_bytes")])
def test_full_disk_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, module: object, function: str) -> None:
    """No space for the working folder or the files in it: the reason and what to do, and no folder stays."""
    folders: list[str] = []
    make = tempfile.mkdtemp
    asked = request(tmp_path, "print(1)")

    def full(*arguments: object, **options: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(tempfile, "mkdtemp", lambda **options: folders.append(make(**options)) or folders[-1])
    monkeypatch.setattr(module, function, full)
    with pytest.raises(CaptureError, match=r"No space left on device.*free space"):
        fresh.execute(asked, threading.Event())
    assert not any(Path(folder).exists() for folder in folders)


def test_environment_of_a_snippet(tmp_path: Path) -> None:
    """What the header sets is there, over the pins; the rest of the caller's environment is not."""
    code = "import os\nprint(os.environ['COLUMNS'], os.environ.get('DEMO'), 'HOSTNAME' in os.environ)"
    assert record(tmp_path, code, env={"COLUMNS": "120", "DEMO": "yes"}).stdout == "120 yes False\n"


def test_places_of_this_machine_do_not_show(tmp_path: Path) -> None:
    """Working, temporary and home folders are printed as `<work>`, `<tmp>` and `~`; the real home as well."""
    home = "/home/someone"
    printed = [f"{home}/data", home.replace("/", "\\") + "\\data", "file://" + home + "/data", home.upper()]
    code = (
        f"import os, tempfile\nprint(os.getcwd(), tempfile.gettempdir(), os.path.expanduser('~'))\nprint(*{printed!r})"
    )
    item = record(tmp_path, code, prepared(tmp_path, homes=(home,)))
    assert item.stdout.splitlines()[0] == "<work> <tmp> ~"
    assert "someone" not in item.stdout.lower()
    assert {"work-path", "temporary-path", "home-path"} <= set(item.normalized)
