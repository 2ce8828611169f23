"""The sources of handlers: the outcomes they return, the values they read, the targets they compute."""

from __future__ import annotations

from collections.abc import Iterator

from skills.lib.errors import did_you_mean, nearest
from skills.lib.model.types import Outcome
from skills.lib.validation import outcomes
from skills.lib.validation.rule import SOURCE, Problem, rule
from skills.lib.validation.view import GraphView


@rule("error", SOURCE, finds="outcome", stops=True)
def handler_unrouted_outcome(graph: GraphView) -> Iterator[Problem]:
    """A handler returns an outcome that its step does not have.

    ## What it does
    Reads the source and the return annotation of a handler, and reports an outcome written there that the step neither
    declares nor routes. If an outcome is computed, the rule is silent; at run time it is checked in any case.

    ## Why it is bad
    The first run that comes to this return stops there: the handler is at fault and nothing can go on.

    ## Example
    ```python
    def weigh(ctx):
        if ctx.iteration > 1:
            return Outcome.SKIP
        return Outcome.OK


    WORKFLOW = Workflow("tea", StepDef("weigh", "Weigh the leaves", next={Outcome.OK: None}, handler=weigh))
    ```

    ## Use instead
    ```python
    def weigh(ctx):
        if ctx.iteration > 1:
            return Outcome.SKIP
        return Outcome.OK


    WORKFLOW = Workflow(
        "tea", StepDef("weigh", "Weigh the leaves", next={Outcome.OK: None, Outcome.SKIP: None}, handler=weigh)
    )
    ```
    """
    for at, source in graph.handlers.by_step.items():
        step = graph.steps[at]
        if not step.next:
            continue
        valid = set(step.outcomes or step.next)
        found = {*source.returns, *(source.annotated or ())}
        for outcome in (*Outcome, *sorted(word for word in found if word.is_own)):
            given = outcome in found and (outcome.is_own or Outcome.DEFAULT not in step.next)
            turned = outcome is Outcome.ITERATE and step.max_iterations == 1 and not step.outcomes
            if not given or outcome in valid or turned:
                continue
            listed = outcomes.listed(frozenset(valid))
            yield Problem(
                f"the handler of {step.id} can return {outcome.value}; the step has {listed}",
                why="the first run that comes to this return stops there with an error",
                do=f"add {outcome!r}: ... to its next, or return another outcome",
                step=at,
                outcome=outcome,
                value=outcome.value,
                file=source.file,
                line=source.returns.get(outcome, source.line),
            )


@rule("error", SOURCE, finds="value", stops=True)
def handler_no_outcome(graph: GraphView) -> Iterator[Problem]:
    """A handler returns what is no outcome.

    ## What it does
    Reads the source of a handler, and reports a return of a misspelt outcome, of a text or another constant, and a
    handler that returns nothing. If what is returned is computed, the rule is silent; at run time it is checked in any
    case.

    ## Why it is bad
    The first run that comes to this return stops there: the handler is at fault and nothing can go on.

    ## Example
    ```python
    def weigh(ctx):
        return "ok"


    WORKFLOW = Workflow("tea", StepDef("weigh", "Weigh the leaves", next={Outcome.OK: None}, handler=weigh))
    ```

    ## Use instead
    ```python
    def weigh(ctx):
        return Outcome.OK


    WORKFLOW = Workflow("tea", StepDef("weigh", "Weigh the leaves", next={Outcome.OK: None}, handler=weigh))
    ```
    """
    for at, source in graph.handlers.by_step.items():
        for text, line in source.odd:
            near = nearest(text.rpartition(".")[2].strip("'\"").upper(), [word.name for word in Outcome])
            yield Problem(
                f"the handler of {graph.steps[at].id} returns {text}{did_you_mean(near and f'Outcome.{near}')}",
                why="the first run that comes to this return stops there with an error",
                do="return an Outcome, or a pair of an Outcome and a dict",
                step=at,
                value=text,
                file=source.file,
                line=line,
            )


