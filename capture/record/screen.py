"""The screen of an endless terminal: lines of cells and a cursor. Nothing wraps, and nothing scrolls away.

A wide character takes two columns and a combining one none, by the tables of `unicodedata`; of characters that
terminals themselves disagree about, such as joined emoji, each part counts alone.
"""

from __future__ import annotations

import unicodedata

_TAB = 8  # columns from one tab stop to the next
# A code alone moves no further: a position beyond stands for the edge of a screen.
FARTHEST = 500
# Cells and lines that codes may add, and characters that the result may have; a text that asks for more is a bomb.
_MOST_ADDED, _MOST_SHOWN = 2**20, 2**18


class Overgrown(Exception):
    """The codes of a text would make it grow beyond all use."""


def _width(character: str) -> int:
    """Return how many columns a terminal gives a character: none for a mark or a control, two for a wide one."""
    if unicodedata.category(character) in ("Mn", "Me", "Cf", "Cc", "Cs", "Zl", "Zp"):
        return int(character == "\xad")  # a soft hyphen is drawn
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def _cells(text: str) -> tuple[str, list[str]]:
    """Return the marks at the start of a text, and its cells: each character with its marks, then "" if it is wide."""
    if text.isascii() and text.isprintable():
        return "", list(text)
    first, marks = "", ""
    cells: list[str] = []
    for character in text:
        width = _width(character)
        if width == 0:
            marks += character
            continue
        if cells:
            _add_marks(cells, marks, len(cells))
        else:
            first = marks
        marks = ""
        cells += [character, ""][:width]
    if not cells:
        return marks, []
    _add_marks(cells, marks, len(cells))
    return first, cells


def _add_marks(cells: list[str], marks: str, column: int) -> None:
    """Add marks to the character before a column."""
    if marks:
        owner = column - 1
        while cells[owner] == "":
            owner -= 1
        cells[owner] += marks


class Line(list[str]):
    """The cells of a line: a character with its marks, or "" behind a wide character or a tab, which belongs to it."""

    tabs = False  # whether some of its cells are tabs


