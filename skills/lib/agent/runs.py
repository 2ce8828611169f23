"""The runs of a project as sessions see them: each by the runner of its own script."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Mapping, Sequence

from skills.lib import paths
from skills.lib.blocks.command_line import CommandLine, lockstep_command
from skills.lib.errors import RefusedError, UsageError
from skills.lib.guard.offering import Offer
from skills.lib.hosts import skills
from skills.lib.ledger import Ledger, keyed_id
from skills.lib.model.run import Run
from skills.lib.model.steps import Workflow
from skills.lib.runtime.runner import Runner
from skills.lib.runtime.serving import runner_for

log = logging.getLogger("lockstep.agent")

KIND, WHO = "agent", "lockstep agent"


def opener(project: str, skill: str) -> tuple[Runner, Workflow]:
    """What opens a run of a skill, by its name or path. Raises UsageError with the nearest name for an unknown one."""
    found = skills.one(project, skill)
    workflow = found.require()
    if found.script is None:
        raise UsageError(
            f"{skill!r:.80} has no entry script beside its workflow", remedy="lockstep show tells its files"
        )
    return Runner(CommandLine(sys.executable, os.path.realpath(found.script), project, lockstep_command())), workflow


def served(project: str, run_id: str) -> tuple[Runner, Workflow]:
    """The runner of a run, which is to be closed, and its workflow. Raises UsageError for an unknown run."""
    return runner_for(known(project, run_id), project)


def known(project: str, run_id: str) -> Run:
    """A run of the project's ledger. Raises UsageError if there is none of that id."""
    ledger = Ledger.existing(paths.home(project))
    run = None
    if ledger is not None:
        with ledger:
            run = ledger.run(run_id)
    if run is None:
        raise UsageError(f"this project has no run {run_id!r:.80}", remedy="lockstep runs")
    return run


def of_key(project: str, key: str) -> Run | None:
    """The run that a key opened; None if it opened none."""
    ledger = Ledger.existing(paths.home(project))
    if ledger is None:
        return None
    with ledger:
        return ledger.run(keyed_id(key))


def check_tools(workflow: Workflow, tools: Sequence[str], names: Mapping[str, str], undeclared: str) -> None:
    """Log what a step names and nobody has. Raises RefusedError for a step that names only tools that nobody has.

    ``undeclared`` is that of the settings.
    """
    if free := [step.id for step in workflow.steps if not workflow.tools_of(step)]:
        given = "each tool is theirs" if undeclared == "all" else "they have the essential ones alone"
        log.warning("%s: these steps name no tools, so %s: %s", workflow.name, given, ", ".join(free))
    for step in workflow.steps:
        allowed = workflow.tools_of(step)
        missing = Offer(allowed, names).missing(tools)
        if missing and len(missing) == len(allowed):
            raise RefusedError(
                f"step {step.id} of {workflow.name} works with {', '.join(missing)}, and no tool here is one of these",
                valid=", ".join(tools) or "no tool",
                remedy="give such a tool, or map one's name by tool_names",
            )
        if missing:
            log.warning("step %s of %s names tools that nobody has: %s", step.id, workflow.name, ", ".join(missing))


def parameters(workflow: Workflow, request: str, given: dict[str, object]) -> dict[str, object]:
    """The parameters of a run: those given, and the request as the first text that is required and was not given.

    A workflow without such a parameter has the request in the session's prompt alone.
    """
    open_ones = [arg for arg in workflow.run_params() if arg.required and arg.type == "text" and not arg.choices]
    missing = next((arg.name for arg in open_ones if arg.name not in given), None)
    return {missing: request, **given} if missing and request else dict(given)
