"""The page of all runs: those that wait for a person first, then the last moved."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from skills.lib.agent.watching.visibility import HIDDEN
from skills.lib.web.answers import answer, explorer_of, session_of
from skills.lib.web.run_list import AGES, PAGE, Row, chosen

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

FILTERS = ("q", "skill", "status", "step", "host", "age")
STATUSES = ("waiting", "open", "done", "failed", "abandoned")
# How many waiting runs stand above the list.
_ASKED = 12


def runs(request: Request) -> Response:
    """The runs that a search and filters admit, a page of them."""
    explorer = explorer_of(request)
    level = explorer.level(session_of(request))
    listed = explorer.runs()
    rows = listed.rows() if listed is not None else []
    wanted = {name: request.query_params.get(name, "").strip() for name in FILTERS}
    found = chosen(rows, wanted, level)
    pages = max(1, -(-len(found) // PAGE))
    number = min(_number(request.query_params.get("page")), pages)
    shown = found[(number - 1) * PAGE : number * PAGE]
    asked = [row for row in found if row.waits] if level != HIDDEN and number == 1 else []
    data: dict[str, Any] = {
        "total": len(rows),
        "matching": len(found),
        "waiting": sum(bool(row.waits) for row in rows),
        "page": number,
        "pages": pages,
        "runs": [row.data(level) for row in shown],
    }
    return answer(
        request,
        "runs.html",
        data,
        wanted=wanted,
        asked=[row.data(level) for row in asked[:_ASKED]],
        more_asked=max(0, len(asked) - _ASKED),
        choices=_choices(rows, level),
        filters=urlencode({name: value for name, value in wanted.items() if value}),
    )


def _choices(rows: list[Row], level: str) -> dict[str, list[str]]:
    """What each filter can be set to."""
    steps = sorted({row.step for row in rows if row.step}) if level != HIDDEN else []
    return {
        "skill": sorted({row.skill for row in rows}),
        "status": list(STATUSES),
        "step": steps,
        "host": sorted({row.host for row in rows if row.host}),
        "age": list(AGES),
    }


def _number(text: str | None) -> int:
    """The number of a page; the first one for what is none."""
    return max(1, int(text)) if text and text.isascii() and text.isdigit() and len(text) < 9 else 1
