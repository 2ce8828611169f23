"""A graph as SVG, by the same layout as the picture of characters: nothing else has to be installed."""

from __future__ import annotations

from collections.abc import Mapping

from lxml import etree
from rich.cells import cell_len

from skills.lib.clean_text import in_xml
from skills.lib.field_checks import EMPTY
from skills.lib.views.drawing.edges import Graph
from skills.lib.views.drawing.layout import DOWN, LEFT, Box, Layout, Way, layout

_NAMESPACE = "http://www.w3.org/2000/svg"
# The size of a character's cell, the margin and the corner of a line, in pixels.
_WIDE, _HIGH, _MARGIN, _CORNER = 8.0, 20.0, 16.0, 8.0
# How far below the middle of a row the foot of its text is.
_FOOT = 4.5
_STYLE = """
svg { background: #fff; color: #1f2328; font: 13px ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
rect { fill: #f6f8fa; stroke: #59636e; stroke-width: 1.2; }
.gate rect { fill: #fff8c5; stroke: #9a6700; stroke-width: 2.4; }
.person rect { fill: #fbefff; stroke: #8250df; stroke-dasharray: 5 3; }
.dispatch rect { fill: #ddf4ff; stroke: #0969da; stroke-width: 2.4; }
.missing rect { fill: #ffebe9; stroke: #cf222e; stroke-dasharray: 2 3; }
text { fill: currentColor; white-space: pre; }
.name { font-weight: 600; }
path { fill: none; stroke: #59636e; stroke-width: 1.2; }
marker path { fill: #59636e; stroke: none; }
.halo { fill: #fff; stroke: none; }
.taken path { stroke: #1a7f37; stroke-width: 2.6; }
.taken text { fill: #1a7f37; font-weight: 600; }
marker.taken path { fill: #1a7f37; }
.taken.fail path { stroke: #cf222e; } .taken.fail text, marker.fail path { fill: #cf222e; }
.taken.iterate path { stroke: #9a6700; } .taken.iterate text, marker.iterate path { fill: #9a6700; }
@media (prefers-color-scheme: dark) {
  svg { background: #0d1117; color: #f0f6fc; }
  rect { fill: #151b23; stroke: #9198a1; }
  .gate rect { fill: #2b230a; stroke: #d29922; }
  .person rect { fill: #271a3d; stroke: #ab7df8; }
  .dispatch rect { fill: #0c2d4d; stroke: #4493f8; }
  .missing rect { fill: #3a1214; stroke: #f85149; }
  path { stroke: #9198a1; }
  marker path { fill: #9198a1; }
  .halo { fill: #0d1117; }
  .taken path { stroke: #3fb950; }
  .taken text, marker.taken path { fill: #3fb950; }
  .taken.fail path { stroke: #f85149; } .taken.fail text, marker.fail path { fill: #f85149; }
  .taken.iterate path { stroke: #d29922; } .taken.iterate text, marker.iterate path { fill: #d29922; }
}
"""


def svg(graph: Graph) -> str:
    """The text of an SVG file; taken edges are set off and carry their count."""
    drawing = _drawing(layout(graph, lambda edge: edge.label), graph, {}, None, "")
    drawing.insert(1, _element("style", {}, _STYLE))
    return etree.tostring(drawing, encoding="unicode", pretty_print=True)


def on_page(
    graph: Graph,
    links: Mapping[str, str] = EMPTY,
    here: str | None = None,
    notes: Mapping[str, str] = EMPTY,
    prefix: str = "",
) -> str:
    """The drawing as a part of a page, whose style sheet colours it.

    ``links`` and ``notes`` have where the box of a step leads and a line of text for it, by its id; ``here`` is the
    step that a run is at. ``prefix`` sets the ids of several drawings apart.
    """
    laid = layout(graph, lambda edge: edge.label, notes)
    drawing = _drawing(laid, graph, links, here, prefix)
    drawing.set("class", "drawing")
    return etree.tostring(drawing, encoding="unicode")


def _drawing(laid: Layout, graph: Graph, links: Mapping[str, str], here: str | None, prefix: str) -> etree._Element:
    width = laid.columns * _WIDE + 2 * _MARGIN
    height = (max((box.bottom for box in laid.boxes), default=0) + 1) * _HIGH + 2 * _MARGIN
    size = {"viewBox": f"0 0 {width:g} {height:g}", "width": f"{width:g}", "height": f"{height:g}"}
    return _element(
        "svg",
        {**size, "role": "group" if links else "img"},
        _element("title", {}, f"{graph.title or graph.name}: {len(graph.edges)} of {len(graph.edges)} edges drawn"),
        _element("defs", {}, *[_arrow(style, prefix) for style in ("", "taken", "fail", "iterate")]),
        *[_line(laid, way, prefix) for way in sorted(laid.ways, key=lambda way: way.style)],
        *[_linked(_box(laid, box, here), box, links) for box in laid.boxes],
        *[_label(laid, way) for way in laid.ways],
    )


