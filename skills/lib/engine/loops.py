"""How often a bounded loop was repeated: a step's count begins at 0 when its loop is entered from outside."""

from __future__ import annotations

from skills.lib.model.steps import StepDef, Workflow
from skills.lib.model.types import Outcome

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from skills.lib.model.run import Run


def counted(workflow: Workflow, run: Run, target: str, answered: bool) -> dict[str, int]:
    """The counts after the run goes on to ``target``; ``answered`` says that a person's answer led there."""
    rounds = dict(run.rounds)
    for step in workflow.steps:
        if not step.max_iterations:
            continue
        if target == step.id or rounds.get(step.id):
            loop = around(workflow, step)
            if target in loop and (answered or run.step not in loop):
                rounds[step.id] = 0
        if target == step.id:
            # A run of an older ledger has no such count: its number of visits is used.
            rounds[step.id] = rounds.get(step.id, run.visits.get(step.id, 0)) + 1
    return rounds


def leads_back(workflow: Workflow, step: StepDef, outcome: Outcome) -> bool:
    """True if a run can reach the step again after leaving it by that outcome."""
    route = step.route(outcome)
    return bool(route and route[0] is not None and step.id in _reached(workflow, route[0]))


def around(workflow: Workflow, step: StepDef) -> set[str]:
    """The natural loops of the step's ITERATE and FAIL edges: what lies on a way from their targets back to it."""
    members = {step.id}
    before = _before(workflow)
    for outcome in (Outcome.ITERATE, Outcome.FAIL):
        route = step.route(outcome)
        head = route[0] if route else None
        if head is None or (outcome is Outcome.FAIL and step.gate):
            continue
        behind = {step.id}
        queue = [] if head == step.id else [step.id]
        while queue:
            for name in before.get(queue.pop(), ()):
                if name not in behind:
                    behind.add(name)
                    if name != head:
                        queue.append(name)
        reached = _reached(workflow, head)
        if step.id in reached:
            members |= (behind & reached) | {head}
    return members


def _before(workflow: Workflow) -> Mapping[str, list[str]]:
    found: dict[str, list[str]] = {}
    for step in workflow.steps:
        for target in step.next.values():
            if target is not None:
                found.setdefault(target, []).append(step.id)
    return found


def _reached(workflow: Workflow, start: str) -> set[str]:
    seen, queue = {start}, [start]
    while queue:
        name = queue.pop()
        for target in workflow.step(name).next.values() if workflow.has(name) else ():
            if target is not None and target not in seen:
                seen.add(target)
                queue.append(target)
    return seen
