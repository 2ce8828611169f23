"""The execution of an approved plan: a second run, which comes from the planner's; and what is learned of it."""

from __future__ import annotations

from skills.lib import compact_json, paths
from skills.lib.agent import runs
from skills.lib.agent.planning import cases, memory
from skills.lib.agent.planning.cases import FAILURE, FEEDBACK, SUCCESS, Case
from skills.lib.agent.planning.planner import EXECUTION, PLAN, execution_key, opened_run
from skills.lib.errors import RefusedError, UsageError
from skills.lib.ledger import Ledger
from skills.lib.runtime import plans

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from skills.lib.agent.planning.planner import Host
    from skills.lib.agent.watching.activity import Activity
    from skills.lib.model.run import Run


def execute(agent: Host, planner_run: str) -> str:
    """Open the run that executes the plan of a planner's run, once; its id.

    Raises RefusedError for a plan that no person approved.
    """
    run = runs.known(agent.project, planner_run)
    state = run.state.get(PLAN, {})
    if run.status != "done" or "plan" not in state or run.state.get("approve", {}).get("answer") != plans.APPROVE:
        raise RefusedError(
            f"run {run.id} has no plan that a person approved: it is {run.status}", remedy=f"lockstep trace {run.id}"
        )
    plan, skill, goal = state["plan"], str(run.params["skill"]), str(run.params["goal"])
    made = plans.workflow(f"{skill}-execution", plan)
    given = {"goal": goal, "skill": skill, "plan": plan}
    return opened_run(agent, made, given, execution_key(run.id), goal, skill, origin=run.id)


def feedback(agent: Host, run_id: str, text: str) -> None:
    """Keep what a person says of an execution, for the next plan. Raises UsageError for another run."""
    run = runs.known(agent.project, run_id)
    if "plan" not in run.params or "goal" not in run.params:
        raise UsageError(f"run {run_id} is no {EXECUTION} of a plan")
    agent.require_no_secrets("the feedback", text)
    if text.strip():
        words = f"{run.params['goal']} ({run.status}): {text.strip()}"
        cases.add(agent.project, str(run.params["skill"]), [Case(FEEDBACK, run.id, words)])


def learn_from(agent: Host, run_id: str) -> int:
    """Keep the cases of an execution that are not kept yet; how many were new."""
    with Ledger(paths.home(agent.project), create=False) as ledger, agent.activity() as activity:
        run = ledger.run(run_id)
        return learn(agent.project, run, ledger, activity) if run is not None else 0


def learn(project: str, run: Run, ledger: Ledger, activity: Activity) -> int:
    """Keep a case of each evaluation of a run that is not kept yet; how many were new."""
    return cases.add(project, str(run.params["skill"]), _cases(run, ledger, activity))


def _cases(run: Run, ledger: Ledger, activity: Activity) -> Iterator[Case]:
    steps = {step["id"]: step for step in run.params["plan"]["steps"]}
    attempt = 0  # the turn at which the attempt began that is evaluated next
    for event in ledger.each_event(run.id):
        name, _, part = str(event.detail.get("from", "")).rpartition("-")
        judged = event.change.get("state", {}).get(name + plans.CHECK)
        if f"-{part}" == plans.DO:
            attempt = event.turn - 1
        if f"-{part}" != plans.CHECK or judged is None or name not in steps:
            continue
        calls = [
            f"{row.data['tool']} {compact_json.dumps(row.data.get('arguments', 'hidden'))}"
            for row in activity.rows(run.id, turn=attempt, kind="call")
        ]
        about = f"{run.params['goal']} | {steps[name]['title']} ({name}) | calls: {'; '.join(calls) or 'none'}"
        if judged["verdict"] == plans.PASS:
            kept = [(name, key, judged[key]) for key in steps[name].get("key_outputs", ()) if key in judged]
            yield Case(
                SUCCESS, f"{run.id}.{event.turn}", f"{about} | key outputs: {', '.join(memory.lines(kept)) or 'none'}"
            )
        else:
            yield Case(FAILURE, f"{run.id}.{event.turn}", f"{about} | feedback: {judged['feedback']}")
