"""Named text rules: whatever a snippet prints ends in storable text, and every change is named."""

from __future__ import annotations

import re
import time

import pytest
from harness.properties import EXAMPLES, captured_bytes, captured_text
from hypothesis import given

from capture.record import text_rules
from capture.record.text_rules import Places

PLACES = Places(
    work=("/tmp/capture-ab12/work",), temporary=("/tmp/capture-ab12/tmp", "/tmp/capture-ab12", "/tmp"),
    home=("/home/maria",), libraries=("/opt/venv/lib/python3.11/site-packages",), python=("/opt/venv",), user="maria",
)  # fmt: skip
WINDOWS = Places(home=(r"C:\Users\José Pérez",), temporary=(r"C:\Temp",))
# What the YAML writer can put into a literal block, and a page can show.
STORABLE = re.compile(r"(?:[^\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]*[^ \t\n])?\n")


def clean(text: str, places: Places = PLACES) -> str:
    """Return the normalised text without the final line end that is always there."""
    return text_rules.apply(text + "\n", places)[0].removesuffix("\n")


@pytest.mark.parametrize(
    ("raw", "text", "rules"),
    [
        pytest.param(b"plain\n", "plain\n", (), id="plain"),
        pytest.param(b"", "", (), id="nothing"),
        pytest.param(b"no end", "no end\n", ("final-newline",), id="no-end"),
        pytest.param("21 °C ✓ 🚀\n".encode(), "21 °C ✓ 🚀\n", (), id="exec-encoding-out"),
        pytest.param(b"ok \xff\xfe\n", "ok \\xff\\xfe\n", ("undecodable-bytes",), id="exec-bytes"),
        pytest.param(
            b"\x1b[31mFAILED\x1b[0m 3 tests\x00\n", "FAILED 3 tests\\x00\n", ("ansi", "control-characters"),
            id="yaml-control",
        ),
        pytest.param(
            b"Name          Self CPU  \naten::addmm       61.2%  \n",
            "Name          Self CPU\naten::addmm       61.2%\n", ("trailing-space",), id="yaml-trailing-space",
        ),
        pytest.param(
            b"   \n       col0  col1\nrow    1.0   2.0\n", "\n       col0  col1\nrow    1.0   2.0\n",
            ("trailing-space",), id="yaml-leading-space",
        ),
        pytest.param(b"  0%|  |\r 50%|# |\r100%|##|\n", "100%|##|\n", ("carriage-return",), id="exec-tqdm"),
        pytest.param(b"a\r\nb\r\n", "a\nb\n", ("carriage-return",), id="crlf"),
        pytest.param(b"a\r\r\nb\n", "a\nb\n", ("carriage-return",), id="crlf-doubled"),
        pytest.param(b"longer line\rshort\n", "short" + "r line\n", ("carriage-return",), id="shorter-redraw"),
        pytest.param(b"longer line\r\x1b[Kshort\n", "short\n", ("ansi", "carriage-return"), id="erased-to-end"),
        pytest.param(b"one\x1b[2K\rtwo\x1b[2K\x1b[1Gthree\n", "three\n", ("ansi", "carriage-return"), id="erased-line"),
        pytest.param(b"one\x1b[1Gtwo\n", "two\n", ("ansi",), id="first-column"),
        pytest.param(b"a\r\x1b[Kb\nkept\r\n", "b\nkept\n", ("ansi", "carriage-return"), id="erased-then-crlf"),
        pytest.param(b"|\b/\b-\bdone\n", "done\n", ("backspace",), id="spinner"),
        pytest.param(b"100%\b\b\b\b\n", "100%\n", ("backspace",), id="backspace-at-the-end"),
        pytest.param(b"\b\bx\n\by\n", "x\ny\n", ("backspace",), id="backspace-at-the-start"),
        pytest.param(b"N\bNA\bAME _\bx\n", "NAME x\n", ("backspace",), id="overstruck"),
        pytest.param(b"old bar\b\b\b\b\b\b\b\rnew\n", "new bar\n", ("carriage-return", "backspace"),
                     id="keras-bar"),
        pytest.param(b"\x1b]8;;https://x.org\x1b\\text\x1b]8;;\x1b\\\n", "text\n", ("ansi",), id="hyperlink"),
        pytest.param(b"\x1b]0;title\x07text\n", "text\n", ("ansi",), id="window-title"),
        pytest.param(b"\x1bP1;2q\x1b\\a\x1b(Bb\x1b7c\x1b[?25ld\n", "abcd\n", ("ansi",), id="other-escapes"),
        pytest.param(b"\x1b]0;no end\nnext\n", "\\x1b]0;no end\nnext\n", ("control-characters",), id="endless-title"),
        pytest.param(b"\x1b[31\n", "\\x1b[31\n", ("control-characters",), id="endless-colour"),
        pytest.param(b"\x1b\n", "\\x1b\n", ("control-characters",), id="escape-alone"),
        pytest.param("a\u2028b\x85c\x9bd\ufeff\x7f\x0b\x0c\n".encode(), r"a\u2028b\x85c\x9bd\ufeff\x7f\x0b\x0c" + "\n",
                     ("control-characters",), id="controls"),
        pytest.param("\u202ea\u200f\n".encode(), r"\u202ea\u200f" + "\n", ("bidi-controls",), id="render-bidi"),
        pytest.param("שלום עולם\n".encode(), "שלום עולם\n", (), id="plain-hebrew"),
        pytest.param(b"a\tb\t\n\tc\n", "a\tb\n\tc\n", ("trailing-space",), id="tabs"),
        pytest.param(b"\n\n\n", "\n\n\n", (), id="blank-lines"),
        pytest.param(b"x" * 4000 + b"\n", "x" * 4000 + "\n", (), id="long-line-within-bounds"),
    ],
)  # fmt: skip
def test_each_rule_does_what_its_name_says(raw: bytes, text: str, rules: tuple[str, ...]) -> None:
    """What a terminal would show in the end, storable, with the names of the rules that changed it."""
    assert text_rules.clean(raw, PLACES) == (text, rules)


