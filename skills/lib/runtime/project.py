"""A project as runs see it: its ledger, the evidence in it, and the present block of a run."""

from __future__ import annotations

import _thread  # threading brings functools and collections
import os

from skills.lib import paths, status_files
from skills.lib.blocks import document, parts
from skills.lib.blocks.command_line import join
from skills.lib.engine.decision import PROMPTED, Move
from skills.lib.errors import PRINTED, EnvironmentProblem, LockstepError, RefusedError, UsageError
from skills.lib.field_checks import EMPTY
from skills.lib.ledger import Ledger, is_shared
from skills.lib.model.requirements import Artifact, Command
from skills.lib.model.types import Dispatch, Gate
from skills.lib.record import Record
from skills.lib.runtime import loading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from skills.lib.blocks.command_line import CommandLine
    from skills.lib.blocks.refused import Refusal
    from skills.lib.model.run import Run
    from skills.lib.model.steps import Workflow
    from skills.lib.model.types import Element

    # The run that a move led to, and the moves that follow; empty before the first try.
    Led = list[tuple[Run, Sequence[Move]]]


# Who may act, as the record names them. Only the engine calls an answer a person's by what the host's hook heard.
_ACTORS = ("agent", "script", "person", "person (terminal)", "person (web)", "person (api)")


class Response(Record):
    """What a call returns: the document, its exit code, the run and workflow that it is about, a refusal as data."""

    element: Element
    exit_code: int = PRINTED
    run: Run | None = None
    workflow: Workflow | None = None
    refusal: Refusal | None = None

    @property
    def text(self) -> str:
        """The document as text, whole: as it is printed if it is no longer than a block may be."""
        return document.render(self.workflow, self.element)


