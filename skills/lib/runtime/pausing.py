"""A person lets the agent of a run do other work, and holds it to the run again."""

from __future__ import annotations

from skills.lib import paths, terminal
from skills.lib.blocks.command_line import join
from skills.lib.errors import RefusedError, UsageError
from skills.lib.ledger import Ledger
from skills.lib.runtime.project import require_own


def pause(project: str, run_id: str, reason: str | None) -> str:
    """Note that a run is paused until it moves, as a person at a terminal says; return what to tell the person."""
    terminal.require_person("that a run is paused is a person's to say")
    return noted(project, run_id, True, {"reason": reason} if reason else {})


def unpause(project: str, run_id: str) -> str:
    """Note that a run is not paused any more; return what to tell the person."""
    terminal.require_person("that a run is unpaused is a person's to say")
    return noted(project, run_id, False, {})


def noted(project: str, run_id: str, pauses: bool, detail: dict[str, str], actor: str = terminal.PERSON) -> str:
    """Note what a person said of a pause; the caller vouches that it was one."""
    kind = "paused" if pauses else "unpaused"
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
        ledger.note(run.id, run.turn, kind, actor, detail)
    if pauses:
        return f"Run {run.id} is paused at {run.step}: its agent may do other work until the run goes on."
    return f"Run {run.id} is not paused any more: its agent is held to {run.step} again."
