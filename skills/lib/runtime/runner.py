"""The library: open a run, advance it, show it. The step command, hosts and servers are thin faces of these."""

from __future__ import annotations

import os

from skills.lib import paths, status_files
from skills.lib.blocks import parts
from skills.lib.blocks.command_line import join
from skills.lib.engine import engine
from skills.lib.engine.decision import PROMPTED, Move, Refused
from skills.lib.errors import RefusedError, UsageError, tell
from skills.lib.ledger import Stale, keyed_id, new_id
from skills.lib.model.run import Request, Run
from skills.lib.runtime import arguments, cli
from skills.lib.runtime.project import Evidence, Project, Response

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from skills.lib.model.steps import Workflow
    from skills.lib.model.types import Element
    from skills.lib.runtime.peeking import Peek


_CHANGED = "The workflow's definition changed since this run opened; this step and the gates ahead did not."
# How many other open runs a block names with their commands; one more line counts the rest.
SHOWN = 3
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
        """Open a run. The same opening again prints the same block while the run is still on its first step.

        It is refused if a run with the same parameters has gone further, unless ``new``: an agent that begins again has
        most often lost its context. With a ``key`` the run that it opened is shown, wherever it is; a key opens one run
        in a ledger, and is refused for another workflow and for other parameters. ``origin`` is the run that this one
        comes from, which the record keeps; UsageError for one that the ledger does not have.
        """
        if by or kind:
            return self._acting(by, kind).start(workflow, parameters, new, key=key, origin=origin)
        self.max_parallel()  # a wrong setting is told before anything is recorded
        arguments.check_workflow(workflow)
        arguments.check_values(parameters, "parameters")
        if origin:
            arguments.check_id(origin)
        if key:
            arguments.check_line(key, "key")
            if new:
                raise UsageError("new opens another run, and a key opens one", remedy="give one of the two")
        if origin and self.ledger.run(origin) is None:
            raise UsageError(f"the ledger {self.ledger.path} has no run {origin!r:.80}", remedy="lockstep runs --all")
        request = Request("1", params=parameters, new=new)
        script, project = self.command_line.script, self.command_line.project
        run_id = keyed_id(key) if key else new_id()
        run = Run(id=run_id, workflow=workflow.name, script=script, project=project, turn=1)
        try:
            move = engine.open_run(workflow, run, parameters, Evidence(self, run))
        except Refused as refused:
            return self.refuse(workflow, None, request, refused)
        noted = {name: value for name, value in (("key", key), ("origin", origin)) if value}
        move = _noting(_opening(move), noted)
        while True:
            try:
                return self._open_once(workflow, move, request) if key else self._open(workflow, move, request)
            except Stale:
                continue

    def _acting(self, by: str, kind: str) -> Runner:
        """This runner, with its ledger, as somebody else uses it."""
        if kind and (not isinstance(kind, str) or kind not in ACTORS):
            raise UsageError(f"kind is {kind!r:.40}", valid=", ".join(ACTORS))
        arguments.check_line(by, "by")
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__)
        other.actor = ACTORS.get(kind, self.actor)
        other.who = {"who": by} if by else {}
        return other

    def _open_once(self, workflow: Workflow, move: Move, request: Request) -> Response:
        """Open the run that has its id from a key, or show it as it is now."""
        run_id, ledger = move.run.id, self._use_ledger(create=True)
        found = ledger.run(run_id) if ledger.has(run_id) else None
        if found is None:
            opened = self._commit(None, move, workflow.to_data())
            self._warn_of_commits()
            status_files.make_key()
            return self.show(workflow, opened)
        if (found.workflow, found.params) != (workflow.name, move.run.params):
            other = "other parameters" if found.workflow == workflow.name else f"the workflow {found.workflow}"
            why = f"The key opened run {run_id} with {other}. Give the same again, or another key."
            return self.refuse(workflow, found, request, Refused("other-opening", why))
        return self.state(workflow, run_id)

    def _open(self, workflow: Workflow, move: Move, request: Request) -> Response:
        ledger = self._use_ledger(create=True)
        beside = None if request.new else ledger.open_runs(workflow.name, move.run.params)
        twins = [other for other in beside or () if self._is_twin(other, move)]
        for twin in twins:
            if twin.turn == 1:
                self.check_step(workflow, twin)
                return self.show(workflow, self._at_its_script(twin), self._notices_of(workflow, twin))
        if twins:
            twin = twins[0]
            why = (
                f"Run {twin.id} of this skill is open with the same parameters{_where(workflow, twin)}, "
                f"turn {twin.turn}."
            )
            how = (
                "Go on with it by the command below. If a second run is wanted, add --new to the command that was "
                "refused."
            )
            return self.refuse(workflow, twin, request, Refused("already-open", why, how=how))
        opened = self._commit(None, move, workflow.to_data(), beside=beside)
        self._warn_of_commits()
        status_files.make_key()  # so that what this script prints is known for its own later
        return self.show(workflow, opened, self._notices_of(workflow, opened))

    def _warn_of_commits(self) -> None:
        """Write to standard error if git has the ledger among the files of a commit."""
        from skills.lib.ledger.tracked import tracked  # a run opens once

        root = tracked(self.ledger.path)
        if root:
            folder = os.path.dirname(self.ledger.path)
            command = join(["git", "-C", root, "rm", "-rfq", "--cached", "--", os.path.relpath(folder, root)])
            tell(f"lockstep: git tracks the ledger {self.ledger.path}: a commit shows what runs record.\n")
            tell(f"  try:   {command}\n")

    def advance(self, workflow: Workflow, run_id: str, request: Request, *, by: str = "", kind: str = "") -> Response:
        """Do what the request asks of the run, or refuse it; repeats print the same block and count once."""
        if by or kind:
            return self._acting(by, kind).advance(workflow, run_id, request)
        served, limit = workflow, self.max_parallel()
        arguments.check_workflow(workflow)
        arguments.check_request(run_id, request)
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
                self.check_step(workflow, run)
                is_new = run.status == "pending"
                working = self.ledger.at_work(run.parent or "") if is_new and limit else None
                move = self._decided(workflow, run, wanted, working or (), limit)
                definition = workflow.to_data() if is_new else None
                after = run if move is None else self._commit(run, move, definition, working)
            except Refused as refused:
                return self.refuse(workflow, run, request, refused)
            except Stale:
                continue
            return self.show(workflow, after, notices, served)

    def state(self, workflow: Workflow, run_id: str) -> Response:
        """The present block of a run; nothing changes."""
        arguments.check_id(run_id)
        return self.advance(workflow, run_id, Request("current", run=run_id))

    def peek(self, run_id: str, workflow: Workflow | None = None) -> Peek:
        """What a run is at. Nothing is written and nothing begins.

        The workflow is that of the run's definition in the ledger, unless the given one has the same fingerprint. Its
        functions are not imported. Raises UsageError for an unknown run, and RefusedError for another project's.
        """
        from skills.lib.runtime import peeking  # a step does more than look

        arguments.check_id(run_id)
        return peeking.peek(self, run_id, workflow)

    def abandon(self, run_id: str, reason: str, *, by: str = "", kind: str = "") -> list[Run]:
        """End a run and its sub-agents' unfinished runs, and record why; return those that were ended.

        Findings that are open are noted as not done.
        Raises UsageError for an unknown run, and RefusedError for a run that has ended and for a sub-agent's run whose
        parent waits for it: the parent gives it up as lost.
        """
        from skills.lib.engine import not_done  # no step abandons a run

        if by or kind:
            return self._acting(by, kind).abandon(run_id, reason)
        arguments.check_id(run_id)
        arguments.check_reason(reason)
        while True:
            run = self.ledger.run(run_id)
            if run is None:
                what = f"the ledger {self.ledger.path} has no run {run_id!r:.80}"
                raise UsageError(what, remedy="lockstep runs --all")
            self.require_own(run)
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
            status_files.remove(self.command_line.project, abandoned.id, self.home)
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
        if self.is_elsewhere(run):
            why = f"Run {run.id} belongs to the project {run.project}, not to {self.command_line.project}."
            raise Refused("other-project", why)
        if run.turn == 0:  # a sub-agent's run gets its workflow when it begins
            served = self.command_line.place_of(run.script) == self.command_line.script
            if served and not run.script and run.spec.get("script"):  # its workflow is not that of its parent
                parent = self.ledger.run(run.parent or "")
                served = parent is None or parent.fingerprint != workflow.fingerprint
        else:
            served = run.workflow == workflow.name
        if not served and (run.spec.get("script") or not run.parent):
            raise Refused(
                "other-workflow", f"Run {run.id} is of {run.workflow}, and this script walks {workflow.name}."
            )

    def _decided(
        self, workflow: Workflow, run: Run, request: Request, working: Sequence[str], limit: int | None
    ) -> Move | None:
        """What the request does to the run; None if it only looks, or repeats the last one. Raises Refused."""
        if run.status in ("lost", "replaced"):
            why = f"This sub-agent's run was given up ({run.status}): stop here, its result is not wanted any more."
            raise Refused(f"child-{run.status}", why)
        if run.status == "pending":
            return self._begun(workflow, run, request, working, limit)
        if _only_looks(workflow, run, request):
            return None
        move = engine.decide(workflow, run, request, Evidence(self, run), self.actor)
        if move is not None and run.step and workflow.step(run.step).gate:
            from skills.lib.ledger import verification  # most steps have no gate

            verification.verify_tree(self.ledger, run.id)
        return move

    def _begun(self, workflow: Workflow, run: Run, request: Request, working: Sequence[str], limit: int | None) -> Move:
        """Open a sub-agent's run. Raises Refused if it cannot begin, or not while the sub-agents ``working`` are."""
        why = "This sub-agent's run has not begun: "
        if request.step not in (workflow.start, workflow.steps[0].id, "current"):
            raise Refused("skipped-step", f"{why}its first step comes first.", (workflow.start,), of="steps")
        if request.reports:
            why += "there is nothing to report yet. Show its first step, and do it."
            raise Refused("skipped-step", why, (workflow.start,), of="steps")
        parent = self.ledger.run(run.parent or "")
        if parent is not None and parent.ended:
            lead = f"The run that this sub-agent was to work for is {parent.status}"
            raise Refused("run-ended", f"{lead}: stop here, nothing more is wanted of it.")
        if limit and len(working) >= limit:
            named = "" if self._max_parallel else " (LOCKSTEP_AGENTS)"
            why = (
                f"At most {limit} sub-agents of a run work at once{named}, and these are at work: {', '.join(working)}."
            )
            how = "Wait until one has finished, then run the command again."
            raise Refused("agents-busy", why, how=how)
        params = run.spec["params"] if run.spec.get("script") else {}
        try:
            return _opening(engine.open_run(workflow, run.changed(turn=1), params, Evidence(self, run)))
        except Refused as refused:
            # No command of its own goes on: its orchestrator gives it up.
            why = "The step that started this sub-agent gave it parameters that do not fit: "
            why += f"{refused.why} Run nothing more."
            if parent is None:
                raise Refused(refused.code, why) from None
            how = "Tell this to your orchestrator: it gives the sub-agent up with the command below."
            lost = self.command_line.step("current", parent, "--lost", run.id) + " --reason 'FILL_reason'"
            raise Refused(refused.code, why, (lost,), of="commands", how=how) from None

    def _commit(
        self,
        run: Run | None,
        move: Move,
        definition: dict[str, Any] | None = None,
        siblings: Sequence[str] | None = None,
        beside: Sequence[Run] | None = None,
    ) -> Run:
        """Commit a move. A run that it ends takes the unfinished runs of its own sub-agents with it."""
        if move.end:
            ends = dict(move.end)
            for child in self.ledger.runs(list(ends)):
                for one in self._unfinished_below(child):
                    ends.setdefault(one.id, "abandoned")
            move = Move(move.run, move.kind, move.detail, move.create, tuple(ends.items()), move.contents)
        if self.who:
            move = _noting(move, self.who)
        actor = PROMPTED if "prompt" in move.detail else self.actor
        moved = self.ledger.commit(run, move, actor, definition, beside, siblings)
        if moved.status == "waiting" or (run is not None and run.status == "waiting"):
            from skills.lib import user_prompts  # few runs wait for an answer

            user_prompts.remove(self.command_line.project, moved.id)
        for ended, _ in move.end:
            status_files.remove(self.command_line.project, ended, self.home)
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

        definition.check(self.ledger.exact_definition(run.fingerprint), workflow, run)
        detail = {"from": run.fingerprint, "to": workflow.fingerprint}
        move = Move(run.changed(fingerprint=workflow.fingerprint), "definition-changed", detail)
        return self.ledger.commit(run, move, "script", workflow.to_data())

    def _is_twin(self, other: Run, opening: Move) -> bool:
        """True if ``other`` has the same parameters, project and script; on turn 1 the definition must match too.

        If the run to open names the one that it comes from, so does ``other``.
        """
        run, origin = opening.run, opening.detail.get("origin")
        same = other.params == run.params and self.command_line.script_of(other) == run.script
        same = same and not self.is_elsewhere(other) and (other.turn > 1 or other.fingerprint == run.fingerprint)
        return same and (origin is None or self.ledger.opening(other.id).get("origin") == origin)

    def _notices_of(self, workflow: Workflow, run: Run) -> list[Element]:
        """A notice for each other open run of the skill, with its command; beyond SHOWN they are only counted."""
        others, count = self._others(workflow, run, SHOWN + 2)  # the run is among them, and more than are shown
        if any(map(self.is_elsewhere, others)):
            others, count = self._others(workflow, run, None)
        notices = [
            parts.notice(
                f"Another run of this skill is open: {other.id}{_where(workflow, other)}, turn {other.turn}. "
                "To go on with it:",
                self.command_line.step("current", other, turn=False),
            )
            for other in others[:SHOWN]
        ]
        if count > SHOWN:
            words = f"{count - SHOWN} more runs of this skill are open. To list them:"
            notices.append(parts.notice(words, self.command_line.person("runs")))
        return notices

    def _others(self, workflow: Workflow, run: Run, limit: int | None) -> tuple[list[Run], int]:
        """The other open runs of the skill, and how many there are: the first of them, or all of this project."""
        ids = self.ledger.open_ids(workflow.name, limit)
        read = [run_id for run_id in ids if run_id != run.id][: None if limit is None else SHOWN]
        others = [other for other in map(self.ledger.run, read) if other is not None]
        if limit is None:
            others = [other for other in others if not self.is_elsewhere(other)]
            return others, len(others)
        return others, (self.ledger.count_open(workflow.name) if len(ids) == limit else len(ids)) - 1


def _where(workflow: Workflow, run: Run) -> str:
    """The step of another run in words; empty if this version of the workflow does not have it."""
    return f", at {run.step}" if workflow.has(run.step or "") else ""


def _noting(move: Move, more: Mapping[str, Any]) -> Move:
    """The move with more in its record."""
    return Move(move.run, move.kind, {**move.detail, **more}, move.create, move.end, move.contents)


def _opening(move: Move) -> Move:
    """The move that opens a run, with the present search paths: evidence names those that changed since."""
    return _noting(move, {"search_paths": paths.search_paths()})


def _to_script(run: Run, script: str) -> Move:
    return Move(run.changed(script=script), "skill-moved", {"script": script})


def _only_looks(workflow: Workflow, run: Run, request: Request) -> bool:
    """True if the request only prints the present block: ``current``, or the present step without a turn.

    A reviewer's command names the first step. If it verifies items again, its run begins at another one.
    """
    present = request.step == run.step or (run.turn == 1 and request.step == workflow.steps[0].id)
    return (request.step == "current" or (request.turn is None and present)) and not request.reports
