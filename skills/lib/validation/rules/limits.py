"""Limits of iterations: each can work, and bounds something."""

from __future__ import annotations

from collections.abc import Iterator

from skills.lib.engine import loops
from skills.lib.model.steps import StepDef
from skills.lib.model.types import Outcome
from skills.lib.validation.rule import GRAPH, Problem, rule
from skills.lib.validation.view import GraphView


@rule("error", GRAPH, stops=True)
def iteration_limit(graph: GraphView) -> Iterator[Problem]:
    """The limit of iterations cannot work.

    ## What it does
    Reports `max_iterations` that is not a whole number of 1 or more, and `at_limit` that is ITERATE or has no route. At a
    step with a loop by a word of the workflow's own, `at_limit` other than OK must leave the loop; so must an `at_limit`
    that is such a word. Without `at_limit` a person decides there: OK, or another outcome, must lead on.

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
        elif step.next and step.route(_at_limit(graph, step)) is None and _goes_round(graph, step):
            what = f"{step.id} ends with {step.at_limit.value} when its {limit} iterations are used up: it has no route"
            do = f"add {step.at_limit!r}: ... to its next, or set at_limit to an outcome that is routed"
        elif _words_that_go_on(graph, step):
            word = _words_that_go_on(graph, step)[0].value
            what = f"{step.id} goes round by {word}, and at the limit {step.at_limit.value} goes round again"
            do = "set at_limit to an outcome that leaves the loop, or leave it out: a person is then asked"
        else:
            continue
        yield Problem(what, why="at the limit a run would stop, or go on as if there were none", do=do, step=at)


def _at_limit(graph: GraphView, step: StepDef) -> Outcome:
    """The outcome at the limit; where a person decides at the end of a loop by own words, that of going on."""
    if step.at_limit is Outcome.OK and step.route(Outcome.ITERATE) is None:
        return loops.accepted(graph.workflow, step, next(iter(_looping_words(graph, step)), Outcome.OK))
    return step.at_limit


def _goes_round(graph: GraphView, step: StepDef) -> bool:
    return step.route(Outcome.ITERATE) is not None or bool(_looping_words(graph, step))


def _looping_words(graph: GraphView, step: StepDef) -> list[Outcome]:
    """The words of the workflow's own that lead back to the step."""
    return [word for word in loops.own_words(step) if loops.leads_back(graph.workflow, step, word)]


def _words_that_go_on(graph: GraphView, step: StepDef) -> list[Outcome]:
    """The words of the workflow's own whose loop goes on past the limit by ``at_limit``."""
    if step.at_limit is Outcome.OK or not loops.leads_back(graph.workflow, step, step.at_limit):
        return []
    return [step.at_limit] if step.at_limit.is_own else _looping_words(graph, step)


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
        if not (step.route(Outcome.ITERATE) or Outcome.FAIL in step.next or loops.own_words(step)):
            yield Problem(
                f"max_iterations of {step.id} is {step.max_iterations}, and the step has no route for iterate",
                why="the loop that it was meant to bound is missing, or is another step's",
                do="add Outcome.ITERATE: ... to its next, or leave max_iterations out",
                step=at,
            )
