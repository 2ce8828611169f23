"""A sub-agent's workflow starts sub-agents.

## What it does
Reports a step with a Dispatch in a workflow whose script another workflow's Dispatch names.

## Why it is bad
Sub-agents start no sub-agents: hosts forbid it or lose track of them, nobody waits for their results, and their number
multiplies.

## Example
```python
# survey_workflow.py
WORKFLOW = Workflow(
    "survey",
    StepDef("explore", "Explore", next={Outcome.OK: None}, handler=Dispatch(AgentRole.EXPLORE, script="explore.py")),
)

# explore_workflow.py
WORKFLOW = Workflow(
    "explore",
    StepDef("search", "Search", next={Outcome.OK: None}, handler=Dispatch(AgentRole.EXPLORE, task="Search.")),
)
```

## Use instead
```python
# survey_workflow.py
WORKFLOW = Workflow(
    "survey",
    StepDef("explore", "Explore", next={Outcome.OK: None}, handler=Dispatch(AgentRole.EXPLORE, script="explore.py")),
)

# explore_workflow.py
WORKFLOW = Workflow("explore", StepDef("search", "Search", next={Outcome.OK: None}))
```
"""

from __future__ import annotations

from collections.abc import Iterator

from skills.lib.model.steps import Registered
from skills.lib.model.types import Dispatch
from skills.lib.validation.finding import Finding, Severity
from skills.lib.validation.tree import TreeView, script_of
from skills.lib.validation.view import GraphView

RULE = "dispatch-from-sub-agent"
SEVERITY: Severity = "error"


def check(tree: TreeView) -> Iterator[Finding]:
    """Yield one finding per dispatching step of a workflow that is dispatched."""
    dispatched: dict[str, tuple[Registered, str]] = {}
    for entry in tree.registered:
        for step in entry.workflow.steps:
            script = script_of(entry, step)
            for child in tree.run_by(script) if script else ():
                dispatched.setdefault(child.workflow.name, (child, f"{entry.workflow.name}:{step.id}"))
    for child, by in dispatched.values():
        graph = GraphView(child.workflow, child.file)
        for at, step in enumerate(graph.steps):
            if isinstance(step.handler, Dispatch):
                yield graph.finding(
                    RULE,
                    SEVERITY,
                    f"{step.id} dispatches sub-agents, and {child.workflow.name} is itself walked by those of {by}",
                    why="sub-agents start no sub-agents: nobody would wait for their results",
                    do=f"move the dispatch up into {by.partition(':')[0]}, or let this sub-agent do the work itself",
                    step=at,
                )
