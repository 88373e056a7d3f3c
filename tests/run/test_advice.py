"""What an author is told: what of an execution is not kept, and the line of a header that mends a failure."""

from __future__ import annotations

from pathlib import Path

import pytest
from harness.executions import record
from harness.project import Project

from capture.run import advice, record_assembly

CUDA = """
def f():
    raise AssertionError("Torch not compiled with CUDA enabled")
f()
"""
LONG = """
raise RuntimeError('''first sentence that says what is wrong
  a frame of C++ at 0x7f0123456789 and many more words that nobody reads
''')
"""


@pytest.mark.parametrize(
    ("code", "note"),
    [
        ("x = 1", "it prints nothing; a record shows what is printed"),
        ("import sys\nprint(1)\nx = [1, 2]\nx", "values that stand alone are not printed, at line 4"),
        (
            "print(1)\nx = 3\nx + 1\nx > 2\n(x, x)\n[x]",
            "values that stand alone are not printed, at line 3, 4, 5 and 1 more",
        ),
        (
            "print(1)\nfor n in range(5):\n    open(f'{n}.png', 'w').close()",
            "files that it writes are not kept: 0.png, 1.png, 2.png and 2 more; print what counts in them",
        ),
        (
            "try:\n    import matplotlib.pyplot as plt\nexcept ImportError:\n    pass\nprint(1)",
            "figures that it draws are not kept; print the numbers, or name values and plot them on a page",
        ),
    ],
)  # fmt: skip
def test_what_is_dropped_is_told(code: str, note: str, tmp_path: Path) -> None:
    """A script that prints nothing, leaves files, draws, or ends as a notebook's cell does is captured with a note."""
    project = Project(tmp_path)
    project.snippet("demo/case", code)
    result = project.run()
    assert result.code == 0
    assert f"  note       demo/case: {note}\n" in result.out


@pytest.mark.parametrize(
    "code",
    [
        "'''Doc.'''\nprint(1)",
        "print(1)\n...",
        "x = print\nx(1)",
        "import sys\nsys.stdout.write('a\\n')",
        "print(1); 3",
        "print(1), print(2)",
    ],
)
def test_nothing_is_told_where_nothing_is_lost(code: str, tmp_path: Path) -> None:
    """A docstring, a call and a constant are no values that somebody would miss."""
    project = Project(tmp_path)
    project.snippet("demo/case", code)
    assert "note" not in project.run().out


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (
            CUDA,
            "error: exit 1; AssertionError: Torch not compiled with CUDA enabled; where that is not at hand, let its "
            'header say needs = ["cuda"]',
        ),
        (LONG, "error: exit 1; RuntimeError: first sentence that says what is wrong"),
        (
            "import no_such_package.part",
            "error: exit 1; ModuleNotFoundError: No module named 'no_such_package'; install it, and let the header say "
            'dependencies = ["no_such_package"]',
        ),
        (
            "import case\nprint(case.missing)",
            "error: exit 1; AttributeError: partially initialized module 'case' has no attribute 'missing' (most "
            "likely due to a circular import); is a file here named as the module case? Python imports it from here; "
            "rename it",
        ),
        ("import sys\nsys.exit('own last words')", "error: exit 1; own last words"),
        ("raise SystemExit(2)", "error: exit 2; no error output"),
        ("try:\n    1 / 0\nexcept ZeroDivisionError:\n    raise KeyError('b')", "error: exit 1; KeyError: 'b'"),
        ("raise ExceptionGroup('both', [ValueError(1)])", "error: exit 1; ExceptionGroup: both (1 sub-exception)"),
    ],
)  # fmt: skip
def test_a_failure_is_told_by_its_exception(code: str, words: str, tmp_path: Path) -> None:
    """The line that names the exception stands for it, however long its message is; and how to mend it, if known."""
    assert record_assembly.failure_words(record(tmp_path, code)) == words


def test_last_words_are_cut_after_a_whole_word() -> None:
    """A long line ends with a sign that it goes on, and never within a word or an address."""
    assert advice.last_words(f"E: {'word ' * 60}0x7f0123456789") == f"E: {'word ' * 31}".rstrip() + " …"
