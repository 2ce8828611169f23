"""``lockstep agent drain``."""

from __future__ import annotations

import time

import click

from skills.lib import terminal
from skills.lib.commands.console.options import examples, json_option, project_option
from skills.lib.commands.console.screen import Screen
from skills.lib.commands.fleet import extra
from skills.lib.errors import RefusedError

# How often it is looked whether the workers have ended, in seconds.
_PAUSE = 0.5


@click.command(
    short_help="Have workers end once what runs has ended.",
    epilog=examples(
        "lockstep agent drain  # all workers; waits until they have ended",
        "lockstep agent drain anna-laptop-1 --wait 0  # one of them; only asks",
    ),
)
@click.argument("worker", metavar="[WORKER]", required=False, default="")
@click.option(
    "--wait",
    type=click.FloatRange(min=0),
    metavar="SECONDS",
    default=600.0,
    show_default=True,
    help="How long to wait for them.",
)
@json_option
@project_option
@click.pass_obj
def drain(screen: Screen, worker: str, wait: float, as_json: bool, project: str) -> None:
    """Have WORKER, or all workers, finish what they follow and take nothing new.

    Exit code 3 if one of them is still at work after --wait. What is queued stays for the workers that come later.
    """
    terminal.forbid_lockstep_agent("an agent's session ends no worker")
    extra.require()
    from skills.lib.fleet.fleet import Fleet

    fleet = Fleet(project)
    asked = fleet.drain(worker)
    end = time.monotonic() + wait
    while (left := [one for one in fleet.members() if one.worker in asked and one.is_live]) and time.monotonic() < end:
        time.sleep(_PAUSE)
    names = [one.worker for one in left]
    if as_json:
        screen.json({"asked": asked, "at_work": names})
        return
    if names and wait:
        raise RefusedError(f"still at work: {', '.join(names)}", remedy="wait longer, or look: lockstep agent status")
    done = [name for name in asked if name not in names]
    screen.print(f"Ended: {', '.join(done) or 'none'}. Finishing what they follow: {', '.join(names) or 'none'}.")
