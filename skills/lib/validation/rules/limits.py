"""Limits of iterations: each can work, and bounds something."""

from __future__ import annotations

from collections.abc import Iterator

from skills.lib.model.types import Outcome
from skills.lib.validation.rule import GRAPH, Problem, rule
from skills.lib.validation.view import GraphView


@rule("error", GRAPH, stops=True)
def iteration_limit(graph: GraphView) -> Iterator[Problem]:
    """The limit of iterations cannot work.

    ## What it does
    Reports `max_iterations` that is not a whole number of 1 or more, and `at_limit` that is ITERATE or has no route.

    ## Why it is bad
    At the limit the run has nowhere to go, or goes round again as if there were none.

    ## Example
    ```python
    WORKFLOW = Workflow(
        "inquiry",
        StepDef(
            "investigate",
            "Investigate",
            next={Outcome.SKIP: None, Outcome.ITERATE: "investigate"},
            when={Outcome.SKIP: "there is nothing more to look at", Outcome.ITERATE: "there is"},
            max_iterations=5,
        ),
    )
    ```

    ## Use instead
    ```python
    WORKFLOW = Workflow(
        "inquiry",
        StepDef(
            "investigate",
            "Investigate",
            next={Outcome.SKIP: None, Outcome.ITERATE: "investigate"},
            when={Outcome.SKIP: "there is nothing more to look at", Outcome.ITERATE: "there is"},
            max_iterations=5,
            at_limit=Outcome.SKIP,
        ),
    )
    ```
    """
    for at, step in enumerate(graph.steps):
        limit = step.max_iterations
        if limit is None:
            continue
        if isinstance(limit, bool) or not isinstance(limit, int) or limit < 1:
            what, do = f"max_iterations of {step.id} is {limit!r}", "set it to a whole number of 1 or more"
        elif step.at_limit is Outcome.ITERATE:
            what = f"{step.id} ends with iterate when its {limit} iterations are used up, and goes round again"
            do = "set at_limit to the outcome that leaves the loop, OK for one"
        elif step.next and step.route(step.at_limit) is None and step.route(Outcome.ITERATE) is not None:
            what = f"{step.id} ends with {step.at_limit.value} when its {limit} iterations are used up: it has no route"
            do = f"add Outcome.{step.at_limit.name}: ... to its next, or set at_limit to an outcome that is routed"
        else:
            continue
        yield Problem(what, why="at the limit a run would stop, or go on as if there were none", do=do, step=at)


@rule("warning", GRAPH)
def unused_limit(graph: GraphView) -> Iterator[Problem]:
    """A limit of iterations limits nothing.

    ## What it does
    Reports `max_iterations` at a step that has no route for ITERATE, and none for FAIL or DEFAULT that could lead round.

    ## Why it is bad
    The route that it was meant to bound is missing, or belongs to another step and is not bounded.

    ## Example
    ```python
    WORKFLOW = Workflow(
        "inquiry",
        StepDef("investigate", "Investigate", "Find the cause.", {Outcome.OK: None}, max_iterations=5),
    )
    ```

    ## Use instead
    ```python
    WORKFLOW = Workflow(
        "inquiry",
        StepDef(
            "investigate",
            "Investigate",
            "Find the cause.",
            {Outcome.OK: None, Outcome.ITERATE: "investigate"},
            when={Outcome.OK: "the cause is found", Outcome.ITERATE: "it is not"},
            max_iterations=5,
        ),
    )
    ```
    """
    for at, step in enumerate(graph.steps):
        if not step.max_iterations or step.max_iterations < 1 or not step.next:
            continue
        if step.route(Outcome.ITERATE) is None and Outcome.FAIL not in step.next:
            yield Problem(
                f"max_iterations of {step.id} is {step.max_iterations}, and the step has no route for iterate",
                why="the loop that it was meant to bound is missing, or is another step's",
                do="add Outcome.ITERATE: ... to its next, or leave max_iterations out",
                step=at,
            )
