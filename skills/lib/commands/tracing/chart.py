"""Places for a graph on a page: a column of boxes in order, jumps forward on the left, loops on the right.

One layer is one step. Every edge goes straight down to the next box or through a lane beside the boxes; edges to one
box share its lane, so a lane ends in one arrow. All numbers are pixels.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from rich.cells import cell_len, set_cell_size

from skills.lib.commands.console.screen import one_line
from skills.lib.commands.drawing.edges import Graph, Node
from skills.lib.commands.drawing.lanes import packed

# A cell of the page's 12 px monospaced type, a line of it, and what lies between lines that leave a box.
CELL, LINE, PORT = 7.3, 17, 22
PADDING, LANE, GAP, GAP_LABELLED, MARGIN = 12, 16, 22, 46, 8
WIDEST = 46
# How many turns a label names.
TURNS = 6


@dataclass(frozen=True)
class Label:
    """The outcome of one edge and the turns to which it led."""

    outcome: str
    turns: tuple[int, ...]

    @property
    def text(self) -> str:
        """The outcome, and after it the turns."""
        if not self.turns:
            return self.outcome
        named = ", ".join(str(turn) for turn in self.turns[:TURNS]) + (", …" if len(self.turns) > TURNS else "")
        return f"{self.outcome} ({named})"


@dataclass
class Way:
    """The edges of one pair of boxes as one line: its corners, its labels, and where those begin; on the left, end."""

    source: int
    target: int
    labels: list[Label]
    points: list[tuple[float, float]] = field(default_factory=list)
    text: tuple[float, float] = (0, 0)
    left: bool = False

    @property
    def taken(self) -> bool:
        """Whether the run went this way."""
        return any(label.turns for label in self.labels)

    @property
    def cells(self) -> int:
        """How wide its labels are."""
        return cell_len(", ".join(label.text for label in self.labels))


@dataclass
class Box:
    """A node with its lines of text, and where it stands."""

    node: Node
    lines: list[str]
    x: float = 0
    y: float = 0
    width: float = 0
    height: float = 0
    sides: tuple[list[Way], list[Way]] = field(default_factory=lambda: ([], []))
    entered: list[bool] = field(default_factory=lambda: [False, False])
    down: Way | None = None


@dataclass(frozen=True)
class Chart:
    """A graph with its places."""

    width: float
    height: float
    boxes: Sequence[Box]
    ways: Sequence[Way]


def lay_out(graph: Graph, turns: Mapping[tuple[str, str], Sequence[int]]) -> Chart:
    """Place a graph; ``turns`` has the turns to which each route led, by step and outcome."""
    boxes = [Box(node, _lines(node)) for node in graph.nodes]
    ways = _ways(graph, turns, boxes)
    width = max((cell_len(line) for box in boxes for line in box.lines), default=0) * CELL + 2 * PADDING
    below = max((box.down.cells for box in boxes if box.down), default=0) * CELL
    width = max(width, 2 * below + 2 * PADDING)
    _set_rows(boxes, ways)
    lanes = [_lanes(ways, left=True), _lanes(ways, left=False)]
    areas = [max((way.cells for box in boxes for way in box.sides[side]), default=0) * CELL for side in (0, 1)]
    spans = [(areas[side] + 2 * PADDING + LANE * _count(lanes[side])) if lanes[side] else 0 for side in (0, 1)]
    x = MARGIN + spans[0]
    for box in boxes:
        box.x, box.width = x, width
    for way in ways:
        _route(way, boxes, lanes, areas)
    height = boxes[-1].y + boxes[-1].height + MARGIN if boxes else 0
    return Chart(x + width + spans[1] + MARGIN, height, boxes, ways)


def _ways(graph: Graph, turns: Mapping[tuple[str, str], Sequence[int]], boxes: Sequence[Box]) -> list[Way]:
    found: dict[tuple[int, int], Way] = {}
    for edge in graph.edges:
        label = Label(edge.outcome, tuple(turns.get((graph.nodes[edge.source].key, edge.outcome), ())))
        way = found.get((edge.source, edge.target))
        if way is not None:
            way.labels.append(label)
            continue
        way = found[edge.source, edge.target] = Way(edge.source, edge.target, [label])
        if edge.target == edge.source + 1:
            boxes[edge.source].down = way
        else:
            way.left = edge.target > edge.source
            boxes[edge.source].sides[not way.left].append(way)
            boxes[edge.target].entered[not way.left] = True
    return list(found.values())


def _set_rows(boxes: Sequence[Box], ways: Sequence[Way]) -> None:
    """Set the height and the top of each box, and the row at which each way leaves."""
    y = float(MARGIN)
    for box in boxes:
        ports = max(len(box.sides[side]) + box.entered[side] for side in (0, 1))
        box.y, box.height = y, max(len(box.lines) * LINE, ports * PORT) + PADDING
        for side in (0, 1):
            for at, way in enumerate(box.sides[side]):
                way.text = (0, y + PADDING / 2 + PORT * (at + box.entered[side] + 0.5))
        y += box.height + (GAP_LABELLED if box.down else GAP)
    for way in ways:
        if way.target != way.source + 1:
            way.points = [(0, way.text[1]), (0, boxes[way.target].y + PADDING / 2 + PORT / 2)]


def _lanes(ways: Sequence[Way], left: bool) -> dict[int, int]:
    """The lane of each target on a side, the shortest nearest to the boxes; lanes of one number never meet."""
    spans: dict[int, list[float]] = {}
    for way in ways:
        if way.points and way.left is left:
            spans.setdefault(way.target, []).extend(y for _, y in way.points)
    return packed(spans)


def _route(way: Way, boxes: Sequence[Box], lanes: Sequence[Mapping[int, int]], areas: Sequence[float]) -> None:
    box, target = boxes[way.source], boxes[way.target]
    if not way.points:
        x = box.x + box.width / 2
        way.points = [(x, box.y + box.height), (x, target.y)]
        way.text = (x + PADDING, box.y + box.height + (target.y - box.y - box.height) / 2)
        return
    side, sign = (0, -1) if way.left else (1, 1)
    wall = box.x if way.left else box.x + box.width
    lane = wall + sign * (areas[side] + 2 * PADDING + LANE * lanes[side][way.target])
    (_, start), (_, end) = way.points
    way.points = [(wall, start), (lane, start), (lane, end), (wall, end)]
    way.text = (wall + sign * PADDING, start)


def _lines(node: Node) -> list[str]:
    tag = "" if node.kind in ("step", "end") else " (no such step)" if node.kind == "missing" else f" ({node.kind})"
    title = one_line(node.title)
    lines = [_fitted(node.label + tag)]
    if title and title.lower() != node.key.lower():
        lines.append(_fitted(title))
    return lines


def _fitted(text: str) -> str:
    return text if cell_len(text) <= WIDEST else set_cell_size(text, WIDEST - 1) + "…"


def _count(lanes: Mapping[int, int]) -> int:
    return max(lanes.values()) + 1 if lanes else 0
