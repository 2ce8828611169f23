"""Sub-agents and the workflows that they walk."""

from __future__ import annotations

from collections.abc import Iterator

from skills.lib.errors import did_you_mean, nearest
from skills.lib.model import values
from skills.lib.model.requirements import Command, Field
from skills.lib.model.steps import Registered, Workflow
from skills.lib.model.types import Dispatch
from skills.lib.validation import outcomes
from skills.lib.validation.rule import TREE, Problem, rule
from skills.lib.validation.templates import doubt, refusal
from skills.lib.validation.topology import END
from skills.lib.validation.tree import TreeView
from skills.lib.validation.view import GraphView


@rule("error", TREE)
def dispatch_from_sub_agent(tree: TreeView) -> Iterator[Problem]:
    """A sub-agent's workflow starts sub-agents.

    ## What it does
    Reports a step with a Dispatch in a workflow whose script another workflow's Dispatch names.

    ## Why it is bad
    Sub-agents start no sub-agents: hosts forbid it or lose track of them, nobody waits for their results, and their number
    multiplies.

    ## Example
    ```python
    # survey_workflow.py
    WORKFLOW = Workflow(
        "survey",
        StepDef("explore", "Explore", next={Outcome.OK: None}, handler=Dispatch(AgentRole.EXPLORE, script="explore.py")),
    )

    # explore_workflow.py
    WORKFLOW = Workflow(
        "explore",
        StepDef("search", "Search", next={Outcome.OK: None}, handler=Dispatch(AgentRole.EXPLORE, task="Search.")),
    )
    ```

    ## Use instead
    ```python
    # survey_workflow.py
    WORKFLOW = Workflow(
        "survey",
        StepDef("explore", "Explore", next={Outcome.OK: None}, handler=Dispatch(AgentRole.EXPLORE, script="explore.py")),
    )

    # explore_workflow.py
    WORKFLOW = Workflow("explore", StepDef("search", "Search", next={Outcome.OK: None}))
    ```
    """
    for graph, by in _walked(tree):
        for at, step in enumerate(graph.steps):
            if isinstance(step.handler, Dispatch):
                yield Problem(
                    f"{step.id} dispatches sub-agents, and {graph.workflow.name} is itself walked by those of {by}",
                    why="sub-agents start no sub-agents: nobody would wait for their results",
                    do=f"move the dispatch up into {by.partition(':')[0]}, or let this sub-agent do the work itself",
                    step=at,
                    graph=graph,
                )


@rule("error", TREE, stops=True)
def child_parameter(tree: TreeView) -> Iterator[Problem]:
    """A sub-agent is given parameters that its workflow does not take.

    ## What it does
    Compares the `params` of each Dispatch with the workflow that its script runs, and reports a parameter that the workflow
    does not have, one that it requires and is not given, and a value that the parameter can never accept, by its type, its
    choices or its range. Of a value with placeholders it checks what is written out, and what is declared of the values
    that fill it. It also reports `params` without a script: nobody takes them.

    ## Why it is bad
    The sub-agent's run is refused, and the step waits for it until it is given up.

    ## Example
    ```python
    # survey_workflow.py
    WORKFLOW = Workflow(
        "survey",
        StepDef(
            "explore",
            "Explore",
            next={Outcome.OK: None},
            handler=Dispatch(AgentRole.EXPLORE, script="explore.py", params={"arae": "code"}),
        ),
    )

    # explore_workflow.py
    WORKFLOW = Workflow(
        "explore",
        StepDef("search", "Search", next={Outcome.OK: None}, needs=["area"]),
        params=[Arg("area", required=False)],
    )
    ```

    ## Use instead
    ```python
    # survey_workflow.py
    WORKFLOW = Workflow(
        "survey",
        StepDef(
            "explore",
            "Explore",
            next={Outcome.OK: None},
            handler=Dispatch(AgentRole.EXPLORE, script="explore.py", params={"area": "code"}),
        ),
    )

    # explore_workflow.py
    WORKFLOW = Workflow(
        "explore",
        StepDef("search", "Search", next={Outcome.OK: None}, needs=["area"]),
        params=[Arg("area", required=False)],
    )
    ```
    """
    why = "the sub-agent's run is refused, and the step waits for it until it is given up"
    for graph, at, dispatch, child in _dispatches(tree):
        for what, do in _unfit(graph, at, dispatch, child):
            yield Problem(what, why, do, step=at, graph=graph)


