"""Small plots as SVG, whose colours come from the style sheet of the page."""

from __future__ import annotations

from collections.abc import Sequence

from lxml import etree
from markupsafe import Markup

from skills.lib.clean_text import in_xml

_NAMESPACE = "http://www.w3.org/2000/svg"
_HIGH, _WIDE, _LABEL, _VALUE = 22.0, 240.0, 150.0, 90.0


def bars(title: str, rows: Sequence[tuple[str, float, str, str]]) -> Markup:
    """Bars below each other: of each its label, its length, the words at its end, and its class."""
    longest = max((length for _, length, _, _ in rows), default=0.0) or 1.0
    width, height = _LABEL + _WIDE + _VALUE, _HIGH * len(rows)
    svg = _element("svg", viewBox=f"0 0 {width:g} {height:g}", width=f"{width:g}", height=f"{height:g}", role="img")
    svg.set("class", "plot")
    svg.append(_element("title", f"{title}: " + "; ".join(f"{label} {words}" for label, _, words, _ in rows)))
    for at, (label, length, words, kind) in enumerate(rows):
        top = at * _HIGH
        long = max(1.0, _WIDE * length / longest) if length else 0.0
        name = label if len(label) < 22 else f"{label[:20]}…"
        svg.append(_element("text", name, x=f"{_LABEL - 8:g}", y=f"{top + 15:g}", **{"text-anchor": "end"}))
        track = _element("rect", x=f"{_LABEL:g}", y=f"{top + 5:g}", width=f"{_WIDE:g}", height="12", rx="3")
        track.set("class", "track")
        bar = _element("rect", x=f"{_LABEL:g}", y=f"{top + 5:g}", width=f"{long:g}", height="12", rx="3")
        bar.set("class", f"bar {kind}".strip())
        svg.extend([track, bar, _element("text", words, x=f"{_LABEL + _WIDE + 8:g}", y=f"{top + 15:g}")])
    return Markup(etree.tostring(svg, encoding="unicode"))  # noqa: S704  made by lxml


def _element(tag: str, text: str = "", **attributes: str) -> etree._Element:
    made = etree.Element(f"{{{_NAMESPACE}}}{tag}", attributes, nsmap={None: _NAMESPACE})  # type: ignore[dict-item]
    if text:
        made.text = in_xml(text)
    return made
