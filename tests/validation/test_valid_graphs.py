"""The patterns of the founding document, and of whole skills, are found good."""

from __future__ import annotations

import pytest

from skills.lib.validation.validator import require_valid, validate, validate_source
from tests.validation.conftest import Load

PATTERNS = {
    "linear": """
WORKFLOW = Workflow(
    "linear",
    StepDef("step1", "First", ["Do it."], {Outcome.OK: "step2"}),
    StepDef("step2", "Second", ["Do it."], {Outcome.OK: None}),
)
""",
    "confidence": """
def step_investigate(ctx):
    if ctx.workflow_params["confidence"] == "high":
        return Outcome.OK, {}
    return Outcome.ITERATE, {"iteration": ctx.step_state.get("iteration", 1) + 1}


WORKFLOW = Workflow(
    "confidence",
    StepDef(
        "investigate",
        "Investigate",
        next={Outcome.OK: "formulate", Outcome.ITERATE: "investigate"},
        handler=step_investigate,
        max_iterations=5,
        requires=[Field("evidence")],
        needs=["investigate.evidence"],
    ),
    StepDef("formulate", "Formulate", next={Outcome.OK: None}, needs=["investigate.evidence"]),
    params=[Arg("confidence", choices=("low", "high"), step="investigate")],
)
""",
    "mode": """
def step_planning(ctx):
    return Outcome.SKIP if ctx.workflow_params["mode"] == "quick" else Outcome.OK


WORKFLOW = Workflow(
    "mode",
    StepDef(
        "planning", "Plan", next={Outcome.OK: "subagent_design", Outcome.SKIP: "synthesis"}, handler=step_planning
    ),
    StepDef("subagent_design", "Design", next={Outcome.OK: "synthesis"}),
    StepDef("synthesis", "Synthesize", next={Outcome.OK: None}, needs=["mode"]),
    params=[Arg("mode", choices=("quick", "full"))],
)
""",
    "one-step-gate": """
WORKFLOW = Workflow(
    "one-step-gate",
    StepDef("revise", "Work", next={Outcome.OK: "qr_gate"}),
    StepDef(
        "qr_gate",
        "Review",
        handler=Dispatch(agent=AgentRole.QUALITY_REVIEWER, task="Review it."),
        next={Outcome.OK: "proceed", Outcome.FAIL: "revise"},
    ),
    StepDef("proceed", "Go on", next={Outcome.OK: None}),
)
""",
    "review-and-gate": """
WORKFLOW = Workflow(
    "review-and-gate",
    StepDef("work", "Work", next={Outcome.OK: "code-review"}),
    *review_loop("code", work="work", passed="publish"),
    StepDef("publish", "Publish", next={Outcome.OK: None}),
)
""",
    "person": """
WORKFLOW = Workflow(
    "person",
    StepDef("draft", "Draft", next={Outcome.OK: "approve"}, requires=[Field("text")]),
    StepDef(
        "approve",
        "Approve",
        handler=Person("Is it good?", {"yes": Outcome.OK, "no": Outcome.FAIL}),
        needs=["draft.text"],
        next={Outcome.OK: "publish", Outcome.FAIL: "draft"},
    ),
    StepDef("publish", "Publish", next={Outcome.OK: None}, needs=["approve.answer"]),
)
""",
    "dispatch": """
WORKFLOW = Workflow(
    "dispatch",
    StepDef("scope", "Scope", next={Outcome.OK: "survey"}, requires=[Field("areas", "list")]),
    StepDef(
        "survey",
        "Survey",
        handler=Dispatch(AgentRole.EXPLORE, script="explore.py", targets="scope.areas", params={"area": "{target}"}),
        next={Outcome.OK: "weigh"},
    ),
    StepDef(
        "weigh",
        "Weigh",
        next={Outcome.OK: "report", Outcome.ITERATE: "scope"},
        when={Outcome.OK: "every area was surveyed", Outcome.ITERATE: "one was left out"},
        max_iterations=3,
        needs=["survey.results"],
    ),
    StepDef(
        "report",
        "Report",
        next={Outcome.OK: None},
        requires=[Field("name"), Artifact("notes/{name}-{topic}.md"), Command(["check", "{scope.areas}"])],
    ),
    params=[Arg("topic")],
)
""",
    "default": """
def decide(ctx):
    return {"a": Outcome.OK, "b": Outcome.FAIL, "c": Outcome.SKIP}[ctx.workflow_params["which"]]


WORKFLOW = Workflow(
    "default",
    StepDef(
        "decide", "Decide", next={Outcome.OK: "act", Outcome.DEFAULT: None}, handler=decide, outcomes=["ok", "fail"]
    ),
    StepDef("act", "Act", next={Outcome.DEFAULT: None}),
    params=[Arg("which", choices=("a", "b", "c"))],
)
""",
    "loop-carried": """
WORKFLOW = Workflow(
    "loop-carried",
    StepDef("work", "Work", next={Outcome.OK: "look"}, needs=["look.faults"]),
    StepDef(
        "look",
        "Look",
        next={Outcome.OK: None, Outcome.ITERATE: "work"},
        when={Outcome.OK: "there is no fault", Outcome.ITERATE: "there is one"},
        max_iterations=4,
        requires=[Field("faults")],
    ),
)
""",
    "review-that-a-path-avoids": """
WORKFLOW = Workflow(
    "review-that-a-path-avoids",
    StepDef(
        "look",
        "Look",
        next={Outcome.OK: "work", Outcome.SKIP: "report"},
        when={Outcome.OK: "there is something to change", Outcome.SKIP: "there is not"},
    ),
    StepDef("work", "Work", next={Outcome.OK: "plan-review"}, requires=[Field("parts", "list")]),
    *review_loop(
        "plan",
        work="work",
        passed="report",
        needs=["work.parts"],
        reviewer=Dispatch(
            "quality-reviewer",
            task="Review it.",
            checks=[Check("keeps", "MUST", "behaviour stays", over="work.parts")],
            covers=["{work.parts}"],
        ),
    ),
    StepDef("report", "Report", next={Outcome.OK: None}),
)
""",
    "three-review-loops": """
def loop(name, work, passed):
    return review_loop(name, work=work, passed=passed)


WORKFLOW = Workflow(
    "three-review-loops",
    StepDef("plan", "Plan", next={Outcome.OK: "plan-review"}),
    *[*review_loop("plan", work="plan", passed="code"), StepDef("code", "Code", next={Outcome.OK: "code-review"})],
    *[*review_loop("code", work="code", passed="docs"), StepDef("docs", "Docs", next={Outcome.OK: "docs-review"})],
    *review_loop("docs", work="docs", passed=None),
)
""",
}


@pytest.mark.req("W-03")
@pytest.mark.parametrize("name", PATTERNS)
def test_a_pattern_has_no_findings(name: str, load: Load) -> None:
    workflow, file = load(PATTERNS[name])
    require_valid(workflow, file)
    assert validate(workflow, file) == []
    assert validate_source(workflow, file) == []
