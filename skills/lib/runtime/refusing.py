"""Refusals: why, what would be valid, and the command that goes on; each is noted in the run's ledger."""

from __future__ import annotations

from skills.lib import compact_json, paths
from skills.lib.blocks import document, parts
from skills.lib.blocks.command_line import quote
from skills.lib.blocks.refused import LOST, asked_for, printed, refused_document
from skills.lib.engine import inputs
from skills.lib.engine.decision import Refusal
from skills.lib.errors import REFUSED
from skills.lib.ledger import database
from skills.lib.model import values
from skills.lib.runtime import retrying
from skills.lib.runtime.project import Response, is_of_another_project

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from skills.lib.model.run import Request, Run
    from skills.lib.model.steps import Workflow
    from skills.lib.runtime.project import Project

# How many characters of parameters a refused opening repeats in the command that goes on: of each, and of all.
REPEATED, REPEATED_TOGETHER = 1_000, 2_000
# How many sub-agents are listed for an agent that lost its run, and how many characters of what each is for.
LISTED, ABOUT = 8, 80
# A run is refused that this script does not serve.
_ELSEWHERE = ("other-project", "other-workflow")
# Refusals after which the present block is shown: it lists the sub-agents that are left, with their commands.
_SHOWS_CHILDREN = ("unaccounted-child", "unknown-child", "child-ended")
# Refusals of a sub-agent's first command after which the same command may still be right.
_BEGINS_LATER = ("skipped-step", "run-ended", "agents-busy")


def refuse(project: Project, workflow: Workflow, run: Run | None, request: Request, refusal: Refusal) -> Response:
    """The response that refuses a request: why, and the command that goes on. It is noted with the run, if it has one.

    ``run`` is the run that was found, for an opening the one that is open already; None if there is none.
    """
    asked = asked_for(request)
    if run is None and refusal.code == "missing-parameter" and _has_sub_agents(project, request):
        refusal = Refusal("no-run", f"{refusal.why} If this is for a run that is open, --run is missing.")
    if refusal.code in LOST:
        refusal, next_line = _listing_runs(project, workflow, request, refusal)
        return _response(project, workflow, None, asked, refusal, next_line)
    if run is None:
        again = _start_line(project, workflow, request.params, request.new, kept=refusal.code != "bad-targets")
        return _response(project, workflow, None, "--step 1", refusal, again)
    if refusal.code in _ELSEWHERE:
        return _response(project, workflow, None, asked, refusal, _own_command(project, run, refusal))
    show = "" if run.ended else project.command_line.step("current", run, turn=False)
    if refusal.code == "already-open":
        return _response(project, workflow, run, "--step 1, to open a run", refusal, show)
    if refusal.code == "definition-changed":
        if run.parent:  # the run has no command that goes on: another sub-agent takes its place
            return _response(project, workflow, run, asked, refusal)
        return _response(project, workflow, run, asked, refusal, _start_line(project, workflow, run.params, True), show)
    if run.status == "pending":
        return _response(project, workflow, run, asked, refusal, show if refusal.code in _BEGINS_LATER else "")
    if run.ended or refusal.code in _SHOWS_CHILDREN:
        return _response(project, workflow, run, asked, refusal, show)
    next_line = retrying.next_command(project, workflow, run, request, refusal)
    return _response(project, workflow, run, asked, refusal, next_line, show if show != next_line else "")


def _response(
    project: Project,
    workflow: Workflow,
    run: Run | None,
    asked: str,
    refusal: Refusal,
    next_line: str = "",
    show: str = "",
) -> Response:
    if run is not None:
        detail = {"code": refusal.code, "why": refusal.why, "asked": asked, "evidence": list(refusal.evidence)}
        project.ledger.note(run.id, run.turn, "refused", project.actor, {**detail, "step": run.step})
    return Response(refused_document(workflow, run, refusal, asked, next_line, show), REFUSED, run, workflow)


def _own_command(project: Project, run: Run, refusal: Refusal) -> str:
    """The command that shows a run by its own script, or in its own project."""
    if refusal.code == "other-workflow":
        return parts.child_command(run, project.command_line)
    fields = {**project.command_line.fields(), "project": run.project}
    return type(project.command_line)(**fields).step("current", run, turn=False)  # type: ignore[arg-type]


