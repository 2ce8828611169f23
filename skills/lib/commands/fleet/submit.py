"""``lockstep agent submit``."""

from __future__ import annotations

import click

from skills.lib import terminal
from skills.lib.commands.console.options import (
    checked_text,
    complete_run,
    complete_skill,
    examples,
    json_option,
    project_option,
)
from skills.lib.commands.console.screen import Screen
from skills.lib.commands.queries.runs import command, require_records
from skills.lib.commands.session import extra
from skills.lib.commands.session.wanted import parameters, what_to_do


@click.command(
    short_help="Have workers follow a skill.",
    epilog=examples(
        'lockstep agent submit problem-analysis "the suite is slow since Monday"  # for the next worker that is free',
        'lockstep agent submit my-skill "night run" --key night-2026-11-27  # done once, however often it is submitted',
        'lockstep agent submit my-skill "look" --user anna --priority 10  # before her runs of a higher number',
        "lockstep agent submit --run k3f9q2mx  # go on with a run that waits for somebody to submit it again",
    ),
)
@click.argument("skill", metavar="[SKILL]", required=False, shell_complete=complete_skill)
@click.argument("task", metavar="[TASK]", required=False, callback=checked_text)
@click.option("--run", "run_id", metavar="RUN", shell_complete=complete_run, help="Have workers go on with this run.")
@click.option("--param", "params", metavar="NAME=VALUE", multiple=True, help="A parameter of the skill.")
@click.option("--user", metavar="NAME", default="", help="Whose run it is (default: you). Each user has a limit.")
@click.option(
    "--priority",
    type=click.IntRange(1, 1_000_000),
    metavar="N",
    help="Among the runs of a user a lower number comes first (default: 100).",
)
@click.option("--key", metavar="KEY", callback=checked_text, help="Do this once: the same key, the same run.")
@click.option("--new", is_flag=True, help="Open a new run, even if one with this task goes on.")
@json_option
@project_option
@click.pass_obj
def submit(
    screen: Screen,
    skill: str | None,
    task: str | None,
    run_id: str | None,
    params: tuple[str, ...],
    user: str,
    priority: int | None,
    key: str | None,
    new: bool,
    as_json: bool,
    project: str,
) -> None:
    """Have a worker (lockstep agent work) follow SKILL, TASK being what to do in words; its run is printed.

    The run works on the project as it is now, with what is not committed, in a folder of its own. What it makes is
    kept in git as refs/lockstep/RUN. The same command again gives the same run while that goes on.
    """
    terminal.forbid_lockstep_agent("an agent's session submits no run")
    name, request = what_to_do(skill, task, run_id, params, new or bool(key))
    extra.require()
    from skills.lib.agent.agent import Agent
    from skills.lib.fleet.fleet import PRIORITY, Fleet

    fleet = Fleet(project)
    if run_id:
        found = fleet.submit_again(require_records(project).run(run_id).id, user=user, priority=priority)
    else:
        found = fleet.submit(
            Agent(project),
            name,
            request,
            parameters(params),
            user=user,
            priority=PRIORITY if priority is None else priority,
            key=key or "",
            new=new,
        )
    if as_json:
        screen.json({"run": found})
        return
    screen.print(found)
    screen.say(f"Run {found} is submitted. What becomes of it:\n  {command(project, 'agent', 'status')}")
