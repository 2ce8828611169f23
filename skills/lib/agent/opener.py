"""Opens runs of skills for tasks; the same task again gives the same run while that goes on."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from skills.lib import compact_json, paths
from skills.lib.agent import runs
from skills.lib.agent.models.model_choice import of_skill
from skills.lib.agent.money import budgeting
from skills.lib.agent.prose import instructions, opening, scripts
from skills.lib.agent.watching.activity import Activity, path_in
from skills.lib.errors import RefusedError, UsageError, did_you_mean, nearest
from skills.lib.hosts import skills
from skills.lib.ledger import keyed_id

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from skills.lib.agent.configuration.lockstep_toml import Configuration
    from skills.lib.agent.models.model_choice import ModelChoice
    from skills.lib.agent.prose.skill import ProseSkill
    from skills.lib.model.steps import Workflow
    from skills.lib.runtime import Response
    from skills.lib.runtime.runner import Runner

# How often the same task may have been begun anew in one project.
_MOST = 10_000


class Opener:
    """Opens runs of one project.

    ``tools`` gives the names of the tools that every session has, ``tool_names`` maps them to those that steps use,
    ``undeclared`` is that of the settings, and ``redact`` takes secrets out of a text.
    """

    def __init__(
        self,
        project: str,
        configuration: Configuration,
        choice: ModelChoice,
        tools: Callable[[], list[str]],
        tool_names: Mapping[str, str],
        undeclared: str,
        redact: Callable[[str], str],
    ) -> None:
        self._project, self._home = project, paths.home(project)
        self._configuration, self._choice = configuration, choice
        self._tools, self._tool_names, self._undeclared = tools, tool_names, undeclared
        self._redact = redact

    def start(self, skill: str, request: str, given: dict[str, Any], new: bool, key: str = "") -> str:
        """The id of the run of a skill for a task, which is opened if none goes on, or if a ``new`` one is wanted.

        A ``key`` of the caller's opens one run: for another task it is refused.
        """
        if key and new:
            raise UsageError("new opens another run, and a key opens one", remedy="give one of the two")
        prose = opening.found(self._project, skill)
        if prose is not None:
            return self._start_prose(prose, request, given, new, key)
        runner, workflow = runs.opener(self._project, skill)
        try:
            self._check_tools(workflow)
            parameters = runs.parameters(workflow, request, given)
            key = self._key(workflow.name, request, parameters, new) if not key else self._given(key, request, workflow)
            self.admit(workflow, key, os.path.dirname(os.path.dirname(runner.command_line.script)))
            return self._opened(runner, workflow, parameters, key, request)
        finally:
            runner.close()

    def require_model(self, skill: str = "") -> None:
        """Raise UsageError or EnvironmentProblem if there is no such skill, or no model for it, or for none."""
        found = opening.folder_of(self._project, skill) if skill else None
        if skill and found is None:
            skills.one(self._project, skill)
        if found is not None and found.error and not found.workflows:
            raise found.error
        self._choice.model(of_skill(str(found.path)) if found else "")

    def admit(self, workflow: Workflow, key: str, folder: str) -> None:
        """Raise RefusedError if a budget or the rate of openings does not admit a new run."""
        if runs.of_key(self._project, key) is None:
            budgeting.require_priced(self._configuration, self._choice.names(workflow, of_skill(folder)))
            budgeting.require_unspent(self._configuration, self._home, keyed_id(key))
            budgeting.require_start(self._configuration, self._home, keyed_id(key), workflow.name)

    def _start_prose(self, skill: ProseSkill, request: str, given: Mapping[str, Any], new: bool, key: str) -> str:
        """Open a run of a skill without a graph; what its text injects is injected once, for the run that is opened."""
        if given:
            raise UsageError(
                f"{skill.name} has no graph, so no parameter {', '.join(given)}",
                remedy="say it in the words of the task",
            )
        agent = opening.agent_of(skill, self._project)
        workflow = opening.workflow(skill, agent)
        key = self._key(skill.folder, request, {}, new) if not key else self._given(key, request, workflow)
        if known := runs.of_key(self._project, key):
            return known.id
        for note in (*skill.notes, *scripts.faults(skill, self._project)):
            runs.log.warning("%s: %s", skill.name, note)
        self._check_tools(opening.work(skill, agent))
        self.admit(workflow, key, skill.folder)
        with self._activity() as activity:
            run = keyed_id(key)
            text = instructions.prepared(
                skill,
                request,
                self._project,
                run,
                trusted=self._configuration.injection,
                configured=self._configuration.shell,
                redact=self._redact,
                note=lambda kind, data: activity.note(run, 0, 0, kind, data),
            )
        runner = opening.runner(self._project)
        try:
            parameters = opening.parameters(skill, agent, request, self._project, text)
            return self._opened(runner, workflow, parameters, key, request)
        finally:
            runner.close()

    def _opened(
        self,
        runner: Runner,
        workflow: Workflow,
        given: Mapping[str, Any],
        key: str,
        request: str,
    ) -> str:
        """The id of the run that was opened, or that the key opened before."""
        response = runner.start(workflow, given, key=key, by=runs.WHO, kind=runs.KIND)
        if response.exit_code or response.run is None:
            raise _not_opened(response, workflow)
        run = response.run.id
        with self._activity() as activity:
            if not activity.count(run, kind="task"):
                activity.note(run, 0, 0, "task", {"text": request, "skill": workflow.name})
        return run

    def _key(self, workflow: str, request: str, parameters: Mapping[str, Any], new: bool) -> str:
        """The key of the run that this task goes on with, the newest of several; of a new one if there is none."""
        digest = compact_json.digest([self._project, workflow, request, dict(parameters)])
        latest = ""
        for number in range(1, _MOST):
            key = f"agent {digest} {number}"
            run = runs.of_key(self._project, key)
            if run is None:
                return latest or key
            if not (new or (run.ended and self._was_told(run.id))):
                latest = key
        raise UsageError(f"this task was begun {_MOST:,} times here", remedy="lockstep prune")

    def _given(self, key: str, request: str, workflow: Workflow) -> str:
        """The key of the only run that a caller's key opens. Raises RefusedError if it opened one of another task."""
        digest = f"given {compact_json.digest([self._project, key])}"
        known = runs.of_key(self._project, digest)
        task = self._task_of(known.id) if known is not None else None
        if known is not None and task not in (None, (request, workflow.name)):
            raise RefusedError(
                f"the key {key!r:.80} opened run {known.id} for another task",
                remedy="give the same task again, or another key",
            )
        return digest

    def _was_told(self, run: str) -> bool:
        """True if an end was told to somebody: a session that was killed at its end told nobody of it."""
        with self._activity() as activity:
            return bool(activity.count(run, kind="told"))

    def _task_of(self, run: str) -> tuple[str, str] | None:
        """The task that a run was opened for, and the name of its workflow."""
        with self._activity() as activity:
            rows = activity.rows(run, kind="task")
        return (rows[0].data["text"], rows[0].data["skill"]) if rows else None

    def _check_tools(self, workflow: Workflow) -> None:
        runs.check_tools(workflow, self._tools(), self._tool_names, self._undeclared)

    def _activity(self) -> Activity:
        return Activity(path_in(self._home))


def _not_opened(response: Response, workflow: Workflow) -> RefusedError:
    """Why a run was not opened, with the names or values that are valid."""
    refusal, remedy = response.refusal, f"lockstep show {workflow.name}"
    if refusal is None:
        return RefusedError("the run was not opened", remedy=remedy)
    valid = [text for texts in refusal.valid.values() for text in texts]
    near = did_you_mean("".join(nearest(name, valid) for name in refusal.faults)) if "names" in refusal.valid else ""
    faults = [f"{name}: {fault}" for name, fault in refusal.faults.items() if fault not in refusal.why]
    what = "; ".join([refusal.why.rstrip("."), *faults])
    return RefusedError(what + near, valid=", ".join(valid), remedy=remedy)
