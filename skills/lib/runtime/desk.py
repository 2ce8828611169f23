"""The library: open a run, move it, look at it. The step command, hosts and servers are thin faces of these."""

from __future__ import annotations

import os

from skills.lib import markers, paths
from skills.lib.errors import PRINTED, REFUSED, LockstepError, RefusedError, UsageError
from skills.lib.ledger import Ledger, Stale, database, new_id
from skills.lib.runtime import loading
from skills.lib.workflow import cli, document, engine, values
from skills.lib.workflow.decision import Move, Refusal, Repeat
from skills.lib.workflow.state import Request, Run
from skills.lib.workflow.types import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from skills.lib.workflow.caller import Caller
    from skills.lib.workflow.core import Workflow
    from skills.lib.workflow.requirements import Artifact, Command
    from skills.lib.workflow.types import Element


# How many other open runs a block names with their commands; one more line counts the rest.
SHOWN = 3
# How long a parameter may be that a refused opening gives back in the command that goes on.
TOLD = 1_000


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


class Reply(Value):
    """What a call gives back: the document, its exit code, and the run and workflow that it is about.

    ``rebuild`` makes the document anew with the context values of the given names standing in files.
    """

    __slots__ = ("element", "exit_code", "run", "workflow", "rebuild")
    element: Element
    exit_code: int
    run: Run | None
    workflow: Workflow | None
    rebuild: Callable[[dict[str, str]], Element] | None

    def __init__(
        self,
        element: Element,
        exit_code: int = PRINTED,
        run: Run | None = None,
        workflow: Workflow | None = None,
        rebuild: Callable[[dict[str, str]], Element] | None = None,
    ) -> None:
        self._set(element=element, exit_code=exit_code, run=run, workflow=workflow, rebuild=rebuild)


