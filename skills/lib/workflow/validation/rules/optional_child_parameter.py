"""A sub-agent may come to lack a parameter that it requires.

## What it does
Reports a parameter that the workflow of a Dispatch's script requires, and that is given as nothing but values which may
be missing: an optional Field, an optional parameter of the run.

## Why it is bad
A parameter that stands for a value which was not recorded is left out. The sub-agent's run is then refused, and the
step waits for it until it is given up.

## Example
```python
# survey_workflow.py
WORKFLOW = Workflow(
    "survey",
    StepDef("scope", "Scope", next={Outcome.OK: "explore"}, requires=[Field("area", required=False)]),
    StepDef(
        "explore",
        "Explore",
        next={Outcome.OK: None},
        handler=Dispatch(AgentRole.EXPLORE, script="explore.py", params={"area": "{scope.area}"}),
    ),
)

# explore_workflow.py
WORKFLOW = Workflow(
    "explore", StepDef("search", "Search", next={Outcome.OK: None}, needs=["area"]), params=[Arg("area")]
)
```

## Use instead
```python
# survey_workflow.py
WORKFLOW = Workflow(
    "survey",
    StepDef("scope", "Scope", next={Outcome.OK: "explore"}, requires=[Field("area", required=False)]),
    StepDef(
        "explore",
        "Explore",
        next={Outcome.OK: None},
        handler=Dispatch(AgentRole.EXPLORE, script="explore.py", params={"area": "{scope.area}"}),
    ),
)

# explore_workflow.py
WORKFLOW = Workflow(
    "explore",
    StepDef("search", "Search", next={Outcome.OK: None}, needs=["area"]),
    params=[Arg("area", default="the whole project")],
)
```
"""

from __future__ import annotations

from collections.abc import Iterator

from skills.lib.workflow.types import Dispatch
from skills.lib.workflow.validation.finding import Finding, Severity
from skills.lib.workflow.validation.graph import GraphView
from skills.lib.workflow.validation.templates import may_be_blank
from skills.lib.workflow.validation.tree import TreeView, child_of

RULE = "optional-child-parameter"
SEVERITY: Severity = "warning"
VALUE = "name"


def check(tree: TreeView) -> Iterator[Finding]:
    """Yield one finding per required parameter that may be left out."""
    for entry in tree.registered:
        graph = GraphView(entry.workflow, entry.file)
        for at, step in graph.distinct:
            child = child_of(tree, entry, step)
            if child is None or not isinstance(step.handler, Dispatch):
                continue
            for arg in child.workflow.run_params():
                template = step.handler.params.get(arg.name, "")
                if arg.required and may_be_blank(graph, at, template):
                    yield graph.finding(
                        RULE,
                        SEVERITY,
                        f"{step.id} gives its sub-agents {arg.name} as {template}, which may be missing, and "
                        f"{child.workflow.name} requires it",
                        why="the sub-agent's run is then refused, and the step waits for it until it is given up",
                        do=f"have the value recorded in any case, or let {child.workflow.name} do without it",
                        step=at,
                        value=arg.name,
                    )
