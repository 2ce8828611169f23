"""A sub-agent is given parameters that its workflow does not take.

## What it does
Compares the `params` of each Dispatch with the workflow that its script runs, and reports a parameter that the workflow
does not have, one that it requires and is not given, and a value that the parameter can never accept, by its type, its
choices or its range; of a value with placeholders, as far as it is written out or what fills it is declared. Also
`params` without a script: nobody takes them.

## Why it is bad
The sub-agent's run is refused, and the step waits for it until it is given up.

## Example
```python
# survey_workflow.py
WORKFLOW = Workflow(
    "survey",
    StepDef(
        "explore",
        "Explore",
        next={Outcome.OK: None},
        handler=Dispatch(AgentRole.EXPLORE, script="explore.py", params={"arae": "code"}),
    ),
)

# explore_workflow.py
WORKFLOW = Workflow(
    "explore",
    StepDef("search", "Search", next={Outcome.OK: None}, needs=["area"]),
    params=[Arg("area", required=False)],
)
```

## Use instead
```python
# survey_workflow.py
WORKFLOW = Workflow(
    "survey",
    StepDef(
        "explore",
        "Explore",
        next={Outcome.OK: None},
        handler=Dispatch(AgentRole.EXPLORE, script="explore.py", params={"area": "code"}),
    ),
)

# explore_workflow.py
WORKFLOW = Workflow(
    "explore",
    StepDef("search", "Search", next={Outcome.OK: None}, needs=["area"]),
    params=[Arg("area", required=False)],
)
```
"""

from __future__ import annotations

from collections.abc import Iterator

from skills.lib.model import values
from skills.lib.model.steps import Workflow
from skills.lib.model.types import Dispatch
from skills.lib.validation.finding import Finding, Severity
from skills.lib.validation.nearest import Nearest, did_you_mean
from skills.lib.validation.templates import refusal
from skills.lib.validation.tree import TreeView, child_of
from skills.lib.validation.view import GraphView

RULE = "child-parameter"
SEVERITY: Severity = "error"


def check(tree: TreeView) -> Iterator[Finding]:
    """Yield one finding per parameter that does not fit."""
    for entry in tree.registered:
        graph = GraphView(entry.workflow, entry.file)
        for at, step in graph.distinct:
            if not isinstance(step.handler, Dispatch):
                continue
            if not step.handler.script and step.handler.params:
                names = ", ".join(step.handler.params)
                what = f"{step.id} gives its sub-agents {names}, and names no script that takes parameters"
                yield _finding(graph, at, what, "say it in the task, or name the script")
            child = child_of(tree, entry, step)
            for what, do in _problems(graph, at, step.handler, child.workflow) if child else ():
                yield _finding(graph, at, what, do)


def _finding(graph: GraphView, at: int, what: str, do: str) -> Finding:
    why = "the sub-agent's run is refused, and the step waits for it until it is given up"
    return graph.finding(RULE, SEVERITY, what, why=why, do=do, step=at)


def _problems(graph: GraphView, at: int, dispatch: Dispatch, child: Workflow) -> Iterator[tuple[str, str]]:
    """What does not fit, and what to do."""
    step_id, known = graph.name(at), {arg.name: arg for arg in child.run_params()}
    late = {arg.name: arg.step for arg in child.params if arg.step is not None}
    for name, template in dispatch.params.items():
        if name not in known:
            near = Nearest([other for other in known if other not in dispatch.params] or sorted(known)).to(name)
            what = f"{step_id} gives its sub-agents {name}, and {child.name} has no such parameter of the run"
            if name in late:
                yield f"{what}: it is reported on leaving {late[name]}", "leave it out"
            else:
                do = f"write {near}" if near else f"leave it out, or declare it in {child.name}: Arg({name!r})"
                yield what + did_you_mean(near), do
            continue
        refused = refusal(graph, at, template, known[name])
        if refused:
            yield (
                f"{step_id} gives its sub-agents {name} as {template!r}, and {child.name} never takes it: {refused}",
                (f"give {values.expectation(known[name])}"),
            )
    for arg in known.values():
        if arg.required and arg.name not in dispatch.params:
            yield (
                f"{step_id} does not give its sub-agents {arg.name}, which {child.name} requires",
                f'add "{arg.name}": "…" to its params',
            )
