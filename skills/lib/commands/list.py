"""``lockstep list``."""

from __future__ import annotations

import click

from skills.lib.commands.console.options import examples, json_option, project_option
from skills.lib.commands.console.screen import Screen
from skills.lib.commands.lookup import overview, runs, skills


@click.command(
    epilog=examples(
        "lockstep list  # the project's skills and the shipped ones",
        "lockstep list .claude/skills  # the skills of one folder",
        "lockstep list --json  # for a program",
    )
)
@click.argument("path", required=False, type=click.Path())
@json_option
@project_option
@click.pass_obj
def list(screen: Screen, path: str | None, as_json: bool, project: str) -> None:  # noqa: A001  the subcommand's name
    """List the skills under PATH with their workflows, steps, gates and open runs.

    Without PATH: those of the project, and those that come with Lockstep. A broken skill is listed with its error.
    """
    records = runs.open_records(project)
    opened = [run.workflow for run in records.runs() if not run.ended] if records else []
    found = [overview.describe(skill, opened) for skill in skills.find(project, path)]
    if as_json:
        screen.json(found)
    elif found:
        screen.table(overview.HEADINGS, [row for skill in found for row in overview.rows(screen, skill, project)])
    else:
        screen.say(f"No skill is found under {path or project}: no folder there has a SKILL.md.")
