"""Whatever a graph holds, the rules come to an end and say what is wrong: they never raise."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from skills.lib.validation.validator import validate, validate_source
from skills.lib.workflow.core import StepDef, Workflow
from skills.lib.workflow.quality import review_loop
from skills.lib.workflow.requirements import Arg, Artifact, Command, Field
from skills.lib.workflow.types import AgentRole, Dispatch, Gate, Outcome, Person
from tests.extent import extent

OUTCOMES = st.sampled_from(list(Outcome))
IDS = ["a", "b", "c", "d"]
NAMES = st.sampled_from([*IDS, "done", "nobody", "", "A"])
FIELDS = [f"{step}.{name}" for step in [*IDS, "nobody"] for name in ("x", "results")]
KEYS = st.sampled_from([*FIELDS, "x", "topic", ""])
LIMITS = [None, None, -1, 0, 1, 3]
ALLOWED = st.dictionaries(st.sampled_from(["trap", "nothing"]), st.sampled_from(["", "a reason"]), max_size=1)


def judge(ctx: Any) -> Outcome:
    return Outcome.OK if ctx.run_state["a"]["x"] else Outcome.FAIL


def targets(ctx: Any) -> list[str]:
    return [str(name) for name in ctx.run_state["b"]["x"] if name]


HANDLERS = st.one_of(
    st.none(),
    st.just(judge),
    st.builds(Gate, NAMES),
    st.builds(Person, KEYS.map("Is {{{}}} good?".format), st.dictionaries(NAMES, OUTCOMES, max_size=2)),
    st.builds(
        Dispatch,
        st.sampled_from([AgentRole.QUALITY_REVIEWER, AgentRole.EXPLORE]),
        st.sampled_from([None, "explore.py"]),
        targets=st.one_of(st.just(()), st.just(["one"]), KEYS, st.just(targets)),
        checkpoint=st.one_of(st.none(), NAMES),
        params=st.dictionaries(st.just("x"), KEYS.map("{{{}}}".format), max_size=1),
    ),
    st.builds(Dispatch, st.just(AgentRole.EXPLORE), then=st.just(judge)),
)
REQUIRED = st.one_of(
    st.just(Field("x")),
    st.just(Field("items", "items")),
    st.builds(Artifact, st.one_of(NAMES, st.sampled_from(["../x", "/x", "{x}/../..", "{"]))),
    KEYS.map(lambda key: Command(["look", f"{{{key}}}"])),
)


@st.composite
def steps(draw: st.DrawFn) -> StepDef:
    handler = draw(HANDLERS)
    return StepDef(
        draw(st.sampled_from([*IDS, *IDS, "", "done", "7"])),
        draw(st.sampled_from(["", "One", "Two"])),
        draw(st.sampled_from(["", "Look into CONTEXT.", "Fill <DO>.", "word " * 2500])),
        draw(st.dictionaries(OUTCOMES, st.one_of(st.none(), NAMES), max_size=3)),
        handler,
        needs=draw(st.lists(KEYS, max_size=2)),
        requires=draw(st.lists(REQUIRED, max_size=2)),
        when=draw(st.dictionaries(OUTCOMES, st.just("it is so"), max_size=2)),
        max_iterations=None if isinstance(handler, Person) else draw(st.sampled_from(LIMITS)),
        at_limit=draw(OUTCOMES),
        outcomes=draw(st.lists(OUTCOMES, max_size=2)),
        allow=draw(ALLOWED),
    )


@st.composite
def workflows(draw: st.DrawFn) -> Workflow:
    made = draw(st.lists(steps(), max_size=5))
    if draw(st.booleans()):
        made += review_loop("c", work=draw(NAMES), passed=draw(st.one_of(st.none(), NAMES)))
    args = st.builds(Arg, st.sampled_from(["x", "topic"]), step=st.one_of(st.none(), NAMES))
    params = draw(st.lists(args, max_size=2))
    asked = {step.id for step in made if isinstance(step.handler, Person)}
    params = [arg for arg in params if arg.step not in asked]
    return Workflow(draw(st.sampled_from(["w", ""])), *made, params=params, start=draw(st.one_of(st.none(), NAMES)))


REVIEWED = Workflow(
    "w",
    StepDef("plan", "Plan", next={Outcome.OK: "work"}, requires=[Field("aim")]),
    StepDef("work", "Work", next={Outcome.OK: "work-review"}, needs=["plan.aim"]),
    *review_loop("work", work="work", passed="plan"),
    StepDef("plan", "Report", next={Outcome.OK: None}, needs=["plan.aim", "work-gate.reason"]),
)


@pytest.mark.slow
@pytest.mark.req("W-02")
@settings(max_examples=extent(60, 200), deadline=None)
@example(REVIEWED)
@given(workflows())
def test_no_graph_makes_a_rule_raise(workflow: Workflow) -> None:
    found = [*validate(workflow, __file__), *validate_source(workflow, __file__)]
    assert all(finding.what and finding.why and finding.do for finding in found)
    ids = [step.id for step in workflow.steps]
    repeated = sum(finding.rule == "duplicate-id" for finding in found)
    assert repeated == len(ids) - len(set(ids))


@pytest.mark.req("W-02")
def test_a_repeated_id_is_reported_whatever_its_step_reads() -> None:
    assert [(finding.rule, finding.position) for finding in validate(REVIEWED)] == [("duplicate-id", 4)]
