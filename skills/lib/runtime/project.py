"""A project as runs see it: its ledger, the evidence in it, and the present block of a run."""

from __future__ import annotations

import os

from skills.lib import paths, status_files
from skills.lib.blocks import document, parts
from skills.lib.blocks.command_line import join
from skills.lib.engine.decision import Move
from skills.lib.errors import PRINTED, LockstepError, RefusedError
from skills.lib.ledger import Ledger
from skills.lib.model.requirements import Artifact, Command
from skills.lib.record import Record
from skills.lib.runtime import loading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from skills.lib.blocks.command_line import CommandLine
    from skills.lib.model.run import Run
    from skills.lib.model.steps import Workflow
    from skills.lib.model.types import Element


class Response(Record):
    """What a call returns: the document, its exit code, and the run and workflow that it is about."""

    element: Element
    exit_code: int = PRINTED
    run: Run | None = None
    workflow: Workflow | None = None


class Project:
    """One project: its ledger, and the command line of printed commands. ``actor`` is agent, script or person."""

    def __init__(self, command_line: CommandLine, actor: str = "agent") -> None:
        self.command_line = command_line
        self.actor = actor
        self.max_parallel: int | None = None
        self._ledger: Ledger | None = None
        self._served: Workflow | None = None

    @property
    def ledger(self) -> Ledger:
        """The project's ledger, opened on first use; LedgerError if there is none, for only opening a run makes one."""
        return self._use_ledger(create=False)

    def _use_ledger(self, create: bool) -> Ledger:
        if self._ledger is None:
            self._ledger = Ledger(paths.home(self.command_line.project), create)
        return self._ledger

    def close(self, exiting: bool = False) -> None:
        """Close the ledger; it is only released if the process exits right after, which is quicker."""
        if self._ledger is not None:
            self._ledger.close(exiting)

    def show(self, workflow: Workflow, run: Run, notices: Sequence[Element] = ()) -> Response:
        """The present block of a run, or how it ended."""
        if run.ended:
            return self._show_end(workflow, run, notices)
        run, children = self._with_children(run) if run.children else (run, [])
        status = document.run_status(workflow, run, self.command_line)
        # A ledger may name a script that nobody ran.
        status_files.write(self.command_line.project, run.id, status, status["script"] == self.command_line.script)
        element = document.step_document(workflow, run, self.command_line, children, notices, self.max_parallel)
        return Response(element, PRINTED, run, workflow)

    def _show_end(self, workflow: Workflow, run: Run, notices: Sequence[Element]) -> Response:
        from skills.lib.blocks import done  # a run ends once

        status_files.remove(self.command_line.project, run.id)
        parent = self.ledger.run(run.parent) if run.parent else None
        if parent is not None and (parent.ended or run.id not in parent.children):
            parent, words = None, "The step that started this sub-agent was left since: nothing more is wanted of it."
            notices = [*notices, parts.notice(words)]
        parent, siblings = self._with_children(parent) if parent else (None, [])
        command = self._command_of(parent) if parent else ""
        element = done.done_document(
            workflow, run, self.command_line, parent, command, siblings, notices, self.max_parallel
        )
        return Response(element, PRINTED, run, workflow)

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

    def _command_of(self, run: Run) -> str:
        """The command with which that run goes on; the command that shows its block if its skill is broken."""
        try:
            if not run.ended:
                # The served graph may be in no file: it may have been made at run time.
                served = self._served if self._served and self._served.name == run.workflow else None
                script = self.command_line.script_of(run)
                if not served and not self.command_line.is_known(script):
                    return self.command_line.person("resume", run.id)
                return document.next_command(served or loading.workflow_of_script(script), run, self.command_line)
        except LockstepError:
            pass
        return self.command_line.step("current", run, turn=False)


class Evidence:
    """The engine's access to files, commands and children of one run: its ``Proof``."""

    def __init__(self, project: Project, run: Run) -> None:
        self._runs, self._run, self._project = project, run, project.command_line.project
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
            opening = self._runs.ledger.opening(self._run.id).get("search_paths")
        # Not that of the run: a ledger may name any script, and helpers run from the folder of the one that was called.
        scripts = os.path.dirname(self._runs.command_line.script)
        return evidence.check(requirement, fields, self._project, scripts, opening, self._run.id)

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
        return self._runs.ledger.contents(digest)

    def covered(self, covers: Sequence[str], paths: Sequence[str]) -> set[str]:
        from skills.lib.ledger import contents  # it brings re and git

        return contents.covered(self._project, covers, paths)

    def look(self, place: str, bases: Sequence[str] = ()) -> dict[str, Any]:
        from skills.lib.ledger import places  # it brings re and git

        key = (place, *bases)
        if key not in self._looks:
            self._looks[key] = places.look(self._project, place, bases)
        return self._looks[key]


def is_of_another_project(run: Run, project: str) -> bool:
    """True if one ledger serves both projects. If each has its own, another path means that the project moved."""
    if run.project == project:
        return False
    real = os.path.realpath
    if real(run.project) == real(project) or not os.path.isdir(run.project):
        return False
    # A relative LOCKSTEP_HOME may name the ledger of another project, which that project keeps in its own .lockstep.
    own = (paths.home(run.project), os.path.join(run.project, paths.FOLDER))
    return real(paths.home(project)) in [real(home) for home in own]


def require_own(run: Run, project: str) -> None:
    """Raise RefusedError for a run of another project that has the same ledger."""
    if is_of_another_project(run, project):
        raise RefusedError(
            f"run {run.id} belongs to the project {run.project}, not to {project}",
            remedy=f"give {join(['--project', run.project])}",
        )


def with_search_paths(opening: Move) -> Move:
    """The move that opens a run, with the present search paths: evidence names those that changed since."""
    detail = {**opening.detail, "search_paths": paths.search_paths()}
    return Move(opening.run, opening.kind, detail, opening.create, opening.end)
