"""Review loops: a review, a gate that reads its verdict, and a way back to the work."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from skills.lib.errors import did_you_mean, nearest
from skills.lib.model.steps import StepDef
from skills.lib.model.types import AgentRole, Dispatch, Outcome
from skills.lib.validation.graph import is_gate
from skills.lib.validation.rule import GRAPH, Problem, rule
from skills.lib.validation.topology import END, UNKNOWN
from skills.lib.validation.view import GraphView


@rule("error", GRAPH)
def review_without_gate(graph: GraphView) -> Iterator[Problem]:
    """Nothing reads the verdict of a review.

    ## What it does
    Reports a step that dispatches reviewers if a path leads to the end without passing the Gate of that checkpoint.
    A review that is its own gate (a quality reviewer's Dispatch with OK and FAIL routes) needs no other.

    ## Why it is bad
    The second pillar of a review loop, the stop condition, is missing: findings are written and nobody acts on them.

    ## Example
    ```python
    WORKFLOW = Workflow(
        "change",
        StepDef("work", "Make the change", next={Outcome.OK: "review"}),
        StepDef(
            "review",
            "Review the change",
            next={Outcome.OK: None},
            handler=Dispatch(AgentRole.QUALITY_REVIEWER, task="Review it.", checkpoint="change"),
        ),
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
            handler=Dispatch(AgentRole.QUALITY_REVIEWER, task="Review it.", checkpoint="change"),
        ),
        StepDef("gate", "Gate", next={Outcome.OK: None, Outcome.FAIL: "work"}, handler=Gate("change")),
    )
    ```
    """
    gates = graph.gates
    for at, step in enumerate(graph.steps):
        if not _is_review(step) or is_gate(step):
            continue
        checkpoint = step.checkpoint
        if checkpoint is None:
            yield Problem(
                f"{step.id} dispatches a quality reviewer without a checkpoint and without a FAIL route",
                why="the stop condition is missing: whatever the reviewer finds, the run goes on",
                do="add Outcome.FAIL: with the step that does the work, or a checkpoint and a Gate for it",
                step=at,
            )
            continue
        stops = gates.get(checkpoint, set())
        # A review that is skipped found nothing that a gate would have to hear.
        skip = {(at, Outcome.SKIP)} if (at, Outcome.SKIP) not in graph.judging_hops({at}) else set()
        if stops and not graph.search(at, lambda node: node == END, avoid=stops, skip=skip):
            continue
        what = f"the review of {checkpoint} at {graph.name(at)} is followed by no Gate"
        if stops:
            what = f"a path leads from the review of {checkpoint} at {graph.name(at)} past its Gate"
        yield Problem(
            what + graph.example(at, END, avoid=stops, skip=skip),
            why="the stop condition is missing: findings are written and nobody acts on them",
            do=f'put a step with handler=Gate("{checkpoint}") on every path, or build the loop with review_loop()',
            step=at,
        )


def _is_review(step: StepDef) -> bool:
    """True if the step's sub-agents review: with a checkpoint, or as quality reviewers without a deciding function."""
    handler = step.handler
    if not isinstance(handler, Dispatch):
        return False
    return bool(handler.checkpoint) or (handler.agent is AgentRole.QUALITY_REVIEWER and not handler.then)


@rule("error", GRAPH, stops=True)
def gate_without_review(graph: GraphView) -> Iterator[Problem]:
    """A gate asks for a verdict that nobody gives.

    ## What it does
    Reports a Gate whose checkpoint no step reviews, one that a path reaches without passing the review, and one that a path
    leads back to without passing it again. A review that ends with SKIP, because it had no target, is none.

    ## Why it is bad
    The gate has no verdict to read and refuses every command, and the run cannot go on. Or it reads the verdict of an
    earlier review: it passes what was changed since, or sends back again what nobody has looked at.

    ## Example
    ```python
    WORKFLOW = Workflow(
        "change",
        StepDef("work", "Make the change", next={Outcome.OK: "gate"}),
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
            handler=Dispatch(AgentRole.QUALITY_REVIEWER, task="Review it.", checkpoint="change"),
        ),
        StepDef("gate", "Gate", next={Outcome.OK: None, Outcome.FAIL: "work"}, handler=Gate("change")),
    )
    ```
    """
    gates = graph.gates
    reviewers = graph.reviewers if gates else {}
    for checkpoint, steps in gates.items():
        by = reviewers.get(checkpoint)
        for at in steps:
            without = _unreviewed(graph, at, by) if by else {at}
            why = "the gate has no verdict to read and lets nothing pass"
            do = f'dispatch reviewers with checkpoint="{checkpoint}" on every path before it, or use review_loop()'
            if not by:
                what = f"{graph.name(at)} is the Gate of {checkpoint}, which no step reviews"
                what += did_you_mean(nearest(checkpoint, reviewers))
            elif graph.start in without:
                what = f"a path comes to the Gate {graph.name(at)} without a review of {checkpoint}"
                what += graph.example(graph.start, at, skip=graph.judging_hops(by))
            elif at in graph.reachable and (ahead := _reviewed_hops(graph, at, by, without)) is not None:
                what = f"a path leads from the Gate {graph.name(at)} back to it without a review of {checkpoint}"
                what += graph.example(at, at, skip=graph.judging_hops(by) | ahead)
                why = (
                    "the gate reads the verdict of the review before: it passes what changed since, or fails it unseen"
                )
            elif (spent := _spending_gate(graph, at, graph.deciding(checkpoint), without)) is not None:
                what = f"a path leads from the Gate {graph.name(spent)} to {graph.name(at)} without a review between"
                but_ok = {(spent, outcome) for outcome, _ in graph.routes[spent] if outcome is not Outcome.OK}
                what += graph.example(spent, at, skip=graph.judging_hops(by) | but_ok)
                why = "a verdict serves one gate: the second refuses every command, and the run cannot go on"
            else:
                continue
            skipped = without & (by or set())
            if skipped:
                do = (
                    f"give {graph.listed(skipped)} a target in any case and leave its skip out, or let it be "
                    f"its own gate: Outcome.FAIL with the step that does the work, in place of {graph.name(at)}"
                )
            yield Problem(what, why=why, do=do, step=at)


def _reviewed_hops(
    graph: GraphView, at: int, by: Collection[int], without: Collection[int]
) -> set[tuple[int, Outcome]] | None:
    """The hops of the gate that lead to a review before the gate is reached again; None if all of them do.

    A FAIL that never leads to a review counts as one: fail-without-return reports it.
    """
    ahead = {
        (at, outcome)
        for outcome, target in graph.routes[at]
        if target not in without or (outcome is not Outcome.OK and not graph.search(target, lambda node: node in by))
    }
    return ahead if len(ahead) < len(graph.routes[at]) else None


def _spending_gate(graph: GraphView, at: int, gates: Collection[int], without: Collection[int]) -> int | None:
    """Another gate of the checkpoint whose OK leads here without a review, so that the verdict is used up."""
    opening_here = (
        other
        for other in sorted(gates)
        if other != at and other in graph.reachable
        if any(outcome is Outcome.OK and target in without for outcome, target in graph.routes[other])
    )
    return next(opening_here, None)


def _unreviewed(graph: GraphView, gate: int, reviewers: Collection[int]) -> set[int]:
    """The steps from which a walk leads to the gate without a review; the start among them ends the search.

    The search goes backwards from the gate, so that in a sound graph it sees no more than the way from review to gate.
    One of ``reviewers`` is among them if its SKIP leads there.
    """
    seen = {gate}
    stack = [gate]
    while stack and graph.start not in seen:
        node = stack.pop()
        for before in graph.digraph.pred[node]:
            if before not in seen and (
                before not in reviewers
                or any(target == node and graph.skips(before, outcome) for outcome, target in graph.routes[before])
            ):
                seen.add(before)
                stack.append(before)
    return seen


@rule("error", GRAPH, stops=True)
def fail_without_return(graph: GraphView) -> Iterator[Problem]:
    """A failed review does not lead back to the work.

    ## What it does
    Reports a gate (or a review that is its own gate) without a FAIL route, and one whose FAIL route leads to the end, to
    the review itself, or to where the review is never reached again; and one behind whose FAIL a path leads to the end past
    the reviewers. Such a path may go through a Person, who then knows of the findings, or end by FAIL: the run has failed.

    ## Why it is bad
    The third pillar of a review loop is missing: what the review found is not fixed and verified again. Without a FAIL
    route a failed review stops the run. An agent in a hurry takes the way past the review, and the run ends as failed.

    ## Example
    ```python
    WORKFLOW = Workflow(
        "change",
        StepDef("work", "Make the change", next={Outcome.OK: "review"}),
        StepDef(
            "review",
            "Review the change",
            next={Outcome.OK: "publish", Outcome.FAIL: "publish"},
            handler=Dispatch(AgentRole.QUALITY_REVIEWER, task="Review it."),
        ),
        StepDef("publish", "Publish", next={Outcome.OK: None}),
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
            next={Outcome.OK: "publish", Outcome.FAIL: "work"},
            handler=Dispatch(AgentRole.QUALITY_REVIEWER, task="Review it."),
        ),
        StepDef("publish", "Publish", next={Outcome.OK: None}),
    )
    ```
    """
    reviewers = graph.reviewers
    stops = [(at, name) for name in {*graph.gates, *reviewers} for at in graph.deciding(name)]
    for at, checkpoint in sorted(stops):
        if at not in graph.reachable or not graph.steps[at].next:
            continue
        problem = _failure_problem(graph, at, checkpoint, reviewers.get(checkpoint) or {at})
        if problem:
            yield Problem(
                f"{graph.name(at)} decides on the review of {checkpoint}: {problem}",
                why="what the review found is not fixed and verified again",
                do="lead FAIL to the step that does the work, from which the review is reached again",
                step=at,
                outcome=Outcome.FAIL,
            )


def _failure_problem(graph: GraphView, at: int, checkpoint: str, reviewers: set[int]) -> str:
    step = graph.steps[at]
    key = Outcome.FAIL if Outcome.FAIL in step.next else Outcome.DEFAULT
    target = next((target for outcome, target in graph.routes[at] if outcome is key), None)
    if target is None:
        return "it has no route for fail"
    way = f"{step.id} -fail-> {graph.name(target)}"
    if target == UNKNOWN:
        return ""
    if target == END:
        return f"{way} ends the run although the review failed"
    if target in reviewers:
        return f"{way} reviews again what nobody has fixed"
    if not graph.search(target, lambda node: node in reviewers):
        return f"{way} leads where the review is never reached again"
    stops = graph.deciding(checkpoint)
    past = graph.way_past(target, reviewers, {(stop, Outcome.OK) for stop in stops})
    return f"{way} leads to work from which a path ends the run past the review: {past}" if past else ""
