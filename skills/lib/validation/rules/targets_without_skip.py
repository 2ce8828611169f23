"""A dispatch may come to have no target, and the step cannot be skipped.

## What it does
Reads the function that computes the targets of a Dispatch, and reports one that may return none, where the step has no
SKIP route: a return of an empty list, or of a list that an `if` filters.

## Why it is bad
A step with nothing to dispatch cannot be entered. The command that leads there is refused, and the run comes no further
unless the step before can be reported otherwise. A DEFAULT route does not help.

## Example
```python
def unread(ctx):
    return [part for part in ctx.run_state["scope"]["parts"] if part not in ctx.step_state.get("read", ())]


WORKFLOW = Workflow(
    "survey",
    StepDef("scope", "Scope", next={Outcome.OK: "explore"}, requires=[Field("parts", "list")]),
    StepDef(
        "explore",
        "Explore",
        next={Outcome.OK: "report"},
        handler=Dispatch(AgentRole.EXPLORE, task="Explore {target}.", targets=unread),
    ),
    StepDef("report", "Report", next={Outcome.OK: None}, needs=["explore.results"]),
)
```

## Use instead
```python
def unread(ctx):
    return [part for part in ctx.run_state["scope"]["parts"] if part not in ctx.step_state.get("read", ())]


WORKFLOW = Workflow(
    "survey",
    StepDef("scope", "Scope", next={Outcome.OK: "explore"}, requires=[Field("parts", "list")]),
    StepDef(
        "explore",
        "Explore",
        next={Outcome.OK: "report", Outcome.SKIP: "report"},
        handler=Dispatch(AgentRole.EXPLORE, task="Explore {target}.", targets=unread),
    ),
    StepDef("report", "Report", next={Outcome.OK: None}, needs=["explore.results"]),
)
```
"""

from __future__ import annotations

from collections.abc import Iterator

from skills.lib.model.types import Outcome
from skills.lib.validation.finding import Finding, Severity
from skills.lib.validation.view import GraphView

RULE = "targets-without-skip"
SEVERITY: Severity = "warning"


def check(graph: GraphView) -> Iterator[Finding]:
    """Yield one finding per function that may leave its step with nothing to dispatch."""
    for at, source in graph.handlers.on_entry.items():
        step = graph.steps[at]
        if source.empty and Outcome.SKIP not in step.next:
            yield graph.finding(
                RULE,
                SEVERITY,
                f"the targets of {step.id} may be none, and the step has no route for skip",
                why="a step with nothing to dispatch cannot be entered: the run stays at the one before",
                do="add Outcome.SKIP: ... to its next, or return a target in any case",
                step=at,
                file=source.file,
                line=source.empty,
            )
