"""What is stored of a snippet's output: all of it, readable, the same wherever it is captured.

Faults that people have reported of tools that store output, each under its case id; every test executes for real.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from harness.executions import case, posix, record, written

from capture.record import agreement
from capture.record.record import Record
from capture.run.engine import contract


@case("exec-silent-trim")
def test_long_output_keeps_its_end_and_counts_what_is_left_out(case: str, tmp_path: Path) -> None:
    """Of a megabyte, head and tail are stored with a line that says how much is not; the last line is there."""
    code = 'for i in range(20000):\n    print(f"row {i:05d} " + "." * 40)\nprint("FINAL loss 0.125")'
    item = record(tmp_path, code)
    assert item.status == "ok"
    assert item.stdout.startswith("row 00000 ") and item.stdout.endswith("FINAL loss 0.125\n")
    elided = item.elided["stdout"]
    assert elided.bytes == 20000 * 51 + 17
    assert f"… {elided.left_out:,} of {elided.bytes:,} bytes left out …\n" in item.stdout
    assert elided.bytes - elided.left_out <= contract.KEPT


@posix
@case("exec-c-stdout")
def test_output_below_python_is_captured_in_order(case: str, tmp_path: Path) -> None:
    """Text by descriptor, by a child process and by C code arrives, in the order written."""
    code = """
import ctypes, os, subprocess, sys
print("python text", flush=True)
os.write(1, b"descriptor text\\n")
subprocess.run([sys.executable, "-c", "print('child text')"])
libc = ctypes.CDLL(None)
libc.puts(b"libc text")
libc.fflush(None)
"""
    assert record(tmp_path, code).stdout == "python text\ndescriptor text\nchild text\nlibc text\n"


@case("exec-order")
def test_streams_are_kept_apart(case: str, tmp_path: Path) -> None:
    """No order between the two streams is pretended: each has its own lines."""
    code = 'import sys\nfor i in range(3):\n    print("out", i)\n    print("err", i, file=sys.stderr)'
    item = record(tmp_path, code)
    assert (item.stdout, item.stderr) == ("out 0\nout 1\nout 2\n", "err 0\nerr 1\nerr 2\n")


@case("exec-tqdm")
def test_progress_bar_shows_its_last_look(case: str, tmp_path: Path) -> None:
    """A line drawn anew many times is stored as a terminal shows it in the end."""
    code = """
import sys
for pct in range(0, 101, 20):
    sys.stderr.write(f"\\rloading {pct:3d}% |{'#' * (pct // 10):<10}|")
    sys.stderr.flush()
