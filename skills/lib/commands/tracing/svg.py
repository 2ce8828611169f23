"""A chart as inline SVG, whose colours are the page's."""

from __future__ import annotations

from lxml import html

from skills.lib.commands.tracing.chart import LINE, PADDING, Box, Chart, Way
from skills.lib.commands.tracing.markup import el

_ROUND, _HEAD = 6, 5


def drawn(chart: Chart, name: str, trail: str) -> html.HtmlElement:
    """The picture; a screen reader is given the trail, which says the way in words."""
    width, height = round(chart.width), round(chart.height)
    picture = el("svg", viewBox=f"0 0 {width} {height}", width=width, height=height, role="img")
    picture.append(el("title", f"The graph of {name}, with the way that the run took"))
    picture.append(el("desc", trail))
    for way in sorted(chart.ways, key=lambda way: way.taken):
        picture.append(_way(way))
    for box in chart.boxes:
        picture.append(_box(box))
    return el("div", picture, class_="wide")


def _way(way: Way) -> html.HtmlElement:
    group = el("g", class_="taken" if way.taken else "way")
    group.append(el("path", d=_path(way.points), class_="line"))
    group.append(el("path", d=_head(way), class_="head"))
    x, y = way.text
    text = el("text", x=_number(x), y=_number(y - 4 if len(way.points) > 2 else y + 4))
    if way.left:
        text.set("text-anchor", "end")
    for at, label in enumerate(way.labels):
        comma = ", " if at + 1 < len(way.labels) else ""
        text.append(el("tspan", label.text + comma, class_="on" if label.turns else None))
    group.append(text)
    return group


def _box(box: Box) -> html.HtmlElement:
    group = el("g", class_=f"box {box.node.kind}")
    corner = box.height / 2 if box.node.kind == "end" else 4
    group.append(
        el(
            "rect",
            x=_number(box.x),
            y=_number(box.y),
            width=_number(box.width),
            height=_number(box.height),
            rx=_number(corner),
        )
    )
    top = box.y + (box.height - LINE * len(box.lines)) / 2 + LINE - PADDING / 3
    for at, line in enumerate(box.lines):
        middle = _number(box.x + box.width / 2)
        text = el("text", line, x=middle, y=_number(top + LINE * at), class_="name" if not at else None)
        text.set("text-anchor", "middle")
        group.append(text)
    return group


def _path(points: list[tuple[float, float]]) -> str:
    """A line through the points, its corners rounded."""
    parts = [f"M{_pair(points[0])}"]
    for before, corner, after in zip(points, points[1:], points[2:], strict=False):
        parts.append(f"L{_pair(_toward(corner, before))}Q{_pair(corner)} {_pair(_toward(corner, after))}")
    return "".join([*parts, f"L{_pair(points[-1])}"])


def _toward(corner: tuple[float, float], other: tuple[float, float]) -> tuple[float, float]:
    """The point on the way from a corner to another point where the rounding begins."""
    across, down = other[0] - corner[0], other[1] - corner[1]
    length = max(abs(across) + abs(down), 1)
    reach = min(_ROUND, length / 2)
    return corner[0] + across / length * reach, corner[1] + down / length * reach


def _head(way: Way) -> str:
    """The arrow at the end of a way."""
    x, y = way.points[-1]
    if len(way.points) == 2:
        return f"M{_pair((x - _HEAD, y - 2 * _HEAD))}L{_pair((x + _HEAD, y - 2 * _HEAD))}L{_pair((x, y))}Z"
    back = x - 2 * _HEAD if way.left else x + 2 * _HEAD
    return f"M{_pair((back, y - _HEAD))}L{_pair((back, y + _HEAD))}L{_pair((x, y))}Z"


def _pair(point: tuple[float, float]) -> str:
    return f"{_number(point[0])} {_number(point[1])}"


def _number(given: float) -> str:
    return f"{given:.1f}".removesuffix(".0")
