"""A walk from the first block to the last, with the runs of sub-agents on the way."""

from __future__ import annotations

import sys
from typing import Any

from skills.lib.blocks import document
from skills.lib.blocks.command_line import CommandLine, lockstep_command
from skills.lib.commands.console.screen import Screen
from skills.lib.commands.walking import asking, block
from skills.lib.errors import PRINTED
from skills.lib.model.requirements import Field
from skills.lib.model.run import Request, Run
from skills.lib.model.steps import StepDef, Workflow
from skills.lib.runtime import Response, Runner, loading


class Journey:
    """One walk: ``run`` is where the outermost run stands, for the command that goes on with it."""

    def __init__(self, screen: Screen, project: str, script: str, workflow: Workflow) -> None:
        self.screen = screen
        self.project = project
        self.workflow = workflow
        self.runner = self._runner(script)
        self.run: Run | None = None

    def begin(self) -> None:
        """Open a run, asking for its parameters, and walk it to its end."""
        while True:
            given = {arg.name: asking.value(self.screen, arg) for arg in self.workflow.run_params()}
            response = self.runner.start(
                self.workflow, {name: raw for name, raw in given.items() if raw is not None}, new=True
            )
            if response.exit_code == PRINTED:
                break
            block.print_block(self.screen, response.element)
            if not given:
                return
        self.run = response.run
        self.follow(self.runner, self.workflow, response)

    def go_on(self, run: Run) -> None:
        """Walk a run from where it stands."""
        self.run = run
        self.follow(self.runner, self.workflow, self.runner.state(self.workflow, run.id))

    def close(self) -> None:
        """Let go of the ledger."""
        self.runner.close()

    def follow(self, runner: Runner, workflow: Workflow, response: Response) -> None:
        """Show each block and do what the person says, until the run is at its end."""
        while True:
            block.print_block(self.screen, response.element)
            run = response.run
            if run is not None and (self.run is None or self.run.id == run.id):
                self.run = run
            if run is None or run.ended:
                return
            response = self._next(runner, workflow, response, run)

    def _next(self, runner: Runner, workflow: Workflow, response: Response, run: Run) -> Response:
        """The block after this one; a refusal is shown, and the person asked again."""
        assert response.workflow is not None
        while True:
            request = self._asked(runner, response.workflow, run)
            after = runner.advance(workflow, run.id, request)
            if after.exit_code == PRINTED:
                return after
            block.print_block(self.screen, after.element)

    def _asked(self, runner: Runner, workflow: Workflow, run: Run) -> Request:
        step = workflow.step(run.step or "")
        common: dict[str, Any] = {"run": run.id, "turn": run.turn, "project": self.project}
        if run.status == "waiting":
            return Request("next", **common, **self._answer(run))
        if run.children:
            self._account(runner, run)
        params, records = self._reports(workflow, step)
        outcome = None
        if document.reports_outcome(step):
            outcome = asking.text(self.screen, "How did the step end?", [way.value for way in step.next])
        elif not params and not records:
            asking.pause(self.screen, "Enter when it is done (b leaves)")
        return Request("next", **common, params=params, records=records, outcome=outcome)

    def _answer(self, run: Run) -> dict[str, Any]:
        question = run.question or {}
        answer = asking.text(self.screen, "Your answer", question.get("choices", ()))
        reason = asking.text(self.screen, "Why (may be left empty)")
        return {"answer": answer, "reason": reason or None}

    def _reports(self, workflow: Workflow, step: StepDef) -> tuple[dict[str, Any], dict[str, Any]]:
        params = {arg.name: asking.value(self.screen, arg) for arg in workflow.step_params(step.id)}
        fields = [spec for spec in step.requires if isinstance(spec, Field)]
        records = {spec.name: asking.value(self.screen, spec) for spec in fields}
        return (
            {name: raw for name, raw in params.items() if raw is not None},
            {name: raw for name, raw in records.items() if raw is not None},
        )

    def _account(self, runner: Runner, run: Run) -> None:
        """See to it that every sub-agent's run is played, given up or replaced."""
        while True:
            parent = runner.ledger.run(run.id)
            left = [child for child in runner.ledger.runs(parent.children if parent else []) if not child.ended]
            if not left:
                return
            child = left[0]
            about = ", ".join(str(child.spec[key]) for key in ("agent", "target") if child.spec.get(key))
            self.screen.print(screen_line(len(left), child.id, about))
            choice = asking.text(self.screen, "Play it, or give it up?", ["play", "lost", "replace"])
            if choice == "play":
                self._play(child)
            else:
                reason = asking.text(self.screen, "Why") if choice == "lost" else None
                given: dict[str, Any] = {choice: child.id, "reason": reason}
                request = Request("current", run=run.id, turn=run.turn, **given)
                response = runner.advance(self._workflow_of(run), run.id, request)
                if response.exit_code != PRINTED:
                    block.print_block(self.screen, response.element)

    def _play(self, child: Run) -> None:
        runner, workflow = self._runner(child.script), self._workflow_of(child)
        try:
            self.follow(runner, workflow, runner.state(workflow, child.id))
        finally:
            runner.close()

    def _workflow_of(self, run: Run) -> Workflow:
        return loading.workflow_of_script(run.script)

    def _runner(self, script: str) -> Runner:
        return Runner(CommandLine(sys.executable, script, self.project, lockstep_command()), "person")


def screen_line(left: int, child_id: str, about: str) -> str:
    """How many sub-agents are left, and which is next."""
    return f"{left} sub-agent{'' if left == 1 else 's'} to account for; next is {child_id} ({about})."
