"""What a verdict is about: the files that the reviewers saw, unchanged until the gate."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from skills.lib.errors import did_you_mean
from skills.lib.model.types import AgentRole, Dispatch, Gate, Person
from skills.lib.validation.rule import GRAPH, Problem, rule
from skills.lib.validation.state_flow import placeholders
from skills.lib.validation.templates import may_be_missing, source_of
from skills.lib.validation.topology import reached
from skills.lib.validation.view import GraphView


@rule("error", GRAPH)
def fallen_verdict(graph: GraphView) -> Iterator[Problem]:
    """A verdict that falls with its files leads nowhere.

    ## What it does
    Reports a review that says which files it covers, where its Gate names no `stale` step, or one from which the review is
    not reached again or a path leads to the end past it; a `stale` without `covers`; and `covers` or `checks` of
    sub-agents that review nothing.

    ## Why it is bad
    A verdict holds for the files as the reviewers saw them. If one is changed later, the run goes back to `stale`; without
    that, or without a review behind it, only a person can let the run end.

    ## Example
    ```python
    WORKFLOW = Workflow(
        "change",
        StepDef("work", "Make the change", next={Outcome.OK: "review"}),
        StepDef(
            "review",
            "Review the change",
            next={Outcome.OK: "gate"},
            handler=Dispatch(AgentRole.QUALITY_REVIEWER, task="Review it.", checkpoint="change", covers=["src/**"]),
        ),
        StepDef("gate", "Gate", next={Outcome.OK: None, Outcome.FAIL: "work"}, handler=Gate("change")),
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
            next={Outcome.OK: "gate"},
            handler=Dispatch(AgentRole.QUALITY_REVIEWER, task="Review it.", checkpoint="change", covers=["src/**"]),
        ),
        StepDef("gate", "Gate", next={Outcome.OK: None, Outcome.FAIL: "work"}, handler=Gate("change", stale="review")),
    )
    ```
    """
    covering = graph.covering
    for at, step in graph.distinct:
        problem = _dispatch_problem(step.handler) if isinstance(step.handler, Dispatch) and not step.checkpoint else ""
        if isinstance(step.handler, Gate):
            problem = _gate_problem(graph, step.handler, covering.get(step.handler.checkpoint, set()))
        if problem:
            yield Problem(
                f"{step.id}: {problem}",
                why="a verdict holds for the files that the reviewers saw; when they change, a new one is needed",
                do="name the review step, or the step that does the work, as stale of the Gate",
                step=at,
            )


def _dispatch_problem(dispatch: Dispatch) -> str:
    named = [name for name in ("covers", "checks") if getattr(dispatch, name)]
    return f"{' and '.join(named)} of sub-agents that review no checkpoint do nothing" if named else ""


def _gate_problem(graph: GraphView, gate: Gate, reviewers: set[int]) -> str:
    if not reviewers:
        covers = f"no review of {gate.checkpoint} says which files it covers"
        return f"stale leads nowhere, for {covers}" if gate.stale else ""
    if not gate.stale:
        return f"the review of {gate.checkpoint} covers files, and the Gate does not say where a fallen verdict leads"
    if gate.stale not in graph.index:
        return f"stale names {gate.stale!r}, which is no step{did_you_mean(graph.nearest(gate.stale))}"
    target = graph.index[gate.stale]
    every = graph.reviewers[gate.checkpoint]
    if target in every:
        return ""
    way = f"stale leads to {gate.stale}"
    if not graph.search(target, lambda node: node in every):
        return f"{way}, from where the review of {gate.checkpoint} is never reached again"
    past = graph.way_past(target, every)
    return f"{way}, from where a path ends the run past the review: {past}" if past else ""


@rule("warning", GRAPH, finds="name")
def uncertain_covers(graph: GraphView) -> Iterator[Problem]:
    """A review may cover fewer files than its Dispatch says.

    ## What it does
    Reports `covers` of a Dispatch that reads a value which may be missing (an optional Field, an optional parameter of the
    run), or one that is neither a text nor a list of texts; and a list that stands within a pattern.

    ## Why it is bad
    The verdict is bound to the files that the review covers. A value that was not recorded adds none, and what is neither
    a path nor a list of paths matches none: the files may then change after the review.

    ## Example
    ```python
    WORKFLOW = Workflow(
        "change",
        StepDef("work", "Make the change", next={Outcome.OK: "review"}, requires=[Field("files", "list", required=False)]),
        StepDef(
            "review",
            "Review the change",
            next={Outcome.OK: "gate"},
            handler=Dispatch(AgentRole.QUALITY_REVIEWER, task="Review it.", checkpoint="change", covers=["{work.files}"]),
        ),
        StepDef("gate", "Gate", next={Outcome.OK: None, Outcome.FAIL: "work"}, handler=Gate("change", stale="review")),
    )
    ```

    ## Use instead
    ```python
    WORKFLOW = Workflow(
        "change",
        StepDef("work", "Make the change", next={Outcome.OK: "review"}, requires=[Field("files", "list", minimum=1)]),
        StepDef(
            "review",
            "Review the change",
            next={Outcome.OK: "gate"},
            handler=Dispatch(AgentRole.QUALITY_REVIEWER, task="Review it.", checkpoint="change", covers=["{work.files}"]),
        ),
        StepDef("gate", "Gate", next={Outcome.OK: None, Outcome.FAIL: "work"}, handler=Gate("change", stale="review")),
    )
    ```
    """
    for at, step in graph.distinct:
        seen = set()
        for pattern in step.covers:
            for name in placeholders([pattern]):
                why = _doubt(graph, pattern, name)
                if why and name not in seen:
                    seen.add(name)
                    yield Problem(
                        f"the review at {step.id} covers {pattern}, and {name} {why}",
                        why="the verdict is bound to the covered files alone: others may change after the review",
                        do=f"declare {name.rpartition('.')[2]} as a required list of paths, or name the files",
                        step=at,
                        value=name,
                    )


def _doubt(graph: GraphView, pattern: str, name: str) -> str:
    spec = source_of(graph, name)
    if spec is None:
        return ""
    if may_be_missing(spec):
        return "may not be recorded" if "." in name else "may not be given"
    whole = pattern == f"{{{name}}}"
    if spec.type not in (("text", "list") if whole else ("text",)):
        return f"is of type {spec.type}" + ("" if whole else ", which is no part of a path")
    return ""


@rule("warning", GRAPH, finds="checkpoint")
def work_after_review(graph: GraphView) -> Iterator[Problem]:
    """Work is done between a review and its gate.

    ## What it does
    Reports a step on a path from a review to its Gate that may change something: one with actions and with tools for it
    (`edit`, `write`, `shell`, `agent`, a tool of an MCP server, or all), or with sub-agents that neither explore nor review.

    ## Why it is bad
    What is changed there passes the gate unseen: the verdict is about what was there before.

    ## Example
    ```python
    WORKFLOW = Workflow(
        "change",
        StepDef("work", "Make the change", "Make it.", {Outcome.OK: "review"}),
        StepDef(
            "review",
            "Review the change",
            "Wait for the reviewer.",
            {Outcome.OK: "tidy"},
            Dispatch(AgentRole.QUALITY_REVIEWER, task="Review it.", checkpoint="change"),
        ),
        StepDef("tidy", "Tidy up", "Remove what is not needed.", {Outcome.OK: "gate"}),
        StepDef("gate", "Gate", "Go on.", {Outcome.OK: None, Outcome.FAIL: "work"}, Gate("change")),
    )
    ```

    ## Use instead
    ```python
    WORKFLOW = Workflow(
        "change",
        StepDef("work", "Make the change", "Make it.", {Outcome.OK: "tidy"}),
        StepDef("tidy", "Tidy up", "Remove what is not needed.", {Outcome.OK: "review"}),
        StepDef(
            "review",
            "Review the change",
            "Wait for the reviewer.",
            {Outcome.OK: "gate"},
            Dispatch(AgentRole.QUALITY_REVIEWER, task="Review it.", checkpoint="change"),
        ),
        StepDef("gate", "Gate", "Go on.", {Outcome.OK: None, Outcome.FAIL: "work"}, Gate("change")),
    )
    ```
    """
    gates = graph.gates
    reviewers = graph.reviewers if gates else {}
    for checkpoint, stops in gates.items():
        by = reviewers.get(checkpoint, set())
        for at in sorted(_between(graph, by, stops)):
            if not _may_change(graph, at):
                continue
            way = graph.listed(by)
            yield Problem(
                f"work is done at {graph.name(at)}, between the review of {checkpoint} ({way}) and its Gate",
                why="what is changed there passes the gate unseen",
                do="move it before the review, or give it tools that change nothing: read, search",
                step=at,
                value=checkpoint,
            )


def _between(graph: GraphView, by: Collection[int], stops: Collection[int]) -> set[int]:
    """The steps on a path from a review to its gate that passes no other review and no other gate of the checkpoint."""
    ends, before = {*by, *stops}, graph.digraph.pred
    ahead = reached(by, lambda node: {target for _, target in graph.routes[node]} - ends)
    return ahead & reached(stops, lambda node: set(before[node]) - ends)


def _may_change(graph: GraphView, at: int) -> bool:
    """True if an agent works at the step with tools that can change something."""
    step = graph.steps[at]
    if isinstance(step.handler, Dispatch):
        return step.handler.agent not in (AgentRole.EXPLORE, AgentRole.QUALITY_REVIEWER)
    if isinstance(step.handler, (Gate, Person)) or not any(text.strip() for text in step.actions):
        return False
    tools = graph.workflow.tools_of(step)
    return not tools or any(
        tool in ("edit", "write", "agent") or tool.startswith(("shell", "mcp(", "tool(")) for tool in tools
    )