def _unfit(graph: GraphView, at: int, dispatch: Dispatch, child: Workflow | None) -> Iterator[tuple[str, str]]:
    """Each parameter that does not fit, in words, and what to do."""
    step_id = graph.name(at)
    if not dispatch.script and dispatch.params:
        names = ", ".join(dispatch.params)
        what = f"{step_id} gives its sub-agents {names}, and names no script that takes parameters"
        yield what, "say it in the task, or name the script"
    if child is None:
        return
    known = {arg.name: arg for arg in child.run_params()}
    late = {arg.name: arg.step for arg in child.params if arg.step is not None}
    for name, template in dispatch.params.items():
        if name not in known:
            near = nearest(name, [other for other in known if other not in dispatch.params] or sorted(known))
            what = f"{step_id} gives its sub-agents {name}, and {child.name} has no such parameter of the run"
            if name in late:
                yield f"{what}: it is reported on leaving {late[name]}", "leave it out"
            else:
                do = f"write {near}" if near else f"leave it out, or declare it in {child.name}: Arg({name!r})"
                yield what + did_you_mean(near), do
            continue
        refused = refusal(graph, at, template, known[name])
        if refused:
            yield (
                f"{step_id} gives its sub-agents {name} as {template!r}, and {child.name} never takes it: {refused}",
                f"give {values.expectation(known[name])}",
            )
    for arg in known.values():
        if arg.required and arg.name not in dispatch.params:
            yield (
                f"{step_id} does not give its sub-agents {arg.name}, which {child.name} requires",
                f'add "{arg.name}": "…" to its params',
            )


@rule("warning", TREE, finds="name")
def uncertain_child_parameter(tree: TreeView) -> Iterator[Problem]:
    """A sub-agent may be given a parameter that it refuses.

    ## What it does
    Compares what a Dispatch gives with what the workflow of its script takes, and reports a required parameter that is
    filled by values which may be missing (an optional Field, an optional parameter of the run), and one that is filled by a
    value which may not fit: a text for a number or for choices, choices or a range that go further than its own.

    ## Why it is bad
    A parameter whose value was not recorded is left out. The sub-agent's run is then refused, as it is
    for a value that does not fit, and the step waits for it until it is given up.

    ## Example
    ```python
    # survey_workflow.py
    WORKFLOW = Workflow(
        "survey",
        StepDef("scope", "Scope", next={Outcome.OK: "explore"}, requires=[Field("area", required=False)]),
        StepDef(
            "explore",
            "Explore",
            next={Outcome.OK: None},
            handler=Dispatch(AgentRole.EXPLORE, script="explore.py", params={"area": "{scope.area}"}),
        ),
    )

    # explore_workflow.py
    WORKFLOW = Workflow(
        "explore", StepDef("search", "Search", next={Outcome.OK: None}, needs=["area"]), params=[Arg("area")]
    )
    ```

    ## Use instead
    ```python
    # survey_workflow.py
    WORKFLOW = Workflow(
        "survey",
        StepDef("scope", "Scope", next={Outcome.OK: "explore"}, requires=[Field("area", required=False)]),
        StepDef(
            "explore",
            "Explore",
            next={Outcome.OK: None},
            handler=Dispatch(AgentRole.EXPLORE, script="explore.py", params={"area": "{scope.area}"}),
        ),
    )

    # explore_workflow.py
    WORKFLOW = Workflow(
        "explore",
        StepDef("search", "Search", next={Outcome.OK: None}, needs=["area"]),
        params=[Arg("area", default="the whole project")],
    )
    ```
    """
    # child-parameter reports a value that is always refused.
    for graph, at, dispatch, child in _dispatches(tree):
        for arg in child.run_params() if child else ():
            template = dispatch.params.get(arg.name, "")
            why = doubt(graph, at, template, arg) if not refusal(graph, at, template, arg) else ""
            if child and why:
                yield Problem(
                    f"{graph.name(at)} gives its sub-agents {arg.name} as {template}, and {child.name} may refuse it: {why}",
                    why="the sub-agent's run is then refused, and the step waits for it until it is given up",
                    do=f"declare both alike, or let {child.name} do without it",
                    step=at,
                    value=arg.name,
                    graph=graph,
                )


def _dispatches(tree: TreeView) -> Iterator[tuple[GraphView, int, Dispatch, Workflow | None]]:
    """Every step with a Dispatch, and the workflow that its sub-agents walk, if the tree has one."""
    for entry in tree.registered:
        graph = GraphView(entry.workflow, entry.file)
        for at, step in graph.distinct:
            if isinstance(step.handler, Dispatch):
                walked = tree.walked_from(entry, step)
                yield graph, at, step.handler, walked[0].workflow if len(walked) == 1 else None


def _walked(tree: TreeView, *, reviewing: bool = False) -> Iterator[tuple[GraphView, str]]:
    """The graphs of the workflows that sub-agents walk, or only reviewers, each with the first step that calls them."""
    walked: dict[str, tuple[Registered, str]] = {}
    for entry in tree.registered:
        for step in entry.workflow.steps:
            for child in tree.walked_from(entry, step) if step.checkpoint or not reviewing else ():
                walked.setdefault(child.workflow.name, (child, f"{entry.workflow.name}:{step.id}"))
    return ((GraphView(child.workflow, child.file), by) for child, by in walked.values())


