"""Named text rules that make captured output stable, storable and free of this machine's paths.

Each rule is a pure function from text to text. `apply` runs them in order and names those that changed something;
the record keeps the names, so that nothing is altered silently.
"""

from __future__ import annotations

import json
import re
import unicodedata
import urllib.parse
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import PurePath

from capture.characters import bidi_controls, control_characters
from capture.record import log_stamps, terminal
from capture.record.privacy_rule import COMMON_NAMES

_ELISION = re.compile(r"^(… [\d,]{1,20} of [\d,]{1,20} bytes left out …\n)", re.MULTILINE)
_LINE_LIMIT = 4000  # characters; a longer line is a dump, not a result
_LINE_HEAD, _LINE_TAIL = 1500, 300
# What may stand before a path for it to be one (also an option's letter as in `-I/usr`, an escaped line end, a quoted
# character of an address), and after a folder's name for it to be that folder.
_MARKS = ("<work>", "<site-packages>", "<python>", "<tmp>", "<user>")
_BEFORE = (
    "".join(f"(?<!{mark})" for mark in _MARKS)
    + r"(?:(?<![\w.~-])|(?<=(?<![\w-])-[A-Za-z])|(?<=\\[nrt])|(?<=%[0-9A-F]{2}))"
)
_AFTER = r"(?![\w-]|\.\w)"
# Bounded, for a line of nothing but backslashes must not take minutes.
_LEADING, _SEPARATOR = r"(?:\\{0,4}/|\\{1,8}|%2F|%5C)", r"(?:\\{0,4}/{1,4}|\\{1,8}|%2F|%5C)"
_PATH_MARKS = re.compile(r"[/\\%]")


@dataclass(frozen=True)
class Places:
    """Folders of this machine, as absolute paths, that must not appear in text.

    `work` is the working folder of the execution and maps to nothing, so that `work/x.py` reads `x.py`.
    """

    work: tuple[str, ...] = ()
    temporary: tuple[str, ...] = ()
    home: tuple[str, ...] = ()
    libraries: tuple[str, ...] = ()
    python: tuple[str, ...] = ()
    user: str | None = None


def _decode(data: bytes) -> tuple[str, bool]:
    """Return text of UTF-8 bytes, and whether some were undecodable; those show as `\\xb0`."""
    try:
        return data.decode("utf-8"), False
    except UnicodeDecodeError:
        return data.decode("utf-8", "backslashreplace"), True


def _as_on_a_terminal(text: str) -> tuple[str, tuple[str, ...]]:
    """Return what a terminal shows at the end, and the names of the rules that this stands for.

    What is left of a longer output is shown by itself: nothing that follows the gap may write over it, or over the gap.
    """
    pieces = _ELISION.split(text)
    changed: dict[str, None] = {}
    for number in range(0, len(pieces), 2):
        pieces[number], names = terminal.replay(pieces[number])
        changed |= dict.fromkeys(names)
        if number + 1 < len(pieces) and pieces[number] and not pieces[number].endswith("\n"):
            pieces[number] += "\n"
    return "".join(pieces), tuple(name for name in terminal.KINDS if name in changed)


def _trailing_space(text: str) -> str:
    """Remove blanks at line ends; they would turn a readable YAML block into one escaped line."""
    return "\n".join(line.rstrip(" \t") for line in text.split("\n"))


def _long_line(text: str) -> str:
    """Cut lines beyond LINE_LIMIT characters, naming how many are left out."""
    if len(text) <= _LINE_LIMIT:
        return text
    return "\n".join(
        f"{line[:_LINE_HEAD]} … {len(line) - _LINE_HEAD - _LINE_TAIL:,} characters left out … {line[-_LINE_TAIL:]}"
        if len(line) > _LINE_LIMIT
        else line
        for line in text.split("\n")
    )


def _spelled(folder: str) -> str:
    """Return a pattern of a folder as programs print it: plain, escaped, doubled, URL-quoted, with either slash."""
    first, *rest = map(_component, re.split(r"[/\\]+", folder))
    return first + (_LEADING if rest else "") + _SEPARATOR.join(rest)


