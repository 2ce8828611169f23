"""``lockstep unpause``."""

from __future__ import annotations

import click

from skills.lib.commands.console.options import examples, project_option, run_argument
from skills.lib.commands.console.screen import Screen
from skills.lib.commands.queries import runs
from skills.lib.runtime import pausing


@click.command(epilog=examples("lockstep unpause k3f9q2mx  # from now on the agent is held to the run's step again"))
@run_argument()
@project_option
@click.pass_obj
def unpause(screen: Screen, run_id: str, project: str) -> None:
    """Hold the agent that follows RUN to its step again, after lockstep pause. It takes a person at a terminal."""
    screen.print(pausing.unpause(project, runs.require_records(project).run(run_id).id))
