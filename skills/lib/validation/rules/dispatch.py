"""The targets of a Dispatch: a list, and no longer than its cap."""

from __future__ import annotations

from collections.abc import Iterator

from skills.lib.model.types import Dispatch
from skills.lib.validation.rule import GRAPH, Problem, rule
from skills.lib.validation.templates import source_of
from skills.lib.validation.view import GraphView

_LISTS = ("list", "items", "json")


@rule("error", GRAPH, stops=True)
def too_many_targets(graph: GraphView) -> Iterator[Problem]:
    """A dispatch starts more sub-agents than its cap admits.

    ## What it does
    Reports a Dispatch with more `targets` or `tasks` written out than its `cap`, and one whose targets are a recorded list
    that must have more entries than that.

    ## Why it is bad
    The step can never be entered: the command that leads there is refused.

    ## Example
    ```python
    WORKFLOW = Workflow(
        "survey",
        StepDef(
            "explore",
            "Explore",
            "Wait for them.",
            {Outcome.OK: None},
            Dispatch(AgentRole.EXPLORE, task="Explore {target}.", targets=["code", "tests", "documents"], cap=2),
        ),
    )
    ```

    ## Use instead
    ```python
    WORKFLOW = Workflow(
        "survey",
        StepDef(
            "explore",
            "Explore",
            "Wait for them.",
            {Outcome.OK: None},
            Dispatch(AgentRole.EXPLORE, task="Explore {target}.", targets=["code", "tests", "documents"], cap=3),
        ),
    )
    ```
    """
    for at, step, dispatch in graph.handled_by(Dispatch):
        count, what = _least_children(graph, dispatch)
        if count > dispatch.cap:
            yield Problem(
                f"{step.id} starts {count} sub-agents{what}, and its cap is {dispatch.cap}",
                why="the command that leads to the step is refused, so no run ever enters it",
                do=f"set cap={count}, or start fewer",
                step=at,
            )


def _least_children(graph: GraphView, dispatch: Dispatch) -> tuple[int, str]:
    """How many sub-agents are started at least, and what says so."""
    if dispatch.tasks:
        return len(dispatch.tasks), ""
    if not isinstance(dispatch.targets, str):
        return (0 if callable(dispatch.targets) else len(dispatch.targets)), ""
    spec = source_of(graph, dispatch.targets)
    least = spec.minimum if spec and spec.type == "list" and spec.required else None
    return int(least or 0), f", for {dispatch.targets} has at least {least:g} entries" if least else ""


@rule("error", GRAPH, stops=True)
def unusable_targets(graph: GraphView) -> Iterator[Problem]:
    """A dispatch goes over what is no list.

    ## What it does
    Reports a Dispatch whose `targets` name a recorded value that is declared as a text, a number, or true or false.

    ## Why it is bad
    One sub-agent is started per entry of a list: the step can never be entered.

    ## Example
    ```python
    WORKFLOW = Workflow(
        "survey",
        StepDef("scope", "Scope", "Name the areas.", {Outcome.OK: "explore"}, requires=[Field("areas")]),
        StepDef(
            "explore",
            "Explore",
            "Wait for them.",
            {Outcome.OK: None},
            Dispatch(AgentRole.EXPLORE, task="Explore {target}.", targets="scope.areas"),
        ),
    )
    ```

    ## Use instead
    ```python
    WORKFLOW = Workflow(
        "survey",
        StepDef("scope", "Scope", "Name the areas.", {Outcome.OK: "explore"}, requires=[Field("areas", "list", minimum=1)]),
        StepDef(
            "explore",
            "Explore",
            "Wait for them.",
            {Outcome.OK: None},
            Dispatch(AgentRole.EXPLORE, task="Explore {target}.", targets="scope.areas"),
        ),
    )
    ```
    """
    for at, step, dispatch in graph.handled_by(Dispatch):
        targets = dispatch.targets
        spec = source_of(graph, targets) if isinstance(targets, str) and targets else None
        if spec is not None and spec.type not in _LISTS:
            yield Problem(
                f"{step.id} starts one sub-agent per entry of {targets}, which is of type {spec.type}",
                why="only a list has entries: the command that leads to the step is refused",
                do=f'declare it as a list: Field("{spec.name}", "list")',
                step=at,
            )
