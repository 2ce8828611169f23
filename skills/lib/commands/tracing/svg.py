"""A graph as inline SVG, whose colours are the page's. A cell of the layout is one character of the page's type."""

from __future__ import annotations

from lxml import html

from skills.lib.commands.drawing.edges import Edge, Graph
from skills.lib.commands.drawing.layout import LEFT, Box, Layout, Way, lay_out
from skills.lib.commands.tracing.markup import el

# The pixels of a cell of 12 px monospaced type, the radius of a corner, and half the length of an arrow's head.
CELL, LINE, _ROUND, _HEAD = 7.3, 18, 6, 5
# A label stands above its line, and beside one that leads straight down.
_ABOVE, _BESIDE = -4, 4
# How many turns a label names.
TURNS = 6

Point = tuple[float, float]


def drawn(graph: Graph, trail: str) -> html.HtmlElement:
    """The picture; a screen reader is given the trail, which says the way in words."""
    placed = lay_out(graph, _label)
    last = placed.boxes[-1]
    width, height = round(placed.width * CELL), (last.top + last.height) * LINE
    picture = el(
        "svg",
        el("title", f"The graph of {graph.name}, with the way that the run took"),
        el("desc", trail),
        [_way(way, placed) for way in sorted(placed.ways, key=lambda way: way.taken)],
        [_box(box, placed) for box in placed.boxes],
        viewBox=f"0 0 {width} {height}",
        width=width,
        height=height,
        role="img",
    )
    return el("div", picture, class_="wide")


def _label(edge: Edge) -> str:
    """The outcome, and after it the turns to which it led."""
    if not edge.turns:
        return edge.outcome
    named = ", ".join(str(turn) for turn in edge.turns[:TURNS]) + (", …" if edge.taken > TURNS else "")
    return f"{edge.outcome} ({named})"


def _way(way: Way, placed: Layout) -> html.HtmlElement:
    points = _points(way, placed)
    line = el("path", d=_path(points), class_="line")
    head = el("path", d=_head(way.side, *points[-1]), class_="head")
    commas = [", "] * (len(way.labels) - 1) + [""]
    spans = [
        el("tspan", label + comma, class_="on" if edge.taken else None)
        for edge, label, comma in zip(way.edges, way.labels, commas, strict=True)
    ]
    if way.side is None:
        text = el("text", spans, x=_x(way.column + 2), y=_y(way.row) + _BESIDE)
    else:
        begin = points[0][0] + (-2 if way.side == LEFT else 2) * CELL
        anchor = "end" if way.side == LEFT else None
        text = el("text", spans, x=_number(begin), y=_y(way.row) + _ABOVE, text_anchor=anchor)
    return el("g", line, head, text, class_="taken" if way.taken else "way")


def _points(way: Way, placed: Layout) -> list[Point]:
    """The corners of a way, from its box to the tip of its arrow."""
    target = placed.boxes[way.target]
    column = _x(way.column)
    if way.side is None:
        return [(column, _y(way.row - 1)), (column, _y(target.top))]
    wall = _x(placed.left if way.side == LEFT else placed.right)
    end = _y(target.top + 1)
    return [(wall, _y(way.row)), (column, _y(way.row)), (column, end), (wall, end)]


def _box(box: Box, placed: Layout) -> html.HtmlElement:
    left, top = _x(placed.left), _y(box.top)
    width, height = _number(_x(placed.right) - left), (box.height - 1) * LINE
    corner = height / 2 if box.node.kind == "end" else 4
    border = el("rect", x=left, y=top, width=width, height=height, rx=_number(corner))
    middle = _number((left + _x(placed.right)) / 2)
    first = top + (height - LINE * len(box.lines)) / 2 + LINE - _BESIDE
    texts = [
        el(
            "text",
            line,
            x=middle,
            y=_number(first + LINE * at),
            class_=None if at else "name",
            text_anchor="middle",
        )
        for at, line in enumerate(box.lines)
    ]
    return el("g", border, texts, class_=f"box {box.node.kind}")


def _path(points: list[Point]) -> str:
    """A line through the points, its corners rounded."""
    parts = [f"M{_pair(points[0])}"]
    for before, corner, after in zip(points, points[1:], points[2:], strict=False):
        parts.append(f"L{_pair(_toward(corner, before))}Q{_pair(corner)} {_pair(_toward(corner, after))}")
    return "".join([*parts, f"L{_pair(points[-1])}"])


def _toward(corner: Point, other: Point) -> Point:
    """The point on the way from a corner to another point where the rounding begins."""
    across, down = other[0] - corner[0], other[1] - corner[1]
    length = max(abs(across) + abs(down), 1)
    reach = min(_ROUND, length / 2)
    return corner[0] + across / length * reach, corner[1] + down / length * reach


def _head(side: int | None, x: float, y: float) -> str:
    """The arrow that ends at a point."""
    if side is None:
        return f"M{_pair((x - _HEAD, y - 2 * _HEAD))}L{_pair((x + _HEAD, y - 2 * _HEAD))}L{_pair((x, y))}Z"
    back = x - 2 * _HEAD if side == LEFT else x + 2 * _HEAD
    return f"M{_pair((back, y - _HEAD))}L{_pair((back, y + _HEAD))}L{_pair((x, y))}Z"


def _x(column: float) -> float:
    """The middle of a column."""
    return round((column + 0.5) * CELL, 1)


def _y(row: int) -> int:
    """The middle of a row."""
    return row * LINE + LINE // 2


def _pair(point: Point) -> str:
    return f"{_number(point[0])} {_number(point[1])}"


def _number(given: float) -> str:
    return f"{given:.1f}".removesuffix(".0")
