"""A graph drawn for a terminal: boxes in one column, jumps forward on the left, loops on the right.

Every edge goes straight down to the next box, or through a lane beside the boxes. Edges to one box share its lane, so
a lane ends in one arrow; where two lines cross nothing branches. What would not fit is listed instead, never left out.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from rich.cells import cell_len, set_cell_size
from rich.text import Text

from skills.lib.commands.console.screen import one_line
from skills.lib.commands.drawing.canvas import Canvas
from skills.lib.commands.drawing.edges import Edge, Graph, Node
from skills.lib.commands.drawing.lanes import packed

# A drawing longer than this many boxes is not read as a picture any more.
MOST_NODES = 60
_WIDEST_TITLE = 44
_TAKEN = "bold green"
_KINDS = {"gate": ("━", "yellow"), "person": ("┅", "magenta"), "dispatch": ("═", "cyan")}
_LEFT, _RIGHT = 0, 1


@dataclass
class _Port:
    """Edges of one pair of boxes that leave on one side; ``row`` is where, once the rows are given."""

    source: int
    target: int
    edges: list[Edge]
    side: int
    row: int = 0

    @property
    def label(self) -> str:
        return ", ".join(edge.label for edge in self.edges)

    @property
    def style(self) -> str:
        return _TAKEN if any(edge.taken for edge in self.edges) else ""


@dataclass
class _Box:
    """A node with its lines and the rows at which lines come in and go out on either side."""

    lines: list[str]
    down: list[Edge] = field(default_factory=list)
    ports: tuple[list[_Port], list[_Port]] = field(default_factory=lambda: ([], []))
    entered: list[bool] = field(default_factory=lambda: [False, False])
    top: int = 0

    @property
    def height(self) -> int:
        sides = [len(self.ports[side]) + self.entered[side] for side in (_LEFT, _RIGHT)]
        return max(len(self.lines), *sides) + 2


def draw(graph: Graph, width: int, unicode: bool) -> list[Text]:
    """The lines of the drawing, or of a list where ``width`` or the number of boxes does not allow one."""
    if len(graph.nodes) > MOST_NODES:
        return listing(graph, f"{len(graph.nodes)} boxes are too many to draw")
    drawing = _Drawing(graph)
    if drawing.width > width:
        return listing(graph, f"a drawing would be {drawing.width} columns wide, and there are {width}")
    count = drawing.paint()
    return [*drawing.canvas.lines(unicode), Text(f"{count} of {len(graph.edges)} edges drawn")]


def listing(graph: Graph, why: str = "") -> list[Text]:
    """Every step with its routes, one to a line."""
    lines = []
    count = 0
    ways: dict[int, list[Edge]] = {}
    for edge in graph.edges:
        ways.setdefault(edge.source, []).append(edge)
    for at, node in enumerate(graph.nodes):
        lines.append(Text(_label(node), "bold"))
        for edge in ways.get(at, ()):
            back = " (back)" if edge.target <= at else ""
            lines.append(
                Text(f"    {edge.label} -> {_label(graph.nodes[edge.target])}{back}", _TAKEN if edge.taken else "")
            )
            count += 1
    end = f"{count} of {len(graph.edges)} edges listed" + (f": {why}" if why else "")
    return [*lines, Text(end)]


class _Drawing:
    """The places of boxes, ports and lanes, and the canvas on which they are painted."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.canvas = Canvas()
        self.boxes = [_Box(_lines(node)) for node in graph.nodes]
        self.ports: list[_Port] = []
        for edge in graph.edges:
            self._route(edge)
        self._set_rows()
        self.lanes = [self._lanes(side) for side in (_LEFT, _RIGHT)]
        # The label of an edge straight down stands right of the middle, and must not reach the lanes.
        below = max((cell_len(_joined(box.down)) for box in self.boxes), default=0)
        self.inner = max([2 * below + 2, *(cell_len(line) for box in self.boxes for line in box.lines)], default=4)
        self.areas = [self._area(side) for side in (_LEFT, _RIGHT)]
        self.left = self.areas[_LEFT] + _lane_width(self.lanes[_LEFT])
        self.right = self.left + self.inner + 3
        self.width = self.right + 1 + self.areas[_RIGHT] + _lane_width(self.lanes[_RIGHT])

    def paint(self) -> int:
        """Draw it all; the number of edges drawn."""
        count = 0
        for at, box in enumerate(self.boxes):
            self._paint_box(self.graph.nodes[at], box)
        for port in sorted(self.ports, key=lambda port: bool(port.style)):
            self._paint_port(port)
            count += len(port.edges)
        for at, box in enumerate(self.boxes):
            if box.down:
                self._paint_down(box, self.boxes[at + 1])
                count += len(box.down)
        return count

    def _route(self, edge: Edge) -> None:
        box = self.boxes[edge.source]
        if edge.target == edge.source + 1:
            box.down.append(edge)
            return
        side = _LEFT if edge.target > edge.source else _RIGHT
        for port in box.ports[side]:
            if port.target == edge.target:
                port.edges.append(edge)
                return
        port = _Port(edge.source, edge.target, [edge], side)
        box.ports[side].append(port)
        self.boxes[edge.target].entered[side] = True
        self.ports.append(port)

    def _set_rows(self) -> None:
        row = 0
        for box in self.boxes:
            box.top = row
            row += box.height + (2 if box.down else 1)
            for side in (_LEFT, _RIGHT):
                for at, port in enumerate(box.ports[side]):
                    port.row = box.top + 1 + box.entered[side] + at

    def _lanes(self, side: int) -> dict[int, int]:
        """The lane of each target on a side, the shortest nearest to the boxes; lanes of one number never meet."""
        spans: dict[int, list[int]] = {}
        for port in self.ports:
            if port.side == side:
                spans.setdefault(port.target, [self.boxes[port.target].top + 1]).append(port.row)
        return packed(spans)

    def _area(self, side: int) -> int:
        """The columns between the boxes and the first lane: room for the longest label."""
        labels = [cell_len(port.label) for port in self.ports if port.side == side]
        return max(labels) + 4 if labels else 0

    def _column(self, port: _Port) -> int:
        lane = self.lanes[port.side][port.target]
        if port.side == _RIGHT:
            return self.right + self.areas[_RIGHT] + 1 + 2 * lane
        return self.left - self.areas[_LEFT] - 1 - 2 * lane

    def _paint_box(self, node: Node, box: _Box) -> None:
        border, style = _KINDS.get(node.kind, ("", ""))
        self.canvas.box(box.top, self.left, box.height, self.inner + 4, style)
        if border:
            for row in (box.top, box.top + box.height - 1):
                self.canvas.write(row, self.left + 1, border * (self.inner + 2), style)
        for at, line in enumerate(box.lines):
            self.canvas.write(box.top + 1 + at, self.left + 2, line, "" if at else "bold")

    def _paint_port(self, port: _Port) -> None:
        column, target = self._column(port), self.boxes[port.target].top + 1
        wall = self.right if port.side == _RIGHT else self.left
        beside = wall + (1 if port.side == _RIGHT else -1)
        self.canvas.across(port.row, wall, column, port.style)
        self.canvas.across(target, beside, column, port.style)
        self.canvas.down(column, port.row, target, port.style)
        self.canvas.write(target, beside, "◀" if port.side == _RIGHT else "▶", port.style)
        label = f" {port.label} "
        start = wall + 2 if port.side == _RIGHT else wall - 1 - cell_len(label)
        self.canvas.write(port.row, start, label, port.style)

    def _paint_down(self, box: _Box, below: _Box) -> None:
        column = self.left + (self.inner + 4) // 2
        style = _TAKEN if any(edge.taken for edge in box.down) else ""
        last = box.top + box.height - 1
        self.canvas.down(column, last + 1, last + 2, style)
        self.canvas.write(last + 1, column + 2, _joined(box.down), style)
        self.canvas.write(last + 2, column, "▼", style)


def _lines(node: Node) -> list[str]:
    lines = [_label(node)]
    title = one_line(node.title)
    if title and title.lower() != node.key.lower():
        lines.append(title if cell_len(title) <= _WIDEST_TITLE else set_cell_size(title, _WIDEST_TITLE - 1) + "…")
    return lines


def _label(node: Node) -> str:
    tag = f" ({node.kind})" if node.kind in _KINDS else " (no such step)" if node.kind == "missing" else ""
    return node.label + tag


def _joined(edges: list[Edge]) -> str:
    return ", ".join(edge.label for edge in edges)


def _lane_width(lanes: dict[int, int]) -> int:
    return 2 * (max(lanes.values()) + 1) if lanes else 0
