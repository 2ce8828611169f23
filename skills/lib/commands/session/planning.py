"""``lockstep agent plan``."""

from __future__ import annotations

import os
from contextlib import closing
from typing import TYPE_CHECKING

import click

from skills.lib import terminal
from skills.lib.commands.console import exits, prompts
from skills.lib.commands.console.options import (
    checked_text,
    complete_run,
    complete_skill,
    examples,
    project_option,
)
from skills.lib.commands.console.screen import Screen
from skills.lib.commands.queries import runs
from skills.lib.commands.session import extra
from skills.lib.commands.session.display import JsonLines, Lines, display_for
from skills.lib.commands.session.driving import STOPPED, WAITING, Driving
from skills.lib.errors import INTERRUPTED, PRINTED, RefusedError, UsageError
from skills.lib.field_checks import is_reason
from skills.lib.model.run import Request
from skills.lib.runtime import plans, script

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from skills.lib.agent.agent import Agent
    from skills.lib.agent.results import SessionResult
    from skills.lib.model.run import Run

_APPROVED = "approved by --yes"
# The answers that are more than a word, with what is asked of them.
_REASONS = {
    plans.CHANGE: "What is to be changed",
    plans.RETRY: "What the optimizer should know (or nothing)",
    plans.ACCEPT: "Why it is accepted",
}


@click.command(
    short_help="Plan a skill, have a person approve it, and execute it step by step.",
    epilog=examples(
        'lockstep agent plan books "sum up the project"  # the plan is shown; nothing runs before you approve it',
        'lockstep agent plan skills/books "sum up" --model anthropic:claude-sonnet-5',
        "lockstep agent plan --run k3f9q2mx  # go on with a plan or its execution, after an answer or a crash",
    ),
)
@click.argument("skill", metavar="[SKILL]", required=False, shell_complete=complete_skill)
@click.argument("goal", metavar="[GOAL]", required=False, callback=checked_text)
@click.option("--run", "run_id", metavar="RUN", shell_complete=complete_run, help="Go on with this plan or execution.")
@click.option("--model", metavar="PROVIDER:NAME", help="The model (default: LOCKSTEP_MODEL).")
@click.option("--base-url", metavar="URL", help="An endpoint that speaks the provider's protocol.")
@click.option("--detail", type=click.Choice(["summary", "full"]), help="What is shown as it happens.")
@click.option("--json", "as_json", is_flag=True, help="Print each event as a line of JSON, then each outcome.")
@click.option("--new", is_flag=True, help="Make a new plan, even if one for this goal goes on.")
@click.option("--yes", "approves", is_flag=True, help="Approve the plan without asking; no agent may give it.")
@project_option
@click.pass_obj
def plan(
    screen: Screen,
    skill: str | None,
    goal: str | None,
    run_id: str | None,
    model: str | None,
    base_url: str | None,
    detail: str | None,
    as_json: bool,
    new: bool,
    approves: bool,
    project: str,
) -> int:
    """Plan how SKILL reaches GOAL, show the plan, and execute it once a person approved it.

    An optimizer carries out each step by the command gateway, and an evaluator verifies it. A step that fails is tried
    again three times, then a person decides. What worked and what failed is kept for the next plan, and so is what you
    say at the end.

    Exit codes: 0 done, 6 a person is asked, 7 stopped or ended without success, 130 interrupted (the run stays).
    """
    terminal.forbid_lockstep_agent("an agent's session starts no other one")
    if approves:
        _forbid_agents()
    if (run_id is None) == (skill is None or goal is None):
        raise UsageError("give a skill and a goal, or a run", valid='SKILL "GOAL", --run RUN', remedy="lockstep list")
    extra.require()
    from skills.lib.agent import planning
    from skills.lib.agent.agent import Agent

    host = Agent(project, model, base_url=base_url or "")
    host.require_model(skill or "")  # first, or a run is opened that nobody follows
    first = _run(project, run_id).id if run_id else planning.start(host, skill or "", goal or "", new=new)
    options = [word for pair in (("--model", model), ("--base-url", base_url)) if pair[1] for word in pair]
    goes_on = runs.command(project, "agent", "plan", "--run", first, *map(str, options))
    return _Planning(screen, host, project, detail, as_json, approves, goes_on).serve(first)


