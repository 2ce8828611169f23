"""What a step says: a title, something to do, no more than a block can hold, and no gate that only looks like one."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from skills.lib.model.requirements import Arg
from skills.lib.model.steps import StepDef
from skills.lib.model.types import Dispatch, Gate, Person, Rendered
from skills.lib.validation.rule import GRAPH, Problem, rule
from skills.lib.validation.view import GraphView

_GATE = re.compile(r"<gate[\s>/]|<step\s[^>]*\sgate=")
LIMIT = 10_000
# What stands around the content, measured on printed blocks: the frame with its command, a thing to record, a route.
FRAME, RECORD, ROUTE, CHILD = 1_400, 180, 110, 260


@rule("error", GRAPH, stops=True)
def bare_gate(graph: GraphView) -> Iterator[Problem]:
    """The actions of a step hold a gate built by a bare formatter.

    ## What it does
    Reports the output of `format_gate_step`, or another gate in XML, among `actions` or `repeat`.

    ## Why it is bad
    A bare formatter prints its arguments alone: no run, no turn, no verdict from the ledger. An agent that follows it
    passes a gate that nobody guards.

    ## Example
    ```python
    WORKFLOW = Workflow(
        "change",
        StepDef("work", "Make the change", [Rendered('<gate name="change">go on</gate>')], next={Outcome.OK: None}),
    )
    ```

    ## Use instead
    ```python
    WORKFLOW = Workflow(
        "change",
        StepDef("work", "Make the change", next={Outcome.OK: "review"}),
        StepDef(
            "review",
            "Review the change",
            next={Outcome.OK: None, Outcome.FAIL: "work"},
            handler=Dispatch(AgentRole.QUALITY_REVIEWER, task="Review it."),
        ),
    )
    ```
    """
    for at, step in enumerate(graph.steps):
        if any(isinstance(text, Rendered) and _GATE.search(text) for text in (*step.actions, *step.repeat)):
            yield Problem(
                f"the actions of {step.id} hold a gate that a bare formatter printed",
                why="it carries no run and no verdict, so it can be passed by saying so",
                do="make the gate a step: handler=Gate(checkpoint), or build the loop with review_loop()",
                step=at,
            )


@rule("warning", GRAPH)
def missing_title(graph: GraphView) -> Iterator[Problem]:
    """A step has no title.

    ## What it does
    Reports a step whose title is empty.

    ## Why it is bad
    Lists, diagrams and the step's own heading fall back on the id, which says less.

    ## Example
    ```python
    WORKFLOW = Workflow("tea", StepDef("boil", next={Outcome.OK: None}))
    ```

    ## Use instead
    ```python
    WORKFLOW = Workflow("tea", StepDef("boil", "Boil water", next={Outcome.OK: None}))
    ```
    """
    for at, step in enumerate(graph.steps):
        if not step.title or not step.title.strip():
            yield Problem(
                f"{step.id} has no title",
                why="lists, diagrams and the step's heading show its id instead",
                do="say in a few words what the step is for",
                step=at,
            )


@rule("warning", GRAPH)
def repeated_title(graph: GraphView) -> Iterator[Problem]:
    """Two steps have the same title.

    ## What it does
    Reports a step whose title an earlier step has already.

    ## Why it is bad
    In a list, a diagram or a trace the two cannot be told apart.

    ## Example
    ```python
    WORKFLOW = Workflow(
        "tea",
        StepDef("boil", "Make tea", next={Outcome.OK: "steep"}),
        StepDef("steep", "Make tea", next={Outcome.OK: None}),
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
    first: dict[str, str] = {}
    for at, step in enumerate(graph.steps):
        title = step.title.strip()
        other = first.setdefault(title, step.id) if title else step.id
        if other != step.id:
            yield Problem(
                f"{step.id} has the title of {other}: {title}",
                why="in a list, a diagram or a trace the two cannot be told apart",
                do="say in one of them what is different",
                step=at,
            )


@rule("warning", GRAPH, finds="texts")
def empty_actions(graph: GraphView) -> Iterator[Problem]:
    """A step does not say what to do.

    ## What it does
    Reports a step whose `actions` (or `repeat`) are blank, and one that has none if half of the workflow's steps have some.
    Steps at which a Dispatch, a Gate or a Person does the work are excepted.

    ## Why it is bad
    The block has a title and nothing under it, and the agent makes something up.

    ## Example
    ```python
    WORKFLOW = Workflow(
        "tea",
        StepDef("boil", "Boil water", "Boil half a litre.", {Outcome.OK: "steep"}),
        StepDef("steep", "Let it steep", "", {Outcome.OK: None}),
    )
    ```

    ## Use instead
    ```python
    WORKFLOW = Workflow(
        "tea",
        StepDef("boil", "Boil water", "Boil half a litre.", {Outcome.OK: "steep"}),
        StepDef("steep", "Let it steep", "Wait for three minutes.", {Outcome.OK: None}),
    )
    ```
    """
    silent: list[tuple[int, str]] = []
    working = spoken = 0
    for at, step in enumerate(graph.steps):
        if isinstance(step.handler, (Dispatch, Gate, Person)):
            continue
        working += 1
        if _says_something(step.actions):
            spoken += 1
        else:
            silent.append((at, "actions"))
        if step.repeat and not _says_something(step.repeat):
            silent.append((at, "repeat"))
    for at, name in silent:
        if name == "repeat" or graph.steps[at].actions or spoken * 2 >= working:
            yield Problem(
                f"the {name} of {graph.name(at)} say nothing",
                why="the block has a title and nothing under it, and the agent makes something up",
                do="say what is to be done, or take the step out of the graph",
                step=at,
                value=name,
            )


def _says_something(texts: Sequence[str]) -> bool:
    return bool("".join(texts).strip())


@rule("error", GRAPH, finds="texts")
def long_block(graph: GraphView) -> Iterator[Problem]:
    """The block of a step is too long to be printed whole.

    ## What it does
    Reports a step whose block would pass 10,000 characters, estimated from its actions (and from `repeat`, apart), what
    it asks to record, its routes and what is forbidden. Values that it needs are not counted.

    ## Why it is bad
    Agent hosts cut longer output, and what is cut is the end: the command that goes on.

    ## Example
    ```python
    WORKFLOW = Workflow("tea", StepDef("boil", "Boil water", ["All about water. " * 700], next={Outcome.OK: None}))
    ```

    ## Use instead
    ```python
    WORKFLOW = Workflow("tea", StepDef("boil", "Boil water", ["Read resources/water.md."], next={Outcome.OK: None}))
    ```
    """
    params: dict[str | None, list[Arg]] = {}
    for arg in graph.workflow.params:
        params.setdefault(arg.step, []).append(arg)
    everywhere = sum(_length(rule) + 20 for rule in graph.workflow.forbidden)
    for at, step in enumerate(graph.steps):
        around = everywhere + _size_around(step, params.get(step.id, []))
        for name, texts in (("actions", step.actions), ("repeat", step.repeat)):
            size = around + sum(_length(text) + 1 for text in texts)
            if size > LIMIT:
                yield Problem(
                    f"the block of {step.id} with its {name} has about {size:,} characters, more than {LIMIT:,}",
                    why="hosts cut what is longer, and with it the command that goes on",
                    do="move reference text to a file that the step tells the agent to read, or split the step",
                    step=at,
                    value=name,
                )


def _size_around(step: StepDef, params: Sequence[Arg]) -> int:
    """About how many characters of the block are not its actions."""
    size = FRAME + len(step.title)
    size += sum(_length(rule) + 20 for rule in step.forbidden)
    size += sum(RECORD + _length(spec.help) for spec in (*step.requires, *params))
    size += sum(ROUTE + _length(step.when.get(outcome, "")) for outcome in step.next)
    if isinstance(step.handler, Dispatch):
        targets = step.handler.targets
        fixed = targets if isinstance(targets, tuple) else ()
        size += CHILD * max(1, len(step.handler.tasks), len(fixed))
    elif isinstance(step.handler, Person):
        size += _length(step.handler.question)
    return size


def _length(text: str) -> int:
    """The length of the escaped text; a block is not escaped."""
    if isinstance(text, Rendered):
        return len(text)
    return len(text) + 4 * text.count("&") + 3 * (text.count("<") + text.count(">"))
