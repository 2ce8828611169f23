"""How a step ends: every outcome that it gives has a route, and every route an outcome that it gives."""

from __future__ import annotations

from collections.abc import Iterator

from skills.lib.blocks.document import reports_outcome
from skills.lib.errors import did_you_mean, nearest
from skills.lib.model.steps import StepDef
from skills.lib.model.types import Outcome, Person
from skills.lib.validation import outcomes
from skills.lib.validation.rule import GRAPH, Problem, rule
from skills.lib.validation.view import GraphView


@rule("error", GRAPH, finds="outcome")
def shadowed_route(graph: GraphView) -> Iterator[Problem]:
    """A route can never be taken.

    ## What it does
    Reports a DEFAULT route where every outcome that the step can give has a route of its own, and an ITERATE route where
    `max_iterations` is 1.

    ## Why it is bad
    The route looks like a way through the graph and is none: whoever wrote it meant something else.

    ## Example
    ```python
    WORKFLOW = Workflow(
        "tea",
        StepDef(
            "taste",
            "Taste it",
            next={Outcome.OK: None, Outcome.FAIL: "sweeten", Outcome.DEFAULT: "sweeten"},
            handler=Person("Is it good?", {"yes": Outcome.OK, "no": Outcome.FAIL}),
        ),
        StepDef("sweeten", "Add honey", next={Outcome.OK: None}),
    )
    ```

    ## Use instead
    ```python
    WORKFLOW = Workflow(
        "tea",
        StepDef(
            "taste",
            "Taste it",
            next={Outcome.OK: None, Outcome.DEFAULT: "sweeten"},
            handler=Person("Is it good?", {"yes": Outcome.OK, "no": Outcome.FAIL}),
        ),
        StepDef("sweeten", "Add honey", next={Outcome.OK: None}),
    )
    ```
    """
    for (at, outcome), why in graph.shadowed.items():
        step = graph.steps[at]
        yield Problem(
            f"{step.id} -{outcome.value}-> {step.next[outcome] or 'end'} can never be taken: {why}",
            why="it looks like a way through the graph and is none",
            do="delete it, or what leaves it nothing: another route, or the limit",
            step=at,
            outcome=outcome,
            value=outcome.value,
        )


@rule("error", GRAPH, finds="outcome")
def route_never_given(graph: GraphView) -> Iterator[Problem]:
    """A route is for an outcome that the step never gives.

    ## What it does
    Reports a route for an outcome that what decides the step cannot end with: a Dispatch gives OK, or FAIL if that
    has a route; a Gate OK and FAIL; a Person what its choices lead to; a function with declared `outcomes` those.

    ## Why it is bad
    Either the route is left over, or the outcome was forgotten where it should be given, and a branch is never walked.

    ## Example
    ```python
    WORKFLOW = Workflow(
        "survey",
        StepDef(
            "explore",
            "Explore",
            next={Outcome.OK: None, Outcome.ITERATE: "explore"},
            handler=Dispatch(AgentRole.EXPLORE, task="Explore the module."),
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
            next={Outcome.OK: "weigh"},
            handler=Dispatch(AgentRole.EXPLORE, task="Explore the module."),
        ),
        StepDef(
            "weigh",
            "Weigh what was found",
            next={Outcome.OK: None, Outcome.ITERATE: "explore"},
            when={Outcome.OK: "it is enough", Outcome.ITERATE: "something is missing"},
            max_iterations=3,
        ),
    )
    ```
    """
    for (at, outcome), why in graph.never_given.items():
        step = graph.steps[at]
        yield Problem(
            f"{step.id} -{outcome.value}-> {step.next[outcome] or 'end'} is never taken: {why}",
            why="this branch of the graph is never walked",
            do=f"delete the route, or let {step.id} be decided by something that gives {outcome.value}",
            step=at,
            outcome=outcome,
            value=outcome.value,
        )


@rule("error", GRAPH, stops=True)
def unrouted_outcome(graph: GraphView) -> Iterator[Problem]:
    """An outcome that a step gives has no route.

    ## What it does
    Reports an outcome that is declared in `outcomes`, or that a Dispatch or Gate gives in any case, and that has
    neither a route nor a DEFAULT to cover it.

    ## Why it is bad
    A run that ends the step with it stops there: the skill is broken at that point.

    ## Example
    ```python
    def weigh(ctx):
        return Outcome.SKIP if ctx.iteration > 1 else Outcome.OK


    WORKFLOW = Workflow(
        "tea",
        StepDef("weigh", "Weigh the leaves", next={Outcome.OK: None}, handler=weigh, outcomes=("ok", "skip")),
    )
    ```

    ## Use instead
    ```python
    def weigh(ctx):
        return Outcome.SKIP if ctx.iteration > 1 else Outcome.OK


    WORKFLOW = Workflow(
        "tea",
        StepDef(
            "weigh", "Weigh the leaves", next={Outcome.OK: None, Outcome.SKIP: None}, handler=weigh, outcomes=("ok", "skip")
        ),
    )
    ```
    """
    for at, step in enumerate(graph.steps):
        if step.handler is None and not step.outcomes:
            continue
        for outcome in outcomes.certain(step) if step.next else ():
            turned = outcome is Outcome.ITERATE and step.max_iterations == 1 and outcomes.is_limited(step)
            if outcome is Outcome.DEFAULT or turned or step.route(outcome) is not None:
                continue
            if outcome in outcomes.misspelt(step):
                continue  # the rule misspelt-outcome reports it
            listed = outcomes.listed(tuple(step.next))
            yield Problem(
                f"{step.id} can end with {outcome.value}, which has no route; it has {listed}{_near(outcome, step)}",
                why="a run that ends the step so stops there with an error",
                do=f"add {outcome!r}: ... to its next, or a DEFAULT route",
                step=at,
                outcome=outcome,
            )


