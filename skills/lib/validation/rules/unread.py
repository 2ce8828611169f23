"""Values and parameters that nothing reads."""

from __future__ import annotations

from collections.abc import Iterator

from skills.lib.model.requirements import Field
from skills.lib.validation.rule import SOURCE, Problem, rule
from skills.lib.validation.topology import END
from skills.lib.validation.view import GraphView


@rule("warning", SOURCE, finds="name")
def unread_value(graph: GraphView) -> Iterator[Problem]:
    """What a step records is never read.

    ## What it does
    Reports a Field, and a key that a handler returns, that no `needs`, no placeholder, no dispatch and no handler reads.
    Steps that can be the last are excepted, for what they record is the result; so are review items. If a handler uses
    its context in a way that cannot be followed, the rule is silent for the whole workflow.

    ## Why it is bad
    The agent is asked for something that nobody uses: the reader was forgotten, or the question can go.

    ## Example
    ```python
    WORKFLOW = Workflow(
        "inquiry",
        StepDef("ask", "Ask", next={Outcome.OK: "report"}, requires=[Field("question")]),
        StepDef("report", "Report", next={Outcome.OK: None}),
    )
    ```

    ## Use instead
    ```python
    WORKFLOW = Workflow(
        "inquiry",
        StepDef("ask", "Ask", next={Outcome.OK: "report"}, requires=[Field("question")]),
        StepDef("report", "Report", next={Outcome.OK: None}, needs=["ask.question"]),
    )
    ```
    """
    read = graph.names_read()
    if read is None:
        return
    keys, _ = read
    for at, step in graph.distinct:
        if any(target == END for _, target in graph.routes[at]):
            continue
        judged = {spec.name for spec in step.requires if isinstance(spec, Field) and spec.type == "items"}
        recorded = [name for name in step.records if name not in judged]
        source = graph.handlers.by_step.get(at)
        returned = sorted((source.writes if source else None) or ())
        for name in dict.fromkeys([*recorded, *returned]):
            if f"{step.id}.{name}" in keys:
                continue
            how = "records" if name in recorded else "returns from its handler"
            yield Problem(
                f"{step.id} {how} {name}, which nothing reads",
                why="the agent is asked for something, or the run keeps something, that nobody uses",
                do=f'show it where it matters with needs=["{step.id}.{name}"], or leave it out',
                step=at,
                value=name,
            )


@rule("warning", SOURCE, finds="name")
def unread_parameter(graph: GraphView) -> Iterator[Problem]:
    """A parameter is never read.

    ## What it does
    Reports an `Arg` that no `needs`, no placeholder, no `closing` and no handler reads. What is reported on leaving a step
    that can be the last is excepted, for it is the result. If a handler uses its context in a way that cannot be
    followed, the rule is silent for the whole workflow. A parameter of the run is reported at the first step.

    ## Why it is bad
    Whoever opens a run is asked for something that changes nothing: the reader was forgotten, or the parameter can go.

    ## Example
    ```python
    WORKFLOW = Workflow(
        "inquiry",
        StepDef("report", "Report", "Answer the question.", {Outcome.OK: None}),
        params=[Arg("question")],
    )
    ```

    ## Use instead
    ```python
    WORKFLOW = Workflow(
        "inquiry",
        StepDef("report", "Report", "Answer the question.", {Outcome.OK: None}, needs=["question"]),
        params=[Arg("question")],
    )
    ```
    """
    read = graph.names_read()
    if read is None or graph.start == END:
        return
    keys, names = read
    for arg in graph.workflow.params:
        at = graph.start if arg.step is None else graph.index.get(arg.step)
        if at is None or arg.waives or arg.name in names or f"{arg.step}.{arg.name}" in keys:
            continue
        if arg.step is not None and any(target == END for _, target in graph.routes[at]):
            continue
        asked = "that opens a run" if arg.step is None else f"that leaves {arg.step}"
        yield Problem(
            f"{arg.flag} is asked for by the command {asked}, and nothing reads it",
            why="something is asked for that changes nothing",
            do=f'show it where it matters with needs=["{arg.name if arg.step is None else f"{arg.step}.{arg.name}"}"], '
            "or leave it out",
            step=at,
            value=arg.name,
            line=graph.lines.of_parameter(arg.name),
        )
