"""The page of a run and of its sub-agents' runs as one file, without scripts or anything from elsewhere."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator
from typing import Any

from markupsafe import Markup

from skills import __version__
from skills.lib.model.run import Run
from skills.lib.views.drawing.svg import on_page
from skills.lib.views.page import rendering
from skills.lib.views.page.run_view import RunView, task
from skills.lib.views.records import Records, skill_of

# How much of one value the page holds, in characters: of a run with few sub-agents, and of one with many.
LIMIT, LIMIT_MANY, MANY = 4_000, 600, 20
# How many graphs are drawn; the way of further runs is in words alone.
DRAWN = 12


def page(records: Records, run: Run, whole: bool = False) -> str:
    """The text of the page.

    With ``whole`` every value is in it as it is; else the longest are cut, the more so the more sub-agents there are.
    """
    tree = [one for _, one in records.tree(run)]
    limit = None if whole else LIMIT if len(tree) <= MANY else LIMIT_MANY
    root, *children = _parts(records, tree)
    css = rendering.css()
    text = (
        rendering.environment()
        .get_template("trace.html")
        .render(
            title=f"Run {run.id}: {skill_of(run)}",
            css=Markup(css),  # noqa: S704  a file of ours
            digest=base64.b64encode(hashlib.sha256(css.encode()).digest()).decode(),
            root=root,
            children=children,
            known={one.id: {"href": f"#run-{one.id}", "task": task(one)} for one in tree},
            limit=limit,
            version=__version__,
            graphs_left_out=sum(bool(part["drawable"]) for part in (root, *children)) > DRAWN,
            drawn=DRAWN,
        )
    )
    return text.lstrip() + "\n"


def _parts(records: Records, tree: list[Run]) -> Iterator[dict[str, Any]]:
    """What is shown of each run."""
    drawn = 0
    for at, run in enumerate(tree):
        view = RunView(records, run)
        graph = view.graph() if view.history.visits else None
        prefix = f"run-{run.id}-" if at else ""
        hrefs = {step: f"#{prefix}turn-{turn}" for step, turn in view.turns().items()}
        picture = (
            on_page(graph, hrefs, None if run.ended else run.step, view.notes(), prefix)
            if graph and drawn < DRAWN
            else ""
        )
        drawn += graph is not None
        yield {
            "head": view.headline(),
            "ended": run.ended,
            "task": task(run),
            "prefix": prefix,
            "visits": view.visits(),
            "beside": view.beside(),
            "reviews": view.reviews(),
            "graph": Markup(picture),  # noqa: S704  made by lxml
            "drawable": graph is not None,
        }