class Desk:
    """Serves one project: its ledger, and how commands that go on are called. ``actor`` is agent, script or person."""

    def __init__(self, caller: Caller, actor: str = "agent") -> None:
        self.caller = caller
        self.actor = actor
        self._ledger: Ledger | None = None
        self._served: Workflow | None = None
        self._at_once: int | None = None

    @property
    def ledger(self) -> Ledger:
        """The project's ledger, opened on first use; LedgerError where there is none: only opening a run makes one."""
        return self._use_ledger(create=False)

    def start(self, workflow: Workflow, parameters: Mapping[str, Any], new: bool = False) -> Reply:
        """Open a run. The same opening again prints the same block while the run is still on its first step.

        With the same parameters as a run that has gone further it is refused, unless ``new``: an agent that begins
        again has most often lost the thread.
        """
        self._at_once = agents_at_once()  # a number that is none is told before anything moves
        run = Run(id=new_id(), workflow=workflow.name, script=self.caller.script, project=self.caller.project, turn=1)
        move = engine.open_run(workflow, run, parameters)
        if isinstance(move, Refusal):
            return self._refuse(workflow, None, move, "--step 1", self._start_line(workflow, parameters))
        while True:
            try:
                return self._open(workflow, move, new)
            except Stale:
                continue

    def _open(self, workflow: Workflow, move: Move, new: bool) -> Reply:
        beside = self._use_ledger(create=True).open_runs(workflow.name)
        others = [other for other in beside if not _is_of_another_project(other, self.caller.project)]
        twins = [] if new else [other for other in others if _is_twin(other, move.run)]
        for twin in twins:
            if twin.turn == 1:
                return self._show(workflow, twin, self._others(twin, others))
        if twins:
            return self._refuse_twin(workflow, twins[0])
        opened = self.ledger.commit(None, move, self.actor, workflow.to_data(), beside)
        return self._show(workflow, opened, self._others(opened, others))

    def advance(self, workflow: Workflow, run_id: str, request: Request) -> Reply:
        """Do what the request asks of the run, or refuse it; repeats print the same block and count once."""
        self._served, self._at_once = workflow, agents_at_once()
        while True:
            run = self.ledger.run(run_id)
            if run is None:
                return self._unknown_run(workflow, request)
            try:
                return self._advance(workflow, run, request)
            except Stale:
                continue

    def state(self, workflow: Workflow, run_id: str) -> Reply:
        """The present block of a run; nothing changes."""
        return self.advance(workflow, run_id, Request("current", run=run_id))

    def _use_ledger(self, create: bool) -> Ledger:
        if self._ledger is None:
            self._ledger = Ledger(paths.home(self.caller.project), create)
        return self._ledger

    def abandon(self, run_id: str, reason: str) -> list[Run]:
        """End a run and its sub-agents' unfinished runs, and record why; return those that were ended.

        Raises RefusedError for a run that has ended, and for a sub-agent's: its parent gives it up as lost.
        """
        while True:
            run = self.ledger.run(run_id)
            if run is None:
                raise UsageError(
                    f"the ledger {self.ledger.path} has no run {run_id!r:.80}", remedy="lockstep runs --all"
                )
            if run.ended:
                raise RefusedError(f"run {run.id} is {run.status}: nothing moves it any more")
            parent = self.ledger.run(run.parent) if run.parent else None
            if parent is not None and not parent.ended:
                lost = self.caller.step("current", parent, "--lost", run.id, "--reason", reason)
                raise RefusedError(f"run {run.id} is a sub-agent's of {parent.id}, which waits for it", remedy=lost)
            below = self._unfinished(run)
            ended = run.changed(
                status="abandoned", turn=run.turn + 1, last={**run.last, "reason": reason}, question=None
            )
            end = tuple((child.id, "abandoned") for child in below)
            try:
                detail = {"from": run.step, "reason": reason, "children": [child.id for child in below]}
                gone = [self.ledger.commit(run, Move(ended, "abandoned", detail, (), end), self.actor), *below]
            except Stale:
                continue
            for one in gone:
                markers.remove(self.caller.project, one.id)
            return gone

    def _unfinished(self, run: Run) -> list[Run]:
        found: list[Run] = []
        for child in self.ledger.runs(run.children):
            if not child.ended:
                found += [child, *self._unfinished(child)]
        return found

    def close(self) -> None:
        """Close the ledger."""
        if self._ledger is not None:
            self._ledger.close()

    def leave(self) -> None:
        """Let go of the ledger just before the process exits, which is quicker than closing it."""
        if self._ledger is not None:
            self._ledger.leave()

    def _advance(self, workflow: Workflow, run: Run, request: Request) -> Reply:
        notices: list[Element] = []
        asked = document.asked_for(request)
        if _is_of_another_project(run, self.caller.project):
            return self._other_project(workflow, run, asked)
        if run.parent and not run.spec.get("script"):
            from skills.lib.workflow import children

            workflow = children.task_workflow(run.workflow, run.spec)
        elif run.status != "pending" and run.workflow != workflow.name:
            return self._other_workflow(workflow, run, request)
        if run.script != self.caller.script and not run.spec.get("script") and not os.path.exists(run.script):
            run = run.changed(script=self.caller.script)  # the skill was moved: what is printed now names its new place
        request = cli.resolve(workflow, request)
        if run.ended and run.status in ("lost", "replaced"):
            why = f"This sub-agent's run was given up ({run.status}): stop here, its result is not wanted any more."
            return self._refuse(workflow, run, Refusal(f"child-{run.status}", why), asked)
        if run.status == "pending":
            return self._begin_child(workflow, run, request, asked)
        if run.fingerprint != workflow.fingerprint and not run.ended:
            from skills.lib.runtime.definition import changes_that_matter

            changed = changes_that_matter(self.ledger.definition(run.fingerprint), workflow, run)
            if changed:
                return self._refuse_changed(workflow, run, changed, asked)
            run = self._adopt(workflow, run)
            words = "The workflow's definition changed since this run opened; this step and the gates ahead did not."
            notices = [document.notice(words)]
        if _only_looks(request, run):
            return self._show(workflow, run, notices)
        decision = engine.decide(workflow, run, request, _Proof(self.ledger, run, self.caller.project), self.actor)
        if isinstance(decision, Refusal):
            return self._refuse(workflow, run, decision, asked)
        if isinstance(decision, Repeat):
            return self._show(workflow, run, notices)
        moved = self.ledger.commit(run, decision, self.actor)
        for gone, _ in decision.end:
            markers.remove(self.caller.project, gone)
        return self._show(workflow, moved, notices)

    def _begin_child(self, workflow: Workflow, run: Run, request: Request, asked: str) -> Reply:
        if run.spec.get("script") and run.script != self.caller.script:
            return self._other_workflow(workflow, run, request)
        if request.step not in (workflow.start, workflow.steps[0].id, "current"):
            why = "This sub-agent's run has not begun: its first step comes first."
            return self._refuse(workflow, run, Refusal("skipped-step", why, (workflow.start,)), asked)
        if _reports(request):
            why = "This sub-agent's run has not begun: there is nothing to report yet. Show its first step, and do it."
            return self._refuse(workflow, run, Refusal("skipped-step", why, (workflow.start,)), asked)
        busy = self._busy(run)
        if busy:
            return self._refuse(workflow, run, busy, asked)
        move = engine.open_run(workflow, run.changed(turn=1), run.spec["params"] if run.spec.get("script") else {})
        if isinstance(move, Refusal):
            why = f"The dispatching step gave this sub-agent parameters that do not fit: {move.why}"
            return self._refuse(workflow, run, Refusal(move.code, why, move.valid), asked)
        return self._show(workflow, self.ledger.commit(run, move, self.actor, workflow.to_data()), ())

    def _busy(self, run: Run) -> Refusal | None:
        """Why a sub-agent may not begin yet: as many as may work at once are at work."""
        at_once, parent = self._at_once, self.ledger.run(run.parent or "")
        if at_once is None or parent is None:
            return None
        working = [child.id for child in self.ledger.runs(parent.children) if child.status in ("open", "waiting")]
        if len(working) < at_once:
            return None
        why = (
            f"At most {at_once} sub-agents of a run work at once (LOCKSTEP_AGENTS), and these are at work: "
            f"{', '.join(working)}. Wait until one has finished, then run the command again."
        )
        return Refusal("agents-busy", why)

    def _adopt(self, workflow: Workflow, run: Run) -> Run:
        """Go on with a definition that changed where it no longer matters to the run."""
        detail = {"from": run.fingerprint, "to": workflow.fingerprint}
        move = Move(run.changed(fingerprint=workflow.fingerprint), "definition-changed", detail)
        return self.ledger.commit(run, move, "script", workflow.to_data())

    def _refuse_changed(self, workflow: Workflow, run: Run, changed: Sequence[str], asked: str) -> Reply:
        why = f"The workflow was changed under this run: {'; '.join(changed)}. Put it back, or begin a new run."
        refusal = Refusal("definition-changed", why)
        return self._refuse(workflow, run, refusal, asked, self._start_line(workflow, new=True))

    def _show(self, workflow: Workflow, run: Run, notices: Sequence[Element] = ()) -> Reply:
        if run.ended:
            return self._show_end(workflow, run, notices)
        markers.write(self.caller.project, run.id, document.standing(workflow, run, self.caller))
        brood = self.ledger.runs(run.children) if run.children else []

        def build(spill: dict[str, str]) -> Element:
            return document.step_document(workflow, run, self.caller, brood, notices, spill, self._at_once)

        return Reply(build({}), PRINTED, run, workflow, build)

    def _show_end(self, workflow: Workflow, run: Run, notices: Sequence[Element]) -> Reply:
        markers.remove(self.caller.project, run.id)
        parent = self.ledger.run(run.parent) if run.parent else None
        if parent is not None and (parent.ended or run.id not in parent.children):
            parent, words = None, "The step that started this sub-agent was left since: nothing more is wanted of it."
            notices = [*notices, document.notice(words)]
        siblings = self.ledger.runs(parent.children) if parent else []
        command = self._command_of(parent) if parent else ""

        def build(spill: dict[str, str]) -> Element:
            return document.done_document(
                workflow, run, self.caller, parent, command, siblings, notices, spill, self._at_once
            )

        return Reply(build({}), PRINTED, run, workflow, build)

    def _command_of(self, run: Run) -> str:
        """The command with which the agent of that run goes on; the one that shows its block if its skill is broken."""
        try:
            if not run.ended:
                # The graph at hand may be in no file: one that was made at run time.
                served = self._served if self._served and self._served.name == run.workflow else None
                return document.next_command(served or loading.workflow_of_script(run.script), run, self.caller)
        except LockstepError:
            pass
        return self.caller.step("current", run, turn=False)

    def _refuse(
        self,
        workflow: Workflow,
        run: Run | None,
        refusal: Refusal,
        asked: str,
        next_line: str = "",
        code: int = REFUSED,
    ) -> Reply:
        show = ""
        if run is not None and not run.ended:
            show = self.caller.step("current", run, turn=False)
            if not next_line:
                shows = run.status == "pending" or refusal.code == "unaccounted-child"
                next_line = show if shows else document.next_command(workflow, run, self.caller)
            if next_line == show:
                show = ""
        detail = {"code": refusal.code, "why": refusal.why, "asked": asked, "evidence": list(refusal.evidence)}
        if run is not None:
            self.ledger.note(run.id, run.turn, "refused", self.actor, {**detail, "step": run.step})
        element = document.refused_document(workflow, run, refusal, asked, next_line, show)
        return Reply(element, code, run, workflow)

    def _others(self, run: Run, others: Sequence[Run]) -> list[Element]:
        notices = [
            document.notice(
                f"Another run of this skill is open: {other.id}, at {other.step}, turn {other.turn}. To go on with it:",
                self.caller.step("current", other, turn=False),
            )
            for other in others
            if other.id != run.id
        ]
        if len(notices) > SHOWN:
            words = f"{len(notices) - SHOWN} more runs of this skill are open. To list them:"
            notices[SHOWN:] = [document.notice(words, self.caller.person("runs"))]
        return notices

    def _refuse_twin(self, workflow: Workflow, twin: Run) -> Reply:
        why = (
            f"Run {twin.id} of this skill is open with the same parameters, at {twin.step}, turn {twin.turn}. Go on "
            "with it by the command below. If a second run is wanted, add --new to the command that was refused."
        )
        resume = self.caller.step("current", twin, turn=False)
        return self._refuse(workflow, twin, Refusal("already-open", why), "--step 1, to open a run", resume)

    def _start_line(self, workflow: Workflow, given: Mapping[str, Any] | None = None, new: bool = False) -> str:
        """The command that opens a run, with what was given and fits; a placeholder for what else is required."""
        words, missing = [], ""
        for arg in workflow.run_params():
            value = (given or {}).get(arg.name)
            is_short = isinstance(value, str) and len(value) <= TOLD and not values.is_secret(arg.name)
            if is_short and values.fits(arg, str(value)):
                words += [arg.flag, str(value)]
            elif arg.required:
                missing += f" {arg.flag} {document.placeholder(arg)}"
        return self.caller.start(*words, *(["--new"] if new else [])) + missing

    def no_run(self, workflow: Workflow, request: Request) -> Reply:
        """Refuse a step that names no run, and list the runs that it may have meant."""
        why = f"--step {request.step} needs --run: only --step 1 begins without one."
        if request.step == workflow.start:
            why = "What this reports belongs to a run, and it names none: --step 1 begins one, with parameters alone."
        return self._refuse_lost(workflow, Refusal("no-run", why), request)

    def _unknown_run(self, workflow: Workflow, request: Request) -> Reply:
        why = f"The ledger {self.ledger.path} has no run {request.run!r:.80}."
        return self._refuse_lost(workflow, Refusal("unknown-run", why), request)

    def _refuse_lost(self, workflow: Workflow, refusal: Refusal, request: Request) -> Reply:
        others = self._known_runs(workflow)
        commands = [self.caller.step("current", other, turn=False) for other in others]
        why = refusal.why + (" The runs of this skill that are open are shown by:" if commands else "")
        refusal = Refusal(refusal.code, why, tuple(commands))
        next_line = commands[0] if len(commands) == 1 else self._start_line(workflow)
        return self._refuse(workflow, None, refusal, document.asked_for(request), next_line)

    def _known_runs(self, workflow: Workflow) -> list[Run]:
        there = os.path.exists(os.path.join(paths.home(self.caller.project), database.FILE))
        known = self.ledger.open_runs(workflow.name) if there else []
        return [run for run in known if not _is_of_another_project(run, self.caller.project)]

    def _other_project(self, workflow: Workflow, run: Run, asked: str) -> Reply:
        # One ledger may serve many projects; where each has its own, another path means that the project was moved.
        why = f"Run {run.id} belongs to the project {run.project}, not to {self.caller.project}."
        own = type(self.caller)(**{**self.caller.fields(), "project": run.project})  # type: ignore[arg-type]
        return self._refuse(workflow, None, Refusal("other-project", why), asked, own.step("current", run, turn=False))

    def _other_workflow(self, workflow: Workflow, run: Run, request: Request) -> Reply:
        why = f"Run {run.id} is of {run.workflow}, and this script walks {workflow.name}."
        command = document.child_command(run, self.caller)
        return self._refuse(workflow, None, Refusal("other-workflow", why), document.asked_for(request), command)


