"""``lockstep stats``."""

from __future__ import annotations

import click

from skills.lib.commands.console.options import examples, json_option, project_option, skill_option
from skills.lib.commands.console.screen import Screen
from skills.lib.commands.queries import runs, tally


@click.command(
    epilog=examples(
        "lockstep stats  # every skill of this project",
        "lockstep stats --skill planner --json  # one skill, for a program",
    )
)
@skill_option
@json_option
@project_option
@click.pass_obj
def stats(screen: Screen, skill: str | None, as_json: bool, project: str) -> None:
    """Show where agents stumble: by step how often it was entered, repeated and refused, and for what."""
    records = runs.open_records(project)
    runs.check_skill(project, records, skill)
    if records is None:
        if as_json:
            screen.json([])
        screen.say(f"No run was ever opened in {project}: there is no {runs.ledger_path(project)}.")
        return
    found = tally.count(records, skill)
    if as_json:
        screen.json([workflow.as_data() for workflow in found])
        return
    if not found:
        screen.say(runs.none_of(skill, project, "recorded"))
    for at, workflow in enumerate(found):
        if at:
            screen.print("")
        tally.print_workflow(screen, workflow)
