"""A graph as a picture of characters. Two lines that cross are no branch."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from itertools import groupby, pairwise

from rich.cells import cell_len
from rich.text import Text

from skills.lib.clean_text import TIMES
from skills.lib.views.drawing.edges import Edge, Graph
from skills.lib.views.drawing.layout import DOWN, LEFT, RIGHT, Box, Way, layout

# A picture of more boxes than this is not read as a picture any more.
MOST_NODES = 60
# The upper and lower borders of the boxes that are drawn in a way of their own; such a box has its kind as style.
_BORDERS = {"gate": "━", "person": "┅", "dispatch": "═"}
# What a terminal makes of the styles of a picture.
_STYLES = {"taken": "bold green", "name": "bold", "gate": "yellow", "person": "magenta", "dispatch": "cyan"}
# Two lines that cross are no junction: in ASCII the upright one goes over.
_ASCII = str.maketrans("│─╭╮╰╯├┤┬┴┼▼◀▶━═┅…" + TIMES, "|-+++++++" + "+|v<>=#~.x")

# The sides of a cell that a line touches, by the direction in which it leaves; and the character that has these sides.
_SIDES = {(-1, 0): 1, (1, 0): 2, (0, -1): 4, (0, 1): 8}
_LINES = dict(zip([1, 2, 3, 4, 8, 12, 9, 5, 10, 6, 11, 7, 14, 13, 15], "│││───╰╯╭╮├┤┬┴┼", strict=True))

# A line of a picture: its texts, each with a style ("" for none), a key of _STYLES.
Line = list[tuple[str, str]]
Place = tuple[int, int]


def in_terminal(graph: Graph, width: int, unicode: bool) -> list[Text]:
    """The picture for a terminal, or a list of the routes if ``width`` or the number of boxes allows no picture."""
    if len(graph.nodes) > MOST_NODES:
        lines = listing(graph, f"{len(graph.nodes)} boxes are too many to draw")
    else:
        lines, columns = draw(graph, lambda edge: edge.label)
        lines.append([(f"{len(graph.edges)} of {len(graph.edges)} edges drawn", "")])
        if columns > width:
            lines = listing(graph, f"a drawing would be {columns} columns wide, and there are {width}")
    return [
        Text.assemble(*[(text if unicode else text.translate(_ASCII), _STYLES.get(style, "")) for text, style in line])
        for line in lines
    ]


def listing(graph: Graph, why: str) -> list[Line]:
    """Every step with its routes, one to a line, and the reason why there is no picture."""
    lines: list[Line] = []
    ways: dict[int, list[Edge]] = defaultdict(list)
    for edge in graph.edges:
        ways[edge.source].append(edge)
    for at, node in enumerate(graph.nodes):
        lines.append([(node.caption, "name")])
        for edge in ways[at]:
            back = " (back)" if edge.target <= at else ""
            route = f"    {edge.label} -> {graph.nodes[edge.target].caption}{back}"
            lines.append([(route, "taken" if edge.taken else "")])
    return [*lines, [(f"{len(lines) - len(graph.nodes)} of {len(graph.edges)} edges listed: {why}", "")]]


def draw(graph: Graph, label: Callable[[Edge], str]) -> tuple[list[Line], int]:
    """The picture of a graph whose edges carry these labels, and how many columns it takes."""
    laid = layout(graph, label)
    canvas = _Canvas()
    for box in laid.boxes:
        _paint_box(canvas, box, laid.left, laid.right)
    for way in sorted(laid.ways, key=lambda way: (way.side == DOWN, way.style)):
        column = laid.column(way)
        if way.side == DOWN:
            canvas.line([(way.row, column), (way.row + 1, column)], way.style)
            canvas.write(way.row, column + 2, way.label, way.style)
            canvas.write(way.row + 1, column, "▼", way.style)
        else:
            wall = laid.left if way.side == LEFT else laid.right
            _paint_lane(canvas, way, wall, column, laid.boxes[way.target].top + 1)
    return canvas.lines(), laid.columns


def _paint_box(canvas: _Canvas, box: Box, left: int, right: int) -> None:
    style = box.node.kind if box.node.kind in _BORDERS else ""
    corners = [(box.top, left), (box.top, right), (box.bottom, right), (box.bottom, left), (box.top, left)]
    canvas.line(corners, style)
    if style:
        for row in (box.top, box.bottom):
            canvas.write(row, left + 1, _BORDERS[style] * (right - left - 1), style)
    for at, line in enumerate(box.lines):
        canvas.write(box.top + 1 + at, left + 2, line, "" if at else "name")


def _paint_lane(canvas: _Canvas, way: Way, wall: int, column: int, row: int) -> None:
    """Paint a line from its box into the lane in that column, and to the target's ``row``."""
    beside = wall + way.side
    canvas.line([(way.row, wall), (way.row, column), (row, column), (row, beside)], way.style)
    canvas.write(row, beside, "◀" if way.side == RIGHT else "▶", way.style)
    label = f" {way.label} "
    canvas.write(way.row, wall + 2 if way.side == RIGHT else wall - 1 - cell_len(label), label, way.style)


class _Canvas:
    """Lines and words by row and column, each with a style; words lie over lines."""

    def __init__(self) -> None:
        self._sides: dict[int, dict[int, int]] = defaultdict(dict)
        self._words: dict[int, dict[int, tuple[str, str]]] = defaultdict(dict)
        self._styles: dict[Place, str] = {}

    def line(self, points: Sequence[Place], style: str) -> None:
        """A line through these points, each in the row or the column of the one before; it joins what it meets."""
        for (row, column), end in pairwise(points):
            down, across = _sign(end[0] - row), _sign(end[1] - column)
            while (row, column) != end:
                self._join(row, column, _SIDES[down, across], style)
                row, column = row + down, column + across
                self._join(row, column, _SIDES[-down, -across], style)

    def write(self, row: int, column: int, text: str, style: str) -> None:
        """Write a text, in place of one that begins in the same cell; no two may overlap otherwise."""
        self._words[row][column] = text, style

    def lines(self) -> list[Line]:
        """The rows from the first to the last."""
        return [self._line(row) for row in range(max([*self._sides, *self._words], default=-1) + 1)]

    def _line(self, row: int) -> Line:
        parts: Line = []
        column = 0
        end = max(self._sides[row], default=-1) + 1
        for start, (text, style) in sorted([*self._words[row].items(), (end, ("", ""))]):
            parts += [
                (_LINES.get(self._sides[row].get(at, 0), " "), self._styles.get((row, at), ""))
                for at in range(column, start)
            ]
            parts.append((text, style))
            column = max(column, start + cell_len(text))
        runs = groupby([part for part in parts if part[0]], key=lambda part: part[1])
        return [("".join(text for text, _ in run), style) for style, run in runs]

    def _join(self, row: int, column: int, side: int, style: str) -> None:
        self._sides[row][column] = self._sides[row].get(column, 0) | side
        if style:
            self._styles[row, column] = style


def _sign(number: int) -> int:
    return (number > 0) - (number < 0)