class Project:
    """One project: its ledger, and the command line of printed commands. Any number of threads may use it.

    ``actor`` is who acts, as the record names them: ``agent``, ``script``, or ``person (api)`` and its like; UsageError
    for any other. ``who`` has the name under ``who``, if it is known.
    ``home`` is the folder of the ledger (a relative one is in the project), and ``max_parallel`` says how many
    sub-agents of a run may work at a time; without them the environment does (LOCKSTEP_HOME, LOCKSTEP_AGENTS).
    """

    def __init__(
        self, command_line: CommandLine, actor: str = "agent", *, home: str = "", max_parallel: int | None = None
    ) -> None:
        if actor not in _ACTORS:
            raise UsageError(f"actor is {actor!r:.40}", valid=", ".join(_ACTORS))
        if max_parallel is not None and (type(max_parallel) is not int or max_parallel < 1):
            raise UsageError(f"max_parallel is {max_parallel!r:.40}", valid="a whole number of 1 or more, or None")
        self.command_line = command_line
        self.actor = actor
        self.who: dict[str, str] = {}
        self._given_home = home
        self._max_parallel = max_parallel
        self._opened: list[Ledger] = []
        self._opening = _thread.allocate_lock()
        # Called before each commit with the run and the move; what it returns is noted with the move.
        self.before_commit: Callable[[Run | None, Move], Mapping[str, Any]] | None = None
        # True if what this process does with the run counts for nothing any more: then no refusal is noted.
        self.is_void: Callable[[], bool] | None = None
        # False if the workflow comes from a ledger that may be anybody's: a Command is then an error.
        self.runs_commands = True
        # By fingerprint, as ``peek`` reads them.
        self.definitions: dict[str, Workflow] = {}

    @property
    def home(self) -> str:
        """The folder of the ledger and its companions."""
        home = paths.home(self.command_line.project, self._given_home)
        # Only a folder that the user names may be a link.
        return os.path.realpath(home) if self._given_home else home

    @property
    def has_own_home(self) -> bool:
        """True if a program names the folder of the ledger, which the environment then does not."""
        return bool(self._given_home)

    @property
    def has_own_limit(self) -> bool:
        """True if a program says how many sub-agents work at a time."""
        return self._max_parallel is not None

    def max_parallel(self) -> int | None:
        """How many sub-agents of a run may work at a time; None is any number.

        Raises UsageError if the variable LOCKSTEP_AGENTS is no such number.
        """
        return self._max_parallel or _max_parallel()

    @property
    def ledger(self) -> Ledger:
        """The project's ledger, opened on first use; LedgerError if there is none, for only opening a run makes one."""
        return self.use_ledger(create=False)

    def use_ledger(self, create: bool) -> Ledger:
        with self._opening:
            if not self._opened:
                self._opened.append(Ledger(self.home, create))
            return self._opened[0]

    def has_ledger(self) -> bool:
        """True if the project has a ledger, which is then open."""
        with self._opening:
            found = None if self._opened else Ledger.existing(self.home)
            if found is not None:
                self._opened.append(found)
            return bool(self._opened)

    def close(self, exiting: bool = False) -> None:
        """Close the ledger, which is opened again if it is needed.

        It is only released if the process exits right after (``exiting``), which is quicker.
        """
        with self._opening:
            while self._opened:
                self._opened.pop().close(exiting)

    def is_elsewhere(self, run: Run) -> bool:
        """True if the run is of another project that has the same ledger."""
        return is_of_another_project(run, self.command_line.project, self._given_home)

    def require_own(self, run: Run) -> None:
        """Raise RefusedError for a run of another project that has the same ledger."""
        require_own(run, self.command_line.project, self._given_home)

    def commit(
        self,
        run: Run | None,
        move: Move,
        definition: dict[str, Any] | None = None,
        siblings: Sequence[str] | None = None,
        beside: Sequence[Run] | None = None,
        onward: Sequence[Move] = (),
    ) -> Run:
        """Commit a move, and those that follow it. A run that it ends takes the unfinished runs of its sub-agents."""
        if move.end:
            ends = dict(move.end)
            for child in self.ledger.runs(list(ends)):
                for one in self.unfinished_below(child):
                    ends.setdefault(one.id, "abandoned")
            move = Move(move.run, move.kind, move.detail, move.create, tuple(ends.items()), move.contents)
        if self.who:
            move = noting(move, self.who)
        if self.before_commit is not None:
            move = noting(move, self.before_commit(run, move))
        actor = PROMPTED if "prompt" in move.detail else self.actor
        moved = self.ledger.commit(run, move, actor, definition, beside, siblings, onward)
        if moved.status == "waiting" or (run is not None and run.status == "waiting"):
            from skills.lib import user_prompts  # few runs wait for an answer

            user_prompts.remove(self.command_line.project, moved.id)
        for ended, _ in move.end:
            status_files.remove(self.command_line.project, ended, self.home)
            self.cancel(ended)
        return moved

    def onward(self, workflow: Workflow, move: Move, led: Led) -> Sequence[Move]:
        """The moves that follow a move without a command of their own; to an opening only those of automatic steps.

        ``led`` keeps them for a second try to commit, which runs no Command again.
        """
        if move.kind not in ("moved", "opened"):
            return ()
        step = workflow.step(move.run.step or "")
        if not step.automatic and (move.kind == "opened" or not isinstance(step.handler, (Gate, Dispatch))):
            return ()
        if not led or led[0][0] != move.run:
            from skills.lib.engine import walking  # most moves lead to a step with something to do
            from skills.lib.ledger import verification

            proof = Evidence(self, move.run, move.contents)
            found = walking.onward(workflow, move, proof, lambda: verification.verify_tree(self.ledger, move.run.id))
            led[:] = [(move.run, found)]
        return led[0][1]

    def unfinished_below(self, run: Run) -> list[Run]:
        """The sub-agents' runs below a run that have not ended, at any depth."""
        children = [child for child in self.ledger.runs(run.children) if not child.ended]
        return [one for child in children for one in (child, *self.unfinished_below(child))]

    def at_its_script(self, run: Run) -> Run:
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

    def cancel(self, run_id: str) -> int:
        """End the commands that steps of the run are checking, in any thread or process; return how many were ended.

        A call that waits for such a command raises EnvironmentProblem, and the run stands where it stood.
        """
        from skills.lib.ledger import processes  # a step checks its own command

        return processes.end(self.command_line.project, run_id)

    def check_step(self, workflow: Workflow, run: Run) -> None:
        """Raise LedgerError for a run that is at no step of its workflow."""
        if run.turn and not run.ended and not workflow.has(run.step or ""):
            raise self.ledger.database.broken(f"is damaged: run {run.id} is at no step of {workflow.name}")

    def show(
        self, workflow: Workflow, run: Run, notices: Sequence[Element] = (), served: Workflow | None = None
    ) -> Response:
        """The present block of a run, or how it ended; its status file is written or removed.

        ``served`` is the script's own workflow, if the run is that of a free-form sub-agent.
        """
        run, element = self.look(workflow, run, notices, served or workflow)
        if run.ended:
            status_files.remove(self.command_line.project, run.id, self.home)
        else:
            status = document.run_status(workflow, run, self.command_line)
            # A ledger may name a script that nobody ran.
            signs = status["script"] == self.command_line.script
            status_files.write(self.command_line.project, run.id, status, signs, self.home)
        return Response(element, PRINTED, run, workflow)

    def look(
        self, workflow: Workflow, run: Run, notices: Sequence[Element] = (), served: Workflow | None = None
    ) -> tuple[Run, Element]:
        """A run and its block, as they were at one moment; nothing is written."""
        if run.ended:
            return run, self._end(workflow, run, notices, served)
        run, children = self._with_children(run) if run.children else (run, [])
        limit = self.max_parallel()
        return run, document.step_document(workflow, run, self.command_line, children, notices, limit)

    def _end(self, workflow: Workflow, run: Run, notices: Sequence[Element], served: Workflow | None) -> Element:
        from skills.lib.blocks import done  # a run ends once

        parent = self.ledger.run(run.parent) if run.parent else None
        if parent is not None and (parent.ended or run.id not in parent.children):
            parent, words = None, "The step that started this sub-agent was left since: nothing more is wanted of it."
            notices = [*notices, parts.notice(words)]
        parent, siblings = self._with_children(parent) if parent else (None, [])
        command = self._command_of(parent, served) if parent else ""
        limit = self.max_parallel()
        return done.done_document(workflow, run, self.command_line, parent, command, siblings, notices, limit)

    def _with_children(self, run: Run) -> tuple[Run, list[Run]]:
        """The run and its children as they were at one moment.

        If another process moved the run since it was read, it is read again; on another turn the given run is kept.
        """
        while True:
            children = self.ledger.runs(run.children)
            present = None if self.ledger.version(run.id) == run.version else self.ledger.run(run.id)
            if present is None or present.turn != run.turn:
                return run, children
            run = present

    def _command_of(self, run: Run, served: Workflow | None) -> str:
        """The command with which that run goes on; the command that shows its block if its skill is broken."""
        try:
            if not run.ended:
                # The served graph may be in no file: it may have been made at run time.
                served = served if served and served.name == run.workflow else None
                script = self.command_line.script_of(run)
                if not served and not script:
                    from skills.lib.runtime import stored  # few runs have no script

                    served = stored.rebuilt(run, self.ledger)
                if not served and not self.command_line.is_known(script):
                    return self.command_line.step("current", run, turn=False)
                return document.next_command(served or loading.workflow_of_script(script), run, self.command_line)
        except LockstepError:
            pass
        return self.command_line.step("current", run, turn=False)


