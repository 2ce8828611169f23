"""The skills of the project: their graphs, where agents stumble, how sessions went and what they cost."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from skills.lib import paths
from skills.lib.agent.money.budgeting import dollars
from skills.lib.hosts import skills
from skills.lib.views.drawing import edges
from skills.lib.views.drawing.svg import on_page
from skills.lib.web import plots
from skills.lib.web.answers import Missing, answer, explorer_of, session_of

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from skills.lib.agent.watching.session_stats import SessionStats
    from skills.lib.model.steps import Workflow
    from skills.lib.skillfile import SkillFolder
    from skills.lib.views.statistics import WorkflowRefusals


def listing(request: Request) -> Response:
    """All skills, with how often they were run and how that went."""
    explorer = explorer_of(request)
    counted, sessions = explorer.statistics()
    folders = _by_name(explorer.project)
    listed = explorer.runs()
    ran: dict[str, Counter[str]] = {}
    for run in listed.rows() if listed is not None else ():
        ran.setdefault(run.skill, Counter())[run.status] += 1
    rows = []
    for name in sorted({*folders, *ran}, key=lambda name: (name not in ran, name)):
        own = [one for one in counted if one.skill == name]
        folder = folders.get(name)
        about = {"skill": name, "description": _description(folder), "startable": _has_main(folder)}
        rows.append(about | _summary(own) | _ended(ran.get(name, Counter())))
    cost = None
    if session_of(request).is_operator:
        spent = {one: sessions[one].data()["cost"]["usd"] for one in sessions}
        cost = sum(spent.values()) if spent else None
    return answer(request, "skills.html", {"skills": rows, "cost": cost}, cost_words=dollars(cost) if cost else "")


def one(request: Request) -> Response:
    """One skill: each of its workflows as a graph with its figures."""
    explorer = explorer_of(request)
    name = str(request.path_params["skill"])
    folder = _by_name(explorer.project).get(name)
    counted, sessions = explorer.statistics()
    own = {one.workflow: one for one in counted if one.skill == name}
    if folder is None and not own:
        raise Missing(f"there is no skill {name!r:.80}", remedy="look for it in the list of skills")
    loaded, startable, below, errors = _workflows(folder)
    shows_cost = session_of(request).is_operator
    told, drawn = [], []
    for workflow_name in sorted(dict.fromkeys([*loaded, *own]), key=lambda name: name in below):
        workflow, figures = loaded.get(workflow_name), own.get(workflow_name)
        session = sessions.get(workflow_name)
        about = {"startable": workflow_name in startable, "of_sub_agents": workflow_name in below}
        told.append(about | _told(workflow_name, workflow, figures, session, shows_cost))
        drawn.append(_plotted(workflow, figures, session, shows_cost))
    data = {"skill": name, "description": _description(folder), "workflows": told, "errors": errors}
    return answer(request, "skill.html", data, drawn=drawn)


def _by_name(project: str) -> dict[str, SkillFolder]:
    """The skills by name: of several the one that the name means, or the first."""
    found: dict[str, SkillFolder] = {}
    for folder in skills.find(project):
        found.setdefault(folder.name, folder)
    return found


def _has_main(folder: SkillFolder | None) -> bool:
    """True if a skill has one workflow alone, or one of its own name."""
    if folder is None:
        return False
    stem = folder.name.replace("-", "_")
    mains = (stem + paths.MODULE, stem + paths.COMPILED)
    return len(folder.workflows) == 1 or any(file.name in mains for file in folder.workflows)


def _workflows(folder: SkillFolder | None) -> tuple[dict[str, Workflow], set[str], set[str], list[str]]:
    """The workflows of a skill by name, those that a person starts, those of its sub-agents, and its errors."""
    loaded = skills.load(folder, validated=False) if folder is not None else []
    workflows = {one.workflow.name: one.workflow for one in loaded if one.workflow is not None}
    scripts = {one.script: one.workflow for one in loaded if one.workflow is not None and one.script is not None}
    handed_out = skills.handed_out(scripts)
    below = {workflow.name for script, workflow in scripts.items() if os.path.realpath(script) in handed_out}
    startable = {workflow.name for workflow in scripts.values()} - below
    return workflows, startable, below, [str(one.error) for one in loaded if one.error is not None]


def _description(folder: SkillFolder | None) -> str:
    return " ".join(folder.loaded.description.split()) if folder is not None and folder.loaded else ""


def _summary(own: list[WorkflowRefusals]) -> dict[str, Any]:
    statuses: dict[str, int] = {}
    for one in own:
        for status, number in one.statuses.items():
            statuses[status] = statuses.get(status, 0) + number
    entered = sum(step.entered for one in own for step in one.steps.values())
    refused = sum(step.refusals for one in own for step in one.steps.values())
    return {**_ended(statuses), "refusals_an_entry": round(refused / entered, 4) if entered else None}


def _ended(statuses: Mapping[str, int]) -> dict[str, Any]:
    """How many runs there are by their status, and which share of those that ended is done."""
    ended = sum(statuses.get(name, 0) for name in ("done", "failed", "abandoned"))
    return {
        "runs": sum(statuses.values()),
        "statuses": dict(statuses),
        "ended": ended,
        "success_rate": round(statuses.get("done", 0) / ended, 4) if ended else None,
    }


def _told(
    name: str, workflow: Workflow | None, figures: WorkflowRefusals | None, session: SessionStats | None, cost: bool
) -> dict[str, Any]:
    """A workflow and its figures as data."""
    steps = []
    titles = {step.id: step.title for step in workflow.steps} if workflow else {}
    for step in dict.fromkeys([*titles, *(figures.steps if figures else ())]):
        one = figures.steps.get(step) if figures else None
        steps.append(
            {
                "step": step,
                "title": titles.get(step, ""),
                "entered": one.entered if one else 0,
                "repeated": one.repeated if one else 0,
                "most_in_one_run": one.most_in_one_run if one else 0,
                "refusals": one.refusals if one else 0,
                "refused_for": dict(sorted(one.refused.items(), key=lambda pair: -pair[1])) if one else {},
            }
        )
    of_session = session.data() if session else None
    if of_session and not cost:
        of_session = {key: value for key, value in of_session.items() if not key.startswith("cost")}
    recoveries = [
        {"tool": tool, "failure": failure, "then": then, "times": times}
        for (tool, failure, then), times in (session.recoveries.most_common(5) if session else ())
    ]
    summary = _summary([figures] if figures else [])
    title = workflow.title if workflow else ""
    return {
        "workflow": name,
        "title": title,
        **summary,
        "steps": steps,
        "sessions": of_session,
        "most_common_recoveries": recoveries,
    }


def _plotted(
    workflow: Workflow | None, figures: WorkflowRefusals | None, session: SessionStats | None, cost: bool
) -> dict[str, Any]:
    """The graph of a workflow, and the plots of its figures."""
    made: dict[str, Any] = {"graph": None, "refusals": None, "iterations": None, "failures": None, "cost": None}
    if workflow is not None and workflow.steps:
        picture = on_page(edges.of_workflow(workflow), prefix=f"{workflow.name}-")
        made["graph"] = Markup(picture)  # noqa: S704  made by lxml
    if figures is not None and any(step.refusals for step in figures.steps.values()):
        rows = [(name, step.rate, f"{step.rate:.2f}", "bad") for name, step in figures.steps.items() if step.refusals]
        made["refusals"] = plots.bars("Refusals an entry, by step", sorted(rows, key=lambda row: -row[1])[:15])
    if figures is not None and any(step.repeated for step in figures.steps.values()):
        rows = [
            (name, step.repeated, f"{step.repeated} of {step.entered}", "wait")
            for name, step in figures.steps.items()
            if step.repeated
        ]
        made["iterations"] = plots.bars("Repeated entries, by step", sorted(rows, key=lambda row: -row[1])[:15])
    if session is not None and any(session.classes.values()):
        rows = [(kind, float(number), str(number), "") for kind, number in session.classes.items()]
        made["failures"] = plots.bars("Failures by class", rows)
    if session is not None and cost:
        by_model = session.data()["cost_by_model"]
        rows = [(model, sums["usd"], dollars(sums["usd"]), "") for model, sums in by_model.items()]
        made["cost"] = plots.bars("Cost by model", rows)
    return made
