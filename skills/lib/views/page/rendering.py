"""The templates of pages: every value that is put in is escaped, and cleaned of what a machine would obey."""

from __future__ import annotations

import os
from functools import cache
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from skills.lib import compact_json
from skills.lib.clean_text import in_xml
from skills.lib.model.texts import shortened
from skills.lib.views.records import ago, moment

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "templates")
# A value longer than this, in characters, is folded; its beginning of so many characters is what one sees of it.
FOLDED, BEGINNING = 400, 120


@cache
def environment(*folders: str) -> Environment:
    """The templates of these folders, and those that all pages share."""
    made = Environment(
        loader=FileSystemLoader([*folders, FOLDER]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_finalized,
    )
    made.filters |= {"pieces": pieces, "ago": ago, "moment": moment, "span": span, "short": _short}
    return made


def shown(text: object) -> str:
    """The text as a page shows it: ``?`` for characters that a machine would obey, or that no document has."""
    return in_xml(str(text).replace("\r\n", "\n"))


def css(name: str = "page.css", folder: str = FOLDER) -> str:
    """The text of a style sheet."""
    with open(os.path.join(folder, name), encoding="utf-8") as file:
        return file.read()


def pieces(given: Any, limit: int | None) -> dict[str, Any]:
    """A recorded value in the parts that a page shows: the entries of a list of texts, else a text that may be folded.

    At most ``limit`` characters of it are in the parts, and ``more`` says how many are left out.
    """
    if isinstance(given, list) and given and all(isinstance(one, str) for one in given):
        return _entries(given, limit)
    text = given if isinstance(given, str) else compact_json.readable(given)
    body = text if limit is None else text[:limit]
    beginning = " ".join(body[:BEGINNING].split()) if len(body) > FOLDED else ""
    return {"entries": None, "body": body, "beginning": beginning, "size": len(text), "more": len(text) - len(body)}


def _entries(given: list[str], limit: int | None) -> dict[str, Any]:
    entries, left = [], limit
    for one in given:
        if left is not None and left <= 0:
            break
        entries.append((one, left))
        left = None if left is None else left - len(one)
    folded = sum(map(len, given)) > FOLDED
    return {"entries": entries, "folded": folded, "size": len(given), "more": len(given) - len(entries)}


def span(seconds: float | None) -> str:
    """How long something took, in the two largest units; empty for None."""
    if seconds is None:
        return ""
    if seconds < 1:
        return "< 1 s"
    whole = round(seconds)
    for size, unit, part, small in ((86_400, "d", 3_600, "h"), (3_600, "h", 60, "min"), (60, "min", 1, "s")):
        if whole >= size:
            rest = whole % size // part
            return f"{whole // size} {unit}" + (f" {rest} {small}" if rest else "")
    return f"{whole} s"


def _short(text: object, limit: int = 120) -> str:
    """The text on one line, cut."""
    return shortened(" ".join(str(text).split()), limit)


def _finalized(given: Any) -> Any:
    return given if isinstance(given, Markup) else shown(given)