@rule("error", TREE)
def reviewer_without_items(tree: TreeView) -> Iterator[Problem]:
    """A reviewer's script may end without review items.

    ## What it does
    Reports a workflow whose script a reviewer's Dispatch names, where a path leads to its end without a required Field of
    type `answers` or `Field("items", "items")`, and one whose `items` are of another type or a parameter of leaving a step;
    statements that no `answers` answer; and a Command with a severity that a re-verification passes by.

    ## Why it is bad
    The verdict is read from these items. A reviewer without them has not reviewed: its checkpoint fails, and nobody
    learns what it found. Items of another form count as none. A command that is not run again leaves its item to do, which blocks.

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
    for graph, by in _walked(tree, reviewing=True):
        for at, problem in _missing_items(graph):
            if not reviewer_without_items.waiver(graph.steps[at]):
                yield Problem(
                    f"{graph.workflow.name} reviews for {by}, and {problem}",
                    why="the verdict is read from review items alone: without them it fails, and nobody learns why",
                    do='record Field("answers", "answers") at a step that every path to the end passes',
                    step=at,
                    graph=graph,
                )


def _missing_items(graph: GraphView) -> Iterator[tuple[int, str]]:
    """The step to fix, and what is wrong there."""
    recording = set()
    answered = any(spec.type == "answers" for step in graph.steps for spec in step.requires if isinstance(spec, Field))
    for at, step in graph.distinct:
        fields = [spec for spec in step.requires if isinstance(spec, Field)]
        item = next((field for field in fields if field.name == "items"), None)
        if not answered and any(field.type == "statements" for field in fields):
            yield at, f"no step records answers to the statements of {step.id}"
        if any(isinstance(spec, Command) and spec.severity for spec in step.requires) and _is_passed_by(graph, at):
            yield at, f"a re-verification passes {step.id} by, whose command judges"
        if any(field.type == "answers" and field.required for field in fields):
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
        way = graph.search(start, lambda node: node == END, avoid=recording)
        if way:
            walk = graph.printed(way)
            yield way[-1][0], f"a path leads to its end without a required Field of type answers, or items: {walk}"
            return


@rule("error", TREE)
def end_without_meaning(tree: TreeView) -> Iterator[Problem]:
    """A sub-agent's workflow ends by a word that says neither pass nor fail.

    ## What it does
    Reports a workflow whose script a Dispatch names, and whose end is reached by a word of its own that its `ends` does
    not name.

    ## Why it is bad
    The workflow that started the sub-agent knows the five standard words alone: it takes any other for a failure.

    ## Example
    ```python
    # survey_workflow.py
    WORKFLOW = Workflow(
        "survey",
        StepDef("explore", "Explore", next={Outcome.OK: None}, handler=Dispatch(AgentRole.EXPLORE, script="explore.py")),
    )

    # explore_workflow.py
    WORKFLOW = Workflow(
        "explore",
        StepDef(
            "search",
            "Search",
            next={"ok": None, "nothing-there": None},
            when={"ok": "it was found", "nothing-there": "there is no such code"},
        ),
    )
    ```

    ## Use instead
    ```python
    # survey_workflow.py
    WORKFLOW = Workflow(
        "survey",
        StepDef("explore", "Explore", next={Outcome.OK: None}, handler=Dispatch(AgentRole.EXPLORE, script="explore.py")),
    )

    # explore_workflow.py
    WORKFLOW = Workflow(
        "explore",
        StepDef(
            "search",
            "Search",
            next={"ok": None, "nothing-there": None},
            when={"ok": "it was found", "nothing-there": "there is no such code"},
        ),
        ends={"nothing-there": "pass"},
    )
    ```
    """
    for graph, by in _walked(tree):
        for at, step in graph.distinct:
            for word in outcomes.ending_words([step]):
                if word not in graph.workflow.ends:
                    yield Problem(
                        f"{step.id} ends the run by {word.value}, and {graph.workflow.name} is walked by sub-agents of {by}",
                        why=f"{by.partition(':')[0]} cannot tell if that is a pass, and takes it for a failure",
                        do=f'say it: ends={{"{word.value}": "pass"}}, or "fail"',
                        step=at,
                        outcome=word,
                        graph=graph,
                    )


def _is_passed_by(graph: GraphView, at: int) -> bool:
    """True if a re-verification can reach its end without the step."""
    again = graph.starts[-1]
    return again != at and bool(graph.search(again, lambda node: node == END, avoid={at}))
