"""A finding is waived wrongly.

## What it does
Reports an entry of `allow` that names no rule, gives no reason, waives what stops a run, or does not say which of
several findings it means: if a rule can find several things at a step, the key is `rule:value`.

## Why it is bad
A misspelt name waives nothing; without a reason the next reader cannot tell a decision from a slip; and a rule that is
switched off as a whole hides what goes wrong there later.

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

from skills.lib.validation import registry
from skills.lib.validation.finding import OF_NO_STEP, STOPPING, Finding, Severity, allow_key
from skills.lib.validation.nearest import Nearest, did_you_mean
from skills.lib.validation.view import GraphView

RULE = "invalid-allow"
SEVERITY: Severity = "error"


def check(graph: GraphView) -> Iterator[Finding]:
    """Yield one finding per entry that waives nothing, or more than it may."""
    for at, step in enumerate(graph.steps):
        for key, reason in step.allow.items() if step.allow else ():
            problem = _problem(graph, at, str(key), reason)
            if problem:
                what, do = problem
                yield graph.finding(
                    RULE,
                    SEVERITY,
                    what,
                    why="the next reader cannot tell a decision from a slip",
                    do=do,
                    step=at,
                )


def _problem(graph: GraphView, at: int, key: str, reason: object) -> tuple[str, str] | None:
    """What is wrong with an entry, and what to write; None for a good one."""
    step = graph.steps[at].id
    name, _, value = key.partition(":")
    if name not in registry.BY_NAME:
        near = Nearest(registry.BY_NAME).to(name)
        do = f"write {allow_key(near, value)}" if near else "take the name from the finding that is meant"
        return f"{step} allows {name!r}, and there is no such rule{did_you_mean(near)}", do
    if name in STOPPING:
        return (
            f"{step} allows {name}, and what it finds stops a run or opens a gate",
            "correct what it finds; delete this",
        )
    if name in OF_NO_STEP:
        return f"{step} allows {name}, which is about no single step", "correct what it finds; delete this"
    if not isinstance(reason, str) or not reason.strip():
        return f"{step} allows {key} and gives no reason", "say why the finding does not apply here"
    rule = registry.BY_NAME[name]
    kind = getattr(rule, "VALUE", "")
    if value and not kind:
        return f"{step} allows {key}, and {name} finds one thing at a step", f"write {name}"
    if value or not kind:
        return None
    found = [] if name in registry.OF_A_TREE else [one.value for one in rule.check(graph) if one.position == at]
    keys = ", ".join(f'"{allow_key(name, one)}"' for one in dict.fromkeys(found))
    what = f"{step} allows {name} as a whole, which hides every other {kind} that it may find there"
    if keys:
        return what, f"write {keys}"
    return what, f"delete it: it hides nothing; else write {name}: and the {kind} that is meant"
