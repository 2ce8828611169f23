"""The transition function alone: a request in, a decision out, and the run that it was asked about untouched."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skills.lib.engine import inputs
from skills.lib.engine.decision import Move, Refused
from skills.lib.engine.engine import decide, open_run
from skills.lib.errors import HandlerError
from skills.lib.model.run import Request, Run
from skills.lib.testing.walks import every_walk
from skills.lib.workflow.core import StepDef, Workflow
from skills.lib.workflow.requirements import Arg, Artifact, Command, Field
from skills.lib.workflow.types import Dispatch, Outcome, Person, person
from tests.fixtures.strategies import hostile_texts, workflows
from tests.fixtures.worlds import EmptyWorld


class World(EmptyWorld):
    """A world in which each check gives what the test says."""

    def __init__(self, ok: bool = True, brood: list[Run] | None = None) -> None:
        self.ok = ok
        self.brood = brood or []
        self.asked: list[tuple[Artifact | Command, dict[str, Any]]] = []

    def children(self) -> list[Run]:
        return self.brood

    def check(self, requirement: Artifact | Command, fields: Mapping[str, Any]) -> dict[str, Any]:
        self.asked.append((requirement, dict(fields)))
        return {"ok": self.ok, "why": "it is not there"}


def at_start(workflow: Workflow, **parameters: Any) -> Run:
    move = open_run(workflow, Run(id="r", turn=1), parameters)
    assert isinstance(move, Move)
    return move.run


def refused(workflow: Workflow, run: Run, request: Request, world: World | None = None) -> Refused:
    with pytest.raises(Refused) as caught:
        decide(workflow, run, request, world or World())
    return caught.value


def moved(workflow: Workflow, run: Run, step: str = "next", world: World | None = None, **fields: Any) -> Move:
    decision = decide(workflow, run, Request(step, run="r", turn=run.turn, **fields), world or World())
    assert isinstance(decision, Move), decision
    return decision


LINE = Workflow(
    "line",
    StepDef("a", "A", next={Outcome.OK: "b"}, requires=[Field("x"), Artifact("{x}.txt"), Command(["t"])]),
    StepDef("b", "B", next={Outcome.OK: None, Outcome.FAIL: "a"}),
    params=[Arg("topic", default="t")],
)


def test_a_move_says_where_from_where_to_and_why() -> None:
    run, world = at_start(LINE), World()
    move = moved(LINE, run, world=world, records={"x": "1"})
    assert (move.kind, move.run.step, move.run.turn, move.run.visits) == ("moved", "b", 2, {"a": 1, "b": 1})
    assert move.detail == {
        "from": "a",
        "to": "b",
        "outcome": "ok",
        "recorded": {"x": "1"},
        "evidence": [{"ok": True, "why": "it is not there"}] * 2,
    }
    assert [fields["x"] for _, fields in world.asked] == ["1", "1"]
    end = moved(LINE, move.run, outcome="ok")
    assert (end.kind, end.run.status, end.run.step) == ("finished", "done", None)


def test_checks_are_made_only_once_all_else_is_right() -> None:
    world = World()
    reported: tuple[dict[str, Any], ...] = (
        {},
        {"records": {"y": "1"}},
        {"records": {"x": "FILL_x"}},
        {"params": {"topic": "u"}, "records": {"x": "1"}},
    )
    for fields in reported:
        assert refused(LINE, at_start(LINE), Request("next", run="r", turn=1, **fields), world).why
    assert world.asked == []


def test_failed_evidence_is_refused_and_kept() -> None:
    found = refused(LINE, at_start(LINE), Request("next", run="r", turn=1, records={"x": "1"}), World(ok=False))
    assert (found.code, found.why, len(found.evidence)) == ("missing-evidence", "it is not there", 1)


@pytest.mark.parametrize("step", ["b", "next"])
def test_a_repeat_is_known_by_its_request(step: str) -> None:
    run = at_start(LINE)
    request = Request(step, run="r", turn=1, records={"x": "1"})
    after = moved(LINE, run, step, records={"x": "1"}).run
    assert decide(LINE, after, request, World()) is None
    other = refused(LINE, after, Request(step, run="r", turn=1, records={"x": "2"}))
    assert other.code == "wrong-turn"


def test_a_target_implies_the_outcome_if_only_one_leads_to_it() -> None:
    run = moved(LINE, at_start(LINE), records={"x": "1"}).run
    assert moved(LINE, run, "done").detail["outcome"] == "ok"
    assert moved(LINE, run, "a").detail["outcome"] == "fail"
    found = refused(LINE, run, Request("next", run="r", turn=2))
    assert (found.code, found.valid) == ("missing-outcome", ("ok", "fail"))


@pytest.mark.parametrize(
    "raised, words",
    [
        (lambda ctx: 1 / 0, "the handler of step a raised ZeroDivisionError: division by zero"),
        (lambda ctx: None, "returned None"),
        (lambda ctx: (Outcome.OK, 3), "returned "),
        (lambda ctx: Outcome.FAIL, "returned fail, which is not declared"),
    ],
)
def test_a_broken_handler_is_the_skills_fault(raised: Any, words: str) -> None:
    workflow = Workflow("w", StepDef("a", "A", next={Outcome.OK: None}, handler=raised))
    run = at_start(workflow)
    before = copy.deepcopy(run.fields())
    with pytest.raises(HandlerError, match=words):
        decide(workflow, run, Request("next", run="r", turn=1), World())
    assert run.fields() == before


def test_a_handler_reads_parameters_state_and_what_came_before() -> None:
    seen: list[Any] = []

    def look(ctx: Any) -> tuple[Outcome, dict[str, Any]]:
        seen.append(
            (dict(ctx.workflow_params), dict(ctx.step_state), dict(ctx.run_state["a"]), ctx.step_id, ctx.iteration)
        )
        return Outcome.OK, {"y": 2}

    workflow = Workflow(
        "w",
        StepDef("a", "A", next={Outcome.OK: "b"}, requires=[Field("x", "int")]),
        StepDef("b", "B", next={Outcome.OK: None}, handler=look, requires=[Field("z")]),
        params=[Arg("topic"), Arg("mode", step="b")],
    )
    run = moved(workflow, at_start(workflow, topic="t"), records={"x": "1"}).run
    end = moved(workflow, run, records={"z": "q"}, params={"mode": "m"})
    assert seen == [({"topic": "t", "mode": "m"}, {"z": "q", "mode": "m"}, {"x": 1}, "b", 1)]
    assert end.run.state["b"] == {"z": "q", "mode": "m", "y": 2}


@pytest.mark.parametrize("reported", [True, False])
def test_an_iteration_at_its_limit_takes_the_other_way(reported: bool) -> None:
    handler = None if reported else (lambda ctx: Outcome.ITERATE)
    workflow = Workflow(
        "w",
        StepDef(
            "a",
            "A",
            next={Outcome.OK: None, Outcome.ITERATE: "a", Outcome.FAIL: None},
            handler=handler,
            max_iterations=2,
            at_limit=Outcome.FAIL,
        ),
    )
    run = at_start(workflow)
    fields: dict[str, Any] = {"outcome": "iterate"} if reported else {}
    first = moved(workflow, run, **fields)
    assert (first.run.step, first.run.iteration) == ("a", 2)
    second = moved(workflow, first.run, **fields)
    assert (second.run.status, second.detail["outcome"]) == ("failed", "fail")


def test_an_undeclared_outcome_takes_the_default_route() -> None:
    workflow = Workflow(
        "w",
        StepDef("a", "A", next={Outcome.OK: None, Outcome.DEFAULT: "b"}, handler=lambda ctx: Outcome.SKIP),
        StepDef("b", "B", next={Outcome.OK: None}),
    )
    assert moved(workflow, at_start(workflow)).run.step == "b"


def test_a_question_waits_and_its_answer_is_taken() -> None:
    workflow = Workflow(
        "w",
        StepDef("a", "A", next={Outcome.OK: None, Outcome.FAIL: "a"}, handler=person("?", {"y": "ok", "n": "fail"})),
    )
    run = at_start(workflow)
    assert (run.status, run.question) == ("waiting", {"text": "?", "choices": ["y", "n"], "at_terminal": False})
    again = moved(workflow, run, answer="n").run
    assert (again.status, again.turn, again.visits) == ("waiting", 2, {"a": 2})
    assert moved(workflow, again, answer="y").run.status == "done"


def test_an_answer_that_takes_a_reason_is_refused_without_one() -> None:
    asks = Person("?", {"y": Outcome.OK, "n": Outcome.FAIL}, reasons=["n"])
    workflow = Workflow("w", StepDef("a", "A", next={Outcome.OK: None, Outcome.FAIL: "a"}, handler=asks))
    run = at_start(workflow)
    assert run.question == {"text": "?", "choices": ["y", "n"], "at_terminal": False, "reasons": ["n"]}
    with pytest.raises(Refused, match="n takes a reason, in more than a word: --reason") as refused:
        moved(workflow, run, answer="n", reason="no")
    assert (refused.value.code, refused.value.missing) == ("no-reason", ("reason",))
    assert moved(workflow, run, answer="n", reason="it is too early").run.turn == 2
    assert moved(workflow, run, answer="y").run.status == "done"
    with pytest.raises(ValueError, match="Person reasons: 'x' is none of the choices y, n"):
        Person("?", {"y": Outcome.OK, "n": Outcome.FAIL}, reasons=["x"])


def test_a_dispatch_asks_for_its_children() -> None:
    workflow = Workflow(
        "w",
        StepDef(
            "a", "A", next={Outcome.OK: None}, handler=Dispatch("explore", targets=["x", "y"], task="see {target}")
        ),
    )
    move = open_run(workflow, Run(id="r", turn=1), {})
    assert isinstance(move, Move)
    assert [(spec["number"], spec["task"], spec["target"]) for spec in move.create] == [
        (1, "see x", "x"),
        (2, "see y", "y"),
    ]


@settings(max_examples=60, deadline=None)
@given(workflow=workflows(), data=st.data())
def test_no_request_moves_a_run_off_the_graph(workflow: Workflow, data: st.DataObject) -> None:
    run = at_start(workflow)
    routes = {(step.id, target) for step in workflow.steps for target in step.next.values()}
    for _ in range(6):
        if run.ended:
            break
        before = copy.deepcopy(run.fields())
        request = Request(
            data.draw(st.sampled_from(["next", "done", "current", "nowhere", *[step.id for step in workflow.steps]])),
            run="r",
            turn=data.draw(st.sampled_from([run.turn, run.turn, run.turn, None, run.turn - 1, run.turn + 1])),
            records=data.draw(
                st.dictionaries(st.sampled_from(("f0", "f1", "other")), hostile_texts(1, 20) | st.just("1"), max_size=2)
            ),
            outcome=data.draw(st.none() | st.sampled_from(["ok", "fail", "skip", "iterate", "default", "wild"])),
            answer=data.draw(st.none() | st.sampled_from(["ok", "fail", "skip", "iterate", "wild"])),
        )
        why = ""
        try:
            move = decide(workflow, run, request, World())
        except Refused as found:
            why = found.why or "no reason"
        assert run.fields() == before
        assert why != "no reason"
        if why:
            continue
        if move is None:
            assert request.turn == run.turn - 1
        else:
            assert (run.step, move.run.step) in routes
            assert move.run.turn == run.turn + 1
            assert move.detail["from"] == run.step
            run = move.run


@settings(max_examples=40, deadline=None)
@given(workflow=workflows())
def test_the_walks_of_a_graph_take_each_of_its_routes(workflow: Workflow) -> None:
    reached = {workflow.start}
    while True:
        onward = {target for step in workflow.steps if step.id in reached for target in step.next.values() if target}
        if onward <= reached:
            break
        reached |= onward
    routes = {(step.id, route) for step in workflow.steps for route in step.next}
    assert {step for step, _ in routes} == reached
    assert {(leg.step, leg.route) for walk in every_walk(workflow) for leg in walk.legs} == routes


def test_the_digest_of_a_request_leaves_secrets_out() -> None:
    one = inputs.request_digest(Request("next", turn=1, records={"password": "a"}))
    assert one == inputs.request_digest(Request("next", turn=1, records={"password": "b"}))
    assert one != inputs.request_digest(Request("next", turn=1, records={"passage": "b"}))
    assert one != inputs.request_digest(Request("next", turn=2, records={"password": "a"}))


@pytest.mark.req("W-05")
def test_all_that_is_wrong_with_the_fields_is_said_at_once() -> None:
    fields = [
        Field("goal", minimum=5),
        Field("kind", choices=("bug", "idea")),
        Field("place", help="a path"),
        Field("x"),
    ]
    workflow = Workflow("w", StepDef("a", "A", next={Outcome.OK: None}, requires=fields))
    given = {"goal": "go", "kind": "other", "x": "well"}
    found = refused(workflow, at_start(workflow), Request("next", run="r", turn=1, records=given))
    assert (found.code, found.valid) == ("bad-value", ())
    assert found.why == (
        "goal: 2 characters is out of range; put in a text of 5 or more characters. "
        "kind: 'other' is not one of bug, idea. "
        "place is not recorded: a text (a path)."
    )
    given |= {"goal": "going", "place": "p"}
    alone = refused(workflow, at_start(workflow), Request("next", run="r", turn=1, records=given))
    assert (alone.code, alone.why, alone.valid) == (
        "bad-value",
        "kind: 'other' is not one of bug, idea.",
        ("bug", "idea"),
    )
