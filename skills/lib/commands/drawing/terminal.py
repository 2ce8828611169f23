"""A graph drawn for a terminal. What would not fit is listed instead, never left out."""

from __future__ import annotations

from rich.cells import cell_len
from rich.text import Text

from skills.lib.commands.console.screen import TIMES
from skills.lib.commands.drawing.edges import Edge, Graph
from skills.lib.commands.drawing.layout import RIGHT, Box, Layout, Way, lay_out, node_label

# A drawing longer than this many boxes is not read as a picture any more.
MOST_NODES = 60
_TAKEN = "bold green"
_BORDERS = {"gate": ("━", "yellow"), "person": ("┅", "magenta"), "dispatch": ("═", "cyan")}

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
# Heads of arrows, and the upper and lower borders of each kind of box.
_PLAIN = {"▼": "v", "◀": "<", "▶": ">", "━": "=", "═": "#", "┅": "~", TIMES: "x", "…": "."}


def draw(graph: Graph, width: int, unicode: bool) -> list[Text]:
    """The lines of the drawing, or of a list if ``width`` or the number of boxes does not allow a drawing."""
    if len(graph.nodes) > MOST_NODES:
        return listing(graph, f"{len(graph.nodes)} boxes are too many to draw")
    placed = lay_out(graph, lambda edge: edge.label)
    if placed.width > width:
        return listing(graph, f"a drawing would be {placed.width} columns wide, and there are {width}")
    canvas = Canvas()
    for box in placed.boxes:
        _paint_box(canvas, placed, box)
    for way in sorted(placed.ways, key=lambda way: (way.side is None, way.taken)):
        if way.side is None:
            _paint_down(canvas, way)
        else:
            _paint_port(canvas, placed, way)
    count = sum(len(way.edges) for way in placed.ways)
    return [*canvas.lines(unicode), Text(f"{count} of {len(graph.edges)} edges drawn")]


def listing(graph: Graph, why: str = "") -> list[Text]:
    """Every step with its routes, one to a line."""
    lines = []
    count = 0
    ways: dict[int, list[Edge]] = {}
    for edge in graph.edges:
        ways.setdefault(edge.source, []).append(edge)
    for at, node in enumerate(graph.nodes):
        lines.append(Text(node_label(node), "bold"))
        for edge in ways.get(at, ()):
            back = " (back)" if edge.target <= at else ""
            target = node_label(graph.nodes[edge.target])
            lines.append(Text(f"    {edge.label} -> {target}{back}", _TAKEN if edge.taken else ""))
            count += 1
    end = f"{count} of {len(graph.edges)} edges listed" + (f": {why}" if why else "")
    return [*lines, Text(end)]


def _paint_box(canvas: Canvas, placed: Layout, box: Box) -> None:
    border, style = _BORDERS.get(box.node.kind, ("", ""))
    width = placed.right - placed.left + 1
    canvas.box(box.top, placed.left, box.height, width, style)
    if border:
        for row in (box.top, box.top + box.height - 1):
            canvas.write(row, placed.left + 1, border * (width - 2), style)
    for at, line in enumerate(box.lines):
        canvas.write(box.top + 1 + at, placed.left + 2, line, "" if at else "bold")


def _paint_port(canvas: Canvas, placed: Layout, way: Way) -> None:
    style = _TAKEN if way.taken else ""
    target = placed.boxes[way.target].top + 1
    wall = placed.right if way.side == RIGHT else placed.left
    beside = wall + (1 if way.side == RIGHT else -1)
    canvas.across(way.row, wall, way.column, style)
    canvas.across(target, beside, way.column, style)
    canvas.down(way.column, way.row, target, style)
    canvas.write(target, beside, "◀" if way.side == RIGHT else "▶", style)
    label = f" {way.label} "
    start = wall + 2 if way.side == RIGHT else wall - 1 - cell_len(label)
    canvas.write(way.row, start, label, style)


def _paint_down(canvas: Canvas, way: Way) -> None:
    style = _TAKEN if way.taken else ""
    canvas.down(way.column, way.row, way.row + 1, style)
    canvas.write(way.row, way.column + 2, way.label, style)
    canvas.write(way.row + 1, way.column, "▼", style)


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
        """Write text over what is there; a wide character takes two cells, a combining one none."""
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
                character = word if unicode else _PLAIN.get(word, word)
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
