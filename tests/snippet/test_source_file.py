"""The text of a snippet file: where the block stands, what the digest covers, what is imported beside it."""

from __future__ import annotations

from pathlib import Path

import pytest
from harness.handbooks import script
from harness.headers import parse, problems
from harness.properties import EXAMPLES, captured_bytes
from hypothesis import given

from capture.errors import CaptureError
from capture.snippet import header
from capture.snippet.snippet import GATES, Snippet, unmet_dependencies, unmet_gates
from capture.snippet.source_file import key_lines

BODY = '"""Proves it."""\n\nprint("a")\n'
HEADER = '# /// script\n# dependencies = ["torch"]\n#\n# [tool.capture]\n# title = "A"\n# ///\n'
FILES = {"data.csv": "1,2\n", "helper.py": "def make_batch(size):\n    return size\n"}


def digest(root: Path, text: str | bytes) -> str:
    """Return the digest of a snippet beside some files."""
    for name, content in FILES.items():
        path = root / "snippets/chapter" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists():
            path.write_text(content)
    return parse(root, text).digest


def refusal(root: Path, text: str | bytes, name: str = "chapter/snippet") -> str:
    """Return what is wrong with a snippet that has one problem."""
    (problem,) = problems(root, text, name)
    return problem


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "1: no header; end the file with a"),
        (BODY, "4: no header; end the file with a"),
        (BODY + "# ///script\n# ///\n", "6: no header; end the file with a"),
        (BODY + " # /// script\n # ///\n", "6: no header; end the file with a"),
        (BODY + HEADER + HEADER, "10: a second header block; keep one, at the end"),
        (BODY + HEADER.removesuffix("# ///\n"), '4: the header is not closed; end it with a line "# ///"'),
        (BODY + "# /// script\nprint('b')\n", '4: the header is not closed; end it with a line "# ///"'),
        (BODY + "# /// script\n#title = 'A'\n# ///\n", '5: every header line starts with "# "'),
        (BODY + "# /// script\n#\n\n# ///\n", '6: every header line starts with "# "'),
        (BODY + "# /// script\n#\n#\ttitle = 'A'\n# ///\n", '6: every header line starts with "# "'),
        (BODY + HEADER + "\n\nprint('b')\n", "12: code below the header; the block stands last"),
        (HEADER + BODY, "7: code below the header; the block stands last"),
        (BODY + HEADER + "# a comment\n", "10: code below the header; the block stands last"),
        (BODY + HEADER.replace("script\n", "script \n"), "4: blanks after the marker; remove them, or uv does not see"),
        (BODY + HEADER.removesuffix("\n") + "\t\n", "9: blanks after the marker; remove them, or uv does not see"),
    ],
)
def test_the_block_stands_last_alone_and_closed(tmp_path: Path, text: str, said: str) -> None:
    """Whatever is wrong with it is named at its line, with what to do."""
    assert refusal(tmp_path, text).startswith(said)


@pytest.mark.parametrize("tail", ["", "\n", "\n\n\n", "  \n"])
@pytest.mark.parametrize("gap", ["", "\n", "\n\n\n"])
def test_blank_lines_around_the_block_do_not_matter(tmp_path: Path, gap: str, tail: str) -> None:
    """The source ends with one line end, whatever stands between it and the block."""
    item = parse(tmp_path, BODY + gap + HEADER.removesuffix("\n") + ("\n" + tail if tail else ""))
    assert (item.source, item.header_line) == (BODY, 4 + len(gap))


def test_a_file_that_is_no_text_is_refused(tmp_path: Path) -> None:
    """UTF-8 only; the byte is named."""
    said = refusal(tmp_path, b"# caf\xe9\n" + HEADER.encode())
    assert said == " is not UTF-8 (invalid continuation byte at byte 5)"


def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    """A missing file is a problem of that path and no traceback."""
    (tmp_path / "snippets/chapter").mkdir(parents=True)
    with pytest.raises(CaptureError, match=r"snippets/chapter/gone\.py: cannot be read: No such file"):
        header.parse(tmp_path, tmp_path / "snippets/chapter/gone.py")


@pytest.mark.parametrize("name", ["chapter/Snippet", "chapter/a-b", "Chapter/a", "chapter/a b", "chapter/é"])
def test_a_name_is_lower_case_letters_digits_and_underscores(tmp_path: Path, name: str) -> None:
    """The id becomes part of addresses and paths on every platform."""
    assert refusal(tmp_path, BODY + HEADER, name).endswith(
        "name it snippets/<chapter>/<name>.py, with lower-case letters, digits and _"
    )


