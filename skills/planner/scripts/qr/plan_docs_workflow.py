"""The graph of the review of a plan's documentation: read, documents and verify."""

from __future__ import annotations

import os

from skills.lib.conventions import get_convention
from skills.lib.prompts import read_prompts
from skills.lib.runtime.loading import load_module
from skills.lib.workflow.core import StepDef, Workflow, register_workflow
from skills.lib.workflow.requirements import Arg, Field
from skills.lib.workflow.types import Outcome

steps = load_module(os.path.join(os.path.dirname(__file__), "plan_review_steps.py"))
PROMPTS = read_prompts(__file__)
GIVEN = ("request", "plan")

WORKFLOW = Workflow(
    "planner-plan-docs",
    StepDef(
        "read",
        "Read the texts",
        [PROMPTS["read"], "", steps.SPLIT, "", get_convention("temporal")],
        {Outcome.OK: "documents"},
        needs=GIVEN,
        requires=[
            Field("texts", "list", minimum=1, maximum=80, help='each "scope | path:line | what it claims"'),
            Field("reasons", "list", maximum=40, help='each "id or subject | where it stands, or nowhere"'),
            *steps.stated(),
        ],
    ),
    steps.split(
        PROMPTS,
        "documents",
        "documents",
        "verify",
        [*GIVEN, "read.texts", "read.reasons"],
        "documentation",
        before=["read"],
    ),
    steps.verify(PROMPTS, GIVEN, ["read", "documents"]),
    forbidden=PROMPTS["forbidden"].splitlines(),
    tools=["read", "search", "write", "shell", "web"],
    reverify="verify",
    title="Review of a plan's documentation",
    description="Reviews the comments and documents of a plan's changes, item by item, before they touch the project.",
    params=[
        Arg("plan", help="the folder that the plan is kept in"),
        Arg("request", help="what the user asked for"),
    ],
)

register_workflow(WORKFLOW)
