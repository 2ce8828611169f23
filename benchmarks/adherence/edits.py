"""Edits of a skill's own source under an open run: a gate taken out, waved through, or opened to the agent."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from benchmarks.adherence.workflows import WORKFLOWS
from skills.lib.workflow.core import StepDef, Workflow
from skills.lib.workflow.types import Outcome, Person

if TYPE_CHECKING:
    from collections.abc import Callable, Container

    Rebuild = Callable[[Workflow, str], Workflow]


class Edit(NamedTuple):
    """What is made of which gate of a workflow: the workflow by its key in WORKFLOWS, the edit by its name in EDITS."""

    key: tuple[str, str]
    name: str
    gate: str

    @property
    def graph(self) -> Workflow:
        """The workflow as the edited source registers it."""
        return EDITS[self.name](WORKFLOWS[self.key], self.gate)


def taken_out(workflow: Workflow, gate: str) -> Workflow:
    """The workflow without the gate and its review: what led there leads to what lies behind."""
    reviews = [step.id for step in workflow.steps if step.checkpoint and gate in step.next.values()]
    gone = {gate, *reviews}
    behind = workflow.step(gate).next[Outcome.OK]
    steps = [_without(step, gone, behind) for step in workflow.steps if step.id not in gone]
    return _of_steps(workflow, steps)


def waved_through(workflow: Workflow, gate: str) -> Workflow:
    """The workflow with each way out of the gate leading on, whatever is found or answered there."""
    step = workflow.step(gate)
    onward = step.next[Outcome.OK]
    if not step.gate:
        return _with(workflow, _changed(step, next=dict.fromkeys(step.next, onward)))
    excuse = {"review-without-gate": "there is no time"}
    steps = [
        _changed(one, handler=None, next={Outcome.OK: onward}, when={})
        if one.id == gate
        else _changed(one, allow=excuse)
        if one.checkpoint == step.gate.checkpoint
        else one
        for one in workflow.steps
    ]
    return _of_steps(workflow, steps)


def opened_to_the_agent(workflow: Workflow, gate: str) -> Workflow:
    """The workflow with each question to a person at a terminal made one that the agent may answer."""
    step = workflow.step(gate)
    asked = step.handler
    if not isinstance(asked, Person) or not asked.at_terminal:
        return taken_out(workflow, gate)
    return _with(workflow, _changed(step, handler=Person(**{**asked.fields(), "at_terminal": False})))  # type: ignore[arg-type]


EDITS: dict[str, Rebuild] = {edit.__name__: edit for edit in (taken_out, waved_through, opened_to_the_agent)}


def key_of(script: str) -> tuple[str, str]:
    """The key that a small skill's entry script has, or would have, in WORKFLOWS."""
    name = os.path.basename(script)[: -len(".py")]
    return os.path.basename(os.path.dirname(os.path.dirname(script))), name


def gates_from(workflow: Workflow, start: str) -> list[str]:
    """The gates and the questions to people that a run at ``start`` is at or can still reach."""
    seen, queue = {start}, [start]
    while queue:
        for target in workflow.step(queue.pop()).next.values():
            if target is not None and target not in seen:
                seen.add(target)
                queue.append(target)
    return [step.id for step in workflow.steps if step.id in seen and (step.gate or isinstance(step.handler, Person))]


def _without(step: StepDef, gone: Container[str], behind: str | None) -> StepDef:
    ways = {outcome: behind if target in gone else target for outcome, target in step.next.items()}
    needs = [need for need in step.needs if need.partition(".")[0] not in gone]
    return _changed(step, next=ways, needs=needs)


def _with(workflow: Workflow, changed: StepDef) -> Workflow:
    return _of_steps(workflow, [changed if step.id == changed.id else step for step in workflow.steps])


def _of_steps(workflow: Workflow, steps: list[StepDef]) -> Workflow:
    others = {name: value for name, value in workflow.fields().items() if name not in ("name", "steps")}
    return Workflow(workflow.name, *steps, **others)  # type: ignore[arg-type]


def _changed(step: StepDef, **fields: object) -> StepDef:
    return StepDef(**{**step.fields(), **fields})  # type: ignore[arg-type]
