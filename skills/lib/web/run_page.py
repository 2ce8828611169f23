"""The page of one run, of one of its turns, and what the run left as files."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING, Any

from markupsafe import Markup
from starlette.responses import FileResponse

from skills.lib import paths
from skills.lib.agent.tools import outputs
from skills.lib.agent.watching import wording
from skills.lib.agent.watching.visibility import FULL, HIDDEN
from skills.lib.clean_text import clean
from skills.lib.status_files import is_id
from skills.lib.views.drawing.svg import on_page
from skills.lib.views.page import block
from skills.lib.views.page.run_view import RunView, task
from skills.lib.views.records import command, iso
from skills.lib.web.answers import Missing, answer, explorer_of, session_of

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from skills.lib.model.run import Run
    from skills.lib.views.records import Records
    from skills.lib.web.explorer import Explorer

# How many turns are on a page, how much of a value is, in characters, and how many things of a session in a turn.
TURNS, LIMIT, NOTED = 50, 1_000, 200
# How many sub-agents are listed.
_CHILDREN = 200


def run(request: Request) -> Response:
    """The page of a run: graph, question, timeline, reviews, sub-agents."""
    explorer, view = _viewed(request)
    many = len(view.history.visits)
    pages = max(1, -(-many // TURNS))
    number = _page_of(request, view, pages)
    first = (number - 1) * TURNS
    visits = view.visits(first, first + TURNS)
    _add_sessions(explorer, view, visits)
    graph = view.graph()
    children = _children(view)
    data: dict[str, Any] = {
        "run": view.headline(),
        "page": number,
        "pages": pages,
        "turns": many,
        "visits": visits,
        "beside": view.beside(),
        "reviews": view.reviews(),
        "children": children,
        "outputs": _outputs(explorer, view) if view.level != HIDDEN else [],
        "paused": not view.run.ended and view.records.ledger.is_paused(view.run),
    }
    address = f"{explorer.access.base}/runs/{view.run.id}"
    return answer(
        request,
        "run.html",
        data,
        graph=Markup(_drawing(view, graph, address)) if graph is not None else None,  # noqa: S704  made by lxml
        known={one["id"]: {**one, "href": f"{explorer.access.base}/runs/{one['id']}"} for one in children},
        ended=view.run.ended,
        resume=command(explorer.project, "resume", view.run.id),
        limit=LIMIT,
    )


def turn(request: Request) -> Response:
    """One turn of a run, with the block as it was printed and every value whole."""
    explorer, view = _viewed(request)
    wanted = str(request.path_params["turn"])
    number = int(wanted) if wanted.isascii() and wanted.isdigit() and len(wanted) < 9 else 0
    turns = [visit.entered.turn for visit in view.history.visits]
    at = max((at for at, entered in enumerate(turns) if entered <= number), default=-1)
    if at < 0 or view.level == HIDDEN or number > view.run.turn:
        raise Missing(f"run {view.run.id} has no turn {wanted:.20}", valid=f"1 to {view.run.turn}")
    visits = view.visits(at, at + 1)
    _add_sessions(explorer, view, visits)
    printed = ""
    if view.level == FULL:
        then = block.at_turn(view.events, number)
        printed = block.printed(view.records.ledger, view.workflow, then, explorer.project)
    data = {
        "run": view.headline(),
        "turn": number,
        "visit": visits[0],
        "block": printed,
        "before": turns[at - 1] if at else None,
        "after": turns[at + 1] if at + 1 < len(turns) else None,
    }
    children = _children(view)
    known = {one["id"]: {**one, "href": f"{explorer.access.base}/runs/{one['id']}"} for one in children}
    return answer(request, "turn.html", data, known=known, limit=200_000)


def download(request: Request) -> Response:
    """A file that the run made."""
    explorer, view = _viewed(request)
    wanted = request.query_params.get("path", "")
    if view.level == HIDDEN or wanted not in {one["path"] for one in _outputs(explorer, view)}:
        raise Missing(f"run {view.run.id} left no file {wanted!r:.200}")
    path = _within(explorer.project, wanted)
    name = clean(os.path.basename(wanted)).replace("?", "_")
    return FileResponse(path, media_type="application/octet-stream", filename=name)


def found(records: Records | None, run_id: str) -> Run:
    """The run of that id. Raises Missing if there is none."""
    run = records.ledger.run(run_id) if records is not None and is_id(run_id) else None
    if run is None:
        raise Missing(f"this project has no run {run_id!r:.80}", remedy="look for it in the list of runs")
    return run


def _viewed(request: Request) -> tuple[Explorer, RunView]:
    explorer = explorer_of(request)
    records = explorer.records()
    run = found(records, str(request.path_params["run"]))
    assert records is not None
    return explorer, RunView(records, run, explorer.level(session_of(request)))


def _page_of(request: Request, view: RunView, pages: int) -> int:
    """The page that is asked for by its number, or by a turn on it; else the last one."""
    wanted = request.query_params.get("turn", "")
    if wanted.isascii() and wanted.isdigit() and len(wanted) < 9:
        at = [at for at, visit in enumerate(view.history.visits) if visit.entered.turn <= int(wanted)]
        return (at[-1] if at else 0) // TURNS + 1
    number = request.query_params.get("page", "")
    return min(max(1, int(number)), pages) if number.isascii() and number.isdigit() and len(number) < 9 else pages


def _drawing(view: RunView, graph: Any, address: str) -> str:
    hrefs = {step: f"{address}?turn={turn}#turn-{turn}" for step, turn in view.turns().items()}
    return on_page(graph, hrefs, None if view.run.ended else view.run.step, view.notes())


def _children(view: RunView) -> list[dict[str, Any]]:
    """The runs below a run, each with its depth; at HIDDEN none."""
    if view.level == HIDDEN:
        return []
    found = []
    for depth, one in view.records.tree(view.run):
        if depth:
            about = task(one) if view.level == FULL else str(one.spec.get("agent", ""))
            asks = one.status == "waiting" and bool(one.question)
            found.append({"id": one.id, "depth": depth, "task": about, "status": one.status, "asks": asks})
        if len(found) >= _CHILDREN:
            break
    return found


def _add_sessions(explorer: Explorer, view: RunView, visits: list[dict[str, Any]]) -> None:
    """Give each visit what happened in the session of an agent there, as this reader may see it."""
    activity = explorer.activity()
    if activity is None or view.level == HIDDEN:
        return
    full = view.level == FULL
    for visit in visits:
        last = visit["left"]["turn"] if visit["left"] else view.run.turn + 1
        counts: dict[str, int] = {}
        told = []
        turns = range(visit["turn"], max(last, visit["turn"] + 1))
        rows = [row for turn in turns for row in activity.rows(view.run.id, turn=turn)]
        for row in rows:
            counts[row.kind] = counts.get(row.kind, 0) + 1
            if not wording.is_shown(row.kind):
                continue
            if not (full or wording.is_in_summary(row.kind, False, row.visibility)):
                continue
            text = clean(wording.of_row(row, counts[row.kind], full))
            whole = str(row.data.get("text", "")) if full and row.visibility == "full" else ""
            told.append(
                {
                    "kind": row.kind,
                    "text": text,
                    "whole": clean(whole) if whole.strip() != text.strip() else "",
                    "ok": row.data.get("ok"),
                    "at": row.at,
                    "when": iso(row.at),
                    "visibility": row.visibility,
                }
            )
        visit["counts"] = wording.Counts(rows).words()
        visit["session"] = told[:NOTED]
        visit["session_left_out"] = max(0, len(told) - NOTED)


def _outputs(explorer: Explorer, view: RunView) -> list[dict[str, Any]]:
    """The files that a run made and that are still there: those of an agent's commands, and artifacts that held."""
    activity = explorer.activity()
    rows = activity.rows_of_all(view.run.id, "made") if activity is not None else []
    made = {str(one["path"]): one for one in outputs.left(explorer.project, [row.data for row in rows])}
    if view.level == FULL:
        for event in view.events:
            for one in event.detail.get("evidence", ()):
                path = str(one.get("what", ""))
                if one.get("kind") == "artifact" and one.get("ok") and path not in made:
                    made |= {path: {"path": path, "size": _size(explorer.project, path), "kind": "", "new": True}}
    return [one for one in made.values() if _size(explorer.project, str(one["path"])) is not None]


def _size(project: str, path: str) -> int | None:
    """The size of a file of the project; None for what cannot be downloaded."""
    try:
        return os.stat(_within(project, path)).st_size
    except (OSError, ValueError, Missing):
        return None


def _within(project: str, path: str) -> str:
    """The file at a path of the project. Raises Missing for anything else, and for what Lockstep or git keep."""
    root = os.path.realpath(project)
    real = os.path.realpath(os.path.join(root, path))
    parts = os.path.relpath(real, root).split(os.sep)
    try:
        is_file = stat.S_ISREG(os.lstat(real).st_mode)
    except (OSError, ValueError):
        is_file = False
    if not is_file or os.pardir in parts or {".git", paths.FOLDER} & set(parts):
        raise Missing(f"{path!r:.200} is no file of this project")
    return real