def test_a_long_line_keeps_head_and_tail_and_says_how_much_is_left_out() -> None:
    """A dump of a million numbers is no result; a reader sees how it starts and ends."""
    text, rules = text_rules.apply("a" * 5000 + "\nshort\n" + "b" * 4001, PLACES)
    first, second, third = text.splitlines()
    assert (second, rules) == ("short", ("long-line", "final-newline"))
    assert first == "a" * 1500 + " … 3,200 characters left out … " + "a" * 300
    assert "2,201 characters left out" in third


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        pytest.param("cache in /home/maria/.cache/demo", "cache in ~/.cache/demo", id="priv-home"),
        pytest.param(r"'\\home\\maria'", "'~'", id="priv-home-escaped"),
        pytest.param(r"'\\\\home\\\\maria\\\\x'", r"'~\\\\x'", id="priv-home-twice-escaped"),
        pytest.param(r'"\/home\/maria\/x"', r'"~\/x"', id="priv-home-json"),
        pytest.param("/HOME/Maria/x", "~/x", id="priv-home-upper-case"),
        pytest.param("%2Fhome%2Fmaria%2Fx", "~%2Fx", id="priv-home-quoted"),
        pytest.param("?path=%2Fhome%2Fmaria&x=1", "?path=~&x=1", id="priv-home-in-query"),
        pytest.param("file%3A%2F%2F%2Fhome%2Fmaria", "file%3A%2F%2F~", id="priv-home-quoted-url"),
        pytest.param("file:///home/maria/x", "file://~/x", id="priv-home-url"),
        pytest.param("/home//maria/x", "~/x", id="doubled-separator"),
        pytest.param("g++ -I/home/maria/include -L/home/maria", "g++ -I~/include -L~", id="compiler-options"),
        pytest.param(r"'Traceback:\n/home/maria/x.py'", r"'Traceback:\n~/x.py'", id="after-escaped-line-end"),
        pytest.param("'/home/maria',(/home/maria):/home/maria.", "'~',(~):~.", id="between-punctuation"),
        pytest.param("/home/mariana and /home/maria-lou and /home/maria.bak", None, id="other-folders"),
        pytest.param("see docs/opt/venv and x/tmp", None, id="relative-path"),
        pytest.param("in /tmp/capture-ab12/work/x.py, line 3", "in x.py, line 3", id="exec-warning-path"),
        pytest.param("cwd /tmp/capture-ab12/work", "cwd <work>", id="work-folder-itself"),
        pytest.param("/tmp/capture-ab12/tmp/inductor/ab.py", "<tmp>/inductor/ab.py", id="temporary"),
        pytest.param(
            "/tmp/torchinductor_maria/ab/cab.py", "<tmp>/torchinductor_<user>/ab/cab.py", id="priv-inductor-user"
        ),
        pytest.param("/tmp/torchinductor_maria: denied", "<tmp>/torchinductor_<user>: denied", id="user-before-colon"),
        pytest.param(r"D:\scratch\maria\x", r"D:\scratch\<user>\x", id="user-in-windows-path"),
        pytest.param("%2Fscratch%2Fmaria", "%2Fscratch%2F<user>", id="user-quoted"),
        pytest.param("/scratch/mariana/x and maria", None, id="no-user-component"),
        pytest.param("/opt/venv/lib/python3.11/site-packages/torch/a.py", "<site-packages>/torch/a.py", id="library"),
        pytest.param("/opt/venv/bin/python", "<python>/bin/python", id="interpreter"),
        pytest.param("/tmp/tmp/a /opt/venv/tmp/b", "<tmp>/tmp/a <python>/tmp/b", id="folder-within-a-folder"),
        pytest.param("cmd 2>/tmp/log", "cmd 2><tmp>/log", id="after-redirection"),
        pytest.param("x = a/tmp and ~/tmp and b-/tmp", None, id="no-temporary-folder"),
    ],
)
def test_paths_of_this_machine_are_rewritten(raw: str, text: str | None) -> None:
    """In every spelling in which programs print them, and only where they really are these folders."""
    assert clean(raw) == (raw if text is None else text)


