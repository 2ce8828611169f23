"""A graph drawn for a terminal. What would not fit is listed instead, never left out."""

from __future__ import annotations

from rich.cells import cell_len
from rich.text import Text

from skills.lib.commands.drawing.canvas import Canvas
from skills.lib.commands.drawing.edges import Edge, Graph
from skills.lib.commands.drawing.layout import RIGHT, Box, Layout, Way, lay_out, node_label

# A drawing longer than this many boxes is not read as a picture any more.
MOST_NODES = 60
_TAKEN = "bold green"
_BORDERS = {"gate": ("━", "yellow"), "person": ("┅", "magenta"), "dispatch": ("═", "cyan")}


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
