"""``lockstep agent status``."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import click

from skills.lib.commands.console.options import examples, json_option, project_option
from skills.lib.commands.console.screen import Screen, counted
from skills.lib.commands.fleet import extra
from skills.lib.commands.queries.runs import command

if TYPE_CHECKING:
    from skills.lib.fleet.fleet import Followed
    from skills.lib.fleet.members import Member


@click.command(
    short_help="Show the workers and the submitted runs.",
    epilog=examples(
        "lockstep agent status  # who works, what waits, what needs a person",
        "lockstep agent status --all  # the runs that have ended, too",
        "lockstep agent status --json  # the same, for a program",
    ),
)
@click.option("--all", "ended", is_flag=True, help="Show the runs that have ended, too.")
@json_option
@project_option
@click.pass_obj
def status(screen: Screen, ended: bool, as_json: bool, project: str) -> None:
    """Show the workers of the project, and the runs that were submitted and have not ended.

    A run is queued, at work, waiting (for an answer), or parked: then it says why, and lockstep agent submit --run goes
    on with it.
    """
    extra.require()
    from skills.lib.fleet.fleet import Fleet

    fleet = Fleet(project)
    members, runs = fleet.members(), fleet.runs(ended)
    if as_json:
        screen.json(
            {
                "workers": [one.fields() for one in members],
                "runs": [
                    {**one.submission.fields(), "state": one.state, "worker": one.worker, "commit": one.commit}
                    for one in runs
                ],
            }
        )
        return
    _print_workers(screen, members, project)
    _print_runs(screen, runs, project)


def _print_workers(screen: Screen, members: list[Member], project: str) -> None:
    if not members:
        screen.say(f"No worker is there:\n  {command(project, 'agent', 'work')}")
        return
    rows = [(one.worker, one.machine, str(one.pid), f"{len(one.runs)}/{one.slots}", _condition(one)) for one in members]
    screen.table(("WORKER", "MACHINE", "PROCESS", "AT WORK", "STATE"), rows)
    screen.print("")


def _condition(one: Member) -> str:
    if not one.is_live:
        return f"no sign of life for {one.seen:.0f} s: others take over"
    return "drains" if one.drains else "works"


def _print_runs(screen: Screen, runs: list[Followed], project: str) -> None:
    if not runs:
        screen.say("No submitted run is open.")
        return
    rows = []
    for one in runs:
        about = one.submission
        note = about.reason if one.state == "parked" else about.task
        rows.append((about.run, about.workflow, about.user, str(about.priority), one.state, one.worker or "-", note))
    screen.table(("RUN", "SKILL", "USER", "PRIORITY", "STATE", "WORKER", "ABOUT"), rows)
    counts = Counter(one.state for one in runs)
    screen.say(f"{counted(len(runs), 'run')}: " + ", ".join(f"{count} {state}" for state, count in counts.items()))
    if counts["parked"]:
        screen.say(f"To go on with one that is parked: {command(project, 'agent', 'submit', '--run', 'RUN')}")
