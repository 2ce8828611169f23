"""The block of an earlier turn, made again from the record: what the run was then, and its definition."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from skills.lib.blocks import document
from skills.lib.blocks.command_line import here
from skills.lib.errors import LockstepError
from skills.lib.model.run import Run

if TYPE_CHECKING:
    from skills.lib.ledger import Ledger
    from skills.lib.ledger.history import Event
    from skills.lib.model.steps import Workflow


def at_turn(events: Iterable[Event], turn: int) -> Run | None:
    """The run as it was in a turn; None if it had not begun."""
    fields: dict[str, Any] = {}
    state: dict[str, Any] = {}
    for event in events:
        if event.turn > turn and event.change:
            break
        state |= event.change.get("state", {})
        fields |= event.change
    return Run(**{**fields, "state": state}) if fields else None


def printed(ledger: Ledger, workflow: Workflow | None, run: Run | None, project: str) -> str:
    """The block that the run's commands printed then; "" for a run that was at no step, or cannot be shown any more.

    Sub-agents are in it as they are now.
    """
    if run is None or workflow is None or run.ended or not run.step or not workflow.has(run.step):
        return ""
    try:
        children = ledger.runs(run.children)
        return document.render(workflow, document.step_document(workflow, run, here(run.script, project), children))
    except (LockstepError, TypeError, ValueError, KeyError):  # an older record, or another version of Lockstep
        return ""
