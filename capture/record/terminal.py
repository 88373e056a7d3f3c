"""What a terminal shows at the end of a text with cursor movements, redrawn lines and colours.

The terminal is endless, so its screen begins at the first line of the text. What is not understood stays in the text.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from capture.record.screen import FARTHEST, Overgrown, Screen, tab_stop

# One control sequence, string or two-byte escape of ECMA-48, one control character, or a run of text. A string without
# its end, and an escape alone, are a run of text: nothing that a reader would want may vanish with it.
_TOKEN = re.compile(
    r"(?P<csi>\x1b\[(?P<private>[<-?]*)(?P<parameters>[0-9:;]*)(?P<between>[ -/]*)(?P<final>[@-~]))"
    r"|(?P<string>\x1b\][^\x07\x1b\n]*(?:\x07|\x1b\\)|\x1b[PX^_][^\x1b\n]*\x1b\\)"
    r"|(?P<escape>\x1b(?P<letter>[ -/]*[0-Z\\^-~]))"
    r"|(?P<control>[\r\n\b\t])"
    r"|(?P<run>[^\x1b\r\n\b\t]+|\x1b)"
)
# Finals and escapes that change colours, modes and cursors, or ask something: none of them changes what stands there.
_SILENT = "mhlncqt"
_SILENT_ESCAPES = ("=", ">", "\\", "Z", "%G", "%@", " F", " G", "l", "m", "n", "o", "|", "}", "~")
KINDS = ("ansi", "carriage-return", "backspace")  # of codes, as a record names them
_LARGEST = 10**5  # parameter; a position beyond is the edge of any screen
_ALTERNATE_SCREEN = ("47", "1047", "1049")
# Characters of the line drawing set, which `ESC ( 0` selects in place of small letters.
_DRAWN = str.maketrans("`afgjklmnopqrstuvwxyz{|}~", "◆▒°±┘┐┌└┼⎺⎻─⎼⎽├┤┴┬│≤≥π≠£·")


def replay(text: str) -> tuple[str, tuple[str, ...]]:
    """Return what a terminal shows at the end, and which KINDS of codes it obeyed.

    Text without such codes is returned as it is, and so is one that its codes would make grow beyond 256 Ki characters.
    """
    if "\x1b" not in text and "\r" not in text and "\b" not in text:
        return text, ()
    screen = Screen()
    try:
        _feed(screen, text)
        shown = screen.shown()
    except Overgrown:
        return text, ()
    return shown, tuple(kind for kind in KINDS if kind in screen.obeyed)


def _feed(screen: Screen, text: str) -> None:
    """Obey the codes of a text and put down the rest."""
    for match in _TOKEN.finditer(text):
        token = match[0]
        match match.lastgroup:
            case "run":
                screen.put(token.translate(_DRAWN) if screen.drawing else token)
            case "control":
                screen.control(token)
            case "csi" if _sequence(screen, *match.group("private", "parameters", "between", "final")):
                screen.obeyed.add("ansi")
            case "escape" if _escape(screen, match["letter"]):
                screen.obeyed.add("ansi")
            case "string":
                screen.obeyed.add("ansi")
            case _:
                screen.put(token)


def _sequence(screen: Screen, private: str, parameters: str, between: str, final: str) -> bool:
    """Obey a control sequence; return False for one that is not understood."""
    parts = parameters.split(";")
    if private or between:
        if private == "?" and final in "hl" and not {*parts}.isdisjoint(_ALTERNATE_SCREEN):
            screen.alternate(final == "h")
        return final in f"{_SILENT}pu"
    first, second = ([_number(part) for part in parts] + [0])[:2]
    if final in _MOVES:
        _MOVES[final](screen, max(first, 1))
    elif final in "Hf":
        screen.go(first - 1, second - 1)
    elif final in "JK" and first <= 3 - (final == "K"):
        screen.erase_lines(first) if final == "J" else screen.erase_in_line(first)
    elif final in "su" and not parameters:
        screen.save() if final == "s" else screen.go(*screen.saved)
    elif final == "r" or final == "h":  # a scrolling region, and the mode in which characters are inserted
        return not parameters.strip("0;") if final == "r" else "4" not in parts
    else:
        return final in _SILENT
    return True


def _escape(screen: Screen, letter: str) -> bool:
    """Obey a two-byte escape; return False for one that is not understood."""
    match letter:
        case "7":
            screen.save()
        case "8":
            screen.go(*screen.saved)
        case "D" | "E":
            screen.column = screen.column if letter == "D" else 0
            screen.down()
        case "M" if screen.row == 0:
            screen.insert_lines(1, screen.column)
        case "M":
            screen.row -= 1
        case "c":
            screen.lines, screen.row, screen.column, screen.drawing = [None], 0, 0, False
        case _ if letter[0] in "()*+-./":  # of the character sets only the lines of the first are known
            screen.drawing = letter == "(0" or (screen.drawing and letter[0] != "(")
        case _:
            return letter in _SILENT_ESCAPES
    return True


def _number(digits: str) -> int:
    """Return a parameter as a number, bounded; 0 where there is none."""
    if not digits.isdigit():
        return 0
    return min(int(digits), _LARGEST) if len(digits) <= len(str(_LARGEST)) else _LARGEST


# What a control sequence with one count does, by its final character.
_MOVES: dict[str, Callable[[Screen, int], None]] = {
    "A": lambda screen, count: screen.go(screen.row - count, screen.column),
    "B": lambda screen, count: screen.go(screen.row + count, screen.column),
    "C": lambda screen, count: screen.go(screen.row, screen.column + count),
    "D": lambda screen, count: screen.go(screen.row, screen.column - count),
    "E": lambda screen, count: screen.go(screen.row + count, 0),
    "F": lambda screen, count: screen.go(screen.row - count, 0),
    "G": lambda screen, count: screen.go(screen.row, count - 1),
    "I": lambda screen, count: screen.go(screen.row, tab_stop(screen.column, count)),
    "Z": lambda screen, count: screen.go(screen.row, tab_stop(screen.column, -count)),
    "d": lambda screen, count: screen.go(count - 1, screen.column),
    "X": lambda screen, count: screen.erase_characters(screen.column, screen.column + count),
    "P": lambda screen, count: screen.shift(-count),
    "@": lambda screen, count: screen.shift(min(count, FARTHEST)),
    "L": lambda screen, count: screen.insert_lines(min(count, FARTHEST)),
    "M": lambda screen, count: screen.delete_lines(count),
    "b": lambda screen, count: screen.repeat(min(count, FARTHEST)),
}
_MOVES |= {"e": _MOVES["B"], "a": _MOVES["C"], "j": _MOVES["D"], "k": _MOVES["A"], "`": _MOVES["G"]}
