"""A reviewer's script may end without review items.

## What it does
Reports a workflow whose script a reviewer's Dispatch names, where a path leads to its end without a required Field of
type `answers` or `Field("items", "items")`, and one whose `items` are of another type or a parameter of leaving a step;
statements that no `answers` answer; and a Command with a severity that a re-verification passes by.

## Why it is bad
The verdict is read from these items. A reviewer without them has not reviewed: its checkpoint fails, and what it found
is not told. Items of another form count as none. A command that is not run again leaves its item to do, which blocks.

## Example
```python
# tea_workflow.py
WORKFLOW = Workflow(
    "tea",
    StepDef("brew", "Brew", next={Outcome.OK: "brew-review"}),
    *review_loop("brew", work="brew", passed=None, reviewer=Dispatch(AgentRole.QUALITY_REVIEWER, script="judge.py")),
)

# judge_workflow.py
WORKFLOW = Workflow("judge", StepDef("tell", "Tell", next={Outcome.OK: None}, requires=[Field("summary")]))
```

## Use instead
```python
# tea_workflow.py
WORKFLOW = Workflow(
    "tea",
    StepDef("brew", "Brew", next={Outcome.OK: "brew-review"}),
    *review_loop("brew", work="brew", passed=None, reviewer=Dispatch(AgentRole.QUALITY_REVIEWER, script="judge.py")),
)

# judge_workflow.py
WORKFLOW = Workflow(
    "judge",
    StepDef("split", "Split off", next={Outcome.OK: "tell"}, requires=[Field("statements", "statements")]),
    StepDef("tell", "Tell", next={Outcome.OK: None}, requires=[Field("answers", "answers")]),
)
```
"""

from __future__ import annotations

from collections.abc import Iterator

from skills.lib.model.requirements import Command, Field
from skills.lib.model.steps import Registered, StepDef
from skills.lib.validation import walks
from skills.lib.validation.finding import Finding, Severity, is_allowed
from skills.lib.validation.topology import END
from skills.lib.validation.tree import TreeView, script_of
from skills.lib.validation.view import GraphView

RULE = "reviewer-without-items"
SEVERITY: Severity = "error"


def check(tree: TreeView) -> Iterator[Finding]:
    """Yield one finding per reviewer's workflow that may give no items, and per step that gives others."""
    reviewing: dict[str, tuple[Registered, str]] = {}
    for entry in tree.registered:
        for step in entry.workflow.steps:
            script = script_of(entry, step) if step.checkpoint else None
            for child in tree.run_by(script) if script else ():
                reviewing.setdefault(child.workflow.name, (child, f"{entry.workflow.name}:{step.id}"))
    for child, by in reviewing.values():
        graph = GraphView(child.workflow, child.file)
        for at, problem in _problems(graph):
            if not is_allowed(graph.steps[at], RULE):
                yield graph.finding(
                    RULE,
                    SEVERITY,
                    f"{child.workflow.name} reviews for {by}, and {problem}",
                    why="the verdict is read from review items alone: without them it fails, and nobody learns why",
                    do='record Field("answers", "answers") at a step that every path to the end passes',
                    step=at,
                )


def _problems(graph: GraphView) -> Iterator[tuple[int, str]]:
    """What is amiss, each with the step to mend."""
    recording = set()
    answered = any(spec.type == "answers" for step in graph.steps for spec in step.requires if isinstance(spec, Field))
    for at, step in graph.distinct:
        item = _items(step)
        if not answered and any(isinstance(spec, Field) and spec.type == "statements" for spec in step.requires):
            yield at, f"no step records answers to the statements of {step.id}"
        if any(isinstance(spec, Command) and spec.severity for spec in step.requires) and _is_passed_by(graph, at):
            yield at, f"a re-verification passes {step.id} by, whose command judges"
        if any(isinstance(spec, Field) and spec.type == "answers" and spec.required for spec in step.requires):
            recording.add(at)
            continue
        if item and item.type != "items":
            yield at, f"its Field items at {step.id} is of type {item.type}"
        elif "items" in graph.flow.step_params.get(step.id, ()):
            yield (
                at,
                f"its items are a parameter of leaving {step.id}, which is not held to the items of the first review",
            )
        elif not item or not item.required:
            continue
        recording.add(at)
    for start in graph.starts:
        if start == END or start in recording:
            continue
        way = walks.search(graph, start, lambda node: node == END, avoid=recording)
        if way:
            walk = walks.printed(graph, way)
            yield way[-1][0], f"a path leads to its end without a required Field of type answers, or items: {walk}"
            return


def _is_passed_by(graph: GraphView, at: int) -> bool:
    """True if a re-verification can come to its end without the step."""
    again = graph.starts[-1]
    return again != at and walks.search(graph, again, lambda node: node == END, avoid={at}) is not None


def _items(step: StepDef) -> Field | None:
    return next((spec for spec in step.requires if isinstance(spec, Field) and spec.name == "items"), None)
