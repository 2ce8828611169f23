"""The founding document's examples of a Workflow, run as written; what they leave out with ... is filled in."""

from __future__ import annotations

import pytest

from skills.lib.workflow.core import StepContext, StepDef, Workflow, register_workflow
from skills.lib.workflow.types import AgentRole, Dispatch, Outcome

pytestmark = pytest.mark.req("W-01", "W-08")

NEW_PATTERN = """
from skills.lib.workflow.core import Workflow, StepDef, Outcome, register_workflow

def step_handler(ctx: StepContext) -> tuple[Outcome, dict]:
    # Step logic...
    return Outcome.OK, {}

WORKFLOW = Workflow(
    "my-skill",
    StepDef(id="step1", title="Look", actions=["Look around."], handler=step_handler,
            next={Outcome.OK: "step2"}),
    StepDef(id="step2", title="Tell", actions=["Tell what was seen."],
            next={Outcome.OK: None}),  # terminal
)

register_workflow(WORKFLOW)
"""


def test_the_new_pattern() -> None:
    names = {"StepContext": StepContext}
    exec(NEW_PATTERN, names)
    workflow: Workflow = names["WORKFLOW"]  # type: ignore[assignment]
    assert [(step.id, dict(step.next)) for step in workflow.steps] == [
        ("step1", {"ok": "step2"}),
        ("step2", {"ok": None}),
    ]


def test_linear() -> None:
    step = StepDef(id="step1", next={Outcome.OK: "step2"})
    assert step.route(Outcome.OK) == ("step2",)


def test_confidence_driven_iteration() -> None:
    def step_investigate(ctx: StepContext) -> tuple[Outcome, dict[str, int]]:
        if ctx.workflow_params["confidence"] == "high":
            return Outcome.OK, {}
        return Outcome.ITERATE, {"iteration": ctx.step_state.get("iteration", 1) + 1}

    step = StepDef(
        id="investigate", next={Outcome.OK: "formulate", Outcome.ITERATE: "investigate"}, handler=step_investigate
    )
    assert step_investigate(StepContext({"confidence": "high"})) == (Outcome.OK, {})
    assert step_investigate(StepContext({"confidence": "low"})) == (Outcome.ITERATE, {"iteration": 2})
    assert step_investigate(StepContext({"confidence": "low"}, {"iteration": 2})) == (Outcome.ITERATE, {"iteration": 3})
    assert step.route(Outcome.ITERATE) == ("investigate",)


def test_mode_branching_returns_a_bare_outcome() -> None:
    def step_planning(ctx: StepContext) -> Outcome:
        return Outcome.SKIP if ctx.workflow_params["mode"] == "quick" else Outcome.OK

    StepDef(id="planning", next={Outcome.OK: "subagent_design", Outcome.SKIP: "synthesis"}, handler=step_planning)
    assert step_planning(StepContext({"mode": "quick"})) is Outcome.SKIP
    assert step_planning(StepContext({"mode": "full"})) is Outcome.OK


def test_a_qr_gate_in_one_step() -> None:
    gate = StepDef(
        id="qr_gate",
        handler=Dispatch(agent=AgentRole.QUALITY_REVIEWER),
        next={Outcome.OK: "proceed", Outcome.FAIL: "revise"},
    )
    revise = StepDef(id="revise", title="Revise", next={Outcome.OK: "qr_gate"})
    proceed = StepDef(id="proceed", title="Proceed", next={Outcome.OK: None})
    register_workflow(Workflow("founding-gate", revise, gate, proceed))
    assert gate.checkpoint == "qr_gate"
    assert gate.gate is not None
    assert gate.gate.bound == 5