def _element(tag: str, attributes: dict[str, str], *children: etree._Element | str) -> etree._Element:
    """An element with its text made harmless, or with its children."""
    made = etree.Element(f"{{{_NAMESPACE}}}{tag}", attributes, nsmap={None: _NAMESPACE})  # type: ignore[dict-item]
    for child in children:
        if isinstance(child, str):
            made.text = in_xml(child)
        else:
            made.append(child)
    return made


def _arrow(style: str, prefix: str) -> etree._Element:
    shape = {"viewBox": "0 0 10 10", "refX": "9", "refY": "5", "markerWidth": "9", "markerHeight": "9"}
    about = {"id": f"{prefix}arrow{style}", "markerUnits": "userSpaceOnUse", "orient": "auto", **_class(style)}
    return _element("marker", {**shape, **about}, _element("path", {"d": "M0 0 10 5 0 10z"}))


def _linked(drawn: etree._Element, box: Box, links: Mapping[str, str]) -> etree._Element:
    """The box as a link, if it has one."""
    if box.node.key not in links:
        return drawn
    return _element("a", {"href": links[box.node.key]}, drawn)


def _box(laid: Layout, box: Box, here: str | None) -> etree._Element:
    left, high = _x(laid.left), (box.bottom - box.top) * _HIGH
    size = {"width": f"{_x(laid.right) - left:g}", "height": f"{high:g}"}
    round_by = high / 2 if box.node.kind == "end" else 6
    rect = _element("rect", {"x": f"{left:g}", "y": f"{_y(box.top):g}", **size, "rx": f"{round_by:g}"})
    lines = [
        _text(line, left + 1.5 * _WIDE, box.top + 1 + at, _class("" if at else "name"))
        for at, line in enumerate(box.lines)
    ]
    is_here = here is not None and box.node.key == here
    return _element("g", _class("box", box.node.kind, "here" if is_here else ""), rect, *lines)


def _line(laid: Layout, way: Way, prefix: str) -> etree._Element:
    """The line of a way, with round corners, which ends in an arrow."""
    column, target = _x(laid.column(way)), laid.boxes[way.target]
    if way.side == DOWN:
        points = f"M{column:g} {_y(laid.boxes[way.source].bottom):g}V{_y(target.top):g}"
    else:
        wall = _x(laid.left if way.side == LEFT else laid.right)
        start, end = _y(way.row), _y(target.top + 1)
        corner = min(_CORNER, abs(end - start) / 2)
        beside, onward = column - way.side * corner, corner if end > start else -corner
        points = (
            f"M{wall:g} {start:g}H{beside:g}Q{column:g} {start:g} {column:g} {start + onward:g}"
            f"V{end - onward:g}Q{column:g} {end:g} {beside:g} {end:g}H{wall:g}"
        )
    arrow = way.outcome if way.style and way.outcome in ("fail", "iterate") else way.style
    path = _element("path", {"d": points, "marker-end": f"url(#{prefix}arrow{arrow})"})
    return _element("g", _class("way", way.style, way.outcome), path)


def _label(laid: Layout, way: Way) -> etree._Element:
    """The label of a way, with a ground of its own over the lines that it may cross."""
    x = _x(laid.column(way)) + _WIDE
    if way.side != DOWN:
        x = _x(laid.left if way.side == LEFT else laid.right) + way.side * 2 * _WIDE
    anchor = {"text-anchor": "end" if way.side == LEFT else "start"}
    wide = cell_len(way.label) * _WIDE
    left = x - wide if anchor["text-anchor"] == "end" else x
    size = {"width": f"{wide + 4:g}", "height": f"{_HIGH - 4:g}"}
    halo = _element("rect", {"x": f"{left - 2:g}", "y": f"{_y(way.row) - _HIGH / 2 + 2:g}", **size, "class": "halo"})
    return _element("g", _class("way", way.style, way.outcome), halo, _text(way.label, x, way.row, anchor))


def _text(text: str, x: float, row: int, attributes: dict[str, str]) -> etree._Element:
    return _element("text", {"x": f"{x:g}", "y": f"{_y(row) + _FOOT:g}", **attributes}, text)


def _class(*names: str) -> dict[str, str]:
    named = " ".join(filter(None, names))
    return {"class": named} if named else {}


def _x(column: float) -> float:
    return _MARGIN + column * _WIDE


def _y(row: float) -> float:
    return _MARGIN + row * _HIGH
