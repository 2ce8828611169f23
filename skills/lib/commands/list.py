"""``lockstep list``."""

from __future__ import annotations

from collections.abc import Sequence

import click

from skills.lib.commands.console.options import examples, json_option, project_option
from skills.lib.commands.console.screen import Screen
from skills.lib.commands.queries import overview, runs, skills
from skills.lib.errors import LedgerError


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
    opened = _open_workflows(screen, project)
    found = [overview.describe(skill, opened) for skill in skills.find(project, path)]
    if as_json:
        screen.json(found)
    elif found:
        columns = [at for at, head in enumerate(overview.HEADINGS) if opened is not None or head != "OPEN RUNS"]
        lines = [row for skill in found for row in overview.rows(screen, skill, project)]
        screen.table([overview.HEADINGS[at] for at in columns], [[line[at] for at in columns] for line in lines])
    else:
        screen.say(f"No skill is found under {path or project}: no folder there has a SKILL.md.")


def _open_workflows(screen: Screen, project: str) -> Sequence[str] | None:
    """The workflow of every run that has not ended; None, and the reason on standard error, for a damaged ledger."""
    try:
        records = runs.open_records(project)
        return [run.workflow for run in records.runs() if not run.ended] if records else []
    except LedgerError as error:
        screen.say("Open runs are not shown: ", "\n".join(error.lines()))
        return None
