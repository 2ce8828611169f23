"""The ids of steps: each once, in a form that the step command can name."""

from __future__ import annotations

import re
from collections.abc import Iterator

from skills.lib.validation.rule import GRAPH, Problem, rule
from skills.lib.validation.view import GraphView

_ID = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}")
RESERVED = frozenset(("next", "done", "current", "end", "none", "null"))


@rule("error", GRAPH, stops=True)
def duplicate_id(graph: GraphView) -> Iterator[Problem]:
    """Two steps have the same id.

    ## What it does
    Reports every step whose id an earlier step has already.

    ## Why it is bad
    A route names a step by its id: no run can reach the second step of that id, and its routes are ignored.

    ## Example
    ```python
    WORKFLOW = Workflow(
        "tea",
        StepDef("steep", "Let it steep", next={Outcome.OK: None}),
        StepDef("steep", "Let it steep again", next={Outcome.OK: None}),
    )
    ```

    ## Use instead
    ```python
    WORKFLOW = Workflow(
        "tea",
        StepDef("steep", "Let it steep", next={Outcome.OK: "steep-again"}),
        StepDef("steep-again", "Let it steep again", next={Outcome.OK: None}),
    )
    ```
    """
    if len(graph.index) == len(graph.steps):
        return
    for at, step in enumerate(graph.steps):
        first = graph.index[step.id]
        if first != at:
            yield Problem(
                f"step {at + 1} has the id {step.id}, which step {first + 1} has already",
                why="a route names a step by its id, so the second can never be come to",
                do="give it an id of its own, and name it in the routes that are meant for it",
                step=at,
            )


@rule("error", GRAPH, stops=True)
def malformed_id(graph: GraphView) -> Iterator[Problem]:
    """The id of a step cannot be used as one.

    ## What it does
    Reports an id that is not a letter followed by letters, digits, `-` and `_`, at most 64 characters in all. Ids of
    digits alone have a rule of their own.

    ## Why it is bad
    An id stands in printed commands, in `needs` as `step.field` and in diagrams; a space or a dot breaks one of them.

    ## Example
    ```python
    WORKFLOW = Workflow("tea", StepDef("boil water", "Boil water", next={Outcome.OK: None}))
    ```

    ## Use instead
    ```python
    WORKFLOW = Workflow("tea", StepDef("boil-water", "Boil water", next={Outcome.OK: None}))
    ```
    """
    for at, step in enumerate(graph.steps):
        if isinstance(step.id, str) and (_ID.fullmatch(step.id) or (step.id.isdecimal() and step.id)):
            continue
        yield Problem(
            f"{step.id!r} is not an id for a step",
            why="it stands in printed commands, in needs as step.field and in diagrams",
            do="use a letter, then letters, digits, - and _, at most 64 characters",
            step=at,
        )


@rule("error", GRAPH, stops=True)
def numeric_id(graph: GraphView) -> Iterator[Problem]:
    """The id of a step is a number.

    ## What it does
    Reports an id of digits alone.

    ## Why it is bad
    `--step 3` means the third step of the workflow: an id of digits could mean another one.

    ## Example
    ```python
    WORKFLOW = Workflow(
        "tea",
        StepDef("2", "Boil water", next={Outcome.OK: "steep"}),
        StepDef("steep", "Let it steep", next={Outcome.OK: None}),
    )
    ```

    ## Use instead
    ```python
    WORKFLOW = Workflow(
        "tea",
        StepDef("boil", "Boil water", next={Outcome.OK: "steep"}),
        StepDef("steep", "Let it steep", next={Outcome.OK: None}),
    )
    ```
    """
    for at, step in enumerate(graph.steps):
        if isinstance(step.id, str) and step.id.isdecimal():
            yield Problem(
                f"the id {step.id} is a number",
                why=f"--step {step.id} means the step at position {step.id}, whatever its id is",
                do=f"name it after what it does, or write step{step.id}",
                step=at,
            )


@rule("error", GRAPH, stops=True)
def reserved_id(graph: GraphView) -> Iterator[Problem]:
    """The id of a step is a word of the step command.

    ## What it does
    Reports `next`, `done`, `current`, `end`, `none` and `null` as ids, in any case.

    ## Why it is bad
    `--step next` and `--step done` say how to go on, and documents name the end by a word: no
    command can name a step of that id.

    ## Example
    ```python
    WORKFLOW = Workflow("tea", StepDef("done", "Drink it", next={Outcome.OK: None}))
    ```

    ## Use instead
    ```python
    WORKFLOW = Workflow("tea", StepDef("drink", "Drink it", next={Outcome.OK: None}))
    ```
    """
    for at, step in enumerate(graph.steps):
        if isinstance(step.id, str) and step.id.lower() in RESERVED:
            yield Problem(
                f"the id {step.id} is reserved",
                why=f"--step {step.id.lower()} and the word in documents mean something else than this step",
                do=f"choose another id; reserved are {', '.join(sorted(RESERVED))}",
                step=at,
            )


@rule("error", GRAPH, stops=True)
def colliding_id(graph: GraphView) -> Iterator[Problem]:
    """Two ids differ only in upper and lower case.

    ## What it does
    Reports a step whose id is that of an earlier step but for its case.

    ## Why it is bad
    Agents retype ids, and some files and diagrams do not tell case apart: one step is taken for the other.

    ## Example
    ```python
    WORKFLOW = Workflow(
        "tea",
        StepDef("steep", "Let it steep", next={Outcome.OK: "Steep"}),
        StepDef("Steep", "Let it steep again", next={Outcome.OK: None}),
    )
    ```

    ## Use instead
    ```python
    WORKFLOW = Workflow(
        "tea",
        StepDef("steep", "Let it steep", next={Outcome.OK: "steep-again"}),
        StepDef("steep-again", "Let it steep again", next={Outcome.OK: None}),
    )
    ```
    """
    folded: dict[str, str] = {}
    for step_id, at in graph.index.items():
        first = folded.setdefault(str(step_id).lower(), str(step_id))
        if first != step_id and isinstance(step_id, str):
            yield Problem(
                f"the ids {step_id} and {first} differ only in upper and lower case",
                why="whoever retypes one, or a file system that ignores case, takes one step for the other",
                do="give one of them another name",
                step=at,
            )