@pytest.mark.parametrize(
    ("mark", "line_end"),
    [
        pytest.param("", "\r\n", id="inv-crlf-hash"),
        pytest.param("", "\r", id="cr"),
        pytest.param("\ufeff", "\n", id="bom"),
        pytest.param("\ufeff", "\r\n", id="bom-and-crlf"),
    ],
)
def test_a_checkout_on_windows_has_the_same_digest(tmp_path: Path, mark: str, line_end: str) -> None:
    """Line ends and a byte-order mark are no part of the source."""
    other = (mark + full().replace("\n", line_end)).encode("utf-8")
    assert digest(tmp_path, full()) == digest(tmp_path, other)
    assert parse(tmp_path, other).source == parse(tmp_path, full()).source


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param("\n# /// script", "\n\n\n# /// script", id="gap"),
        pytest.param("'A title'", "'Another'", id="inv-irrelevant"),
        pytest.param("timeout = 9", "timeout = 8", id="timeout"),
        pytest.param("timing = false", "timing = true", id="timing"),
        pytest.param("needs = []", "needs = ['gloo']", id="needs"),
        pytest.param("preload = ['dynamo']", "preload = []", id="preload"),
        pytest.param("spread = 1.5", "spread = 2.5", id="compare"),
        pytest.param(r"size (\d+)", r"size +(\d+)", id="values"),
        pytest.param("size > 3", "size > 2", id="claims"),
        pytest.param(">=3.11", ">=3.12", id="requires-python"),
        pytest.param('["torch", "numpy"]', '["numpy", "torch"]', id="order-of-dependencies"),
    ],
)
def test_what_does_not_change_what_runs_makes_nothing_stale(tmp_path: Path, old: str, new: str) -> None:
    """Titles, gates, values, rules and claims keep the digest: editing them re-runs nothing."""
    text = full()
    assert old in text
    assert digest(tmp_path, text) == digest(tmp_path, text.replace(old, new))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param("print(make_batch(4))", "print(make_batch(5))", id="source"),
        pytest.param("print(make_batch(4))", "print(make_batch(4))  # four", id="comment"),
        pytest.param('["torch", "numpy"]', '["torch"]', id="dependency"),
        pytest.param('"torch"', '"torch>=2.2"', id="pin"),
        pytest.param("exit = 0", "exit = 3", id="exit"),
        pytest.param("A = '1'", "A = '2'", id="env"),
        pytest.param("A = '1'", "B = '1'", id="env-name"),
        pytest.param("files = ['data.csv']", "files = []", id="files"),
    ],
)
def test_what_changes_what_runs_makes_it_stale(tmp_path: Path, old: str, new: str) -> None:
    """The source and the options dependencies, exit, env and files take part in the digest."""
    text = full()
    assert old in text
    assert digest(tmp_path, text) != digest(tmp_path, text.replace(old, new))


def full() -> str:
    """Return a snippet with every option that does and does not take part."""
    text = script(
        '"""Proves it."""\n\nfrom helper import make_batch\n\nprint(make_batch(4))\n', dependencies=["torch", "numpy"],
        timeout=9, timing=False, needs=[], exit=0, files=["data.csv"], env={"A": "1"}, preload=["dynamo"],
        values={"size": r"size (\d+)"}, compare={"spread": 1.5, "relative": {"size": 0.1}},
        claims={"four": {"says": "a", "holds": "size > 3"}},
    )  # fmt: skip
    return text.replace("'torch', 'numpy'", '"torch", "numpy"').replace("'torch'", '"torch"')


@pytest.mark.parametrize(
    "name", [pytest.param("helper.py", id="inv-include"), pytest.param("data.csv", id="declared-file")]
)
def test_a_file_that_the_snippet_reads_is_part_of_the_digest(tmp_path: Path, name: str) -> None:
    """Imported and declared files beside it: their change makes the record stale, their line ends do not."""
    before = digest(tmp_path, full())
    path = tmp_path / "snippets/chapter" / name
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert digest(tmp_path, full()) == before
    path.write_text(FILES[name] + "\n# changed\n")
    assert digest(tmp_path, full()) != before


