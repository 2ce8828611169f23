"""Plans walks that together take every transition of a workflow: loops to their bound, answers, verdicts."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

from skills.lib.engine import loops
from skills.lib.model.types import Dispatch, Outcome, Person

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skills.lib.model.steps import StepDef, Workflow

# A graph with more combinations of positions and loop counts than this is not planned.
STATES = 200_000
# The answers by which a person settles a review or a limit.
ASKED = ("accept", "revise")


@dataclass(frozen=True)
class Leg:
    """One transition of a walk.

    ``outcome`` is what the agent's report is to lead to (DEFAULT: any that has no route of its own); ``route`` the
    entry of the step's ``next`` that is then taken, to ``target``. The two differ if an ITERATE or FAIL meets its limit
    (``how`` is ``limit``), if an outcome takes the way of DEFAULT, and if a person settles a review or a limit (``how``
    is ``accept`` or ``revise``). For a question, ``how`` is the answer.
    """

    step: str
    outcome: Outcome
    route: Outcome
    target: str | None
    how: str = ""

    def __str__(self) -> str:
        how = f" ({self.how})" if self.how else ""
        return f"{self.step} -{self.route.value}{how}-> {self.target or 'done'}"


@dataclass(frozen=True)
class Walk:
    """The legs from the start of a workflow to its end, planned for the sake of ``goal``."""

    goal: Leg
    legs: tuple[Leg, ...]

    def __str__(self) -> str:
        return str(self.goal)


class Unplannable(ValueError):
    """No walk from the start takes a transition, or the workflow is too tangled to be planned."""


def every_walk(workflow: Workflow) -> list[Walk]:
    """Walks to the end that together take every transition of the workflow in every way there is.

    Raises Unplannable if a route of the graph is on no walk, or a walk does not reach the end.
    """
    explored = _Explored(workflow)
    missing = [
        f"{step.id} -{outcome.value}-> {target or 'done'}"
        for step in workflow.steps
        for outcome, target in step.next.items()
        if not any((leg.step, leg.route) == (step.id, outcome) for leg in explored.first)
    ]
    if missing:
        raise Unplannable(f"{workflow.name}: no walk from {workflow.start} takes {'; '.join(missing)}")
    # Dispatches that are skipped by one value are skipped together: what one path mixes, no report may lead along.
    several = len([step for step in workflow.steps if _may_be_skipped(step)]) > 1
    alike = [_Explored(workflow, skips=skips) for skips in (False, True)] if several else []
    walks: list[Walk] = []
    taken: set[Leg] = set()
    # The deepest first: their walks pass through most of the others.
    for goal in reversed(explored.first):
        if goal not in taken:
            legs = next((one for one in alike if one.leads_on(goal)), explored).walk(goal)
            taken.update(legs)
            walks.append(Walk(goal, legs))
    return walks[::-1]


def shortest_walk(workflow: Workflow, last: Outcome | None = None, start: str | None = None) -> Walk:
    """The shortest walk to the end, by a transition with the route ``last`` if there is one, else by none that fails.

    For FAIL, a word that fails by the workflow's ``ends`` will do. The walk begins at the workflow's start, or at the
    step ``start``.
    """
    explored = _Explored(workflow, start)
    ends = [leg for leg in explored.first if leg.target is None]
    if not ends:
        raise Unplannable(f"{workflow.name}: no walk from {workflow.start} comes to the end")
    done = [leg for leg in ends if not workflow.ends_failed(leg.route)]
    wanted = [leg for leg in ends if leg.route == last]
    if last is Outcome.FAIL:
        wanted += [leg for leg in ends if workflow.ends_failed(leg.route)]
    goal = (wanted or done or ends)[0]
    return Walk(goal, explored.walk(goal))


State = tuple[str, tuple[int, ...]]
# The state before each state, and the transition between them; None for the one that a search begins at.
Came = dict[State, "tuple[State, Leg] | None"]


class _Explored:
    """Every position with its loop counts that can be reached, and how it is first reached.

    With ``skips``, each Dispatch that has a route for SKIP is skipped (True), or none is (False).
    """

    def __init__(self, workflow: Workflow, start: str | None = None, skips: bool | None = None) -> None:
        self._workflow = workflow
        self._skips = skips
        self._bounds = {step.id: bound for step in workflow.steps if (bound := _bound(step))}
        limited = [step for step in workflow.steps if step.max_iterations and not step.gate]
        self._loops = {step.id: loops.around(workflow, step) for step in limited}
        self._origin = self._entered(None, start or workflow.start, tuple(0 for _ in self._bounds))
        self._came: Came = {self._origin: None}
        # From where each transition is first taken, and what it reaches.
        self.first: dict[Leg, tuple[State, State | None]] = {}
        for state, leg, reached in self._search(self._came):
            self.first.setdefault(leg, (state, reached))
            if len(self._came) > STATES:
                raise Unplannable(f"{workflow.name}: more than {STATES:,} combinations of loop counts")

    def _search(self, came: Came, skips: bool = True) -> Iterator[tuple[State, Leg, State | None]]:
        """Every transition that follows the states in ``came``, the nearest first, past no Dispatch unless ``skips``.

        ``came`` is filled with how each state is first reached.
        """
        queue = deque(came)
        while queue:
            state = queue.popleft()
            for leg, reached in self._onward(state):
                if self._is_skipped(leg) and not skips:
                    continue
                yield state, leg, reached
                if reached is not None and reached not in came:
                    came[reached] = (state, leg)
                    queue.append(reached)

    def leads_on(self, goal: Leg) -> bool:
        """True if the goal can be reached, and the end from there."""
        if goal not in self.first:
            return False
        _, reached = self.first[goal]
        return reached is None or self._to_end(reached, skips=True) is not None

    def walk(self, goal: Leg) -> tuple[Leg, ...]:
        """The shortest way from the start through the goal, and on to the end."""
        at, reached = self.first[goal]
        before = _legs_to(at, self._came)
        if reached is None:
            return (*before, goal)
        # What a Dispatch had targets for once, it has most likely again: it is skipped where it was before.
        skips = any(self._is_skipped(leg) for leg in (*before, goal))
        onward = self._to_end(reached, skips) or self._to_end(reached, not skips)
        if onward is None:
            raise Unplannable(f"{self._workflow.name}: no walk leads from {reached[0]} to the end")
        return (*before, goal, *onward)

    def _is_skipped(self, leg: Leg) -> bool:
        return leg.route is Outcome.SKIP and _may_be_skipped(self._workflow.step(leg.step))

    def _to_end(self, origin: State, skips: bool) -> tuple[Leg, ...] | None:
        """The shortest way to the end, past no Dispatch unless ``skips``; None if there is none."""
        came: Came = {origin: None}
        ends = ((state, leg) for state, leg, reached in self._search(came, skips) if reached is None)
        return next(((*_legs_to(state, came), leg) for state, leg in ends), None)

    def _onward(self, state: State) -> Iterator[tuple[Leg, State | None]]:
        at, counts = state
        step = self._workflow.step(at)
        visit = dict(zip(self._bounds, counts, strict=True)).get(at, 0)
        for leg in _legs(self._workflow, step, visit):
            if self._skips not in (None, leg.route is Outcome.SKIP) and _may_be_skipped(step):
                continue
            yield leg, None if leg.target is None else self._entered(leg, leg.target, counts)

    def _entered(self, leg: Leg | None, step: str, counts: tuple[int, ...]) -> State:
        raised = [
            min((0 if self._begins_anew(name, leg, step) else count) + (name == step), bound)
            for (name, bound), count in zip(self._bounds.items(), counts, strict=True)
        ]
        return step, tuple(raised)

    def _begins_anew(self, name: str, leg: Leg | None, step: str) -> bool:
        """True if the count of a limited step begins anew: its loop is entered from outside, or by an answer."""
        loop = self._loops.get(name, ())
        if leg is None or step not in loop:
            return False
        source = self._workflow.step(leg.step)
        answered = isinstance(source.handler, Person) or (leg.how in ASKED and not source.gate)
        return answered or leg.step not in loop


def _legs_to(state: State, came: Came) -> tuple[Leg, ...]:
    """The way on which a search reached the state."""
    legs: list[Leg] = []
    while (step := came[state]) is not None:
        state, leg = step
        legs.append(leg)
    return tuple(legs[::-1])


def _may_be_skipped(step: StepDef) -> bool:
    """True if a Dispatch is skipped when it has no target."""
    return isinstance(step.handler, Dispatch) and Outcome.SKIP in step.next


def _bound(step: StepDef) -> int:
    """How many entries of the step behave differently; 0 if all are alike."""
    if step.gate:
        return step.gate.bound
    return step.max_iterations or 0


def _legs(workflow: Workflow, step: StepDef, visit: int) -> Iterator[Leg]:
    """The transitions that an agent can bring about at the given entry of a step."""
    if isinstance(step.handler, Person):
        for answer, outcome in (step.handler.choices or {"as you like": Outcome.OK}).items():
            yield from _leg(step, outcome, answer)
        return
    for outcome in _possible(step):
        spent = bool(step.max_iterations) and visit >= (step.max_iterations or 0) and not step.gate
        if step.gate and outcome is Outcome.FAIL and visit >= step.gate.bound:
            yield from _settled(step)
        elif (outcome is Outcome.FAIL or outcome.is_own) and spent and loops.leads_back(workflow, step, outcome):
            yield from _at_limit(workflow, step, outcome)
        elif outcome is Outcome.ITERATE and step.max_iterations and visit >= step.max_iterations:
            yield from _leg(step, step.at_limit, "limit", reported=outcome)
        else:
            yield from _leg(step, outcome)


def _at_limit(workflow: Workflow, step: StepDef, outcome: Outcome) -> Iterator[Leg]:
    """What a FAIL or a word of its own leads to at its step's limit: what is declared for it, or a person decides."""
    if loops.leaves_at_limit(workflow, step, outcome):
        yield from _leg(step, step.at_limit, "limit", reported=outcome)
    elif outcome.is_own:
        yield from _leg(step, loops.accepted(workflow, step, outcome), "accept", reported=outcome)
        yield from _leg(step, outcome, "revise")
    else:
        yield from _settled(step)


def _settled(step: StepDef) -> Iterator[Leg]:
    """How a person settles a review, or a FAIL at its limit."""
    yield from _leg(step, Outcome.OK, "accept")
    yield from _leg(step, Outcome.FAIL, "revise")


def _leg(step: StepDef, outcome: Outcome, how: str = "", reported: Outcome | None = None) -> Iterator[Leg]:
    route = step.route(outcome)
    if route is not None:
        way = outcome if outcome in step.next else Outcome.DEFAULT
        yield Leg(step.id, reported or outcome, way, route[0], how)


def _possible(step: StepDef) -> list[Outcome]:
    """The outcomes that the step can end with."""
    if step.gate:
        return [outcome for outcome in step.next if outcome in (Outcome.OK, Outcome.FAIL, Outcome.SKIP)]
    if isinstance(step.handler, Dispatch) and not step.function:
        return [outcome for outcome in step.next if outcome in (Outcome.OK, Outcome.FAIL, Outcome.SKIP)]
    if not (step.function and step.outcomes):
        return list(step.next)
    skips = isinstance(step.handler, Dispatch) and Outcome.SKIP in step.next  # if there is no target
    return list(dict.fromkeys((*step.outcomes, *([Outcome.SKIP] if skips else []))))
