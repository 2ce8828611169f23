"""A sub-agent's first command: it begins the run that was made for the sub-agent when it was handed out."""

from __future__ import annotations

from skills.lib.engine import engine
from skills.lib.engine.decision import Refusal, Refused
from skills.lib.runtime.project import with_search_paths

TYPE_CHECKING = False
if TYPE_CHECKING:
    from skills.lib.model.run import Request, Run
    from skills.lib.model.steps import Workflow
    from skills.lib.runtime.project import Project


def begin(project: Project, workflow: Workflow, run: Run, request: Request) -> Run:
    """Open a sub-agent's run, and return it. Raises Refused if it cannot begin, or not yet."""
    parent = project.ledger.run(run.parent or "")
    limit = project.max_parallel
    working = None if limit is None else project.ledger.at_work(run.parent or "")
    _check_request(workflow, request)
    if parent is not None and parent.ended:
        why = (
            f"The run that this sub-agent was to work for is {parent.status}: stop here, nothing more is wanted of it."
        )
        raise Refused("run-ended", why)
    if limit is not None and working is not None and len(working) >= limit:
        why = (
            f"At most {limit} sub-agents of a run work at once (LOCKSTEP_AGENTS), and these are at work: "
            f"{', '.join(working)}. Wait until one has finished, then run the command again."
        )
        raise Refused("agents-busy", why)
    params = run.spec["params"] if run.spec.get("script") else {}
    move = engine.open_run(workflow, run.changed(turn=1), params, project.proof(run))
    if not isinstance(move, Refusal):
        opened = with_search_paths(move)
        return project.ledger.commit(run, opened, project.actor, workflow.to_data(), siblings=working)
    # No command of its own goes on: its orchestrator gives it up.
    why = f"The step that started this sub-agent gave it parameters that do not fit: {move.why} Run nothing more."
    if parent is None:
        raise Refused(move.code, why)
    why += " Tell this to your orchestrator: it gives the sub-agent up with the command below."
    lost = project.command_line.step("current", parent, "--lost", run.id) + " --reason 'FILL_reason'"
    raise Refused(move.code, why, (lost,))


def _check_request(workflow: Workflow, request: Request) -> None:
    """Raise Refused if the request is none for a run that has not begun."""
    why = "This sub-agent's run has not begun: "
    if request.step not in (workflow.start, workflow.steps[0].id, "current"):
        raise Refused("skipped-step", f"{why}its first step comes first.", (workflow.start,))
    if request.reports:
        raise Refused(
            "skipped-step", f"{why}there is nothing to report yet. Show its first step, and do it.", (workflow.start,)
        )