sys.stderr.write("\\n")
print("loaded")
"""
    item = record(tmp_path, code)
    assert (item.stdout, item.stderr) == ("loaded\n", "loading 100% |##########|\n")
    assert "carriage-return" in item.normalized


@case("exec-encoding-out")
def test_output_is_utf8_whatever_the_locale(case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Text beyond ASCII is stored as printed, also where the caller's locale is C."""
    for name, value in {"LC_ALL": "C", "LANG": "C", "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}.items():
        monkeypatch.setenv(name, value)
    assert record(tmp_path, 'print("loss 0.50 \\u2192 0.05 \\u2713")').stdout == "loss 0.50 → 0.05 ✓\n"


@case("exec-bytes")
def test_undecodable_bytes_are_shown(case: str, tmp_path: Path) -> None:
    """A byte that is no UTF-8 is stored visibly and the record says so."""
    item = record(tmp_path, 'import sys\nsys.stdout.buffer.write(b"temp 41\\xb0C\\n")')
    assert (item.status, item.stdout) == ("ok", "temp 41\\xb0C\n")
    assert "undecodable-bytes" in item.normalized


@case("exec-color-env")
def test_colour_settings_of_the_caller_do_not_count(case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever asks for colour in the caller's shell, no escape code reaches the stored traceback."""
    for name in ("FORCE_COLOR", "CLICOLOR_FORCE", "PYTHON_COLORS"):
        monkeypatch.setenv(name, "1")
    item = record(tmp_path, "1 / 0")
    assert "ZeroDivisionError" in item.stderr
    assert "\x1b" not in item.stderr and item.normalized == ("work-path",)


@case("exec-width")
def test_width_does_not_depend_on_the_terminal(case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same bytes for a narrow terminal, a wide one and none."""
    code = """
import shutil, textwrap
width = shutil.get_terminal_size().columns
print(width)
print(textwrap.fill("mixed precision keeps a master copy of the weights " * 3, width))
"""
    texts = []
    for columns in ("60", "200", ""):
        monkeypatch.setenv("COLUMNS", columns)
        texts.append(record(tmp_path, code).stdout)
    assert texts[0] == texts[1] == texts[2]
    assert texts[0].startswith("80\n")


@case("exec-hashseed")
def test_order_of_sets_is_stable(case: str, tmp_path: Path) -> None:
    """Two captures of a printed set are byte-equal."""
    code = 'print({"fp16", "bf16", "fp32", "fp64", "fp8"})'
    assert record(tmp_path, code).stdout == record(tmp_path, code).stdout


@case("exec-warning-path")
def test_warning_names_the_snippet_alone(case: str, tmp_path: Path) -> None:
    """A warning is kept with the snippet's name and line, without any folder of this machine."""
    item = record(tmp_path, 'import warnings\nwarnings.warn("falling back to float32")\nprint("ok")')
    assert item.stderr.startswith("case.py:2: UserWarning: falling back to float32\n")


def again(item: Record, stderr: str) -> Record:
    """Return a record with other error output."""
    return replace(item, stderr=stderr)


@case("exec-traceback-version")
def test_carets_of_tracebacks_do_not_count(case: str, tmp_path: Path) -> None:
    """Tracebacks that differ in their carets alone, as Python versions do, say the same; another message does not."""
    code = """
def outer(values):
    return inner(values)

def inner(values):
    return values["missing"] + 1

outer({})
"""
    snippet, item = written(tmp_path, code, exit=1), record(tmp_path, code, exit=1)
    older = again(item, re.sub(r"^ *[~^]+\n", "", item.stderr, flags=re.MULTILINE))
    assert agreement.classify(snippet, older, item).same
    assert not agreement.classify(snippet, item, again(item, item.stderr.replace("missing", "lost"))).same


@case("exec-exceptiongroup")
def test_grouped_errors_are_kept_whole(case: str, tmp_path: Path) -> None:
    """Notes, groups, borders and both sentences about direct causes stay."""
    code = """
try:
    try:
        raise ValueError("bad scale")
    except ValueError as e:
        e.add_note("dtype was float16")
        raise ExceptionGroup("step failed", [e, OverflowError("inf in grad")]) from e
except* OverflowError as g:
    raise RuntimeError("retry in bfloat16") from g
"""
    item = record(tmp_path, code)
    assert (item.status, item.exit_code) == ("error", 1)
    for part in (
        "direct cause of the following",
        "dtype was float16",
        "RuntimeError: retry in bfloat16",
        "  +-+----",
        "    | ",
    ):
        assert part in item.stderr


@case("exec-syntaxerror")
def test_snippet_that_does_not_compile_is_an_error_of_its_own(case: str, tmp_path: Path) -> None:
    """It is recorded as such, with the line that the author sees."""
    item = record(tmp_path, "import json\nx = dict([1, 2\nprint(x)")
    assert (item.status, item.phase, item.exit_code) == ("error", "compile", 1)
    assert 'File "case.py", line 2' in item.stderr


@case("exec-repr-address")
def test_addresses_do_not_count(case: str, tmp_path: Path) -> None:
    """Object addresses, in the default form and in others, are no change between two captures."""
    code = """
class Stream:
    def __repr__(self):
        return f"<Stream default:{id(self):#x}>"

print(object())
print(Stream())
"""
    snippet, first = written(tmp_path, code), record(tmp_path, code)
    addresses = iter(["0x7f0000000010", "0x7f0000000020"])
    other = re.sub(r"0x[0-9a-f]+", lambda match: next(addresses), first.stdout)
    assert other != first.stdout
    assert agreement.classify(snippet, first, replace(first, stdout=other)).kind == "volatile only"
