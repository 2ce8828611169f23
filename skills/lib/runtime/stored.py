"""Runs whose graph is in no file, and whether the code of a run's skill may be loaded: a ledger may be anybody's."""

from __future__ import annotations

import os

from skills.lib import paths, status_files
from skills.lib.blocks.command_line import PACKAGE, CommandLine
from skills.lib.errors import SkillError
from skills.lib.model.foreign_data import named
from skills.lib.model.steps import Workflow

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from skills.lib.ledger import Ledger
    from skills.lib.model.run import Run

# The functions of ours that a run without a script may name; no other is ever looked up.
OURS = {
    "skills.lib.runtime.objectives": ("judged", "forked"),
    "skills.lib.runtime.plans": ("judged", "proposed"),
}


def rebuilt(run: Run, ledger: Ledger) -> Workflow:
    """The workflow of a run from the definition in the ledger; nothing that it names is imported.

    A function of it raises SkillError once it is called, unless it is one of OURS.
    Raises SkillError for a run that has no definition yet.
    """
    if not run.fingerprint:
        raise SkillError(
            f"run {run.id} of {run.workflow} has not begun, and its workflow is in no file",
            remedy="begin it in the program that has the workflow",
        )
    return Workflow.restored(ledger.exact_definition(run.fingerprint), _function)


def _function(name: str) -> Callable[..., Any]:
    """A function of ours by its name; a stand-in for any other."""
    module, _, function = name.partition(":")
    if function in OURS.get(module, ()):
        from importlib import import_module  # few runs have one; a copy of a skill does not have the modules

        found: Callable[..., Any] = getattr(import_module(module), function)
        return found
    return _elsewhere(name)


def _elsewhere(name: str) -> Callable[..., Any]:
    """What stands in for a function of the program that opened the run."""

    def call(context: Any) -> Any:
        raise SkillError(f"{name} is a function of the program that opened the run: go on there")

    return named(name, call)


def has_graph(script: str) -> bool:
    """True if a script has a graph of its own beside it, or is of a skill, which then should have one."""
    if not script.endswith(".py"):
        return False
    of_skill = f"{os.sep}scripts{os.sep}" in script and os.path.exists(script)
    return of_skill or os.path.exists(paths.graph_of(script))


def may_load(run: Run, script: str, project: str) -> bool:
    """True if the code of a run's script may be run: the skill is Lockstep's own, or this user ran it for this run.

    The script that runs signs the status of the run with a key that is in no project. A skill or project may have moved
    since; a sub-agent's run that has not begun is known by the run that started it.
    """
    if not paths.has_own_graph(script):  # a link to a trusted script, with a graph of the project beside it
        return False
    real = os.path.realpath(script)
    if real.startswith(PACKAGE + os.sep) and os.path.isfile(real):
        return True
    status = status_files.read_nearest(project, run.id)
    if status is None or status["run"] not in (run.id, run.parent):
        return False
    if not status_files.is_signed(os.path.realpath(status["project"]), status["run"], status):
        return False
    ran = status["script"]
    if status["run"] == run.id:
        return ran == script or (ran == run.script and not os.path.exists(ran))
    return CommandLine("", ran, project).is_known(run.script)
