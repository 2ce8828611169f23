"""``lockstep trace``."""

from __future__ import annotations

import click

from skills.lib.commands.console.options import examples, json_option, project_option, run_argument
from skills.lib.commands.console.screen import Screen
from skills.lib.commands.lookup import runs, timeline


@click.command(
    epilog=examples(
        "lockstep trace k3f9q2mx  # what happened, in order",
        "lockstep trace k3f9q2mx --values  # with everything that was recorded",
        "lockstep trace k3f9q2mx --json  # every event as it is kept",
    )
)
@run_argument()
@click.option("--values", is_flag=True, help="Show every recorded value, whole.")
@json_option
@project_option
@click.pass_obj
def trace(screen: Screen, run_id: str, values: bool, as_json: bool, project: str) -> None:
    """Show the record of RUN and of its sub-agents: steps, outcomes, evidence, refusals, reviews, and who said it."""
    records = runs.require_records(project)
    run = records.run(run_id)
    records.ledger.verify()
    if as_json:
        screen.json([timeline.as_data(records, one) for _, one in records.tree(run)])
        return
    for depth, one in records.tree(run):
        if depth:
            screen.print("")
        timeline.print_run(screen, records, one, values)
