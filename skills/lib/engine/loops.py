"""The bounded loops of a workflow, and how often a run has repeated each."""

from __future__ import annotations

from skills.lib.model.types import Outcome

TYPE_CHECKING = False
if TYPE_CHECKING:
    from skills.lib.model.run import Run
    from skills.lib.model.steps import StepDef, Workflow


def counted(workflow: Workflow, run: Run, target: str, answered: bool) -> dict[str, int]:
    """How often each bounded loop was repeated, after the run goes on to ``target``.

    A step's count begins at 0 when its loop is entered from outside, or if a person's answer led there (``answered``).
    """
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


def own_words(step: StepDef) -> list[Outcome]:
    """The words of the workflow's own by which the step can end."""
    return [word for word in dict.fromkeys((*step.next, *step.outcomes)) if word.is_own]


def leaves_at_limit(workflow: Workflow, step: StepDef, outcome: Outcome) -> bool:
    """True if ``at_limit`` says where a FAIL or a word of its own leads once the step's iterations are used up.

    None of the two becomes OK by itself, and a word of its own must leave the loop.
    """
    instead = step.at_limit
    if instead in (Outcome.OK, Outcome.ITERATE, outcome) or step.route(instead) is None:
        return False
    return not (outcome.is_own or instead.is_own) or not leads_back(workflow, step, instead)


def accepted(workflow: Workflow, step: StepDef, outcome: Outcome) -> Outcome:
    """The outcome by which a person goes on at the limit of ``outcome``.

    It is OK, or if that has no route the first other outcome that leaves the loop, or the first other one.
    """
    others = [other for other in step.next if other not in (outcome, Outcome.DEFAULT)]
    if step.route(Outcome.OK) is not None or not others:
        return Outcome.OK
    return next((other for other in others if not leads_back(workflow, step, other)), others[0])


def around(workflow: Workflow, step: StepDef) -> set[str]:
    """The natural loops of the step's ITERATE, FAIL and own-word edges: what lies on ways from their targets to it."""
    members = {step.id}
    for outcome in (Outcome.ITERATE, Outcome.FAIL, *own_words(step)):
        route = step.route(outcome)
        head = route[0] if route else None
        if head is None or (outcome is Outcome.FAIL and step.gate):
            continue
        behind = {step.id}
        queue = [] if head == step.id else [step.id]
        while queue:
            target = queue.pop()
            for name in [before.id for before in workflow.steps if target in before.next.values()]:
                if name not in behind:
                    behind.add(name)
                    if name != head:
                        queue.append(name)
        reached = _reached(workflow, head)
        if step.id in reached:
            members |= (behind & reached) | {head}
    return members


def _reached(workflow: Workflow, start: str) -> set[str]:
    seen, queue = {start}, [start]
    while queue:
        name = queue.pop()
        for target in workflow.step(name).next.values() if workflow.has(name) else ():
            if target is not None and target not in seen:
                seen.add(target)
                queue.append(target)
    return seen