class Evidence:
    """The engine's access to files, commands and children of one run: its ``Proof``."""

    def __init__(self, project: Project, run: Run, kept: Mapping[str, dict[str, str]] = EMPTY) -> None:
        """``kept`` has files by digest that the ledger is about to get."""
        self._runs, self._run, self._project = project, run, project.command_line.project
        self._kept = kept
        self._contents: dict[str, dict[str, str]] = {}
        self._looks: dict[tuple[str, ...], dict[str, Any]] = {}

    def children(self) -> list[Run]:
        return self._runs.ledger.runs(self._run.children)

    def check(self, requirement: Artifact | Command, fields: Mapping[str, Any]) -> dict[str, Any]:
        from skills.lib.ledger import evidence  # few steps have files or commands to check

        self._contents.clear()  # a command may change files
        self._looks.clear()
        opening = None
        if isinstance(requirement, Command):
            if not self._runs.runs_commands:
                raise EnvironmentProblem(
                    f"step {self._run.step} of run {self._run.id} runs a command that only the ledger names, which may "
                    f"be anybody's: {' '.join(requirement.argv)[:200]}",
                    remedy="go on in the program that opened the run",
                )
            opening = self._runs.ledger.opening(self._run.id).get("search_paths")
        # Not that of the run: a ledger may name any script, and helpers run from the folder of the one that was called.
        scripts = os.path.dirname(self._runs.command_line.script)
        home = self._runs.home if self._runs.has_own_home else ""
        return evidence.check(requirement, fields, self._project, scripts, opening, self._run.id, home)

    def contents(self, covers: Sequence[str]) -> dict[str, str]:
        from skills.lib.ledger import contents  # it brings re and git

        key = "\n".join(covers)
        if key not in self._contents:
            self._contents[key] = contents.manifest(self._project, covers)
        return self._contents[key]

    def digest(self, files: Mapping[str, str]) -> str:
        from skills.lib.ledger import contents  # it brings re and git

        return contents.digest(files)

    def known(self, digest: str) -> dict[str, str] | None:
        return self._kept.get(digest) or self._runs.ledger.contents(digest)

    def covered(self, covers: Sequence[str], paths: Sequence[str]) -> set[str]:
        from skills.lib.ledger import contents  # it brings re and git

        return contents.covered(self._project, covers, paths)

    def look(self, place: str, bases: Sequence[str] = ()) -> dict[str, Any]:
        from skills.lib.ledger import places  # it brings re and git

        key = (place, *bases)
        if key not in self._looks:
            self._looks[key] = places.look(self._project, place, bases)
        return self._looks[key]

    def prompts(self) -> list[str]:
        from skills.lib import user_prompts  # few runs wait for an answer

        return user_prompts.read(self._project, self._run.id, self._run.turn)


