"""A graph as a picture of characters: boxes in one column, jumps forward on the left, loops on the right.

Every edge goes straight down to the next box, or through a lane beside the boxes. Edges to one box share its lane, so
a lane ends in one arrow. Two lines that cross are no branch.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise

import networkx as nx
from rich.cells import cell_len, set_cell_size
from rich.text import Text

from skills.lib.commands.console.screen import TIMES, one_line
from skills.lib.commands.drawing.edges import Edge, Graph, Node

# A picture of more boxes than this is not read as a picture any more.
MOST_NODES = 60
_WIDEST_TITLE = 44
# The side on which a line leaves its box; DOWN leads straight to the next one.
LEFT, DOWN, RIGHT = -1, 0, 1
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


@dataclass
class _Way:
    """The edges from one box to another as one line.

    ``row`` is where the line leaves its box, or where the label of a line straight down stands.
    """

    source: int
    target: int
    label: str
    style: str
    row: int = 0

    @property
    def side(self) -> int:
        """The side on which the line leaves."""
        if self.target == self.source + 1:
            return DOWN
        return LEFT if self.target > self.source else RIGHT


@dataclass
class _Box:
    """A node with its lines of text, and the rows of its borders."""

    node: Node
    lines: list[str]
    top: int
    bottom: int = 0


def draw(graph: Graph, label: Callable[[Edge], str]) -> tuple[list[Line], int]:
    """The picture of a graph whose edges carry these labels, and how many columns it takes."""
    ways = _ways(graph, label)
    boxes = _boxes(graph, ways)
    lanes = {side: _lanes([way for way in ways if way.side == side], boxes) for side in (LEFT, RIGHT)}
    # The label of an edge straight down stands right of the middle, and must not reach the lanes.
    below = max((cell_len(way.label) for way in ways if way.side == DOWN), default=0)
    inner = max([2 * below + 2, *(cell_len(line) for box in boxes for line in box.lines)])
    left = max(lanes[LEFT].values(), default=-1) + 1
    right = left + inner + 3
    canvas = _Canvas()
    for box in boxes:
        _paint_box(canvas, box, left, right)
    for way in sorted(ways, key=lambda way: (way.side == DOWN, way.style)):
        if way.side == DOWN:
            column = left + (inner + 4) // 2
            canvas.line([(way.row, column), (way.row + 1, column)], way.style)
            canvas.write(way.row, column + 2, way.label, way.style)
            canvas.write(way.row + 1, column, "▼", way.style)
        else:
            wall = left if way.side == LEFT else right
            _paint_lane(canvas, way, wall, lanes[way.side][way.target], boxes[way.target].top + 1)
    return canvas.lines(), right + max(lanes[RIGHT].values(), default=-1) + 2


def _ways(graph: Graph, label: Callable[[Edge], str]) -> list[_Way]:
    """One way for the edges of each pair of nodes."""
    pairs: dict[Place, list[Edge]] = defaultdict(list)
    for edge in graph.edges:
        pairs[edge.source, edge.target].append(edge)
    return [
        _Way(*pair, ", ".join(map(label, edges)), "taken" if any(edge.taken for edge in edges) else "")
        for pair, edges in pairs.items()
    ]


def _boxes(graph: Graph, ways: Iterable[_Way]) -> list[_Box]:
    """The box of each node, one below the other; sets the row of each way."""
    entered = {(way.target, way.side) for way in ways}
    leaving: dict[int, list[_Way]] = defaultdict(list)
    for way in ways:
        leaving[way.source].append(way)
    boxes: list[_Box] = []
    top = 0
    for at, node in enumerate(graph.nodes):
        box = _Box(node, _text_of(node), top)
        # The row of the next line on each side: a line that comes in takes the first one.
        free = {side: top + 1 + ((at, side) in entered) for side in (LEFT, RIGHT)}
        for way in leaving[at]:
            if way.side != DOWN:
                way.row = free[way.side]
                free[way.side] += 1
        box.bottom = max(top + 1 + len(box.lines), *free.values())
        top = box.bottom + 2
        for way in leaving[at]:
            if way.side == DOWN:
                way.row = box.bottom + 1
                top = box.bottom + 3
        boxes.append(box)
    return boxes


def _text_of(node: Node) -> list[str]:
    title = one_line(node.title)
    if not title or title.lower() == node.key.lower():
        return [node.caption]
    return [node.caption, title if cell_len(title) <= _WIDEST_TITLE else set_cell_size(title, _WIDEST_TITLE - 1) + "…"]


def _lanes(ways: Sequence[_Way], boxes: Sequence[_Box]) -> Mapping[int, int]:
    """How far from the boxes the lane to each target is: beyond the longest label, the shortest lane nearest.

    Lines in one lane never meet.
    """
    rows: dict[int, list[int]] = defaultdict(list)
    for way in ways:
        rows[way.target] += [boxes[way.target].top + 1, way.row]
    spans = {target: (min(found), max(found)) for target, found in rows.items()}
    lane = nx.greedy_color(
        nx.interval_graph(spans.values()),
        strategy=lambda met, _: sorted(met, key=lambda span: span[1] - span[0]),
    )
    label = max((cell_len(way.label) for way in ways), default=0)
    return {target: label + 5 + 2 * lane[span] for target, span in spans.items()}


def _paint_box(canvas: _Canvas, box: _Box, left: int, right: int) -> None:
    style = box.node.kind if box.node.kind in _BORDERS else ""
    corners = [(box.top, left), (box.top, right), (box.bottom, right), (box.bottom, left), (box.top, left)]
    canvas.line(corners, style)
    if style:
        for row in (box.top, box.bottom):
            canvas.write(row, left + 1, _BORDERS[style] * (right - left - 1), style)
    for at, line in enumerate(box.lines):
        canvas.write(box.top + 1 + at, left + 2, line, "" if at else "name")


def _paint_lane(canvas: _Canvas, way: _Way, wall: int, distance: int, row: int) -> None:
    """Paint a line from its box into the lane at that distance, and to the target's ``row``."""
    column, beside = wall + way.side * distance, wall + way.side
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
