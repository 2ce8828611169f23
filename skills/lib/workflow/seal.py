"""Seals: the proof that a graph was validated, so that a step never imports networkx (91 ms).

A seal is good for one fingerprint of a graph and one set of rules. It is looked for beside the workflow's file
(shipped skills and exports carry it), then in the user's cache.
"""

from __future__ import annotations

import os

from skills.lib import paths
from skills.lib.errors import UnsealedWorkflow

TYPE_CHECKING = False
if TYPE_CHECKING:
    from skills.lib.workflow.core import Workflow

# Digest of the graph rules' sources; tests/workflow/test_seal.py says what to write here when a rule changes.
RULES = "0"


def text(workflow: Workflow) -> str:
    """What a good seal of this workflow says."""
    return f"{workflow.fingerprint} {RULES}\n"


def beside(workflow: Workflow, file: str) -> str:
    """The seal's path beside the file that registers the workflow."""
    return os.path.join(os.path.dirname(file), f"{workflow.name}.seal")


def cached(workflow: Workflow) -> str:
    """The seal's path in the user's cache."""
    return os.path.join(paths.cache(), "seals", f"{workflow.fingerprint}-{RULES}")


def is_sealed(workflow: Workflow, file: str) -> bool:
    """Whether a good seal is found."""
    try:
        with open(beside(workflow, file), encoding="ascii") as seal:
            if seal.read(200) == text(workflow):
                return True
    except (OSError, ValueError):
        pass
    return os.path.exists(cached(workflow))


def require(workflow: Workflow, file: str) -> None:
    """Return if the workflow is sealed or valid; a valid one is sealed in the user's cache.

    Raises InvalidWorkflow with every finding; UnsealedWorkflow where networkx is not installed.
    """
    if is_sealed(workflow, file):
        return
    try:
        from skills.lib.workflow import validation

        validation.require_valid(workflow, file)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("networkx", "lxml"):
            raise
        raise UnsealedWorkflow(
            f"the graph of {workflow.name} has no seal and cannot be validated: {error.name} is not installed",
            remedy="pip install lockstep-skills, or run `lockstep validate --seal` where it is installed",
        ) from error
    write(cached(workflow), "")


def write(path: str, content: str) -> None:
    """Leave a seal; a folder that cannot be written costs a validation next time, nothing else."""
    try:
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        with open(path, "w", encoding="ascii") as seal:
            seal.write(content)
    except OSError:
        pass
