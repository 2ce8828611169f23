"""A sub-agent may be given a parameter that it refuses.

## What it does
Compares what a Dispatch gives with what the workflow of its script takes, and reports a required parameter that is
filled by values which may be missing (an optional Field, an optional parameter of the run), and one that is filled by a
value which may not fit: a text for a number or for choices, choices or a range that go further than its own.

## Why it is bad
A parameter whose value was not recorded is left out. The sub-agent's run is then refused, as it is
for a value that does not fit, and the step waits for it until it is given up.

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

from skills.lib.model.types import Dispatch
from skills.lib.validation.finding import Finding, Severity
from skills.lib.validation.templates import doubt, refusal
from skills.lib.validation.tree import TreeView, child_of
from skills.lib.validation.view import GraphView

RULE = "uncertain-child-parameter"
SEVERITY: Severity = "warning"
VALUE = "name"


def check(tree: TreeView) -> Iterator[Finding]:
    """Yield one finding per parameter that may be refused; child-parameter tells one that always is."""
    for entry in tree.registered:
        graph = GraphView(entry.workflow, entry.file)
        for at, step in graph.distinct:
            child = child_of(tree, entry, step)
            if child is None or not isinstance(step.handler, Dispatch):
                continue
            for arg in child.workflow.run_params():
                template = step.handler.params.get(arg.name, "")
                why = doubt(graph, at, template, arg) if not refusal(graph, at, template, arg) else ""
                if why:
                    yield graph.finding(
                        RULE,
                        SEVERITY,
                        f"{step.id} gives its sub-agents {arg.name} as {template}, and {child.workflow.name} may "
                        f"refuse it: {why}",
                        why="the sub-agent's run is then refused, and the step waits for it until it is given up",
                        do=f"declare both alike, or let {child.workflow.name} do without it",
                        step=at,
                        value=arg.name,
                    )