def _listing_runs(project: Project, workflow: Workflow, request: Request, refusal: Refusal) -> tuple[Refusal, str]:
    """The refusal of an agent that lost its run, with the commands of the runs that it may have meant, and NEXT.

    If sub-agents are at work the agent may be any of them: then there is no NEXT.
    """
    opening = _start_line(project, workflow, request.params, request.new)
    if not _has_ledger(project):
        return refusal, opening
    known = _known_runs(project, workflow)
    children = _sub_agents(project, known, request)
    if not known and not children:
        return refusal, opening
    commands = [project.command_line.step("current", other, turn=False) for other in known]
    order = ", the last moved first" if len(known) > 1 else ""
    if not children:
        why = f"{refusal.why} VALID has the command of each open run of this skill{order}; its last opens another."
        return Refusal(refusal.code, why, (*commands, opening)), commands[0]
    why = (
        f"{refusal.why} Sub-agents are at work, so take the command of your own run from VALID: first those of the "
        f"sub-agents, each with what it is for, then those of the open runs of this skill{order}, then one "
        "that opens another run. If none is yours, stop and say so."
    )
    if len(children) > LISTED:
        why += f" {len(children) - LISTED} more sub-agents are not listed."
    lines = [f"{parts.child_command(child, project.command_line)}  # {_about(child)}" for child in children[:LISTED]]
    return Refusal(refusal.code, why, (*lines, *commands, opening)), ""


def _has_ledger(project: Project) -> bool:
    return database.exists(paths.home(project.command_line.project))


def _has_sub_agents(project: Project, request: Request) -> bool:
    """True if sub-agents are at work that this script serves: one of them may have lost its run's id."""
    return not request.new and _has_ledger(project) and bool(_sub_agents(project, (), request))


def _about(child: Run) -> str:
    """A sub-agent's run and what it is for, on one line: a shell comment after its command."""
    task = " ".join((child.spec.get("target") or child.spec.get("task") or "").split())
    return f"sub-agent {child.id}, {child.status}" + (f": {parts.clipped(task, ABOUT)}" if task else "")


def _sub_agents(project: Project, known: Sequence[Run], request: Request) -> list[Run]:
    """The sub-agents at work of these runs, and those of this script; nearest to the requested run first."""
    roots = {run.id for run in known}
    family = (request.run or "").rpartition(".")[0]
    script = project.command_line.script
    found = [
        child
        for child in project.ledger.every_run("parent IS NOT NULL AND status IN ('pending','open','waiting')")
        if child.id.partition(".")[0] in roots
        or (project.command_line.place_of(child.script) == script and not _is_elsewhere(project, child))
    ]
    numbers = {child.id: [int(part) for part in child.id.split(".")[1:]] for child in found}
    return sorted(found, key=lambda child: (child.parent != family, child.id.partition(".")[0], numbers[child.id]))


def _known_runs(project: Project, workflow: Workflow) -> list[Run]:
    """The open runs of the workflow in this project, the last moved first."""
    moves = project.ledger.last_moves()
    known = sorted(project.ledger.open_runs(workflow.name), key=lambda run: -moves.get(run.id, 0))
    return [run for run in known if not _is_elsewhere(project, run)]


def _is_elsewhere(project: Project, run: Run) -> bool:
    return is_of_another_project(run, project.command_line.project)


def _start_line(
    project: Project, workflow: Workflow, given: Mapping[str, Any], new: bool | None = False, kept: bool = True
) -> str:
    """The command that opens a run: each given parameter that fits, and a placeholder for each other one.

    Unless ``kept``, each given parameter is a placeholder too.
    """
    words, missing, room = [], "", REPEATED_TOGETHER
    for arg in workflow.run_params():
        value = given.get(arg.name)
        text = value if isinstance(value, str) or value is None else compact_json.readable(value)
        size = printed(quote(text or ""))
        fits = size <= min(REPEATED, room) and kept and not values.is_secret(arg.name)
        if text is not None and fits and inputs.fits_parameter(arg, text):
            words += [arg.flag, text]
            room -= size
        elif arg.required or text is not None:
            missing += f" {arg.flag} {document.placeholder(arg)}"
    return project.command_line.start(*words, *(["--new"] if new else [])) + missing
