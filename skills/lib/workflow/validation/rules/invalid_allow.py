"""A rule is switched off wrongly.

## What it does
Reports an entry of `allow` that names no rule, or that gives no reason.

## Why it is bad
A misspelt name switches nothing off; without a reason the next reader cannot tell a decision from a slip.

## Example
```python
WORKFLOW = Workflow("tea", StepDef("boil", next={Outcome.OK: None}, allow={"mising-title": "it is a demonstration"}))
```

## Use instead
```python
WORKFLOW = Workflow("tea", StepDef("boil", next={Outcome.OK: None}, allow={"missing-title": "it is a demonstration"}))
```
"""

from __future__ import annotations

from collections.abc import Iterator

from skills.lib.workflow.validation.finding import Finding, Severity
from skills.lib.workflow.validation.graph import GraphView
from skills.lib.workflow.validation.nearest import Nearest, did_you_mean

RULE = "invalid-allow"
SEVERITY: Severity = "error"


def check(graph: GraphView) -> Iterator[Finding]:
    """Yield one finding per entry that names no rule or gives no reason."""
    from skills.lib.workflow.validation import rules

    for at, step in enumerate(graph.steps):
        for name, reason in step.allow.items() if step.allow else ():
            if name not in rules.NAMES:
                near = Nearest(rules.NAMES).to(str(name))
                what = f"{step.id} allows {name!r}, and there is no such rule{did_you_mean(near)}"
                do = f"write {near}" if near else "take the name from the finding that is meant"
            elif not isinstance(reason, str) or not reason.strip():
                what, do = f"{step.id} allows {name} and gives no reason", "say why the finding does not apply here"
            else:
                continue
            yield graph.finding(
                RULE,
                SEVERITY,
                what,
                why="the next reader cannot tell a decision from a slip",
                do=do,
                step=at,
            )
