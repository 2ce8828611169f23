"""The library: open a run, move it, look at it. The step command, hosts and servers are thin faces of these."""

from __future__ import annotations

import os

from skills.lib import markers, paths
from skills.lib.errors import PRINTED, LockstepError, UsageError
from skills.lib.ledger import Ledger, Stale, new_id
from skills.lib.record import Record
from skills.lib.runtime import loading
from skills.lib.workflow import cli, document, engine
from skills.lib.workflow.decision import Move, Refusal, Repeat
from skills.lib.workflow.state import Request, Run

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from skills.lib.workflow.caller import Caller
    from skills.lib.workflow.context import Offloaded
    from skills.lib.workflow.core import Workflow
    from skills.lib.workflow.requirements import Artifact, Command
    from skills.lib.workflow.types import Element


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


class Reply(Record):
    """What a call gives back: the document, its exit code, and the run and workflow that it is about.

    ``rebuild`` makes the document anew with the context values of the given names standing in files.
    """

    element: Element
    exit_code: int = PRINTED
    run: Run | None = None
    workflow: Workflow | None = None
    rebuild: Callable[[Offloaded], Element] | None = None


class Desk:
    """Serves one project: its ledger, and how commands that go on are called. ``actor`` is agent, script or person."""

    def __init__(self, caller: Caller, actor: str = "agent") -> None:
        self.caller = caller
        self.actor = actor
        self._ledger: Ledger | None = None
        self._served: Workflow | None = None
        self.at_once: int | None = None

    @property
    def ledger(self) -> Ledger:
        """The project's ledger, opened on first use; LedgerError where there is none: only opening a run makes one."""
        return self._use_ledger(create=False)

    def start(self, workflow: Workflow, parameters: Mapping[str, Any], new: bool = False) -> Reply:
        """Open a run. The same opening again prints the same block while the run is still on its first step.

        With the same parameters as a run that has gone further it is refused, unless ``new``: an agent that begins
        again has most often lost the thread.
        """
        self.at_once = agents_at_once()  # a number that is none is told before anything moves
        run = Run(id=new_id(), workflow=workflow.name, script=self.caller.script, project=self.caller.project, turn=1)
        move = engine.open_run(workflow, run, parameters, self.proof(run))
        if isinstance(move, Refusal):
            from skills.lib.runtime import refusing

            return refusing.opening(self, workflow, move, parameters, new)
        while True:
            try:
                return self._open(workflow, move, new)
            except Stale:
                continue

    def _open(self, workflow: Workflow, move: Move, new: bool) -> Reply:
        beside = self._use_ledger(create=True).open_runs(workflow.name)
        others = [other for other in beside if not is_of_another_project(other, self.caller.project)]
        twins = [] if new else [other for other in others if self._is_twin(other, move.run)]
        for twin in twins:
            if twin.turn == 1:
                return self.show(workflow, self._placed(twin), self._others(twin, others))
        if twins:
            from skills.lib.runtime import refusing

            return refusing.twin(self, workflow, twins[0])
        opened = self.ledger.commit(None, noted(move), self.actor, workflow.to_data(), beside)
        return self.show(workflow, opened, self._others(opened, others))

    def advance(self, workflow: Workflow, run_id: str, request: Request) -> Reply:
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

    def state(self, workflow: Workflow, run_id: str) -> Reply:
        """The present block of a run; nothing changes."""
        return self.advance(workflow, run_id, Request("current", run=run_id))

    def _use_ledger(self, create: bool) -> Ledger:
        if self._ledger is None:
            self._ledger = Ledger(paths.home(self.caller.project), create)
        return self._ledger

    def abandon(self, run_id: str, reason: str) -> list[Run]:
        """End a run and its sub-agents' unfinished runs, and record why; return those that were ended.

        Raises UsageError for an unknown run, RefusedError for one that has ended or whose parent waits for it.
        """
        from skills.lib.runtime import abandoning

        return abandoning.abandon(self, run_id, reason)

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
        asked = request
        if is_of_another_project(run, self.caller.project):
            from skills.lib.runtime import refusing

            return refusing.other_project(self, workflow, run, asked)
        if run.parent and not run.spec.get("script"):
            from skills.lib.workflow import children

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
            notices = [document.notice(words)]
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
            markers.remove(self.caller.project, gone)
        return self.show(workflow, moved, notices)

    def proof(self, run: Run) -> engine.Proof:
        """What the engine may ask of the world for that run."""
        return _Proof(self, run)

    def _is_of_another_workflow(self, workflow: Workflow, run: Run) -> bool:
        if run.turn == 0:
            # A sub-agent's, whose workflow is known when it begins.
            return self.caller.place_of(run.script) != self.caller.script
        return run.workflow != workflow.name

    def _placed(self, run: Run) -> Run:
        """The run with its script where that is now; what is printed then, and who reads the ledger, finds it there."""
        # A workflow is known by its name wherever it is; a sub-agent's task would be served by any script.
        script = self.caller.place_of(run.script) if run.parent else self.caller.script_of(run)
        if run.ended or script in ("", run.script):
            return run
        placed = self.ledger.commit(run, _moved(run, script), "script")
        for child in self.ledger.runs(run.children):
            place = self.caller.place_of(child.script)
            if not child.ended and place not in ("", child.script):
                self.ledger.commit(child, _moved(child, place), "script")
        return placed

    def _adopt(self, workflow: Workflow, run: Run) -> Run:
        """Go on with a definition that changed where it no longer matters to the run."""
        detail = {"from": run.fingerprint, "to": workflow.fingerprint}
        move = Move(run.changed(fingerprint=workflow.fingerprint), "definition-changed", detail)
        return self.ledger.commit(run, move, "script", workflow.to_data())

    def show(self, workflow: Workflow, run: Run, notices: Sequence[Element] = ()) -> Reply:
        """The block of a run as it stands, or how it ended."""
        if run.ended:
            return self._show_end(workflow, run, notices)
        markers.write(self.caller.project, run.id, document.standing(workflow, run, self.caller))
        brood = self.ledger.runs(run.children) if run.children else []

        def build(offloaded: Offloaded) -> Element:
            return document.step_document(workflow, run, self.caller, brood, notices, offloaded, self.at_once)

        return Reply(build({}), PRINTED, run, workflow, build)

    def _show_end(self, workflow: Workflow, run: Run, notices: Sequence[Element]) -> Reply:
        from skills.lib.workflow import done

        markers.remove(self.caller.project, run.id)
        parent = self.ledger.run(run.parent) if run.parent else None
        if parent is not None and (parent.ended or run.id not in parent.children):
            parent, words = None, "The step that started this sub-agent was left since: nothing more is wanted of it."
            notices = [*notices, document.notice(words)]
        siblings = self.ledger.runs(parent.children) if parent else []
        command = self._command_of(parent) if parent else ""

        def build(offloaded: Offloaded) -> Element:
            return done.done_document(
                workflow, run, self.caller, parent, command, siblings, notices, offloaded, self.at_once
            )

        return Reply(build({}), PRINTED, run, workflow, build)

    def _command_of(self, run: Run) -> str:
        """The command with which the agent of that run goes on; the one that shows its block if its skill is broken."""
        try:
            if not run.ended:
                # The graph at hand may be in no file: one that was made at run time.
                served = self._served if self._served and self._served.name == run.workflow else None
                script = self.caller.script_of(run)
                return document.next_command(served or loading.workflow_of_script(script), run, self.caller)
        except LockstepError:
            pass
        return self.caller.step("current", run, turn=False)

    def _is_twin(self, other: Run, run: Run) -> bool:
        """Whether a run was opened as this one is; on its first turn, one of another definition was not."""
        same = other.params == run.params and self.caller.script_of(other) == run.script
        return same and (other.turn > 1 or other.fingerprint == run.fingerprint)

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


