"""A sub-agent's first command: the run that was made for it when it was handed out begins."""

from __future__ import annotations

from skills.lib.runtime.desk import noted
from skills.lib.workflow import engine
from skills.lib.workflow.decision import Refusal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from skills.lib.runtime.desk import Desk, Reply
    from skills.lib.workflow.core import Workflow
    from skills.lib.workflow.state import Request, Run


def begin(desk: Desk, workflow: Workflow, run: Run, request: Request, asked: Request) -> Reply:
    """Open a sub-agent's run and print its first block, or refuse; ``asked`` is the request as it was given."""
    working = None if desk.at_once is None else desk.ledger.at_work(run.parent or "")
    refusal = _too_early(workflow, request) or _unwanted(desk, run) or _too_many(desk, working)
    if refusal is None:
        params = run.spec["params"] if run.spec.get("script") else {}
        move = engine.open_run(workflow, run.changed(turn=1), params, desk.proof(run))
        if not isinstance(move, Refusal):
            opened = desk.ledger.commit(run, noted(move), desk.actor, workflow.to_data(), siblings=working)
            return desk.show(workflow, opened)
        return _never(desk, workflow, run, move, asked)
    from skills.lib.runtime import refusing

    return refusing.refuse(desk, workflow, run, refusal, asked)


def _never(desk: Desk, workflow: Workflow, run: Run, refusal: Refusal, asked: Request) -> Reply:
    """Refuse a sub-agent whose parameters do not fit: no command of its own goes on, its orchestrator gives it up."""
    from skills.lib.errors import REFUSED
    from skills.lib.runtime.desk import Reply
    from skills.lib.workflow.refused import asked_for, refused_document

    parent = desk.ledger.run(run.parent or "")
    why = f"The step that started this sub-agent gave it parameters that do not fit: {refusal.why} Run nothing more."
    lost: tuple[str, ...] = ()
    if parent is not None and not parent.ended:
        why += " Tell this to your orchestrator: it gives the sub-agent up with the command below."
        lost = (desk.caller.step("current", parent, "--lost", run.id) + " --reason 'FILL_reason'",)
    told = Refusal(refusal.code, why, lost)
    words = asked_for(asked)
    detail = {"code": told.code, "why": told.why, "asked": words, "step": run.step}
    desk.ledger.note(run.id, run.turn, "refused", desk.actor, {**detail, "evidence": []})
    return Reply(refused_document(workflow, run, told, words), REFUSED, run, workflow)


def _too_early(workflow: Workflow, request: Request) -> Refusal | None:
    """Why a request is none for a run that has not begun."""
    why = ""
    if request.step not in (workflow.start, workflow.steps[0].id, "current"):
        why = "This sub-agent's run has not begun: its first step comes first."
    elif request.reports:
        why = "This sub-agent's run has not begun: there is nothing to report yet. Show its first step, and do it."
    return Refusal("skipped-step", why, (workflow.start,)) if why else None


def _unwanted(desk: Desk, run: Run) -> Refusal | None:
    """Why a sub-agent does not begin any more: the run that it was to work for has ended."""
    parent = desk.ledger.run(run.parent or "")
    if parent is None or not parent.ended:
        return None
    why = f"The run that this sub-agent was to work for is {parent.status}: stop here, nothing more is wanted of it."
    return Refusal("run-ended", why)


def _too_many(desk: Desk, working: list[str] | None) -> Refusal | None:
    """Why a sub-agent may not begin yet: as many as may work at once are at work."""
    if desk.at_once is None or working is None or len(working) < desk.at_once:
        return None
    why = (
        f"At most {desk.at_once} sub-agents of a run work at once (LOCKSTEP_AGENTS), and these are at work: "
        f"{', '.join(working)}. Wait until one has finished, then run the command again."
    )
    return Refusal("agents-busy", why)
