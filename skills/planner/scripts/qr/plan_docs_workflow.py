"""The graph of the review of a plan's documentation: read, comments, documents, verify, report."""

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
GIVEN = ("request", "plan")

WORKFLOW = Workflow(
    "planner-plan-docs",
    StepDef(
        "read",
        "Read the texts",
        PROMPTS["read"],
        {Outcome.OK: "comments"},
        needs=GIVEN,
        requires=[
            Field("texts", "list", minimum=1, maximum=80, help='each "scope | path:line | what it claims"'),
            Field("reasons", "list", maximum=40, help='each "id or subject | where it stands, or nowhere"'),
        ],
        forbidden=FORBIDDEN,
    ),
    StepDef(
        "comments",
        "Split off: comments",
        [PROMPTS["comments"], "", SPLIT, "", get_convention("temporal")],
        {Outcome.OK: "documents"},
        needs=["plan", "read.texts", "read.reasons"],
        requires=[STATEMENTS],
        forbidden=FORBIDDEN,
    ),
    StepDef(
        "documents",
        "Split off: documents",
        [PROMPTS["documents"], "", SPLIT, "", get_convention("documentation")],
        {Outcome.OK: "verify"},
        needs=[*GIVEN, "read.texts"],
        requires=[STATEMENTS],
        forbidden=FORBIDDEN,
    ),
    StepDef(
        "verify",
        "Answer each for itself",
        [PROMPTS["verify"], "", read_resource(__file__, "review-verify.md").strip()],
        {Outcome.OK: "report"},
        needs=[*GIVEN, "comments.statements", "documents.statements"],
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
    title="Review of a plan's documentation",
    description="Reviews the comments and documents of a plan's changes, item by item, before they touch the project.",
    params=[
        Arg("plan", help="the folder that the plan is kept in"),
        Arg("request", help="what the user asked for"),
    ],
)

register_workflow(WORKFLOW)
