"""The header of a snippet: every key valid and invalid, each problem at file:line with what to do."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from harness.handbooks import script
from harness.headers import BODY, line_of, parse, problems, with_line

from capture.snippet.snippet import unmet_dependencies

FULL = r'''"""Proves it."""

print("slowdown 42.7x")

# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.2,<3", "numpy"]
#
# [tool.capture]
# title = "bf16 autocast — without arithmetic"
# needs = ["!cuda", "two_cpus", "module:torch.profiler"]
# timing = true
# timeout = 12.5
# exit = 3
# files = ["data.csv"]
# env = { OMP_NUM_THREADS = "1" }
# preload = ["dynamo", "profiler"]
# upstream = ["torch.nn.functional.linear"]
#
# [tool.capture.values]
# slowdown = 'slowdown +([\d.]+)x'
# dtype = '^dtype (\w+)$'
#
# [tool.capture.compare]
# ratio = { slowdown = 3.0 }
# relative = { slowdown = 0.1 }
# spread = 1.5
# volatile = ['\d+ ms']
#
# [tool.capture.claims.bf16-slower]
# says  = "bf16 autocast is more than five times slower than float32"
# holds = "slowdown > 5"
# where = "not cpu.bf16"
# ///
'''


def test_every_key_is_read(tmp_path: Path) -> None:
    """The documented header, whole."""
    (tmp_path / "snippets/chapter").mkdir(parents=True)
    (tmp_path / "snippets/chapter/data.csv").write_text("1,2\n")
    item = parse(tmp_path, FULL)
    assert (item.id, item.path, item.source) == ("chapter/snippet", "snippets/chapter/snippet.py", BODY)
    assert (item.header_line, item.title) == (5, "bf16 autocast — without arithmetic")
    assert (item.requires_python, item.dependencies) == (">=3.11", ("torch>=2.2,<3", "numpy"))
    assert (item.packages, item.modules) == (("torch", "numpy"), ("torch.profiler",))
    assert item.needs == ("!cuda", "two_cpus", "module:torch.profiler")
    assert (item.timing, item.timeout, item.exit, item.files) == (True, 12.5, 3, ("data.csv",))
    assert (item.env, item.preload) == ({"OMP_NUM_THREADS": "1"}, ("dynamo", "profiler"))
    assert item.upstream == ("torch.nn.functional.linear",)
    assert list(item.values) == ["slowdown", "dtype"]
    assert (item.compare.ratio, item.compare.relative) == ({"slowdown": 3.0}, {"slowdown": 0.1})
    assert (item.compare.spread, [pattern.pattern for pattern in item.compare.volatile]) == (1.5, [r"\d+ ms"])
    (claim,) = item.claims
    assert (claim.id, claim.holds.text) == ("bf16-slower", "slowdown > 5")
    assert claim.where is not None
    assert claim.where.text == "not cpu.bf16"
    assert item.place("tool", "capture", "claims", "bf16-slower") == line_of(FULL, "# [tool.capture.claims")
    assert item.place("tool", "capture", "values", "dtype") == line_of(FULL, "# dtype")
    assert item.place("tool", "capture", "values", "unknown") == line_of(FULL, "# [tool.capture.values]")


def test_a_header_needs_no_more_than_a_title(tmp_path: Path) -> None:
    """Everything else has a default: no gates, exit 0, two minutes, exact text."""
    item = parse(tmp_path, f'{BODY}\n# /// script\n# [tool.capture]\n# title = "A"\n# ///\n')
    assert (item.dependencies, item.needs, item.timing, item.timeout, item.exit) == ((), (), False, 120.0, 0)
    assert (item.values, item.claims, item.compare.volatile) == ({}, (), ())


def test_empty_dependencies_are_a_snippet_without_torch(tmp_path: Path) -> None:
    """A pure-Python model depends on nothing and is met by any interpreter."""
    item = parse(tmp_path, script(BODY, dependencies=[]))
    assert item.packages == ()
    assert unmet_dependencies(item, {}) == ()


@pytest.mark.parametrize(
    "line", ["timeout = 0.5", "timeout = 3600", "exit = 255", "exit = 0", "files = []", "env = {}"]
)
def test_options_reach_to_their_bounds(tmp_path: Path, line: str) -> None:
    """The smallest and the largest value that is allowed."""
    name, value = line.split(" = ")
    found = getattr(parse(tmp_path, with_line(line)), name)
    assert found == tomllib.loads(line)[name] or (found, value) == ((), "[]")


def test_other_tools_may_keep_options_in_the_block(tmp_path: Path) -> None:
    """A [tool.uv] table is none of ours."""
    text = script(BODY).replace("# ///\n", '# [tool.uv]\n# exclude-newer = "2026-01-01T00:00:00Z"\n# ///\n')
    assert parse(tmp_path, text).title == "A title"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('titel = "A"', 'unknown key "titel" in [tool.capture]; did you mean "title"?'),
        ('need = ["cuda"]', 'unknown key "need" in [tool.capture]; did you mean "needs"?'),
        ("time_out = 3", 'unknown key "time_out" in [tool.capture]; did you mean "timeout"?'),
        ('needs = "cuda"', "needs must be a list of gates"),
        ('needs = ["cdua"]', 'unknown gate "cdua"; did you mean "cuda"?'),
        ('needs = ["!two-cpus"]', 'unknown gate "!two-cpus"; did you mean "two_cpus"?'),
        ('needs = ["!!cuda"]', 'unknown gate "!!cuda"; did you mean "cuda"?'),
        ('needs = ["module:"]', 'unknown gate "module:"; did you mean "module:NAME"?'),
        ('needs = ["module:a b"]', 'unknown gate "module:a b"; did you mean "module:NAME"?'),
        ("timing = 1", "timing must be true or false"),
        ("timeout = 0", "timeout must be seconds, up to 3600"),
        ("timeout = 3601", "timeout must be seconds, up to 3600"),
        ("timeout = true", "timeout must be seconds, up to 3600"),
        ("timeout = nan", "timeout must be seconds, up to 3600"),
        ('timeout = "60"', "timeout must be seconds, up to 3600"),
        ("exit = 256", "exit must be a whole number, 0 to 255"),
        ("exit = -1", "exit must be a whole number, 0 to 255"),
        ("exit = 1.0", "exit must be a whole number, 0 to 255"),
        ("exit = true", "exit must be a whole number, 0 to 255"),
        ("exit = 2026-11-29", "exit must be a whole number, 0 to 255"),
        ('files = "data.csv"', "files must be a list of file names"),
        ('files = ["missing.csv"]', 'no file "missing.csv" beside the snippet'),
        ('files = [""]', 'no file "" beside the snippet'),
        ('files = ["."]', 'no file "." beside the snippet'),
        ('files = ["../other/data.csv"]', '"../other/data.csv" leaves the folder of the snippet'),
        ('files = ["/etc/hosts"]', '"/etc/hosts" leaves the folder of the snippet'),
        (r"files = ['..\data.csv']", r'"..\data.csv" leaves the folder of the snippet'),
        ("env = { A = 1 }", "env must be a table of names to text"),
        ('env = { "1A" = "x" }', "env must be a table of names to text"),
        (r'env = { A = "x\u0000" }', "env must be a table of names to text"),
        ('preload = ["torch"]', "preload must be a list of dynamo, inductor, profiler"),
        ('upstream = ["torch.nn-functional"]', "upstream must be a list of dotted names"),
        ('upstream = "torch.nn"', "upstream must be a list of dotted names"),
    ],
)  # fmt: skip
def test_a_wrong_option_is_named_at_its_line(tmp_path: Path, line: str, message: str) -> None:
    """Unknown keys and gates name the nearest one; values say what they must be."""
    text = with_line(line)
    assert problems(tmp_path, text) == [f"{line_of(text, '# ' + line.split(chr(10))[0])}: {message}"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("title = ''", "title must be one line of text"),
        ("title = '   '", "title must be one line of text"),
        ("title = 3", "title must be one line of text"),
        ("title = 1979-05-27", "title must be one line of text"),
        (r'title = "a\nb"', "title must be one line of text"),
        (r'title = "a\u001b[31mb"', "title must be one line of text"),
        (r'title = "a\u202eb"', "title must be one line of text"),
        (r'title = "a\u2028b"', "title must be one line of text"),
    ],
)
def test_a_title_is_one_line_that_shows_what_it_says(tmp_path: Path, line: str, message: str) -> None:
    """No control or direction-changing character reaches a heading."""
    text = script(BODY).replace("# title = 'A title'", f"# {line}")
    assert problems(tmp_path, text) == [f"{line_of(text, '# title')}: {message}"]


TITLE = '[tool.capture]\ntitle = "A"'


@pytest.mark.parametrize(
    ("block", "line", "message"),
    [
        ('dependencies = "torch"\n' + TITLE, 1, "dependencies must be a list of pins such as 'torch>=2.2'"),
        ('dependencies = ["torch[cpu]"]\n' + TITLE, 1, "dependencies must be a list of pins"),
        ('dependencies = ["torch>=latest"]\n' + TITLE, 1, "dependencies must be a list of pins"),
        ('dependencies = ["torch @ https://x.org/a.whl"]\n' + TITLE, 1, "dependencies must be a list of pins"),
        ("dependencies = [\"torch; os_name == 'nt'\"]\n" + TITLE, 1, "dependencies must be a list of pins"),
        ('dependencies = ["torch===2.2"]\n' + TITLE, 1, "dependencies must be a list of pins"),
        (f'dependencies = ["torch>={"9" * 6000}"]\n' + TITLE, 1, "dependencies must be a list of pins"),
        (f'dependencies = ["torch; {"(" * 9000}"]\n' + TITLE, 1, "dependencies must be a list of pins"),
        ('requires-python = "3.11"\n' + TITLE, 1, "requires-python must be a version range such as"),
        ("dependancies = []\n" + TITLE, 1, 'unknown key "dependancies" in the script block; did you mean'),
        ('title = "A"\n' + TITLE, 1, 'unknown key "title" in the script block'),
        ('[tool.capture]\ntiming = true', 1, "title is missing; say in a few words what the reader will see"),
        (TITLE + '\nvalues = 3\ncompare.ratio = { x = 2.0 }', 3, "values must be a table"),
        (TITLE + '\nclaims.fast = 3', 3, 'claim "fast" must be a table with says and holds'),
        (TITLE + '\ncompare.spread = 0', 3, "spread must be a factor of at least 1"),
        (TITLE + "\nvalues.'x' = '('", 3, "not a regular expression"),
        ('[tool.capture]\ntitle = "A', 2, "the header is not valid TOML: Unterminated string"),
        (TITLE + '\nfiles = [', 3, "the header is not valid TOML: Invalid value"),
        (TITLE + '\ntitle = "B"', 3, "the header is not valid TOML: Cannot overwrite a value"),
        (TITLE + '\nexit = ' + "9" * 5000, 1, "the header is not valid TOML: Exceeds the limit"),
        (TITLE + '\nfiles = ' + "[" * 3000, 1, "the header is not valid TOML: "),
    ],
)  # fmt: skip
def test_a_wrong_block_is_named_at_its_line(tmp_path: Path, block: str, line: int, message: str) -> None:
    """Pins, unknown keys and TOML that is none; numbers and tables beyond all reason are no traceback."""
    text = BODY + "\n# /// script\n" + "".join(f"# {part}\n" for part in block.split("\n")) + "# ///\n"
    found = problems(tmp_path, text)[0]
    assert found.startswith(f"{line_of(text, '# /// script') + line}: {message}")


def test_a_misspelled_table_is_named(tmp_path: Path) -> None:
    """[tool.captures] alone would silently capture nothing."""
    found = problems(tmp_path, script(BODY).replace("[tool.capture]", "[tool.captures]"))
    assert '9: no [tool.capture] table; did you mean "capture"?' in found


def test_every_problem_is_reported_at_once(tmp_path: Path) -> None:
    """An author mends a header in one go: problems come sorted by line."""
    text = with_line('titel = "A"\nexit = 300\ntimeout = 0')
    lines = [int(problem.split(":")[0]) for problem in problems(tmp_path, text)]
    assert (len(lines), lines) == (3, sorted(lines))
