"""``lockstep agent``."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from skills.lib import compact_json, terminal
from skills.lib.agent.tools import outputs
from skills.lib.agent.watching.events import BEGINNING
from skills.lib.commands.console import exits
from skills.lib.commands.console.options import (
    checked_text,
    complete_run,
    complete_skill,
    examples,
    project_option,
)
from skills.lib.commands.console.screen import Screen, one_line
from skills.lib.commands.fleet import drain, status, submit, work
from skills.lib.commands.queries.runs import command, require_records
from skills.lib.commands.session import costs, extra, pages, planning, watching
from skills.lib.commands.session import settings as in_force
from skills.lib.commands.session.approving import approve
from skills.lib.commands.session.display import Display, JsonLines, Lines, display_for
from skills.lib.commands.session.driving import STOPPED, WAITING, Driving
from skills.lib.commands.session.wanted import parameters, what_to_do
from skills.lib.errors import INTERRUPTED, PRINTED

if TYPE_CHECKING:
    from skills.lib.agent.agent import Agent
    from skills.lib.agent.results import SessionResult

_CODES = {"done": PRINTED, "waiting": WAITING}
_MODEL = "LOCKSTEP_MODEL"


@click.group(
    epilog=examples(
        'lockstep agent run problem-analysis "the suite is slow since Monday"  # without a person in the loop',
        "lockstep agent run --run k3f9q2mx  # go on with a run",
    )
)
def agent() -> None:
    """Let a model follow a skill on its own, step by step, without a person in the loop.

    It needs the extra: pip install '/path/to/lockstep[agent]'
    """


agent.add_command(approve)


@agent.command(
    short_help="Follow a skill until it is done, a person is asked, or a limit is met.",
    epilog=examples(
        'lockstep agent run problem-analysis "the suite is slow since Monday"  # the same again goes on with it',
        'lockstep agent run "/problem-analysis the suite is slow since Monday"  # the same',
        'lockstep agent run path/to/skill "process data.csv"  # any SKILL.md without a graph',
        "lockstep agent run my-skill --param topic=tests --param depth=2  # what the skill takes",
        'lockstep agent run my-skill "look again" --new --detail full  # a new run; every thought, call and result',
        'lockstep agent run my-skill "look" --json  # one event a line, for a program',
        "lockstep agent run --run k3f9q2mx  # go on with this run",
    ),
)
@click.argument("skill", metavar="[SKILL]", required=False, shell_complete=complete_skill)
@click.argument("task", metavar="[TASK]", required=False, callback=checked_text)
@click.option("--run", "run_id", metavar="RUN", shell_complete=complete_run, help="Go on with this run.")
@click.option(
    "--model",
    metavar="PROVIDER:NAME",
    help=f"The model, over all that skill and steps name (default: theirs, then {_MODEL}).",
)
@click.option("--base-url", metavar="URL", help="An endpoint that speaks the provider's protocol.")
@click.option("--param", "params", metavar="NAME=VALUE", multiple=True, help="A parameter of the skill.")
@click.option(
    "--detail",
    type=click.Choice(["summary", "full"]),
    help="What is shown as it happens: milestones, or every thought, call and result (default: summary at a terminal, "
    "nothing in a pipe).",
)
@click.option("--json", "as_json", is_flag=True, help="Print each event as a line of JSON, then the outcome.")
@click.option("--new", is_flag=True, help="Open a new run, even if one with this task goes on.")
@click.option("--open", "opens", is_flag=True, help="At the end, open the HTML pages that the run made.")
@click.option(
    "--max-iterations",
    type=click.IntRange(min=1),
    metavar="N",
    help="Model calls in one entry of a step, or in a run of a skill without a graph.",
)
@project_option
@click.pass_obj
def run(
    screen: Screen,
    skill: str | None,
    task: str | None,
    run_id: str | None,
    model: str | None,
    base_url: str | None,
    params: tuple[str, ...],
    detail: str | None,
    as_json: bool,
    new: bool,
    opens: bool,
    max_iterations: int | None,
    project: str,
) -> int:
    """Follow SKILL with a model until it is done, TASK being what to do in words; the result is printed.

    The run is in the ledger like any other: runs, trace, resume and answer know it. The same command goes on with it
    after an interruption, a crash, or an answer. What happens as it runs is said on standard error.

    Exit codes: 0 done, 6 a person is asked, 7 stopped before the run was done, 130 interrupted (the run stays).
    """
    terminal.forbid_lockstep_agent("an agent's session starts no other one")
    if opens:
        terminal.require_person("--open opens a browser for a person", "leave --open out")
    name, request = what_to_do(skill, task, run_id, params, new)
    given = parameters(params)
    extra.require()
    from skills.lib.agent.agent import Agent

    overrides = {"max_iterations": max_iterations} if max_iterations else {}
    opened = Agent(project, model, base_url=base_url or "", overrides=overrides)
    opened.require_model(name)  # first, or a run is opened that nobody follows
    try:
        found = require_records(project).run(run_id).id if run_id else opened.start(name, request, given, new=new)
    except KeyboardInterrupt:
        screen.say("Interrupted before a run was opened: the same command begins again.")
        return INTERRUPTED
    options = [word for pair in (("--model", model), ("--base-url", base_url)) if pair[1] for word in pair]
    goes_on = command(project, "agent", "run", "--run", found, *map(str, options))
    code, outcome = _drive(screen, opened, found, display_for(screen, detail, as_json), goes_on, project)
    if opens and outcome is not None:
        pages.show(screen, project, outcome.outputs)
    return code


agent.add_command(watching.follow)
agent.add_command(watching.answer)
agent.add_command(watching.cancel)


def _drive(
    screen: Screen, opened: Agent, found: str, display: Display, goes_on: str, project: str
) -> tuple[int, SessionResult | None]:
    """Drive the run and say where it was left; the exit code, and the outcome if there is one."""
    driving = Driving(opened, found)
    outcomes: list[SessionResult] = []

    def drive() -> int:
        try:
            after = _place(screen, opened, found, display)
            with display:
                outcome = driving.outcome(display, after)
        except KeyboardInterrupt:
            screen.say(f"Interrupted. Run {found} stays where it is; this goes on with it:\n  {goes_on}")
            return INTERRUPTED
        outcomes.append(outcome)
        code = _CODES.get(outcome.status, STOPPED)
        if isinstance(display, JsonLines):
            display.line({"type": "outcome", "exit": code, **outcome.fields()})
        else:
            _say_outcome(screen, outcome, goes_on, project)
        return code

    code = exits.serve(drive)
    if driving.is_alive:  # it waits for a model or a tool, and would keep the process
        os._exit(code)
    return code, outcomes[0] if outcomes else None


def _place(screen: Screen, opened: Agent, found: str, display: Display) -> str:
    """The cursor after which events are new, once a person was told which run it is."""
    events = list(opened.follow(found, level="FULL"))
    has_begun = any(event.kind == "model" for event in events)
    if isinstance(display, Lines):
        last = events[-1] if has_begun else None
        at = f" goes on at step {last.number} of {last.of}, {one_line(last.step)}" if last else ""
        screen.say(screen.styled(f"Run {found}{at}", "bold"))
    return events[-1].cursor if has_begun else BEGINNING


def _say_outcome(screen: Screen, outcome: SessionResult, goes_on: str, project: str) -> None:
    """Print the result, or the question, and say beside it which command is next."""
    run_id = outcome.run
    if outcome.outputs:
        screen.say(one_line(f"Files: {outputs.sentence(outcome.outputs)}"))
    if outcome.status == "waiting":
        screen.print(outcome.question)
        if outcome.choices:
            screen.print(f"Choices: {', '.join(outcome.choices)}")
        answers = command(project, "answer", run_id, "ANSWER")
        screen.say(f"Run {run_id} asks a person. Answer, and go on:\n  {answers}\n  {goes_on}")
    elif outcome.status == "stopped":
        _print_result(screen, outcome)
        screen.say(f"Stopped at {outcome.step}: {outcome.reason}\nThe run stays where it is; this goes on with it:")
        screen.say(f"  {goes_on}")
    else:
        _print_result(screen, outcome)
        screen.say(f"Run {run_id} is {outcome.status}. Its record: {command(project, 'trace', run_id)}")


def _print_result(screen: Screen, outcome: SessionResult) -> None:
    """Print what the last step recorded, and what became of each objective."""
    for name, value in outcome.result.items():
        shown = value if isinstance(value, str) else compact_json.readable(value)
        screen.print(screen.styled(f"{name}: ", "bold") if len(outcome.result) > 1 else "", shown)
    for one in outcome.objectives:
        about = "; ".join(str(one[name]) for name in ("place", "note") if one[name] and one[name] != "answer")
        status = {"not": "not done"}.get(one["status"], one["status"])
        about = f" ({one_line(about)})" if about else ""
        screen.print(f"{one['number']}. {one_line(one['objective']).rstrip('.')}: {status}{about}")


agent.add_command(costs.cost)
agent.add_command(planning.plan)
agent.add_command(in_force.settings)
agent.add_command(submit.submit)
agent.add_command(work.work)
agent.add_command(status.status)
agent.add_command(drain.drain)
