"""Where a followed run stands by the ledger, and its block as a reminder: the hook's slow ways, taken seldom."""

from __future__ import annotations

import os
import sys

from skills.lib import markers, paths
from skills.lib.errors import EnvironmentProblem
from skills.lib.hosts import sessions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from skills.lib.hosts.sessions import Followed
    from skills.lib.workflow.state import Run

    Marker = dict[str, Any]


def refreshed(followed: Followed) -> Marker | None:
    """The marker of a run, written anew from the ledger; None where the run is open no more.

    Of a sub-agent's run that has not begun it has little more than the status. Raises LedgerError where the ledger
    cannot be read; one that is gone with all that belongs to it holds nobody. EnvironmentProblem where the skill's
    code would have to be run, and may not be (see ``may_load``).
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
    return _written(run, followed, (told or {}).get("python", sys.executable))


def may_load(followed: Followed, script: str) -> bool:
    """Whether the hook may run the code of a script's skill: it is Lockstep's, or has been run in this session.

    A cloned project can bring a ledger and markers that name any file. So the command must have named that very script,
    and the marker must have been written since: the host then let the command run, before which the hook was asked.
    """
    script = os.path.realpath(script)
    own = os.path.realpath(__file__)
    for _ in range(3):
        own = os.path.dirname(own)
    if script.startswith(own + os.sep):
        return True
    return script == os.path.realpath(followed["script"]) and sessions.has_run(followed)


def _written(run: Run, followed: Followed, python: str) -> Marker:
    """Write the marker of a run as its next block would."""
    from skills.lib.runtime import loading
    from skills.lib.workflow import children, document
    from skills.lib.workflow.caller import Caller

    project = followed["project"]
    if run.parent and not run.spec.get("script"):
        workflow = children.task_workflow(run.workflow, run.spec)
    elif not may_load(followed, run.script):
        raise EnvironmentProblem(
            f"what the present step of run {run.id} allows is not known: its skill has not been run in this session",
            remedy=lockstep("resume", run.id, "--project", project),
        )
    else:
        workflow = loading.workflow_of_script(run.script)
    marker = document.standing(workflow, run, Caller(python, run.script, project))
    markers.write(project, run.id, marker)
    return marker


def lockstep(*words: str) -> str:
    """A lockstep command line for this machine."""
    from skills.lib.workflow.caller import join, lockstep_command

    return join([*lockstep_command(), *words])


def reminder(marker: Marker, longest: int, loads: bool = True) -> str:
    """The present block with a line that says what it is; where and how to see it, if it is too long or unreadable.

    ``loads`` says whether the skill's code may be run to make it.
    """
    head = (
        f"A Lockstep run is open in this session: {marker['run']} of {marker['workflow']}. It goes on step by step, "
        "each printed by a command. This is its present step"
    )
    shorter = (
        f"{head}: '{marker['title']}', turn {marker['turn']}. Its block is printed by:\n"
        f"  {lockstep('resume', marker['run'], '--project', marker['project'])}\n"
        f"The command that goes on:\n  {marker['next']}\n"
    )
    if not loads:
        return shorter[:longest]
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
