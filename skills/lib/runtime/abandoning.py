"""The end of a run that nobody wants any more, with those of its sub-agents."""

from __future__ import annotations

from skills.lib import status_files
from skills.lib.engine.decision import Move
from skills.lib.errors import RefusedError, UsageError
from skills.lib.ledger import Stale

TYPE_CHECKING = False
if TYPE_CHECKING:
    from skills.lib.model.run import Run
    from skills.lib.runtime.project import Project


def abandon(project: Project, run_id: str, reason: str) -> list[Run]:
    """End a run and its sub-agents' unfinished runs, and record why; return those that were ended.

    Raises UsageError for a run that the ledger does not have, and RefusedError for one that has ended and for a
    sub-agent's: its parent gives it up as lost.
    """
    while True:
        run = project.ledger.run(run_id)
        if run is None:
            raise UsageError(
                f"the ledger {project.ledger.path} has no run {run_id!r:.80}", remedy="lockstep runs --all"
            )
        if run.ended:
            raise RefusedError(f"run {run.id} is {run.status}: nothing moves it any more")
        parent = project.ledger.run(run.parent) if run.parent else None
        if parent is not None and not parent.ended:
            lost = project.command_line.step("current", parent, "--lost", run.id, "--reason", reason)
            raise RefusedError(f"run {run.id} is a sub-agent's of {parent.id}, which waits for it", remedy=lost)
        below = _unfinished(project, run)
        ended = run.changed(status="abandoned", turn=run.turn + 1, last={**run.last, "reason": reason}, question=None)
        end = tuple((child.id, "abandoned") for child in below)
        try:
            detail = {"from": run.step, "reason": reason, "children": [child.id for child in below]}
            gone = [project.ledger.commit(run, Move(ended, "abandoned", detail, (), end), project.actor), *below]
        except Stale:
            continue
        for one in gone:
            status_files.remove(project.command_line.project, one.id)
        return gone


def with_those_below(project: Project, move: Move) -> Move:
    """The move that gives up on sub-agents, with the end of those that they started in their turn."""
    below = [one for child, _ in move.end for run in project.ledger.runs([child]) for one in _unfinished(project, run)]
    end = (*move.end, *[(one.id, "abandoned") for one in below])
    return Move(move.run, move.kind, move.detail, move.create, end, move.contents)


def _unfinished(project: Project, run: Run) -> list[Run]:
    found: list[Run] = []
    for child in project.ledger.runs(run.children):
        if not child.ended:
            found += [child, *_unfinished(project, child)]
    return found
