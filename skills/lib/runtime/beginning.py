"""A sub-agent's first command: the run that was made for it when it was handed out begins."""

from __future__ import annotations

from skills.lib.workflow import engine
from skills.lib.workflow.decision import Refusal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from skills.lib.runtime.desk import Desk, Reply
    from skills.lib.workflow.core import Workflow
    from skills.lib.workflow.state import Request, Run


def begin(desk: Desk, workflow: Workflow, run: Run, request: Request, asked: Request) -> Reply:
    """Open a sub-agent's run and print its first block, or refuse; ``asked`` is the request as it was given."""
    refusal = _too_early(workflow, request) or _too_many(desk, run)
    if refusal is None:
        move = engine.open_run(workflow, run.changed(turn=1), run.spec["params"] if run.spec.get("script") else {})
        if not isinstance(move, Refusal):
            return desk.show(workflow, desk.ledger.commit(run, move, desk.actor, workflow.to_data()))
        why = f"The dispatching step gave this sub-agent parameters that do not fit: {move.why}"
        refusal = Refusal(move.code, why, move.valid)
    from skills.lib.runtime import refusing

    return refusing.refuse(desk, workflow, run, refusal, asked)


def _too_early(workflow: Workflow, request: Request) -> Refusal | None:
    """Why a request is none for a run that has not begun."""
    why = ""
    if request.step not in (workflow.start, workflow.steps[0].id, "current"):
        why = "This sub-agent's run has not begun: its first step comes first."
    elif request.reports:
        why = "This sub-agent's run has not begun: there is nothing to report yet. Show its first step, and do it."
    return Refusal("skipped-step", why, (workflow.start,)) if why else None


def _too_many(desk: Desk, run: Run) -> Refusal | None:
    """Why a sub-agent may not begin yet: as many as may work at once are at work."""
    parent = desk.ledger.run(run.parent or "")
    if desk.at_once is None or parent is None:
        return None
    working = [child.id for child in desk.ledger.runs(parent.children) if child.status in ("open", "waiting")]
    if len(working) < desk.at_once:
        return None
    why = (
        f"At most {desk.at_once} sub-agents of a run work at once (LOCKSTEP_AGENTS), and these are at work: "
        f"{', '.join(working)}. Wait until one has finished, then run the command again."
    )
    return Refusal("agents-busy", why)
