"""``lockstep pause``."""

from __future__ import annotations

import click

from skills.lib.commands.console.options import checked_text, examples, project_option, run_argument
from skills.lib.commands.console.screen import Screen
from skills.lib.commands.queries import runs
from skills.lib.runtime import pausing


@click.command(
    epilog=examples(
        "lockstep pause k3f9q2mx  # the agent may do anything else, until the run goes on",
        'lockstep pause k3f9q2mx --reason "a hotfix comes first"  # why is kept with the run',
    )
)
@run_argument()
@click.option("--reason", callback=checked_text, metavar="TEXT", help="Why; kept with the run.")
@project_option
@click.pass_obj
def pause(screen: Screen, run_id: str, reason: str | None, project: str) -> None:
    """Let the agent that follows RUN do other work: its hook denies no tool and refuses no stop for this run.

    The pause ends with the next command that moves the run, or with lockstep unpause. It takes a person at a terminal.
    """
    screen.print(pausing.pause(project, runs.require_records(project).run(run_id).id, reason))
