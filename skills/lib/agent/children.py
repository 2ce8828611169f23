"""The sub-agents of a step, each in a session of its own."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from skills.lib.agent import stops
from skills.lib.errors import LockstepError
from skills.lib.model.run import Request

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from skills.lib.agent.following import Following

# How many work at once if nothing else says it.
AT_ONCE = 4


def run(following: Following, session: Callable[[str], str]) -> None:
    """Run the sub-agents of the present step that have not ended; ``session`` follows one and says why it stopped.

    One whose session stopped is given up with that reason: the step then goes on without it. At a budget that is spent
    the step does not go on, and so none is given up. The sub-agent that follows a skill in place of this run stays:
    this session stops as well, and the next one goes on with both.
    """
    waiting = [child["id"] for child in following.peek().children if child["status"] in _OPEN]
    with ThreadPoolExecutor(following.runner.max_parallel() or AT_ONCE, "lockstep-child") as pool:
        stopped = dict(zip(waiting, pool.map(session, waiting), strict=True))
    if following.rules is not None and following.rules.is_fork:
        _take(following, next(iter(stopped.values()), ""))
        return
    is_spent = bool(following.budget and following.budget.spent())
    for child, reason in stopped.items():
        if reason and not is_spent:
            _give_up(following, child, reason)


_OPEN = ("pending", "open", "waiting")


def _take(following: Following, stopped: str) -> None:
    """Take the result of the sub-agent that did the whole skill, or stop for the reason that its session stopped."""
    if stopped:
        following.stop(stopped, stops.SUB_AGENT)
        return
    peek = following.peek()
    if not peek.run.ended and not any(one["status"] in _OPEN for one in peek.children):
        request = Request("next", run=peek.run.id, turn=peek.run.turn)
        response = following.runner.advance(following.workflow, following.run, request)
        if response.exit_code and response.refusal is not None:
            raise LockstepError(f"the result of the sub-agent could not be taken: {response.refusal.why}")


def _give_up(following: Following, child: str, reason: str) -> None:
    peek = following.peek()
    if not any(one["id"] == child and one["status"] in _OPEN for one in peek.children):
        return
    request = Request("current", run=peek.run.id, turn=peek.run.turn, lost=child, reason=reason)
    response = following.runner.advance(following.workflow, following.run, request)
    if response.exit_code and response.refusal is not None:
        raise LockstepError(f"the sub-agent {child} could not be given up: {response.refusal.why}")
