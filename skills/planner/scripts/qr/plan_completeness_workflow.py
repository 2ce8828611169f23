"""The graph of the review of a plan's completeness: read, decisions, milestones, knowledge, verify, report."""

from __future__ import annotations

from skills.lib.conventions import get_convention
from skills.lib.prompts import read_prompts, read_resource
from skills.lib.workflow.core import StepDef, Workflow, register_workflow
from skills.lib.workflow.requirements import Arg, Field
from skills.lib.workflow.types import Outcome

PROMPTS = read_prompts(__file__)
FORBIDDEN = PROMPTS["forbidden"].splitlines()
SPLIT = read_resource(__file__, "review-split.md").strip()
STATEMENTS = Field("statements", "list", maximum=30, help='each "scope | statement"; [] on a re-verification')
GIVEN = ("request", "answers", "plan")
SPLIT_OFF = [f"{step}.statements" for step in ("read", "decisions", "milestones", "knowledge")]

WORKFLOW = Workflow(
    "planner-plan-completeness",
    StepDef(
        "read",
        "Read the request, then the plan",
        [PROMPTS["read"], "", SPLIT],
        {Outcome.OK: "decisions"},
        needs=GIVEN,
        requires=[Field("asked", "list", minimum=1, maximum=30, help='each "request or answers | demand"'), STATEMENTS],
        forbidden=FORBIDDEN,
    ),
    StepDef(
        "decisions",
        "Split off: decisions and assumptions",
        [PROMPTS["decisions"], "", SPLIT],
        {Outcome.OK: "milestones"},
        needs=[*GIVEN, "read.asked"],
        requires=[STATEMENTS],
        forbidden=FORBIDDEN,
    ),
    StepDef(
        "milestones",
        "Split off: milestones",
        [PROMPTS["milestones"], "", SPLIT],
        {Outcome.OK: "knowledge"},
        needs=["request", "plan"],
        requires=[STATEMENTS],
        forbidden=FORBIDDEN,
    ),
    StepDef(
        "knowledge",
        "Split off: risks and invisible knowledge",
        [PROMPTS["knowledge"], "", SPLIT],
        {Outcome.OK: "verify"},
        needs=["request", "plan"],
        requires=[STATEMENTS],
        forbidden=FORBIDDEN,
    ),
    StepDef(
        "verify",
        "Answer each for itself",
        [PROMPTS["verify"], "", read_resource(__file__, "review-verify.md").strip()],
        {Outcome.OK: "report"},
        needs=[*GIVEN, *SPLIT_OFF],
        requires=[
            Field("answers", "list", minimum=1, maximum=60, help='each "scope | statement | status | what is there"')
        ],
        forbidden=FORBIDDEN,
    ),
    StepDef(
        "report",
        "Report the items",
        [PROMPTS["report"], "", read_resource(__file__, "review-report.md").strip(), "", get_convention("severity")],
        {Outcome.OK: None},
        needs=["plan", "verify.answers"],
        requires=[Field("items", "items", help="one object per answer; on a re-verification exactly the items given")],
        forbidden=FORBIDDEN,
    ),
    tools=["read", "search", "write", "shell", "web"],
    title="Review of a plan's completeness",
    description="Reviews whether a plan is complete and can be carried out, item by item, before code is written.",
    params=[
        Arg("plan", help="the folder that the plan is kept in"),
        Arg("request", help="what the user asked for"),
        Arg("answers", help="what the user answered when asked"),
    ],
)

register_workflow(WORKFLOW)
