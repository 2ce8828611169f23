"""Makes the reply to an accepted report brief, for a host that keeps the block which the report answered."""

from __future__ import annotations

import os

from skills.lib import paths
from skills.lib.blocks import brief
from skills.lib.errors import LockstepError
from skills.lib.model.texts import WORTH_A_FILE
from skills.lib.runtime.project import Response

TYPE_CHECKING = False
if TYPE_CHECKING:
    from skills.lib.model.run import Request, Run
    from skills.lib.runtime.project import Project


def shortened(project: Project, response: Response, before: Run, request: Request) -> Response:
    """The response to a report on the run ``before`` without what the reader of its block has, if it may be brief."""
    after, workflow = response.run, response.workflow
    if after is None or workflow is None:
        return response
    command = project.command_line.step("current", after, turn=False)
    if after.ended:
        element = brief.end(response.element, workflow, before, after, request, _is_told(project, after), command)
        return Response(element, response.exit_code, after, workflow)
    if not brief.may_be(before, after):
        return response

    def is_offloaded(key: str, text: str) -> bool:
        return len(text) > WORTH_A_FILE and _has_file(project, before, key)

    element = brief.shortened(response.element, workflow, before, after, request, is_offloaded, command)
    return Response(element, response.exit_code, after, workflow)


def _is_told(project: Project, run: Run) -> bool:
    """True if the next block of a sub-agent's orchestrator says what the sub-agent's run came to."""
    parent = project.ledger.run(run.parent) if run.parent else None
    if parent is None or parent.ended or run.id not in parent.children:
        return False
    if "checkpoint" in run.spec:
        return True
    try:
        steps = {step["id"]: step for step in project.ledger.definition(parent.fingerprint)["steps"]}
        targets = [steps[target] for target in steps[str(parent.step)]["next"].values() if target]
    except (LockstepError, LookupError, TypeError, AttributeError):
        return False  # the ledger is anybody's, and the end is printed anyway
    return any(need.startswith(f"{parent.step}.") for step in targets for need in step.get("needs", ()))


def _has_file(project: Project, run: Run, key: str) -> bool:
    """True if the block of a run gave a value by a file."""
    folder = os.path.join(project.home, paths.CONTEXT, run.id)
    if not os.path.isdir(folder):
        return False
    from skills.lib.runtime import offload  # few blocks are too long

    return os.path.exists(os.path.join(folder, offload.file_name(run, key)))
