"""``lockstep answer``."""

from __future__ import annotations

from contextlib import closing

import click

from skills.lib import terminal
from skills.lib.commands.console.options import checked_text, examples, project_option, run_argument
from skills.lib.commands.console.screen import Screen, one_line
from skills.lib.commands.queries import runs
from skills.lib.errors import RefusedError
from skills.lib.ledger import listing
from skills.lib.model.run import Request, Run
from skills.lib.runtime import Response, script


@click.command(
    context_settings={"ignore_unknown_options": True},  # -1 is an answer
    epilog=examples(
        "lockstep answer  # what waits for an answer",
        "lockstep answer k3f9q2mx approve  # one of the choices that the block names",
        'lockstep answer k3f9q2mx accept --reason "known, and tracked"  # accepting open findings takes a reason',
    ),
)
@run_argument(required=False)
@click.argument("answer", metavar="[ANSWER]", required=False, callback=checked_text)
@click.option("--reason", callback=checked_text, metavar="TEXT", help="Why; kept with the answer.")
@project_option
@click.pass_context
def answer(ctx: click.Context, run_id: str | None, answer: str | None, reason: str | None, project: str) -> None:
    """Answer what RUN asks a person. It is recorded as a person's answer, so it takes a person at a terminal.

    Without ANSWER: what RUN asks; without RUN, what every run asks that waits.
    """
    screen: Screen = ctx.obj
    if run_id is not None and run_id.startswith("-"):
        raise click.NoSuchOption(run_id, ctx=ctx)
    if answer is None or run_id is None:
        _print_asked(screen, run_id, project)
        return
    run = runs.require_records(project).run(run_id)
    remedy = "ask the user to run it; an answer that the block lets you pass on goes with --answer"
    terminal.require_person("an answer is a person's", remedy)
    if run.status != "waiting":
        record = runs.command(project, "trace", run.id)
        raise RefusedError(f"run {run.id} asks nobody anything: it is {run.status}", remedy=record)
    runner, workflow = runs.runner_for(screen, run, project, terminal.PERSON)
    with closing(runner):
        request = Request("next", run=run.id, turn=run.turn, project=project, answer=answer, reason=reason)
        response = script.quietly(lambda: runner.advance(workflow, run.id, request))
        _print_result(screen, run, response, answer, project)


def _print_asked(screen: Screen, run_id: str | None, project: str) -> None:
    """Print what a run asks, or every one that waits, with the command that answers."""
    records = runs.open_records(project) if run_id is None else runs.require_records(project)
    if records is None:
        screen.say(f"No run was ever opened in {project}.")
        return
    named = [records.run(run_id).id] if run_id is not None else listing.waiting(records.ledger)
    waiting = [run for one in named if (run := records.ledger.run(one)) and run.status == "waiting" and run.question]
    if not waiting:
        screen.say(f"Run {named[0]} asks nobody anything." if run_id else f"No run waits for a person in {project}.")
    for at, run in enumerate(waiting):
        if at:
            screen.print()
        where = f" of {run.workflow}, at {run.step}, since {runs.ago(records.moved_at(run))}"
        screen.print(screen.styled(run.id, "bold"), where.replace(" ago", ""))
        question = run.question or {}
        for line in str(question["text"]).splitlines():
            screen.print(f"  {line}")
        choices = question["choices"]
        screen.print(f"  Choices: {', '.join(map(one_line, choices))}" if choices else "  Any text is an answer.")
        screen.print(f"  {runs.command(project, 'answer', run.id, one_line(choices[0]) if choices else 'TEXT')}")


def _print_result(screen: Screen, before: Run, response: Response, answer: str, project: str) -> None:
    if response.element.tag == "refused":
        why = [
            str(child.children[0])
            for child in response.element.children
            if not isinstance(child, str) and child.tag == "WHY"
        ]
        choices = ", ".join((before.question or {}).get("choices", ()))
        raise RefusedError(" ".join(why), valid=choices)
    after = response.run
    assert after is not None
    screen.print(f"Recorded as a person's answer of run {before.id} at {before.step}: {answer}.")
    if after.ended:
        screen.print(f"The run is {after.status}.")
    else:
        shows = runs.command(project, "resume", after.id)
        screen.print(f"The run goes on at {after.step}: the agent's next command shows it, or {shows}.")
