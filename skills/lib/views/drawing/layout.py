"""Where the boxes and lines of a drawing stand: boxes in one column, jumps forward on the left, loops on the right.

Every edge goes straight down to the next box, or through a lane beside the boxes. Edges to one box share its lane, so
a lane ends in one arrow. Rows and columns are those of characters.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import networkx as nx
from rich.cells import cell_len, set_cell_size

from skills.lib.clean_text import one_line
from skills.lib.field_checks import EMPTY
from skills.lib.views.drawing.edges import Edge, Graph, Node

_WIDEST_TITLE = 44
# The outcomes by which a line of several edges is known, the first before the next.
_SEEN = ("fail", "iterate", "stale", "skip")
# The side on which a line leaves its box; DOWN leads straight to the next one.
LEFT, DOWN, RIGHT = -1, 0, 1


@dataclass
class Way:
    """The edges from one box to another as one line.

    ``row`` is where the line leaves its box, or where the label of a line straight down stands. ``outcome`` is that of
    its edges which most wants to be seen.
    """

    source: int
    target: int
    label: str
    style: str
    row: int = 0
    outcome: str = ""

    @property
    def side(self) -> int:
        """The side on which the line leaves."""
        if self.target == self.source + 1:
            return DOWN
        return LEFT if self.target > self.source else RIGHT


@dataclass
class Box:
    """A node with its lines of text, and the rows of its borders."""

    node: Node
    lines: list[str]
    top: int
    bottom: int = 0


@dataclass
class Layout:
    """A drawing in rows and columns: the boxes between the columns ``left`` and ``right``, the lines, the lanes.

    ``lanes`` has the distance of each lane from the boxes, by its side and the number of the box that it leads to.
    """

    boxes: list[Box]
    ways: list[Way]
    lanes: Mapping[int, Mapping[int, int]]
    left: int
    right: int

    @property
    def columns(self) -> int:
        """How many columns the drawing takes."""
        return self.right + max(self.lanes[RIGHT].values(), default=-1) + 2

    def column(self, way: Way) -> int:
        """The column in which a line goes up or down."""
        if way.side == DOWN:
            return self.left + (self.right - self.left + 1) // 2
        return (self.left if way.side == LEFT else self.right) + way.side * self.lanes[way.side][way.target]


def layout(graph: Graph, label: Callable[[Edge], str], notes: Mapping[str, str] = EMPTY) -> Layout:
    """The layout of a graph whose edges carry these labels, and whose boxes these notes, by the keys of the nodes."""
    ways = _ways(graph, label)
    boxes = _boxes(graph, ways, notes)
    lanes = {side: _lanes([way for way in ways if way.side == side], boxes) for side in (LEFT, RIGHT)}
    # The label of an edge straight down stands right of the middle, and must not reach the lanes.
    below = max((cell_len(way.label) for way in ways if way.side == DOWN), default=0)
    inner = max([2 * below + 2, *(cell_len(line) for box in boxes for line in box.lines)])
    left = max(lanes[LEFT].values(), default=-1) + 1
    return Layout(boxes, ways, lanes, left, left + inner + 3)


def _ways(graph: Graph, label: Callable[[Edge], str]) -> list[Way]:
    """One way for the edges of each pair of nodes."""
    pairs: dict[tuple[int, int], list[Edge]] = defaultdict(list)
    for edge in graph.edges:
        pairs[edge.source, edge.target].append(edge)
    return [
        Way(
            *pair,
            ", ".join(map(label, edges)),
            "taken" if any(edge.taken for edge in edges) else "",
            outcome=min((edge.outcome for edge in edges), key=lambda name: _SEEN.index(name) if name in _SEEN else 9),
        )
        for pair, edges in pairs.items()
    ]


def _boxes(graph: Graph, ways: Iterable[Way], notes: Mapping[str, str]) -> list[Box]:
    """The box of each node, one below the other; sets the row of each way."""
    entered = {(way.target, way.side) for way in ways}
    leaving: dict[int, list[Way]] = defaultdict(list)
    for way in ways:
        leaving[way.source].append(way)
    boxes: list[Box] = []
    top = 0
    for at, node in enumerate(graph.nodes):
        box = Box(node, _text_of(node) + ([notes[node.key]] if node.key in notes else []), top)
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


def _lanes(ways: Sequence[Way], boxes: Sequence[Box]) -> Mapping[int, int]:
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
