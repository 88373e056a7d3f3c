"""Named text rules that make captured output stable, storable and free of this machine's paths.

Each rule is a pure function from text to text. `apply` runs them in order and names those that changed something;
the record keeps the names, so that nothing is altered silently.
"""

from __future__ import annotations

import re
import urllib.parse
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import PurePath

# ECMA-48 control sequences, OSC strings (hyperlinks, titles) and the other string and two-byte escapes.
ANSI = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b[PX^_][^\x1b]*(?:\x1b\\)?|\x1b[ -/]*[0-Z\\^-~]"
)
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
# Bidirectional overrides and isolates (Unicode UAX 9); they can make text read as what it is not.
BIDI = re.compile(r"[\u202a-\u202e\u2066-\u2069\u200e\u200f\u061c]")
TRAILING = re.compile(r"[ \t]+$", re.MULTILINE)
LINE_LIMIT = 4000  # characters; a longer line is a dump, not a result
LINE_HEAD, LINE_TAIL = 1500, 300
# What may stand before a path for it to be one, and after a folder's name for it to be that folder.
BEFORE, AFTER = r"(?<![\w.~-])", r"(?![\w-]|\.\w)"


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


def decode(data: bytes) -> tuple[str, bool]:
    """Return text of UTF-8 bytes, and whether some were undecodable; those show as `\\xb0`."""
    try:
        return data.decode("utf-8"), False
    except UnicodeDecodeError:
        return data.decode("utf-8", "backslashreplace"), True


def ansi(text: str) -> str:
    """Remove colour codes, cursor movements and terminal hyperlinks."""
    return ANSI.sub("", text)


def carriage_return(text: str) -> str:
    """Replay redrawn lines: keep what a terminal would show in the end.

    A shorter redraw leaves the rest of the longer one standing, as on a terminal. CRLF becomes LF.
    """
    text = text.replace("\r\n", "\n")
    if "\r" not in text:
        return text
    return "\n".join(replay(line) if "\r" in line else line for line in text.split("\n"))


def replay(line: str) -> str:
    """Return the final look of one line that was drawn several times."""
    shown = ""
    for part in line.split("\r"):
        shown = part + shown[len(part) :]
    return shown


def backspace(text: str) -> str:
    """Apply backspaces, as progress spinners use them."""
    while "\b" in text:
        shorter = re.sub(r"[^\b\n]\x08", "", text)
        if shorter == text:
            return text.replace("\b", "")
        text = shorter
    return text


def control_characters(text: str) -> str:
    """Make control characters visible, as `\\x00` or `\\u2028`; newline and tab stay."""
    return CONTROL.sub(visible, text)


def bidi_controls(text: str) -> str:
    """Make bidirectional controls visible; plain Arabic or Hebrew text is untouched."""
    return BIDI.sub(visible, text)


def visible(match: re.Match[str]) -> str:
    """Return a character as a Python escape."""
    code = ord(match[0])
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}"


def trailing_space(text: str) -> str:
    """Remove blanks at line ends; they would turn a readable YAML block into one escaped line."""
    return TRAILING.sub("", text)


def long_line(text: str) -> str:
    """Cut lines beyond LINE_LIMIT characters, naming how many are left out."""
    if len(text) <= LINE_LIMIT:
        return text
    return "\n".join(
        f"{line[:LINE_HEAD]} … {len(line) - LINE_HEAD - LINE_TAIL:,} characters left out … {line[-LINE_TAIL:]}"
        if len(line) > LINE_LIMIT
        else line
        for line in text.split("\n")
    )


def spellings(folder: str) -> tuple[str, ...]:
    """Return the ways in which programs print a path: plain, escaped, doubled, URL-quoted, forward slashes."""
    forms = [folder, folder.replace("\\", "\\\\"), folder.replace("\\", "/"), urllib.parse.quote(folder)]
    forms += [folder.replace("/", "\\"), folder.replace("/", "\\\\"), folder.replace("/", "\\/")]
    return tuple(dict.fromkeys(form for form in forms if form))


def folder_rule(folders: Iterable[str], replacement: str, inside_only: bool = False) -> Callable[[str], str]:
    """Return a rule that replaces folders, longest first, in any letter case and spelling.

    With `inside_only` the folder and the separator after it go, so that only what lies inside is named.
    """
    forms = {form for folder in folders for form in spellings(folder.rstrip("/\\")) if len(form) > 1}
    if not forms:
        return lambda text: text
    joined = "|".join(re.escape(form) for form in sorted(forms, key=len, reverse=True))
    tail = r"(?:[/\\]+|%2F)" if inside_only else AFTER
    pattern = re.compile(f"{BEFORE}(?:{joined}){tail}", re.IGNORECASE)
    return lambda text: pattern.sub(replacement, text)


def user_rule(user: str | None) -> Callable[[str], str]:
    """Return a rule that masks the user's name within a path component, such as `torchinductor_<name>`."""
    if not user:
        return lambda text: text
    pattern = re.compile(rf"(?<=[/\\])([\w.-]*[_.-])?{re.escape(user)}(?=[/\\\s\"']|$)", re.IGNORECASE | re.MULTILINE)
    return lambda text: pattern.sub(lambda match: f"{match[1] or ''}<user>", text)


def rules(places: Places) -> tuple[tuple[str, Callable[[str], str]], ...]:
    """Return the named rules in their order; paths first inside, then outside."""
    return (
        ("ansi", ansi),
        ("carriage-return", carriage_return),
        ("backspace", backspace),
        ("work-path", folder_rule(places.work, "", inside_only=True)),
        ("work-path", folder_rule(places.work, "<work>")),
        ("library-path", folder_rule(places.libraries, "<site-packages>")),
        ("python-path", folder_rule(places.python, "<python>")),
        ("home-path", folder_rule(places.home, "~")),
        ("temporary-path", folder_rule(places.temporary, "<tmp>")),
        ("user-name", user_rule(places.user)),
        ("control-characters", control_characters),
        ("bidi-controls", bidi_controls),
        ("trailing-space", trailing_space),
        ("long-line", long_line),
    )


RULES = tuple(dict.fromkeys([*(name for name, _ in rules(Places())), "undecodable-bytes", "final-newline"]))


def apply(text: str, places: Places) -> tuple[str, tuple[str, ...]]:
    """Return the normalised text and the names of the rules that changed it."""
    changed: dict[str, None] = {}
    for name, rule in rules(places):
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
    text, lossy = decode(data)
    text, changed = apply(text, places)
    return text, (("undecodable-bytes",) if lossy else ()) + changed


def with_real_paths(*folders: PurePath | str | None) -> tuple[str, ...]:
    """Return folders as text, without empty ones and without the root, which would match everything."""
    texts = dict.fromkeys(str(folder) for folder in folders if folder)
    return tuple(text for text in texts if len(text.rstrip("/\\")) > 2)
