"""Registration, and seals: the proof that a graph was validated, so that a step never imports networkx (91 ms).

A seal is good for one fingerprint of a graph and one set of rules. It is looked for beside the workflow's file (shipped
skills and exports carry it), beside the shipped workflow of that name, in the user's cache, and in the project's
.lockstep folder.
"""

from __future__ import annotations

import os
import sys

from skills.lib import paths
from skills.lib.errors import UnsealedWorkflow
from skills.lib.field_checks import shown
from skills.lib.model.steps import REGISTRY, Registered, Workflow

# Digest of the graph rules' sources; tests/validation/test_seal.py says what to write here when a rule changes.
RULES = "730ad1c3e6be920b"
# False while an invalid graph is to be looked at (drawn, or all of its findings shown): it then registers unchecked.
demanded = True


def register_workflow(workflow: Workflow) -> Workflow:
    """Validate a workflow, or recognise its seal, and make it known under its name.

    Raises InvalidWorkflow with every finding, UnsealedWorkflow if the validator is not installed.
    """
    if not isinstance(workflow, Workflow):
        raise TypeError(f"register_workflow: {shown(workflow)} is not a Workflow")
    file = str(sys._getframe(1).f_globals.get("__file__", "<interactive>"))
    require(workflow, file)
    REGISTRY[workflow.name] = Registered(workflow, file)
    return workflow


def text(workflow: Workflow) -> str:
    """What a good seal of this workflow says."""
    return f"{workflow.fingerprint} {RULES}\n"


def beside(workflow: Workflow, file: str) -> str:
    """The seal's path beside the file that registers the workflow."""
    return os.path.join(os.path.dirname(file), f"{workflow.name}.seal")


def cached(workflow: Workflow) -> str:
    """The seal's path in the user's cache."""
    return os.path.join(paths.cache(), "seals", f"{workflow.fingerprint}-{RULES}")


def in_project(workflow: Workflow) -> str:
    """The seal's path in the ledger's folder of the present project, for a user without a cache that can be written."""
    return os.path.join(paths.home(paths.project_root()), "seals", f"{workflow.fingerprint}-{RULES}")


def is_sealed(workflow: Workflow, file: str) -> bool:
    """True if a valid seal is found."""
    try:
        with open(paths.of_skill(beside(workflow, file)), "rb", opener=_opened) as seal:
            if seal.read(200) == text(workflow).encode():
                return True
    except (OSError, ValueError):  # no file can have the name: validation says what is wrong with it
        pass
    try:
        return os.path.exists(cached(workflow)) or os.path.exists(in_project(workflow))
    except OSError:  # the working directory was removed
        return False


def _opened(path: str, flags: int) -> int:
    """Open what may be a FIFO, which is not waited for."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def require(workflow: Workflow, file: str) -> None:
    """Return if the workflow is sealed or valid; a valid one is sealed in the user's cache.

    Raises InvalidWorkflow with every finding; UnsealedWorkflow if networkx is not installed.
    """
    if not demanded or is_sealed(workflow, file):
        return
    _validate(workflow, file)
    if not write(cached(workflow), text(workflow)):
        _keep_in_project(workflow)


def require_data(workflow: Workflow) -> None:
    """Return if a workflow that was made from data is valid; raises as ``require`` does.

    Its name may be anybody's, and it is in no file: only the seal in the user's own cache counts.
    """
    if not os.path.exists(cached(workflow)):
        _validate(workflow, "")
        write(cached(workflow), text(workflow))


def _validate(workflow: Workflow, file: str) -> None:
    """Return if the workflow is valid; raises as ``require`` does. ``file`` is empty for one that is in none."""
    try:
        from skills.lib.validation import validator as validation

        validation.require_valid(workflow, file)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "networkx":
            raise
        raise UnsealedWorkflow(
            f"the graph of {workflow.name} has no seal and cannot be validated: {error.name} is not installed",
            remedy="pip install /path/to/lockstep, or where it is: `lockstep upgrade` (an installed skill), else "
            "`lockstep validate --seal`",
        ) from error
    except ImportError as error:
        if error.name != __name__.rpartition(".")[0]:
            raise
        raise UnsealedWorkflow(
            f"the graph of {workflow.name} is not the one that was sealed, and this copy of a skill has no validator",
            remedy="pip install /path/to/lockstep, then lockstep validate --seal and the folder of the skill",
        ) from error


def _keep_in_project(workflow: Workflow) -> None:
    """Write the seal into the project's ledger folder, if it has one."""
    try:
        path = in_project(workflow)
    except OSError:  # the working directory was removed
        return
    folder, name = os.path.split(os.path.dirname(path))
    if os.path.isdir(folder) and not paths.link_in(folder, name):
        write(path, text(workflow))


def write(path: str, content: str) -> bool:
    """Write a seal whole or not at all; return True if it is there.

    If the folder cannot be written, the next call validates again.
    """
    from skills.lib import files  # a step whose graph has a seal writes none

    try:
        files.write(path, content.encode("ascii"))
    except OSError:
        return False
    return True
