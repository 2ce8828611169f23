"""The commands that a block or the hook names for a person or an agent, by the standard library alone.

They serve in place of the ``lockstep`` command if click and rich are not installed.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from contextlib import closing

from skills.lib import paths, terminal
from skills.lib.blocks.command_line import here
from skills.lib.errors import PRINTED, RefusedError, UsageError
from skills.lib.ledger import Ledger
from skills.lib.model.run import Request, Run
from skills.lib.runtime import pausing, script, serving
from skills.lib.runtime.runner import Runner

COMMANDS = ("answer", "resume", "abandon", "pause", "unpause")


def main(argv: Sequence[str]) -> int:
    """Serve one call and return its exit code."""
    given = _parser().parse_args(argv)
    return script.exit_code(lambda: _serve(given))


def _serve(given: argparse.Namespace) -> int:
    project = script.project_at(given.project)
    if given.serve in (_pause, _unpause):
        return int(given.serve(project, given))
    ledger = Ledger(paths.home(project), create=False)
    run = ledger.run(given.run)
    ledger.close()
    if run is None:
        raise UsageError(f"the ledger of {project} has no run {given.run!r:.80}", remedy="take the id from the block")
    return int(given.serve(project, run, given))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("lockstep", description="Without click and rich: these commands.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for name, serve, text in (
        ("answer", _answer, "Answer what a run asks a person."),
        ("resume", _resume, "Print the block with which a run goes on."),
        ("abandon", _abandon, "End a run, and record why."),
        ("pause", _pause, "Let the agent of a run do other work until the run goes on."),
        ("unpause", _unpause, "Hold the agent of a paused run to its step again."),
    ):
        one = commands.add_parser(name, help=text, description=text)
        one.add_argument("run", metavar="RUN")
        one.add_argument("--project", metavar="DIR", help="the project's root (default: found from here)")
        if serve not in (_resume, _unpause):
            one.add_argument("--reason", required=serve is _abandon, metavar="TEXT", help="why; kept with the run")
        if serve is _answer:
            one.add_argument("answer", metavar="ANSWER")
        one.set_defaults(serve=serve)
    return parser


def _answer(project: str, run: Run, given: argparse.Namespace) -> int:
    remedy = "ask the user to run it; an answer that the block lets you pass on goes with --answer"
    terminal.require_person("an answer is a person's", remedy)
    if run.status != "waiting":
        raise RefusedError(f"run {run.id} asks nobody anything: it is {run.status}")
    request = Request("next", run=run.id, turn=run.turn, answer=given.answer, reason=given.reason)
    runner, workflow = serving.runner_for(run, project, terminal.actor())
    with closing(runner):
        response = script.quietly(lambda: runner.advance(workflow, run.id, request))
    if response.exit_code != PRINTED or response.run is None:
        return script.emit(script.render_response(response, runner), response.exit_code)
    after = response.run
    where = f"The run is {after.status}." if after.ended else f"The run goes on at {after.step}."
    return script.emit(
        f"Recorded as a person's answer of run {run.id} at {run.step}: {given.answer}. {where}\n", PRINTED
    )


def _resume(project: str, run: Run, given: argparse.Namespace) -> int:
    runner, workflow = serving.runner_for(run, project, terminal.actor())
    with closing(runner):
        response = script.quietly(lambda: runner.state(workflow, run.id))
        return script.emit(script.render_response(response, runner), response.exit_code)


def _abandon(project: str, run: Run, given: argparse.Namespace) -> int:
    terminal.forbid_lockstep_agent("giving up a run is a person's")
    command_line = here(run.script, project)
    with closing(Runner(command_line, terminal.actor())) as runner:
        ended = runner.abandon(run.id, given.reason)
    lines = [f"Run {one.id} is abandoned.\n" for one in ended]
    lines += [f"Not done: {entry['kind']}: {entry['what']}\n" for entry in ended[0].not_done]
    return script.emit("".join(lines), PRINTED)


def _pause(project: str, given: argparse.Namespace) -> int:
    return script.emit(pausing.pause(project, given.run, given.reason) + "\n", PRINTED)


def _unpause(project: str, given: argparse.Namespace) -> int:
    return script.emit(pausing.unpause(project, given.run) + "\n", PRINTED)