class _Proof:
    """The engine's window on the world for one run."""

    def __init__(self, desk: Desk, run: Run) -> None:
        self._desk, self._run, self._project = desk, run, desk.caller.project
        self._contents: dict[str, dict[str, str]] = {}

    def children(self) -> list[Run]:
        return self._desk.ledger.runs(self._run.children)

    def check(self, requirement: Artifact | Command, fields: Mapping[str, Any]) -> dict[str, Any]:
        from skills.lib.ledger import evidence
        from skills.lib.workflow.requirements import Command

        self._contents.clear()  # a command may change files
        opening = None
        if isinstance(requirement, Command):
            opening = self._desk.ledger.opening(self._run.id).get("search_paths")
        return evidence.check(requirement, fields, self._project, os.path.dirname(self._run.script), opening)

    def contents(self, covers: Sequence[str]) -> dict[str, str]:
        from skills.lib.ledger import contents

        key = "\n".join(covers)
        if key not in self._contents:
            self._contents[key] = contents.manifest(self._project, covers)
        return self._contents[key]

    def digest(self, files: Mapping[str, str]) -> str:
        from skills.lib.ledger import contents

        return contents.digest(files)

    def known(self, digest: str) -> dict[str, str] | None:
        return self._desk.ledger.contents(digest)

    def covered(self, covers: Sequence[str], paths: Sequence[str]) -> set[str]:
        from skills.lib.ledger import contents

        return contents.covered(self._project, covers, paths)

    def look(self, place: str, bases: Sequence[str] = ()) -> dict[str, Any]:
        from skills.lib.ledger import contents

        return contents.look(self._project, place, bases)


def is_of_another_project(run: Run, project: str) -> bool:
    """Whether one ledger serves both projects; where each has its own, another path means that the project moved."""
    if run.project == project:
        return False
    real = os.path.realpath
    if real(run.project) == real(project) or not os.path.isdir(run.project):
        return False
    # A relative LOCKSTEP_HOME may name the ledger of another project, which has it where a ledger is without that.
    own = (paths.home(run.project), os.path.join(run.project, paths.FOLDER))
    return real(paths.home(project)) in [real(home) for home in own]


def _moved(run: Run, script: str) -> Move:
    return Move(run.changed(script=script), "skill-moved", {"script": script})


def noted(opening: Move) -> Move:
    """The move that opens a run, with the search paths of that moment: evidence names those that changed since."""
    detail = {**opening.detail, "search_paths": paths.search_paths()}
    return Move(opening.run, opening.kind, detail, opening.create, opening.end)


def _only_looks(workflow: Workflow, run: Run, request: Request) -> bool:
    """True if the request only prints the present block: ``current``, or the present step without a turn.

    A reviewer's command names the first step. If it verifies items again, its run begins at another one.
    """
    present = request.step == run.step or (run.turn == 1 and request.step == workflow.steps[0].id)
    return (request.step == "current" or (request.turn is None and present)) and not request.reports