def _component(name: str) -> str:
    """Return a pattern of one name within a path."""
    forms = {
        name,
        urllib.parse.quote(name, safe=""),
        ascii(name)[1:-1],
        json.dumps(name)[1:-1],
        name.replace(" ", "\\ "),
    }
    forms |= {unicodedata.normalize(form, name) for form in ("NFC", "NFD")}
    return f"(?:{'|'.join(re.escape(form) for form in sorted(forms, key=len, reverse=True))})"


def _folder_rule(folders: Iterable[str], replacement: str, inside_only: bool = False) -> Callable[[str], str]:
    """Return a rule that replaces folders, longest first, in any letter case and spelling.

    With `inside_only` the folder and the separator after it go, so that only what lies inside is named.
    """
    bare = {folder.rstrip("/\\") for folder in folders}
    forms = [_spelled(folder) for folder in sorted(bare, key=lambda folder: (-len(folder), folder)) if len(folder) > 1]
    if not forms:
        return lambda text: text
    tail = _SEPARATOR if inside_only else _AFTER
    pattern = f"{_BEFORE}(?:{'|'.join(forms)}){tail}"

    def replaced(text: str) -> str:
        if not _PATH_MARKS.search(text):  # as most often; compiling would cost more than all other rules
            return text
        return re.sub(pattern, replacement, text, flags=re.IGNORECASE)

    return replaced


def _user_rule(user: str | None) -> Callable[[str], str]:
    """Return a rule that masks the user's name at the end of a path component, such as `torchinductor_<name>`.

    A name that many machines share (`root`, `python`) counts only behind such a prefix: alone it is a plain folder.
    """
    if not user:
        return lambda text: text
    prefix = r"([\w.-]*[_.-])" if user.lower() in (*COMMON_NAMES, "root") else r"([\w.-]*[_.-])?"
    pattern = re.compile(rf"(?:(?<=[/\\])|(?<=%2F)|(?<=%5C)){prefix}{re.escape(user)}{_AFTER}", re.IGNORECASE)
    return lambda text: pattern.sub(lambda match: f"{match[1] or ''}<user>", text)


def _rules(places: Places) -> tuple[tuple[str, Callable[[str], str]], ...]:
    """Return the named rules in their order; paths first inside, then outside."""
    return (
        ("log-stamp", log_stamps.without_stamps),
        ("work-path", _folder_rule(places.work, "", inside_only=True)),
        ("work-path", _folder_rule(places.work, "<work>")),
        ("library-path", _folder_rule(places.libraries, "<site-packages>")),
        ("python-path", _folder_rule(places.python, "<python>")),
        ("home-path", _folder_rule(places.home, "~")),
        ("temporary-path", _folder_rule(places.temporary, "<tmp>")),
        ("user-name", _user_rule(places.user)),
        ("control-characters", control_characters),
        ("bidi-controls", bidi_controls),
        ("trailing-space", _trailing_space),
        ("long-line", _long_line),
    )


RULES = tuple(
    dict.fromkeys([*terminal.KINDS, *(name for name, _ in _rules(Places())), "undecodable-bytes", "final-newline"])
)


def apply(text: str, places: Places) -> tuple[str, tuple[str, ...]]:
    """Return the normalised text and the names of the rules that changed it."""
    if not text:  # most often stderr; compiling the rules would cost more than the snippet
        return "", ()
    text, names = _as_on_a_terminal(text)
    changed = dict.fromkeys(names)
    for name, rule in _rules(places):
        after = rule(text)
        if after != text:
            changed[name] = None
            text = after
    if text and not text.endswith("\n"):
        text += "\n"
        changed["final-newline"] = None
    return text, tuple(changed)


def clean(data: bytes, places: Places) -> tuple[str, tuple[str, ...]]:
    """Return storable text of captured bytes and the names of the rules that changed it."""
    text, lossy = _decode(data)
    text, changed = apply(text, places)
    return text, (("undecodable-bytes",) if lossy else ()) + changed


def elision_line(left_out: int, total: int) -> str:
    """Return the line that stands where an output was cut, with how many of its bytes are missing."""
    return f"… {left_out:,} of {total:,} bytes left out …\n"


def with_real_paths(*folders: PurePath | str | None) -> tuple[str, ...]:
    """Return folders as text, without empty ones and without the root, which would match everything."""
    texts = dict.fromkeys(str(folder) for folder in folders if folder)
    return tuple(text for text in texts if len(text.rstrip("/\\")) > 2)
