"""A grid of characters on which lines meet: each cell knows in which directions lines leave it."""

from __future__ import annotations

from rich.cells import cell_len
from rich.text import Text

from skills.lib.commands.console.screen import TIMES

NORTH, SOUTH, WEST, EAST = 1, 2, 4, 8

_BOX = dict(
    zip(
        [1, 2, 3, 4, 8, 12, 9, 5, 10, 6, 11, 7, 14, 13, 15],
        "│││───╰╯╭╮├┤┬┴┼",
        strict=True,
    )
)
_ASCII = {mask: "|" if mask in (1, 2, 3) else "-" if mask in (4, 8, 12) else "+" for mask in range(1, 16)}
# Two lines that cross are no junction: in ASCII the upright one goes over.
_ASCII[15] = "|"
# Heads of arrows, and the upper and lower borders that tell kinds of boxes apart.
_WORDS = {"▼": "v", "◀": "<", "▶": ">", "━": "=", "═": "#", "┅": "~", TIMES: "x", "…": "."}


class Canvas:
    """Lines and words by row and column, each with a style; words lie over lines."""

    def __init__(self) -> None:
        self._masks: dict[tuple[int, int], int] = {}
        self._words: dict[tuple[int, int], str] = {}
        self._styles: dict[tuple[int, int], str] = {}

    def across(self, row: int, first: int, last: int, style: str = "") -> None:
        """A level line from one column to another."""
        first, last = min(first, last), max(first, last)
        for column in range(first, last + 1):
            self._join(row, column, (WEST if column > first else 0) | (EAST if column < last else 0), style)

    def down(self, column: int, first: int, last: int, style: str = "") -> None:
        """An upright line from one row to another."""
        first, last = min(first, last), max(first, last)
        for row in range(first, last + 1):
            self._join(row, column, (NORTH if row > first else 0) | (SOUTH if row < last else 0), style)

    def box(self, row: int, column: int, height: int, width: int, style: str = "") -> None:
        """The border of a box."""
        self.across(row, column, column + width - 1, style)
        self.across(row + height - 1, column, column + width - 1, style)
        self.down(column, row, row + height - 1, style)
        self.down(column + width - 1, row, row + height - 1, style)

    def write(self, row: int, column: int, text: str, style: str = "") -> None:
        """Words over what is there; a wide character takes two cells, a combining one stands with the one before."""
        for character in text:
            width = cell_len(character)
            if width == 0:
                before = row, column - 1
                self._words[before] = self._words.get(before, "") + character
                continue
            for at in range(width):
                self._words[row, column + at] = "" if at else character
                if style:
                    self._styles[row, column + at] = style
            column += width

    def lines(self, unicode: bool) -> list[Text]:
        """The rows from the first to the last."""
        cells = {*self._masks, *self._words}
        if not cells:
            return []
        width = max(column for _, column in cells) + 1
        return [self._line(row, width, unicode) for row in range(max(row for row, _ in cells) + 1)]

    def _line(self, row: int, width: int, unicode: bool) -> Text:
        line = Text()
        for column in range(width):
            place = row, column
            word = self._words.get(place)
            if word is not None:
                character = word if unicode else _WORDS.get(word, word)
            else:
                mask = self._masks.get(place, 0)
                character = (_BOX if unicode else _ASCII)[mask] if mask else " "
            line.append(character, self._styles.get(place, ""))
        line.rstrip()
        return line

    def _join(self, row: int, column: int, mask: int, style: str) -> None:
        self._masks[row, column] = self._masks.get((row, column), 0) | mask
        if style:
            self._styles[row, column] = style
