"""``lockstep agent follow``, ``answer`` and ``cancel``: what a person does about a session beside its process."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import click

from skills.lib import terminal
from skills.lib.agent.configuration.configured_keys import ROLES
from skills.lib.agent.kept import submissions
from skills.lib.agent.watching.events import BEGINNING
from skills.lib.commands.answer import answer as recorded
from skills.lib.commands.console.options import checked_text, examples, project_option, run_argument
from skills.lib.commands.console.screen import Screen
from skills.lib.commands.queries import runs
from skills.lib.commands.queries.runs import command
from skills.lib.commands.session import extra
from skills.lib.commands.session.display import JsonLines, Lines
from skills.lib.errors import RefusedError, UsageError
from skills.lib.ledger import Ledger

if TYPE_CHECKING:
    from skills.lib.agent.agent import Agent

# How long a cancelled session is waited for, and how often it is looked for, in seconds.
_GRACE, _PAUSE = 10.0, 0.1


@click.command(
    short_help="Show what happened in a run, and what happens.",
    epilog=examples(
        "lockstep agent follow k3f9q2mx  # the milestones so far",
        "lockstep agent follow k3f9q2mx --wait  # and those to come, until the run ends",
        "lockstep agent follow k3f9q2mx --milestone 3  # every thought, call and result on the way to the third",
        "lockstep agent follow k3f9q2mx --role END_USER --json  # what a reader of that role may see, for a program",
        "lockstep agent follow k3f9q2mx --after 41.7 --json  # what came after an event that was read before",
    ),
)
@run_argument()
@click.option("--after", metavar="CURSOR", default=BEGINNING, help="Begin after the event that has this cursor.")
@click.option("--milestone", type=click.IntRange(min=1), metavar="N", help="What led to this milestone, in full.")
@click.option("--role", type=click.Choice(list(ROLES), case_sensitive=False), help="Show what this role may see.")
@click.option(
    "--detail",
    type=click.Choice(["summary", "full"]),
    help="Milestones, or every thought, call and result (default: what the role may see, else a summary).",
)
@click.option("-f", "--wait", is_flag=True, help="Go on until the run ends.")
@click.option("--json", "as_json", is_flag=True, help="Print each event as a line of JSON.")
@project_option
@click.pass_obj
def follow(
    screen: Screen,
    run_id: str,
    after: str,
    milestone: int | None,
    role: str | None,
    detail: str | None,
    wait: bool,
    as_json: bool,
    project: str,
) -> None:
    """Show what happened in RUN and its sub-agents' runs, in order, whoever drives it.

    Milestones are numbered; --milestone N has the calls behind one. What a role sees is set in lockstep.toml. Each
    event of --json has a cursor, and --after goes on exactly there.
    """
    opened, run_id = _agent(project, run_id)
    level, role = (detail or "").upper(), (role or "").upper()
    until = ""
    if milestone is not None:
        if after != BEGINNING or wait or detail:
            raise UsageError(
                "--milestone has a beginning, an end and all details", remedy="give it alone, or with --role"
            )
        after, until = _range(opened, run_id, milestone)
        level = "" if role else "FULL"
    display = JsonLines(screen, level) if as_json else Lines(screen, level, say=screen.print, numbered=True)
    for event in opened.follow(run_id, after, level, wait, role, until):
        display.show(event)


@click.command(
    short_help="Answer what a run asks a person.",
    context_settings={"ignore_unknown_options": True},  # -1 is an answer
    epilog=examples(
        "lockstep agent answer k3f9q2mx approve  # one of the choices; then lockstep agent run --run k3f9q2mx",
        "lockstep agent answer k3f9q2mx approve --go-on  # and go on with the session here",
        'lockstep agent answer k3f9q2mx accept --reason "known, and tracked"  # accepting open findings takes a reason',
    ),
)
@run_argument()
@click.argument("answer", metavar="ANSWER", callback=checked_text)
@click.option("--reason", callback=checked_text, metavar="TEXT", help="Why; kept with the answer.")
@click.option("--go-on", is_flag=True, help="Go on with the session of the run afterwards.")
@project_option
@click.pass_context
def answer(ctx: click.Context, run_id: str, answer: str, reason: str | None, go_on: bool, project: str) -> int | None:
    """Answer what RUN asks a person, as ``lockstep answer`` does, and say what goes on with it.

    The answer is recorded as a person's, so it takes a person at a terminal. An answer with a secret in it is refused.
    With --go-on the exit codes are those of ``lockstep agent run``; refused for a run that workers go on with.
    """
    screen: Screen = ctx.obj
    opened, run_id = _agent(project, run_id)
    opened.require_no_secrets("the answer", answer, reason)
    if go_on:
        submissions.require_none(opened.home, run_id)
    ctx.invoke(recorded, run_id=run_id, answer=answer, reason=reason, project=project)
    if runs.require_records(project).run(run_id).ended:
        return None
    if not go_on:
        _say_who_goes_on(screen, opened, run_id, project)
        return None
    group: Any = ctx.parent and ctx.parent.command
    code: int = ctx.invoke(group.commands["run"], run_id=run_id, project=project)
    return code


@click.command(
    short_help="Stop the session of a run; the run stays.",
    epilog=examples(
        "lockstep agent cancel k3f9q2mx  # the command that it waits for ends, and no model is called any more",
        "lockstep agent cancel k3f9q2mx --json  # whether it has ended, for a program",
    ),
)
@run_argument()
@click.option("--json", "as_json", is_flag=True, help="Print the outcome as JSON.")
@project_option
@click.pass_obj
def cancel(screen: Screen, run_id: str, as_json: bool, project: str) -> None:
    """Stop the session of RUN, in whatever process it is, before its next model call.

    A command that the session waits for is ended. The run stays where it is and can go on: `lockstep abandon` ends it.
    A submitted run is parked, also while it is queued. Refused if nobody drives the run and no worker is to.
    """
    terminal.forbid_lockstep_agent("a person stops a session")
    extra.require()
    from skills.lib.fleet import cancelling

    opened, run_id = _agent(project, run_id)
    cancelling.cancel(opened, run_id)
    end = time.monotonic() + _GRACE
    while (is_driven := cancelling.is_driven(opened, run_id)) and time.monotonic() < end:
        time.sleep(_PAUSE)
    step = runs.require_records(project).run(run_id).step or ""
    if as_json:
        screen.json({"run": run_id, "ended": not is_driven, "step": step})
        return
    what = "ends before its next model call" if is_driven else "has ended"
    screen.print(f"Cancelled: the session of run {run_id} {what}. The run stays at {step or 'its end'}.")
    _say_who_goes_on(screen, opened, run_id, project)


def _say_who_goes_on(screen: Screen, opened: Agent, run_id: str, project: str) -> None:
    with Ledger(opened.home, create=False) as ledger:
        found = submissions.of(ledger, run_id)
    if found is not None and found.is_for_workers:
        screen.say(f"Workers go on with it:\n  {command(project, 'agent', 'status')}")
        return
    name = "run" if found is None else "submit"
    screen.say(f"This goes on with it:\n  {command(project, 'agent', name, '--run', run_id)}")


def _agent(project: str, run_id: str) -> tuple[Agent, str]:
    """The agent of a project that has the run, and the run's whole id."""
    from skills.lib.agent.agent import Agent

    found = runs.require_records(project).run(run_id).id
    return Agent(project), found


def _range(opened: Agent, run_id: str, milestone: int) -> tuple[str, str]:
    """The cursors between which what led to a milestone happened. Raises UsageError for one that there is not."""
    reached = 0
    for event in opened.follow(run_id, level="SUMMARY"):
        reached = max(reached, event.data.get("milestone", 0))
        if event.data.get("milestone") == milestone:
            return event.data["details"]["after"], event.data["details"]["until"]
    if not reached:
        raise RefusedError(
            f"run {run_id} has reached no milestone yet", remedy=f"lockstep agent follow {run_id} --wait"
        )
    raise UsageError(f"run {run_id} has no milestone {milestone}", valid=f"1 to {reached}")