@pytest.mark.parametrize(
    "raw",
    [
        r"C:\Users\José Pérez\x", r"C:\\Users\\José Pérez\\x", "C:/Users/José Pérez/x", r"c:\users\josé pérez\x",
        r"C:\\Users\\Jos\xe9 P\xe9rez\\x", r"C:\\Users\\Jos\u00e9 P\u00e9rez\\x",
        "C%3A%5CUsers%5CJos%C3%A9%20P%C3%A9rez%5Cx",
        "file:///C:/Users/Jos%C3%A9%20P%C3%A9rez/x", "C:/Users/Jose\u0301 Pe\u0301rez/x", r"C:/Users/José\ Pérez/x",
    ],
)  # fmt: skip
def test_a_home_on_windows_is_rewritten(raw: str) -> None:
    """Drive letter, blanks and accents: as repr, JSON, addresses and other file systems write them."""
    assert re.search("(?i)pe?.{0,9}rez|users", clean(raw, WINDOWS)) is None


@pytest.mark.parametrize("user", ["root", "python", "torch", "ubuntu"])
def test_a_name_that_everybody_has_is_masked_only_behind_a_prefix(user: str) -> None:
    """A container's user named python must not turn every `/python/` into a mask."""
    places = Places(user=user)
    assert clean(f"/usr/lib/{user}/x", places) == f"/usr/lib/{user}/x"
    assert clean(f"/tmp/torchinductor_{user}/x", places) == "/tmp/torchinductor_<user>/x"


def test_without_user_and_home_nothing_is_rewritten() -> None:
    """A container whose user has no account and no home captures all the same."""
    text = "/home/maria/x /tmp/torchinductor_maria\n"
    assert text_rules.apply(text, Places()) == (text, ())
    assert text_rules.with_real_paths(None, "", "/", "C:\\", "/home/maria", "/home/maria") == ("/home/maria",)


def test_regular_expression_characters_in_a_path_are_plain() -> None:
    """A home named `a+b (c)` is that folder and no pattern."""
    assert clean("/home/a+b (c)/x /home/aab c/x", Places(home=("/home/a+b (c)",))) == "~/x /home/aab c/x"


def test_the_longer_folder_wins() -> None:
    """A virtual environment within the home reads as such, wherever the home lies."""
    places = Places(home=("/home/maria",), libraries=("/home/maria/v/site-packages",), python=("/home/maria/v",))
    assert (
        clean("/home/maria/v/site-packages/a /home/maria/v/bin /home/maria/b", places)
        == "<site-packages>/a <python>/bin ~/b"
    )


@EXAMPLES
@given(captured_bytes())
def test_any_bytes_end_in_storable_text(data: bytes) -> None:
    """The chain is total: no control character, no blank at a line end, a final line end, only known rule names."""
    text, rules = text_rules.clean(data, PLACES)
    assert all(STORABLE.fullmatch(line) for line in text.splitlines(keepends=True))
    assert text == "" or text.endswith("\n")
    assert set(rules) <= set(text_rules.RULES)


@EXAMPLES
@given(captured_text())
def test_what_is_clean_stays_as_it_is(text: str) -> None:
    """Normalising the result again changes nothing, so that a record says the same on every capture."""
    once, _ = text_rules.apply(text, PLACES)
    assert text_rules.apply(once, PLACES) == (once, ())


@EXAMPLES
@given(captured_text())
def test_a_rule_is_named_exactly_when_the_text_changed(text: str) -> None:
    """Nothing is altered silently."""
    after, rules = text_rules.apply(text, PLACES)
    assert (after != text) == bool(rules)


@pytest.mark.parametrize(
    "unit",
    [
        " ",
        "\t",
        "\r",
        "\b",
        "\\",
        "/",
        "\x1b[",
        "\x1b]",
        "\x1b[2K",
        "/x",
        "/home",
        "%2F",
        "a-",
        "x_",
        r"\t",
        "~",
        "a\b",
    ],
)
def test_no_output_takes_long_to_normalise(unit: str) -> None:
    """64 KiB of any one thing, the most that is kept, is done in seconds at the very most."""
    before = time.process_time()
    text_rules.apply(unit * (65536 // len(unit)) + "x", PLACES)
    assert time.process_time() - before < 5
