"""What `capture check --format github` prints, read back as the runner of GitHub Actions reads it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import pytest
from harness.checks import BODY, RECORD, TOKEN, clean_handbook, edit
from harness.handbooks import STALE, Handbook, record, script
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from capture.cli import context
from capture.cli.app import app
from capture.cli.report import github
from capture.errors import Problem

COMMAND = re.compile(r"::(\w+) ([^:]*)::(.*)")


@dataclass(frozen=True)
class Read:
    """One annotation as GitHub takes it."""

    level: str
    place: dict[str, str]
    message: str


def read(line: str) -> Read:
    """Take a command apart as the runner does: properties up to the next `::`, escapes back, `%25` last."""
    match = COMMAND.fullmatch(line)
    assert match, line
    properties = dict(part.split("=", 1) for part in match[2].split(","))
    return Read(match[1], {name: plain(value) for name, value in properties.items()}, plain(match[3]))


def plain(text: str) -> str:
    """Undo the escapes."""
    for escape, character in (("%3A", ":"), ("%2C", ","), ("%0D", "\r"), ("%0A", "\n"), ("%25", "%")):
        text = text.replace(escape, character)
    return text


def annotated(book: Handbook, *arguments: str) -> tuple[int, list[Read], str]:
    """Run the command; return its exit code, the annotations and the other lines."""
    chosen = ["--root", str(book.root), "check", "--records-only", "--format", "github", *arguments]
    result = CliRunner().invoke(app, chosen)
    lines = result.stdout.splitlines()
    return (
        result.exit_code,
        [read(line) for line in lines if line.startswith("::")],
        "\n".join(line for line in lines if not line.startswith("::")) + result.stderr,
    )


@pytest.fixture
def book(tmp_path: Path) -> Handbook:
    """A handbook in which nothing is to be found, at the root of its repository."""
    (tmp_path / ".git").mkdir()
    return clean_handbook(tmp_path)


@given(st.text(), st.text(min_size=1), st.integers(0, 99))
def test_text_ends_neither_its_line_nor_its_property(message: str, path: str, number: int) -> None:
    """Whatever a stranger calls a file or prints, it is read back whole and adds no command of its own."""
    line = github.annotation(Problem(path, number, message, "digest"), "error")
    assert "\n" not in line and "\r" not in line
    place = {"file": path, "title": "capture check: digest"} | ({"line": str(number)} if number else {})
    assert read(line) == Read("error", place, message)


def test_a_problem_lands_on_its_line(book: Handbook) -> None:
    """The path is that of the repository, the line that of the text form, the message says what to do."""
    edit(book, RECORD, "42.7x", "47.2x")
    code, (found,), rest = annotated(book)
    assert code == 2
    assert (found.level, found.place["file"], found.place["title"]) == ("error", RECORD, "capture check: digest")
    assert (book.root / RECORD).read_text("utf-8").splitlines()[int(found.place["line"]) - 1].startswith("content_sha2")
    assert "capture it again: capture run a/speed --force --host epyc" in found.message
    assert rest.strip() == "1 problem in 1 snippets, 1 records, 1 hosts"


def test_a_handbook_below_its_repository(tmp_path: Path) -> None:
    """GitHub knows files from the root of the repository."""
    (tmp_path / ".git").write_text("gitdir: elsewhere\n")  # as in a worktree
    book = clean_handbook(tmp_path / "books" / "one")
    edit(book, RECORD, "42.7x", "47.2x")
    assert annotated(book)[1][0].place["file"] == f"books/one/{RECORD}"


def test_notes_are_notices(book: Handbook) -> None:
    """Stale is told at its file; what a host lacks is one notice, however much it is."""
    for name in ("new", "newer"):
        book.write(f"snippets/a/{name}.py", script(BODY))
    book.keep(record("a/speed", source_sha256=STALE))
    code, found, rest = annotated(book)
    assert (code, {item.level for item in found}) == (0, {"notice"})
    assert [item.place.get("file") for item in found] == [RECORD, "docs/captures/epyc/host.yaml"]
    assert found[1].message == "2 missing (a/new, a/newer); capture on that host: capture run --host epyc"
    assert "no problem" in rest


def test_what_is_private_comes_first(book: Handbook) -> None:
    """GitHub shows ten of a step; a secret is among them, and the log says that there are more."""
    for number in range(12):
        book.keep(record(f"a/gone{number}"))
    book.keep(record("a/speed", stdout=f"slowdown 42.7x\n{TOKEN}\n"))
    code, found, rest = annotated(book)
    assert (code, found[0].place["title"], len(found)) == (3, "capture check: secret", 13)
    assert "GitHub marks the first 10 of 13 problems" in rest
    assert TOKEN not in rest + "".join(item.message for item in found)


def test_what_keeps_pages_from_being_checked_is_annotated(book: Handbook) -> None:
    """A fault of mkdocs.yml lets no page be rendered; it has a place, and what else is wrong is told beside it."""
    edit(book, "mkdocs.yml", "capture.site.markdown.inline_value.formatter", "os.system")
    result = CliRunner().invoke(app, ["--root", str(book.root), "check", "--format", "github"])
    assert result.exit_code == 2
    (found,) = [read(line) for line in result.stdout.splitlines() if line.startswith("::error")]
    assert (found.level, found.place["file"]) == ("error", "mkdocs.yml")


def test_another_format(book: Handbook) -> None:
    """The nearest one is named."""
    result = CliRunner().invoke(app, ["--root", str(book.root), "check", "--format", "guthub"])
    assert str(result.exception) == '--format guthub: choose text or github; did you mean "github"?'


def test_a_line_break_in_a_name_begins_no_line(capsys: pytest.CaptureFixture[str]) -> None:
    """A line of a log that begins with `::` is a command to GitHub's runner; what a path holds begins none."""
    context.complain([Problem("docs/a\n::set-output name=x::y.md", 1, "is\n::error::no page")])
    said = capsys.readouterr().err
    assert said.count("\n") == 1 and said.startswith("docs/a\\n::")