class Screen:
    """Lines and a cursor; a line of None is empty."""

    def __init__(self) -> None:
        self.lines: list[Line | None] = [None]
        self.row = self.column = 0
        self.saved = (0, 0)
        self.main: tuple[list[Line | None], int, int] | None = None  # while the alternate screen is shown
        self.drawing = False
        self.last = ""
        self.added = 0
        self.obeyed: set[str] = set()

    def shown(self) -> str:
        """Return the lines as text; those below the cursor that stayed empty are none."""
        lines, row = self.lines, self.row
        if self.main:  # never left: what stood before is shown above it
            lines, row = [*self.main[0], *lines], len(self.main[0]) + row
        while len(lines) > row + 1 and not lines[-1]:
            lines.pop()
        if self.added and sum(len(line or ()) + 1 for line in lines) > _MOST_SHOWN:
            raise Overgrown
        return "\n".join("".join(line or ()) for line in lines)

    def put(self, text: str) -> None:
        """Write over what stands at the cursor; marks belong to the character before it."""
        marks, cells = _cells(text)
        line, column = self._line(), self.column
        self._pad(line, column)
        if column == 0 and line and line[0] != "\t" and _width(line[0][0]) == _width(line[0][-1]) == 0:
            marks, line[0] = line[0] + marks, " "  # what stood alone at the line's start, as a control does, stays
        if marks and column:
            _add_marks(line, marks, column)
        elif marks and cells:
            cells[0] = marks + cells[0]
        elif marks:
            line[:1] = [marks]
        if cells:
            self.last = cells[-1] or cells[-2]
            _split(line, column)
            _split(line, column + len(cells))
            line[column : column + len(cells)] = cells
            self.column += len(cells)

    def control(self, control: str) -> None:
        """Return the carriage, step back, go to the next line or to the next tab stop."""
        match control:
            case "\r":
                self.column = 0
                self.obeyed.add("carriage-return")
            case "\b":
                self.column = max(self.column - 1, 0)
                self.obeyed.add("backspace")
            case "\n":
                self.column = 0
                self.down()
            case _:
                self._tab()

    def _tab(self) -> None:
        """Go to the next tab stop; at a line's end the tab stays one, so that a table can be copied as it was."""
        line, stop = self._line(), tab_stop(self.column, 1)
        if self.column >= len(line):
            self._pad(line, self.column)
            line += ["\t", *[""] * (stop - self.column - 1)]
            line.tabs = True
        self.column = stop

    def save(self) -> None:
        """Remember the position."""
        self.saved = (self.row, self.column)

    def alternate(self, entering: bool) -> None:
        """Enter the alternate screen, which is empty then, or leave it and show again what stood there before."""
        if entering and not self.main:
            self.main = (self.lines, self.row, self.column)
            self.lines, self.row, self.column = [None], 0, 0
        elif not entering and self.main:
            self.lines, self.row, self.column = self.main
            self.main = None

    def go(self, row: int, column: int) -> None:
        """Move the cursor, not beyond the screen."""
        self.row = min(max(row, 0), max(len(self.lines) - 1, FARTHEST))
        if self.row >= len(self.lines):
            missing = self.row + 1 - len(self.lines)
            self._charge(missing)
            self.lines += [None] * missing
        self.column = min(max(column, 0), max(len(self.lines[self.row] or ()), self.column, FARTHEST))

    def down(self) -> None:
        """Go one line down; below the last one begins."""
        self.row += 1
        if self.row == len(self.lines):
            self.lines.append(None)

    def erase_lines(self, which: int) -> None:
        """Erase what follows the cursor (0), what stands up to it (1), or all (2); nothing has scrolled away (3)."""
        if which == 0:
            self.erase_in_line(0)
            del self.lines[self.row + 1 :]
        elif which == 1:
            self.erase_in_line(1)
            self.lines[: self.row] = [None] * self.row
        elif which == 2:
            self.lines = [None] * (self.row + 1)

    def erase_in_line(self, which: int) -> None:
        """Erase the line from the cursor on (0), up to it (1), or all of it (2)."""
        line = self._line()
        if which == 0:
            _split(line, self.column)
            del line[self.column :]
        elif which == 1 and self.column < len(line):
            self.erase_characters(0, self.column + 1)
        else:
            self.lines[self.row] = None

    def erase_characters(self, start: int, end: int) -> None:
        """Put blanks in place of the cells from `start` to `end`."""
        line = self._line()
        end = min(end, len(line))
        _split(line, start)
        _split(line, end)
        line[start:end] = [" "] * (end - start)

    def shift(self, count: int) -> None:
        """Insert so many blanks at the cursor, or delete so many cells if negative."""
        line, column = self._line(), self.column
        if column >= len(line):
            return
        self._charge(max(count, 0) + len(line) // 100)
        if line.tabs:  # elsewhere they would have another width
            line[:] = "".join(cell if cell not in ("", "\t") else " " for cell in line)
            line.tabs = False
        _split(line, column)
        _split(line, column - min(count, 0))
        if count > 0:
            line[column:column] = [" "] * count
        else:
            del line[column : column - count]

    def insert_lines(self, count: int, column: int = 0) -> None:
        """Insert empty lines at the cursor, which then stands in a column of the first."""
        self._charge(count + len(self.lines) // 100)
        self.lines[self.row : self.row] = [None] * count
        self.column = column

    def delete_lines(self, count: int) -> None:
        """Delete lines from that of the cursor on."""
        self._charge(len(self.lines) // 100)
        del self.lines[self.row : self.row + count]
        self.lines += [None] * (self.row + 1 - len(self.lines))
        self.column = 0

    def repeat(self, count: int) -> None:
        """Write the last character again."""
        self._charge(count)
        self.put(self.last * count)

    def _line(self) -> Line:
        """Return the line of the cursor."""
        line = self.lines[self.row]
        if line is None:
            line = self.lines[self.row] = Line()
        return line

    def _pad(self, line: Line, column: int) -> None:
        """Fill a line up to a column with blanks."""
        missing = column - len(line)
        if missing > 0:
            self._charge(missing)
            line += [" "] * missing

    def _charge(self, count: int) -> None:
        """Count what codes add to the text; raises Overgrown where it is beyond all use."""
        self.added += count
        if self.added > _MOST_ADDED:
            raise Overgrown


def _split(line: Line, column: int) -> None:
    """Make blanks of the wide character or tab that lies across the start of a column."""
    if column < len(line) and line[column] == "":
        start = end = column
        while line[start] == "":
            start -= 1
        while end < len(line) and line[end] == "":
            end += 1
        line[start:end] = [" "] * (end - start)


def tab_stop(column: int, count: int) -> int:
    """Return the tab stop so many behind a column, or before it if negative."""
    return (column // _TAB + count) * _TAB if count > 0 else max(-(-column // _TAB) + count, 0) * _TAB
