"""Checks that every key of an author's values and files is used by some step: a misspelt one would do nothing."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from skills.lib.engine.children import TASK, task_workflow
from skills.lib.errors import UsageError, did_you_mean, nearest
from skills.lib.model.as_data import plain_fields
from skills.lib.model.requirements import Artifact, Field
from skills.lib.model.types import Dispatch
from skills.lib.runtime import loading

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from skills.lib.model.steps import StepDef, Workflow


def check(scripts: Sequence[Path], values: Mapping[str, Any], files: Mapping[str, str]) -> None:
    """UsageError, with the nearest name and the valid ones, for a key that no step of the scripts uses."""
    workflows = list(_reached(scripts))
    fields = dict.fromkeys(name for workflow in workflows for name in _fields(workflow))
    bare = {name.rpartition(".")[2] for name in fields}
    for key in values:
        if key not in fields and key not in bare:
            raise _unknown(f"values has {key!r:.80}, which no step and no parameter asks for", key, [*fields], [*bare])
    required = (one for workflow in workflows for step in workflow.steps for one in step.requires)
    artifacts = dict.fromkeys(one.path.strip("{}") for one in required if isinstance(one, Artifact))
    for key in files:
        # A path is any file of the project; a bare name is the value of a field.
        if not ("/" in key or "." in key or key in artifacts or key in _texts(values)):
            what = f"files has {key!r:.80}, which is neither a path nor a field that holds one"
            raise _unknown(what, key, [*artifacts, "a path with / or ."], [*artifacts])


def of_sub_agents(script: str, step: StepDef) -> list[str]:
    """The fields that the sub-agents of a step report; ``script`` is the entry script of its workflow."""
    if not isinstance(step.handler, Dispatch):
        return []
    entry = Path(script).parent / step.handler.script if step.handler.script else None
    workflow = loading.workflow_of_script(str(entry)) if entry else _of_a_task(step)
    params = {arg.name for arg in workflow.run_params()}
    return [name for name in dict.fromkeys(_fields(workflow)) if name not in params]


def _unknown(what: str, key: str, valid: Sequence[str], near: Sequence[str]) -> UsageError:
    error = UsageError(what + did_you_mean(nearest(key, [*valid, *near])), valid=", ".join(valid))
    error.add_note("\n".join(error.lines()[1:]))  # pytest shows an error's own text, and its notes
    return error


def _reached(scripts: Sequence[Path]) -> Iterator[Workflow]:
    """The workflows of the scripts, and of those that their sub-agents walk."""
    queue, seen = list(scripts), set()
    while queue:
        script = queue.pop().resolve()
        if script in seen or not script.is_file():
            continue
        seen.add(script)
        workflow = loading.workflow_of_script(str(script))
        yield workflow
        for step in workflow.steps:
            if isinstance(step.handler, Dispatch) and step.handler.script:
                queue.append(script.parent / step.handler.script)
            elif isinstance(step.handler, Dispatch):
                yield _of_a_task(step)


def _of_a_task(step: StepDef) -> Workflow:
    """The workflow of a sub-agent without a script, with every field that it may report."""
    review = {"checkpoint": step.checkpoint} if step.checkpoint else {"verdict": True}
    fields = [plain_fields(field) for field in step.handler.requires] if isinstance(step.handler, Dispatch) else []
    return task_workflow(TASK, {"task": "", "step": step.id, "fields": fields, **review})


def _fields(workflow: Workflow) -> Iterator[str]:
    yield from (arg.name for arg in workflow.run_params())
    for step in workflow.steps:
        yield from (f"{step.id}.{one.name}" for one in step.requires if isinstance(one, Field))
        yield from (f"{step.id}.{arg.name}" for arg in workflow.step_params(step.id))


def _texts(values: Mapping[str, Any]) -> set[str]:
    """Every text that is reported."""
    found = set()
    for value in values.values():
        found |= {one for one in (value if isinstance(value, (list, tuple)) else [value]) if isinstance(one, str)}
    return found