class _Planning:
    """A plan from its making to the last words of a person."""

    def __init__(
        self,
        screen: Screen,
        host: Agent,
        project: str,
        detail: str | None,
        as_json: bool,
        approves: bool,
        goes_on: str,
    ) -> None:
        self.screen, self.host, self.project, self.goes_on = screen, host, project, goes_on
        self._detail, self._as_json, self._approves = detail, as_json, approves
        self._driving: Driving | None = None
        self._seen: dict[str, str] = {}

    def serve(self, first: str) -> int:
        """Drive the plan of a run, or the run, to its end; the exit code."""
        code = exits.serve(lambda: self._driven(first))
        if self._driving is not None and self._driving.is_alive:  # it waits for a model or a tool
            os._exit(code)
        return code

    def _driven(self, first: str) -> int:
        from skills.lib.agent import planning

        try:
            run = _run(self.project, first)
            if "plan" not in run.params:
                code = self._followed(first)
                if code != PRINTED:
                    return code
                first = planning.execute(self.host, first)
            code = self._followed(first)
            if _run(self.project, first).ended:
                self._end(first)
            return code
        except KeyboardInterrupt:
            self.screen.say(f"Interrupted. The run stays where it is; this goes on with it:\n  {self.goes_on}")
            return INTERRUPTED

    def _followed(self, run: str) -> int:
        """Follow a run until it ends, or waits for somebody who is not here; the exit code."""
        while True:
            outcome = self._session(run)
            code = {"done": PRINTED, "waiting": WAITING}.get(outcome.status, STOPPED)
            if outcome.status != "waiting" or not self._answered(outcome):
                self._say(outcome, code)
                return code

    def _session(self, run: str) -> SessionResult:
        display = display_for(self.screen, self._detail, self._as_json)
        after = self._seen.get(run) or self._last(run)
        if isinstance(display, Lines):
            self.screen.say(self.screen.styled(f"Run {run}", "bold"))
        self._driving = Driving(self.host, run)
        with display:
            outcome = self._driving.outcome(display, after)
        self._seen[run] = self._last(run)
        return outcome

    def _last(self, run: str) -> str:
        """The cursor of what happened last in a run; the beginning if no model was asked yet."""
        events = list(self.host.follow(run, level="FULL"))
        return events[-1].cursor if any(event.kind == "model" for event in events) else "0.0"

    def _answered(self, outcome: SessionResult) -> bool:
        """Have a person answer what a run asks; False if nobody is here who could."""
        if self._approves and plans.APPROVE in outcome.choices:
            if not self._as_json:  # an event has it
                self.screen.print(outcome.question)
            self.host.answer(outcome.run, plans.APPROVE, _APPROVED)
            return True
        if self._as_json or not _is_person():
            return False
        self.screen.print(outcome.question)
        try:
            given = prompts.text(self.screen, "Answer (b leaves)", outcome.choices)
            reason = prompts.text(self.screen, _REASONS[given]) if given in _REASONS else ""
            while given in self._asked(outcome).get("reasons", ()) and not is_reason(reason):
                reason = prompts.text(self.screen, f"{_REASONS[given]}, in more than a word")
        except prompts.Left:
            return False
        self._answer(outcome.run, given, reason)
        return True

    def _asked(self, outcome: SessionResult) -> Mapping[str, Any]:
        """The question that a run waits with."""
        return _run(self.project, outcome.run).question or {}

    def _answer(self, run_id: str, given: str, reason: str) -> None:
        """Record the answer as that of a person at a terminal."""
        run = _run(self.project, run_id)
        runner, workflow = runs.runner_for(self.screen, run, self.project, terminal.PERSON)
        with closing(runner):
            request = Request("next", run=run.id, turn=run.turn, answer=given, reason=reason or None)
            response = script.quietly(lambda: runner.advance(workflow, run.id, request))
        if response.exit_code and response.refusal:
            raise RefusedError(response.refusal.why, valid=", ".join((run.question or {}).get("choices", ())))

    def _say(self, outcome: SessionResult, code: int) -> None:
        """Say where a session left its run."""
        if self._as_json:
            JsonLines(self.screen, "SUMMARY").line({"type": "outcome", "exit": code, **outcome.fields()})
            return
        if outcome.status == "waiting":
            if not _is_person():
                self.screen.print(outcome.question)
            answers = runs.command(self.project, "answer", outcome.run, "ANSWER")
            self.screen.say(f"Run {outcome.run} asks a person. Answer, and go on:\n  {answers}\n  {self.goes_on}")
        elif outcome.status == "stopped":
            self.screen.say(f"Stopped at {outcome.step}: {outcome.reason}\nThis goes on with it:\n  {self.goes_on}")
        else:
            record = runs.command(self.project, "trace", outcome.run)
            self.screen.say(f"Run {outcome.run} is {outcome.status}. Its record: {record}")

    def _end(self, run_id: str) -> None:
        """Print what the execution brought, and ask a person what they say of it."""
        from skills.lib.agent import planning
        from skills.lib.agent.planning import memory

        run = _run(self.project, run_id)
        planning.learn_from(self.host, run_id)
        if self._as_json:
            return
        for line in memory.lines(memory.key_outputs(run.params["plan"], run.state)):
            self.screen.print(line)
        if _is_person():
            try:
                said = prompts.text(self.screen, "What should the next plan know? (one line, or nothing)")
            except prompts.Left:
                return
            planning.feedback(self.host, run_id, said)


def _run(project: str, run_id: str) -> Run:
    return runs.require_records(project).run(run_id)


def _is_person() -> bool:
    return prompts.is_terminal() and not terminal.why_no_person()


def _forbid_agents() -> None:
    """Raise RefusedError for a command that an agent's host runs."""
    found = [f"{agent} ({name} is set)" for name, agent in terminal.AGENTS.items() if name in os.environ]
    if found:
        raise RefusedError(
            f"--yes approves a plan, which is a person's to do: {found[0]} runs this command",
            remedy="ask the user to run it, or lockstep answer RUN approve",
        )
