"""A handler returns an outcome that its step does not have.

## What it does
Reads the source and the return annotation of a handler, and reports an outcome written there that the step neither
declares nor routes. Where an outcome is computed, the rule is silent; at run time it is checked in any case.

## Why it is bad
The first run that comes to this return stops there: the handler is at fault and nothing can go on.

## Example
```python
def weigh(ctx):
    if ctx.iteration > 1:
        return Outcome.SKIP
    return Outcome.OK


WORKFLOW = Workflow("tea", StepDef("weigh", "Weigh the leaves", next={Outcome.OK: None}, handler=weigh))
```

## Use instead
```python
def weigh(ctx):
    if ctx.iteration > 1:
        return Outcome.SKIP
    return Outcome.OK


WORKFLOW = Workflow(
    "tea", StepDef("weigh", "Weigh the leaves", next={Outcome.OK: None, Outcome.SKIP: None}, handler=weigh)
)
```
"""

from __future__ import annotations

from collections.abc import Iterator

from skills.lib.model.types import Outcome
from skills.lib.validation import outcomes
from skills.lib.validation.finding import Finding, Severity
from skills.lib.validation.view import GraphView

RULE = "handler-unrouted-outcome"
SEVERITY: Severity = "error"
VALUE = "outcome"


def check(graph: GraphView) -> Iterator[Finding]:
    """Yield one finding per outcome that a handler can return and its step cannot end with."""
    for at, source in graph.handlers.by_step.items():
        step = graph.steps[at]
        if Outcome.DEFAULT in step.next or not step.next:
            continue
        valid = set(step.outcomes or step.next)
        for outcome in Outcome:
            given = outcome in source.returns or outcome in (source.annotated or ())
            turned = outcome is Outcome.ITERATE and step.max_iterations == 1 and not step.outcomes
            if not given or outcome in valid or turned:
                continue
            listed = outcomes.listed(frozenset(valid))
            yield graph.finding(
                RULE,
                SEVERITY,
                f"the handler of {step.id} can return {outcome.value}; the step has {listed}",
                why="the first run that comes to this return stops there with an error",
                do=f"add Outcome.{outcome.name}: ... to its next, or return another outcome",
                step=at,
                outcome=outcome,
                value=outcome.value,
                file=source.file,
                line=source.returns.get(outcome, source.line),
            )
