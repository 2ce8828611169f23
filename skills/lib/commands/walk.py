"""``lockstep walk``."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile

import click

from skills.lib import terminal
from skills.lib.blocks import document, xml
from skills.lib.blocks.command_line import CommandLine, join, lockstep_command
from skills.lib.commands.console.options import complete_run, examples, project_option, skill_argument
from skills.lib.commands.console.prompts import Left
from skills.lib.commands.console.screen import Screen
from skills.lib.commands.queries import runs
from skills.lib.commands.walking.block import print_block
from skills.lib.commands.walking.journey import Journey
from skills.lib.errors import PRINTED, RefusedError, UsageError, did_you_mean, nearest
from skills.lib.hosts import skills
from skills.lib.ledger import is_shared
from skills.lib.model.steps import Workflow
from skills.lib.runtime import cli
from skills.lib.testing.blocks import PrintedBlock


@click.command(
    epilog=examples(
        "lockstep walk problem-analysis  # play the agent; nothing is kept",
        "lockstep walk my-skill --step approve  # only look at one block",
        "lockstep walk my-skill --record  # keep the run in the project's ledger",
    )
)
@skill_argument
@click.option("--step", metavar="STEP", help="Only show the block of this step (an id or a position).")
@click.option("--run", "run_id", metavar="ID", shell_complete=complete_run, help="Go on with this run of the ledger.")
@click.option("--record", is_flag=True, help="Keep the run in the project's ledger; it takes a terminal.")
@project_option
@click.pass_obj
def walk(screen: Screen, skill: str, step: str | None, run_id: str | None, record: bool, project: str) -> int:
    """Play the agent of SKILL: see each block, report what it asks for, answer for people and sub-agents.

    The run is kept apart from the project's unless --record says otherwise. At every prompt b or quit leaves; the
    command that goes on is printed then. What a step checks by itself (files, commands) is checked in the project.
    """
    loaded = skills.one(project, skill)
    workflow = loaded.require()
    if loaded.script is None:
        raise UsageError(f"{workflow.name} has no entry script beside {loaded.file}", remedy="lockstep validate")
    script = os.path.abspath(loaded.script)
    if step is not None:
        _look(screen, workflow, script, project, step)
        return PRINTED
    if record or run_id:
        block = runs.command(project, "resume", run_id) if run_id else ""
        remedy = f"{block}, which prints its block" if block else "leave out --record"
        terminal.require_person("a walk that is kept says what a person did", remedy)
    if record or run_id:
        return _walk(screen, Journey(screen, project, script, workflow), run_id, project, skill, "")
    return _walk_apart(screen, Journey(screen, project, script, workflow), project, skill)


def _look(screen: Screen, workflow: Workflow, script: str, project: str, step: str) -> None:
    if step in ("next", "done", "current"):
        raise UsageError(f"--step {step} depends on a run", valid=", ".join(each.id for each in workflow.steps))
    try:
        step_id = cli.step_id(workflow, step)
    except UsageError as error:  # what it says besides is for a run
        valid = ", ".join(f"{at} {each.id}" for at, each in enumerate(workflow.steps, 1))
        what = error.what + did_you_mean(nearest(step, [each.id for each in workflow.steps]))
        raise UsageError(what, valid=valid, remedy=f"lockstep show {workflow.name}") from None
    command_line = CommandLine(sys.executable, script, project, lockstep_command())
    looked = document.look_document(workflow, workflow.step(step_id), command_line)
    print_block(screen, PrintedBlock(PRINTED, xml.render(looked)))


def _walk_apart(screen: Screen, journey: Journey, project: str, skill: str) -> int:
    """Walk on a separate ledger, in a file, which is kept only if the run is not at its end."""
    home = tempfile.mkdtemp(prefix="lockstep-walk-")
    separate = {"LOCKSTEP_HOME": home, **dict.fromkeys(["LOCKSTEP_LEDGER_URL"] * is_shared(), "")}
    before = {name: os.environ.get(name) for name in separate}
    os.environ.update(separate)
    try:
        prefix = "".join(f"{name}={value} " for name, value in separate.items())
        return _walk(screen, journey, None, project, skill, prefix)
    finally:
        for name, value in before.items():
            os.environ.pop(name)
            if value is not None:
                os.environ[name] = value
        if journey.block is None or journey.block.kind == "done":
            shutil.rmtree(home, ignore_errors=True)


def _walk(screen: Screen, journey: Journey, run_id: str | None, project: str, skill: str, prefix: str) -> int:
    try:
        if run_id is None:
            journey.begin()
        else:
            run = runs.require_records(project).run(run_id)
            if run.workflow != journey.workflow.name:
                raise RefusedError(
                    f"run {run_id} is of {run.workflow}, not of {skill}", remedy=f"lockstep walk {run.workflow}"
                )
            journey.go_on(run.id)
    except Left:
        _say_how_to_go_on(screen, journey, project, skill, prefix)
    except (click.Abort, KeyboardInterrupt) as left:
        if isinstance(left, KeyboardInterrupt):
            screen.print("")
        _say_how_to_go_on(screen, journey, project, skill, prefix)
        raise
    return PRINTED


def _say_how_to_go_on(screen: Screen, journey: Journey, project: str, skill: str, prefix: str) -> None:
    if journey.block is None:
        screen.print("Left before a run was opened.")
        return
    command = join(["lockstep", "walk", skill, "--run", journey.block.run, "--project", project])
    screen.print(f"Left at {journey.block.step}, turn {journey.block.turn}. To go on:")
    screen.print(f"{prefix}{command}")