@rule("error", SOURCE, finds="outcome")
def handler_never_gives(graph: GraphView) -> Iterator[Problem]:
    """A route is for an outcome that the handler never returns.

    ## What it does
    Reports a route for an outcome that the source of the step's handler never returns, where every return is written
    out; and a DEFAULT route that nothing is left for.

    ## Why it is bad
    Either the route is left over, or a return was forgotten, and a branch of the graph is never walked.

    ## Example
    ```python
    def plan(ctx):
        return Outcome.OK if ctx.workflow_params["mode"] == "full" else Outcome.SKIP


    WORKFLOW = Workflow(
        "inquiry",
        StepDef(
            "plan",
            "Plan",
            next={Outcome.OK: "design", Outcome.SKIP: None, Outcome.ITERATE: "plan"},
            handler=plan,
            max_iterations=3,
        ),
        StepDef("design", "Design", next={Outcome.OK: None}),
        params=[Arg("mode", choices=("quick", "full"))],
    )
    ```

    ## Use instead
    ```python
    def plan(ctx):
        return Outcome.OK if ctx.workflow_params["mode"] == "full" else Outcome.SKIP


    WORKFLOW = Workflow(
        "inquiry",
        StepDef("plan", "Plan", next={Outcome.OK: "design", Outcome.SKIP: None}, handler=plan),
        StepDef("design", "Design", next={Outcome.OK: None}),
        params=[Arg("mode", choices=("quick", "full"))],
    )
    ```
    """
    for at, source in graph.handlers.by_step.items():
        step = graph.steps[at]
        returned = source.annotated if source.annotated is not None else source.outcomes
        if step.outcomes or returned is None:
            continue
        can = outcomes.with_skip(step, outcomes.with_limit(step, returned))
        for outcome, target in step.next.items():
            if outcome is Outcome.DEFAULT:
                if len(step.next) == 1 or can - set(step.next):
                    continue
            elif outcome in can:
                continue
            yield Problem(
                f"{step.id} -{outcome.value}-> {target or 'end'} is never taken: its handler returns"
                f" {outcomes.listed(returned)}",
                why="this branch of the graph is never walked",
                do="delete the route, or return the outcome where it is meant",
                step=at,
                outcome=outcome,
                value=outcome.value,
            )


@rule("error", SOURCE, finds="key", stops=True)
def handler_read_before_write(graph: GraphView) -> Iterator[Problem]:
    """A handler reads what no path has written.

    ## What it does
    Reads the sources of handlers, and reports `ctx.workflow_params["x"]`, `ctx.step_state["x"]` and
    `ctx.run_state["step"]["x"]` if nothing writes that value before; and a read that a step declares of a value that
    the handler it names never writes. Reads by `get` allow for a missing value and are not reported.

    ## Why it is bad
    The handler raises KeyError when the step is left, and the run cannot go on.

    ## Example
    ```python
    def settle(ctx):
        return Outcome.OK if ctx.workflow_params["confidence"] == "high" else Outcome.SKIP


    WORKFLOW = Workflow(
        "inquiry",
        StepDef("settle", "Settle it", next={Outcome.OK: None, Outcome.SKIP: None}, handler=settle),
    )
    ```

    ## Use instead
    ```python
    def settle(ctx):
        return Outcome.OK if ctx.workflow_params["confidence"] == "high" else Outcome.SKIP


    WORKFLOW = Workflow(
        "inquiry",
        StepDef("settle", "Settle it", next={Outcome.OK: None, Outcome.SKIP: None}, handler=settle),
        params=[Arg("confidence", choices=("low", "high"), step="settle")],
    )
    ```
    """
    if not graph.handlers.by_step:
        return
    unwritten = {found.read for found in graph.flow.unwritten(graph.flow.reads)}
    declared = [read for read in graph.flow.reads if read not in unwritten]
    for found in graph.source_flow.unwritten([*declared, *graph.strict_reads()]):
        read = found.read
        yield Problem(
            f"{graph.name(read.step)} reads {read.key} ({read.source}): {found.why}{did_you_mean(found.near)}",
            why="the handler raises KeyError, or the step is printed without the value",
            do=f"read {found.near}" if found.near else "declare the value where it is reported, or read it with get()",
            step=read.step,
            value=read.key,
            file=read.file,
            line=read.line,
        )


