"""Planned walks take every transition, in every way that there is to take it."""

from __future__ import annotations

from pathlib import Path

import pytest

from skills.lib.runtime import loading
from skills.lib.testing import any_of
from skills.lib.testing.steering import CannotSteer
from skills.lib.testing.transitions import check_walk
from skills.lib.testing.walks import Unplannable, every_walk, shortest_walk
from skills.lib.workflow.core import StepDef, Workflow
from skills.lib.workflow.types import Dispatch, Outcome
from tests.fixtures.skill import HEAD, install, source_of


@pytest.fixture(autouse=True)
def ledger_in_the_project(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LOCKSTEP_HOME", raising=False)


def legs(script: Path) -> set[str]:
    return {str(leg) for walk in every_walk(loading.workflow_of_script(str(script))) for leg in walk.legs}


def test_loops_limits_defaults_and_answers_are_planned(tmp_path: Path) -> None:
    assert legs(install(tmp_path, "tour")) == {
        "begin -ok-> plan",
        "plan -ok-> dig",
        "plan -skip-> choose",
        "dig -ok-> choose",
        "dig -iterate-> dig",
        "dig -ok (limit)-> choose",
        "choose -ok-> prove",
        "choose -skip-> ask",
        "choose -default-> plan",
        "prove -ok-> ask",
        "ask -ok (yes)-> close",
        "ask -fail (no)-> plan",
        "close -ok-> done",
    }


def test_reviews_are_planned_to_the_bound_and_beyond(tmp_path: Path) -> None:
    script = install(tmp_path, "gated")
    assert legs(script) == {
        "write -ok-> design-review",
        "design-review -ok-> design-gate",
        "design-gate -ok-> close",
        "design-gate -fail-> write",
        "design-gate -ok (accept)-> close",
        "design-gate -fail (revise)-> write",
        "close -ok-> done",
    }
    lengths = [len(walk.legs) for walk in every_walk(loading.workflow_of_script(str(script)))]
    assert max(lengths) == 5 * 3 + 3 + 1


def test_sub_agents_that_fail_are_planned(tmp_path: Path) -> None:
    assert "scan -fail-> list" in legs(install(tmp_path, "brood"))


@pytest.mark.slow
def test_every_walk_of_the_fixtures_is_taken(tmp_path: Path) -> None:
    for name in ("tour", "gated", "brood", "plain"):
        script = install(tmp_path, name)
        for at, walk in enumerate(every_walk(loading.workflow_of_script(str(script)))):
            project = tmp_path / f"{name}{at}"
            project.mkdir()
            check_walk(script, walk, project)


def test_a_route_that_no_walk_takes_is_reported() -> None:
    workflow = Workflow(
        "w",
        StepDef("a", next={Outcome.OK: None}),
        StepDef("b", next={Outcome.OK: "a", Outcome.FAIL: None}),
    )
    with pytest.raises(Unplannable, match="w: no walk from a takes b -ok-> a; b -fail-> done"):
        every_walk(workflow)


def test_a_walk_without_an_end_is_reported() -> None:
    workflow = Workflow("w", StepDef("a", next={Outcome.OK: "a"}))
    with pytest.raises(Unplannable, match="no walk leads from a to the end"):
        every_walk(workflow)
    with pytest.raises(Unplannable, match="comes to the end"):
        shortest_walk(workflow)


def test_the_shortest_walk_may_end_as_wished() -> None:
    workflow = Workflow("w", StepDef("a", next={Outcome.OK: None, Outcome.FAIL: None}))
    assert [str(leg) for leg in shortest_walk(workflow).legs] == ["a -ok-> done"]
    assert [str(leg) for leg in shortest_walk(workflow, Outcome.FAIL).legs] == ["a -fail-> done"]


def test_the_shortest_walk_ends_by_fail_only_if_nothing_else_leads_to_the_end() -> None:
    steps = (
        StepDef("a", next={Outcome.FAIL: None, Outcome.OK: "b"}),
        StepDef("b", next={Outcome.OK: "c"}),
        StepDef("c", next={Outcome.OK: None}),
    )
    assert [leg.step for leg in shortest_walk(Workflow("w", *steps)).legs] == ["a", "b", "c"]
    [leg] = shortest_walk(Workflow("w", StepDef("a", next={Outcome.FAIL: None}))).legs
    assert str(leg) == "a -fail-> done"


def test_the_agent_loses_its_sub_agents_if_only_that_fails(tmp_path: Path) -> None:
    steps = (
        'StepDef("look", "Look", "Have it looked at.", {Outcome.OK: None, Outcome.FAIL: None}, '
        'Dispatch(AgentRole.EXPLORE, task="Look.", targets=["one", "two"], then=f))'
    )
    done = "any(result['status'] == 'done' for result in ctx.step_state['results'])"
    handler = f"def f(ctx): return Outcome.OK if {done} else Outcome.FAIL"
    script = install(tmp_path, "looking", source_of("looking", steps).replace("WORKFLOW", f"{handler}\n\nWORKFLOW", 1))
    ended = {}
    for walk in every_walk(loading.workflow_of_script(str(script))):
        project = tmp_path / walk.goal.outcome.value
        project.mkdir()
        agent = check_walk(script, walk, project)
        ended[walk.goal.outcome.value] = sorted(
            event.kind for event in agent.events() if event.kind.startswith("child")
        )
    assert ended == {"ok": [], "fail": ["child-lost", "child-lost"]}


@pytest.mark.slow
def test_many_loops_are_planned_in_good_time() -> None:
    steps = []
    for at in range(7):
        onward = f"s{at + 1}" if at < 6 else None
        steps.append(StepDef(f"s{at}", next={Outcome.OK: onward, Outcome.ITERATE: f"s{at}"}, max_iterations=5))
    walks = every_walk(Workflow("loops", *steps))
    assert {leg.how for walk in walks for leg in walk.legs} == {"", "limit"}


def test_a_question_in_plain_text_is_answered(tmp_path: Path) -> None:
    steps = (
        'StepDef("ask", "Ask", "Ask.", {Outcome.OK: "close"}, person("Go on?", {"yes": "ok"}, at_terminal=True)),'
        ' StepDef("close", "End", "Say.", {Outcome.OK: None})'
    )
    script = install(tmp_path, "plainly", source_of("plainly", steps, 'output="text"'))
    [walk] = every_walk(loading.workflow_of_script(str(script)))
    agent = check_walk(script, walk, tmp_path)
    assert [block.kind for block in agent.blocks] == ["waiting", "step", "done"]


def test_a_loop_that_is_left_at_its_limit_is_reported_in_other_words_each_time(tmp_path: Path) -> None:
    steps = (
        "StepDef('look', 'Look', ['Look.'], {Outcome.ITERATE: 'look', Outcome.OK: None}, "
        "requires=[Field('seen')], when={Outcome.ITERATE: 'again', Outcome.OK: 'seen'}, max_iterations=2)"
    )
    script = install(tmp_path, "look", source_of("look", steps))
    for walk in every_walk(loading.workflow_of_script(str(script))):
        check_walk(script, walk, tmp_path)


def test_a_walk_in_plain_text_is_begun_again_beside_the_run_that_led_astray(tmp_path: Path) -> None:
    steps = (
        'StepDef("a", "A", "Do.", {Outcome.OK: None, Outcome.FAIL: None}, f, requires=[Field("word")],'
        ' outcomes=["ok", "fail"])'
    )
    handler = "def f(ctx): return Outcome.OK if ctx.workflow_params['mode'] == 'fast' else Outcome.FAIL"
    source = source_of("twice", steps, 'output="text", params=[Arg("mode")]')
    script = install(tmp_path, "twice", source.replace("WORKFLOW", f"{handler}\n\nWORKFLOW", 1))
    walk = shortest_walk(loading.workflow_of_script(str(script)), Outcome.OK)
    agent = check_walk(script, walk, tmp_path, values={"mode": any_of("slow", "fast")})
    assert [event.kind for event in agent.events()] == ["opened", "opened", "finished"]


@pytest.mark.parametrize(
    "handler, values",
    [
        ("def f(ctx): return Outcome.OK if ctx.step_state['word'] == 'sesame' else Outcome.FAIL", None),
        ("def f(ctx): return Outcome.OK if ctx.step_state['count'] > 40 else Outcome.FAIL", None),
        ("def f(ctx): return Outcome.OK if ctx.step_state['word'][::-1] == 'emases' else Outcome.FAIL", "sesame"),
        (
            "def f(ctx): s = ctx.step_state; return Outcome.OK if s['flag'] and s['count'] == 7 else Outcome.FAIL",
            None,
        ),
        ("def f(ctx): return Outcome.OK if ctx.step_state.get('extra') == 'b' else Outcome.FAIL", None),
    ],
)
def test_handlers_are_steered_by_what_they_compare_with(tmp_path: Path, handler: str, values: str | None) -> None:
    steps = (
        'StepDef("a", "A", "Do.", {Outcome.OK: None, Outcome.FAIL: None}, f, requires=[Field("word"),'
        ' Field("count", "int", minimum=0, maximum=50), Field("flag", "bool"),'
        ' Field("extra", choices=("a", "b"), required=False)])'
    )
    script = install(tmp_path, "steered", source_of("steered", steps).replace("WORKFLOW", f"{handler}\n\nWORKFLOW", 1))
    given = {"a.word": any_of("x", values)} if values else None
    for at, walk in enumerate(every_walk(loading.workflow_of_script(str(script)))):
        project = tmp_path / str(at)
        project.mkdir()
        check_walk(script, walk, project, values=given)


def test_what_cannot_be_steered_says_what_to_give(tmp_path: Path) -> None:
    steps = 'StepDef("a", "A", "Do.", {Outcome.OK: None, Outcome.FAIL: None}, f, requires=[Field("word")])'
    handler = "def f(ctx): return Outcome.OK if ctx.step_state['word'][::-1] == 'emases' else Outcome.FAIL"
    script = install(tmp_path, "deaf", source_of("deaf", steps).replace("WORKFLOW", f"{handler}\n\nWORKFLOW", 1))
    [walk] = [walk for walk in every_walk(loading.workflow_of_script(str(script))) if str(walk) == "a -ok-> done"]
    with pytest.raises(CannotSteer) as told:
        check_walk(script, walk, tmp_path)
    assert "makes step a take a -ok-> done; it came to: outcome fail" in str(told.value)
    assert "Give values={'a.word': …} that do" in str(told.value)


SHADE = """
WORKFLOW = Workflow(
    "shade",
    StepDef("places", "P", "List.", {Outcome.OK: "shade"}, requires=[Field("spots", "list", minimum=1, maximum=3)]),
    StepDef(
        "shade", "S", "Have them seen.", {Outcome.OK: None, Outcome.FAIL: None, Outcome.SKIP: None},
        Dispatch("explore", script="look.py", params={"what": "{target}"}, targets="places.spots"),
    ),
)
register_workflow(WORKFLOW)
"""
LOOK = 'StepDef("look", "L", "Look.", {Outcome.OK: None}, needs=["what"], requires=[Field("light")])'


@pytest.mark.parametrize("outcome", [Outcome.FAIL, Outcome.SKIP])
def test_a_dispatch_that_cannot_be_steered_names_what_decides(tmp_path: Path, outcome: Outcome) -> None:
    script = install(tmp_path, "shade", HEAD + SHADE)
    look = install(tmp_path, "look", source_of("look", LOOK, 'params=[Arg("what")]'))
    for file in (look, look.with_name("look_workflow.py")):
        file.rename(script.with_name(file.name))
    [walk] = [walk for walk in every_walk(loading.workflow_of_script(str(script))) if walk.goal.outcome is outcome]
    with pytest.raises(CannotSteer) as told:
        check_walk(script, walk, tmp_path)
    assert str(told.value).endswith(
        "What decides is reported by its sub-agents: give values={'look.light': …} that do, or another number of "
        "targets by 'places.spots'"
    )


def test_a_dispatch_without_a_fail_route_is_one_leg() -> None:
    workflow = Workflow("w", StepDef("a", next={Outcome.OK: None}, handler=Dispatch("explore")))
    assert [str(walk) for walk in every_walk(workflow)] == ["a -ok-> done"]


def test_dispatches_are_skipped_together_if_the_graph_lets_them() -> None:
    steps = (
        StepDef("a", next={Outcome.OK: "b", Outcome.SKIP: "b"}, handler=Dispatch("explore", targets=lambda ctx: [])),
        StepDef("b", next={Outcome.OK: "c", Outcome.SKIP: "d"}, handler=Dispatch("explore", targets=lambda ctx: [])),
        StepDef("c", next={Outcome.OK: "d"}),
        StepDef("d", next={Outcome.OK: None}),
    )
    planned = {" ".join(f"{leg.step}:{leg.route}" for leg in walk.legs) for walk in every_walk(Workflow("w", *steps))}
    assert planned == {"a:ok b:ok c:ok d:ok", "a:skip b:skip d:ok"}