def noting(move: Move, more: Mapping[str, Any]) -> Move:
    """The move with more in its record."""
    return Move(move.run, move.kind, {**move.detail, **more}, move.create, move.end, move.contents)


def _to_script(run: Run, script: str) -> Move:
    return Move(run.changed(script=script), "skill-moved", {"script": script})


def is_of_another_project(run: Run, project: str, home: str = "") -> bool:
    """True if one ledger serves both projects. If each has its own, another path means that the project moved.

    A shared database has a ledger for each project, whose folder has a path of its own on each machine. ``home`` is the
    folder of the ledger as a program names it, if it does.
    """
    # A worker of the fleet follows the runs of a project in worktrees of it.
    if run.project in (project, os.environ.get("LOCKSTEP_WORKTREE_OF")) or is_shared():
        return False
    real = os.path.realpath
    if real(run.project) == real(project) or not os.path.isdir(run.project):
        return False
    # A relative LOCKSTEP_HOME may name the ledger of another project, which that project keeps in its own .lockstep.
    own = (paths.home(run.project, home), os.path.join(run.project, paths.FOLDER))
    return real(paths.home(project, home)) in [real(one) for one in own]


def require_own(run: Run, project: str, home: str = "") -> None:
    """Raise RefusedError for a run of another project that has the same ledger; ``home`` as above."""
    if is_of_another_project(run, project, home):
        raise RefusedError(
            f"run {run.id} belongs to the project {run.project}, not to {project}",
            remedy="use it in that project",
            in_shell=f"give {join(['--project', run.project])}",
        )


def unknown_run(path: str, run_id: str) -> UsageError:
    """The error for a run that the ledger of this file does not have."""
    what = f"the ledger {path} has no run {run_id!r:.80}"
    return UsageError(what, remedy="take the id of a run that this ledger has", in_shell="lockstep runs --all")


def _max_parallel() -> int | None:
    given = os.environ.get("LOCKSTEP_AGENTS", "")
    if not given:
        return None
    if not (given.isascii() and given.isdigit() and len(given) < 10 and int(given) > 0):
        raise UsageError(
            f"LOCKSTEP_AGENTS is {given!r:.40}", valid="a whole number of 1 or more: how many sub-agents work at once"
        )
    return int(given)