@rule("warning", SOURCE, finds="key")
def handler_read_on_some_paths(graph: GraphView) -> Iterator[Problem]:
    """A handler reads what not every path has written.

    ## What it does
    Reads the sources of handlers, and reports `ctx.run_state["step"]["x"]` if a path reaches the handler's step
    without passing that step. Reads by `get` allow for a missing value and are not reported.

    ## Why it is bad
    On that path the handler raises KeyError, and the run cannot go on.

    ## Example
    ```python
    def report(ctx):
        return Outcome.OK if ctx.run_state["design"]["shape"] else Outcome.SKIP


    WORKFLOW = Workflow(
        "inquiry",
        StepDef(
            "plan",
            "Plan",
            next={Outcome.OK: "design", Outcome.SKIP: "report"},
            when={Outcome.OK: "there is something to design", Outcome.SKIP: "there is not"},
        ),
        StepDef("design", "Design", next={Outcome.OK: "report"}, requires=[Field("shape")]),
        StepDef("report", "Report", next={Outcome.OK: None, Outcome.SKIP: None}, handler=report),
    )
    ```

    ## Use instead
    ```python
    def report(ctx):
        return Outcome.OK if ctx.run_state.get("design", {}).get("shape") else Outcome.SKIP


    WORKFLOW = Workflow(
        "inquiry",
        StepDef(
            "plan",
            "Plan",
            next={Outcome.OK: "design", Outcome.SKIP: "report"},
            when={Outcome.OK: "there is something to design", Outcome.SKIP: "there is not"},
        ),
        StepDef("design", "Design", next={Outcome.OK: "report"}, requires=[Field("shape")]),
        StepDef("report", "Report", next={Outcome.OK: None, Outcome.SKIP: None}, handler=report),
    )
    ```
    """
    for read, writer in graph.source_flow.missed(graph.strict_reads()):
        way = graph.example(graph.start, read.step, avoid=(writer,))
        yield Problem(
            f"the handler of {graph.name(read.step)} reads {read.source}, and a path comes there without it{way}",
            why="on that path the handler raises KeyError",
            do=f"read it with get(), or lead every path through {graph.name(writer)}",
            step=read.step,
            value=read.key,
            file=read.file,
            line=read.line,
        )


@rule("warning", SOURCE)
def targets_without_skip(graph: GraphView) -> Iterator[Problem]:
    """A dispatch may come to have no target, and the step cannot be skipped.

    ## What it does
    Reads the function that computes the targets of a Dispatch, and reports one that may return none if the step has no
    SKIP route: a return of an empty list, or of a list that an `if` filters.

    ## Why it is bad
    A step with nothing to dispatch cannot be entered. The command that leads there is refused, and the run comes no further
    unless the step before can be reported otherwise. A DEFAULT route does not help.

    ## Example
    ```python
    def unread(ctx):
        return [part for part in ctx.run_state["scope"]["parts"] if part not in ctx.step_state.get("read", ())]


    WORKFLOW = Workflow(
        "survey",
        StepDef("scope", "Scope", next={Outcome.OK: "explore"}, requires=[Field("parts", "list")]),
        StepDef(
            "explore",
            "Explore",
            next={Outcome.OK: "report"},
            handler=Dispatch(AgentRole.EXPLORE, task="Explore {target}.", targets=unread),
        ),
        StepDef("report", "Report", next={Outcome.OK: None}, needs=["explore.results"]),
    )
    ```

    ## Use instead
    ```python
    def unread(ctx):
        return [part for part in ctx.run_state["scope"]["parts"] if part not in ctx.step_state.get("read", ())]


    WORKFLOW = Workflow(
        "survey",
        StepDef("scope", "Scope", next={Outcome.OK: "explore"}, requires=[Field("parts", "list")]),
        StepDef(
            "explore",
            "Explore",
            next={Outcome.OK: "report", Outcome.SKIP: "report"},
            handler=Dispatch(AgentRole.EXPLORE, task="Explore {target}.", targets=unread),
        ),
        StepDef("report", "Report", next={Outcome.OK: None}, needs=["explore.results"]),
    )
    ```
    """
    for at, source in graph.handlers.on_entry.items():
        step = graph.steps[at]
        if source.empty and Outcome.SKIP not in step.next:
            yield Problem(
                f"the targets of {step.id} may be none, and the step has no route for skip",
                why="a step with nothing to dispatch cannot be entered: the run stays at the one before",
                do="add Outcome.SKIP: ... to its next, or return a target in any case",
                step=at,
                file=source.file,
                line=source.empty,
            )
