"""A workflow is one structure, held as data; the founding document's patterns, as they stand there."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings

from skills.lib.errors import InvalidWorkflow, SkillError, UsageError
from skills.lib.testing.agent import Agent
from skills.lib.testing.follower import InProcess
from skills.lib.workflow import core
from skills.lib.workflow.core import Outcome, StepContext, StepDef, Workflow, register_workflow
from skills.lib.workflow.quality import review_loop
from skills.lib.workflow.requirements import Arg, Artifact, Command, Field
from skills.lib.workflow.types import AgentRole, Dispatch, Rendered, person
from tests.fixtures.strategies import workflows


@pytest.fixture(autouse=True)
def registry(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.delenv("LOCKSTEP_HOME", raising=False)
    before = dict(core.REGISTRY)
    yield
    core.REGISTRY.clear()
    core.REGISTRY.update(before)


def agent_for(workflow: Workflow, folder: Path) -> Agent:
    """An agent that walks a workflow which is in no file."""
    (folder / ".lockstep").mkdir()
    script = str(folder / "script.py")
    return Agent(script, folder, call=InProcess({script: workflow}))


def step_handler(ctx: StepContext) -> tuple[Outcome, dict[str, object]]:
    return Outcome.OK, {}


@pytest.mark.req("W-01", "W-08")
def test_the_documents_first_workflow_is_registered_and_walked(tmp_path: Path) -> None:
    workflow = Workflow(
        "my-skill",
        StepDef(id="step1", title="One", actions=["Do one."], handler=step_handler, next={Outcome.OK: "step2"}),
        StepDef(id="step2", title="Two", actions=["Do two."], next={Outcome.OK: None}),
    )
    assert register_workflow(workflow) is workflow
    assert core.REGISTRY["my-skill"].workflow is workflow
    assert core.REGISTRY["my-skill"].file == __file__
    agent = agent_for(workflow, tmp_path)
    first = agent.open()
    assert (first.step, first.words("DO").strip()) == ("step1", "Do one.")
    second = agent.follow(first)
    assert (second.step, second.words("DO").strip()) == ("step2", "Do two.")
    assert agent.follow(second).kind == "done"


@pytest.mark.req("W-03", "W-08")
def test_the_documents_confidence_loop(tmp_path: Path) -> None:
    def step_investigate(ctx):  # type: ignore[no-untyped-def]  # as the document has it
        if ctx.workflow_params["confidence"] == "high":
            return Outcome.OK, {}
        return Outcome.ITERATE, {"iteration": ctx.step_state.get("iteration", 1) + 1}

    workflow = Workflow(
        "investigation",
        StepDef(
            id="investigate",
            title="Investigate",
            handler=step_investigate,
            next={Outcome.OK: "formulate", Outcome.ITERATE: "investigate"},
            max_iterations=5,
        ),
        StepDef(id="formulate", title="Formulate", next={Outcome.OK: None}, needs=["investigate.iteration"]),
        params=[Arg("confidence", step="investigate")],
    )
    agent = agent_for(workflow, tmp_path)
    block = agent.open()
    for iteration in ("1", "2", "3"):
        assert (block.step, block.root.get("iteration")) == ("investigate", iteration)
        block = agent.follow(block, confidence="low" if iteration != "3" else "high")
    assert block.step == "formulate"
    assert block.context == {"investigate.iteration": "3"}


@pytest.mark.req("W-03", "W-08")
@pytest.mark.parametrize("mode, step", [("quick", "synthesis"), ("full", "subagent_design")])
def test_the_documents_mode_branch_returns_a_bare_outcome(tmp_path: Path, mode: str, step: str) -> None:
    def step_planning(ctx):  # type: ignore[no-untyped-def]  # as the document has it
        return Outcome.SKIP if ctx.workflow_params["mode"] == "quick" else Outcome.OK

    workflow = Workflow(
        "thinking",
        StepDef(
            id="planning",
            title="Plan",
            handler=step_planning,
            next={Outcome.OK: "subagent_design", Outcome.SKIP: "synthesis"},
        ),
        StepDef(id="subagent_design", title="Design", next={Outcome.OK: "synthesis"}),
        StepDef(id="synthesis", title="Synthesis", next={Outcome.OK: None}),
        params=[Arg("mode", choices=("quick", "full"))],
    )
    agent = agent_for(workflow, tmp_path)
    assert agent.follow(agent.open(mode=mode)).step == step


@pytest.mark.req("W-03", "W-04", "W-08")
@pytest.mark.parametrize("verdict, step", [("pass", "proceed"), ("fail", "revise")])
def test_the_documents_review_gate_is_a_dispatch(tmp_path: Path, verdict: str, step: str) -> None:
    workflow = Workflow(
        "reviewed",
        StepDef(id="revise", title="Revise", next={Outcome.OK: "qr_gate"}),
        StepDef(
            id="qr_gate",
            title="Gate",
            handler=Dispatch(agent=AgentRole.QUALITY_REVIEWER, task="Review it."),
            next={Outcome.OK: "proceed", Outcome.FAIL: "revise"},
        ),
        StepDef(id="proceed", title="Proceed", next={Outcome.OK: None}),
    )
    agent = agent_for(workflow, tmp_path)
    gate = agent.follow(agent.open())
    assert "Review of qr_gate: iteration 1 of 5, first review" in gate.words("STATE")
    last = agent.finish(gate.children[0].command, verdict)
    assert agent.run_command(last.next).step == step


@pytest.mark.req("W-02")
def test_registration_refuses_what_does_not_hold_together() -> None:
    broken = Workflow("falls-apart", StepDef("a", "A", "Do.", {Outcome.OK: "nowhere"}))
    with pytest.raises(InvalidWorkflow) as told:
        register_workflow(broken)
    assert told.value.findings
    assert "nowhere" in told.value.what
    assert "falls-apart" not in core.REGISTRY


def everything() -> Workflow:
    return Workflow(
        "everything",
        StepDef(
            "a",
            "A",
            ["text", Rendered("<x/>"), "more"],
            {Outcome.OK: "b", "iterate": "a", Outcome.DEFAULT: None},  # type: ignore[dict-item]
            step_handler,
            needs=["topic"],
            requires=[
                Field("f", "int", minimum=1, maximum=2, required=False, help="h"),
                Artifact("{f}.json", {"type": "object"}),
                Command(["true", "{f}"], 3),
            ],
            when={Outcome.OK: "well"},
            repeat="again",
            forbidden=("no",),
            max_iterations=3,
            at_limit="fail",  # type: ignore[arg-type]  # a plain word is read, too
            outcomes=("ok", "iterate", "fail"),  # type: ignore[arg-type]
            allow={"loop": "because"},
        ),
        StepDef(
            "b", "B", "x", {Outcome.OK: "c"}, Dispatch("explore", targets="a.f", task="t {target}", model="m", cap=3)
        ),
        StepDef("c", "C", "x", {Outcome.OK: "d-review"}, person("?", {"y": "ok", "n": "fail"}, at_terminal=True)),
        *review_loop("d", work="a", passed=None, bound=2),
        title="All",
        description="D",
        params=[Arg("topic", choices=("x", "y"), default="x", step="b")],
        start="a",
        output="text",
    )


@pytest.mark.req("W-01")
def test_a_workflow_goes_to_data_and_comes_back_the_same() -> None:
    workflow = everything()
    data = json.loads(json.dumps(workflow.to_data()))
    again = Workflow.restored(data, lambda name: step_handler)
    assert again == workflow
    assert again.fingerprint == workflow.fingerprint
    assert data["steps"][0]["handler"] == {"$call": f"{__name__}:step_handler"}
    assert isinstance(again.steps[0].actions[1], Rendered)


@settings(max_examples=40, deadline=None)
@given(workflow=workflows())
def test_any_workflow_comes_back_from_its_data(workflow: Workflow) -> None:
    again = Workflow.from_data(json.loads(json.dumps(workflow.to_data())))
    assert again == workflow
    assert again.fingerprint == workflow.fingerprint


def test_the_fingerprint_follows_the_content() -> None:
    one = Workflow("w", StepDef("a", "A", "x", {Outcome.OK: None}))
    same = Workflow("w", StepDef("a", "A", ["x"], {"ok": None}))  # type: ignore[dict-item]
    other = Workflow("w", StepDef("a", "A", "y", {Outcome.OK: None}))
    assert one.fingerprint == same.fingerprint != other.fingerprint
    assert len(one.fingerprint) == 32


@pytest.mark.parametrize(
    "data", [{}, {"name": "x"}, {"name": "x", "steps": [{"id": "a", "colour": "red"}]}, {"name": "x", "steps": 3}]
)
def test_data_of_another_form_is_refused(data: dict[str, object]) -> None:
    with pytest.raises(SkillError, match="this is not a workflow's data"):
        Workflow.from_data(data)


def test_a_step_refuses_what_is_no_handler_and_no_outcome() -> None:
    with pytest.raises(TypeError, match="step 'a': handler is a function, a Dispatch, a Person or a Gate, not 3"):
        StepDef("a", handler=3)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="step 'a' next: 'all fine' is not an Outcome: use one of ok, fail"):
        StepDef("a", next={"all fine": None})  # type: ignore[dict-item]
    with pytest.raises(TypeError, match="step 'a' actions: 3 is not text"):
        StepDef("a", actions=[3])  # type: ignore[list-item]


def test_a_workflow_refuses_a_parameter_named_like_a_flag() -> None:
    for name in ("run", "turn", "record_file", "qr_status", "new"):
        with pytest.raises(ValueError, match="is a flag of every step script"):
            Workflow("w", params=[Arg(name)])
    with pytest.raises(ValueError, match="'html' is not one of xml, text"):
        Workflow("w", output="html")


def test_a_workflow_knows_its_steps() -> None:
    workflow = everything()
    assert [workflow.number(step.id) for step in workflow.steps] == [1, 2, 3, 4, 5]
    assert workflow.has("b")
    assert not workflow.has("z")
    with pytest.raises(UsageError, match="everything has no step 'z'") as told:
        workflow.step("z")
    assert told.value.valid == "a, b, c, d-review, d-gate"
    assert [arg.name for arg in workflow.step_params("b")] == ["topic"]
    assert workflow.run_params() == ()


def test_what_is_built_is_frozen() -> None:
    workflow = everything()
    with pytest.raises(AttributeError, match="Workflow is frozen"):
        workflow.name = "other"  # type: ignore[misc]
    with pytest.raises(AttributeError, match="StepDef is frozen"):
        workflow.steps[0].title = "other"  # type: ignore[misc]
    assert hash(workflow.steps[0]) == hash(everything().steps[0])
