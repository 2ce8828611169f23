"""The status of a followed run by the ledger: the slow way of the hook, taken seldom."""

from __future__ import annotations

import os

from skills.lib import paths, status_files
from skills.lib.errors import EnvironmentProblem
from skills.lib.hosts.hook import tools
from skills.lib.hosts.hook.shell_commands import is_shipped

TYPE_CHECKING = False
if TYPE_CHECKING:
    from skills.lib.hosts.hook.followed import Followed, Status
    from skills.lib.ledger import Ledger
    from skills.lib.model.run import Run


def refreshed(followed: Followed) -> Status | None:
    """The status of a run, written again from the ledger; None if the run is open no more.

    For a paused run, and a sub-agent's that has not begun, it has few entries. Raises LedgerError if the ledger cannot
    be read; one that was removed with all that belongs to it holds nobody. Raises EnvironmentProblem if the code of the
    skill would have to be run, and may not be (see ``may_load``).
    """
    from skills.lib.ledger import Ledger

    project = followed["project"]
    ledger = Ledger.existing(paths.home(project))
    if ledger is None:
        return None
    with ledger:
        run = ledger.run(followed["run"])
        is_paused = run is not None and ledger.is_paused(run)
        if run is None or run.ended:
            status_files.remove(project, followed["run"])
            return None
        if run.status == "pending" or is_paused:
            about = {"run": run.id, "status": run.status, "parent": run.parent, "turn": run.turn, "script": run.script}
            return {**about, "is_paused": is_paused}
        status, loads = status_files.read(project, run.id), may_load(followed, run.script)
        is_true = status and (status["turn"], status["step"], status["status"]) == (run.turn, run.step, run.status)
        if status and is_true and (not loads or status_files.is_signed(project, run.id, status)):
            return trusted(status, followed)
        return _written(run, followed, ledger)


def question_turn(followed: Followed) -> int | None:
    """The turn at which a run waits for an answer, by the ledger; None if it does not wait, or there is no ledger.

    Raises LedgerError if the ledger cannot be read. The status file does not count: an agent can write it.
    """
    from skills.lib.ledger import Ledger

    ledger = Ledger.existing(paths.home(followed["project"]))
    if ledger is None:
        return None
    with ledger:
        run = ledger.run(followed["run"])
    return run.turn if run is not None and run.status == "waiting" else None


def trusted(status: Status, followed: Followed) -> Status:
    """What of a status file may be shown to the agent: its texts only if a skill that this user ran has signed it.

    A cloned project can bring a status file with any texts. What the step allows is taken from it all the same.
    """
    if status_files.is_signed(followed["project"], followed["run"], status):
        return {**status, "is_trusted": True}
    named = [name for name in status["tools"] if tools.is_name(name)]
    texts = dict.fromkeys(("workflow", "title", "next", "python"), "")
    return {**status, **texts, "tools": named, "script": followed["script"], "is_trusted": False, "is_paused": False}


def may_load(followed: Followed, script: str) -> bool:
    """True if the hook may run the code of a script's skill: it is Lockstep's, or this user ran it for this run.

    A cloned project can bring a ledger and status files that name any file. A signature is made by the script that
    runs, with a key that is in no project.
    """
    if not paths.has_own_graph(script):  # a link to a trusted script, with a graph of the project beside it
        return False
    script = os.path.realpath(script)
    return is_shipped(script) or (bool(followed.get("signed")) and script == os.path.realpath(followed["script"]))


def _written(run: Run, followed: Followed, ledger: Ledger) -> Status:
    """The status of a run as its next block would write it. It is written if the skill's code may be run."""
    from skills.lib.blocks import document
    from skills.lib.blocks.command_line import here
    from skills.lib.engine import children
    from skills.lib.runtime import layered, loading

    project = followed["project"]
    command_line = here(run.script, project)
    if run.parent and not run.spec.get("script"):
        workflow = children.task_workflow(run.workflow, run.spec)
    elif not may_load(followed, run.script):
        raise EnvironmentProblem(
            f"what the present step of run {run.id} allows is not known: nothing shows that its skill ran on this "
            "machine, and its own next command would show it",
            remedy=f"{command_line.person('abandon', run.id)} --reason '…'",
        )
    else:
        workflow = layered.as_opened(loading.workflow_of_script(run.script), run, ledger)
    status = document.run_status(workflow, run, command_line)
    if may_load(followed, run.script):
        status_files.write(project, run.id, status)
        return {**status, "is_trusted": True}
    return trusted(status, followed)
