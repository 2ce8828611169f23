"""A sub-agent's first command: the run that was made for it when it was handed out begins."""

from __future__ import annotations

from skills.lib.engine import engine
from skills.lib.engine.decision import Refusal
from skills.lib.runtime.project import Response, noted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from skills.lib.model.run import Request, Run
    from skills.lib.model.steps import Workflow
    from skills.lib.runtime.project import Project


def begin(project: Project, workflow: Workflow, run: Run, request: Request, asked: Request) -> Response:
    """Open a sub-agent's run and print its first block, or refuse; ``asked`` is the request as it was given."""
    working = None if project.at_once is None else project.ledger.at_work(run.parent or "")
    refusal = _too_early(workflow, request) or _unwanted(project, run) or _too_many(project, working)
    if refusal is None:
        params = run.spec["params"] if run.spec.get("script") else {}
        move = engine.open_run(workflow, run.changed(turn=1), params, project.proof(run))
        if not isinstance(move, Refusal):
            opened = project.ledger.commit(run, noted(move), project.actor, workflow.to_data(), siblings=working)
            return project.show(workflow, opened)
        return _never(project, workflow, run, move, asked)
    from skills.lib.runtime import refusing

    return refusing.refuse(project, workflow, run, refusal, asked)


def _never(project: Project, workflow: Workflow, run: Run, refusal: Refusal, asked: Request) -> Response:
    """Refuse a sub-agent whose parameters do not fit: no command of its own goes on, its orchestrator gives it up."""
    from skills.lib.blocks.refused import asked_for, refused_document
    from skills.lib.errors import REFUSED
    from skills.lib.runtime.project import Response

    parent = project.ledger.run(run.parent or "")
    why = f"The step that started this sub-agent gave it parameters that do not fit: {refusal.why} Run nothing more."
    lost: tuple[str, ...] = ()
    if parent is not None and not parent.ended:
        why += " Tell this to your orchestrator: it gives the sub-agent up with the command below."
        lost = (project.command_line.step("current", parent, "--lost", run.id) + " --reason 'FILL_reason'",)
    told = Refusal(refusal.code, why, lost)
    words = asked_for(asked)
    detail = {"code": told.code, "why": told.why, "asked": words, "step": run.step}
    project.ledger.note(run.id, run.turn, "refused", project.actor, {**detail, "evidence": []})
    return Response(refused_document(workflow, run, told, words), REFUSED, run, workflow)


def _too_early(workflow: Workflow, request: Request) -> Refusal | None:
    """Why a request is none for a run that has not begun."""
    why = ""
    if request.step not in (workflow.start, workflow.steps[0].id, "current"):
        why = "This sub-agent's run has not begun: its first step comes first."
    elif request.reports:
        why = "This sub-agent's run has not begun: there is nothing to report yet. Show its first step, and do it."
    return Refusal("skipped-step", why, (workflow.start,)) if why else None


def _unwanted(project: Project, run: Run) -> Refusal | None:
    """Why a sub-agent does not begin any more: the run that it was to work for has ended."""
    parent = project.ledger.run(run.parent or "")
    if parent is None or not parent.ended:
        return None
    why = f"The run that this sub-agent was to work for is {parent.status}: stop here, nothing more is wanted of it."
    return Refusal("run-ended", why)


def _too_many(project: Project, working: list[str] | None) -> Refusal | None:
    """Why a sub-agent may not begin yet: as many as may work at once are at work."""
    if project.at_once is None or working is None or len(working) < project.at_once:
        return None
    why = (
        f"At most {project.at_once} sub-agents of a run work at once (LOCKSTEP_AGENTS), and these are at work: "
        f"{', '.join(working)}. Wait until one has finished, then run the command again."
    )
    return Refusal("agents-busy", why)
