"""Cancels what a session or a worker does with a run; the run stays."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

from skills.lib import terminal
from skills.lib.agent import runs
from skills.lib.agent.kept import submissions
from skills.lib.errors import RefusedError
from skills.lib.ledger import Ledger

if TYPE_CHECKING:
    from skills.lib.agent.agent import Agent


def cancel(agent: Agent, run_id: str, by: str = "", actor: str = "") -> None:
    """Stop who drives a run, in any process, before the next model call.

    A submitted run is parked: workers, of any machine, leave it alone until it is submitted again. ``by`` is the name
    of who does it, if it is known. Raises RefusedError if nobody drives the run, and no worker is to.
    """
    with Ledger(agent.home, create=False) as ledger:
        found = submissions.of(ledger, run_id)
        is_for_workers = found is not None and found.is_for_workers
        if found is not None and is_for_workers:
            reason = f"cancelled by {by}" if by else "cancelled"
            submissions.park(ledger, runs.known(agent.project, found.run), reason, actor or terminal.actor(), by)
    if is_driven(agent, run_id):
        agent.cancel(run_id, by)
    elif not is_for_workers:
        raise RefusedError(
            f"nobody drives run {run_id} at this moment: there is no session to cancel",
            remedy=f"lockstep abandon {run_id} --reason WHY, which ends the run",
        )


def is_driven(agent: Agent, run_id: str) -> bool:
    """True if a session of this machine drives the run, or a worker follows it."""
    return agent.is_driven(run_id) or bool(worker_of(agent, run_id))


def worker_of(agent: Agent, run_id: str) -> str:
    """The worker that follows the run, or the run that it is a sub-agent's of; "" if none does."""
    root = run_id.partition(".")[0]
    with Ledger(agent.home, create=False) as ledger:
        if submissions.of(ledger, root) is None or find_spec("sqlalchemy") is None:
            return ""
    from skills.lib.fleet.fleet import members  # of those who have submitted a run

    return next((one.worker for one in members(agent.project) if one.is_live and root in one.runs), "")
