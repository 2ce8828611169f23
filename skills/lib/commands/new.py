"""``lockstep new``."""

from __future__ import annotations

import os

import click

from skills.lib.commands import skeleton
from skills.lib.commands.console.options import examples, project_option
from skills.lib.commands.console.screen import Screen
from skills.lib.commands.queries import skills
from skills.lib.skillfile import discover


@click.command(
    epilog=examples(
        "lockstep new release-notes  # in the project's skills folder",
        "lockstep new release-notes --dir .claude/skills  # where a host looks for skills",
        "lockstep new release-notes --dry-run  # only show what would be written",
    )
)
@click.argument("name")
@click.option(
    "--dir", "folder", metavar="DIR", type=click.Path(), help="The folder of skills (default: PROJECT/skills)."
)
@click.option("--dry-run", is_flag=True, help="Only show what would be written.")
@project_option
@click.pass_obj
def new(screen: Screen, name: str, folder: str | None, dry_run: bool, project: str) -> None:
    """Make the skill NAME: SKILL.md, a small gated graph with its prompts, an entry script, and a test.

    It runs, is valid and is tested as it stands; edit it from there.
    """
    skeleton.check_name(name)
    target = os.path.join(os.path.realpath(folder or os.path.join(project, "skills")), name)
    skeleton.check_target(target)
    files = skeleton.files(name, target)
    if not dry_run:
        skeleton.write(target, files)
    shown = os.path.relpath(target)
    shown = target if shown.startswith("..") else shown
    screen.print(screen.styled(f"{'Would write' if dry_run else 'Wrote'} {shown}", "bold"))
    screen.table(("FILE", "WHAT IT IS"), [[file, what] for file, (what, _) in files.items()])
    if name in [skill.name for skill in discover(skills.shipped())]:
        means = "in this project the name means the new one"
        screen.say(f"note: a skill that comes with Lockstep is called {name}, too; {means}")
    if not dry_run:
        screen.print("")
        screen.print(screen.styled("Next", "bold"))
        screen.table(("COMMAND", "WHAT FOR"), skeleton.next_commands(name, shown))
