"""``lockstep agent approve``."""

from __future__ import annotations

import click

from skills.lib import terminal
from skills.lib.agent.prose import approval, injection, opening
from skills.lib.agent.prose.skill import ProseSkill
from skills.lib.agent.tools.workspace import Workspace
from skills.lib.commands.console import prompts
from skills.lib.commands.console.options import complete_skill, examples, project_option
from skills.lib.commands.console.screen import Screen, one_line
from skills.lib.errors import RefusedError, UsageError
from skills.lib.hosts import skills


@click.command(
    short_help="Let the commands in a SKILL.md run.",
    epilog=examples(
        "lockstep agent approve pr-reviewer  # shows the commands, and asks",
        "lockstep agent approve pr-reviewer --withdraw  # take the approval back",
    ),
)
@click.argument("skill", metavar="SKILL", shell_complete=complete_skill)
@click.option("--yes", is_flag=True, help="Show the commands and do not ask.")
@click.option("--withdraw", is_flag=True, help="Take the approval back.")
@project_option
@click.pass_obj
def approve(screen: Screen, skill: str, yes: bool, withdraw: bool, project: str) -> None:
    """Let the commands run that stand in the SKILL.md of SKILL as !`command`. It takes a person at a terminal.

    The approval is for the skill in this folder and for its SKILL.md as it is: after any change it is asked for again.
    It is kept in the user's state folder.
    """
    found = _known(project, skill)
    if withdraw:
        approval.withdraw(found)
        screen.print("The approval is withdrawn.")
        return
    terminal.require_person("approving the commands of a skill is a person's")
    commands = list(dict.fromkeys(one.command for one in injection.found(found.body)))
    if not commands:
        screen.print(f"{found.name} has no commands in its SKILL.md: there is nothing to approve.")
        return
    _show(screen, found, commands, project)
    if approval.is_approved(found):
        screen.print("These commands are approved already.")
        return
    if not yes and not prompts.confirmed("May these commands run whenever this skill is followed?"):
        raise RefusedError("no approval was given, and nothing was changed")
    approval.give(found)
    screen.print(f"The commands of {found.name} are approved as they are now.")


def _known(project: str, name: str) -> ProseSkill:
    """The skill of a name or path. Raises UsageError for an unknown one, and for one with a graph."""
    found = opening.found(project, name)
    if found is None:
        skills.one(project, name)
        raise UsageError(
            f"{name} has a graph: no command in its SKILL.md is run", remedy="approve a skill without a graph"
        )
    return found


def _show(screen: Screen, skill: ProseSkill, commands: list[str], project: str) -> None:
    """What a person is asked about: each command, and which of them allowed-tools does not admit."""
    screen.print(one_line(f"{skill.folder}/SKILL.md runs in {project}, before a model reads it:"))
    files = Workspace(project)
    for command in commands:
        why = injection.why_not(command, files, skill.tools)
        screen.print("  ", screen.styled(one_line(command), "bold"), f"  never run: {one_line(why)}" if why else "")