class _Proof:
    """The engine's window on the world for one run."""

    def __init__(self, ledger: Ledger, run: Run, project: str) -> None:
        self._ledger, self._run, self._project = ledger, run, project

    def children(self) -> list[Run]:
        return self._ledger.runs(self._run.children)

    def check(self, requirement: Artifact | Command, fields: Mapping[str, Any]) -> dict[str, Any]:
        from skills.lib.ledger import evidence

        return evidence.check(requirement, fields, self._project, os.path.dirname(self._run.script))


def _is_of_another_project(run: Run, project: str) -> bool:
    """Whether one ledger serves both projects; where each has its own, another path means that the project moved."""
    if run.project == project:
        return False
    real = os.path.realpath
    return real(run.project) != real(project) and real(paths.home(run.project)) == real(paths.home(project))


def _is_twin(other: Run, run: Run) -> bool:
    """Whether a run was opened as this one is; on its first turn, one of another definition was not."""
    same = other.params == run.params and other.script == run.script
    return same and (other.turn > 1 or other.fingerprint == run.fingerprint)


def _only_looks(request: Request, run: Run) -> bool:
    """Whether the request only prints the present block: ``current``, or the present step without a turn."""
    looks = request.step == "current" or (request.turn is None and request.step == run.step)
    return looks and not _reports(request)


def _reports(request: Request) -> bool:
    """Whether the request says anything beyond which step it wants."""
    told = request.params or request.records or request.outcome or request.answer or request.lost or request.replace
    return bool(told) or (request.qr_status, request.qr_iteration, request.qr_fail) != (None, None, None)
