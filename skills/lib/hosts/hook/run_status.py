"""Where a followed run stands by the ledger, and its block as a reminder: the hook's slow ways, taken seldom."""

from __future__ import annotations

import os
import sys

from skills.lib import paths, status_files
from skills.lib.errors import EnvironmentProblem
from skills.lib.hosts.hook import sessions, tools

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from skills.lib.hosts.hook.sessions import Followed
    from skills.lib.model.run import Run

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
        status_files.remove(project, followed["run"])
        return None
    if run.status == "pending":
        return {"run": run.id, "status": run.status, "parent": run.parent, "turn": 0, "script": run.script}
    told = status_files.read(project, run.id)
    is_true = told and (told["turn"], told["step"], told["status"]) == (run.turn, run.step, run.status)
    if told and is_true and (sessions.has_run(followed) or not may_load(followed, run.script)):
        return told_of(told, followed)
    return _written(run, followed)


def told_of(marker: Marker, followed: Followed) -> Marker:
    """What a marker says that may be told to the agent: its words only where the skill wrote them in this session.

    A cloned project can bring a marker with any words. What the step allows is taken from it all the same.
    """
    if sessions.has_run(followed):
        return marker
    named = [name for name in marker["tools"] if tools.is_name(name)]
    return {**marker, "workflow": "", "title": "", "next": "", "tools": named, "script": followed["script"]}


def may_load(followed: Followed, script: str) -> bool:
    """Whether the hook may run the code of a script's skill: it is Lockstep's, or has been run in this session.

    A cloned project can bring a ledger and markers that name any file. So the command must have named that very script,
    and the marker must have been written since: the host then let the command run, before which the hook was asked.
    """
    script = os.path.realpath(script)
    own = os.path.realpath(__file__)
    for _ in range(4):
        own = os.path.dirname(own)
    if script.startswith(own + os.sep):
        return True
    return script == os.path.realpath(followed["script"]) and sessions.has_run(followed)


def _written(run: Run, followed: Followed) -> Marker:
    """The marker of a run as its next block would write it; written where the skill's code may be run.

    Elsewhere it is not, for that a marker was written since says that the skill was run.
    """
    from skills.lib.blocks import document
    from skills.lib.blocks.command_line import CommandLine
    from skills.lib.engine import children
    from skills.lib.runtime import loading

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
    marker = document.standing(workflow, run, CommandLine(sys.executable, run.script, project))
    if may_load(followed, run.script):
        status_files.write(project, run.id, marker)
        return marker
    return told_of(marker, followed)


def lockstep(*words: str) -> str:
    """A lockstep command line for this machine."""
    from skills.lib.blocks.command_line import join, lockstep_command

    return join([*lockstep_command(), *words])


def reminder(marker: Marker, longest: int, loads: bool = True) -> str:
    """The present block with a line that says what it is; where and how to see it, if it is too long or unreadable.

    ``loads`` says whether the skill's code may be run to make it.
    """
    of = f" of {marker['workflow']}" if marker["workflow"] else ""
    head = (
        f"A Lockstep run is open in this session: {marker['run']}{of}. It goes on step by step, "
        "each printed by a command."
    )
    shorter = _named(marker, head)
    if not loads:
        return shorter[:longest]
    try:
        text = f"{head} This is its present step, as the command printed it:\n{_block(marker)}"
    except Exception as error:
        why = printable(f"{type(error).__name__}: {str(error)[:300]}")
        return f"{shorter}(The block could not be made here: {why})\n"[:longest]
    return text if len(text) <= longest else shorter[:longest]


def _named(marker: Marker, head: str) -> str:
    """Where the run stands, and what prints its block; no words of a marker that the skill did not write here."""
    printed = f"printed by:\n  {lockstep('resume', marker['run'], '--project', marker['project'])}\n"
    if not marker["next"]:
        return printable(f"{head} Its present step is {printed}")
    at = f"{head} This is its present step: '{marker['title']}', turn {marker['turn']}. Its block is {printed}"
    return printable(f"{at}The command that goes on:\n  {marker['next']}\n")


def printable(text: str) -> str:
    """The text with a ? for each character that a terminal would act on: names and titles come from outside."""
    return "\n".join("".join(char if char.isprintable() else "?" for char in line) for line in text.split("\n"))


def _block(marker: Marker) -> str:
    from skills.lib.blocks.command_line import CommandLine, lockstep_command
    from skills.lib.runtime import Runner, loading, script

    path = marker["script"]
    runner = Runner(CommandLine(sys.executable, path, marker["project"], lockstep_command()))
    try:
        response = runner.state(loading.workflow_of_script(path), marker["run"])
        return script.render_response(response, runner)
    finally:
        runner.close()
