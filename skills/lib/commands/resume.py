"""``lockstep resume``."""

from __future__ import annotations

import click

from skills.lib.commands.console.options import examples, project_option, run_argument
from skills.lib.commands.console.screen import Screen
from skills.lib.commands.lookup import runs
from skills.lib.runtime import script
from skills.lib.workflow.state import Run


@click.command(
    epilog=examples(
        "lockstep resume  # the only open run of this project, or a list of them",
        "lockstep resume k3f9q2mx  # the present block of that run",
    )
)
@run_argument(required=False)
@project_option
@click.pass_obj
def resume(screen: Screen, run_id: str | None, project: str) -> int:
    """Print the block with which RUN goes on; nothing is changed by it.

    Without RUN: the block of the only open run. Where several are open they are listed, each with its command.
    """
    records = runs.open_records(project) if run_id is None else runs.require_records(project)
    if run_id is not None and records is not None:
        return _print_block(records.run(run_id), project)
    opened = runs.only_open(records.roots()) if records else []
    if len(opened) == 1:
        return _print_block(opened[0], project)
    if not opened:
        screen.say(f"No run is open in {project}.")
        return 0
    screen.say(f"{len(opened)} runs are open. Name the one to go on with:")
    rows = [[run.workflow, run.status, run.step or "", f"lockstep resume {run.id}"] for run in opened]
    screen.table(("WORKFLOW", "STATUS", "STEP", "COMMAND"), rows)
    return 0


def _print_block(run: Run, project: str) -> int:
    desk, workflow = runs.desk_for(run, project)
    try:
        reply = desk.state(workflow, run.id)
        return script.emit(script.render_reply(reply, desk), reply.exit_code)
    finally:
        desk.close()
