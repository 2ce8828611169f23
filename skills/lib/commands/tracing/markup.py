"""Pieces of a page: elements by name, text from outside made harmless, values that open and close."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

from lxml import html
from lxml.builder import ElementMaker  # type: ignore[import-not-found]  # lxml-stubs lacks it

from skills.lib import compact_json
from skills.lib.commands.console.screen import clean

Piece: TypeAlias = "html.HtmlElement | str"

# A value longer than this, in characters, is folded; its beginning of so many characters is what one sees of it.
FOLDED, BEGINNING = 400, 120
_make = ElementMaker(makeelement=html.html_parser.makeelement)
_NO_CHARACTER = {0xFFFE: "?", 0xFFFF: "?"}


def el(tag: str, *inside: Piece | Iterable[Piece], **attributes: object) -> html.HtmlElement:
    """An element; strings inside and as attributes are cleaned, ``class_`` is class, and None leaves one out."""
    named = {
        name.rstrip("_").replace("_", "-"): shown(given) for name, given in attributes.items() if given is not None
    }
    pieces = [one for piece in inside for one in ([piece] if isinstance(piece, str | html.HtmlElement) else piece)]
    made: html.HtmlElement = _make(tag, named, *[shown(one) if isinstance(one, str) else one for one in pieces])
    return made


def shown(text: object) -> str:
    """The text as a page shows it: ``?`` for characters that a machine would obey, or that no document has."""
    return clean(str(text).replace("\r\n", "\n")).translate(_NO_CHARACTER)


def value(given: Any, limit: int | None) -> html.HtmlElement:
    """A recorded value: text as it is, a list of texts as one, the rest as JSON; at most ``limit`` characters of it."""
    if isinstance(given, list) and given and all(isinstance(one, str) for one in given):
        return _listed(given, limit)
    text = given if isinstance(given, str) else compact_json.readable(given)
    if not text:
        return el("span", "(empty)", class_="faint")
    body = text if limit is None else text[:limit]
    whole = el("div", body, class_="value", dir="auto")
    if len(body) > FOLDED:
        beginning = " ".join(body[:BEGINNING].split())
        whole = el("details", el("summary", f"{beginning}… ({len(text):,} characters)"), whole)
    if len(body) == len(text):
        return whole
    return el("div", whole, el("span", _more(len(text) - len(body), "characters"), class_="cut"))


def table(headings: Sequence[str], rows: Sequence[Sequence[Piece | Iterable[Piece]]]) -> html.HtmlElement:
    """A table that scrolls if it is too wide."""
    head = el("thead", el("tr", [el("th", heading, scope="col") for heading in headings]))
    body = el("tbody", [el("tr", [el("td", cell) for cell in row]) for row in rows])
    return el("div", el("table", head, body), class_="wide")


def facts(pairs: Iterable[tuple[str, Piece | Iterable[Piece]]]) -> html.HtmlElement:
    """Names with what they stand for."""
    return el("dl", [piece for name, given in pairs for piece in (el("dt", name), el("dd", given))])


def _listed(given: Sequence[str], limit: int | None) -> html.HtmlElement:
    made, left = el("ul"), limit
    for at, one in enumerate(given):
        if left is not None and left <= 0:
            made.append(el("li", _more(len(given) - at, "entries"), class_="cut"))
            break
        made.append(el("li", value(one, left)))
        left = None if left is None else left - len(one)
    if sum(map(len, given)) <= FOLDED:
        return made
    return el("details", el("summary", f"{len(given)} entries"), made)


def _more(number: int, what: str) -> str:
    return f"… {number:,} {what} more, which lockstep trace --values shows"
