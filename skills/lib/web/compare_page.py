"""Two runs side by side: what they were given, how often they were at each step and for how long, how they ended."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any

from skills.lib.agent.watching.visibility import HIDDEN
from skills.lib.clean_text import TIMES
from skills.lib.views.page.rendering import span
from skills.lib.views.page.run_view import RunView
from skills.lib.web.answers import answer, explorer_of, session_of
from skills.lib.web.run_page import found

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response


def compare(request: Request) -> Response:
    """The two runs of the query (``a`` and ``b``); without them, a form that asks which."""
    explorer = explorer_of(request)
    level = explorer.level(session_of(request))
    names = [request.query_params.get(name, "").strip() for name in ("a", "b")]
    if not all(names):
        listed = explorer.runs()
        known = [row.data(level) for row in (listed.rows() if listed else [])[:500]]
        return answer(request, "compare_form.html", {"a": names[0], "b": names[1]}, known=known)
    records = explorer.records()
    runs = [found(records, name) for name in names]
    assert records is not None
    views = [RunView(records, run, level) for run in runs]
    steps = _steps(views) if level != HIDDEN else []
    heads = [view.headline() for view in views]
    data: dict[str, Any] = {
        "runs": heads,
        "same_workflow": runs[0].workflow == runs[1].workflow,
        "params": _params(heads),
        "steps": steps,
        "reviews": _reviews(views),
    }
    return answer(request, "compare.html", data)


def _steps(views: list[RunView]) -> list[dict[str, Any]]:
    """Of each step that one of the runs entered, what each of them did there."""
    counted = [_counts(view) for view in views]
    names = list(dict.fromkeys(step for one in counted for step in one))
    order = {step.id: at for view in views if view.workflow for at, step in enumerate(view.workflow.steps)}
    names.sort(key=lambda name: order.get(name, len(order)))
    nothing = {"entered": 0, "refused": 0, "seconds": 0.0, "took": "", "outcomes": [], "words": ""}
    return [{"step": name, "runs": [one.get(name, nothing) for one in counted]} for name in names]


def _counts(view: RunView) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for visit in view.visits():
        one = found.setdefault(
            visit["step"], {"entered": 0, "refused": 0, "seconds": 0.0, "took": "", "outcomes": [], "words": ""}
        )
        one["entered"] += 1
        one["refused"] += visit["refused"]
        one["seconds"] += visit["seconds"] or 0.0
        one["took"] = span(one["seconds"])
        if visit["left"] is not None:
            one["outcomes"].append(visit["left"]["outcome"])
            one["words"] = _in_words(one["outcomes"])
    return found


def _in_words(outcomes: list[str]) -> str:
    """Outcomes in their order, those that follow each other as one with a count."""
    found = [(outcome, len(list(same))) for outcome, same in groupby(outcomes)]
    return ", ".join(f"{outcome} {TIMES}{times}" if times > 1 else outcome for outcome, times in found)


def _params(heads: list[dict[str, Any]]) -> list[dict[str, Any]]:
    names = list(dict.fromkeys(name for head in heads for name in head["params"]))
    return [{"name": name, "values": [head["params"].get(name) for head in heads]} for name in names]


def _reviews(views: list[RunView]) -> list[dict[str, Any]]:
    told = [{one["checkpoint"]: one for one in view.reviews()} for view in views]
    names = list(dict.fromkeys(name for one in told for name in one))
    return [{"checkpoint": name, "runs": [_verdicts(one.get(name)) for one in told]} for name in names]


def _verdicts(review: dict[str, Any] | None) -> dict[str, Any]:
    if review is None:
        return {"verdicts": [], "items": 0, "open": 0}
    verdicts = [one["status"] for one in review["rounds"]]
    is_open = sum(not item["settled"] for item in review["items"])
    return {"verdicts": verdicts, "items": len(review["items"]), "open": is_open}
