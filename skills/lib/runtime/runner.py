"""The library: open a run, advance it, show it. The step command, hosts and servers are thin faces of these."""

from __future__ import annotations

from skills.lib.blocks import parts
from skills.lib.engine import engine
from skills.lib.engine.decision import Move, Refused
from skills.lib.errors import UsageError
from skills.lib.ledger import Stale, keyed_id
from skills.lib.model.run import Request, Run
from skills.lib.runtime import cli
from skills.lib.runtime.project import Evidence, Project, Response

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from types import ModuleType
    from typing import Any

    from skills.lib.model.steps import Workflow
    from skills.lib.model.types import Element
    from skills.lib.runtime.peeking import Peek
    from skills.lib.runtime.project import Led


_CHANGED = "The workflow's definition changed since this run opened; this step and the gates ahead did not."
# Who acts, by the kind that a program says.
ACTORS = {"api": "person (api)", "web": "person (web)", "script": "script", "agent": "agent"}


class Runner(Project):
    """Starts, advances and shows the runs of one project; any number of threads may use it.

    ``by`` is the name of who does it, and ``kind`` what they are (ACTORS); the ledger keeps both. ``api`` and ``web``
    are people, whose word the calling program vouches for.
    """

    def start(
        self,
        workflow: Workflow,
        parameters: Mapping[str, Any],
        new: bool = False,
        *,
        key: str = "",
        origin: str = "",
        by: str = "",
        kind: str = "",
    ) -> Response:
        """Open a run. The same opening again prints the same block until a command moves the run.

        It is refused if a run with the same parameters has gone further, unless ``new``: an agent that begins again has
        most often lost its context. With a ``key`` the run that it opened is shown, wherever it is; a key opens one run
        in a ledger, and is refused for another workflow and for other parameters. ``origin`` is the run that this one
        comes from, which the record keeps; UsageError for one that the ledger does not have.
        """
        if by or kind:
            return self._acting(by, kind).start(workflow, parameters, new, key=key, origin=origin)
        from skills.lib.runtime import opening  # a run opens once

        opened = opening.start(self, workflow, parameters, new, key, origin)
        return opened or self.state(workflow, keyed_id(key))

    def _acting(self, by: str, kind: str) -> Runner:
        """This runner, with its ledger, as somebody else uses it."""
        if kind and (not isinstance(kind, str) or kind not in ACTORS):
            raise UsageError(f"kind is {kind!r:.40}", valid=", ".join(ACTORS))
        _arguments().check_line(by, "by")
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__)
        other.actor = ACTORS.get(kind, self.actor)
        other.who = {"who": by} if by else {}
        return other

    def advance(
        self, workflow: Workflow, run_id: str, request: Request, *, by: str = "", kind: str = "", brief: bool = False
    ) -> Response:
        """Do what the request asks of the run, or refuse it; repeats print the same block and count once.

        With ``brief`` the block leaves out what the reader of the one before has: for a host that keeps both.
        """
        if by or kind:
            return self._acting(by, kind).advance(workflow, run_id, request, brief=brief)
        _arguments().check_workflow(workflow)
        _arguments().check_request(run_id, request)
        return self.serve(workflow, run_id, request, brief)

    def serve(self, workflow: Workflow, run_id: str, request: Request, brief: bool = False) -> Response:
        """As ``advance``, for a request that ``cli`` read from a command line and checked."""
        served, limit = workflow, self.max_parallel()
        led: Led = []
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
                run = self.at_its_script(run)
                if run.status != "pending" and not run.ended and run.fingerprint != workflow.fingerprint:
                    from skills.lib.runtime import layered  # few definitions differ

                    workflow = layered.as_opened(workflow, run, self.ledger)
                    if run.fingerprint != workflow.fingerprint:
                        run, notices = self._with_definition(workflow, run), [parts.notice(_CHANGED)]
                self.check_step(workflow, run)
                is_new = run.status == "pending"
                working = self.ledger.at_work(run.parent or "") if is_new and limit else None
                move = self._decided(workflow, run, wanted, working or (), limit)
                definition = workflow.to_data() if is_new else None
                if move is not None and (workflow.policy or workflow.layers):
                    from skills.lib.runtime import run_policy  # few workflows have one

                    move, changed = run_policy.noted(self, workflow, move)
                    notices += changed
                onward = self.onward(workflow, move, led) if move is not None else ()
                after = run if move is None else self.commit(run, move, definition, working, onward=onward)
            except Refused as refused:
                return self.refuse(workflow, run, request, refused)
            except Stale:
                continue
            response = self.show(workflow, after, notices, served)
            if brief and move is not None and not is_new and not notices:
                from skills.lib.runtime import briefing  # only a reply to a report may be brief

                return briefing.shortened(self, response, run, request)
            return response

    def state(self, workflow: Workflow, run_id: str) -> Response:
        """The present block of a run; nothing changes."""
        _arguments().check_id(run_id)
        return self.serve(workflow, run_id, Request("current", run=run_id))

    def peek(self, run_id: str, workflow: Workflow | None = None) -> Peek:
        """What a run is at. Nothing is written and nothing begins.

        The workflow is that of the run's definition in the ledger, unless the given one has the same fingerprint. Its
        functions are not imported. Raises UsageError for an unknown run, and RefusedError for another project's.
        """
        from skills.lib.runtime import peeking  # a step does more than look

        _arguments().check_id(run_id)
        return peeking.peek(self, run_id, workflow)

    def abandon(self, run_id: str, reason: str, *, by: str = "", kind: str = "") -> list[Run]:
        """End a run and its sub-agents' unfinished runs, and record why; return those that were ended.

        Findings that are open are noted as not done.
        Raises UsageError for an unknown run, and RefusedError for a run that has ended and for a sub-agent's run whose
        parent waits for it: the parent gives it up as lost.
        """
        if by or kind:
            return self._acting(by, kind).abandon(run_id, reason)
        _arguments().check_id(run_id)
        _arguments().check_reason(reason)
        from skills.lib.runtime import abandoning  # no step abandons a run

        return abandoning.abandon(self, run_id, reason)

    def refuse(self, workflow: Workflow, run: Run | None, request: Request, refusal: Refused) -> Response:
        """Refuse the request: the response says why, and has the command that goes on."""
        from skills.lib.runtime import refusing  # with what it imports, which no other step needs

        return refusing.refuse(self, workflow, run, request, refusal)

    def _check_place(self, workflow: Workflow, run: Run) -> None:
        """Raise Refused for a run of another project, or of another workflow than this script's."""
        if self.is_elsewhere(run):
            why = f"Run {run.id} belongs to the project {run.project}, not to {self.command_line.project}."
            raise Refused("other-project", why)
        if run.turn == 0:  # a sub-agent's run gets its workflow when it begins
            served = self.command_line.place_of(run.script) == self.command_line.script
            if run.spec.get("script") and not run.script:
                self._check_program(workflow, run)
                served = True
        else:
            served = run.workflow == workflow.name
        if not served and (run.spec.get("script") or not run.parent):
            raise Refused(
                "other-workflow", f"Run {run.id} is of {run.workflow}, and this script walks {workflow.name}."
            )

    def _check_program(self, workflow: Workflow, run: Run) -> None:
        """Raise Refused unless a program begins this sub-agent's run, whose parent has no script, by its own workflow.

        The ledger has the workflow once it has begun: from then on anybody serves it.
        """
        its, parent = f"{run.spec['script']!r:.80}", self.ledger.run(run.parent or "")
        if self.command_line.script:
            why = f"Run {run.id} was started by a run that has no script, so no script serves it."
            raise Refused("other-workflow", f"{why} It begins in the program that has its workflow, {its}.")
        if parent is not None and parent.fingerprint == workflow.fingerprint:
            why = f"Run {run.id} walks a workflow of its own, {its}, and {workflow.name} is the one that started it."
            raise Refused("other-workflow", f"{why} It begins with its own.")

    def _decided(
        self, workflow: Workflow, run: Run, request: Request, working: Sequence[str], limit: int | None
    ) -> Move | None:
        """What the request does to the run; None if it only looks, or repeats the last one. Raises Refused."""
        if run.status in ("lost", "replaced"):
            why = f"This sub-agent's run was given up ({run.status}): stop here, its result is not wanted any more."
            raise Refused(f"child-{run.status}", why)
        if run.status == "pending":
            from skills.lib.runtime import opening  # a run opens once

            return opening.begin(self, workflow, run, request, working, limit)
        if _only_looks(workflow, run, request):
            return None
        move = engine.decide(workflow, run, request, Evidence(self, run), self.actor)
        if move is not None and run.step and workflow.step(run.step).gate:
            from skills.lib.ledger import verification  # most steps have no gate

            verification.verify_tree(self.ledger, run.id)
        return move

    def _with_definition(self, workflow: Workflow, run: Run) -> Run:
        """Give the run the present definition. Raises Refused if a change of it matters to the run."""
        from skills.lib.runtime import definition  # it seldom changes under a run

        definition.check(self.ledger.exact_definition(run.fingerprint), workflow, run)
        detail = {"from": run.fingerprint, "to": workflow.fingerprint}
        move = Move(run.changed(fingerprint=workflow.fingerprint), "definition-changed", detail)
        return self.ledger.commit(run, move, "script", workflow.to_data())


def _only_looks(workflow: Workflow, run: Run, request: Request) -> bool:
    """True if the request only prints the present block: ``current``, or the present step without a turn.

    A reviewer's command names the first step. If it verifies items again, its run begins at another one.
    """
    present = request.step == run.step or (run.turn > 0 and not run.has_moved and request.step == workflow.steps[0].id)
    return (request.step == "current" or (request.turn is None and present)) and not request.reports


def _arguments() -> ModuleType:
    """The checks of what a program gives, which the command of a step does without."""
    from skills.lib.runtime import arguments

    return arguments
