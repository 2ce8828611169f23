"""What a run is at, for a program that only looks: nothing is written, and nothing begins."""

from __future__ import annotations

from skills.lib.blocks import document
from skills.lib.errors import SkillError
from skills.lib.field_checks import EMPTY
from skills.lib.model.as_data import plain
from skills.lib.model.run import FINISHED, Run
from skills.lib.model.steps import StepContext, StepDef, Workflow
from skills.lib.record import Record
from skills.lib.runtime.project import Project, unknown_run

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from skills.lib.model.types import Element

# Of how many definitions a project keeps the workflow.
_KEPT = 100


class Peek(Record):
    """What a run is at: its present step, what the step allows and requires, where each outcome leads, and its block.

    ``requirements`` are those of ``step`` at this moment, answers to the findings of a review among them, and the
    parameters that are reported on leaving it, as data of the form of ``Workflow.to_data``; a run that waits for a
    person has none. ``outcomes`` has those of which one must be reported, each with when it is the right one ("" if the
    step does not say it); it is empty if nobody chooses. ``children`` has the id, status and target of each
    sub-agent's run of the present step. A person may have paused the run (``is_paused``).
    ``element`` is the block as data.
    ``step`` is None for a run that has ended, and for a sub-agent's that has not begun: of these the first has a block
    if it ended by itself or was abandoned, and the second has none.
    """

    run: Run
    step: StepDef | None = None
    tools: tuple[str, ...] = ()
    requirements: tuple[dict[str, Any], ...] = ()
    ways: Mapping[str, str | None] = EMPTY
    block: str = ""
    outcomes: Mapping[str, str] = EMPTY
    children: tuple[Mapping[str, str], ...] = ()
    is_paused: bool = False
    element: Element | None = None


def peek(project: Project, run_id: str, workflow: Workflow | None) -> Peek:
    """The present state of a run, as ``Runner.peek`` says."""
    run = project.ledger.run(run_id)
    if run is None:
        raise unknown_run(project.ledger.path, run_id)
    project.require_own(run)
    if not run.fingerprint or (run.ended and run.status not in (*FINISHED, "abandoned")):
        return Peek(run)
    if workflow is None or workflow.fingerprint != run.fingerprint:
        workflow = _defined(project, run.fingerprint)
    project.check_step(workflow, run)
    parent = project.ledger.run(run.parent) if run.parent and run.ended else None
    run, element = project.look(workflow, run, (), _defined(project, parent.fingerprint) if parent else None)
    block = document.render(workflow, element)
    if run.ended:
        return Peek(run, block=block, element=element)
    step = workflow.step(run.step or "")
    waits = run.status == "waiting"
    children = project.ledger.runs(run.children)
    return Peek(
        run,
        step,
        workflow.tools_of(step),
        () if waits else tuple(plain(spec) for spec in document.required(workflow, run, step)),
        {str(name): to for name, to in step.next.items()},
        block,
        {str(name): step.when.get(name, "") for name in step.next} if document.reports_outcome(step) else {},
        tuple({"id": one.id, "status": one.status, "target": one.spec.get("target", "")} for one in children),
        project.ledger.is_paused(run),
        element,
    )


def _defined(project: Project, fingerprint: str) -> Workflow:
    """The workflow as it was when a run of it opened; its functions are stand-ins."""
    workflow = project.definitions.get(fingerprint)
    if workflow is None:
        workflow = Workflow.restored(project.ledger.definition(fingerprint), lambda name: _stand_in)
        if len(project.definitions) >= _KEPT:
            project.definitions.clear()
        project.definitions[fingerprint] = workflow
    return workflow


def _stand_in(context: StepContext) -> Any:
    raise SkillError("a workflow that is only looked at has no functions")
