"""On random graphs the findings are those of a closure worked out here by Warshall's method, with no graph library."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skills.lib.validation.validator import validate
from skills.lib.workflow.core import StepDef, Workflow
from skills.lib.workflow.requirements import Field
from skills.lib.workflow.types import Dispatch, Gate, Outcome
from tests.extent import extent

pytestmark = pytest.mark.slow

Routes = list[dict[Outcome, int | None]]
OUTCOMES = [Outcome.OK, Outcome.FAIL, Outcome.SKIP, Outcome.ITERATE]


@st.composite
def graphs(draw: st.DrawFn, most: int = 9) -> Routes:
    count = draw(st.integers(1, most))
    target = st.one_of(st.none(), st.integers(0, count - 1), st.integers(0, count - 1), st.integers(0, count - 1))
    return [draw(st.dictionaries(st.sampled_from(OUTCOMES), target, max_size=3)) for _ in range(count)]


def closure(routes: Routes, without: int | None = None) -> list[list[bool]]:
    """Whether one hop or more leads from each step to each other, with the routes of one step left out."""
    size = len(routes)
    reach = [[at != without and to in routes[at].values() for to in range(size)] for at in range(size)]
    for middle in range(size):
        for at in range(size):
            for to in range(size):
                reach[at][to] = reach[at][to] or (reach[at][middle] and reach[middle][to])
    return reach


def workflow(routes: Routes, **extra: dict[int, object]) -> Workflow:
    return Workflow(
        "w",
        *(
            StepDef(
                f"s{at}",
                f"Step {at}",
                next={outcome: None if to is None else f"s{to}" for outcome, to in ways.items()},
                **{name: values[at] for name, values in extra.items() if at in values},  # type: ignore[arg-type]
            )
            for at, ways in enumerate(routes)
        ),
    )


def found(graph: Workflow, rule: str) -> set[str]:
    return {finding.where for finding in validate(graph) if finding.rule == rule}


def together(behind: dict[int, set[int]], one: int, other: int) -> bool:
    """Whether two entries hang together by what is behind them, or behind others that do."""
    known = set(behind[one])
    while more := {at for steps in behind.values() if steps & known for at in steps} - known:
        known |= more
    return bool(behind[other] & known)


@pytest.mark.req("W-02")
@settings(max_examples=extent(100, 400), deadline=None)
@given(graphs())
def test_search_rules_equal_the_closure(routes: Routes) -> None:
    reach = closure(routes)
    size = range(len(routes))
    reachable = {at for at in size if at == 0 or reach[0][at]}
    ends = any(None in ways.values() for ways in routes)
    graph = workflow(routes)

    left = [at for at in size if at not in reachable]
    # An island's entries: what leads to them, they lead to; of steps that lead to each other the first stands for all.
    into = {at: {of for of in left if reach[of][at]} for at in left}
    entries = [at for at in left if all(reach[at][of] for of in into[at]) and at == min(into[at] | {at})]
    behind = {at: {at} | {to for to in left if reach[at][to]} for at in entries}
    first = {f"w:s{at}" for at in entries if at == min(of for of in entries if together(behind, at, of))}
    assert found(graph, "unreachable-step") == first
    assert found(graph, "dead-end") == {f"w:s{at}" for at in size if not routes[at]}
    assert found(graph, "no-end") == (set() if ends else {"w"})

    loops = {frozenset(to for to in size if reach[at][to] and reach[to][at]) for at in size if reach[at][at]}
    traps = {loop for loop in loops if all(to in loop for at in loop for to in routes[at].values())}
    assert found(graph, "trap") == ({f"w:s{min(loop)}" for loop in traps} if ends else set())
    free = {loop for loop in loops - traps if min(loop) in reachable}
    told = {int(where[len("w:s") :]) for where in found(graph, "loop-without-bound")}
    assert len(told) == len(free)
    assert {loop for loop in free if told & loop} == free


@settings(max_examples=extent(100, 300), deadline=None)
@given(graphs())
def test_a_step_that_cannot_end_leads_to_a_dead_end_or_is_named_with_a_trap(routes: Routes) -> None:
    reach = closure(routes)
    size = range(len(routes))
    if not any(None in ways.values() for ways in routes):
        return
    ending = [None in ways.values() for ways in routes]
    doomed = {at for at in size if not ending[at] and not any(reach[at][to] and ending[to] for to in size)}
    dead = {at for at in size if not routes[at]}
    named = {
        int(word.strip(",;:")[1:])
        for finding in validate(workflow(routes))
        if finding.rule == "trap"
        for word in finding.what.split()
        if word[0] == "s" and word.strip(",;:")[1:].isdigit()
    }
    leading_to_dead = {at for at in doomed if at in dead or any(reach[at][to] for to in dead)}
    assert named <= doomed
    assert doomed == named | leading_to_dead


@settings(max_examples=extent(100, 400), deadline=None)
@given(graphs(), st.data())
def test_reads_equal_the_closure(routes: Routes, data: st.DataObject) -> None:
    writer = data.draw(st.integers(0, len(routes) - 1))
    reader = data.draw(st.integers(0, len(routes) - 1))
    graph = workflow(routes, requires={writer: [Field("value")]}, needs={reader: [f"s{writer}.value"]})
    reach = closure(routes)

    def reached_without(step: int, left_out: int) -> bool:
        return step == 0 or (left_out != 0 and closure(routes, left_out)[0][step])

    readable = reader == 0 or reach[0][reader]
    written = (writer == 0 or reach[0][writer]) and reach[writer][reader]
    always = writer != reader and not reached_without(reader, writer)
    carried = writer == reader or (reader < writer and not reached_without(writer, reader))
    where = {f"w:s{reader}"}
    assert found(graph, "read-before-write") == (where if readable and not written else set())
    missed = readable and written and not always and not carried
    assert found(graph, "read-on-some-paths") == (where if missed else set())


@pytest.mark.req("W-10")
@settings(max_examples=extent(150, 600), deadline=None)
@given(graphs(), st.data())
def test_gates_without_a_review_equal_the_closure(routes: Routes, data: st.DataObject) -> None:
    """A review is made on every way out of a reviewer's step, but for the SKIP of one that may have no target."""
    size = range(len(routes))
    gate = data.draw(st.sampled_from(size))
    reviewers = data.draw(st.sets(st.sampled_from(size), min_size=1)) - {gate}
    skipping = {at for at in reviewers if data.draw(st.booleans())}
    judges = {
        at: Dispatch("quality-reviewer", task="Look.", checkpoint="plan", targets="s0.parts" if at in skipping else ())
        for at in reviewers
    }
    found_at = found(workflow(routes, handler={**judges, gate: Gate("plan")}), "gate-without-review")

    unjudged = [
        {outcome: to for outcome, to in ways.items() if at not in reviewers or (at in skipping and outcome == "skip")}
        for at, ways in enumerate(routes)
    ]
    whole, free = closure(routes), closure(unjudged)
    # A reviewer with a way for FAIL is its own gate: its OK has used the verdict up.
    own = [at for at in reviewers if Outcome.FAIL in routes[at] and (at == 0 or whole[0][at])]
    spent = any(
        to is not None and (to == gate or free[to][gate])
        for at in own
        for outcome, to in routes[at].items()
        if outcome is Outcome.OK
    )
    past = gate == 0 or free[0][gate]
    back = (gate == 0 or whole[0][gate]) and any(
        (to == gate or free[to][gate]) and (outcome == "ok" or any(whole[to][at] for at in reviewers))
        for outcome, to in routes[gate].items()
        if to is not None
    )
    assert found_at == ({f"w:s{gate}"} if past or back or spent or not reviewers else set())
