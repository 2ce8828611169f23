"""``lockstep abandon``."""

from __future__ import annotations

from contextlib import closing

import click

from skills.lib import status_files, terminal
from skills.lib.commands.console import prompts
from skills.lib.commands.console.options import checked_text, complete_run, examples, project_option
from skills.lib.commands.console.screen import Screen
from skills.lib.commands.queries import runs
from skills.lib.errors import LedgerError
from skills.lib.hosts.hook import sessions
from skills.lib.ledger import processes
from skills.lib.model.run import Run


@click.command(
    epilog=examples(
        'lockstep abandon k3f9q2mx --reason "the ticket was closed"  # ends it and its sub-agents\' runs',
        'lockstep abandon k3f9q2mx a7 --reason "both were tries"  # several; the first characters of an id are enough',
    )
)
@click.argument("run_ids", metavar="RUN...", nargs=-1, required=True, shell_complete=complete_run)
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
def abandon(screen: Screen, run_ids: tuple[str, ...], reason: str, yes: bool, project: str) -> None:
    """End each RUN and the unfinished runs of its sub-agents, and record why. An ended run is never opened again.

    All are looked up before the first is ended. If the ledger cannot be used, an agent's hook holds nobody to these
    runs any more, and the error is told.
    """
    terminal.forbid_lockstep_agent("giving up a run is a person's")
    try:
        records = runs.require_records(project)
        found = {run.id: run for run in map(records.run, run_ids)}
        for at, run_id in enumerate(found):
            try:
                _abandon(screen, records.run(run_id), reason, yes, project)
            except click.Abort:
                screen.say(f"Not ended: {', '.join(list(found)[at:])}")
                raise
    except LedgerError:
        for run_id in run_ids:
            status_files.remove(project, run_id)
            sessions.free(run_id, project)
            processes.end(project, run_id)
            screen.say(f"No agent is held to run {run_id} of {project} any more; that could not be recorded.")
        raise


def _abandon(screen: Screen, run: Run, reason: str, yes: bool, project: str) -> None:
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
