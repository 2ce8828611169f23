"""What a workflow as a whole must have: a name, steps, a start, an end, parameters of steps that exist."""

from __future__ import annotations

import re
from collections.abc import Iterator

from skills.lib.errors import did_you_mean
from skills.lib.validation.rule import GRAPH, Problem, rule
from skills.lib.validation.view import GraphView

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


@rule("error", GRAPH, of_step=False)
def malformed_name(graph: GraphView) -> Iterator[Problem]:
    """The name of a workflow cannot be used as one.

    ## What it does
    Reports a workflow whose name is not made of letters, digits, `-`, `_` and `.`, a letter or digit first, at most 64
    characters in all.

    ## Why it is bad
    The name is part of file names, of run records and of printed commands; what it may hold there is bounded.

    ## Example
    ```python
    WORKFLOW = Workflow("../tea time", StepDef("boil", "Boil water", next={Outcome.OK: None}))
    ```

    ## Use instead
    ```python
    WORKFLOW = Workflow("tea-time", StepDef("boil", "Boil water", next={Outcome.OK: None}))
    ```
    """
    name = graph.workflow.name
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        yield Problem(
            f"{name!r} is not a name for a workflow",
            why="it becomes part of file names, run records and printed commands",
            do="use letters, digits, -, _ and ., a letter or digit first, at most 64 characters: my-skill",
        )


@rule("error", GRAPH, of_step=False)
def empty_workflow(graph: GraphView) -> Iterator[Problem]:
    """A workflow has no steps.

    ## What it does
    Reports a workflow that was built without a single step.

    ## Why it is bad
    A run of it has nowhere to begin: it can only fail when it is opened.

    ## Example
    ```python
    WORKFLOW = Workflow("tea")
    ```

    ## Use instead
    ```python
    WORKFLOW = Workflow("tea", StepDef("boil", "Boil water", next={Outcome.OK: None}))
    ```
    """
    if not graph.steps:
        yield Problem(
            f"the workflow {graph.workflow.name} has no steps",
            why="a run of it has nowhere to begin",
            do="give it at least one StepDef that leads to the end: next={Outcome.OK: None}",
        )


@rule("error", GRAPH, of_step=False)
def unknown_start(graph: GraphView) -> Iterator[Problem]:
    """A workflow starts at a step that it does not have.

    ## What it does
    Reports a `start` that names no step, or nothing; and a `reverify` that names no step.

    ## Why it is bad
    No run can be opened: none at all, or none that verifies the items of a review again.

    ## Example
    ```python
    WORKFLOW = Workflow(
        "tea",
        StepDef("boil", "Boil water", next={Outcome.OK: "steep"}),
        StepDef("steep", "Let it steep", next={Outcome.OK: None}),
        start="boill",
    )
    ```

    ## Use instead
    ```python
    WORKFLOW = Workflow(
        "tea",
        StepDef("boil", "Boil water", next={Outcome.OK: "steep"}),
        StepDef("steep", "Let it steep", next={Outcome.OK: None}),
        start="boil",
    )
    ```
    """
    again = graph.workflow.reverify
    if again and again not in graph.index:
        near = graph.nearest(again)
        yield Problem(
            f"reverify is {again!r}, and there is no such step{did_you_mean(near)}",
            why="no reviewer that verifies items again can begin",
            do=f"set reverify to {near or 'the id of the step that answers them'}, or leave it out",
        )
    start = graph.workflow.start
    if not graph.steps or start in graph.index:
        return
    near = graph.nearest(start) if start else ""
    what = f"the start is {start!r}, and there is no such step" if start else "the workflow names no start"
    yield Problem(
        what + did_you_mean(near),
        why="no run can be opened",
        do=f"set start to {near or 'the id of a step'}, or leave it out to begin with {graph.steps[0].id}",
    )


@rule("error", GRAPH, of_step=False)
def no_end(graph: GraphView) -> Iterator[Problem]:
    """No step leads to the end.

    ## What it does
    Reports a workflow in which no route has the target `None`.

    ## Why it is bad
    No run of it is ever done.

    ## Example
    ```python
    WORKFLOW = Workflow(
        "tea",
        StepDef("boil", "Boil water", next={Outcome.OK: "steep"}),
        StepDef("steep", "Let it steep", next={Outcome.OK: "boil"}),
    )
    ```

    ## Use instead
    ```python
    WORKFLOW = Workflow(
        "tea",
        StepDef("boil", "Boil water", next={Outcome.OK: "steep"}),
        StepDef(
            "steep",
            "Let it steep",
            next={Outcome.OK: None, Outcome.ITERATE: "boil"},
            when={Outcome.OK: "it is strong enough", Outcome.ITERATE: "the water was cold"},
            max_iterations=3,
        ),
    )
    ```
    """
    if graph.steps and not graph.has_end:
        yield Problem(
            f"no step of {graph.workflow.name} leads to the end",
            why="no run of it is ever done",
            do=f"give the last step, {graph.steps[-1].id} perhaps, a route to None: next={{Outcome.OK: None}}",
        )


@rule("error", GRAPH, of_step=False)
def unknown_parameter_step(graph: GraphView) -> Iterator[Problem]:
    """A parameter belongs to a step that does not exist.

    ## What it does
    Reports an `Arg` whose `step` names no step of the workflow.

    ## Why it is bad
    Nobody is ever asked for the parameter, and what reads it finds nothing.

    ## Example
    ```python
    WORKFLOW = Workflow(
        "inquiry",
        StepDef("investigate", "Investigate", next={Outcome.OK: None}),
        params=[Arg("confidence", choices=("low", "high"), step="investigation")],
    )
    ```

    ## Use instead
    ```python
    WORKFLOW = Workflow(
        "inquiry",
        StepDef("investigate", "Investigate", next={Outcome.OK: None}),
        params=[Arg("confidence", choices=("low", "high"), step="investigate")],
    )
    ```
    """
    for arg in graph.workflow.params:
        if arg.step is None or arg.step in graph.index:
            continue
        near = graph.nearest(arg.step)
        yield Problem(
            f"the parameter {arg.flag} belongs to the step {arg.step!r}, which does not exist{did_you_mean(near)}",
            why="nobody is ever asked for it",
            do=f"name {near or 'a step of this workflow'}, or leave step out for a parameter of the run",
            line=graph.lines.of_parameter(arg.name),
        )
