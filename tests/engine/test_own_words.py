"""A run leaves its steps by words of the workflow's own; a loop by one ends at its bound, and never by OK alone."""

from __future__ import annotations

from typing import Any

import pytest

from skills.lib.engine.decision import Move, Refused
from skills.lib.engine.engine import decide, open_run
from skills.lib.errors import HandlerError
from skills.lib.model.run import Request, Run
from skills.lib.model.types import StepContext
from skills.lib.workflow.core import StepDef, Workflow
from skills.lib.workflow.types import Outcome, person
from tests.fixtures.worlds import EmptyWorld

MORE = Outcome("more-tasks")


def moved(workflow: Workflow, run: Run, actor: str = "agent", **fields: Any) -> Run:
    decision = decide(workflow, run, Request("next", run="r", turn=run.turn, **fields), EmptyWorld(), actor)
    assert isinstance(decision, Move)
    return decision.run


def opened(workflow: Workflow) -> Run:
    return open_run(workflow, Run(id="r", turn=1), {}).run


def chores(**more: object) -> Workflow:
    """Pick a task, do it, and go round by ``more-tasks`` at most three times."""
    return Workflow(
        "chores",
        StepDef("pick", "Pick", next={Outcome.OK: "work"}),
        StepDef(
            "work",
            "Work",
            next={MORE: "pick", Outcome.OK: "close", Outcome("no-time"): None, Outcome.FAIL: None},
            max_iterations=3,
            **more,  # type: ignore[arg-type]
        ),
        StepDef("close", "Close", next={Outcome.OK: None}),
    )


def at_the_limit(workflow: Workflow) -> Run:
    run = moved(workflow, opened(workflow))
    for _ in range(2):
        run = moved(workflow, moved(workflow, run, outcome="more-tasks"))
    assert (run.step, run.iteration) == ("work", 3)
    return moved(workflow, run, outcome="more-tasks")


@pytest.mark.req("E-07")
def test_a_loop_by_an_own_word_asks_a_person_at_its_bound() -> None:
    workflow = chores()
    run = at_the_limit(workflow)
    assert run.status == "waiting"
    assert run.question is not None
    assert run.question["text"] == (
        "work ended with more-tasks 3 times. accept goes on as if it had not; revise tries again."
    )
    on = moved(workflow, run, "person (terminal)", answer="accept", reason="the rest can wait")
    assert on.step == "close"
    assert on.not_done[-1]["what"] == "a person went on although work ended with more-tasks: the rest can wait"
    again = moved(workflow, run, "person (terminal)", answer="revise")
    assert (again.step, again.rounds["work"]) == ("pick", 0)


@pytest.mark.parametrize(
    "routes, step, outcome",
    [
        ({MORE: "pick", Outcome("enough"): "close"}, "close", "enough"),
        ({MORE: "pick", Outcome("later"): "work"}, "work", "later"),
    ],
)
def test_a_person_goes_on_by_another_way_where_ok_has_no_route(
    routes: dict[Outcome, str | None], step: str, outcome: str
) -> None:
    pick, _, close = chores().steps
    workflow = Workflow("chores", pick, StepDef("work", "Work", next=routes, max_iterations=3), close)
    on = moved(workflow, at_the_limit(workflow), "person (terminal)", answer="accept", reason="that will do")
    assert (on.step, on.last["outcome"]) == (step, outcome)


@pytest.mark.parametrize("at_limit, status", [("no-time", "done"), ("fail", "failed")])
def test_a_stated_way_out_is_taken_at_the_bound(at_limit: str, status: str) -> None:
    run = at_the_limit(chores(at_limit=at_limit))
    assert (run.status, run.last["limit"], run.last["outcome"]) == (status, 3, at_limit)


@pytest.mark.parametrize("at_limit", ["ok", "iterate", "more-tasks", "skip"])
def test_nothing_else_leads_past_the_bound_without_a_person(at_limit: str) -> None:
    assert at_the_limit(chores(at_limit=at_limit)).status == "waiting"


def test_a_word_that_leads_on_is_free_at_the_bound() -> None:
    workflow = chores()
    run = moved(workflow, opened(workflow))
    for _ in range(2):
        run = moved(workflow, moved(workflow, run, outcome="more-tasks"))
    assert moved(workflow, run, outcome="no-time").status == "done"


def test_an_outcome_that_the_step_does_not_have_is_refused() -> None:
    workflow = chores()
    run = moved(workflow, opened(workflow))
    for word in ("more-task", "later", "More-Tasks", "ok ", "x" * 4_000):
        with pytest.raises(Refused) as refused:
            moved(workflow, run, outcome=word)
        assert refused.value.code == "wrong-outcome"
        assert refused.value.valid == ("more-tasks", "ok", "no-time", "fail")


def test_default_serves_only_words_that_the_step_declares() -> None:
    workflow = Workflow(
        "w",
        StepDef(
            "a",
            "A",
            next={Outcome.OK: None, Outcome.DEFAULT: "a"},
            outcomes=[Outcome.OK, Outcome("later")],
            max_iterations=2,
        ),
    )
    run = opened(workflow)
    with pytest.raises(Refused, match="has no outcome 'sooner'"):
        moved(workflow, run, outcome="sooner")
    run = moved(workflow, run, outcome="later")
    assert run.step == "a"
    assert moved(workflow, run, outcome="later").status == "waiting"


def test_a_function_gives_only_words_that_its_step_has() -> None:
    def later(context: StepContext) -> Outcome:
        return Outcome("later")

    good = Workflow("w", StepDef("a", "A", next={Outcome("later"): None, Outcome.OK: None}, handler=later))
    assert moved(good, opened(good)).status == "done"
    for routes in ({Outcome.OK: None}, {Outcome.DEFAULT: None}):
        bad = Workflow("w", StepDef("a", "A", next=routes, handler=later))
        with pytest.raises(HandlerError, match="returned later, which is not declared"):
            moved(bad, opened(bad))


def test_a_person_answers_with_own_words() -> None:
    workflow = Workflow(
        "w",
        StepDef(
            "ask",
            "Ask",
            next={Outcome("in-may"): "plan", Outcome.OK: None},
            handler=person("When?", {"in May": "in-may", "now": "ok"}),
        ),
        StepDef("plan", "Plan", next={Outcome.OK: None}),
    )
    assert moved(workflow, opened(workflow), answer="in May").step == "plan"


@pytest.mark.req("E-07")
@pytest.mark.parametrize(
    "ends, parent, status",
    [
        ({"not-needed": "fail"}, None, "failed"),
        ({"not-needed": "pass"}, None, "done"),
        ({"not-needed": "pass"}, "p", "done"),
        ({}, None, "done"),
        ({}, "p", "failed"),
    ],
)
def test_ends_says_how_a_run_ended_and_a_sub_agents_end_is_no_pass_without_it(
    ends: dict[str, str], parent: str | None, status: str
) -> None:
    workflow = Workflow("w", StepDef("a", "A", next={Outcome("not-needed"): None, Outcome.OK: None}), ends=ends)
    run = open_run(workflow, Run(id="r", turn=1, parent=parent, spec={"script": "w.py"} if parent else {}), {}).run
    assert moved(workflow, run, outcome="not-needed").status == status
