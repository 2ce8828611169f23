"""Abandons a run, and the runs below it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skills.lib import status_files
from skills.lib.engine import not_done
from skills.lib.engine.decision import Move
from skills.lib.errors import RefusedError
from skills.lib.ledger import Stale
from skills.lib.runtime.project import unknown_run

if TYPE_CHECKING:
    from skills.lib.model.run import Run
    from skills.lib.runtime.project import Project


def abandon(project: Project, run_id: str, reason: str) -> list[Run]:
    """End a run and its sub-agents' unfinished runs, and record why; return those that were ended.

    Raises UsageError for an unknown run; RefusedError for one that has ended, and for a sub-agent's whose parent waits.
    """
    while True:
        run = project.ledger.run(run_id)
        if run is None:
            raise unknown_run(project.ledger.path, run_id)
        project.require_own(run)
        if run.ended:
            raise RefusedError(f"run {run.id} is {run.status}: nothing moves it any more")
        parent = project.ledger.run(run.parent) if run.parent else None
        if parent is not None and not parent.ended:
            lost = project.command_line.step("current", parent, "--lost", run.id, "--reason", reason)
            what = f"run {run.id} is a sub-agent's of {parent.id}, which waits for it"
            remedy = f"advance run {parent.id} with {run.id} as lost, and a reason"
            raise RefusedError(what, remedy=remedy, in_shell=lost)
        below = project.unfinished_below(run)
        last = {**run.last, "reason": reason}
        left = not_done.at_abandoning(run)
        ended = left.changed(status="abandoned", turn=run.turn + 1, last=last, question=None)
        detail = {"from": run.step, "reason": reason, "children": [child.id for child in below]}
        end = tuple((child.id, "abandoned") for child in below)
        try:
            abandoned = project.commit(run, Move(ended, "abandoned", detail, (), end))
        except Stale:
            continue
        status_files.remove(project.command_line.project, abandoned.id, project.home)
        project.cancel(abandoned.id)
        return [abandoned, *below]
