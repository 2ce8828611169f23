"""The library: open a run, move it, look at it. The step command, hosts and servers are thin faces of these."""

from __future__ import annotations

import os

from skills.lib import status_files
from skills.lib.blocks import parts
from skills.lib.engine import engine
from skills.lib.engine.decision import Move, Refusal, Repeat
from skills.lib.errors import UsageError
from skills.lib.ledger import Stale, new_id
from skills.lib.model.run import Request, Run
from skills.lib.runtime import cli
from skills.lib.runtime.project import Project, Response, is_of_another_project, noted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from skills.lib.model.steps import Workflow
    from skills.lib.model.types import Element


# How many other open runs a block names with their commands; one more line counts the rest.
SHOWN = 3


def agents_at_once() -> int | None:
    """How many sub-agents of a run may work at a time (the variable LOCKSTEP_AGENTS); None is any number."""
    given = os.environ.get("LOCKSTEP_AGENTS", "")
    if not given:
        return None
    if not (given.isascii() and given.isdigit() and len(given) < 10 and int(given) > 0):
        raise UsageError(
            f"LOCKSTEP_AGENTS is {given!r:.40}", valid="a whole number of 1 or more: how many sub-agents work at once"
        )
    return int(given)


class Runner(Project):
    """Starts, advances and shows the runs of one project."""

    def start(self, workflow: Workflow, parameters: Mapping[str, Any], new: bool = False) -> Response:
        """Open a run. The same opening again prints the same block while the run is still on its first step.

        With the same parameters as a run that has gone further it is refused, unless ``new``: an agent that begins
        again has most often lost the thread.
        """
        self.at_once = agents_at_once()  # a number that is none is told before anything moves
        run = Run(
            id=new_id(),
            workflow=workflow.name,
            script=self.command_line.script,
            project=self.command_line.project,
            turn=1,
        )
        move = engine.open_run(workflow, run, parameters, self.proof(run))
        if isinstance(move, Refusal):
            from skills.lib.runtime import refusing

            return refusing.opening(self, workflow, move, parameters, new)
        while True:
            try:
                return self._open(workflow, move, new)
            except Stale:
                continue

    def _open(self, workflow: Workflow, move: Move, new: bool) -> Response:
        beside = self.use_ledger(create=True).open_runs(workflow.name)
        others = [other for other in beside if not is_of_another_project(other, self.command_line.project)]
        twins = [] if new else [other for other in others if self._is_twin(other, move.run)]
        for twin in twins:
            if twin.turn == 1:
                return self.show(workflow, self._placed(twin), self._others(twin, others))
        if twins:
            from skills.lib.runtime import refusing

            return refusing.twin(self, workflow, twins[0])
        opened = self.ledger.commit(None, noted(move), self.actor, workflow.to_data(), beside)
        return self.show(workflow, opened, self._others(opened, others))

    def advance(self, workflow: Workflow, run_id: str, request: Request) -> Response:
        """Do what the request asks of the run, or refuse it; repeats print the same block and count once."""
        self._served, self.at_once = workflow, agents_at_once()
        while True:
            run = self.ledger.run(run_id)
            if run is None:
                from skills.lib.runtime import refusing

                return refusing.unknown_run(self, workflow, request)
            try:
                return self._advance(workflow, run, request)
            except Stale:
                continue

    def state(self, workflow: Workflow, run_id: str) -> Response:
        """The present block of a run; nothing changes."""
        return self.advance(workflow, run_id, Request("current", run=run_id))

    def abandon(self, run_id: str, reason: str) -> list[Run]:
        """End a run and its sub-agents' unfinished runs, and record why; return those that were ended.

        Raises UsageError for an unknown run, RefusedError for one that has ended or whose parent waits for it.
        """
        from skills.lib.runtime import abandoning

        return abandoning.abandon(self, run_id, reason)

    def _advance(self, workflow: Workflow, run: Run, request: Request) -> Response:
        notices: list[Element] = []
        asked = request
        if is_of_another_project(run, self.command_line.project):
            from skills.lib.runtime import refusing

            return refusing.other_project(self, workflow, run, asked)
        if run.parent and not run.spec.get("script"):
            from skills.lib.engine import children

            workflow = children.task_workflow(run.workflow, run.spec)
        elif self._is_of_another_workflow(workflow, run):
            from skills.lib.runtime import refusing

            return refusing.other_workflow(self, workflow, run, asked)
        run = self._placed(run)
        request = cli.resolve(workflow, request)
        if run.ended and run.status in ("lost", "replaced"):
            from skills.lib.runtime import refusing

            why = f"This sub-agent's run was given up ({run.status}): stop here, its result is not wanted any more."
            return refusing.refuse(self, workflow, run, Refusal(f"child-{run.status}", why), asked)
        if run.status == "pending":
            from skills.lib.runtime import beginning

            return beginning.begin(self, workflow, run, request, asked)
        if run.fingerprint != workflow.fingerprint and not run.ended:
            from skills.lib.runtime.definition import changes_that_matter

            changed = changes_that_matter(self.ledger.definition(run.fingerprint), workflow, run)
            if changed:
                from skills.lib.runtime import refusing

                return refusing.changed_definition(self, workflow, run, changed, asked)
            run = self._adopt(workflow, run)
            words = "The workflow's definition changed since this run opened; this step and the gates ahead did not."
            notices = [parts.notice(words)]
        if _only_looks(workflow, run, request):
            return self.show(workflow, run, notices)
        decision = engine.decide(workflow, run, request, self.proof(run), self.actor)
        if isinstance(decision, Refusal):
            from skills.lib.runtime import refusing

            return refusing.refuse(self, workflow, run, decision, asked)
        if isinstance(decision, Repeat):
            return self.show(workflow, run, notices)
        if decision.end:
            from skills.lib.runtime import abandoning

            decision = abandoning.with_those_below(self, decision)
        moved = self.ledger.commit(run, decision, self.actor)
        for gone, _ in decision.end:
            status_files.remove(self.command_line.project, gone)
        return self.show(workflow, moved, notices)

    def _is_of_another_workflow(self, workflow: Workflow, run: Run) -> bool:
        if run.turn == 0:
            # A sub-agent's, whose workflow is known when it begins.
            return self.command_line.place_of(run.script) != self.command_line.script
        return run.workflow != workflow.name

    def _placed(self, run: Run) -> Run:
        """The run with its script where that is now; what is printed then, and who reads the ledger, finds it there."""
        # A workflow is known by its name wherever it is; a sub-agent's task would be served by any script.
        script = self.command_line.place_of(run.script) if run.parent else self.command_line.script_of(run)
        if run.ended or script in ("", run.script):
            return run
        placed = self.ledger.commit(run, _moved(run, script), "script")
        for child in self.ledger.runs(run.children):
            place = self.command_line.place_of(child.script)
            if not child.ended and place not in ("", child.script):
                self.ledger.commit(child, _moved(child, place), "script")
        return placed

    def _adopt(self, workflow: Workflow, run: Run) -> Run:
        """Go on with a definition that changed where it no longer matters to the run."""
        detail = {"from": run.fingerprint, "to": workflow.fingerprint}
        move = Move(run.changed(fingerprint=workflow.fingerprint), "definition-changed", detail)
        return self.ledger.commit(run, move, "script", workflow.to_data())

    def _is_twin(self, other: Run, run: Run) -> bool:
        """Whether a run was opened as this one is; on its first turn, one of another definition was not."""
        same = other.params == run.params and self.command_line.script_of(other) == run.script
        return same and (other.turn > 1 or other.fingerprint == run.fingerprint)

    def _others(self, run: Run, others: Sequence[Run]) -> list[Element]:
        notices = [
            parts.notice(
                f"Another run of this skill is open: {other.id}, at {other.step}, turn {other.turn}. To go on with it:",
                self.command_line.step("current", other, turn=False),
            )
            for other in others
            if other.id != run.id
        ]
        if len(notices) > SHOWN:
            words = f"{len(notices) - SHOWN} more runs of this skill are open. To list them:"
            notices[SHOWN:] = [parts.notice(words, self.command_line.person("runs"))]
        return notices


def _moved(run: Run, script: str) -> Move:
    return Move(run.changed(script=script), "skill-moved", {"script": script})


def _only_looks(workflow: Workflow, run: Run, request: Request) -> bool:
    """True if the request only prints the present block: ``current``, or the present step without a turn.

    A reviewer's command names the first step. If it verifies items again, its run begins at another one.
    """
    present = request.step == run.step or (run.turn == 1 and request.step == workflow.steps[0].id)
    return (request.step == "current" or (request.turn is None and present)) and not request.reports
