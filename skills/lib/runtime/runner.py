"""The library: open a run, advance it, show it. The step command, hosts and servers are thin faces of these."""

from __future__ import annotations

import os

from skills.lib import status_files
from skills.lib.blocks import parts
from skills.lib.blocks.command_line import join
from skills.lib.engine import engine
from skills.lib.engine.decision import Move, Refused
from skills.lib.errors import RefusedError, UsageError, tell
from skills.lib.ledger import Stale, new_id
from skills.lib.model.run import Request, Run
from skills.lib.runtime import cli
from skills.lib.runtime.project import (
    Evidence,
    Project,
    Response,
    is_of_another_project,
    require_own,
    with_search_paths,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from skills.lib.model.steps import Workflow
    from skills.lib.model.types import Element


_CHANGED = "The workflow's definition changed since this run opened; this step and the gates ahead did not."
# How many other open runs a block names with their commands; one more line counts the rest.
SHOWN = 3


def max_parallel() -> int | None:
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

        It is refused if a run with the same parameters has gone further, unless ``new``: an agent that begins again has
        most often lost its context.
        """
        self.max_parallel = max_parallel()
        request = Request("1", params=parameters, new=new)
        script, project = self.command_line.script, self.command_line.project
        run = Run(id=new_id(), workflow=workflow.name, script=script, project=project, turn=1)
        try:
            move = engine.open_run(workflow, run, parameters, Evidence(self, run))
        except Refused as refused:
            return self.refuse(workflow, None, request, refused)
        while True:
            try:
                return self._open(workflow, move, request)
            except Stale:
                continue

    def _open(self, workflow: Workflow, move: Move, request: Request) -> Response:
        beside = self._use_ledger(create=True).open_runs(workflow.name)
        others = [other for other in beside if not is_of_another_project(other, self.command_line.project)]
        twins = [] if request.new else [other for other in others if self._is_twin(other, move.run)]
        for twin in twins:
            if twin.turn == 1:
                self._check_step(workflow, twin)
                return self.show(workflow, self._at_its_script(twin), self._notices_of(workflow, others, twin))
        if twins:
            twin = twins[0]
            why = (
                f"Run {twin.id} of this skill is open with the same parameters{_where(workflow, twin)}, "
                f"turn {twin.turn}. "
                "Go on with it by the command below. If a second run is wanted, add --new to the command that was "
                "refused."
            )
            return self.refuse(workflow, twin, request, Refused("already-open", why))
        opened = self.ledger.commit(None, with_search_paths(move), self.actor, workflow.to_data(), beside)
        self._warn_of_commits()
        return self.show(workflow, opened, self._notices_of(workflow, others, opened))

    def _warn_of_commits(self) -> None:
        """Write to standard error if git has the ledger among the files of a commit."""
        from skills.lib.ledger.tracked import tracked  # a run opens once

        root = tracked(self.ledger.path)
        if root:
            folder = os.path.dirname(self.ledger.path)
            command = join(["git", "-C", root, "rm", "-rfq", "--cached", "--", os.path.relpath(folder, root)])
            tell(f"lockstep: git tracks the ledger {self.ledger.path}: a commit shows what runs record.\n")
            tell(f"  try:   {command}\n")

    def advance(self, workflow: Workflow, run_id: str, request: Request) -> Response:
        """Do what the request asks of the run, or refuse it; repeats print the same block and count once."""
        self._served, self.max_parallel = workflow, max_parallel()
        while True:
            run = self.ledger.run(run_id)
            notices: list[Element] = []
            try:
                if run is None:
                    raise Refused("unknown-run", f"The ledger {self.ledger.path} has no run {request.run!r:.80}.")
                self._check_place(workflow, run)
                if run.parent and not run.spec.get("script"):
                    from skills.lib.engine import children  # few runs are a free-form sub-agent's

                    workflow = children.task_workflow(run.workflow, run.spec)
                wanted = cli.resolve(workflow, request, run.step)
                run = self._at_its_script(run)
                if run.status != "pending" and not run.ended and run.fingerprint != workflow.fingerprint:
                    run, notices = self._with_definition(workflow, run), [parts.notice(_CHANGED)]
                self._check_step(workflow, run)
                is_new = run.status == "pending"
                working = self.ledger.at_work(run.parent or "") if is_new and self.max_parallel else None
                move = self._decided(workflow, run, wanted, working or ())
                definition = workflow.to_data() if is_new else None
                after = run if move is None else self._commit(run, move, definition, working)
            except Refused as refused:
                return self.refuse(workflow, run, request, refused)
            except Stale:
                continue
            return self.show(workflow, after, notices)

    def state(self, workflow: Workflow, run_id: str) -> Response:
        """The present block of a run; nothing changes."""
        return self.advance(workflow, run_id, Request("current", run=run_id))

    def abandon(self, run_id: str, reason: str) -> list[Run]:
        """End a run and its sub-agents' unfinished runs, and record why; return those that were ended.

        Findings that are open are noted as not done.
        Raises UsageError for an unknown run, and RefusedError for a run that has ended and for a sub-agent's run whose
        parent waits for it: the parent gives it up as lost.
        """
        from skills.lib.engine import not_done  # no step abandons a run

        while True:
            run = self.ledger.run(run_id)
            if run is None:
                what = f"the ledger {self.ledger.path} has no run {run_id!r:.80}"
                raise UsageError(what, remedy="lockstep runs --all")
            require_own(run, self.command_line.project)
            if run.ended:
                raise RefusedError(f"run {run.id} is {run.status}: nothing moves it any more")
            parent = self.ledger.run(run.parent) if run.parent else None
            if parent is not None and not parent.ended:
                lost = self.command_line.step("current", parent, "--lost", run.id, "--reason", reason)
                raise RefusedError(f"run {run.id} is a sub-agent's of {parent.id}, which waits for it", remedy=lost)
            below = self._unfinished_below(run)
            last = {**run.last, "reason": reason}
            left = not_done.at_abandoning(run)
            ended = left.changed(status="abandoned", turn=run.turn + 1, last=last, question=None)
            detail = {"from": run.step, "reason": reason, "children": [child.id for child in below]}
            end = tuple((child.id, "abandoned") for child in below)
            try:
                abandoned = self._commit(run, Move(ended, "abandoned", detail, (), end))
            except Stale:
                continue
            status_files.remove(self.command_line.project, abandoned.id)
            self.cancel(abandoned.id)
            return [abandoned, *below]

    def cancel(self, run_id: str) -> int:
        """End the commands that steps of the run are checking, in any thread or process; return how many were ended.

        A call that waits for such a command raises EnvironmentProblem, and the run stands where it stood.
        """
        from skills.lib.ledger import processes  # a step checks its own command

        return processes.end(self.command_line.project, run_id)

    def refuse(self, workflow: Workflow, run: Run | None, request: Request, refusal: Refused) -> Response:
        """Refuse the request: the response says why, and has the command that goes on."""
        from skills.lib.runtime import refusing  # with what it imports, which no other step needs

        return refusing.refuse(self, workflow, run, request, refusal)

    def _check_place(self, workflow: Workflow, run: Run) -> None:
        """Raise Refused for a run of another project, or of another workflow than this script's."""
        if is_of_another_project(run, self.command_line.project):
            why = f"Run {run.id} belongs to the project {run.project}, not to {self.command_line.project}."
            raise Refused("other-project", why)
        if run.turn == 0:  # a sub-agent's run gets its workflow when it begins
            served = self.command_line.place_of(run.script) == self.command_line.script
        else:
            served = run.workflow == workflow.name
        if not served and (run.spec.get("script") or not run.parent):
            raise Refused(
                "other-workflow", f"Run {run.id} is of {run.workflow}, and this script walks {workflow.name}."
            )

    def _check_step(self, workflow: Workflow, run: Run) -> None:
        """Raise LedgerError for a run that is at no step of its workflow."""
        if run.turn and not run.ended and not workflow.has(run.step or ""):
            raise self.ledger.database.broken(f"is damaged: run {run.id} is at no step of {workflow.name}")

    def _decided(self, workflow: Workflow, run: Run, request: Request, working: Sequence[str]) -> Move | None:
        """What the request does to the run; None if it only looks, or repeats the last one. Raises Refused."""
        if run.status in ("lost", "replaced"):
            why = f"This sub-agent's run was given up ({run.status}): stop here, its result is not wanted any more."
            raise Refused(f"child-{run.status}", why)
        if run.status == "pending":
            return self._begun(workflow, run, request, working)
        if _only_looks(workflow, run, request):
            return None
        move = engine.decide(workflow, run, request, Evidence(self, run), self.actor)
        if move is not None and run.step and workflow.step(run.step).gate:
            self.ledger.verify_tree(run.id)
        return move

    def _begun(self, workflow: Workflow, run: Run, request: Request, working: Sequence[str]) -> Move:
        """Open a sub-agent's run. Raises Refused if it cannot begin, or not while the sub-agents ``working`` are."""
        why = "This sub-agent's run has not begun: "
        if request.step not in (workflow.start, workflow.steps[0].id, "current"):
            raise Refused("skipped-step", f"{why}its first step comes first.", (workflow.start,))
        if request.reports:
            why += "there is nothing to report yet. Show its first step, and do it."
            raise Refused("skipped-step", why, (workflow.start,))
        parent = self.ledger.run(run.parent or "")
        if parent is not None and parent.ended:
            lead = f"The run that this sub-agent was to work for is {parent.status}"
            raise Refused("run-ended", f"{lead}: stop here, nothing more is wanted of it.")
        if self.max_parallel and len(working) >= self.max_parallel:
            why = (
                f"At most {self.max_parallel} sub-agents of a run work at once (LOCKSTEP_AGENTS), and these are at "
                f"work: {', '.join(working)}. Wait until one has finished, then run the command again."
            )
            raise Refused("agents-busy", why)
        params = run.spec["params"] if run.spec.get("script") else {}
        try:
            return with_search_paths(engine.open_run(workflow, run.changed(turn=1), params, Evidence(self, run)))
        except Refused as refused:
            # No command of its own goes on: its orchestrator gives it up.
            why = "The step that started this sub-agent gave it parameters that do not fit: "
            why += f"{refused.why} Run nothing more."
            if parent is None:
                raise Refused(refused.code, why) from None
            why += " Tell this to your orchestrator: it gives the sub-agent up with the command below."
            lost = self.command_line.step("current", parent, "--lost", run.id) + " --reason 'FILL_reason'"
            raise Refused(refused.code, why, (lost,)) from None

    def _commit(
        self,
        run: Run,
        move: Move,
        definition: dict[str, Any] | None = None,
        siblings: Sequence[str] | None = None,
    ) -> Run:
        """Commit a move. A run that it ends takes the unfinished runs of its own sub-agents with it."""
        if move.end:
            ends = dict(move.end)
            for child in self.ledger.runs(list(ends)):
                for one in self._unfinished_below(child):
                    ends.setdefault(one.id, "abandoned")
            move = Move(move.run, move.kind, move.detail, move.create, tuple(ends.items()), move.contents)
        moved = self.ledger.commit(run, move, self.actor, definition, siblings=siblings)
        for ended, _ in move.end:
            status_files.remove(self.command_line.project, ended)
            self.cancel(ended)
        return moved

    def _unfinished_below(self, run: Run) -> list[Run]:
        """The sub-agents' runs below a run that have not ended, at any depth."""
        children = [child for child in self.ledger.runs(run.children) if not child.ended]
        return [one for child in children for one in (child, *self._unfinished_below(child))]

    def _at_its_script(self, run: Run) -> Run:
        """Update ``run.script``, and those of its children, if the skill's folder moved; return the run."""
        # The script that was called serves its workflow, whatever the ledger names; any would serve a sub-agent's task.
        by_name = run.turn > 0 and (not run.parent or run.spec.get("script"))
        script = self.command_line.script if by_name else self.command_line.place_of(run.script)
        if run.ended or script in ("", run.script):
            return run
        placed = self.ledger.commit(run, _to_script(run, script), "script")
        for child in self.ledger.runs(run.children):
            place = self.command_line.place_of(child.script)
            if not child.ended and place not in ("", child.script):
                self.ledger.commit(child, _to_script(child, place), "script")
        return placed

    def _with_definition(self, workflow: Workflow, run: Run) -> Run:
        """Give the run the present definition. Raises Refused if a change of it matters to the run."""
        from skills.lib.runtime import definition  # it seldom changes under a run

        definition.check(self.ledger.definition(run.fingerprint), workflow, run)
        detail = {"from": run.fingerprint, "to": workflow.fingerprint}
        move = Move(run.changed(fingerprint=workflow.fingerprint), "definition-changed", detail)
        return self.ledger.commit(run, move, "script", workflow.to_data())

    def _is_twin(self, other: Run, run: Run) -> bool:
        """True if ``other`` has the same parameters and script; on turn 1 the definition must match too."""
        same = other.params == run.params and self.command_line.script_of(other) == run.script
        return same and (other.turn > 1 or other.fingerprint == run.fingerprint)

    def _notices_of(self, workflow: Workflow, others: Sequence[Run], run: Run) -> list[Element]:
        """A notice for each other open run of the skill, with its command; beyond SHOWN they are only counted."""
        notices = [
            parts.notice(
                f"Another run of this skill is open: {other.id}{_where(workflow, other)}, turn {other.turn}. "
                "To go on with it:",
                self.command_line.step("current", other, turn=False),
            )
            for other in others
            if other.id != run.id
        ]
        if len(notices) > SHOWN:
            words = f"{len(notices) - SHOWN} more runs of this skill are open. To list them:"
            notices[SHOWN:] = [parts.notice(words, self.command_line.person("runs"))]
        return notices


def _where(workflow: Workflow, run: Run) -> str:
    """The step of another run in words; empty if this version of the workflow does not have it."""
    return f", at {run.step}" if workflow.has(run.step or "") else ""


def _to_script(run: Run, script: str) -> Move:
    return Move(run.changed(script=script), "skill-moved", {"script": script})


def _only_looks(workflow: Workflow, run: Run, request: Request) -> bool:
    """True if the request only prints the present block: ``current``, or the present step without a turn.

    A reviewer's command names the first step. If it verifies items again, its run begins at another one.
    """
    present = request.step == run.step or (run.turn == 1 and request.step == workflow.steps[0].id)
    return (request.step == "current" or (request.turn is None and present)) and not request.reports
