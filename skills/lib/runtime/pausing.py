"""A person lets the agent of a run do other work, and holds it to the run again."""

from __future__ import annotations

from skills.lib import paths, terminal
from skills.lib.blocks.command_line import join
from skills.lib.errors import RefusedError, UsageError
from skills.lib.ledger import Ledger
from skills.lib.runtime.project import require_own


def pause(project: str, run_id: str, reason: str | None) -> str:
    """Note that a run is paused until it moves; return what to tell the person."""
    return _note(project, run_id, True, {"reason": reason} if reason else {})


def unpause(project: str, run_id: str) -> str:
    """Note that a run is not paused any more; return what to tell the person."""
    return _note(project, run_id, False, {})


def _note(project: str, run_id: str, pauses: bool, detail: dict[str, str]) -> str:
    kind = "paused" if pauses else "unpaused"
    terminal.require_person(f"that a run is {kind} is a person's to say")
    with Ledger(paths.home(project), create=False) as ledger:
        run = ledger.run(run_id)
        if run is None:
            remedy = join(["lockstep", "runs", "--all", "--project", project])
            raise UsageError(f"the ledger {ledger.path} has no run {run_id!r:.80}", remedy=remedy)
        require_own(run, project)
        if run.ended:
            raise RefusedError(f"run {run.id} is {run.status}: it holds no agent any more")
        if ledger.is_paused(run) is pauses:
            return f"Run {run.id} is {'paused already' if pauses else 'not paused'}."
        ledger.note(run.id, run.turn, kind, terminal.PERSON, detail)
    if pauses:
        return f"Run {run.id} is paused at {run.step}: its agent may do other work until the run goes on."
    return f"Run {run.id} is not paused any more: its agent is held to {run.step} again."
