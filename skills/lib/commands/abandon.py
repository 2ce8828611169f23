"""``lockstep abandon``."""

from __future__ import annotations

from contextlib import closing

import click

from skills.lib import status_files, terminal
from skills.lib.commands.console import prompts
from skills.lib.commands.console.options import checked_text, examples, project_option, run_argument
from skills.lib.commands.console.screen import Screen
from skills.lib.commands.queries import runs
from skills.lib.errors import LedgerError
from skills.lib.hosts.hook import sessions
from skills.lib.ledger import processes


@click.command(
    epilog=examples('lockstep abandon k3f9q2mx --reason "the ticket was closed"  # ends it and its sub-agents\' runs')
)
@run_argument()
@click.option(
    "--reason",
    required=True,
    callback=checked_text,
    metavar="TEXT",
    help="Why nobody will finish it; kept with the run.",
)
@click.option("--yes", is_flag=True, help="Do not ask for confirmation at a terminal.")
@project_option
@click.pass_obj
def abandon(screen: Screen, run_id: str, reason: str, yes: bool, project: str) -> None:
    """End RUN and the unfinished runs of its sub-agents, and record why. An ended run is never opened again.

    If the ledger cannot be used, an agent's hook holds nobody to the run any more, and the error is told.
    """
    try:
        _abandon(screen, run_id, reason, yes, project)
    except LedgerError:
        status_files.remove(project, run_id)
        sessions.free(run_id, project)
        processes.end(project, run_id)
        screen.say(f"No agent is held to run {run_id} of {project} any more; that could not be recorded.")
        raise


def _abandon(screen: Screen, run_id: str, reason: str, yes: bool, project: str) -> None:
    terminal.forbid_lockstep_agent("giving up a run is a person's")
    run = runs.require_records(project).run(run_id)
    at_terminal = terminal.is_there()
    is_asked = at_terminal and not yes and not run.ended
    if is_asked and not prompts.confirmed(f"End run {run.id} of {run.workflow}, at {run.step}?"):
        raise click.Abort
    with closing(runs.plain_runner(run, project, terminal.actor())) as runner:
        ended = runner.abandon(run.id, reason)
    screen.print(f"Run {run.id} is abandoned at {run.step or 'its end'}.")
    if len(ended) > 1:
        screen.print(f"So are the runs of its sub-agents: {', '.join(one.id for one in ended[1:])}.")
    if ended[0].not_done:
        screen.print(f"Not done by {run.id}")
        for entry in ended[0].not_done:
            screen.print(f"  {runs.undone(entry)}")