@pytest.mark.parametrize(
    ("source", "imports"),
    [
        ("import helper", ("helper.py",)),
        ("import helper as h, torch", ("helper.py",)),
        ("from helper import make_batch", ("helper.py",)),
        ("from helper.inner import x", ("helper.py",)),
        ("def f():\n    import helper\n", ("helper.py",)),
        ("if False:\n    from second import x\n", ("helper.py", "second.py", "third.py")),
        ("import torch, \\\n    helper", ("helper.py",)),
        ("import \\\n    helper as h", ("helper.py",)),
        ("x = 'from'; import helper", ("helper.py",)),
        ("import \U0001d525elper  # the same identifier to Python", ("helper.py",)),
        ("import torch.nn, os", ()),
        ("from . import helper", ()),
        ("'import helper'", ()),
        ("import helper\nthis is a syntax error", ()),
    ],
)
def test_imports_beside_the_snippet_are_found_through_each_other(
    tmp_path: Path, source: str, imports: tuple[str, ...]
) -> None:
    """Wherever they stand; a cycle ends, a mark or a broken file in between does no harm."""
    folder = tmp_path / "snippets/chapter"
    folder.mkdir(parents=True)
    (folder / "helper.py").write_text("import second_to_none\n")
    (folder / "second.py").write_bytes(b"\xef\xbb\xbfimport helper\nimport third\n")
    (folder / "third.py").write_bytes(b"import second\n# caf\xe9\n")
    assert parse(tmp_path, f"{source}\n\n{HEADER}").imports == imports


def test_a_file_that_cannot_be_read_is_a_problem_of_the_header(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Permissions of a declared file are reported where it is declared."""
    digest(tmp_path, full())
    read = Path.read_bytes

    def locked(path: Path) -> bytes:
        if path.name == "data.csv":
            raise PermissionError(13, "Permission denied")
        return read(path)

    monkeypatch.setattr(Path, "read_bytes", locked)
    assert '"data.csv" cannot be read: Permission denied' in refusal(tmp_path, full())


@EXAMPLES
@given(captured_bytes())
def test_any_bytes_are_a_snippet_or_problems_with_a_place(
    tmp_path_factory: pytest.TempPathFactory, data: bytes
) -> None:
    """Reading a stranger's file never fails in another way, whatever stands in its source or its block."""
    root = tmp_path_factory.getbasetemp()
    block = b"".join(b"# " + line + b"\n" for line in data.split(b"\n"))
    for text in (data, data + b"\n" + HEADER.encode(), b"# /// script\n" + block + b"# ///\n"):
        try:
            item = parse(root, text)
        except CaptureError as error:
            assert str(error).startswith("snippets/chapter/snippet.py")
        else:
            assert len(item.digest) == 64


def test_keys_are_found_in_every_form_of_toml() -> None:
    """Tables, dotted and quoted keys; a long line without a key is no trap."""
    toml = 'title = "A"\n[tool.capture]\nvalues.a = 1\n"b c" = 2\n[ tool . capture . "claims" ]\n' + "x" * 20000
    assert key_lines(toml, 10) == {
        "title": 11, "tool.capture": 12, "tool": 13, "tool.capture.values": 13, "tool.capture.values.a": 13,
        "tool.capture.bc": 14, "tool.capture.claims": 15,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("needs", "gates", "unmet"),
    [
        (("cuda",), {"cuda": True}, ()), (("cuda",), {"cuda": False}, ("cuda",)), (("cuda",), {}, ("cuda",)),
        (("cuda",), {"cuda": False, "rocm": True}, ("cuda",)), (("!cuda",), {"cuda": True}, ("!cuda",)),
        (("!cuda",), {"cuda": False}, ()), (("!cuda",), {}, ()), (("cuda", "gloo"), {"gloo": True}, ("cuda",)),
        (("module:onnx", "!module:torch_xla"), {"module:onnx": False}, ("module:onnx",)),
    ],
)  # fmt: skip
def test_all_gates_must_hold(needs: tuple[str, ...], gates: dict[str, bool], unmet: tuple[str, ...]) -> None:
    """A gate that nobody has asked does not hold; its negation does."""
    item = Snippet(**dict.fromkeys(Snippet.__dataclass_fields__) | {"needs": needs})  # type: ignore[arg-type]
    assert unmet_gates(item, gates) == unmet


def test_dependencies_are_met_by_installed_versions(tmp_path: Path) -> None:
    """Missing and too old ones are named, whatever the letter case; a local build satisfies a plain pin."""
    item = parse(tmp_path, script(BODY, dependencies=["Torch>=2.2", "numpy", "onnx<2"]))
    assert unmet_dependencies(item, {"torch": "2.13.0+cpu", "numpy": "2.4.6", "onnx": "1.21"}) == ()
    assert unmet_dependencies(item, {"torch": "2.1", "numpy": None}) == (
        "Torch>=2.2, found 2.1", "numpy is not installed", "onnx<2 is not installed",
    )  # fmt: skip


def test_every_gate_is_accepted_with_and_without_negation(tmp_path: Path) -> None:
    """The gates that the header documents."""
    needs = [*GATES, *(f"!{gate}" for gate in GATES), "module:a.b"]
    assert parse(tmp_path, script(BODY, needs=needs)).needs == tuple(needs)