@rule("error", GRAPH, stops=True)
def unrouted_answer(graph: GraphView) -> Iterator[Problem]:
    """An answer that a person may give has no route.

    ## What it does
    Reports a choice of a Person whose outcome has neither a route nor a DEFAULT to cover it.

    ## Why it is bad
    The person answers, and the run stops with an error instead of going on.

    ## Example
    ```python
    WORKFLOW = Workflow(
        "tea",
        StepDef(
            "taste",
            "Taste it",
            next={Outcome.OK: None},
            handler=Person("Is it good?", {"yes": Outcome.OK, "no": Outcome.FAIL}),
        ),
    )
    ```

    ## Use instead
    ```python
    WORKFLOW = Workflow(
        "tea",
        StepDef(
            "taste",
            "Taste it",
            next={Outcome.OK: None, Outcome.FAIL: "sweeten"},
            handler=Person("Is it good?", {"yes": Outcome.OK, "no": Outcome.FAIL}),
        ),
        StepDef("sweeten", "Add honey", next={Outcome.OK: None}),
    )
    ```
    """
    for at, step, person in graph.handled_by(Person):
        if not step.next:
            continue
        answers: dict[Outcome, list[str]] = {}
        for choice, outcome in person.choices.items():
            answers.setdefault(outcome, []).append(choice)
        for outcome, choices in (answers or {Outcome.OK: []}).items():
            if step.route(outcome) is None and outcome not in outcomes.misspelt(step):
                said = f"the answer {' or '.join(map(repr, choices))}" if choices else "any answer"
                yield Problem(
                    f"{said} ends {step.id} with {outcome.value}, which has no route{_near(outcome, step)}",
                    why="the person answers, and the run stops with an error",
                    do=f"add {outcome!r}: ... to its next, or map the answer to an outcome that is routed",
                    step=at,
                    outcome=outcome,
                )


@rule("error", GRAPH, finds="outcome")
def when_without_route(graph: GraphView) -> Iterator[Problem]:
    """A step says when an outcome is right that has no route.

    ## What it does
    Reports an entry of `when` for an outcome that stands in `next` nowhere. What DEFAULT covers is described under DEFAULT.

    ## Why it is bad
    The text is printed beside the routes: without the route it is not printed at all, and a branch that was meant is
    missing.

    ## Example
    ```python
    WORKFLOW = Workflow(
        "tea",
        StepDef("boil", "Boil water", next={Outcome.OK: "steep"}),
        StepDef(
            "steep",
            "Let it steep",
            next={Outcome.OK: None},
            when={Outcome.OK: "it is strong enough", Outcome.FAIL: "the water was cold"},
        ),
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
            next={Outcome.OK: None, Outcome.SKIP: "cool"},
            when={Outcome.OK: "it is strong enough", Outcome.SKIP: "the water was cold"},
        ),
        StepDef("cool", "Pour it away", next={Outcome.OK: None}),
    )
    ```
    """
    # The rule dead-end reports a step without any route.
    for at, step in enumerate(graph.steps):
        for outcome in step.when if step.next else ():
            if outcome in step.next or outcome in outcomes.misspelt(step):
                continue
            do = f"add {outcome!r}: ... to its next, or delete the text"
            if Outcome.DEFAULT in step.next:
                do = f"put the text under Outcome.DEFAULT, or add {outcome!r}: ... to its next"
            yield Problem(
                f"{step.id} says when {outcome.value} is right, and has no route for it{_near(outcome, step)}",
                why="the text stands beside a route where it is printed: without one it is lost",
                do=do,
                step=at,
                outcome=outcome,
                value=outcome.value,
            )


@rule("warning", GRAPH, finds="outcomes")
def route_without_when(graph: GraphView) -> Iterator[Problem]:
    """The agent chooses among routes, and nothing says when one is right.

    ## What it does
    Reports a step without a handler that has several routes, one of which has no `when`.

    ## Why it is bad
    The agent reports how such a step ended. If it sees only the names of the outcomes, it has to guess what they mean.

    ## Example
    ```python
    WORKFLOW = Workflow(
        "tea",
        StepDef("taste", "Taste it", next={Outcome.OK: None, Outcome.SKIP: "sweeten"}),
        StepDef("sweeten", "Add honey", next={Outcome.OK: None}),
    )
    ```

    ## Use instead
    ```python
    WORKFLOW = Workflow(
        "tea",
        StepDef(
            "taste",
            "Taste it",
            next={Outcome.OK: None, Outcome.SKIP: "sweeten"},
            when={Outcome.OK: "it is good as it is", Outcome.SKIP: "it is bitter"},
        ),
        StepDef("sweeten", "Add honey", next={Outcome.OK: None}),
    )
    ```
    """
    for at, step in enumerate(graph.steps):
        if not reports_outcome(step):
            continue
        once = outcomes.named_once(step)  # the rule word-named-once reports these
        unsaid = [word for word in step.next if not step.when.get(word, "").strip() and word not in once]
        if unsaid:
            yield Problem(
                f"the agent says how {step.id} ended, and when has no words for {outcomes.listed(tuple(unsaid))}",
                why="it has to guess by the name alone what is meant",
                do=f'say it: when={{{unsaid[0]!r}: "…"}}',
                step=at,
                value=",".join(unsaid),
            )


def _near(outcome: Outcome, step: StepDef) -> str:
    """The question after the routed word that was probably meant by a word of the workflow's own."""
    return did_you_mean(nearest(outcome, step.next)) if outcome.is_own else ""
