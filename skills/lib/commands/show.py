"""``lockstep show``."""

from __future__ import annotations

import click

from skills.lib.commands.console.options import examples, json_option, project_option, skill_argument
from skills.lib.commands.console.screen import Screen
from skills.lib.commands.queries import detail, skills
from skills.lib.errors import LockstepError


@click.command(
    epilog=examples(
        "lockstep show problem-analysis  # a skill by its name",
        "lockstep show ./my-skills/review  # a skill by its folder",
        "lockstep show problem-analysis --paths  # walks that take every transition",
        "lockstep show problem-analysis --json  # the workflows as data",
    )
)
@skill_argument
@click.option("--paths", is_flag=True, help="Show walks that together take every transition.")
@json_option
@project_option
@click.pass_obj
def show(screen: Screen, skill: str, paths: bool, as_json: bool, project: str) -> None:
    """Show SKILL: its description, and of each workflow the steps, routes, parameters and requirements."""
    folder = skills.folder_of(project, skill, missing_ok=True)
    entries = skills.load(folder) if folder else [skills.one(project, skill)]
    if as_json:
        screen.json(detail.as_data(skill, folder, entries, paths))
    else:
        detail.print_skill(screen, folder, entries, paths)
    broken: list[LockstepError] = [entry.error for entry in entries if entry.error]
    if folder is not None and folder.error is not None:
        broken.append(folder.error)
    if broken:
        raise broken[0]
