"""The entries of ``allow``, which waive findings."""

from __future__ import annotations

from collections.abc import Iterator

from skills.lib.errors import did_you_mean, nearest
from skills.lib.validation.rule import GRAPH, RULES, TREE, Problem, allow_key, rule
from skills.lib.validation.view import GraphView


@rule("error", GRAPH, stops=True)
def invalid_allow(graph: GraphView) -> Iterator[Problem]:
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
    for at, step in enumerate(graph.steps):
        for key, reason in step.allow.items() if step.allow else ():
            problem = _problem(graph, at, str(key), reason)
            if problem:
                what, do = problem
                yield Problem(
                    what,
                    why="the next reader cannot tell a decision from a slip",
                    do=do,
                    step=at,
                )


def _problem(graph: GraphView, at: int, key: str, reason: object) -> tuple[str, str] | None:
    """What is wrong with an entry, and what to write; None for a good one."""
    step = graph.steps[at].id
    name, _, value = key.partition(":")
    rule = RULES.get(name)
    if rule is None:
        near = nearest(name, RULES)
        do = f"write {allow_key(near, value)}" if near else "take the name from the finding that is meant"
        return f"{step} allows {name!r}, and there is no such rule{did_you_mean(near)}", do
    if rule.stops:
        return (
            f"{step} allows {name}, and what it finds stops a run or opens a gate",
            "correct what it finds; delete this",
        )
    if not rule.of_step:
        return f"{step} allows {name}, which is about no single step", "correct what it finds; delete this"
    if not isinstance(reason, str) or not reason.strip():
        return f"{step} allows {key} and gives no reason", "say why the finding does not apply here"
    kind = rule.finds
    if value and not kind:
        return f"{step} allows {key}, and {name} finds one thing at a step", f"write {name}"
    if value or not kind:
        return None
    found = [] if rule.scope is TREE else [one.value for one in rule.check(graph) if one.step == at]
    keys = ", ".join(f'"{allow_key(name, one)}"' for one in dict.fromkeys(found))
    what = f"{step} allows {name} as a whole, which hides every other {kind} that it may find there"
    if keys:
        return what, f"write {keys}"
    return what, f"delete it: it hides nothing; else write {name}: and the {kind} that is meant"
