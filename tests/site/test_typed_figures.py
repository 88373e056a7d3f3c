"""The rule about typed results: what it finds in prose, what it leaves alone, and how an author opts out."""

from __future__ import annotations

from pathlib import Path

import pytest
from harness.handbooks import make_handbook
from harness.project import Project
from harness.properties import rows

from capture.site.markdown import typed_figures

TYPED = {
    "unit": ("It takes 3.5 ms here.", "3.5 ms"),
    "unit-attached": ("It takes 12us here.", "12us"),
    "percent": ("The gain is 40 % on AVX2.", "40 %"),
    "factor": ("A slowdown of 7.3x.", "7.3x"),
    "bytes": ("It holds 4001 kB.", "4001 kB"),
    "times": ("It is 9.0 times as much.", "9.0 times"),
    "words": ("It is three times slower.", "three times slower"),
    "fold": ("It is tenfold faster there.", "tenfold faster"),
    "twice": ("It runs twice as fast.", "twice as"),
    "than": ("It is slower than 3 on that chip.", "slower than 3"),
    "by": ("It grows larger by 300 each step.", "larger by 300"),
    "adjective": ("A 10-fold and 3 faster cores.", "3 faster"),
    "in-a-table": ("| a | 3.5 ms |\n| --- | --- |", "3.5 ms"),
    "in-a-list": ("- first\n- 20 GiB of it", "20 GiB"),
    "in-a-heading": ("## Only 5 seconds", "5 seconds"),
    "in-an-answer": ('??? question "How long?"\n\n    It takes 3 s.', "3 s"),
    "in-an-admonition": ('!!! note "Cost"\n\n    It takes 3 s.', "3 s"),
    "in-a-link's-text": ("[3 ms](x.md)", "3 ms"),
    "upper-case": ("It holds 3 GB, and 4 MB.", "3 GB"),
}


@pytest.mark.parametrize(("text", "found"), rows(TYPED))
def test_a_typed_result_is_found(text: str, found: str) -> None:
    """A number with a unit, or beside a comparison, at its line and in its words."""
    page = f"---\ntitle: A\n---\n\n# A\n\n{text}\n"
    problems = typed_figures.page_problems("docs/a.md", page)
    assert problems
    assert problems[0].message.startswith(f'"{found}" is typed by hand; take it from a record')
    line = page[: page.index(found)].count("\n") + 1
    assert (problems[0].path, problems[0].line, problems[0].rule) == ("docs/a.md", line, "typed")


LEFT = {
    "inline-value": "It takes `#!captured a/b ms` ms and is `#!captured a/b ratio` times slower.",
    "fence": "```python\nsleep(3)  # 3 s\n```",
    "nested-fence": "- item\n\n    ```text\n    3 ms\n    ```",
    "inline-code": "Pass `timeout=3 s` there.",
    "link-target": "[here](https://example.org/3ms/7.3x)",
    "question": '??? question "Is 3 ms slower than 5 ms?"\n\n    Yes.',
    "exercises": "## Exercises\n\nSuppose it takes 3 ms.\n\n## Summary\n\nDone.",
    "version": "torch 2.13 is newer than 2.2, and Python 3.11 is in use.",
    "count": "Five calls, two streams, 11 mistakes.",
    "shape": "A Linear(512, 512) on 64 rows.",
    "date": "Captured on 2026-11-29.",
    "words": "It is slower there, and many times so.",
    "name": "bf16 is faster than fp32 on such a chip.",
    "front-matter-like": "text\n\n---\n\nmore",
    "comment": "<!-- it was 3 ms once -->",
}


@pytest.mark.parametrize("text", LEFT.values(), ids=list(LEFT))
def test_what_is_no_result_is_left_alone(text: str) -> None:
    """Inline values, code, links, names and versions, and what a question or an exercise supposes."""
    assert typed_figures.page_problems("docs/a.md", f"---\ntitle: 3 ms\n---\n\n# A\n\n{text}\n") == []


def test_a_paragraph_opts_out_with_a_reason(tmp_path: Path) -> None:
    """The reason is kept for the ledger; it covers its paragraph alone, and an empty one is a problem."""
    text = "It took 3 ms. <!-- typed: quoted from the\nold lesson -->\n\nIt took 4 ms.\n\nAnd 5 ms. <!-- typed: -->\n"
    book = make_handbook(tmp_path, pages={"index.md": text}).book
    assert [problem.line for problem in typed_figures.problems(book)] == [4, 6, 6]
    assert typed_figures.opt_outs(book) == [typed_figures.OptOut("docs/index.md", 1, "quoted from the old lesson"),
                                    typed_figures.OptOut("docs/index.md", 6, "")]  # fmt: skip


def test_check_names_what_is_typed(tmp_path: Path) -> None:
    """`capture check` fails at page:line, and lists what is typed on purpose; --records-only leaves pages alone."""
    project = Project(tmp_path)
    project.snippet("a/one", 'print("1")')
    project.write("mkdocs.yml", "site_name: test\nmarkdown_extensions: []\n")
    project.write("docs/index.md", "# A\n\nIt takes 3 ms.\n\nOnce 4 ms. <!-- typed: what the old page said -->\n")
    found = project.capture("check")
    assert found.code == 2
    assert 'docs/index.md:3: "3 ms" is typed by hand' in found.err
    assert "note: docs/index.md:5: figures typed on purpose: what the old page said" in found.out
    assert project.capture("check", "--records-only").code == 0
