"""Places for a graph, in cells of a grid: boxes in one column, jumps forward on the left, loops on the right.

Every edge goes straight down to the next box, or through a lane beside the boxes. Edges to one box share its lane, so
a lane ends in one arrow. Two lines that cross are no branch.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from rich.cells import cell_len, set_cell_size

from skills.lib.commands.console.screen import one_line
from skills.lib.commands.drawing.edges import KINDS, Edge, Graph, Node

LEFT, RIGHT = 0, 1
_WIDEST_TITLE = 44


@dataclass
class Way:
    """The edges of one pair of boxes as one line.

    ``side`` is None for a line straight down. ``row`` is where a line through a lane leaves its box, or where the label
    of a line straight down stands; ``column`` is that of the upright part.
    """

    source: int
    target: int
    side: int | None
    edges: list[Edge] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)
    row: int = 0
    column: int = 0

    @property
    def label(self) -> str:
        """The labels of all edges."""
        return ", ".join(self.labels)

    @property
    def taken(self) -> bool:
        """True if the run went this way."""
        return any(edge.taken for edge in self.edges)


@dataclass
class Box:
    """A node with its lines of text, the lines that leave it, and on which sides a line comes in."""

    node: Node
    lines: list[str]
    top: int = 0
    down: Way | None = None
    ports: tuple[list[Way], list[Way]] = field(default_factory=lambda: ([], []))
    entered: list[bool] = field(default_factory=lambda: [False, False])

    @property
    def height(self) -> int:
        """The rows, with the upper and the lower border."""
        sides = [len(self.ports[side]) + self.entered[side] for side in (LEFT, RIGHT)]
        return max(len(self.lines), *sides) + 2


@dataclass(frozen=True)
class Layout:
    """A graph with its places: all boxes stand between the columns ``left`` and ``right``."""

    boxes: Sequence[Box]
    ways: Sequence[Way]
    left: int
    right: int
    width: int


def lay_out(graph: Graph, label: Callable[[Edge], str]) -> Layout:
    """Return the places of a graph whose edges carry these labels."""
    boxes = [Box(node, _lines(node)) for node in graph.nodes]
    ways = _ways(graph, boxes, label)
    _set_rows(boxes)
    lanes = [_lanes(ways, boxes, side) for side in (LEFT, RIGHT)]
    areas = [_area(ways, side) for side in (LEFT, RIGHT)]
    # The label of an edge straight down stands right of the middle, and must not reach the lanes.
    below = max((cell_len(box.down.label) for box in boxes if box.down), default=0)
    inner = max([2 * below + 2, *(cell_len(line) for box in boxes for line in box.lines)])
    left = areas[LEFT] + _lane_width(lanes[LEFT])
    right = left + inner + 3
    for way in ways:
        if way.side == RIGHT:
            way.column = right + areas[RIGHT] + 1 + 2 * lanes[RIGHT][way.target]
        elif way.side == LEFT:
            way.column = left - areas[LEFT] - 1 - 2 * lanes[LEFT][way.target]
        else:
            way.column = left + (inner + 4) // 2
    return Layout(boxes, ways, left, right, right + 1 + areas[RIGHT] + _lane_width(lanes[RIGHT]))


def node_label(node: Node) -> str:
    """The number and the id of a node, and what kind of step it is if that is no ordinary one."""
    tag = f" ({node.kind})" if node.kind in KINDS else " (no such step)" if node.kind == "missing" else ""
    return node.label + tag


def _ways(graph: Graph, boxes: Sequence[Box], label: Callable[[Edge], str]) -> list[Way]:
    found: dict[tuple[int, int], Way] = {}
    for edge in graph.edges:
        pair = edge.source, edge.target
        if pair not in found:
            found[pair] = _connected(Way(*pair, None), boxes)
        found[pair].edges.append(edge)
        found[pair].labels.append(label(edge))
    return list(found.values())


def _connected(way: Way, boxes: Sequence[Box]) -> Way:
    """The way, entered at both of its boxes."""
    source, target = boxes[way.source], boxes[way.target]
    if way.target == way.source + 1:
        source.down = way
    else:
        way.side = LEFT if way.target > way.source else RIGHT
        source.ports[way.side].append(way)
        target.entered[way.side] = True
    return way


def _set_rows(boxes: Sequence[Box]) -> None:
    row = 0
    for box in boxes:
        box.top = row
        row += box.height + (2 if box.down else 1)
        if box.down:
            box.down.row = box.top + box.height
        for side in (LEFT, RIGHT):
            for at, way in enumerate(box.ports[side]):
                way.row = box.top + 1 + box.entered[side] + at


def _lanes(ways: Sequence[Way], boxes: Sequence[Box], side: int) -> dict[int, int]:
    """The lane of each target on a side, the shortest nearest to the boxes; lines in one lane never meet."""
    spans: dict[int, list[int]] = {}
    for way in ways:
        if way.side == side:
            spans.setdefault(way.target, [boxes[way.target].top + 1]).append(way.row)
    lanes: dict[int, int] = {}
    filled: list[list[tuple[int, int]]] = []
    for target, rows in sorted(spans.items(), key=lambda pair: max(pair[1]) - min(pair[1])):
        first, last = min(rows), max(rows)
        free = (at for at, lane in enumerate(filled) if all(last < low or first > high for low, high in lane))
        at = next(free, len(filled))
        if at == len(filled):
            filled.append([])
        filled[at].append((first, last))
        lanes[target] = at
    return lanes


def _area(ways: Sequence[Way], side: int) -> int:
    """The columns between the boxes and the first lane: room for the longest label."""
    labels = [cell_len(way.label) for way in ways if way.side == side]
    return max(labels) + 4 if labels else 0


def _lane_width(lanes: Mapping[int, int]) -> int:
    return 2 * (max(lanes.values()) + 1) if lanes else 0


def _lines(node: Node) -> list[str]:
    lines = [node_label(node)]
    title = one_line(node.title)
    if title and title.lower() != node.key.lower():
        lines.append(title if cell_len(title) <= _WIDEST_TITLE else set_cell_size(title, _WIDEST_TITLE - 1) + "…")
    return lines
