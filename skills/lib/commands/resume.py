"""``lockstep resume``."""

from __future__ import annotations

from contextlib import closing

import click

from skills.lib.commands.console.options import examples, project_option, run_argument
from skills.lib.commands.console.screen import Screen
from skills.lib.commands.queries import runs
from skills.lib.ledger import listing
from skills.lib.model.run import Run
from skills.lib.runtime import script
from skills.lib.runtime.project import is_of_another_project

# How many open runs are listed: those that moved last.
LISTED = 50


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

    Without RUN: the block of the only open run. Where several are open they are listed, the last moved first, each with
    what it is for and its command.
    """
    records = runs.open_records(project) if run_id is None else runs.require_records(project)
    if run_id is not None and records is not None:
        return _print_block(screen, records.run(run_id), project)
    opened, count = _last_moved(records, project) if records else ([], 0)
    if len(opened) == 1:
        return _print_block(screen, opened[0], project)
    if not opened:
        last = _last_ended(records, project) if records else ""
        screen.say(
            f"No run is open in {project}. {last}Runs of another project: lockstep resume --project DIR. "
            "To begin one: the command in a skill's SKILL.md, and lockstep list shows the skills."
        )
        return 0
    assert records is not None
    _list(screen, records, opened, count, project)
    return 0


def _last_moved(records: runs.Records, project: str) -> tuple[list[Run], int]:
    """The open runs of the project that moved last, and how many there are."""
    last = listing.last_moved(records.ledger, LISTED)
    if not any(is_of_another_project(run, project) for run in last):
        return last, max(len(last), listing.count_roots(records.ledger))
    own = [run for run in records.roots() if not is_of_another_project(run, project)]
    return own[:LISTED], len(own)


def _last_ended(records: runs.Records, project: str) -> str:
    """The run that ended last, in words, with the command that prints its end; empty if none ever did."""
    run = listing.last_ended(records.ledger, lambda one: not is_of_another_project(one, project))
    if run is None:
        return ""
    command = runs.command(project, "resume", run.id)
    return f"The last to end was {run.id} of {run.workflow}, {run.status}; its end is printed by: {command}. "


def _list(screen: Screen, records: runs.Records, opened: list[Run], count: int, project: str) -> None:
    moved = {run.id: records.moved_at(run) for run in opened}
    rows = [
        [
            run.workflow,
            run.status,
            run.step or "",
            runs.about(run),
            runs.ago(moved[run.id]),
            runs.showing(run, project),
        ]
        for run in sorted(opened, key=lambda run: -moved[run.id])
    ]
    screen.say(f"{count} runs are open. Name the one to go on with:")
    screen.table(("WORKFLOW", "STATUS", "STEP", "ABOUT", "MOVED", "COMMAND"), rows)
    if count > len(opened):
        every = runs.command(project, "runs", "--limit", str(count))
        screen.say(f"{count - len(opened)} more, which moved earlier, are not listed: {every}")


def _print_block(screen: Screen, run: Run, project: str) -> int:
    runner, workflow = runs.runner_for(screen, run, project)
    with closing(runner):
        response = script.quietly(lambda: runner.state(workflow, run.id))
        return script.emit(script.render_response(response, runner), response.exit_code)
