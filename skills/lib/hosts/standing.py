"""Where a followed run stands by the ledger, and its block as a reminder: the hook's slow ways, taken seldom."""

from __future__ import annotations

import os
import sys

from skills.lib import markers, paths

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypedDict

    from skills.lib.workflow.state import Run

    class Followed(TypedDict):
        """A run that an agent follows, as its session file has it."""

        run: str
        project: str
        script: str

    Marker = dict[str, Any]


def refreshed(followed: Followed) -> Marker | None:
    """The marker of a run, written anew from the ledger; None where the run is open no more.

    Of a sub-agent's run that has not begun it has little more than the status. Raises LedgerError where the ledger
    cannot be read; one that is gone with all that belongs to it holds nobody.
    """
    from skills.lib.ledger import Ledger, database

    project, home = followed["project"], paths.home(followed["project"])
    if not any(os.path.lexists(os.path.join(home, name)) for name in (database.FILE, database.MARKER)):
        return None
    ledger = Ledger(home, create=False)
    try:
        run = ledger.run(followed["run"])
    finally:
        ledger.close()
    if run is None or run.ended:
        markers.remove(project, followed["run"])
        return None
    if run.status == "pending":
        return {"run": run.id, "status": run.status, "parent": run.parent, "turn": 0, "script": run.script}
    told = markers.read(project, run.id)
    if told and (told["turn"], told["step"], told["status"]) == (run.turn, run.step, run.status):
        return told
    return _written(run, project, (told or {}).get("python", sys.executable))


def _written(run: Run, project: str, python: str) -> Marker:
    """Write the marker of a run as its next block would."""
    from skills.lib.runtime import loading
    from skills.lib.workflow import children, document
    from skills.lib.workflow.caller import Caller

    if run.parent and not run.spec.get("script"):
        workflow = children.task_workflow(run.workflow, run.spec)
    else:
        workflow = loading.workflow_of_script(run.script)
    marker = document.standing(workflow, run, Caller(python, run.script, project))
    markers.write(project, run.id, marker)
    return marker


def lockstep(*words: str) -> str:
    """A lockstep command line for this machine."""
    from skills.lib.workflow.caller import join, lockstep_command

    return join([*lockstep_command(), *words])


def reminder(marker: Marker, longest: int) -> str:
    """The present block with a line that says what it is; where and how to see it, if it is too long or unreadable."""
    head = (
        f"A Lockstep run is open in this session: {marker['run']} of {marker['workflow']}. It goes on step by step, "
        "each printed by a command. This is its present step"
    )
    shorter = (
        f"{head}: '{marker['title']}', turn {marker['turn']}. Its block is printed by:\n"
        f"  {lockstep('resume', marker['run'], '--project', marker['project'])}\n"
        f"The command that goes on:\n  {marker['next']}\n"
    )
    try:
        text = f"{head}, as the command printed it:\n{_block(marker)}"
    except Exception as error:
        return f"{shorter}(The block could not be made here: {type(error).__name__}: {str(error)[:300]})\n"[:longest]
    return text if len(text) <= longest else shorter[:longest]


def _block(marker: Marker) -> str:
    from skills.lib.runtime import Desk, loading, script
    from skills.lib.workflow.caller import Caller, lockstep_command

    path = marker["script"]
    desk = Desk(Caller(marker["python"], path, marker["project"], lockstep_command()))
    try:
        reply = desk.state(loading.workflow_of_script(path), marker["run"])
        return script.render_reply(reply, desk)
    finally:
        desk.close()
