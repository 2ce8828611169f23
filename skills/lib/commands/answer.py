"""``lockstep answer``."""

from __future__ import annotations

from contextlib import closing

import click

from skills.lib import terminal
from skills.lib.commands.console.options import checked_text, examples, project_option, run_argument
from skills.lib.commands.console.screen import Screen
from skills.lib.commands.queries import runs
from skills.lib.errors import RefusedError
from skills.lib.model.run import Request, Run
from skills.lib.runtime import Response, script


@click.command(
    context_settings={"ignore_unknown_options": True},  # -1 is an answer
    epilog=examples(
        "lockstep answer k3f9q2mx approve  # one of the choices that the block names",
        'lockstep answer k3f9q2mx accept --reason "known, and tracked"  # accepting open findings takes a reason',
    ),
)
@run_argument()
@click.argument("answer", metavar="ANSWER", callback=checked_text)
@click.option("--reason", callback=checked_text, metavar="TEXT", help="Why; kept with the answer.")
@project_option
@click.pass_obj
def answer(screen: Screen, run_id: str, answer: str, reason: str | None, project: str) -> None:
    """Answer what RUN asks a person. It is recorded as a person's answer, so it takes a person at a terminal."""
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
